package risk

import (
	"context"
	"math"

	"microrisk/engine/bayes"
)

// MostPairs is the largest number of levels of a variable whose categories are collapsed with each other one.
const MostPairs = 1024

// Categories are, for each variable and code, the relative risks of collapsing the category: the mean over its neighbours where
// ordinal[v] says that the variable's codes are in a meaningful order, else over all other categories; and of suppressing it. Theta
// is the mean over the partners where it has a value, Unique the rounded mean. A nil ordinal says that no variable is ordinal. A
// variable of more than MostPairs levels that is not ordinal has NaN for collapsing.
func (l *Law) Categories(ctx context.Context, d *bayes.Data, ordinal []bool, o Options) (collapse, suppress [][]Relative, err error) {
	collapse, suppress = make([][]Relative, len(l.Levels)), make([][]Relative, len(l.Levels))
	err = l.study(ctx, d, o, func(ctx context.Context, s *study, all risks) {
		c := newCategories(s, s.v < len(ordinal) && ordinal[s.v])
		s.each(ctx, c.add)
		if ctx.Err() == nil {
			collapse[s.v], suppress[s.v] = c.collapsed(all), c.suppressed(all)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return collapse, suppress, nil
}

// categories are the tallies of one variable.
type categories struct {
	*study
	ordinal bool
	pairs   [][]tally // by model: of the uniques in either of two categories, once those are one
	own     [][]tally // by model: of the uniques in a category
	total   []tally   // by model
	whole   bool      // the two categories of the pair are all of the table
}

func newCategories(s *study, ordinal bool) *categories {
	c := &categories{study: s, ordinal: ordinal, total: make([]tally, len(s.law.Models)), whole: s.everyone && s.levels == 2}
	n := s.levels - 1
	if !ordinal {
		n = s.levels * (s.levels - 1) / 2
		if s.levels > MostPairs {
			n = 0
		}
	}
	for range s.law.Models {
		c.pairs = append(c.pairs, make([]tally, n))
		c.own = append(c.own, make([]tally, s.levels))
	}
	return c
}

// pair is the number of the pair of categories x < y.
func (c *categories) pair(x, y int) int {
	if c.ordinal {
		return x
	}
	return y*(y-1)/2 + x
}

// partners calls do for the categories that x can be collapsed with.
func (c *categories) partners(x int, do func(y int)) {
	switch {
	case c.ordinal:
		if x > 0 {
			do(x - 1)
		}
		if x+1 < c.levels {
			do(x + 1)
		}
	case c.levels <= MostPairs:
		for y := range c.levels {
			if y != x {
				do(y)
			}
		}
	}
}

// add tallies a chunk of uniques under a model.
func (c *categories) add(model int, chunk []int) {
	for i, cell := range chunk {
		x := int(c.d.Codes[c.v][cell])
		row := i * c.levels
		own := unit(c.mean[row+x], c.spread[row+x], c.o, c.everyone && c.levels == 1)
		c.own[model][x].take(own, 1)
		c.total[model].take(own, 1)
		c.partners(x, func(y int) {
			if c.at[row+y] >= 0 {
				return
			}
			mean, spread := c.two(i, x, y)
			c.pairs[model][c.pair(min(x, y), max(x, y))].take(unit(mean, spread, c.o, c.whole), 1)
		})
	}
}

// two is merged of two categories.
func (c *categories) two(i, x, y int) (mean, spread float64) {
	row := i * c.levels
	mx, my := c.mean[row+x], c.mean[row+y]
	mean = mx + my
	sx, sy := mx/mean, my/mean
	k := c.k1[i]
	return mean, k + sx*sx*(c.spread[row+x]-k) + sy*sy*(c.spread[row+y]-k)
}

func (c *categories) collapsed(all risks) []Relative {
	out := make([]Relative, c.levels)
	done := make(map[int]Relative, len(c.pairs[0]))
	for x := range out {
		theta, tau2, number := 0.0, 0.0, int64(0)
		thetas, partners := 0.0, 0.0
		c.partners(x, func(y int) {
			pair := c.pair(min(x, y), max(x, y))
			r, ok := done[pair]
			if !ok {
				r = c.after(all, pair, x, y)
				done[pair] = r
			}
			partners++
			tau2 += r.Tau2
			number += r.Unique
			if !math.IsNaN(r.Theta) {
				theta += r.Theta
				thetas++
			}
		})
		out[x] = Relative{Theta: theta / thetas, Tau2: tau2 / partners} // 0/0 without partners
		if partners > 0 {
			out[x].Unique = int64(math.Round(float64(number) / partners))
		} else {
			out[x].Unique = all.number
		}
	}
	return out
}

// after is the relative risk once x and y are one.
func (c *categories) after(all risks, pair, x, y int) Relative {
	sums := make([]tally, len(c.total))
	for k := range sums {
		sums[k] = c.total[k]
		sums[k].take(c.own[k][x], -1)
		sums[k].take(c.own[k][y], -1)
		sums[k].take(c.pairs[k][pair], 1)
	}
	return all.relative(c.average(sums))
}

func (c *categories) suppressed(all risks) []Relative {
	out := make([]Relative, c.levels)
	for x := range out {
		sums := make([]tally, len(c.total))
		for k := range sums {
			sums[k] = c.total[k]
			sums[k].take(c.own[k][x], -1)
		}
		out[x] = all.relative(c.average(sums))
	}
	return out
}
