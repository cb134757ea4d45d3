package pipeline_test

import (
	"math"
	"slices"

	"microrisk/operators/mc3"
)

// The models of the mc3 oracle, written from spec/bayes.md and spec/bayes-numerics.md alone and as naively as they can be: all sets of
// edges, all orderings, all cells, all pairs of cells. A law factorises along an elimination ordering, so there are neither maximal
// cliques nor junction trees here; likelihoods are products of one-step predictions and expectations are sums of series, so there is
// neither lgamma nor a quadrature.

// mc3Table holds the records counted, as codes.
type mc3Table struct {
	sizes   []int // categories of each variable
	records [][]int
	classes []mc3Class // distinct records
	u       float64    // individuals outside the sample
	people  float64    // u and the records
	margins map[uint]map[string]int
}

type mc3Class struct {
	cell []int
	f    int
}

// restricted names the categories of a cell on a set of variables.
func restricted(set uint, cell []int) string {
	name := ""
	for v, c := range cell {
		if set>>v&1 == 1 {
			name += string(rune('0' + c))
		} else {
			name += "-"
		}
	}
	return name
}

func (t *mc3Table) count(set uint, cell []int) int {
	if t.margins == nil {
		t.margins = map[uint]map[string]int{}
	}
	if t.margins[set] == nil {
		t.margins[set] = map[string]int{}
		for _, r := range t.records {
			t.margins[set][restricted(set, r)]++
		}
	}
	return t.margins[set][restricted(set, cell)]
}

func (t *mc3Table) cells() (all [][]int) {
	all = [][]int{{}}
	for _, size := range t.sizes {
		var longer [][]int
		for _, c := range all {
			for x := range size {
				longer = append(longer, append(slices.Clone(c), x))
			}
		}
		all = longer
	}
	return all
}

func (t *mc3Table) uniques() (out []mc3Class) {
	for _, c := range t.classes {
		if c.f == 1 {
			out = append(out, c)
		}
	}
	return out
}

// An mc3Factor is the conditional distribution of one variable given its neighbours eliminated later.
type mc3Factor struct{ family, parents uint }

// An mc3Graph is decomposable; edges are those pairs (a, b), a < b.
type mc3Graph struct {
	edges   [][2]int
	factors []mc3Factor
	loglik  float64
	weight  float64
}

func (g *mc3Graph) has(a, b int) bool {
	return slices.Contains(g.edges, [2]int{min(a, b), max(a, b)})
}

// factorise tries all elimination orderings; it reports whether one is perfect.
func (g *mc3Graph) factorise(k int, gone []int) bool {
	if len(gone) == k {
		return true
	}
	for v := range k {
		if slices.Contains(gone, v) {
			continue
		}
		var later []int
		for w := range k {
			if w != v && !slices.Contains(gone, w) && g.has(v, w) {
				later = append(later, w)
			}
		}
		complete := true
		var parents uint
		for i, a := range later {
			parents |= 1 << a
			for _, b := range later[:i] {
				complete = complete && g.has(a, b)
			}
		}
		if complete && g.factorise(k, append(slices.Clone(gone), v)) {
			g.factors = append(g.factors, mc3Factor{parents | 1<<v, parents})
			return true
		}
	}
	return false
}

// decomposable gives all decomposable graphs with k vertices.
func decomposable(k int) (graphs []*mc3Graph) {
	var pairs [][2]int
	for a := range k {
		for b := a + 1; b < k; b++ {
			pairs = append(pairs, [2]int{a, b})
		}
	}
	for s := range 1 << len(pairs) {
		g := &mc3Graph{}
		for i, p := range pairs {
			if s>>i&1 == 1 {
				g.edges = append(g.edges, p)
			}
		}
		if g.factorise(k, nil) {
			graphs = append(graphs, g)
		}
	}
	return graphs
}

// cliques writes the graph as the spec does.
func (g *mc3Graph) cliques(names []string) string {
	k, text := len(names), ""
	complete := func(s int) bool {
		for a := range k {
			for b := range a {
				if s>>a&1 == 1 && s>>b&1 == 1 && !g.has(a, b) {
					return false
				}
			}
		}
		return true
	}
	for s := 1; s < 1<<k; s++ {
		maximal := complete(s)
		for v := range k {
			maximal = maximal && (s>>v&1 == 1 || !complete(s|1<<v))
		}
		if maximal {
			clique := ""
			for v, name := range names {
				if s>>v&1 == 1 {
					clique += " " + name
				}
			}
			text += "[" + clique[1:] + "]"
		}
	}
	return text
}

// lambda is the prior parameter of a marginal cell.
func (t *mc3Table) lambda(alpha float64, set uint) float64 {
	for v, size := range t.sizes {
		if set>>v&1 == 1 {
			alpha /= float64(size)
		}
	}
	return alpha
}

// logLikelihood predicts each record from those before it.
func (t *mc3Table) logLikelihood(g *mc3Graph, alpha float64) float64 {
	sum := 0.0
	for i, r := range t.records {
		for _, x := range g.factors {
			both, given := t.lambda(alpha, x.family), t.lambda(alpha, x.parents)
			for _, earlier := range t.records[:i] {
				if restricted(x.family, earlier) == restricted(x.family, r) {
					both++
				}
				if restricted(x.parents, earlier) == restricted(x.parents, r) {
					given++
				}
			}
			sum += math.Log(both / given)
		}
	}
	return sum
}

// weigh gives graphs their posterior probabilities among themselves.
func weigh(graphs []*mc3Graph, penalty float64) {
	score := func(g *mc3Graph) float64 { return g.loglik - penalty*float64(len(g.edges)) }
	best, total := math.Inf(-1), 0.0
	for _, g := range graphs {
		best = max(best, score(g))
	}
	for _, g := range graphs {
		g.weight = math.Exp(score(g) - best)
		total += g.weight
	}
	for _, g := range graphs {
		g.weight /= total
	}
}

// window is Occam's; unsure says that rounding decides about a graph.
func window(all []*mc3Graph, m *mc3.Config, penalty float64) (kept []*mc3Graph, unsure bool) {
	weigh(all, penalty)
	least := 0.01
	if m.Window != nil {
		least = *m.Window
	}
	within := func(a, b *mc3Graph) bool { // all edges of a are in b
		for _, e := range a.edges {
			if !b.has(e[0], e[1]) {
				return false
			}
		}
		return true
	}
	for _, g := range all {
		if len(g.edges) == 0 {
			kept = []*mc3Graph{g}
		}
	}
	for {
		next := slices.Clone(kept)
		for _, g := range all {
			for _, old := range kept {
				up := len(g.edges) == len(old.edges)+1 && within(old, g)
				down := m.Directions == "both" && len(g.edges)+1 == len(old.edges) && within(g, old)
				if (up || down) && !slices.Contains(next, g) {
					next = append(next, g)
				}
			}
		}
		best := 0.0
		for _, g := range next {
			best = max(best, g.weight)
		}
		next = slices.DeleteFunc(next, func(g *mc3Graph) bool {
			unsure = unsure || math.Abs(g.weight/best/least-1) < 1e-9
			return g.weight < least*best
		})
		changed := len(next) != len(kept)
		for _, g := range next {
			changed = changed || !slices.Contains(kept, g)
		}
		if kept = next; !changed {
			break
		}
	}
	if m.Razor {
		window := slices.Clone(kept)
		kept = slices.DeleteFunc(kept, func(g *mc3Graph) bool {
			for _, sub := range window {
				if sub != g && within(sub, g) {
					unsure = unsure || math.Abs(sub.weight/g.weight-1) < 1e-9
					if sub.weight > g.weight {
						return true
					}
				}
			}
			return false
		})
	}
	weigh(kept, penalty)
	return kept, unsure
}
