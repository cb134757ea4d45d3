package pipeline_test

import (
	"fmt"
	"math"
	"slices"

	"microrisk/operators/mc3"
)

// mc3Figures are the measures of a file, averaged over models.
type mc3Figures struct {
	risks                    []mc3Risk // by class
	pu, pusu, theta, cmsu    float64
	least                    float64 // of theta: n1 / E[sum of F], by Jensen's inequality
	tau1, tau2, reidentified float64
}

// laws of the graphs that are worth their time.
func (c *mc3Case) laws(graphs []*mc3Graph, alpha float64) (laws []*mc3Law, dropped float64) {
	total := 0.0
	for _, g := range graphs {
		if g.weight < 1e-6 {
			dropped += g.weight
			continue
		}
		total += g.weight
	}
	for _, g := range graphs {
		if g.weight >= 1e-6 {
			kept := *g
			kept.weight /= total
			laws = append(laws, &mc3Law{&kept, c.table, alpha, c.asked.Estimator, map[string]mc3Risk{}})
		}
	}
	return laws, dropped
}

func (c *mc3Case) figures(laws []*mc3Law) *mc3Figures {
	t := c.table
	x := &mc3Figures{risks: make([]mc3Risk, len(t.classes))}
	occupied := map[string]bool{}
	for _, k := range t.classes {
		occupied[fmt.Sprint(k.cell)] = true
	}
	n1 := float64(len(t.uniques()))
	for _, l := range laws {
		population := 0.0
		var uniques [][][]int
		for i, k := range t.classes {
			r := l.risk(k.f, [][]int{k.cell})
			x.risks[i].match += l.weight * r.match
			x.risks[i].set += l.weight * r.set
			x.risks[i].mean += l.weight * r.mean
			x.reidentified += l.weight * r.match * float64(k.f)
			if k.f == 1 {
				x.risks[i].none += l.weight * r.none
				x.tau1 += l.weight * r.none
				x.tau2 += l.weight * r.match
				population += r.none
				uniques = append(uniques, [][]int{k.cell})
			}
		}
		for _, cell := range t.cells() {
			switch {
			case occupied[fmt.Sprint(cell)]:
			case l.estimator == "montecarlo": // draws nothing for empty cells
				mean, variance := l.moments([][]int{cell})
				population += l.mixed(0, mean, variance).one
			default:
				population += l.risk(0, [][]int{cell}).one
			}
		}
		x.pu += l.weight * population / t.people
		x.theta += l.weight * l.theta(uniques)
		mean := 0.0
		for _, cells := range uniques {
			m, _ := l.moments(cells)
			mean += m
		}
		rest := t.people - float64(len(t.records))
		if l.estimator == "montecarlo" && len(t.cells()) > 1 {
			rest = math.Round(rest) // people who are drawn one by one; those of a table of one cell are known to be in it
		}
		x.least += l.weight * n1 / (n1 + rest*mean)
	}
	x.pusu, x.cmsu = x.tau1/n1, x.tau2/n1
	return x
}

// coarsened merges categories: group gives a cell's merged cell, as text.
func (c *mc3Case) coarsened(laws []*mc3Law, group func([]int) string) (theta, tau2 float64, survivors int64) {
	f := map[string]int{}
	cells := map[string][][]int{}
	for _, k := range c.table.classes {
		f[group(k.cell)] += k.f
	}
	for _, cell := range c.table.cells() {
		cells[group(cell)] = append(cells[group(cell)], cell)
	}
	var groups [][][]int
	for _, k := range c.table.classes {
		if name := group(k.cell); f[name] == 1 {
			groups = append(groups, cells[name])
		}
	}
	for _, l := range laws {
		theta += l.weight * l.theta(groups)
		for _, g := range groups {
			tau2 += l.weight * l.risk(1, g).match
		}
	}
	return theta, tau2, int64(len(groups))
}

// suppressed leaves out the sample uniques of a category.
func (c *mc3Case) suppressed(laws []*mc3Law, v, category int) (theta, tau2 float64, left int64) {
	var groups [][][]int
	for _, k := range c.table.uniques() {
		if k.cell[v] != category {
			groups = append(groups, [][]int{k.cell})
		}
	}
	for _, l := range laws {
		theta += l.weight * l.theta(groups)
		for _, g := range groups {
			tau2 += l.weight * l.risk(1, g).match
		}
	}
	return theta, tau2, int64(len(groups))
}

// models gives the graphs and weights that the search should end with, and says whether rounding decides about them.
func (c *mc3Case) models(alpha float64, fail func(string, ...any), found [][][2]string) (graphs []*mc3Graph, rounding bool) {
	for _, g := range c.graphs {
		g.loglik = c.table.logLikelihood(g, alpha)
	}
	weigh(c.graphs, c.asked.EdgePenalty)
	switch c.asked.Search {
	case "fixed":
		g := *c.fixed
		g.loglik, g.weight = c.table.logLikelihood(c.fixed, alpha), 1
		return []*mc3Graph{&g}, false
	case "occam":
		return window(slices.Clone(c.graphs), &c.asked, c.asked.EdgePenalty)
	case "anneal": // any of the best
		if len(found) != 1 {
			fail("annealing ends with %d models", len(found))
		}
		names := c.names()
		best := 0.0
		for _, g := range c.graphs {
			best = max(best, g.weight)
		}
		for _, g := range c.graphs {
			if edgesOf(names, found[0]) == g.String() {
				if !closeTo(g.weight, best, 1e-9, 0) {
					fail("annealing ends with [%v], of posterior %v where the best has %v", g, g.weight, best)
				}
				g.weight = 1
				return []*mc3Graph{g}, false
			}
		}
		fail("annealing ends with no decomposable graph: %v", found[0])
	}
	return c.graphs, false
}

func (c *mc3Case) names() (names []string) {
	for _, v := range c.variables {
		names = append(names, v.name)
	}
	return names
}

func foundBy(s *mc3.Summary) (found [][][2]string) {
	for _, m := range s.Models {
		found = append(found, m.Edges)
	}
	return found
}
