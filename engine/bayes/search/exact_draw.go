package search

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"microrisk/engine/graph"
)

// A place is where a rooted junction tree in the making has a choice.
type place struct {
	kind uint8
	a, b uint32
}

// Kinds of places.
const (
	rootPlace  = iota // of f(S, R): which clique
	coverPlace        // of g(C, U): which variables the branch has that covers the first
	hangPlace         // of h(C, R): by which separator it hangs on C
)

// choices goes through all choices of a place, always in the same order.
func (p place) choices(visit func(choice uint32)) {
	switch p.kind {
	case rootPlace:
		for d := p.b; d != 0; d = (d - 1) & p.b {
			visit(p.a | d)
		}
	case coverPlace:
		low := p.b & -p.b
		rest := p.b ^ low
		for s := rest; ; s = (s - 1) & rest {
			visit(s | low)
			if s == 0 {
				return
			}
		}
	case hangPlace:
		for s := p.a; s != 0; {
			s = (s - 1) & p.a
			visit(s)
		}
	}
}

// descend makes a rooted junction tree by choices and passes on its cliques.
func (p *program) descend(pick func(place) uint32, clique func(c uint32)) {
	type part struct{ s, r uint32 }
	parts := make([]part, 0, 2*maxExact)
	parts = append(parts, part{0, p.all})
	for len(parts) > 0 {
		t := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		c := pick(place{rootPlace, t.s, t.r})
		clique(c)
		for u := (t.s | t.r) ^ c; u != 0; {
			r := pick(place{coverPlace, c, u})
			parts = append(parts, part{pick(place{hangPlace, c, r}), r})
			u ^= r
		}
	}
}

// A drawer draws rooted junction trees, each with the probability of its product of phi.
type drawer struct {
	sums
	known map[place]distribution
	room  int // choices that may still be kept
}

// A distribution has the choices of a place and the sums of their probabilities up to them, of any scale.
type distribution struct {
	choices []uint32
	upTo    []float64
}

// keptChoices is how many choices a drawer keeps: 12 bytes each.
const keptChoices = 1 << 21

func (p sums) newDrawer() *drawer {
	return &drawer{sums: p, known: map[place]distribution{}, room: keptChoices}
}

// distribution is that of a place, without the choices that are less probable than 2^-60 of the sum before them.
func (d *drawer) distribution(at place) distribution {
	if known, ok := d.known[at]; ok {
		return known
	}
	term := [...]func(a, b, choice uint32) scaled{d.root, d.cover, d.hang}[at.kind]
	top := scaled{}
	at.choices(func(choice uint32) {
		if t := term(at.a, at.b, choice); top.mantissa == 0 || t.exponent > top.exponent {
			top = t
		}
	})
	var made distribution
	sum := 0.0
	at.choices(func(choice uint32) {
		t := term(at.a, at.b, choice)
		if e := t.exponent - top.exponent; e > -60 {
			sum += t.mantissa * power(e)
			made.choices = append(made.choices, choice)
			made.upTo = append(made.upTo, sum)
		}
	})
	if n := len(made.choices); n <= d.room {
		d.room -= n
		d.known[at] = made
	}
	return made
}

// pick draws a choice.
func (d distribution) pick(rng *rand.PCG) uint32 {
	x := uniform(rng) * d.upTo[len(d.upTo)-1]
	low, high := 0, len(d.upTo)-1
	for low < high {
		if middle := (low + high) / 2; d.upTo[middle] > x {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return d.choices[low]
}

// An edgeSet has a bit for each pair of up to 18 vertices, in the order (0,1), (0,2), ..., (1,2), ...
type edgeSet [3]uint64

// join adds the edges of a clique, of a graph of k vertices.
func (e *edgeSet) join(k int, c uint32) {
	for rest := c; rest != 0; {
		v := bits.TrailingZeros32(rest)
		rest &= rest - 1
		first := v*(2*k-v-1)/2 - v - 1
		for others := rest; others != 0; others &= others - 1 {
			bit := first + bits.TrailingZeros32(others)
			e[bit/64] |= 1 << (bit % 64)
		}
	}
}

// graph is the graph of k vertices with these edges.
func (e *edgeSet) graph(k int) *graph.Graph {
	g := graph.New(k)
	bit := 0
	for v := range k {
		for w := v + 1; w < k; w++ {
			if e[bit/64]>>(bit%64)&1 != 0 {
				g.Connect(v, w)
			}
			bit++
		}
	}
	return g
}

// edgesOf is a graph as its edges.
func edgesOf(g *graph.Graph) edgeSet {
	var e edgeSet
	for _, c := range g.Edges() {
		e.join(g.Len(), 1<<c[0]|1<<c[1])
	}
	return e
}

// draw draws n rooted junction trees and says how often each graph came. Draw i has a random stream of its own.
func (p sums) draw(ctx context.Context, n int, seed uint64) (map[edgeSet]int64, error) {
	const chunk = 64
	var next atomic.Int64
	var group sync.WaitGroup
	stopped := stopper(ctx)
	counts := make([]map[edgeSet]int64, max(1, min(p.workers, n/chunk)))
	for i := range counts {
		counts[i] = map[edgeSet]int64{}
		group.Go(func() {
			d := p.newDrawer()
			rng := rand.NewPCG(0, 0)
			for {
				end := int(next.Add(chunk))
				for j := end - chunk; j < min(end, n); j++ {
					if stopped() {
						return
					}
					rng.Seed(seed, scramble(uint64(j)))
					var e edgeSet
					d.descend(func(at place) uint32 { return d.distribution(at).pick(rng) }, func(c uint32) { e.join(p.k, c) })
					counts[i][e]++
				}
				if end >= n {
					return
				}
			}
		})
	}
	group.Wait()
	all := counts[0]
	for _, m := range counts[1:] {
		for e, c := range m {
			all[e] += c
		}
	}
	return all, ctx.Err()
}

// scramble makes neighbouring numbers differ in all bits (Steele, Lea & Flood 2014).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
