package risk

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// TestNegativeBinomialMatchReference compares with quadrature in 34 digits: rows of f, a, q, E[1/F].
func TestNegativeBinomialMatchReference(t *testing.T) {
	file, err := os.Open("testdata/matches.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	worst := 0.0
	n := 0
	for s := bufio.NewScanner(file); s.Scan(); n++ {
		var f, a, q, want float64
		if _, err := fmt.Sscanf(s.Text(), "%g,%g,%g,%g", &f, &a, &q, &want); err != nil {
			t.Fatal(err)
		}
		got := NegativeBinomialMatch(f, a, q)
		e := math.Abs(got/want - 1)
		worst = max(worst, e)
		if !(e < 1e-13) {
			t.Errorf("f %g, a %g, q %g: %.17g, want %.17g, error %.2g", f, a, q, got, want, e)
		}
		if f > 1 {
			if e := math.Abs(gammaIntegral(f, a, q)/want - 1); !(e < 1e-13) {
				t.Errorf("integral at f %g, a %g, q %g: error %.2g", f, a, q, e)
			}
		}
	}
	t.Logf("%d values, worst relative error %.2g", n, worst)
}

// TestMatchesAgainstSums adds up the distributions term by term.
func TestMatchesAgainstSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]float64{1, 2, 3, 7, 20, 70}).Draw(t, "f")
		mean := math.Exp(rapid.Float64Range(-8, 5).Draw(t, "log mean"))
		beta := rapid.SampledFrom([]float64{-4, -1, -.01, 0, .01, .5, 1}).Draw(t, "beta")
		if beta > 0 {
			trials := math.Ceil(mean / beta)
			mean = trials * beta
		}
		kind := unseen{mean: mean, beta: beta}
		zero := math.Exp(-mean)
		switch {
		case beta > 0:
			zero = math.Exp(mean / beta * math.Log1p(-beta))
		case beta < 0:
			zero = math.Exp(mean / beta * math.Log1p(-beta))
		}
		if beta < 1 && zero < 1e-300 {
			return
		}
		match, set, prob, choose := 0.0, 0.0, zero, 1.0
		if beta == 1 {
			match, set = 1/(f+mean), setMatch(f, mean)
		} else {
			for k := 0.0; k < 30000 && (prob > 0 || k < 2); k++ {
				match += prob / (f + k)
				set += prob / choose
				prob *= max(0, kind.mean-beta*k) / ((k + 1) * (1 - beta))
				choose *= (f + k + 1) / (k + 1)
			}
		}
		switch {
		case beta > 0:
			assert.InEpsilon(t, match, binomialMatch(f, math.Round(mean/beta), beta), 1e-11)
		case beta == 0:
			assert.InEpsilon(t, match, PoissonMatch(f, mean), 1e-11)
			assert.InEpsilon(t, set, poissonSetMatch(f, mean), 1e-11)
		default:
			assert.InEpsilon(t, match, NegativeBinomialMatch(f, -mean/beta, -beta), 1e-11)
			assert.InEpsilon(t, set, gammaSetMatch(f, -mean/beta, -beta), 1e-11)
		}
	})
}

// TestMatchLimits has large shapes, small and large means, and the order of the values.
func TestMatchLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := float64(rapid.IntRange(1, 3000).Draw(t, "f"))
		mean := math.Exp(rapid.Float64Range(-20, 12).Draw(t, "log mean"))
		poisson := PoissonMatch(f, mean)
		for _, a := range []float64{1e13, 1e18} {
			assert.InEpsilon(t, poisson, NegativeBinomialMatch(f, a, mean/a), 1e-9)
		}
		a := math.Exp(rapid.Float64Range(-7, 14).Draw(t, "log a"))
		x := NegativeBinomialMatch(f, a, mean/a)
		assert.GreaterOrEqual(t, x*(1+1e-13), poisson) // 1/F is convex
		assert.LessOrEqual(t, x*f, 1+1e-13)
		assert.GreaterOrEqual(t, x*(f+mean), 1-1e-12) // Jensen
		assert.InEpsilon(t, 1/f, NegativeBinomialMatch(f, a, 1e-17/a), 1e-12)
		assert.Equal(t, 1/f, NegativeBinomialMatch(f, a, 0))
	})
	for _, c := range [][3]float64{{2, 1e-260, 1e250}, {1, 1e-260, 1e255}, {5, 1e-3, 1e12}, {20000, 1e9, 1e-6}, {1e6, .5, 1e7}, {3, 1e18, 1e-30}, {1e9, 1e5, 10}} {
		x := NegativeBinomialMatch(c[0], c[1], c[2])
		assert.True(t, x > 0 && x <= 1/c[0]*(1+1e-13), "%v: %v", c, x)
	}
}

// TestSetMatchPrinted has the thesis' figure: f = 2, lambda = 1 gives .368 for E[1/F] and .528 as printed.
func TestSetMatchPrinted(t *testing.T) {
	assert.InDelta(t, .368, PoissonMatch(2, 1), 5e-4)
	assert.InDelta(t, .528, poissonSetMatch(2, 1), 5e-4)
}

var sink float64

func BenchmarkNegativeBinomialMatch(b *testing.B) {
	for _, c := range []struct{ lo, hi int }{{1, 1}, {2, 10}, {11, 100}, {101, 3000}} {
		b.Run(fmt.Sprintf("f=%d-%d", c.lo, c.hi), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			var x [1024][3]float64
			for i := range x {
				f := float64(c.lo + rng.IntN(c.hi-c.lo+1))
				a := f * math.Exp(rng.NormFloat64()) // as cells have it: about f records in n, a sample of 1 to 10 percent
				x[i] = [3]float64{f, a, math.Exp(3*rng.Float64() + 1.5)}
			}
			b.ResetTimer()
			for i := range b.N {
				y := &x[i&1023]
				sink += NegativeBinomialMatch(y[0], y[1], y[2])
			}
		})
	}
}
