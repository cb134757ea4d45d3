package effects

import (
	"math"

	"microrisk/engine/bayes/risk"
)

// Within are the measures that Of has, of a cell whose F is known to lie from low to high, at least its records and at most risk.NoLimit: by
// its law cut off outside of them. Its Log is of the probability of the bounds.
func (m *Measures) Within(f int64, people float64, low, high int64) risk.Cut {
	if !(people > 0) {
		people = 1e-300
	}
	free := m.law(float64(f), people)
	cut := func(z float64) risk.Cut {
		lambda := people * math.Exp(m.sigma*z-m.sigma*m.sigma/2)
		return risk.PoissonWithin(f, (1-m.fraction)*lambda, low, high)
	}
	var sum risk.Mixture
	if m.sigma == 0 {
		return cut(0).Bound(low, high)
	}
	// The law of z is between those that it has where F is low and where it is high.
	known := func(size int64) float64 {
		return (&law{f: float64(size), sigma: m.sigma, rate: people * math.Exp(-m.sigma*m.sigma/2)}).mode()
	}
	middle, least := free.mode(), known(low)
	middle = max(middle, least)
	if high != risk.NoLimit {
		middle = max(least, min(middle, known(high)))
	}
	step := part / math.Sqrt(1+m.sigma*m.sigma*people*math.Exp(m.sigma*middle-m.sigma*m.sigma/2)) / 2
	top := math.Inf(-1)
	take := func(z float64) bool {
		c := cut(z)
		log := free.log(z)
		sum.Add(log, c)
		top = max(top, log+c.Log)
		return log+c.Log > top-fall
	}
	take(middle)
	for _, by := range []float64{step, -step} {
		for k := 1.0; take(middle + k*by); k++ {
		}
	}
	out := sum.Cut()
	out.Log += math.Log(step) - free.eachNode(func(float64, float64) {})
	return out.Bound(low, high)
}
