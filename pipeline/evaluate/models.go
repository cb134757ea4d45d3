package evaluate

import (
	"fmt"
	"math"

	"microrisk/engine/evaluate"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/pipeline/figures"
)

// A told model is what one mc3 operator says of a sample.
type told struct {
	operator string
	summary  *mc3.Summary
	halves   *mc3.Halves // nil where it was not tried on half of the sample
}

// modelsOf are those of the operators that fit them.
func modelsOf(r *operators.Report) []told {
	var list []told
	for _, o := range r.Operators {
		m, ok := o.Summary.(*mc3.Summary)
		if !ok {
			continue
		}
		t := told{operator: o.Name, summary: m}
		if x, ok := o.Fitted.(mc3.Expecting); ok && x.Expectation() != nil {
			t.halves = x.Expectation().Halves
		}
		list = append(list, t)
	}
	return list
}

// interval is that of a measure, nil for none.
func interval(m *mc3.Summary, measure string) *mc3.Interval {
	if m == nil {
		return nil
	}
	for i := range m.Intervals {
		if m.Intervals[i].Measure == measure {
			return &m.Intervals[i]
		}
	}
	return nil
}

// A tried model has the calibration of an operator's models on halves of the samples.
type tried struct {
	operator        string
	estimate, truth []float64
	bins            []evaluate.Bin
}

// halves are the sample uniques of the halves of all samples, by operator.
func halves(all []*judged, bins int) ([]*tried, error) {
	var list []*tried
	of := map[string]*tried{}
	for _, j := range all {
		for _, m := range j.models {
			if m.halves == nil {
				continue
			}
			t := of[m.operator]
			if t == nil {
				t = &tried{operator: m.operator}
				of[m.operator], list = t, append(list, t)
			}
			estimate, truth := m.halves.Matches()
			t.estimate, t.truth = append(t.estimate, estimate...), append(t.truth, truth...)
		}
	}
	for _, t := range list {
		var err error
		if t.bins, err = evaluate.Calibrate(t.estimate, t.truth, bins); err != nil {
			return nil, err
		}
		t.estimate, t.truth = nil, nil
	}
	return list, nil
}

// believed are the measures whose densities are drawn, with what they are called.
var believed = []struct{ measure, name string }{
	{mc3.LimitPU, "PU"}, {mc3.LimitPUSU, "PU|SU"}, {mc3.LimitCMUM, "CM|UM (theta)"},
}

// densities are those of the first sample.
func densities(first *judged) []picture {
	var list []picture
	for _, b := range believed {
		var beliefs []figures.Belief
		truth := math.NaN()
		for _, e := range first.Estimates {
			if e.Measure != b.measure || e.Truth == nil {
				continue
			}
			for _, m := range first.models {
				i := interval(m.summary, b.measure)
				if m.operator != e.Operator || i == nil || !(i.SE > 0) {
					continue
				}
				if law := mc3.LawOf(e.Value, i.SE); law.Alpha > 0 && law.Beta > 0 {
					beliefs = append(beliefs, figures.Belief{Name: e.Operator, Law: law})
					truth = *e.Truth
				}
			}
		}
		if beliefs != nil {
			list = append(list, picture{name: "density-" + b.measure, figure: figures.Densities(b.name, beliefs, truth)})
		}
	}
	return list
}

// leastEdge is how probable an edge is at least that is drawn though the most probable model has it not.
const leastEdge = 0.05

// graphs draw the most probable models of the first sample, and traces what its chains did.
func graphs(first *judged) []picture {
	var list []picture
	for _, m := range first.models {
		if len(m.summary.Models) == 0 || len(m.summary.KeySummary.Variables) == 0 {
			continue
		}
		best := m.summary.Models[0]
		n := &figures.Network{Title: "Most probable model of " + m.operator,
			Note: fmt.Sprintf("Probability %.3g. Edges are as wide as they are probable; dashed ones are of other models.", best.Weight)}
		at := map[string]int{}
		for i, v := range m.summary.KeySummary.Variables {
			at[v.Name] = i
			n.Nodes = append(n.Nodes, v.Name)
		}
		inBest := map[[2]string]bool{}
		for _, e := range best.Edges {
			inBest[e] = true
		}
		for _, e := range m.summary.EdgeProbabilities {
			if inBest[e.Edge] || e.Probability >= leastEdge {
				n.Edges = append(n.Edges, figures.NetworkEdge{Nodes: [2]int{at[e.Edge[0]], at[e.Edge[1]]}, Probability: e.Probability, Aside: !inBest[e.Edge]})
			}
		}
		list = append(list, picture{name: "graph-" + m.operator, network: n})
		if trace := m.summary.Diagnostics.Trace; len(trace) > 0 {
			list = append(list, picture{name: "trace-" + m.operator, figure: figures.Traces(trace)})
		}
	}
	return list
}
