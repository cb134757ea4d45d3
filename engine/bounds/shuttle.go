package bounds

import (
	"context"
	"time"

	"microrisk/engine/program"
)

// DefaultSteps is the amount of work allowed where Options do not say.
const DefaultSteps = 1 << 24

// Options limit the work. What stops at Steps is the same on every run; what stops at a Deadline is not.
type Options struct {
	Steps    int64     // sums looked at, arcs walked or pivots made, by method; 0 for DefaultSteps
	Deadline time.Time // zero for none
	Tight    bool      // Shuttle: tighten by trial
	// Solver, if not nil, is asked where the solver of package program stops: Sharp then goes on until it or the context ends, and
	// Steps limits the own one alone.
	Solver program.Solver
}

func (o Options) steps() int64 {
	if o.Steps > 0 {
		return o.Steps
	}
	return DefaultSteps
}

// within is a context that also ends at the deadline.
func (o Options) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, o.Deadline)
}

// A Method is a way to compute bounds.
type Method string

// Methods.
const (
	MethodFrechet     Method = "frechet"
	MethodShuttle     Method = "shuttle"
	MethodTight       Method = "tight shuttle"
	MethodFlow        Method = "flow"
	MethodSearch      Method = "search"
	MethodProgram     Method = "program"
	MethodIrreducible Method = "irreducible parts"
)

// Bounds are what a release gives away about the cells of its base table. They are always valid.
type Bounds struct {
	Low, High  []int64 // least and largest count of each cell; High is NoLimit where there is none
	Sharp      bool    // each is the count of some table with these margins
	Final      bool    // the method came to its end: more time would change nothing
	Recodings  bool    // Shuttle: the cells of all recoded tables were used
	Method     Method
	Steps      int64 // work done
	Incomplete int   // cells whose bounds are not known to be sharp
}

// Shuttle computes bounds by the generalised shuttle algorithm (Buzzigoli & Giusti 1999; Dobra 2002): the bounds of cells of recoded
// tables are tightened through the sums between them until nothing moves. It works with all recodings where these are few enough,
// else with published categories and single ones. With Tight each bound is tried: whatever count is refuted by search is left out;
// if that ends before the limits do, bounds are sharp. Stopped early, bounds are valid and not Final.
//
// Errors: a release that Check refuses; *InfeasibleError where the margins are found to contradict each other; a context that ends.
func Shuttle(ctx context.Context, r *Release, o Options) (*Bounds, error) {
	sys, err := newSystem(ctx, r)
	if err != nil {
		return nil, err
	}
	return shuttle(ctx, newNetwork(sys, true), o)
}

func shuttle(ctx context.Context, n *network, o Options) (*Bounds, error) {
	inner, cancel := o.within(ctx)
	defer cancel()
	s, row := n.state(o.steps())
	if row >= 0 {
		return nil, n.failure(n.rowNode[row], s.low[n.rowNode[row]], s.high[n.rowNode[row]])
	}
	out, x := s.propagate(inner)
	if out == broken {
		return nil, n.failure(x, s.low[x], s.high[x])
	}
	b := &Bounds{Method: MethodShuttle, Final: out == settled, Recodings: n.all}
	sharp := make([]bool, n.sys.size)
	if o.Tight {
		b.Method = MethodTight
		if out == settled {
			if b.Final, x = n.tightenAll(inner, s, sharp); x >= 0 {
				return nil, n.failure(x, s.low[x], s.high[x])
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.take(s, sharp)
	return b, nil
}

// tightenAll makes the bounds of all cells sharp, as far as the limits go.
func (n *network) tightenAll(ctx context.Context, s *state, sharp []bool) (final bool, crossed int32) {
	h := newSearcher(ctx, n, s)
	limit := s.steps/16 + 1024
	final = true
	for c := range n.sys.size {
		ok, x := h.tighten(int32(c), limit)
		if x >= 0 {
			return true, x
		}
		sharp[c] = ok
		final = final && ok
	}
	return final, -1
}

// take copies the bounds of base cells.
func (b *Bounds) take(s *state, sharp []bool) {
	m := len(sharp)
	b.Low, b.High, b.Steps = append([]int64(nil), s.low[:m]...), append([]int64(nil), s.high[:m]...), s.looked
	b.finish(sharp)
}

// finish counts the cells that are sharp, and puts NoLimit where there is no limit.
func (b *Bounds) finish(sharp []bool) {
	for c, h := range b.High {
		if h >= infinite {
			b.High[c] = NoLimit
		}
		if !sharp[c] {
			b.Incomplete++
		}
	}
	b.Sharp = b.Incomplete == 0
}
