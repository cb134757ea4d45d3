package uniques

import (
	"math"
	"math/bits"
)

// Costs of the searches in steps of package budget: a class counted on a set, a cell of a margin.
const (
	nestedSteps = 8  // by blocks
	nestedExact = 11 // by blocks, with a threshold above 1
	upSteps     = 10 // by size
	upExact     = 32 // by size, with a threshold above 1
	upWide      = 30 // by size, where keys take several words
	cellSteps   = 2
)

// wildFactor is what look-ups among the incomplete classes add to that; wildWide where keys take several words. Of classes that
// match some of them more stay to be counted than are estimated.
const (
	wildFactor = 2.5
	wildWide   = 5
)

// visitSteps is what a class counted on a set costs.
func (p *problem) visitSteps(way direction) float64 {
	wild := 1.0
	if p.anyWild {
		wild = wildFactor
	}
	switch {
	case way == nested && p.k > 1:
		return nestedExact * wild
	case way == nested:
		return nestedSteps * wild
	case p.words > 1 && p.anyWild:
		return upWide * wildWide
	case p.words > 1:
		return upWide
	case p.k > 1:
		return upExact * wild
	}
	return upSteps * wild
}

// steps is the work on so many visits on one core.
func (p *problem) steps(way direction, visits []float64) float64 {
	sum := 0.0
	for _, v := range visits {
		sum += v
	}
	return sum * p.visitSteps(way)
}

// A merged tells how many of the classes are left to be counted on a set when those are counted together that are equal in all that the
// search has not left out yet.
type merged struct {
	p     *problem
	way   direction
	codes []float64 // that occur, by variable
	order []int     // of a nested search
	kept  uint64    // variables that covers keep, all where there are none
}

func (p *problem) newMerged(way direction) *merged {
	m := &merged{p: p, way: way, codes: make([]float64, p.variables)}
	for v := range m.codes {
		occurs := make([]bool, p.codes[v])
		for i := range p.n {
			occurs[p.code(i, v)] = true
		}
		for _, o := range occurs {
			if o {
				m.codes[v]++
			}
		}
	}
	switch way {
	case nested:
		m.order = p.bySplit()
	case upwards:
		m.kept = ^uint64(0) >> (64 - p.variables)
		order, droppable := p.droppable()
		if p.k > 1 || p.n < coverClasses {
			droppable = 0
		}
		for _, v := range order[:max(0, droppable)] {
			m.kept &^= 1 << v
		}
	}
	return m
}

// cells is the number of possible keys on a set, at most the number of classes.
func (m *merged) cells(set uint64) float64 {
	cells := 1.0
	for ; set != 0; set &= set - 1 {
		cells *= m.codes[bits.TrailingZeros64(set)]
	}
	return math.Min(cells, float64(m.p.n))
}

// share of the classes that are counted on a set.
func (m *merged) share(set uint64) float64 {
	n := float64(m.p.n)
	switch {
	case n == 0 || m.way != nested && m.way != upwards:
		return 1
	case m.way == upwards:
		return m.cells(set|m.kept) / n
	}
	equal := uint64(0)
	after := ^uint64(0) >> (64 - m.p.variables)
	blocks, left := 1.0, n
	most := nest{most: latticeMost}
	for j, v := range m.order {
		if set>>v&1 == 1 {
			left = m.cells(equal | after)
			equal |= 1 << v
			if blocks *= m.codes[v]; most.fits(int(left/blocks), m.p.variables-j-1) {
				break
			}
		}
		after &^= 1 << v
	}
	return left / n
}
