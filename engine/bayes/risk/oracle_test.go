package risk

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"microrisk/engine/bayes"
	"microrisk/engine/graph"
	"pgregory.net/rapid"
)

const bitsOfOracle = 2500

func float(x float64) *big.Float { return new(big.Float).SetPrec(bitsOfOracle).SetFloat64(x) }

// weightOf is alpha / (product of levels) + the records of d that agree with the cell x on c, by going through all cells.
func weightOf(d *bayes.Data, c graph.Set, x []uint32, alpha float64) *big.Float {
	sum := float(alpha)
	for v := range c.Vertices() {
		sum.Quo(sum, float(float64(d.Levels[v])))
	}
	for i, f := range d.Counts {
		same := true
		for v := range c.Vertices() {
			same = same && d.Codes[v][i] == x[v]
		}
		if same {
			sum.Add(sum, float(float64(f)))
		}
	}
	return sum
}

// oracle sums E[exp(-u pi)], E[u pi exp(-u pi)] and E[1/F] by power series in u with the exact moments of pi.
func oracle(d *bayes.Data, g *graph.Graph, x []uint32, alpha, u float64, f int) (none, once, match float64) {
	var up, down []*big.Float
	for _, c := range g.Cliques() {
		up = append(up, weightOf(d, c, x, alpha))
	}
	for _, s := range g.Separators() {
		down = append(down, weightOf(d, s, x, alpha))
	}
	down = append(down, weightOf(d, 0, x, alpha))
	moment, power := float(1), float(1) // E[pi^k], (-u)^k/k!
	sum0, sum1 := float(0), float(0)
	sumF, share := float(0), float(1/1.0)
	share.Quo(float(1), float(float64(f))) // (f-1)! k! / (f+k)!
	for k := 0; k < 3000; k++ {
		term := new(big.Float).Mul(moment, power)
		sum0.Add(sum0, term)
		sum1.Sub(sum1, new(big.Float).Mul(term, float(float64(k))))
		sumF.Add(sumF, new(big.Float).Mul(term, share))
		if k > int(3*u)+10 && (term.Sign() == 0 || term.MantExp(nil) < -100) {
			break
		}
		for i := range up {
			moment.Mul(moment, new(big.Float).Add(up[i], float(float64(k))))
			moment.Quo(moment, new(big.Float).Add(down[i], float(float64(k))))
		}
		power.Mul(power, float(-u))
		power.Quo(power, float(float64(k+1)))
		share.Mul(share, float(float64(k+1)))
		share.Quo(share, float(float64(f+k+1)))
	}
	none, _ = sum0.Float64()
	once, _ = sum1.Float64()
	match, _ = sumF.Float64()
	return none, once, match
}

// anyData is a small table with many counts of 1.
func anyData(t *rapid.T, variables int) *bayes.Data {
	levels := make([]int, variables)
	for v := range levels {
		levels[v] = rapid.IntRange(1, 4).Draw(t, "levels")
	}
	levels[0]++
	records := make([][]uint32, rapid.IntRange(1, 30).Draw(t, "records"))
	for i := range records {
		records[i] = make([]uint32, variables)
		for v := range levels {
			// The lower of two codes, so that frequencies differ.
			a, b := rapid.IntRange(0, levels[v]-1).Draw(t, "code"), rapid.IntRange(0, levels[v]-1).Draw(t, "code")
			records[i][v] = uint32(min(a, b))
		}
	}
	return tabulate(levels, records)
}

func anyGraph(t *rapid.T, variables int) *graph.Graph {
	var all []*graph.Graph
	graph.EachDecomposable(variables, func(g *graph.Graph) bool {
		all = append(all, g.Clone())
		return true
	})
	return rapid.SampledFrom(all).Draw(t, "graph")
}

// TestExactAgainstSeries has the contour integral, and moments, against power series in 2,500 bits.
func TestExactAgainstSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 4).Draw(t, "variables")
		d, g := anyData(t, k), anyGraph(t, k)
		alpha := rapid.SampledFrom([]float64{1, .02, 50}).Draw(t, "alpha")
		u := rapid.SampledFrom([]float64{.01, 1, 7.5, 60, 200}).Draw(t, "u")
		l, err := NewLaw(context.Background(), d, alpha, []bayes.Model{{Graph: g, Weight: 1}}, 0)
		require.NoError(t, err)
		require.NoError(t, l.Check())
		c, err := l.Cells(context.Background(), d, Options{Estimator: Exact, Unsampled: u})
		require.NoError(t, err)
		p := newPlan(l, false, &Options{})
		b := newBlock(p)
		i := rapid.IntRange(0, d.Cells()-1).Draw(t, "cell")
		x := make([]uint32, k)
		columns := make([][]uint32, k)
		for v := range x {
			x[v] = d.Codes[v][i]
		}
		none, _, match := oracle(d, g, x, alpha, u, int(d.Counts[i]))
		if d.Counts[i] == 1 {
			assert.InDelta(t, none, c.PopulationUnique[i], 1e-11)
		}
		assert.InDelta(t, match, c.CorrectMatch[i], 1e-11)
		for v := range x {
			x[v] = uint32(rapid.IntRange(0, d.Levels[v]-1).Draw(t, "any"))
			columns[v] = []uint32{x[v]}
		}
		_, once, _ := oracle(d, g, x, alpha, u, 1)
		b.load(columns, 0, 1)
		mean, spread := b.moments(0)
		m1, m2 := exactMoments(d, g, x, x, alpha)
		assert.InEpsilon(t, m1, mean[0], 1e-13)
		assert.InDelta(t, m2/(m1*m1)-1, spread[0], 1e-13*(1+spread[0]))
		assert.InDelta(t, once, newExact().once(b, 0, 0, math.Log(u), u*mean[0]), 1e-10)
	})
}

// exactMoments are E[pi_x] and E[pi_x pi_y]: products of Dirichlet moments over cliques, over those of separators.
func exactMoments(d *bayes.Data, g *graph.Graph, x, y []uint32, alpha float64) (first, second float64) {
	one, two := float(1), float(1)
	all := weightOf(d, 0, x, alpha)
	more := new(big.Float).Add(all, float(1))
	part := func(c graph.Set) (*big.Float, *big.Float) {
		a, b := weightOf(d, c, x, alpha), weightOf(d, c, y, alpha)
		same := true
		for v := range c.Vertices() {
			same = same && x[v] == y[v]
		}
		if same {
			b.Add(b, float(1))
		}
		m := new(big.Float).Quo(a, all)
		return m, new(big.Float).Mul(m, new(big.Float).Quo(b, more))
	}
	for _, c := range g.Cliques() {
		a, b := part(c)
		one.Mul(one, a)
		two.Mul(two, b)
	}
	for _, s := range g.Separators() {
		a, b := part(s)
		one.Quo(one, a)
		two.Quo(two, b)
	}
	first, _ = one.Float64()
	second, _ = two.Float64()
	return first, second
}

// TestLogGammaRatio compares with products: Gamma(a-s) = Gamma(a+n-s) / ((a-s)...(a+n-1-s)), and with the real function.
func TestLogGammaRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := math.Exp(rapid.Float64Range(-1, 14).Draw(t, "log a"))
		s := complex(rapid.Float64Range(-.9, .3).Draw(t, "re"), rapid.Float64Range(0, 40).Draw(t, "im"))
		one, next := logGammaRatio(a, s), logGammaRatio(a+1, s)
		// Gamma(a+1-s)/Gamma(a+1) = (a-s)/a times that of a.
		want := logOnePlus(-s / complex(a, 0))
		assert.InDelta(t, real(want), real(next-one), 1e-12)
		turns := imag(next-one-want) / (2 * math.Pi)
		assert.InDelta(t, math.Round(turns), turns, 1e-12)
		x := real(s)
		after, _ := math.Lgamma(a - x)
		before, _ := math.Lgamma(a)
		assert.InDelta(t, after-before, real(logGammaRatio(a, complex(x, 0))), 1e-14*(10+math.Abs(after)))
	})
	// |Gamma(1/2 + it)|^2 = pi / cosh(pi t), |Gamma(it)|^2 = pi / (t sinh(pi t)).
	for y := .25; y < 30; y++ {
		got := 2 * real(logGammaRatio(1, complex(.5, y)))
		assert.InDelta(t, math.Log(math.Pi)-math.Log(math.Cosh(math.Pi*y)), got, 1e-12)
	}
}

// TestSamplerMoments has the mean and the second moments of drawn cells.
func TestSamplerMoments(t *testing.T) {
	d := tabulate([]int{2, 3, 2}, [][]uint32{{0, 0, 0}, {0, 0, 0}, {1, 1, 0}, {1, 2, 1}, {0, 2, 1}, {0, 2, 0}, {0, 2, 0}})
	g := graph.FromEdges(3, [][2]int{{0, 1}, {1, 2}})
	l, err := NewLaw(context.Background(), d, 2, []bayes.Model{{Graph: g, Weight: 1}}, 0)
	require.NoError(t, err)
	s := newSampler(newPlan(l, false, &Options{}), 0, d)
	const draws = 60000
	sum, squares, cross := make([]float64, d.Cells()), make([]float64, d.Cells()), make([]float64, d.Cells())
	pi := make([]float64, d.Cells())
	for k := range draws {
		s.draw(source(k), pi)
		for i, x := range pi {
			sum[i] += x / draws
			squares[i] += x * x / draws
			cross[i] += x * pi[0] / draws
		}
	}
	row := func(i int) []uint32 { return []uint32{d.Codes[0][i], d.Codes[1][i], d.Codes[2][i]} }
	for i := range pi {
		first, second := exactMoments(d, g, row(i), row(i), 2)
		_, both := exactMoments(d, g, row(0), row(i), 2)
		assert.InEpsilon(t, first, sum[i], .03)
		assert.InEpsilon(t, second, squares[i], .05)
		assert.InEpsilon(t, both, cross[i], .05)
	}
}
