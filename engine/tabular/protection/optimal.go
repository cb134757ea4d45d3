package protection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"microrisk/engine/program"
)

// Options are what patterns are chosen by.
type Options struct {
	Cost      []int64 // of hiding each cell, by cell number: 0 to 2^53
	Protected []bool  // cells that are never hidden, by number; nil for none
	Insider   Insider
	// Solver solves the integer programs; nil for program.Embedded. Patterns that cost the same may differ between solvers.
	Solver program.Solver
	Nodes  int    // most nodes of an integer program of program.Embedded, after which no other is begun; 0 for its own limit
	Start  []bool // a pattern to begin with, which need not be safe; nil for none
	Safe   bool   // every attacker accepted the start: Optimal has it from the first, whatever time there is
	// Most is how long a search goes on once there is a good pattern, that of each sub-table of Modular; 0 for no such limit.
	Most time.Duration
}

// A Pattern is which cells are hidden. Every attacker accepted it.
type Pattern struct {
	Hidden    []bool  // by cell number: cells with needs, and secondary ones
	Secondary []int32 // in order
	Cost      int64   // of the secondary cells
	Bound     int64   // no safe pattern costs less
	Cuts      int     // what attackers asked for
	Rounds    int     // of relaxed and integer programs
	Solver    string  // what ended the search: "relaxation", "integer" or "limit"
	Stopped   bool    // a limit ended the search: more of it might find less to hide
	late      bool    // it was one of time
}

// Proven tells whether no safe pattern costs less.
func (p *Pattern) Proven() bool { return p.Bound >= p.Cost }

// Gap is by how much of its cost a cheaper pattern might be cheaper, 0 to 1.
func (p *Pattern) Gap() float64 { return float64(p.Cost-p.Bound) / math.Max(1, float64(p.Cost)) }

// Optimal hides, besides the cells with needs, the cells that cost least such that no attacker learns what he must not: a master program
// over which cells are hidden, to which attackers add what they ask for (Fischetti & Salazar-González 2001). Cells of value 0 and protected
// ones are never hidden. With a deadline that passes, Most, or Nodes, the best safe pattern so far comes with its bound. Errors: what Check
// refuses, costs or protected cells that do not fit, *InfeasibleError, a context that was cancelled, or that ended before there was a
// pattern, those of the solver.
func Optimal(ctx context.Context, t *Table, needs []Need, o Options) (*Pattern, error) {
	s, err := newSearch(ctx, t, needs, o)
	if err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	if o.Most > 0 {
		within, cancel := context.WithTimeout(ctx, o.Most)
		defer cancel()
		s.ctx = within
	}
	end := "relaxation"
	err = s.relaxed()
	if err == nil && s.bound < s.best.Cost {
		end = "integer"
		err = s.integer()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errNodes):
		end, s.best.Stopped, s.best.late = "limit", true, !errors.Is(err, errNodes)
	case err != nil:
		return nil, err
	}
	p := s.best
	p.Bound, p.Cuts, p.Rounds, p.Solver = min(s.bound, p.Cost), len(s.rows), s.rounds, end
	return p, nil
}

// errNodes says that the limit of nodes was reached.
var errNodes = errors.New("the limit of nodes was reached")

// A search is a run of Optimal.
type search struct {
	*plan
	ctx     context.Context
	o       Options
	needs   []Need
	primary []bool
	cells   []int32 // that may be hidden besides, by column of the master
	column  []int32 // by cell, -1 for none
	free    []bool  // cells that may be hidden, primary ones among them

	rows    []program.Row // of the master, each at least 1
	keys    map[string]bool
	attacks []attack
	best    *Pattern
	bound   int64
	rounds  int
	fixed   []bool // columns that no better pattern hides
	active  []int  // rows of the master at hand: the others are not broken
	basis   *program.Basis
	scale   float64          // costs in the master are so many times smaller, of the order of 1
	master  *program.Simplex // relaxed, with the active rows; nil if it has to be made
}

func newSearch(ctx context.Context, t *Table, needs []Need, o Options) (*search, error) {
	p, err := newPlan(t, needs)
	if err != nil {
		return nil, err
	}
	n := t.System.Cells
	if len(o.Cost) != n || o.Protected != nil && len(o.Protected) != n || o.Start != nil && len(o.Start) != n {
		return nil, fmt.Errorf("costs, protected cells and a start are of %d, %d and %d cells, where the table has %d", len(o.Cost),
			len(o.Protected), len(o.Start), n)
	}
	s := &search{plan: p, ctx: ctx, o: o, primary: make([]bool, n), column: make([]int32, n), free: make([]bool, n),
		keys: make(map[string]bool)}
	for _, need := range needs {
		s.needs = append(s.needs, p.capped(need))
		s.primary[need.Cell], s.free[need.Cell] = true, true
		if o.Protected != nil && o.Protected[need.Cell] {
			return nil, fmt.Errorf("cell %d has a need and is protected: it has to be hidden, and must not be", need.Cell)
		}
	}
	dearest := int64(0)
	for cell, cost := range o.Cost {
		if cost < 0 || cost > MaxValue {
			return nil, fmt.Errorf("cell %d has the cost %d: costs are 0 to 2^53", cell, cost)
		}
		s.column[cell] = -1
		if s.primary[cell] || t.Values[cell] == 0 || o.Protected != nil && o.Protected[cell] || len(p.of[cell]) == 0 {
			continue
		}
		dearest = max(dearest, cost)
		s.free[cell] = true
		s.column[cell] = int32(len(s.cells))
		s.cells = append(s.cells, int32(cell))
	}
	s.fixed = make([]bool, len(s.cells))
	for s.scale = 1; float64(dearest) > 1024*s.scale; {
		s.scale *= 2
	}
	return s, nil
}

// cost is that of the secondary cells of a pattern.
func (s *search) cost(hidden []bool) int64 {
	sum := int64(0)
	for _, c := range s.cells {
		if hidden[c] {
			sum += s.o.Cost[c]
		}
	}
	return sum
}

// accept keeps a safe pattern if it is the best.
func (s *search) accept(hidden []bool) {
	cost := s.cost(hidden)
	if s.best != nil && s.best.Cost <= cost {
		return
	}
	s.best = &Pattern{Hidden: append([]bool(nil), hidden...), Cost: cost}
	for _, c := range s.cells {
		if hidden[c] {
			s.best.Secondary = append(s.best.Secondary, c)
		}
	}
}

// begin looks whether there is any pattern, finds a first good one, and asks for what every equation asks for.
func (s *search) begin() error {
	if s.o.Safe && s.o.Start != nil {
		s.accept(s.begun())
	} else {
		failed, err := s.failures(s.free)
		if err != nil {
			return err
		}
		if len(failed) > 0 {
			return s.explain(failed[0])
		}
		s.accept(s.free)
	}
	s.covers()
	if s.o.Safe {
		if err := s.first(); err != nil {
			return s.unless(err)
		}
	}
	weight := make([]float64, s.System.Cells)
	for i, c := range s.o.Cost {
		weight[i] = float64(c)
	}
	if s.o.Start != nil {
		if err := s.improve(s.begun(), weight); err != nil {
			return s.unless(err)
		}
	}
	if err := s.improve(append([]bool(nil), s.primary...), weight); err != nil {
		return s.unless(err)
	}
	for j, c := range s.cells {
		s.fixed[j] = s.o.Cost[c] >= s.best.Cost
	}
	return nil
}

// first is a bound before anything better is sought, so that there is one where the time is short.
func (s *search) first() error {
	_, _, err := s.settle()
	s.master, s.basis, s.active, s.rounds = nil, nil, nil, 0 // the search begins with cells that it knows more of
	return err
}

// unless is no error for a deadline: there is a pattern, and what comes next ends by itself.
func (s *search) unless(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// failures are what attackers find in a pattern.
func (s *search) failures(hidden []bool) ([]Finding, error) {
	a := s.auditor(s.ctx, hidden, s.o.Insider)
	a.brief = true
	var list []Finding
	for _, n := range s.needs {
		f, _, err := a.prove(n)
		if err != nil {
			return nil, err
		}
		if f.Verdict != Pass {
			list = append(list, f)
		}
	}
	return list, nil
}
