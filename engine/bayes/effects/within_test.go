package effects

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes/risk"
)

// The law cut off against direct sums: P(F) over a fine grid of the effect, times the binomial probability of the sample.
func TestWithinAgainstSums(t *testing.T) {
	known := map[string]float64{}
	size := func(n int64, people, sigma float64) float64 {
		at := fmt.Sprint(n, people, sigma)
		if _, ok := known[at]; !ok {
			known[at] = logSize(n, people, sigma)
		}
		return known[at]
	}
	for _, sigma := range []float64{0, .3, 1.2, 2.5} {
		for _, fraction := range []float64{.01, .3} {
			m := New(sigma, fraction)
			for _, people := range []float64{.05, 2, 90, 4000} {
				for _, c := range [][3]int64{{1, 1, 1}, {1, 1, 3}, {1, 1, 60}, {1, 4, 12}, {3, 3, 5}, {3, 3, 150}, {2, 30, 45}} {
					var sums [4]float64
					top := math.Inf(-1)
					law := make([]float64, c[2]+1)
					for n := c[1]; n <= c[2]; n++ {
						law[n] = size(n, people, sigma) + choose(n, c[0]) + float64(c[0])*math.Log(fraction) + float64(n-c[0])*math.Log1p(-fraction)
						top = max(top, law[n])
					}
					for n := c[1]; n <= c[2]; n++ {
						w := math.Exp(law[n] - top)
						sums[0] += w
						sums[1] += w / float64(n)
						sums[2] += w * float64(n)
						if n == 1 {
							sums[3] = w
						}
					}
					what := fmt.Sprint(sigma, fraction, people, c)
					got := m.Within(c[0], people, c[1], c[2])
					require.InDelta(t, sums[3]/sums[0], got.Alone, 1e-7, what)
					require.InEpsilon(t, sums[1]/sums[0], got.Match, 1e-7, what)
					require.InEpsilon(t, sums[2]/sums[0], got.Size, 1e-7, what)
				}
			}
		}
	}
}

// logSize is log P(F = n) by a fine grid.
func logSize(n int64, people, sigma float64) float64 {
	f := float64(n)
	log := func(z float64) float64 {
		lambda := people * math.Exp(sigma*z-sigma*sigma/2)
		return f*math.Log(lambda) - lambda - z*z/2
	}
	factorial, _ := math.Lgamma(f + 1)
	if sigma == 0 {
		return log(0) - factorial
	}
	top := math.Inf(-1)
	for i := -4000; i <= 2000; i++ {
		top = max(top, log(float64(i)/100))
	}
	sum := 0.0
	for i := -4000; i <= 2000; i++ {
		sum += math.Exp(log(float64(i)/100) - top)
	}
	return top + math.Log(sum/100/math.Sqrt(2*math.Pi)) - factorial
}

func choose(n, k int64) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}

// Bounds that say nothing leave what was there, and the law loses what is beyond them.
func TestWideBoundsChangeNothing(t *testing.T) {
	for _, sigma := range []float64{0, .8, 1.5} {
		m := New(sigma, .05)
		for _, f := range []int64{1, 4} {
			for _, people := range []float64{.1, 8, 300} {
				alone, match, size := m.Of(f, people)
				got := m.Within(f, people, f, risk.NoLimit)
				require.InDelta(t, alone, got.Alone, 1e-7)
				require.InDelta(t, match, got.Match, 1e-7)
				require.InEpsilon(t, size, got.Size, 1e-6)
				if f == 1 && alone > 1e-200 && sigma > 0 {
					require.InDelta(t, math.Log(alone), m.Within(1, people, 1, 1).Log, 1e-5*(1-math.Log(alone)))
				}
			}
		}
	}
}
