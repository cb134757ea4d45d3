package keymap

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Band is the numbers lo <= x < hi; hi may be infinite, and lo minus infinity.
type Band struct{ Lo, Hi float64 }

// ID names a band where nobody has: 16-21, 90-inf, m5-0 from minus five, 0p5-1 from a half.
func (b Band) ID() string { return bound(b.Lo) + "-" + bound(b.Hi) }

func bound(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "minf"
	}
	return strings.NewReplacer("-", "m", ".", "p").Replace(strconv.FormatFloat(x, 'f', -1, 64))
}

func (b Band) check() error {
	if math.IsNaN(b.Lo) || math.IsNaN(b.Hi) || !(b.Lo < b.Hi) || math.IsInf(b.Lo, 1) {
		return fmt.Errorf("band from %v to %v: it must begin below its end", b.Lo, b.Hi)
	}
	return nil
}

// Intervals draws the bands of an interval variable: every two bounds that follow one another make a smallest band, and each band that is
// more than one of them is their parent. names gives the bands that have one; others are called by [Band.ID]. Bounds must follow one another
// without a gap that no band covers.
func Intervals(bands []Band, names map[Band]string) (Drawing, map[string]Band, error) {
	if len(bands) == 0 {
		return Drawing{}, nil, fmt.Errorf("no bands")
	}
	var bounds []float64
	for _, b := range bands {
		if err := b.check(); err != nil {
			return Drawing{}, nil, err
		}
		bounds = append(bounds, b.Lo, b.Hi)
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	d, extents := Drawing{}, make(map[string]Band)
	add := func(b Band) (string, error) {
		id, ok := names[b]
		if !ok {
			id = b.ID()
		}
		if other, taken := extents[id]; taken && other != b {
			return "", fmt.Errorf("two bands are called %s: %s and %s", id, other.ID(), b.ID())
		}
		if _, there := extents[id]; !there {
			extents[id] = b
			d.Nodes = append(d.Nodes, id)
		}
		return id, nil
	}
	sinks := make([]string, len(bounds)-1)
	covered := make([]bool, len(sinks))
	for i := range sinks {
		id, err := add(Band{bounds[i], bounds[i+1]})
		if err != nil {
			return Drawing{}, nil, err
		}
		sinks[i] = id
	}
	drawn := make(map[Band]bool)
	for _, b := range bands {
		from, _ := slices.BinarySearch(bounds, b.Lo)
		to, _ := slices.BinarySearch(bounds, b.Hi)
		for i := from; i < to; i++ {
			covered[i] = true
		}
		if to == from+1 || drawn[b] {
			continue
		}
		drawn[b] = true
		id, err := add(b)
		if err != nil {
			return Drawing{}, nil, err
		}
		for i := from; i < to; i++ {
			d.Edges = append(d.Edges, [2]string{id, sinks[i]})
		}
	}
	if gap := slices.Index(covered, false); gap >= 0 {
		return Drawing{}, nil, fmt.Errorf("no band covers %s", Band{bounds[gap], bounds[gap+1]}.ID())
	}
	return d, extents, nil
}

// Cuts are the bounds within the variable at which a partition of bands in order changes its block, ascending; bands are of the sinks, in
// the order of the partition. An error says that a block is no run of bands.
func Cuts(p Partition, bands []Band) ([]float64, error) {
	order := make([]int, len(bands))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if bands[a].Lo < bands[b].Lo {
			return -1
		}
		return 1
	})
	var cuts []float64
	for i := 1; i < len(order); i++ {
		if p.Block(order[i]) != p.Block(order[i-1]) {
			cuts = append(cuts, bands[order[i]].Lo)
		}
	}
	if len(cuts) != p.Size()-1 {
		return nil, fmt.Errorf("a category is no run of bands")
	}
	return cuts, nil
}
