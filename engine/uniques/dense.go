package uniques

import "math/bits"

// A denseTable is a margin with two bits for every possible key: whether it occurs, and whether several records have it. Word
// operations then treat 64 keys at once. For keys that occur once it knows the class; other entries of class mean nothing.
type denseTable struct {
	width  int // bits of a key
	occurs []uint64
	many   []uint64
	class  []uint32

	minimals []uint64 // scratch: unique keys not ruled out yet
	once     []uint64 // scratch: the table folded along a variable
	twice    []uint64
}

// A denseField is the place of a variable in the keys of a dense table: bits at to at+width.
type denseField struct{ variable, at, width int }

func newDenseTable(width int) *denseTable {
	d := &denseTable{}
	d.resize(width)
	return d
}

// wordsFor is the number of words of a bitmap of all keys of some bits.
func wordsFor(width int) int { return max(1, 1<<width>>6) }

// resize makes room for keys of some bits; what the table held is lost when it grows.
func (d *denseTable) resize(width int) {
	d.width = width
	n := wordsFor(width)
	if cap(d.class) < 1<<width {
		d.occurs, d.many, d.class = make([]uint64, n), make([]uint64, n), make([]uint32, 1<<width)
	}
	d.occurs, d.many, d.class = d.occurs[:n], d.many[:n], d.class[:1<<width]
}

// lows[b] marks the positions whose bit b is 0.
var lows = [6]uint64{0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f, 0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff}

// pack moves the bits of x whose position has bit b 0 together, in order.
func pack(x uint64, b int) uint64 {
	x &= lows[b]
	for ; b < 5; b++ {
		x = (x | x>>(1<<b)) & lows[b+1]
	}
	return x
}

// halves gives word i of the two halves of a bitmap of keys, those with bit at 0 and those with bit at 1, each without that bit.
func halves(bitmap []uint64, at, i int) (zero, one uint64) {
	if at >= 6 {
		step := 1 << (at - 6)
		j := i&^(step-1)<<1 | i&(step-1)
		return bitmap[j], bitmap[j+step]
	}
	x := bitmap[2*i]
	zero, one = pack(x, at), pack(x>>(1<<at), at)
	if 2*i+1 < len(bitmap) {
		x = bitmap[2*i+1]
		zero |= pack(x, at) << 32
		one |= pack(x>>(1<<at), at) << 32
	}
	return zero, one
}

// project leaves bit at out of the keys; out may be d itself.
func (d *denseTable) project(at int, out *denseTable) {
	occurs, many, class := d.occurs, d.many, d.class
	width := d.width - 1
	n := wordsFor(width)
	low := 1<<at - 1
	if out != d {
		out.resize(width)
	}
	for i := range n {
		o0, o1 := halves(occurs, at, i)
		m0, m1 := halves(many, at, i)
		m := m0 | m1 | o0&o1
		out.occurs[i], out.many[i] = o0|o1, m
		for once := (o0 | o1) &^ m; once != 0; once &= once - 1 { // ascending: in place, nothing is overwritten before it is read
			b := bits.TrailingZeros64(once)
			key := i<<6 | b
			out.class[key] = class[key&^low<<1|key&low|int(o1>>b&1)<<at]
		}
	}
	if out == d {
		out.resize(width)
	}
}

// minimal calls report with the class of every key that occurs once and shares each of its lines, along one of some fields, with another
// key. It tells whether any key occurs once. With nil fields it only tells that.
func (d *denseTable) minimal(fields []denseField, report func(class uint32)) (any bool) {
	if cap(d.minimals) < len(d.occurs) {
		d.minimals = make([]uint64, len(d.occurs))
	}
	left := d.minimals[:len(d.occurs)]
	for i, o := range d.occurs {
		left[i] = o &^ d.many[i]
		any = any || left[i] != 0
	}
	if !any || len(fields) == 0 {
		return any
	}
	for _, f := range fields {
		var some bool
		switch f.width {
		case 0:
			return true // a constant: the key is as unique without it
		case 1:
			some = d.shareBit(left, f.at)
		default:
			some = d.shareLine(left, f)
		}
		if !some {
			return true
		}
	}
	for i, x := range left {
		for ; x != 0; x &= x - 1 {
			report(d.class[i<<6|bits.TrailingZeros64(x)])
		}
	}
	return true
}

// shareBit keeps the keys whose neighbour along one bit occurs too, and tells whether any is left.
func (d *denseTable) shareBit(left []uint64, at int) bool {
	var all uint64
	if at >= 6 {
		step := 1 << (at - 6)
		for i := range left {
			x := left[i] & d.occurs[i^step]
			left[i] = x
			all |= x
		}
		return all != 0
	}
	shift, low := 1<<at, lows[at]
	for i, o := range d.occurs {
		x := left[i] & (o>>shift&low | o&low<<shift)
		left[i] = x
		all |= x
	}
	return all != 0
}

// shareLine is shareBit for a variable of several bits.
func (d *denseTable) shareLine(left []uint64, f denseField) bool {
	n := len(d.occurs)
	if cap(d.once) < n {
		d.once, d.twice = make([]uint64, n), make([]uint64, n)
	}
	once, twice := d.once[:n], d.twice[:n]
	copy(once, d.occurs)
	clear(twice)
	width := d.width
	for range f.width {
		width--
		n = wordsFor(width)
		for i := range n {
			o0, o1 := halves(once, f.at, i)
			t0, t1 := halves(twice, f.at, i)
			once[i], twice[i] = o0|o1, t0|t1|o0&o1
		}
		once, twice = once[:n], twice[:n]
	}
	low := 1<<f.at - 1
	any := false
	for i, x := range left {
		for rest := x; rest != 0; rest &= rest - 1 {
			key := i<<6 | bits.TrailingZeros64(rest)
			line := key>>f.width&^low | key&low
			if twice[line>>6]>>(line&63)&1 == 0 {
				x &^= rest & -rest
			}
		}
		left[i] = x
		any = any || x != 0
	}
	return any
}
