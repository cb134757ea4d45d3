package search

import (
	"math"

	"microrisk/engine/graph"
)

// accepts decides about a change of the log of the target, proposal odds included.
func (c *chain) accepts(d float64) bool {
	if d >= 0 {
		return true
	}
	return d > -45 && uniform(c.rng) < math.Exp(d)
}

// step makes one proposal to the state at a rung, whose posterior is taken to the power b, and tells whether it was accepted.
func (c *chain) step(rung int, b float64) bool {
	s := c.rungs[rung]
	if c.moves == EdgeMoves {
		return c.toggleEdge(s, rung, b)
	}
	kind := c.rng.Uint64() >> 62
	switch {
	case kind < 2:
		return c.toggleEdge(s, rung, b)
	case c.moves == EdgesMoves:
		return c.toggleEdges(s, rung, b)
	default:
		return c.hang(s, rung, b, kind == 3)
	}
}

// toggleEdge proposes to toggle the edge between a random pair of vertices (Madigan & York 1995).
func (c *chain) toggleEdge(s *state, rung int, b float64) bool {
	i := below(c.rng, len(s.pairs))
	v, w := int(s.pairs[i][0]), int(s.pairs[i][1])
	if !s.legal(v, w) {
		return false
	}
	d := s.change(c.look, v, w)
	if score := s.score + d; rung == 0 || score >= c.seen.best-negligible {
		k := s.keys[i]
		c.seen.add(key{s.key[0] ^ k[0], s.key[1] ^ k[1]}, score, s.edges, i)
	}
	if !c.accepts(b * d) {
		return false
	}
	s.toggle(v, w)
	s.score += d
	s.moved(c.look)
	return true
}

// toggleEdges proposes to toggle two to four edges of one vertex at once. The same vertices lead back, so that the proposal is
// symmetric.
func (c *chain) toggleEdges(s *state, rung int, b float64) bool {
	v := below(c.rng, s.k)
	n := min(2+below(c.rng, 3), s.k-1)
	var others graph.Set
	for others.Len() < n {
		if w := below(c.rng, s.k); w != v {
			others = others.With(w)
		}
	}
	s.toggleAll(v, others)
	if !s.chordal() {
		s.toggleAll(v, others)
		return false
	}
	return c.judge(s, rung, b, s.fullScore(c.look), 0, func() { s.toggleAll(v, others) })
}

func (s *state) toggleAll(v int, others graph.Set) {
	for ; others != 0; others &= others - 1 {
		s.toggle(v, others.Min())
	}
}

// judge accepts or undoes a proposal that has been made. odds is the log of the odds of proposing the way back.
func (c *chain) judge(s *state, rung int, b, score, odds float64, undo func()) bool {
	if rung == 0 || score >= c.seen.best-negligible {
		c.seen.add(s.key, score, s.edges, -1)
	}
	if !c.accepts(b*(score-s.score) + odds) {
		undo()
		return false
	}
	s.score = score
	s.moved(c.look)
	return true
}

// hang proposes to take a vertex whose neighbours are complete (or, with twins, all vertices that share its closed neighbourhood)
// out of its clique and to hang it on a random part of a clique of the rest: a clique, any with the same chance, then a size, then
// a part of that size. It is the vertex end of the junction tree moves of Green & Thomas 2013, made on graphs: whether a place is
// chosen depends on the rest of the graph only, which gives the odds of the way back.
func (c *chain) hang(s *state, rung int, b float64, twins bool) bool {
	block, from, ok := c.detach(s, below(c.rng, s.k), twins)
	if !ok {
		return false
	}
	to := c.part(c.cliques[below(c.rng, len(c.cliques))])
	if s.closed(to, from, block, twins) {
		s.attach(block, from)
		return false
	}
	odds := placeOdds(c.cliques, from) - placeOdds(c.cliques, to)
	s.attach(block, to)
	score := s.score + c.look.log(to|block) - c.look.log(to) - c.look.log(from|block) + c.look.log(from) -
		s.penalty*float64(block.Len()*(to.Len()-from.Len()))
	return c.judge(s, rung, b, score, odds, func() {
		s.attach(block, to)
		s.attach(block, from)
	})
}

// detach takes the block of a vertex away from its neighbours, if these are complete, and makes the cliques of the rest.
func (c *chain) detach(s *state, v int, twins bool) (block, from graph.Set, ok bool) {
	if !s.IsComplete(s.Neighbours(v)) {
		return 0, 0, false
	}
	block = graph.Of(v)
	if twins {
		closed := s.Neighbours(v).With(v)
		for w := range s.Neighbours(v).Vertices() {
			if s.Neighbours(w).With(w) == closed {
				block = block.With(w)
			}
		}
	}
	rest := graph.First(s.k) &^ block
	if rest == 0 {
		return 0, 0, false
	}
	from = s.Neighbours(v) &^ block
	s.attach(block, from)
	c.cliques = s.cliques(rest, c.cliques[:0])
	return block, from, true
}

// attach toggles all edges between a block and a place.
func (s *state) attach(block, place graph.Set) {
	for w := range block.Vertices() {
		s.toggleAll(w, place)
	}
}

// closed tells whether a detached block must not be hung on a place: on its old one, or, with twins, where it would have one twin
// more, which the way back would take along.
func (s *state) closed(to, from, block graph.Set, twins bool) bool {
	if to == from {
		return true
	}
	return twins && s.twin(to, graph.First(s.k)&^block)
}

// twin tells whether a vertex of c has c as its closed neighbourhood in rest.
func (s *state) twin(c, rest graph.Set) bool {
	for v := range c.Vertices() {
		if s.Neighbours(v).With(v)&rest == c {
			return true
		}
	}
	return false
}

// cliques adds the maximal cliques among part to a list.
func (s *state) cliques(part graph.Set, list []graph.Set) []graph.Set {
	last := -1
	s.cardinality(part, func(v int, before graph.Set) bool {
		if before.Len() > last && len(list) > 0 {
			list[len(list)-1] = before.With(v)
		} else {
			list = append(list, before.With(v))
		}
		last = before.Len()
		return true
	})
	return list
}

// part is a random part of a clique: a size, then a part of it.
func (c *chain) part(of graph.Set) graph.Set {
	n := below(c.rng, of.Len()+1)
	var part graph.Set
	left := of.Len()
	for v := range of.Vertices() { // selection sampling
		if n > part.Len() && below(c.rng, left) < n-part.Len() {
			part = part.With(v)
		}
		left--
	}
	return part
}

// placeOdds is the log of the chance that part chooses a place, but for the number of cliques.
func placeOdds(cliques []graph.Set, place graph.Set) float64 {
	sum := 0.0
	for _, c := range cliques {
		if c.Contains(place) {
			n, k := float64(c.Len()), float64(place.Len())
			parts, _ := math.Lgamma(n + 1)
			inside, _ := math.Lgamma(k + 1)
			outside, _ := math.Lgamma(n - k + 1)
			sum += math.Exp(inside+outside-parts) / (n + 1)
		}
	}
	return math.Log(sum)
}
