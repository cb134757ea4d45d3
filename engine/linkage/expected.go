package linkage

import (
	"math"

	"microrisk/engine/bayes/effects"
)

// A Spread is how sure the number of right ones among unique matches is.
type Spread struct {
	Variance float64   // but for what comes of the rates of the models
	Slopes   []float64 // by cell: what the number changes by, for each unit that the logarithm of the people whom the cell should have is more
}

// SpreadOf tells how sure the number of right ones among some unique matches is; unique has how many pairs of samples match in each cell. Its
// variance has four parts: that of which matches are right, given their chances; what the standard error of sigma makes; what another kind of
// effects would, the truth being taken to lie anywhere as near on either side; and what comes of the rates, of which Slopes tell.
func SpreadOf(s *effects.Samples, f *effects.Fit, cells []effects.Shared, unique []int) Spread {
	out := Spread{Slopes: make([]float64, len(cells))}
	joint := s.Joint(f.Sigma)
	known := map[alike]effect{}
	var low, high, kind float64
	bySigma := f.SE > 0
	from, to := max(0, f.Sigma-f.SE), f.Sigma+f.SE
	var below, above, gamma *effects.Joint
	if bySigma {
		below, above = s.Joint(from), s.Joint(to)
	}
	if f.Sigma > 0 && !math.IsInf(f.Shape, 1) {
		gamma = s.Gamma(f.Shape)
	}
	for i, pairs := range unique {
		if pairs == 0 {
			continue
		}
		c, n := &cells[i], float64(pairs)
		at := alikeOf(c)
		e, ok := known[at]
		if !ok {
			people := math.Exp(float64(at.point) / alikePerUnit)
			e.match, _ = joint.Of(c.Records, people)
			e.slope = joint.Slope(c.Records, people)
			if bySigma {
				e.below, _ = below.Of(c.Records, people)
				e.above, _ = above.Of(c.Records, people)
			}
			if gamma != nil {
				x, _ := gamma.Of(c.Records, people)
				e.kind = x - e.match
			}
			known[at] = e
		}
		out.Slopes[i] = n * e.slope
		out.Variance += n * n * e.match * (1 - e.match) // several matches of one cell are right together at most
		low, high, kind = low+n*e.below, high+n*e.above, kind+n*e.kind
	}
	if bySigma {
		by := (high - low) / (to - from) * f.SE
		out.Variance += by * by
	}
	out.Variance += kind * kind / 3
	return out
}

// alikePerUnit is how many cells of the same records are told apart in a unit of the logarithm of the people that they should have.
const alikePerUnit = 32

// An alike names cells of the same records that should have about as many people.
type alike struct {
	records string
	point   int
}

func alikeOf(c *effects.Shared) alike {
	b := make([]rune, len(c.Records))
	for i, n := range c.Records {
		b[i] = rune(min(n, math.MaxInt16)) // of so many records all are alike
	}
	return alike{string(b), int(math.Round(math.Log(c.People) * alikePerUnit))}
}

type effect struct{ match, slope, below, above, kind float64 }

// Doubles is what pairs of records within two samples say of the number of right ones among their unique matches, without any model: two
// records of different people are as likely to be in different samples as their fractions say, wherever they agree. first and second are the numbers of
// classes with two records in one sample, of fraction p and q, and none in the other. It is unbiased, and may be below 0; se is its standard error.
func Doubles(unique, first, second int, p, q float64) (right, se float64) {
	a, b := p*(1-q), q*(1-p)
	by := 2 * a * b / (a*a + b*b)
	n := float64(first + second)
	return float64(unique) - by*n, math.Sqrt(float64(unique) + by*by*n)
}
