package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// occamGraphs is the largest number of graphs that Occam scores, where Memory does not set another limit.
const occamGraphs = 20_000_000

// runOccam is Occam's window. From the graph without edges, rounds add all decomposable graphs with one edge more (with
// directions both: or less) than one in the window, and drop those whose posterior probability is less than a given part of the
// best (Forster & Webb 2007, 4.2; Madigan & Raftery 1994). What was dropped does not come back: the best only gets better.
func runOccam(ctx context.Context, p *space, o Options) (*Result, error) {
	if len(p.pairs) == 0 {
		return p.single(p.empty(nil), Result{Method: Occam, Diagnostics: noDiagnostics()}), nil
	}
	look := newLookup(p.scores)
	s := p.empty(look)
	all := newSeen(p, 0)
	all.add(s.key, s.score, s.edges, -1)
	most := occamGraphs
	if o.Memory > 0 {
		most = int(min(max(1024, o.Memory/all.entryBytes()), 1<<31-2))
	}
	stop := stopper(ctx)
	report := newProgress(o.Progress, 0)
	window := math.Log(o.Window) - rounding // a model at the very edge stays
	done, steps := 0, int64(0)
	for done < len(all.keys) {
		last := len(all.keys)
		best := all.best
		for ; done < last; done++ {
			// A round judges its graphs by the best that was known when it began, as if all were made before any is dropped.
			if all.scores[done] < best+window {
				continue
			}
			if !p.neighbours(look, all, s, done, o.Directions == Both, stop) {
				return nil, ctx.Err()
			}
			if len(all.keys) > most {
				return nil, fmt.Errorf("the search %q has more than %d graphs to look at: narrow the window, or search by %q or %q",
					Occam, most, MC3, Anneal)
			}
		}
		steps++
		report.total = int64(len(all.keys))
		report.add(int64(done) - report.done)
	}
	report.finish()
	kept := make([]int, 0, 64)
	for n, score := range all.scores {
		if score >= all.best+window {
			kept = append(kept, n)
		}
	}
	if o.Razor {
		var ok bool
		if kept, ok = all.shave(kept, stop); !ok {
			return nil, ctx.Err()
		}
	}
	r := &Result{Method: Occam, Diagnostics: noDiagnostics()}
	p.weigh(r, len(kept), func(i int) []uint64 { return all.edgesOf(kept[i]) },
		func(i int) float64 { return math.Exp(all.scores[kept[i]] - all.best) }, true, all.best)
	r.Diagnostics.Margins, r.Diagnostics.Graphs, r.Diagnostics.Steps = p.scores.Margins(), int64(len(all.keys)), steps
	return r, nil
}

// neighbours scores the graphs with one edge more, or less, than graph number n. s is a state to work with.
func (p *space) neighbours(look *lookup, all *seen, s *state, n int, both bool, stop func() bool) bool {
	s.become(all.edgesOf(n))
	s.score = all.scores[n]
	for i, e := range p.pairs {
		v, w := int(e[0]), int(e[1])
		if !both && s.Adjacent(v, w) || !s.legal(v, w) {
			continue
		}
		if stop() {
			return false
		}
		k := key{s.key[0] ^ p.keys[i][0], s.key[1] ^ p.keys[i][1]}
		if at, _ := all.find(k); at < 0 {
			all.add(k, s.score+s.change(look, v, w), s.edges, i)
		}
	}
	return true
}

// become gives the state the edges of another graph.
func (s *state) become(edges []uint64) {
	for i, e := range s.pairs {
		if (s.edges[i/64]^edges[i/64])>>(i%64)&1 != 0 {
			s.toggle(int(e[0]), int(e[1]))
		}
	}
}

// shave is the second rule of Madigan & Raftery 1994: a model goes if the window has a part of it that is more probable.
func (s *seen) shave(kept []int, stop func() bool) ([]int, bool) {
	slices.SortFunc(kept, func(a, b int) int { return cmp.Or(cmp.Compare(s.scores[b], s.scores[a]), cmp.Compare(a, b)) })
	var left []int
	for i, n := range kept {
		if i&255 == 0 && stop() {
			return nil, false
		}
		simplest := true
		for _, m := range kept[:i] {
			if s.scores[m] > s.scores[n]+rounding && within(s.edgesOf(m), s.edgesOf(n)) {
				simplest = false
				break
			}
		}
		if simplest {
			left = append(left, n)
		}
	}
	return left, true
}

// within tells whether all edges of a are edges of b.
func within(a, b []uint64) bool {
	for i := range a {
		if a[i]&^b[i] != 0 {
			return false
		}
	}
	return true
}
