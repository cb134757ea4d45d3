package margins

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"microrisk/engine/graph"
)

// all goes through all safe decomposable graphs over some of the variables, each once: they grow by one variable at a time, which stays out
// or gets neighbours such that those within each connected part of the rest are complete. What is unsafe stays so as it grows.
func (p *problem) all(ctx context.Context, keep *keeper) error {
	if !p.safe[0] {
		return nil
	}
	w := &walk{problem: p, ctx: ctx, keep: keep}
	for a := range graph.First(max(1, len(p.active))-1) + 1 {
		w.neighbours = append(w.neighbours, a)
	}
	slices.SortStableFunc(w.neighbours, func(a, b graph.Set) int { return b.Len() - a.Len() })
	w.grow(0, &state{}, nil)
	return ctx.Err()
}

type walk struct {
	*problem
	ctx        context.Context
	keep       *keeper
	steps      int
	neighbours []graph.Set // all sets, the largest first
	taken      []graph.Set
}

// grow decides about variable v; cliques are the maximal ones so far. It tells whether to go on.
func (w *walk) grow(v int, g *state, cliques []graph.Set) bool {
	if w.steps++; w.steps&(1<<12-1) == 0 && w.ctx.Err() != nil {
		return false
	}
	if v+1 >= len(w.active) {
		w.last(v, g, cliques)
		return true
	}
	if !w.grow(v+1, g, cliques) {
		return false
	}
	var room [MostComplete]graph.Set
	allowed := w.allowed(v, g)
	for _, a := range w.neighbours {
		if allowed.Contains(a) && w.safe[graph.Of(v)] {
			next, grown, ok := w.with(v, a, g, cliques, room[:0])
			if ok && !w.grow(v+1, &next, grown) {
				return false
			}
		}
	}
	return true
}

// last decides about the last variable: of what it can have as neighbours, only that matters which is within nothing else that is safe.
func (w *walk) last(v int, g *state, cliques []graph.Set) {
	var room [MostComplete]graph.Set
	var taken []graph.Set
	if v < len(w.active) && w.safe[graph.Of(v)] {
		taken = w.taken[:0]
		allowed := w.allowed(v, g)
		for _, a := range w.neighbours {
			if !allowed.Contains(a) || slices.ContainsFunc(taken, func(t graph.Set) bool { return t.Contains(a) }) {
				continue
			}
			if next, _, ok := w.with(v, a, g, cliques, room[:0]); ok && w.wide(&next) {
				taken = append(taken, a)
				if w.frontier(&next) {
					w.keep.add(&next)
				}
			}
		}
		w.taken = taken
	}
	if len(taken) == 0 && w.wide(g) && w.frontier(g) {
		w.keep.add(g)
	}
}

// allowed are the variables that a further one may be joined to.
func (p *problem) allowed(v int, g *state) graph.Set {
	allowed := graph.Set(0)
	for u := range g.present.Vertices() {
		if p.safe[graph.Of(u, v)] {
			allowed = allowed.With(u)
		}
	}
	return allowed
}

// with is the graph with another vertex that has the neighbours a, and its cliques; false if it is unsafe, or not decomposable.
func (p *problem) with(v int, a graph.Set, g *state, cliques, to []graph.Set) (next state, grown []graph.Set, ok bool) {
	if grown, ok = p.joined(v, a, cliques, to); !ok || !g.takes(a) {
		return next, nil, false
	}
	next = *g
	next.present = g.present.With(v)
	for u := range a.Vertices() {
		next.connect(u, v)
	}
	return next, grown, true
}

// joined are the cliques with another vertex v that has the neighbours a; false if one of them is unsafe.
func (p *problem) joined(v int, a graph.Set, cliques, to []graph.Set) ([]graph.Set, bool) {
	for _, c := range cliques {
		if !p.safe[(c & a).With(v)] {
			return nil, false
		}
	}
	for i, c := range cliques {
		if !a.Contains(c) {
			to = append(to, c)
		}
		maximal := c&a != 0 || a == 0 && i == 0
		for j, d := range cliques {
			maximal = maximal && !((d & a).Contains(c&a) && (d&a != c&a || j < i))
		}
		if maximal {
			to = append(to, (c & a).With(v))
		}
	}
	if len(cliques) == 0 {
		to = append(to, graph.Of(v))
	}
	return to, true
}

// takes tells whether the graph stays decomposable with another vertex that has the neighbours a.
func (g *state) takes(a graph.Set) bool {
	for rest := g.present &^ a; rest != 0; {
		part, around := graph.Set(0), graph.Set(0)
		for frontier := rest & -rest; frontier != 0; {
			part |= frontier
			for ; frontier != 0; frontier &= frontier - 1 {
				around |= g.adj[frontier.Min()]
			}
			frontier = around & g.present &^ a &^ part
		}
		if !g.complete(around & a) {
			return false
		}
		rest &^= part
	}
	return true
}

// frontier tells that nothing can be added to a safe graph.
func (p *problem) frontier(g *state) bool {
	last := true
	p.eachMove(g, func(*state) bool {
		last = false
		return false
	})
	return last
}

// climb goes up from nothing, each time by what lowers the deviance most, and then again and again from the best that was found, without one
// of its edges, which must not come back at once.
func (p *problem) climb(ctx context.Context, climbs int, keep *keeper) error {
	if !p.safe[0] || !p.wide(&state{}) {
		return nil
	}
	seen := map[state]bool{}
	up := func(g state, v, w int) (top state, deviance float64) {
		deviance = p.deviance(&g)
		for better := true; better; {
			from := g
			better = false
			least := 0.0
			p.eachMove(&from, func(next *state) bool {
				if w > 0 && next.adj[v].Has(w) {
					return true
				}
				if d := p.deviance(next); !better || d < least {
					g, least, better = *next, d, true
				}
				return true
			})
			if better {
				deviance = least
			} else if w > 0 { // now it may come back
				v, w, better = 0, 0, true
			}
		}
		if !seen[g] {
			seen[g] = true
			keep.add(&g)
		}
		return g, deviance
	}
	best, least := up(state{}, 0, 0)
	for better := true; better && climbs > 0; {
		from := best
		better = false
		for v := range len(p.active) {
			for w := range (from.adj[v] &^ graph.First(v+1)).Vertices() {
				if climbs--; climbs < 0 || ctx.Err() != nil {
					return ctx.Err()
				}
				if !from.complete(from.adj[v] & from.adj[w]) {
					continue
				}
				g := from
				g.adj[v], g.adj[w] = g.adj[v].Without(w), g.adj[w].Without(v)
				if top, d := up(g, v, w); d < least {
					best, least, better = top, d, true
				}
			}
		}
	}
	return ctx.Err()
}

// A keeper has the graphs of the least deviance, the largest of them first.
type keeper struct {
	problem *problem
	most    int // 0 for no limit
	found   int
	list    []kept
}

type kept struct {
	state    state
	deviance float64
}

func newKeeper(p *problem, most int) *keeper { return &keeper{problem: p, most: most} }

func (k *keeper) add(g *state) {
	k.found++
	x := kept{*g, k.problem.deviance(g)}
	switch {
	case k.most == 0 || len(k.list) < k.most:
		heap.Push(k, x)
	case compare(x, k.list[0]) < 0:
		k.list[0] = x
		heap.Fix(k, 0)
	}
}

// compare orders by deviance; equal ones by their graphs.
func compare(a, b kept) int {
	return cmp.Or(cmp.Compare(a.deviance, b.deviance), cmp.Compare(b.state.present, a.state.present),
		slices.Compare(b.state.adj[:], a.state.adj[:]))
}

func (k *keeper) sorted() []kept {
	slices.SortFunc(k.list, compare)
	return k.list
}

// The heap.
func (k *keeper) Len() int           { return len(k.list) }
func (k *keeper) Less(i, j int) bool { return compare(k.list[i], k.list[j]) > 0 }
func (k *keeper) Swap(i, j int)      { k.list[i], k.list[j] = k.list[j], k.list[i] }
func (k *keeper) Push(x any)         { k.list = append(k.list, x.(kept)) }
func (k *keeper) Pop() any           { x := k.list[len(k.list)-1]; k.list = k.list[:len(k.list)-1]; return x }
