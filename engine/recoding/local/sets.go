package local

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A costing has the weights of sets of variables.
type costing struct {
	weights []float64
	of      []float64 // by set
	order   []Set     // by weight; ties: fewer cells, then key order
	rank    []int64   // of a weight: equal for weights that differ by rounding
}

// precision of weights when they are compared: a share of the sum of all.
const precision = 1 << 40

func newCosting(weights []float64) *costing {
	c := &costing{weights: weights, of: make([]float64, 1<<len(weights))}
	for s := 1; s < len(c.of); s++ {
		v := bits.Len(uint(s)) - 1
		c.of[s] = c.of[s&^(1<<v)] + weights[v]
	}
	all := c.of[len(c.of)-1]
	c.rank = make([]int64, len(c.of))
	c.order = make([]Set, len(c.of))
	for s, w := range c.of {
		if all > 0 {
			c.rank[s] = int64(math.Round(w / all * precision))
		}
		c.order[s] = Set(s)
	}
	slices.SortFunc(c.order, c.compare)
	return c
}

func (c *costing) compare(a, b Set) int {
	return cmp.Or(cmp.Compare(c.rank[a], c.rank[b]), cmp.Compare(a.size(), b.size()),
		cmp.Compare(bits.Reverse32(uint32(b)), bits.Reverse32(uint32(a))))
}

func (s Set) size() int { return bits.OnesCount32(uint32(s)) }
