package search

import (
	"math/bits"
	"math/rand/v2"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// A space is what all searches of one posterior share.
type space struct {
	scores  *bayes.Scores
	penalty float64
	k       int
	pairs   [][2]uint8                                   // all pairs v < w, in the order (0,1), (0,2), ..., (1,2), ...
	index   [graph.MaxVertices][graph.MaxVertices]uint16 // of each pair in pairs
	keys    []key                                        // of each pair: what it adds to the key of a graph
	words   int                                          // 64-bit words that the edges of a graph take
}

// A key names a graph. Up to 16 vertices it is the edges themselves, beyond a hash of 128 bits (Zobrist 1970): the exclusive or of
// the keys of its edges.
type key [2]uint64

func newSpace(scores *bayes.Scores, penalty float64) *space {
	p := &space{scores: scores, penalty: penalty, k: scores.Data().Variables()}
	for v := range p.k {
		for w := v + 1; w < p.k; w++ {
			p.index[v][w], p.index[w][v] = uint16(len(p.pairs)), uint16(len(p.pairs))
			p.pairs = append(p.pairs, [2]uint8{uint8(v), uint8(w)})
		}
	}
	p.words = (len(p.pairs) + 63) / 64
	p.keys = make([]key, len(p.pairs))
	rng := rand.NewPCG(0x6d6963726f726973, 0x6b)
	for i := range p.keys {
		if p.words <= 2 {
			p.keys[i][i/64] = 1 << (i % 64)
		} else {
			p.keys[i] = key{rng.Uint64(), rng.Uint64()}
		}
	}
	return p
}

// A lookup gives scores of variable sets to one goroutine.
type lookup struct {
	scores *bayes.Scores
	sets   []graph.Set // open addressing, 0 where empty; nil where the scores' own array is as fast
	values []float64
	used   int
}

// directVariables is the largest number of variables for which Scores keep an array and need no further cache.
const directVariables = 20

func newLookup(scores *bayes.Scores) *lookup {
	l := &lookup{scores: scores}
	if scores.Data().Variables() > directVariables {
		l.sets, l.values = make([]graph.Set, 1<<12), make([]float64, 1<<12)
	}
	return l
}

func (l *lookup) log(c graph.Set) float64 {
	if l.sets == nil {
		return l.scores.Log(c)
	}
	if c == 0 {
		return 0
	}
	at := l.place(c)
	if l.sets[at] == c {
		return l.values[at]
	}
	value := l.scores.Log(c)
	l.sets[at], l.values[at] = c, value
	if l.used++; 2*l.used > len(l.sets) {
		sets, values := l.sets, l.values
		l.sets, l.values = make([]graph.Set, 2*len(sets)), make([]float64, 2*len(sets))
		for i, s := range sets {
			if s != 0 {
				at := l.place(s)
				l.sets[at], l.values[at] = s, values[i]
			}
		}
	}
	return value
}

// place is where c is or could be.
func (l *lookup) place(c graph.Set) int {
	mask := len(l.sets) - 1
	at := int(uint64(c)*0x9e3779b97f4a7c15>>32) & mask
	for l.sets[at] != 0 && l.sets[at] != c {
		at = (at + 1) & mask
	}
	return at
}

// gain is the log Bayes factor of the edge between v and w, which have the neighbours s in common, by four scores.
func (l *lookup) gain(v, w int, s graph.Set) float64 {
	return l.log(s.With(v).With(w)) - l.log(s.With(v)) - l.log(s.With(w)) + l.log(s)
}

// A state is a decomposable graph that a search is at.
type state struct {
	*space
	graph.Graph
	score float64 // log marginal likelihood less the penalty of the edges
	key   key
	edges []uint64 // bit of each pair
	moves int      // since score was last made from scratch
}

func (p *space) empty(l *lookup) *state {
	s := &state{space: p, Graph: *graph.New(p.k), edges: make([]uint64, p.words)}
	if l != nil {
		s.score = s.fullScore(l)
	}
	return s
}

func (p *space) fromGraph(g *graph.Graph) *state {
	s := p.empty(nil)
	for _, e := range g.Edges() {
		s.toggle(e[0], e[1])
	}
	return s
}

func (s *state) clone() *state {
	c := *s
	c.edges = append([]uint64(nil), s.edges...)
	return &c
}

// copyFrom makes s what t is.
func (s *state) copyFrom(t *state) {
	edges := s.edges
	*s = *t
	s.edges = edges
	copy(s.edges, t.edges)
}

// graph is the state as a graph.
func (p *space) graph(edges []uint64) *graph.Graph {
	g := graph.New(p.k)
	for i, e := range p.pairs {
		if edges[i/64]>>(i%64)&1 != 0 {
			g.Connect(int(e[0]), int(e[1]))
		}
	}
	return g
}

// toggle adds or removes an edge, whatever becomes of the graph; the score stays.
func (s *state) toggle(v, w int) {
	s.Toggle(v, w)
	i := s.index[v][w]
	s.edges[i/64] ^= 1 << (i % 64)
	s.key[0] ^= s.keys[i][0]
	s.key[1] ^= s.keys[i][1]
}

// size is the number of edges.
func (s *state) size() int {
	n := 0
	for _, w := range s.edges {
		n += bits.OnesCount64(w)
	}
	return n
}

// legal tells whether the graph stays decomposable when the edge between v and w is toggled.
func (s *state) legal(v, w int) bool {
	if s.Adjacent(v, w) {
		return s.CanRemove(v, w)
	}
	return s.CanAdd(v, w)
}

// change is what toggling the edge between v and w adds to the score, where that is legal.
func (s *state) change(l *lookup, v, w int) float64 {
	gain := l.gain(v, w, s.Neighbours(v)&s.Neighbours(w)) - s.penalty
	if s.Adjacent(v, w) {
		return -gain
	}
	return gain
}

// cardinality goes through the vertices of part by maximum cardinality search (Tarjan & Yannakakis 1984) and gives each with its
// neighbours among those before, until visit returns false. The graph is chordal exactly if these are complete for all vertices.
func (s *state) cardinality(part graph.Set, visit func(v int, before graph.Set) bool) {
	numbered := graph.Set(0)
	for part != 0 {
		best, size := -1, -1
		for rest := part; rest != 0; rest &= rest - 1 {
			v := rest.Min()
			if m := (s.Neighbours(v) & numbered).Len(); m > size {
				best, size = v, m
			}
		}
		if !visit(best, s.Neighbours(best)&numbered) {
			return
		}
		numbered, part = numbered.With(best), part.Without(best)
	}
}

func (s *state) chordal() bool {
	ok := true
	s.cardinality(graph.First(s.k), func(_ int, before graph.Set) bool {
		ok = s.IsComplete(before)
		return ok
	})
	return ok
}

// fullScore is the score of a decomposable graph from scratch: each vertex given those before it.
func (s *state) fullScore(l *lookup) float64 {
	sum := 0.0
	s.cardinality(graph.First(s.k), func(v int, before graph.Set) bool {
		sum += l.log(before.With(v)) - l.log(before)
		return true
	})
	return sum - s.penalty*float64(s.size())
}

// moved counts a change of the score by differences; now and then the score is made from scratch, so that errors cannot add up.
func (s *state) moved(l *lookup) {
	if s.moves++; s.moves == 1024 {
		s.moves = 0
		s.score = s.fullScore(l)
	}
}

// rounding is the size up to which differences of scores may be rounding errors.
const rounding = 1e-9

// climb repeats the single legal move that adds the most to the score until none adds to it, and returns the largest change, either
// way, among the legal moves at its end. It ends early, with false, when stop says so.
func (s *state) climb(l *lookup, stop func() bool) (largest float64, ok bool) {
	for {
		best, gain := -1, rounding
		largest = 0
		for i, e := range s.pairs {
			v, w := int(e[0]), int(e[1])
			if !s.legal(v, w) {
				continue
			}
			if stop() {
				return largest, false
			}
			d := s.change(l, v, w)
			largest = max(largest, d, -d)
			if d > gain {
				best, gain = i, d
			}
		}
		if best < 0 {
			s.score = s.fullScore(l)
			return largest, true
		}
		s.toggle(int(s.pairs[best][0]), int(s.pairs[best][1]))
		s.score += gain
	}
}

// scatter adds up to 2K random legal edges to an empty graph: a start that owes nothing to the data.
func (s *state) scatter(l *lookup, rng *rand.PCG) {
	if len(s.pairs) == 0 {
		return
	}
	for range below(rng, 2*s.k+1) {
		e := s.pairs[below(rng, len(s.pairs))]
		if v, w := int(e[0]), int(e[1]); !s.Adjacent(v, w) && s.legal(v, w) {
			s.toggle(v, w)
		}
	}
	s.score = s.fullScore(l)
}

// below is a random number from 0 to n-1 (uniform but for 2^-53 of its probability).
func below(rng *rand.PCG, n int) int {
	hi, _ := bits.Mul64(rng.Uint64(), uint64(n))
	return int(hi)
}

// uniform is a random number in [0, 1).
func uniform(rng *rand.PCG) float64 { return float64(rng.Uint64()>>11) * 0x1p-53 }
