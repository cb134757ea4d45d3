package program

import (
	"container/heap"
	"context"
	"math"
)

// Limits of the embedded solver where it does not say.
const (
	DefaultPivots = 1 << 22
	DefaultNodes  = 1 << 18
	whole         = 1e-6 // what is closer to a whole number is one
	restoring     = 2000 // most pivots of the dual method at a node
)

// Embedded is the solver that runs in this process: the simplex method, and branch and bound on top for integer columns. The same
// model and limits give the same solution; a context that ends gives what was found until then.
type Embedded struct {
	Pivots int    // most pivots, 0 for DefaultPivots
	Nodes  int    // most nodes of branch and bound, 0 for DefaultNodes
	Depth  int    // nodes deeper than this are left alone, 0 for no such limit; then optimality is not proven
	Start  *Basis // of a similar problem, nil for none
	// Cutoff is an objective that has to be beaten; 0 and Bounded false for none.
	Cutoff  float64
	Bounded bool
}

// A node is an open problem: changed bounds of columns, and the basis of its parent.
type node struct {
	parent    *node
	column    int
	low, high float64
	depth     int
	bound     float64 // minimised
	order     int
	basis     *Basis
}

type nodes []*node

func (n nodes) Len() int { return len(n) }
func (n nodes) Less(a, b int) bool {
	if n[a].bound != n[b].bound {
		return n[a].bound < n[b].bound
	}
	return n[a].order > n[b].order // the latest first
}
func (n nodes) Swap(a, b int) { n[a], n[b] = n[b], n[a] }

// Push and Pop are heap.Interface's.
func (n *nodes) Push(x any) { *n = append(*n, x.(*node)) }

// Pop removes the last node.
func (n *nodes) Pop() any {
	old := *n
	x := old[len(old)-1]
	*n = old[:len(old)-1]
	return x
}

// A tree is a run of branch and bound. Objectives are minimised in it.
type tree struct {
	m        *Model
	s        *Simplex
	limits   Embedded
	integer  []int
	granular bool // objectives are whole numbers
	open     nodes
	count    int
	best     float64
	x        []float64
	lost     float64 // least bound of nodes left alone
	changed  []int   // columns whose bounds are not the model's
}

// Solve solves a model. Errors: a model that Check refuses, ErrNumerical.
func (e Embedded) Solve(ctx context.Context, m *Model) (*Solution, error) {
	if e.Pivots == 0 {
		e.Pivots = DefaultPivots
	}
	if e.Nodes == 0 {
		e.Nodes = DefaultNodes
	}
	s, err := NewSimplex(m)
	if err != nil {
		return nil, err
	}
	s.SetBasis(e.Start)
	status, err := s.Solve(ctx, e.Pivots)
	if err != nil {
		return nil, err
	}
	out := &Solution{Status: status, Bound: s.sign * math.Inf(-1), Basis: s.Basis(), Nodes: 1}
	out.Duals, out.Reduced = s.Duals()
	t := &tree{m: m, s: s, limits: e, best: Infinity, lost: Infinity, granular: true}
	for j, c := range m.Columns {
		if c.Integer {
			t.integer = append(t.integer, j)
		}
		t.granular = t.granular && c.Cost == math.Trunc(c.Cost) && (c.Integer || c.Cost == 0)
	}
	if e.Bounded {
		t.best = s.sign * e.Cutoff
	}
	switch {
	case status == Optimal:
		out.Bound = s.Objective()
	case status != Stopped:
		out.Pivots = s.Pivots
		return out, nil
	case !s.Feasible() || len(t.integer) > 0:
		out.Pivots = s.Pivots
		return out, nil
	}
	if len(t.integer) == 0 {
		out.X, out.Objective, out.Pivots = s.Values(), s.Objective(), s.Pivots
		return out, nil
	}
	if err := t.run(ctx, s.sign*out.Bound); err != nil {
		return nil, err
	}
	t.finish(out)
	return out, nil
}

// finish reads the result.
func (t *tree) finish(out *Solution) {
	out.Pivots, out.Nodes, out.X = t.s.Pivots, t.count, t.x
	bound := min(t.lost, t.best)
	for _, n := range t.open {
		bound = min(bound, n.bound)
	}
	out.Bound = t.s.sign * bound
	switch {
	case t.x != nil:
		out.Objective = t.m.Value(t.x)
		if bound >= t.best {
			out.Status, out.Bound = Optimal, out.Objective
		} else {
			out.Status = Stopped
		}
	case math.IsInf(bound, 1) || t.limits.Bounded && bound >= t.best:
		out.Status = Infeasible
	default:
		out.Status = Stopped
	}
}

// run works through nodes, the solved root first.
func (t *tree) run(ctx context.Context, root float64) error {
	current := &node{column: -1, bound: t.rounded(root)}
	solved := true
	for {
		if current == nil {
			if current = t.next(); current == nil {
				return nil
			}
			solved = false
		}
		if t.count++; t.count > t.limits.Nodes || t.s.Pivots >= t.limits.Pivots || ctx.Err() != nil {
			t.open = append(t.open, current)
			return nil
		}
		if !solved {
			status, err := Optimal, error(nil)
			if !t.s.Restore(ctx, min(restoring, t.limits.Pivots-t.s.Pivots)) {
				status, err = t.s.Solve(ctx, max(0, t.limits.Pivots-t.s.Pivots))
			}
			switch {
			case err != nil:
				return err
			case status == Stopped:
				t.open = append(t.open, current)
				return nil
			case status == Infeasible:
				current = nil
				continue
			case status == Unbounded:
				t.lost = math.Inf(-1)
				current = nil
				continue
			}
			current.bound = max(current.bound, t.rounded(t.s.sign*t.s.Objective()))
		}
		solved = false
		current = t.branch(current)
	}
}

// rounded makes a bound as good as whole objectives allow.
func (t *tree) rounded(bound float64) float64 {
	if t.granular {
		return math.Ceil(bound - whole*max(1, math.Abs(bound)*1e-3))
	}
	return bound
}

// next takes the best open node and sets its bounds and basis.
func (t *tree) next() *node {
	if len(t.open) > 0 {
		n := heap.Pop(&t.open).(*node)
		if n.bound >= t.best-1e-9 {
			t.open = t.open[:0] // the others are no better
			return nil
		}
		for _, j := range t.changed {
			t.s.SetBounds(j, t.m.Columns[j].Low, t.m.Columns[j].High)
		}
		t.changed = t.changed[:0]
		set := map[int]bool{}
		for up := n; up.parent != nil; up = up.parent {
			if !set[up.column] { // the deepest change of a column holds
				set[up.column] = true
				t.apply(up)
			}
		}
		t.s.SetBasis(n.basis)
		return n
	}
	return nil
}

func (t *tree) apply(n *node) {
	t.s.SetBounds(n.column, n.low, n.high)
	t.changed = append(t.changed, n.column)
}

// branch looks at a solved node: it is done with, a solution, or falls into two, the nearer of which is gone on with.
func (t *tree) branch(n *node) *node {
	if n.bound >= t.best-1e-9 {
		return nil
	}
	split, most := -1, whole
	for _, j := range t.integer {
		x := t.s.Value(j)
		if d := math.Abs(x - math.Round(x)); d > most {
			split, most = j, d
		}
	}
	if split < 0 {
		t.solution(n)
		return nil
	}
	if t.limits.Depth > 0 && n.depth >= t.limits.Depth {
		t.lost = min(t.lost, n.bound)
		return nil
	}
	x := t.s.Value(split)
	below := &node{parent: n, column: split, low: t.s.low[split], high: math.Floor(x), depth: n.depth + 1, bound: n.bound, order: t.count}
	above := &node{parent: n, column: split, low: math.Ceil(x), high: t.s.high[split], depth: n.depth + 1, bound: n.bound, order: t.count}
	near, far := below, above
	if x-math.Floor(x) > 0.5 {
		near, far = above, below
	}
	far.basis = t.s.Basis()
	heap.Push(&t.open, far)
	t.apply(near)
	return near
}

// solution keeps a node's solution if it is the best, with whole numbers made whole and looked at once more.
func (t *tree) solution(n *node) {
	x := t.s.Values()
	for _, j := range t.integer {
		x[j] = math.Round(x[j])
	}
	if t.m.Violation(x) > 1e-5 {
		t.lost = min(t.lost, n.bound) // rounding errors: it proves nothing
		return
	}
	if v := t.s.sign * t.m.Value(x); v < t.best {
		t.best, t.x = v, x
	}
}
