package parquetfile

import (
	"bytes"
	"math"
	"slices"
)

// bounds are the least and the greatest value of a page or chunk, as Parquet orders them: NaN has no place in the order, and of the
// zeros the least one is -0 and the greatest +0.
type bounds[T number] struct {
	least, most T
	some        bool // there are any: not all values are null or NaN
}

func (b *bounds[T]) see(v T) {
	switch {
	case v != v:
	case !b.some:
		b.least, b.most, b.some = v, v, true
	case v < b.least:
		b.least = v
	case v > b.most:
		b.most = v
	}
}

func (b *bounds[T]) join(other bounds[T]) {
	if other.some {
		b.see(other.least)
		b.see(other.most)
	}
}

// encoded are the bounds as they are written.
func (b bounds[T]) encoded() (least, most []byte) {
	list := []T{b.least, b.most}
	if f, ok := any(list).([]float64); ok {
		if f[0] == 0 {
			f[0] = math.Copysign(0, -1)
		}
		if f[1] == 0 {
			f[1] = 0
		}
	}
	all := bytes.Clone(bytesOf(list))
	return all[:len(all)/2], all[len(all)/2:]
}

func boundsOf[T number](values []T) bounds[T] {
	var b bounds[T]
	for _, v := range values {
		b.see(v)
	}
	return b
}

func boundsAt[T number](values []T, places []uint32) bounds[T] {
	var b bounds[T]
	for _, k := range places {
		b.see(values[k])
	}
	return b
}

// Orders of the bounds of a chunk's pages.
const (
	boundsUnordered, boundsAscending, boundsDescending = 0, 1, 2
)

// orderOf tells how the bounds of pages follow each other; pages without bounds do not count.
func orderOf[T number](pages []bounds[T]) int64 {
	pages = slices.DeleteFunc(slices.Clone(pages), func(b bounds[T]) bool { return !b.some })
	up, down := true, true
	for i := 1; i < len(pages); i++ {
		a, b := pages[i-1], pages[i]
		up = up && a.least <= b.least && a.most <= b.most
		down = down && a.least >= b.least && a.most >= b.most
	}
	switch {
	case up:
		return boundsAscending
	case down:
		return boundsDescending
	}
	return boundsUnordered
}
