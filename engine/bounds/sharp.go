package bounds

import (
	"context"
	"math"
	"slices"
)

// searchCells is the largest number of cells for which Sharp tries search before programs.
const searchCells = 64

// Sharp computes the tightest bounds in whole numbers: by network flows where the release is a network (two-way tables with any
// hierarchies, any two margins and what lies within them; bounds of sums and cells of any kind), else by search for small tables,
// else, or where search does not end, by linear and integer programs. What is not proven when the limits are reached keeps bounds that
// are valid; Bounds.Sharp and Incomplete tell.
//
// Errors: a release that Check refuses; *InfeasibleError if no table has these margins; a context that ends.
func Sharp(ctx context.Context, r *Release, o Options) (*Bounds, error) {
	sys, err := newSystem(ctx, r)
	if err != nil {
		return nil, err
	}
	return sharpest(ctx, sys, o)
}

func sharpest(ctx context.Context, sys *system, o Options) (*Bounds, error) {
	inner, cancel := o.within(ctx)
	defer cancel()
	if f, ok := newFlow(sys); ok {
		if f.limit = o.steps(); o.Steps == 0 && !o.Deadline.IsZero() {
			f.limit = math.MaxInt64 // the deadline ends it
		}
		b, err := f.bounds(inner)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	net := newNetwork(sys, false)
	s, row := net.state(o.steps())
	if row >= 0 {
		x := net.rowNode[row]
		return nil, net.failure(x, s.low[x], s.high[x])
	}
	out, x := s.propagate(inner)
	if out == broken {
		return nil, net.failure(x, s.low[x], s.high[x])
	}
	sharp := make([]bool, sys.size)
	b := &Bounds{Method: MethodSearch}
	if out == settled && sys.size <= searchCells {
		s.steps = s.looked + (s.steps-s.looked)/2
		b.Final, x = net.tightenAll(inner, s, sharp)
		if x >= 0 {
			return nil, noTable()
		}
	}
	if slices.Contains(sharp, false) && inner.Err() == nil {
		b.Method = MethodProgram
		p := newProgram(sys, s, out == settled, o.steps())
		p.solver = o.Solver
		if b.Final = p.tighten(inner, sharp); p.none {
			return nil, noTable()
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.take(s, sharp)
	return b, nil
}
