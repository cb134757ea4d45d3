package perturb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func normals() []Kernel {
	var list []Kernel
	for _, n := range []Normal{
		{SD: 0.25, Reach: 4, Negative: Refuse}, {SD: 2, Reach: 4, Negative: Truncate}, {SD: 2, Reach: 4, Negative: Reflect},
		{SD: 5, Reach: 2.5, Negative: Reflect}, {SD: 0.01, Reach: 1, Negative: Refuse}, {SD: 8, Reach: 3, Negative: Truncate, Proportional: 0.2},
		{SD: 4, Reach: 4, Negative: Refuse, Proportional: 0.25}, {SD: 4, Reach: 4, Negative: Reflect, Proportional: 0.5},
		{SD: 3, Reach: 4, Negative: Truncate, Proportional: 7},
	} {
		list = append(list, must(n.Kernel()))
	}
	return list
}

func schemes() []Kernel {
	list := append(normals(), Noise(), Census2000())
	for _, p := range []float64{0, 0.2, 0.7, 1} {
		list = append(list, must(ISD(p, ReadingA)), must(ISD(p, ReadingB)))
	}
	return list
}

// The probability of each outcome is what the normal law gives the interval that is rounded to it, by integration of the density.
func TestNormalNoiseIsTheNormalLaw(t *testing.T) {
	mass := func(sd, from, to float64) float64 { // Simpson's rule
		const steps = 4000
		f := func(x float64) float64 { return math.Exp(-x*x/2/sd/sd) / sd / math.Sqrt(2*math.Pi) }
		h, sum := (to-from)/steps, f(from)+f(to)
		for s := 1; s < steps; s++ {
			sum += f(from+float64(s)*h) * float64(2+2*(s%2))
		}
		return sum * h / 3
	}
	for _, c := range []struct {
		n    Normal
		i    int64
		sd   float64
		low  int64
		fold func(int64) int64
	}{
		{Normal{SD: 2, Reach: 4, Negative: Truncate}, 3, 2, 0, func(j int64) int64 { return max(j, 0) }},
		{Normal{SD: 2, Reach: 4, Negative: Reflect}, 3, 2, 0, func(j int64) int64 { return max(j, -j) }},
		{Normal{SD: 50, Reach: 3, Negative: Refuse, Proportional: 0.1}, 100, 10, 70, func(j int64) int64 { return j }},
		{Normal{SD: 50, Reach: 3, Negative: Refuse, Proportional: 0.1}, 1000, 50, 850, func(j int64) int64 { return j }},
	} {
		k := must(c.n.Kernel())
		r := int64(math.Floor(c.n.Reach*c.sd + 0.5))
		whole := mass(c.sd, -float64(r)-0.5, float64(r)+0.5)
		want := map[int64]float64{}
		for e := -r; e <= r; e++ {
			want[c.fold(c.i+e)] += mass(c.sd, float64(e)-0.5, float64(e)+0.5) / whole
		}
		require.Len(t, k.Outcomes(c.i), len(want))
		require.Equal(t, c.low, k.Outcomes(c.i)[0].Count)
		for _, o := range k.Outcomes(c.i) {
			require.InDelta(t, want[o.Count], o.P, 1e-12, "%s: %d as %d", k.Name(), c.i, o.Count)
		}
	}
}

// Where nothing is folded at 0, the mean is the true count and the variance that of the law.
func TestNoiseIsUnbiased(t *testing.T) {
	moments := func(k Kernel, i int64) (mean, variance float64) {
		for _, o := range k.Outcomes(i) {
			mean += o.P * float64(o.Count)
		}
		for _, o := range k.Outcomes(i) {
			variance += o.P * (float64(o.Count) - mean) * (float64(o.Count) - mean)
		}
		return mean, variance
	}
	for i := int64(1); i < 30; i++ {
		mean, variance := moments(Noise(), i)
		require.InDelta(t, float64(i), mean, 1e-12)
		require.InDelta(t, 2./3, variance, 1e-12)
	}
	k := must(Normal{SD: 3, Reach: 6, Negative: Truncate}.Kernel())
	mean, variance := moments(k, 40)
	require.InDelta(t, 40, mean, 1e-9)
	require.InDelta(t, 9+1./12, variance, 1e-3) // Sheppard's correction for rounding
	mean, _ = moments(k, 1)
	require.Greater(t, mean, 1.5, "truncation is biased")
	for i, want := range []float64{0, 1.2, 2, 3, 3.8, 5} {
		for _, r := range []Reading{ReadingA, ReadingB} {
			mean, variance := moments(must(ISD(0.2, r)), int64(i))
			require.InDelta(t, want, mean, 1e-12)
			at := map[Reading][]float64{ReadingA: {0, 0.16, 0.2, 0.2, 0.16, 0}, ReadingB: {0, 0.16, 1. / 3, 1. / 3, 0.16, 0}}[r][i]
			require.InDelta(t, at, variance, 1e-12)
		}
	}
}

// Draws without a list of outcomes are those with one.
func TestNormalDrawsAreInverses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(normals()).Draw(t, "kernel").(normal)
		i := rapid.Int64Range(0, 60).Draw(t, "count")
		u := rapid.Float64Range(0, 1).Filter(func(u float64) bool { return u < 1 }).Draw(t, "u")
		below := 0.0
		for _, o := range k.Outcomes(i) {
			if math.Abs(u-below) < 1e-12 || math.Abs(u-below-o.P) < 1e-12 {
				return
			}
			if below += o.P; u < below {
				require.Equal(t, o.Count, Draw(k, i, u))
				return
			}
		}
	})
}

func TestLargeNormalNoise(t *testing.T) {
	k := must(Normal{SD: MaxSD, Reach: MaxReach, Negative: Refuse, Proportional: 0.1}.Kernel())
	for _, u := range []float64{0, 0.25, 0.5, 1 - 1e-16} {
		j := Draw(k, 1<<50, u)
		require.LessOrEqual(t, max(j-1<<50, 1<<50-j), int64(MaxSD*MaxReach))
		low, high, ok := k.Bounds(j)
		require.True(t, ok && low <= 1<<50 && high >= 1<<50)
	}
	require.InDelta(t, 0, float64(Draw(k, 1<<50, 0.5)-1<<50), 1)
}

// chiSquare is how often a law gives draws that fit worse than these; outcomes that are expected less than 5 times are pooled.
func chiSquare(k Kernel, i int64, n int, draw func(c int) float64) float64 {
	seen := map[int64]int{}
	for c := range n {
		seen[Draw(k, i, draw(c))]++
	}
	sum, classes, restP, rest := 0.0, 0, 0.0, n
	for _, o := range k.Outcomes(i) {
		if expected := o.P * float64(n); expected >= 5 {
			sum += (float64(seen[o.Count]) - expected) * (float64(seen[o.Count]) - expected) / expected
			rest -= seen[o.Count]
			classes++
		} else {
			restP += o.P
		}
	}
	if expected := restP * float64(n); expected >= 1e-6 {
		sum += (float64(rest) - expected) * (float64(rest) - expected) / expected
		classes++
	}
	if classes < 2 {
		return 1
	}
	return distuv.ChiSquared{K: float64(classes - 1)}.Survival(sum)
}

// Many draws have the law of every random scheme.
func TestDrawsHaveTheLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := schemes()
	for _, b := range []int64{3, 5, 10} {
		list = append(list, must(Random(b)), must(RandomFixed(b, 0.75)))
	}
	list = append(list, must(Barnard(0.8)))
	for _, k := range list {
		for _, i := range []int64{1, 2, 3, 4, 7, 23} {
			require.Greater(t, chiSquare(k, i, 100000, func(int) float64 { return r.Float64() }), 1e-5, "%s: %d", k.Name(), i)
		}
	}
}

func TestRefusalsOfNoise(t *testing.T) {
	for want, n := range map[string]Normal{
		"the standard deviation of the noise is 0":        {Reach: 4, Negative: Refuse},
		"the standard deviation of the noise is NaN":      {SD: math.NaN(), Reach: 4, Negative: Refuse},
		"the noise reaches 0 standard":                    {SD: 1, Negative: Refuse},
		"the noise is proportional by -1":                 {SD: 1, Proportional: -1, Reach: 4, Negative: Refuse},
		`what noise makes negative becomes ""`:            {SD: 1, Reach: 4},
		"would make a count of 1 as low as -3":            {SD: 1, Reach: 4, Negative: Refuse},
		"would make a count of 5 as low as -1":            {SD: 9, Proportional: 0.275, Reach: 4, Negative: Refuse},
		"take less, or truncate (such a count becomes 0)": {SD: 2, Reach: 2, Negative: Refuse},
	} {
		_, err := n.Kernel()
		require.ErrorContains(t, err, want)
	}
	_, err := ISD(0.2, "C")
	require.ErrorContains(t, err, "it is one of A, B")
	_, err = ISD(2, ReadingA)
	require.ErrorContains(t, err, "must be a probability")
}

// What is not refused never becomes negative, and what is would.
func TestNoiseIsRefusedWhereItMustBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Normal{SD: rapid.Float64Range(0.01, 40).Draw(t, "sd"), Reach: rapid.Float64Range(1, 8).Draw(t, "reach"), Negative: Refuse,
			Proportional: rapid.OneOf(rapid.Just(0.), rapid.Float64Range(0.01, 1)).Draw(t, "proportional")}
		bad := int64(0)
		for i := int64(1); i < 5000 && bad == 0; i++ {
			if k := (normal{n}); k.reach(i) > i {
				bad = i
			}
		}
		_, err := n.Kernel()
		if bad > 0 {
			require.ErrorContains(t, err, fmt.Sprintf("a count of %d as low", bad))
		} else {
			require.NoError(t, err)
		}
	})
}

func BenchmarkNormalDraw(b *testing.B) {
	k := must(Normal{SD: 1000, Reach: 4, Negative: Truncate}.Kernel())
	for i := range b.N {
		Draw(k, int64(i&4095), float64(i&1023)/1024)
	}
}

func TestStandard(t *testing.T) {
	require.InDelta(t, 0, Standard(0.5, 4), 1e-12)
	require.InDelta(t, -4, Standard(0, 4), 1e-9)
	for _, u := range []float64{1e-9, 0.01, 0.3, 0.7, 0.999, 1 - 1e-16} {
		x, tail := Standard(u, 3), upper(3)
		require.InDelta(t, u, (upper(-x)-tail)/(1-2*tail), 1e-9)
		require.InDelta(t, -x, Standard(1-u, 3), 1e-6)
	}
}
