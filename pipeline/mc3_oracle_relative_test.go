package pipeline_test

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/operators/mc3"
)

func sortedCliques(text string) string {
	var out []string
	for clique := range strings.SplitSeq(strings.Trim(text, "[]"), "][") {
		names := strings.Fields(clique)
		slices.Sort(names)
		out = append(out, strings.Join(names, " "))
	}
	slices.Sort(out)
	return strings.Join(out, "|")
}

// risks compares the relative ones.
func (c *mc3Comparison) risks(laws []*mc3Law, all *mc3Figures, s *mc3.Summary) {
	n1 := int64(len(c.table.uniques()))
	c.exactly("variables", len(s.Variables), len(c.variables))
	for v, x := range s.Variables {
		theta, tau2, left := c.coarsened(laws, func(cell []int) string { return restricted(^(1 << v), cell) })
		c.exactly("survivors without "+x.Name, x.SampleUniques, left)
		c.figure("theta without "+x.Name, x.Theta, n1 == 0 || left == 0, all.theta/theta)
		c.figure("tau2 without "+x.Name, x.Tau2, n1 == 0, 1-tau2/all.tau2)
	}
	at := 0
	for v := range c.values {
		for category := range c.values[v] {
			want := c.category(laws, all, v, category)
			if at < len(s.Categories) {
				x := s.Categories[at]
				if x.Variable == c.variables[v].name && same(x.Category, want.Category) {
					c.sameRisk(x, want)
					at++
					continue
				}
			}
			if effect(want.CollapseTheta, 1) || effect(want.CollapseTau2, 0) || want.SuppressedUnique > 0 {
				c.fail("category %d is not %s %q", at, want.Variable, c.values[v][category])
			}
		}
	}
	c.exactly("categories", len(s.Categories), at)
}

// effect says whether a ratio or reduction says anything; those categories alone have to be listed.
func effect(x *float64, none float64) bool { return x != nil && !closeTo(*x, none, 1e-9, 1e-9) }

// category gives the risks relative to those without a category.
func (c *mc3Comparison) category(laws []*mc3Law, all *mc3Figures, v, category int) (r mc3.CategoryRisk) {
	r.Variable = c.variables[v].name
	if x := c.values[v][category]; x != "\x00" {
		r.Category = &x
	}
	n1 := int64(len(c.table.uniques()))
	if n1 == 0 {
		return r
	}
	var ratios, reductions []float64
	for other := range c.values[v] {
		if other == category || slices.Contains(c.asked.Ordinal, r.Variable) && other != category-1 && other != category+1 {
			continue
		}
		theta, tau2, left := c.coarsened(laws, func(cell []int) string {
			if cell[v] == other {
				cell = slices.Clone(cell)
				cell[v] = category
			}
			return restricted(^uint(0), cell)
		})
		if left > 0 {
			ratios = append(ratios, all.theta/theta)
		}
		reductions = append(reductions, 1-tau2/all.tau2)
	}
	if len(ratios) > 0 {
		r.CollapseTheta = new(mean(ratios))
	}
	if len(reductions) > 0 {
		r.CollapseTau2 = new(mean(reductions))
	}
	theta, tau2, left := c.suppressed(laws, v, category)
	r.SuppressedUnique = n1 - left
	if left > 0 {
		r.SuppressTheta = new(all.theta / theta)
	}
	r.SuppressTau2 = new(1 - tau2/all.tau2)
	return r
}

func (c *mc3Comparison) sameRisk(got, want mc3.CategoryRisk) {
	what := fmt.Sprintf("%s %s", got.Variable, show(got.Category))
	for _, x := range []struct {
		what      string
		got, want *float64
	}{
		{"theta collapsing ", got.CollapseTheta, want.CollapseTheta}, {"tau2 collapsing ", got.CollapseTau2, want.CollapseTau2},
		{"theta suppressing ", got.SuppressTheta, want.SuppressTheta}, {"tau2 suppressing ", got.SuppressTau2, want.SuppressTau2},
	} {
		if x.want == nil {
			c.figure(x.what+what, x.got, true, 0)
		} else {
			c.figure(x.what+what, x.got, false, *x.want)
		}
	}
	c.exactly("suppressed of "+what, got.SuppressedUnique, want.SuppressedUnique)
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, y := range x {
		sum += y
	}
	return sum / float64(len(x))
}
