package figures

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Belief is what a model believes of a figure: a law on 0 to 1.
type Belief struct {
	Name string
	Law  distuv.Beta
}

// densityPoints is at how many places a density is drawn.
const densityPoints = 400

// Densities draws posterior densities of a figure, and where the truth is (Forster & Webb 2007, figure 2). The axis ends where the densities do.
func Densities(what string, beliefs []Belief, truth float64) *Figure {
	f := &Figure{Title: "Posterior density of " + what, X: what, Y: "Density", MinY: to(0)}
	low, high := truth, truth
	for _, b := range beliefs {
		low, high = min(low, b.Law.Quantile(0.0005)), max(high, b.Law.Quantile(0.9995))
	}
	room := 0.05 * (high - low)
	low, high = max(0, low-room), min(1, high+room)
	most := 0.0
	for _, b := range beliefs {
		l := Line{Name: b.Name}
		for i := range densityPoints + 1 {
			x := low + (high-low)*float64(i)/densityPoints
			if x <= 0 || x >= 1 { // where it may be infinite
				continue
			}
			y := b.Law.Prob(x)
			l.X, l.Y = append(l.X, x), append(l.Y, y)
			most = max(most, y)
		}
		f.Lines = append(f.Lines, l)
	}
	f.Lines = append(f.Lines, Line{Name: fmt.Sprintf("truth  %.3g", truth), X: []float64{truth, truth}, Y: []float64{0, most}})
	return f
}

// Traces draws the log marginal likelihood of the models that chains were at.
func Traces(chains [][]float64) *Figure {
	f := &Figure{Title: "Where the chains were", X: "Share of the run", Y: "Log marginal likelihood", Legend: "right"}
	for k, values := range chains {
		l := Line{Name: fmt.Sprintf("chain %d", k+1), Y: values}
		for i := range values {
			l.X = append(l.X, float64(i)/float64(max(1, len(values)-1)))
		}
		f.Lines = append(f.Lines, l)
	}
	return f
}

// Costs draws Pr(correct match) against what it costs, a point for each sampling fraction.
func Costs(strategies []Strategy) *Figure {
	f := &Figure{
		Title:    "Pr(correct match) and cost of matching strategies",
		Subtitle: "A point for each sampling fraction",
		X:        "People looked at, expected (log scale)",
		Y:        "Pr(correct match)",
		LogX:     true,
		MinY:     to(0),
		Legend:   "top right",
	}
	for _, s := range strategies {
		f.Lines = append(f.Lines, Line{Name: s.Name, X: s.Cost, Y: s.Correct, Marked: true})
	}
	return f
}
