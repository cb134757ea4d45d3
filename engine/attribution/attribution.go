// Package attribution has the subtraction-attribution probability (SAP): how likely it is that somebody who knows n of the people
// in a published table can subtract them and be left with an evident zero, and so learn that a combination is empty. Then an
// attribute of everybody else is learnt without identifying anybody.
//
//	t := attribution.Table{Counts: []int64{3, 1, 0, 2}, Lower: low, Upper: high, TotalUpper: attribution.NoTotal}
//	s, err := t.Check()
//	p, err := s.SAP(ctx, []int64{1, 2, 5})
//
// A zero is recovered in cell i when all of its c_i people are known and the published figures imply that no more than c_i can be
// there. A cell whose own published count implies it is called relevant.
//
// Sources: Smith 2011, chapter 3; Smith & Elliot 2008. The printed algorithm is corrected where it disagrees with enumeration.
package attribution

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// NoTotal says that no total is published with a table.
const NoTotal = -1

// A Table is one base table as it was released.
type Table struct {
	Counts []int64 // true counts, at least 0
	Lower  []int64 // least and largest counts that the published ones imply, Lower <= Counts <= Upper
	Upper  []int64
	// TotalUpper is the largest total that the published total implies, at least the sum of Counts; NoTotal for none. The least one
	// does not matter.
	TotalUpper int64
	Impossible []bool // cells that are known to be empty: their zeros tell nothing; nil for none
}

// check finds what is wrong with a table.
func (t *Table) check() error {
	m := len(t.Counts)
	if len(t.Lower) != m || len(t.Upper) != m || t.Impossible != nil && len(t.Impossible) != m {
		return fmt.Errorf("the table has %d counts, %d lower and %d upper bounds: it must be one of each a cell", m, len(t.Lower), len(t.Upper))
	}
	total := int64(0)
	for i, c := range t.Counts {
		switch {
		case c < 0:
			return fmt.Errorf("cell %d has a count of %d: counts are at least 0", i, c)
		case c < t.Lower[i] || c > t.Upper[i]:
			return fmt.Errorf("cell %d has a count of %d, which is not within its bounds %d and %d", i, c, t.Lower[i], t.Upper[i])
		case t.impossible(i) && c > 0:
			return fmt.Errorf("cell %d is impossible, and its count is %d", i, c)
		case c > math.MaxInt64-total:
			return fmt.Errorf("the counts add up to more than %d", int64(math.MaxInt64))
		}
		total += c
	}
	if t.TotalUpper != NoTotal && t.TotalUpper < total {
		return fmt.Errorf("the counts add up to %d, more than the total's upper bound %d", total, t.TotalUpper)
	}
	return nil
}

func (t *Table) impossible(i int) bool { return t.Impossible != nil && t.Impossible[i] }

// Relevant tells whether cell i is relevant: its own published count bounds it by its true one.
func (t *Table) Relevant(i int) bool { return t.Upper[i] == t.Counts[i] && !t.impossible(i) }

// A Sound table has been checked: its figures can be asked for. The table must not change meanwhile.
type Sound struct {
	table  *Table
	n      int64 // people
	opened bool  // some cell is open: its lower bound is below its count
	open   int64 // people in open cells
	bound  bool  // the published total implies N
}

// Check finds what is wrong with a table.
func (t *Table) Check() (*Sound, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	s := &Sound{table: t}
	for i, c := range t.Counts {
		s.n += c
		if t.Lower[i] < c {
			s.opened = true
			s.open += c
		}
	}
	s.bound = t.TotalUpper == s.n
	return s, nil
}

// A problem is a table in the form that the formulas want.
//
// With a total whose upper bound is N, cell j can be bounded by c_j through the others: all of them must be known, or bounded from
// below, by their true counts. So let D be the cells whose lower bound is below their count ("open" ones). If there are any, the
// total recovers a zero exactly when all of D is known; if there are none, every cell is relevant.
type problem struct {
	n        int64
	relevant []int64 // counts of relevant cells
	empty    bool    // one of them is 0
	rest     int64   // people in the other cells
	closing  bool    // the total closes the table: when all open cells are known
	open     int64   // people in open cells
	// Relevant cells with a lower bound of their count (none is open), when closing and no open cell is relevant.
	closed []int64
}

// A kind of cell: for targets in cells of the same kind all is alike.
type kind struct {
	count          int64
	relevant, open bool
}

func (s *Sound) kind(i int) kind {
	c := s.table.Counts[i]
	return kind{c, s.table.Relevant(i) || s.bound && !s.opened && !s.table.impossible(i), s.table.Lower[i] < c}
}

func (s *Sound) problem() problem { return s.problemWithout(-1) }

// problemWithout is the problem of somebody who knows people other than one target in cell i, -1 for no target: then that cell has
// one person less, and can never be known in full.
func (s *Sound) problemWithout(target int) problem {
	t := s.table
	p := problem{n: s.n, closing: s.bound && s.opened}
	all := s.bound && !s.opened
	for i, c := range t.Counts {
		if i == target {
			p.closing = p.closing && t.Lower[i] == c // an open cell with an unknown person in it
			p.n--
			p.rest += c - 1
			continue
		}
		if t.Relevant(i) || all && !t.impossible(i) {
			p.relevant = append(p.relevant, c)
			p.empty = p.empty || c == 0
		} else {
			p.rest += c
		}
	}
	p.closing = p.closing && p.close(t, target)
	return p
}

// close fills in what a closing total needs; false if it tells nothing.
func (p *problem) close(t *Table, target int) bool {
	for i, c := range t.Counts {
		switch {
		case t.Lower[i] < c:
			p.open += c
			if t.Relevant(i) {
				return false // knowing all open cells implies knowing this one
			}
		case t.Relevant(i) && i != target:
			p.closed = append(p.closed, c)
		}
	}
	return true
}

// hold is SAP(N) for n beyond N.
func (p *problem) hold(n int64) int64 { return min(n, p.n) }

// SAP is the probability that at least one zero is recovered when n people are known, a simple random sample of the table's N, for
// each n of known. n beyond N gives SAP(N). Errors: a negative n, a context that ends.
func (s *Sound) SAP(ctx context.Context, known []int64) ([]float64, error) {
	p := s.problem()
	return p.some(newClock(ctx), known)
}

// Targets has the probability that at least one zero is recovered when n people are known among those other than one target person
// in a cell, so that something is learnt about that person: out[k][j] for n = known[k] and a target in cells[j], which must have
// people. Cells of the same kind share their figures.
func (s *Sound) Targets(ctx context.Context, cells []int, known []int64) ([][]float64, error) {
	out := make([][]float64, len(known))
	for k := range out {
		out[k] = make([]float64, len(cells))
	}
	clock := newClock(ctx)
	var kinds []kind
	var found [][]float64
	for j, i := range cells {
		if i < 0 || i >= len(s.table.Counts) || s.table.Counts[i] == 0 {
			return nil, fmt.Errorf("there is nobody in cell %d", i)
		}
		at := slices.Index(kinds, s.kind(i))
		if at < 0 {
			if err := clock.spend(int64(len(s.table.Counts))); err != nil {
				return nil, err
			}
			p := s.problemWithout(i)
			sap, err := p.some(clock, known)
			if err != nil {
				return nil, err
			}
			at = len(kinds)
			kinds, found = append(kinds, s.kind(i)), append(found, sap)
		}
		for k := range known {
			out[k][j] = found[at][k]
		}
	}
	return out, nil
}

// some is the probability of at least one zero for each n of known.
func (p *problem) some(clock *clock, known []int64) ([]float64, error) {
	most := int64(0)
	for _, n := range known {
		if n < 0 {
			return nil, fmt.Errorf("%d people cannot be known: n is at least 0", n)
		}
		most = max(most, p.hold(n))
	}
	out := make([]float64, len(known))
	switch {
	case p.certain(0):
	case p.n <= exactPeople:
		law := p.counted(most)
		for k, n := range known {
			out[k] = law[p.hold(n)]
		}
	default:
		held := make([]int64, len(known))
		for k, n := range known {
			held[k] = p.hold(n)
		}
		if err := p.large(clock, held, most, out); err != nil {
			return nil, err
		}
	}
	// What is certain is 1, and nothing else is, whatever rounding has done.
	for k, n := range known {
		if p.certain(p.hold(n)) {
			out[k] = 1
		} else {
			out[k] = min(out[k], math.Nextafter(1, 0))
		}
	}
	return out, nil
}

// needed is how many unknown people can keep all cells from being known: one of each relevant cell and, where the total closes the
// table, one of the open cells.
func (p *problem) needed() int64 {
	needed := int64(len(p.relevant))
	if p.closing {
		needed++
	}
	return needed
}

// certain tells whether a zero is recovered however the n people are chosen.
func (p *problem) certain(n int64) bool {
	needed := p.needed()
	return p.empty || needed > 0 && n > p.n-needed
}

// counted is the law in whole numbers, each figure rounded once: what is exactly a tenth is a tenth.
func (p *problem) counted(most int64) []float64 {
	none := noneFull(p.relevant, p.rest)
	var closed ways
	if p.closing {
		closed = noneFull(p.closed, p.restOfClosed())
	}
	law := make([]float64, most+1)
	for n := range law {
		all := binomials[p.n][n]
		some := all - none[n]
		if p.closing && int64(n) >= p.open {
			some += closed[int64(n)-p.open]
		}
		law[n] = float64(some) / float64(all)
	}
	return law
}

// restOfClosed is the number of people in closed cells that are not relevant.
func (p *problem) restOfClosed() int64 {
	rest := p.n - p.open
	for _, c := range p.closed {
		rest -= c
	}
	return rest
}

// large is the law of many people, at each n of held.
func (p *problem) large(clock *clock, held []int64, most int64, out []float64) error {
	slices.Sort(p.relevant)
	slices.Sort(p.closed)
	if err := someFull(clock, p.relevant, p.rest, held, most, out); err != nil || !p.closing {
		return err
	}
	// The event that all open cells are known, and no relevant cell: those are among the closed ones, with the people that are left.
	var after []int64
	for _, n := range held {
		after = append(after, max(0, n-p.open))
	}
	other := make([]float64, len(held))
	if err := someFull(clock, p.closed, p.restOfClosed(), after, max(0, most-p.open), other); err != nil {
		return err
	}
	for k, n := range held {
		out[k] += AllKnown(p.open, n, p.n) * (1 - other[k])
	}
	return nil
}

// AllKnown is the probability that all of c people are among n known of total.
func AllKnown(c, n, total int64) float64 {
	if c > n {
		return 0
	}
	// The same in the other words: none of the total - n that are not known is among the c.
	unknown := total - n
	p := 1.0
	if unknown < c {
		for t := range unknown {
			if p *= float64(total-c-t) / float64(total-t); p == 0 {
				return 0
			}
		}
		return p
	}
	for t := range c {
		if p *= float64(n-t) / float64(total-t); p == 0 {
			return 0
		}
	}
	return p
}

// Cell is the probability that a zero is recovered in cell i, for each n of known.
func (s *Sound) Cell(i int, known []int64) ([]float64, error) {
	need, ok := s.Need(i)
	out := make([]float64, len(known))
	for k, n := range known {
		if n < 0 {
			return nil, fmt.Errorf("%d people cannot be known: n is at least 0", n)
		}
		if ok {
			out[k] = AllKnown(need, min(n, s.n), s.n)
		}
	}
	return out, nil
}

// Need is the number of people, all of whom must be known for a zero in cell i; false if there never is one.
func (s *Sound) Need(i int) (int64, bool) {
	t := s.table
	switch {
	case t.impossible(i):
		return 0, false
	case t.Relevant(i):
		return t.Counts[i], true
	case !s.bound:
		return 0, false
	}
	// All that is open in other cells, and the cell itself.
	if t.Lower[i] < t.Counts[i] {
		return s.open, true
	}
	return s.open + t.Counts[i], true
}

// Expected is the expected number of recovered zeros, for each n of known.
func (s *Sound) Expected(ctx context.Context, known []int64) ([]float64, error) {
	needs := make([]int64, 0, len(s.table.Counts))
	for i := range s.table.Counts {
		if need, ok := s.Need(i); ok {
			needs = append(needs, need)
		}
	}
	slices.Sort(needs) // equal ones are computed once
	clock, out := newClock(ctx), make([]float64, len(known))
	for k, n := range known {
		if n < 0 {
			return nil, fmt.Errorf("%d people cannot be known: n is at least 0", n)
		}
		p := 0.0
		for i, need := range needs {
			if i == 0 || need != needs[i-1] {
				if err := clock.spend(stepsOfChance(need, min(n, s.n), s.n)); err != nil {
					return nil, err
				}
				p = AllKnown(need, min(n, s.n), s.n)
			}
			out[k] += p
		}
	}
	return out, nil
}
