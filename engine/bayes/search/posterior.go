package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// leastWeight is the smallest posterior probability with which a model is listed.
const leastWeight = 1e-6

// weigh turns distinct graphs into models. weight(i), at least 0 and of any scale, says how much graph i counts; with scored the
// weights are posterior densities relative to exp(top), and those of the models listed are made anew from exact scores.
func (p *space) weigh(r *Result, n int, edges func(i int) []uint64, weight func(i int) float64, scored bool, top float64) {
	total := 0.0
	for i := range n {
		total += weight(i)
	}
	inclusion := make([]float64, len(p.pairs))
	type model struct {
		bayes.Model
		key string
	}
	var models []model
	listed, dropped := 0.0, 0.0
	for i := range n {
		w := weight(i)
		if w == 0 {
			continue
		}
		if w >= leastWeight*total {
			g := p.graph(edges(i))
			m := model{bayes.Model{Graph: g, LogLikelihood: p.scores.Graph(g), Weight: w}, g.Key()}
			if scored {
				m.Weight = math.Exp(m.LogLikelihood - p.penalty*float64(g.Size()) - top)
			}
			models = append(models, m)
			listed += m.Weight
		} else {
			dropped += w
		}
		for x, word := range edges(i) {
			for ; word != 0; word &= word - 1 {
				inclusion[x*64+bits.TrailingZeros64(word)] += w / total
			}
		}
	}
	slices.SortFunc(models, func(a, b model) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.key, b.key))
	})
	for _, m := range models {
		m.Weight /= listed
		r.Models = append(r.Models, m.Model)
	}
	r.Dropped = dropped / (listed + dropped)
	r.Edges = p.matrix(inclusion)
}

// matrix is a value of each pair as a symmetric matrix.
func (p *space) matrix(values []float64) [][]float64 {
	m := make([][]float64, p.k)
	for v := range m {
		m[v] = make([]float64, p.k)
	}
	for i, e := range p.pairs {
		m[e[0]][e[1]], m[e[1]][e[0]] = min(values[i], 1), min(values[i], 1)
	}
	return m
}

// table is a value of each pair as a symmetric matrix, NaN for a vertex with itself.
func (p *space) table(values []float64) [][]float64 {
	m := make([][]float64, p.k)
	for v := range m {
		m[v] = make([]float64, p.k)
		m[v][v] = math.NaN()
	}
	for i, e := range p.pairs {
		m[e[0]][e[1]], m[e[1]][e[0]] = values[i], values[i]
	}
	return m
}

// single completes the result of a search that ends with one graph.
func (p *space) single(s *state, r Result) *Result {
	g := p.graph(s.edges)
	return p.singleGraph(g, r)
}

func (p *space) singleGraph(g *graph.Graph, r Result) *Result {
	r.Models = []bayes.Model{{Graph: g, LogLikelihood: p.scores.Graph(g), Weight: 1}}
	values := make([]float64, len(p.pairs))
	for _, e := range g.Edges() {
		values[p.index[e[0]][e[1]]] = 1
	}
	r.Edges = p.matrix(values)
	r.Diagnostics.Margins = p.scores.Margins()
	r.Diagnostics.Graphs = max(1, r.Diagnostics.Graphs)
	return &r
}

// noDiagnostics has what a method does not have as NaN.
func noDiagnostics() Diagnostics {
	return Diagnostics{ESS: math.NaN(), RHat: math.NaN(), Unseen: math.NaN(), LogTotal: math.NaN()}
}
