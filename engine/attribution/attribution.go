// Package attribution has the subtraction-attribution probability (SAP): how likely it is that somebody who knows n of the people
// in a published table can subtract them and be left with an evident zero, and so learn that a combination is empty. Then an
// attribute of everybody else is learnt without identifying anybody.
//
//	t := attribution.Table{Counts: []int64{3, 1, 0, 2}, Lower: low, Upper: high, TotalUpper: attribution.NoTotal}
//	p, err := t.SAP([]int64{1, 2, 5})
//
// A zero is recovered in cell i when all of its c_i people are known and the published figures imply that no more than c_i can be
// there. A cell whose own published count implies it is called relevant.
//
// Sources: Smith 2011, chapter 3; Smith & Elliot 2008. The printed algorithm is corrected where it disagrees with enumeration.
package attribution

import (
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

// Total is N, the sum of the counts.
func (t *Table) Total() int64 {
	n := int64(0)
	for _, c := range t.Counts {
		n += c
	}
	return n
}

// A problem is a table in the form that the formulas want.
//
// With a total whose upper bound is N, cell j can be bounded by c_j through the others: all of them must be known, or bounded from
// below, by their true counts. So let D be the cells whose lower bound is below their count ("open" ones). If there are any, the
// total recovers a zero exactly when all of D is known; if there are none, every cell is relevant.
type problem struct {
	n        int64
	relevant []int64 // counts of relevant cells
	rest     int64   // people in the other cells
	closing  bool    // the total closes the table: when all open cells are known
	open     int64   // people in open cells
	// Relevant cells with a lower bound of their count (none is open), when closing and no open cell is relevant.
	closed []int64
}

func (t *Table) problem() problem { return t.problemWithout(-1) }

// problemWithout is the problem of somebody who knows people other than one target in cell i, -1 for no target: then that cell has
// one person less, and can never be known in full.
func (t *Table) problemWithout(target int) problem {
	p := problem{n: t.Total()}
	bound := t.TotalUpper != NoTotal && t.TotalUpper == p.n
	opened := false
	for i, c := range t.Counts {
		opened = opened || t.Lower[i] < c
	}
	all := bound && !opened
	p.closing = bound && opened
	for i, c := range t.Counts {
		relevant := t.Relevant(i) || all && !t.impossible(i)
		if i == target {
			p.closing = p.closing && t.Lower[i] == c // an open cell with an unknown person in it
			p.n--
			p.rest += c - 1
			continue
		}
		if relevant {
			p.relevant = append(p.relevant, c)
		} else {
			p.rest += c
		}
	}
	if !p.closing {
		return p
	}
	for i, c := range t.Counts {
		switch {
		case t.Lower[i] < c:
			p.open += c
			if t.Relevant(i) {
				p.closing = false // knowing all open cells implies knowing this one
				return p
			}
		case t.Relevant(i) && i != target:
			p.closed = append(p.closed, c)
		}
	}
	return p
}

// hold is SAP(N) for n beyond N.
func (p *problem) hold(n int64) int64 { return min(n, p.n) }

// SAP is the probability that at least one zero is recovered when n people are known, a simple random sample of the table's N, for
// each n of known. n beyond N gives SAP(N). Errors: a table that contradicts itself, a negative n.
func (t *Table) SAP(known []int64) ([]float64, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	p := t.problem()
	return p.some(known)
}

// Target is the probability that at least one zero is recovered when n people are known among those other than one target person
// in cell i, so that something is learnt about that person, for each n of known. Cell i must have people.
func (t *Table) Target(i int, known []int64) ([]float64, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if i < 0 || i >= len(t.Counts) || t.Counts[i] == 0 {
		return nil, fmt.Errorf("there is nobody in cell %d", i)
	}
	p := t.problemWithout(i)
	return p.some(known)
}

// some is the probability of at least one zero.
func (p *problem) some(known []int64) ([]float64, error) {
	most := int64(0)
	for _, n := range known {
		if n < 0 {
			return nil, fmt.Errorf("%d people cannot be known: n is at least 0", n)
		}
		most = max(most, p.hold(n))
	}
	var law []float64
	switch {
	case p.n <= exactPeople && !slices.Contains(p.relevant, 0):
		law = p.counted(most)
	case p.closing:
		law = p.closedLaw(most)
	default:
		law = anyFull(p.relevant, p.rest, most)
	}
	out := make([]float64, len(known))
	for k, n := range known {
		out[k] = law[p.hold(n)]
		// What is certain is 1, and nothing else is, whatever rounding has done.
		if p.certain(p.hold(n)) {
			out[k] = 1
		} else {
			out[k] = min(out[k], math.Nextafter(1, 0))
		}
	}
	return out, nil
}

// certain tells whether a zero is recovered however the n people are chosen: not so if the unknown ones can be one of each relevant
// cell and, where the total closes the table, one of the open cells.
func (p *problem) certain(n int64) bool {
	if slices.Contains(p.relevant, 0) {
		return true
	}
	needed := int64(len(p.relevant))
	if p.closing {
		needed++
	}
	return needed > 0 && n > p.n-needed
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

// closedLaw adds the event that all open cells are known, and no relevant cell: those are among the closed ones, with the people
// that are left.
func (p *problem) closedLaw(most int64) []float64 {
	law := anyFull(p.relevant, p.rest, most)
	if most < p.open {
		return law
	}
	other := anyFull(p.closed, p.restOfClosed(), most-p.open)
	for n := p.open; n <= most; n++ {
		law[n] += AllKnown(p.open, n, p.n) * (1 - other[n-p.open])
	}
	return law
}

// AllKnown is the probability that all of c people are among n known of total.
func AllKnown(c, n, total int64) float64 {
	if c > n {
		return 0
	}
	p := 1.0
	for t := range c {
		p *= float64(n-t) / float64(total-t)
	}
	return p
}

// Cell is the probability that a zero is recovered in cell i, for each n of known.
func (t *Table) Cell(i int, known []int64) ([]float64, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	need, ok := t.Need(i)
	out := make([]float64, len(known))
	total := t.Total()
	for k, n := range known {
		if n < 0 {
			return nil, fmt.Errorf("%d people cannot be known: n is at least 0", n)
		}
		if ok {
			out[k] = AllKnown(need, min(n, total), total)
		}
	}
	return out, nil
}

// Need is the number of people, all of whom must be known for a zero in cell i; false if there never is one. The table must be sound.
func (t *Table) Need(i int) (int64, bool) {
	switch {
	case t.impossible(i):
		return 0, false
	case t.Relevant(i):
		return t.Counts[i], true
	case t.TotalUpper == NoTotal || t.TotalUpper > t.Total():
		return 0, false
	}
	need := t.Counts[i]
	for j, c := range t.Counts {
		if j != i && t.Lower[j] < c {
			need += c
		}
	}
	return need, true
}

// Expected is the expected number of recovered zeros, for each n of known.
func (t *Table) Expected(known []int64) ([]float64, error) {
	out := make([]float64, len(known))
	for i := range t.Counts {
		p, err := t.Cell(i, known)
		if err != nil {
			return nil, err
		}
		for k := range out {
			out[k] += p[k]
		}
	}
	return out, nil
}

// Smallest is the smallest n with SAP(n) of at least threshold, above 0 and at most 1; false if there is none up to N.
func (t *Table) Smallest(threshold float64) (int64, bool, error) {
	if !(threshold > 0 && threshold <= 1) {
		return 0, false, fmt.Errorf("the threshold is %v: it must be above 0 and at most 1", threshold)
	}
	if err := t.check(); err != nil {
		return 0, false, err
	}
	p := t.problem()
	// SAP never falls, so that the range that has to be computed can double.
	for most := int64(16); ; most *= 4 {
		known := make([]int64, min(most, p.n)+1)
		for n := range known {
			known[n] = int64(n)
		}
		sap, err := p.some(known)
		if err != nil {
			return 0, false, err
		}
		least := threshold
		if p.n > exactPeople {
			least *= 1 - 1e-12 // figures of large tables are not rounded just once
		}
		for n, x := range sap {
			if x >= least {
				return int64(n), true, nil
			}
		}
		if most >= p.n {
			return 0, false, nil
		}
	}
}
