// Package classes bounds what some cells of a table have in a population, of which margins are published: the classes of a sample, whose
// records are in the population. The table may be of any size, as only cells that the sample or a margin has are looked at.
//
//	low, high, err := classes.Of(ctx, &classes.Problem{Variables: 2, Codes: codes, Counts: counts, Margins: margins})
//
// A class has at most what its cell of a margin has, less what other classes of the cell have at least; and at least what is left of a
// margin's cell where all are taken off that other margins may have elsewhere (Fréchet and Bonferroni; Dobra & Fienberg 2000). Where the
// whole table is small, the shuttle algorithm of package bounds says more. Bounds are valid always, and sharp not always.
package classes

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"microrisk/engine/bounds"
)

// NoLimit as an upper bound says that there is none.
const NoLimit = bounds.NoLimit

// MaxVariables is the largest number of variables.
const MaxVariables = 64

// A Problem is a sample and what is published of its population.
type Problem struct {
	Variables  int
	Codes      [][]uint32 // Codes[v][i] is the code of class i on variable v
	Counts     []int64    // records of each class, at least 1
	Margins    []Margin
	Population int64 // people in all; 0: it is not known
}

// A Margin is a table over some of the variables: the cells that it lists, each within bounds.
type Margin struct {
	Name      string
	Variables []int      // ascending; none is the total
	Codes     [][]uint32 // Codes[j][i] is the code of cell i on the j-th of them
	Low, High []int64    // High may be NoLimit
	// Unlisted is how many people a cell may have that is not listed, at most; Whole says that all categories that there are are listed, in all
	// combinations.
	Unlisted int64
	Whole    bool
}

// A ContradictionError says that margins contradict each other, or the sample.
type ContradictionError struct {
	Margin, Other int   // numbers of margins, or what else contradicts one
	Variables     []int // of the cell
	Codes         []uint32
	Low, High     int64 // of the cell by the margin
	OtherLow      int64 // by the other; of a sample its records
	OtherHigh     int64
}

// What contradicts a margin, if no other margin.
const (
	Sample     = -1 // the records
	Population = -2 // the size of the population
	Others     = -3 // several margins together
)

func (e *ContradictionError) Error() string {
	return fmt.Sprintf("margin %d has %s in the cell %v of the variables %v, and by %d it is %s", e.Margin, Span(e.Low, e.High), e.Codes, e.Variables, e.Other,
		Span(e.OtherLow, e.OtherHigh))
}

// Span is an interval in words.
func Span(low, high int64) string {
	switch {
	case low == high:
		return fmt.Sprint(low)
	case high == NoLimit:
		return fmt.Sprintf("at least %d", low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// Of are the least and the largest count of each class: at least its records. Errors: a *ContradictionError; margins that are unsound; a
// context that ends.
func Of(ctx context.Context, p *Problem) (low, high []int64, err error) {
	if err := p.check(); err != nil {
		return nil, nil, err
	}
	s := newSystem(p)
	if err := s.tighten(ctx); err != nil {
		return nil, nil, err
	}
	if err := s.agree(ctx); err != nil {
		return nil, nil, err
	}
	low, high = slices.Clone(p.Counts), make([]int64, len(p.Counts))
	if err := s.above(ctx, low, high); err != nil {
		return nil, nil, err
	}
	more, err := s.below(ctx, low, high)
	if err == nil && more {
		err = s.above(ctx, low, high)
	}
	if err == nil {
		err = s.shuttle(ctx, low, high)
	}
	return low, high, err
}

func (p *Problem) check() error {
	if p.Variables < 1 || p.Variables > MaxVariables || len(p.Codes) != p.Variables {
		return fmt.Errorf("there are %d variables and codes of %d; want 1 to %d", p.Variables, len(p.Codes), MaxVariables)
	}
	for v, codes := range p.Codes {
		if len(codes) != len(p.Counts) {
			return fmt.Errorf("there are %d codes of variable %d for %d classes", len(codes), v, len(p.Counts))
		}
	}
	if len(p.Counts) > 0 && slices.Min(p.Counts) < 1 {
		return fmt.Errorf("a class has %d records, want at least 1", slices.Min(p.Counts))
	}
	for i := range p.Margins {
		if err := p.Margins[i].check(p.Variables); err != nil {
			return fmt.Errorf("margin %d: %w", i, err)
		}
	}
	return nil
}

func (m *Margin) check(variables int) error {
	if len(m.Codes) != len(m.Variables) || len(m.High) != len(m.Low) || m.Unlisted < 0 {
		return fmt.Errorf("it has codes of %d variables, and %d, and %d lower and %d upper bounds", len(m.Codes), len(m.Variables), len(m.Low), len(m.High))
	}
	for j, v := range m.Variables {
		if v < 0 || v >= variables || j > 0 && v <= m.Variables[j-1] || len(m.Codes[j]) != len(m.Low) {
			return fmt.Errorf("its variables are %v, which do not ascend below %d, or it lacks codes", m.Variables, variables)
		}
	}
	sum := int64(0)
	for i, low := range m.Low {
		if low < 0 || m.High[i] < low || low > bounds.MaxCount-sum {
			return fmt.Errorf("cell %d has from %d to %d people, or cells sum to more than %d", i, low, m.High[i], int64(bounds.MaxCount))
		}
		sum += low
	}
	return nil
}

// A set of variables.
type set uint64

func setOf(variables []int) (s set) {
	for _, v := range variables {
		s |= 1 << v
	}
	return s
}

func (s set) variables() []int {
	var list []int
	for ; s != 0; s &= s - 1 {
		list = append(list, bits.TrailingZeros64(uint64(s)))
	}
	return list
}

// plus adds upper bounds.
func plus(a, b int64) int64 {
	if a == NoLimit || b == NoLimit || a > bounds.MaxCount || b > bounds.MaxCount {
		return NoLimit
	}
	return a + b
}

// less takes a number off an upper bound.
func less(a, b int64) int64 {
	if a == NoLimit {
		return a
	}
	return a - b
}
