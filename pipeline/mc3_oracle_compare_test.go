package pipeline_test

import (
	"fmt"
	"slices"
	"strconv"

	"microrisk/operators/mc3"
	"microrisk/schemas"
)

// An mc3Comparison reports the first difference.
type mc3Comparison struct {
	*mc3Case
	fail               func(string, ...any)
	relative, absolute float64
}

func (c *mc3Comparison) near(what string, got, want float64) {
	if !closeTo(got, want, c.relative, c.absolute) {
		c.fail("%s is %v, want %v", what, got, want)
	}
}

func (c *mc3Comparison) exactly(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.fail("%s is %v, want %v", what, got, want)
	}
}

// figure compares with want, or with null.
func (c *mc3Comparison) figure(what string, got *float64, null bool, want float64) {
	switch {
	case null && got != nil:
		c.fail("%s is %v, want null", what, *got)
	case !null && got == nil:
		c.fail("%s is null, want %v", what, want)
	case !null:
		c.near(what, *got, want)
	}
}

func compareMC3(c *mc3Case, fail func(string, ...any), rows mc3Rows, whole *schemas.Summary, s *mc3.Summary) {
	x := &mc3Comparison{c, fail, 1e-9, 1e-13}
	x.key(whole, s)
	if len(c.table.records) == 0 { // there is nothing to fit
		x.columns(rows, &mc3Figures{})
		for what, y := range map[string]*float64{"pu": s.PU, "pu_su": s.PUSU, "cm_um": s.CMUM, "cm_su": s.CMSU} {
			x.figure(what, y, true, 0)
		}
		return
	}
	alpha := c.asked.PriorPrecision[0]
	graphs, unsure := c.models(alpha, fail, foundBy(s))
	if unsure {
		return
	}
	if c.asked.Search == "mc3" {
		x.relative, x.absolute = 1e-3, 1e-3
	}
	x.posterior(graphs, s)
	laws, dropped := c.laws(graphs, alpha)
	if c.asked.Search != "mc3" {
		x.near("dropped weight", s.DroppedWeight, dropped)
	}
	switch c.asked.Estimator {
	case "exact":
		x.relative, x.absolute = max(x.relative, 1e-8), max(x.absolute, 1e-9)
	case "montecarlo":
		x.relative, x.absolute = 0.1, 0.06
	}
	want := c.figures(laws)
	x.columns(rows, want)
	x.file(s, want)
	if c.asked.RelativeRisk {
		if c.asked.Estimator == "exact" { // merged cells are no product of betas: like is compared with like, by gamma
			for _, l := range laws {
				l.estimator, l.memo = "gamma", map[string]mc3Risk{}
			}
			want = c.figures(laws)
		}
		x.risks(laws, want, s)
	}
	if c.asked.Search != "anneal" {
		x.sensitivity(s)
	}
}

// key compares the counts.
func (c *mc3Comparison) key(whole *schemas.Summary, s *mc3.Summary) {
	c.exactly("rows", whole.Rows, len(c.rows))
	c.exactly("records", s.Records, len(c.table.records))
	c.exactly("classes", whole.Key.Classes, len(c.table.classes))
	c.exactly("sample uniques", whole.Key.SampleUniques, len(c.table.uniques()))
	twos := 0
	for _, k := range c.table.classes {
		if k.f == 2 {
			twos++
		}
	}
	c.near("doubles", whole.Key.Doubles, float64(twos))
	for v, x := range whole.Key.Variables {
		c.exactly("variable", x.Name, c.variables[v].name)
		values, missing := len(c.values[v]), 0
		if slices.Contains(c.values[v], "\x00") {
			values--
		}
		for i := range c.rows {
			if c.value(i, v) == nil {
				missing++
			}
		}
		c.exactly("categories of "+x.Name, x.Categories, values)
		c.exactly("missing of "+x.Name, x.Missing, missing)
	}
	if len(c.table.records) > 0 {
		c.near("fraction", s.Fraction, c.fraction)
		c.near("population size", s.PopulationSize, c.table.people)
		if x := whole.Sampling.Fraction; x != nil || c.sampling.Fraction > 0 {
			c.figure("fraction of the whole", x, false, c.fraction)
		}
		if x := whole.Sampling.PopulationSize; x != nil || c.sampling.PopulationSize > 0 {
			c.figure("population of the whole", x, false, c.table.people)
		}
	}
	n1, n2, pi := float64(len(c.table.uniques())), float64(twos), c.fraction
	if len(c.table.records) > 0 {
		dis := 0.0
		if n1 > 0 {
			dis = pi * n1 / (pi*n1 + 2*(1-pi)*n2)
		}
		c.figure("dis", s.DIS, false, dis)
	}
}

// posterior compares graphs, weights and edges.
func (c *mc3Comparison) posterior(graphs []*mc3Graph, s *mc3.Summary) {
	surely, perhaps := 0, 0 // kept: those of weight 1e-6, as rounding has it
	for _, g := range graphs {
		if g.weight > 1.001e-6 {
			surely++
		}
		if g.weight > 0.999e-6 {
			perhaps++
		}
		at := slices.IndexFunc(s.Models, func(m mc3.ModelSummary) bool { return edgesOf(c.names(), m.Edges) == g.String() })
		if at < 0 {
			if g.weight > max(1.001e-6, c.absolute) {
				c.fail("graph [%v] of posterior %v is missing", g, g.weight)
			}
			continue
		}
		m := s.Models[at]
		if !closeTo(m.LogLikelihood, g.loglik, 1e-10, 1e-10) {
			c.fail("log marginal likelihood of [%v] is %v, want %v", g, m.LogLikelihood, g.loglik)
		}
		c.near(fmt.Sprintf("weight of [%v]", g), m.Weight*(1-s.DroppedWeight), g.weight)
		c.exactly("cliques", sortedCliques(m.Cliques), sortedCliques(g.cliques(c.names())))
	}
	if n := len(s.Models); c.asked.Search != "mc3" && (n < surely || n > perhaps) {
		c.fail("there are %d models, want %d to %d", n, surely, perhaps)
	}
	for i := 1; i < len(s.Models); i++ {
		if s.Models[i].Weight > s.Models[i-1].Weight {
			c.fail("the models are not in order")
		}
	}
	k := len(c.variables)
	c.exactly("edges", len(s.EdgeProbabilities), k*(k-1)/2)
	for _, e := range s.EdgeProbabilities {
		a, b := slices.Index(c.names(), e.Edge[0]), slices.Index(c.names(), e.Edge[1])
		p := 0.0
		for _, g := range graphs {
			if g.has(a, b) {
				p += g.weight
			}
		}
		c.near(fmt.Sprint("probability of the edge ", e.Edge), e.Probability, p)
	}
}

// columns compares those of each record.
func (c *mc3Comparison) columns(rows mc3Rows, want *mc3Figures) {
	c.exactly("rows of the output", len(rows), len(c.rows))
	for i, class := range c.class {
		row := rows[i]
		for v, name := range c.names() {
			if !same(row[name], c.rows[i][v]) {
				c.fail("row %d: %s is %s", i, name, show(row[name]))
			}
		}
		column := func(name string) string {
			text, ok := row[name]
			if !ok {
				c.fail("there is no column %s", name)
			}
			return show(text)
		}
		names := []string{"mc3_correct_match", "mc3_population_unique", "mc3_expected_frequency"}
		if c.asked.SetMatch {
			names = append(names, "mc3_set_match")
		}
		if class < 0 {
			for _, name := range append(names, schemas.Frequency) {
				c.exactly(fmt.Sprintf("row %d: %s", i, name), column(name), "null")
			}
			continue
		}
		f, r := c.table.classes[class].f, want.risks[class]
		c.exactly(fmt.Sprintf("row %d: f", i), column(schemas.Frequency), f)
		for j, x := range []float64{r.match, r.none, float64(f) + r.mean, r.set}[:len(names)] {
			got, err := strconv.ParseFloat(column(names[j]), 64)
			if err != nil {
				c.fail("row %d: %s is %s", i, names[j], column(names[j]))
			}
			if c.near(fmt.Sprintf("row %d: %s", i, names[j]), got, x); j == 1 && f > 1 && got != 0 {
				c.fail("row %d: %s is %v, want 0", i, names[j], got)
			}
			if j == 0 && !(got > 0 && got <= 1/float64(f)) {
				c.fail("row %d: %s is %v, beyond 1/f", i, names[j], got)
			}
		}
	}
}

// theta compares CM|UM. By draws it lies, whatever they are, between two inequalities; the engine's tests have the integrals.
func (c *mc3Comparison) theta(what string, got *float64, none bool, want *mc3Figures) {
	drawn := c.asked.Estimator == "exact" || c.asked.Estimator == "montecarlo"
	if none || !drawn {
		c.figure(what, got, none, want.theta)
		return
	}
	slack := .02 // of a thousand draws
	if c.asked.Estimator == "montecarlo" {
		slack = max(c.absolute, .05)
	}
	if got == nil {
		c.fail("%s is null, want %v to %v", what, want.least, want.cmsu)
		return
	}
	if *got < want.least-slack || *got > want.cmsu+slack {
		c.fail("%s is %v, want %v to %v", what, *got, want.least, want.cmsu)
	}
}

// file compares the measures of the file.
func (c *mc3Comparison) file(s *mc3.Summary, want *mc3Figures) {
	n, n1 := float64(len(c.table.records)), float64(len(c.table.uniques()))
	none := n1 == 0
	c.figure("pu_su", s.PUSU, none, want.pusu)
	c.theta("cm_um", s.CMUM, none, want)
	c.figure("cm_su", s.CMSU, none, want.cmsu)
	c.figure("pu", s.PU, false, want.pu)
	c.figure("pu_se", s.PUSE, false, 0)
	loose := *c
	if c.asked.Estimator == "montecarlo" {
		loose.absolute *= n
	}
	loose.figure("expected population uniques", s.PopulationUnique, false, want.tau1)
	loose.figure("expected correct matches", s.CorrectMatches, false, want.tau2)
	loose.figure("expected re-identifications", s.Reidentified, false, want.reidentified)
	loose.figure("re-identifications, percent", s.ReidentifiedPart, false, 100*want.reidentified/n)
	records, tau2 := int64(0), 0.0
	for _, bin := range s.Calibration {
		records += bin.Records
		tau2 += bin.CorrectMatch * float64(bin.Records)
	}
	c.exactly("records of the bins", records, n1)
	if !none {
		loose.near("matches of the bins", tau2, *s.CorrectMatches)
	}
}

func (c *mc3Comparison) sensitivity(s *mc3.Summary) {
	if len(c.asked.PriorPrecision) < 2 {
		return
	}
	c.exactly("precisions", len(s.Sensitivity), len(c.asked.PriorPrecision))
	for i, row := range s.Sensitivity {
		alpha := c.asked.PriorPrecision[i]
		c.exactly("precision", row.PriorPrecision, alpha)
		graphs, unsure := c.models(alpha, c.fail, nil)
		if unsure {
			return
		}
		laws, _ := c.laws(graphs, alpha)
		want := c.figures(laws)
		none := len(c.table.uniques()) == 0
		c.figure("pu at another precision", row.PU, false, want.pu)
		c.figure("pu_su at another precision", row.PUSU, none, want.pusu)
		c.theta("cm_um at another precision", row.CMUM, none, want)
		c.figure("cm_su at another precision", row.CMSU, none, want.cmsu)
	}
}
