package baseline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
	"microrisk/engine/bayes/risk"
)

// A PoissonGamma is the model of Bethlehem, Keller & Pannekoek 1990: the pi of all K' cells of the table are gamma of shape alpha and
// scale b, alpha b = 1/K'.
type PoissonGamma struct {
	Cells float64 // K', occupied or not
	Scale float64 // b, NaN where it cannot be estimated
}

// Shape is alpha.
func (g PoissonGamma) Shape() float64 { return 1 / (g.Cells * g.Scale) }

func checkCells(h Histogram, cells float64) error {
	if err := h.check(); err != nil {
		return err
	}
	if k := h.Occupied(); !(cells >= float64(k)) || math.IsInf(cells, 1) {
		return fmt.Errorf("the table has %v cells, want at least the %d that are occupied", cells, k)
	}
	return nil
}

// BethlehemMoments fits by the variance of the counts over all cells; Scale is NaN where they vary less than Poisson counts do.
func BethlehemMoments(h Histogram, cells float64) (PoissonGamma, error) {
	g := PoissonGamma{Cells: cells, Scale: math.NaN()}
	if err := checkCells(h, cells); err != nil {
		return g, err
	}
	n := float64(h.Records())
	squares := 0.0
	for _, f := range h {
		squares += float64(f.F) * float64(f.F) * float64(f.Cells)
	}
	variance := (squares - n*n/cells) / (cells - 1)
	if b := (cells*variance/n - 1) / n; b > 0 && !math.IsInf(b, 1) {
		g.Scale = b
	}
	return g, nil
}

// BethlehemLikelihood fits by maximum likelihood; Scale is NaN where the likelihood grows without end or nothing was counted. Beyond
// a million cells it solves occupied = log(1+nb)/b, the limit of many cells.
func BethlehemLikelihood(h Histogram, cells float64) (PoissonGamma, error) {
	g := PoissonGamma{Cells: cells, Scale: math.NaN()}
	if err := checkCells(h, cells); err != nil {
		return g, err
	}
	n := float64(h.Records())
	if n == 0 {
		return g, nil
	}
	if cells > 1e6 {
		g.Scale = manyCells(float64(h.Occupied()), n)
		return g, nil
	}
	loss := func(x float64) float64 {
		b := math.Exp(x)
		alpha := 1 / (cells * b)
		sum := n*math.Log(n*b/(1+n*b)) - math.Log1p(n*b)/b
		for _, f := range h {
			sum += float64(f.Cells) * logRise(alpha, float64(f.F))
		}
		return -sum
	}
	// The lowest of a grid, then a search around it. An end of the grid means that there is no maximum inside.
	lo, hi := math.Log(1e-9/n), math.Log(1e9)
	const steps = 120
	best := 0
	values := make([]float64, steps+1)
	for i := range values {
		values[i] = loss(lo + (hi-lo)*float64(i)/steps)
		if values[i] < values[best] {
			best = i
		}
	}
	if best == 0 || best == steps {
		return g, nil
	}
	p := optimize.Problem{Func: func(x []float64) float64 { return loss(x[0]) }}
	start := lo + (hi-lo)*float64(best)/steps
	result, err := optimize.Minimize(p, []float64{start}, nil, &optimize.NelderMead{SimplexSize: 0.1})
	if err != nil {
		return g, fmt.Errorf("the likelihood of the Poisson-gamma model: %w", err)
	}
	// Towards the Poisson limit the likelihood is flat, and a minimum there is rounding.
	if scale := math.Exp(result.X[0]); n*scale > 1e-5 {
		g.Scale = scale
	}
	return g, nil
}

// logRise is log Gamma(a+f) - log Gamma(a), by terms for small f so that large a do not cancel.
func logRise(a, f float64) float64 {
	if f <= 64 {
		sum := 0.0
		for k := 0.0; k < f; k++ {
			sum += math.Log(a + k)
		}
		return sum
	}
	x, _ := math.Lgamma(a + f)
	y, _ := math.Lgamma(a)
	return x - y
}

// manyCells solves occupied = log(1+nb)/b, which falls from n at 0 to 0; NaN where all records are unique.
func manyCells(occupied, n float64) float64 {
	if occupied >= n {
		return math.NaN()
	}
	lo, hi := -80.0, 80.0 // of log b
	for range 200 {
		mid := (lo + hi) / 2
		if b := math.Exp(mid); math.Log1p(n*b)/b > occupied {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp((lo + hi) / 2)
}

// Measure gives the measures of a fitted model, by frequency: given f the pi of a cell is gamma of shape alpha + f, so that with
// q = (N-n) b/(1+nb) F - f is negative binomial. All are NaN where the scale is. population is N, at least n.
func (g PoissonGamma) Measure(h Histogram, population float64) (*Result, error) {
	if err := checkPopulation(h, population); err != nil {
		return nil, err
	}
	n := float64(h.Records())
	alpha := g.Shape()
	q := (population - n) * g.Scale / (1 + n*g.Scale)
	r := newResult(len(h))
	uniques := 0.0
	for i, f := range h {
		if math.IsNaN(g.Scale) {
			r.Match[i], r.Unique[i] = math.NaN(), math.NaN()
			continue
		}
		a := alpha + float64(f.F)
		r.Match[i] = risk.NegativeBinomialMatch(float64(f.F), a, q)
		if f.F == 1 {
			r.Unique[i] = math.Exp(-a * math.Log1p(q))
			uniques = float64(f.Cells) * r.Unique[i]
		}
	}
	r.byFrequency(h)
	empty := (g.Cells - float64(h.Occupied())) * math.Exp(-alpha*math.Log1p(q)) * alpha * q / (1 + q)
	r.PU = (uniques + empty) / population
	return r, nil
}
