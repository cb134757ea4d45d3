package search

import (
	"math"
	"math/bits"

	"microrisk/engine/graph"
)

// maxima is the algebra of logarithms and their maxima (Kangas, Niinimaki & Koivisto 2014, Junctor): with it the program finds the
// best graph.
type maxima struct{ *program }

func (p maxima) keep(b *buffer, to *uint64, x float64) {
	b.least, b.most = min(b.least, x), max(b.most, x)
	*to = math.Float64bits(x)
}

func floats(to []float64, from []uint64) {
	to = to[:len(from)]
	for i, x := range from {
		to[i] = math.Float64frombits(x)
	}
}

func (p maxima) branches(b *buffer, c uint32, u int) {
	base := p.offset[c]
	if u == 0 {
		p.keep(b, &p.g[base], 0)
		return
	}
	n := 1 << (p.k - bits.OnesCount32(c))
	h, g := b.s[:n], b.t[:n]
	floats(h, p.h[base:base+n])
	floats(g, p.g[base:base+n])
	for i := uint32(1)<<u - 1; i < uint32(n); i = following(i) {
		low := i & -i
		rest := i ^ low
		best := h[i] + g[0]
		for s := rest; s != 0; {
			s = (s - 1) & rest
			if x := h[low|s] + g[rest^s]; x > best {
				best = x
			}
		}
		p.keep(b, &p.g[base+int(i)], best)
	}
}

func (p maxima) trees(b *buffer, w uint32) {
	sets := subsets(w, b.sets)
	x, best := b.s[:len(sets)], b.t[:len(sets)]
	for i, c := range sets {
		best[i] = math.Inf(-1)
		if c != 0 {
			x[i] = p.logPhi[c] + math.Float64frombits(p.g[p.at(c, w^c)])
		}
	}
	for bit := 1; bit < len(sets); bit *= 2 {
		for i := range sets {
			if i&bit == 0 {
				best[i] = max(best[i], best[i|bit], x[i|bit])
			}
		}
	}
	for i, s := range sets[:len(sets)-1] {
		p.keep(b, &p.own[p.at(w^s, s)], best[i]-p.logPhi[s])
	}
}

func (p maxima) branch(b *buffer, r uint32, c int) {
	base := p.offset[r]
	n := 1 << (p.k - bits.OnesCount32(r))
	own := b.s[:n]
	floats(own, p.own[base:base+n])
	sets := subsets(p.all&^r, b.sets)
	for i := uint32(1)<<c - 1; i < uint32(n); i = following(i) {
		s := (i - 1) & i
		best := own[s]
		for s != 0 {
			s = (s - 1) & i
			if x := own[s]; x > best {
				best = x
			}
		}
		p.keep(b, &p.h[p.at(sets[i], r)], best)
	}
}

func (p maxima) root(s, r, c uint32) float64 {
	return p.logPhi[c] + math.Float64frombits(p.g[p.at(c, (s|r)^c)])
}

func (p maxima) cover(c, u, r uint32) float64 {
	return math.Float64frombits(p.h[p.at(c, r)]) + math.Float64frombits(p.g[p.at(c, u^r)])
}

func (p maxima) hang(_, r, s uint32) float64 { return math.Float64frombits(p.own[p.at(r, s)]) }

// pick is the choice with the largest term, the first of several.
func (p maxima) pick(at place) uint32 {
	term := [...]func(a, b, choice uint32) float64{p.root, p.cover, p.hang}[at.kind]
	best, most := uint32(0), math.Inf(-1)
	at.choices(func(choice uint32) {
		if x := term(at.a, at.b, choice); x > most {
			best, most = choice, x
		}
	})
	return best
}

// best is the graph with the largest product of phi over its cliques by that over its separators.
func (p maxima) best() *graph.Graph {
	g := graph.New(p.k)
	p.descend(p.pick, func(c uint32) { complete(g, c) })
	return g
}

// complete joins all vertices of a clique.
func complete(g *graph.Graph, c uint32) {
	for rest := graph.Set(c); rest != 0; {
		v := rest.Min()
		rest = rest.Without(v)
		for w := range rest.Vertices() {
			g.Connect(v, w)
		}
	}
}
