package linkage

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes/effects"
	"microrisk/engine/perturb"
)

// ofOneVariable is a problem over one variable whose second category has some records in each sample; all others of a sample have a category
// of their own.
func ofOneVariable(t *testing.T, people int64, sizes, counts []int64, sigma, expected float64) *Problem {
	var fractions []float64
	p := &Problem{People: people, Levels: []int{5}, Overlap: []int{0}, Listed: 40}
	for i, n := range sizes {
		fractions = append(fractions, float64(n)/float64(people))
		p.Samples = append(p.Samples, Counts{Variables: []int{0}, Codes: [][]uint32{{uint32(2 + i), 1}}, Count: []int64{n - counts[i], counts[i]}})
	}
	s, err := effects.NewSamples(fractions...)
	require.NoError(t, err)
	p.Prior = &Prior{Joint: s.Joint(sigma), People: func([]uint32) float64 { return expected }}
	return p
}

// With a table that says nothing the law of F is summed; without it is a mixture over the people of the union. The samples' sizes are taken
// for hypergeometric there, and each person for drawn by itself here: of large samples that is the same.
func TestPriorBothWays(t *testing.T) {
	for _, sigma := range []float64{0, 1.3} {
		for _, expected := range []float64{.02, 5, 300} {
			for _, counts := range [][]int64{{1, 1}, {1, 3}, {2, 1, 1}, {40, 60}, {0, 1, 1}} {
				sizes := []int64{200_000, 300_000, 500_000}[:len(counts)]
				p := ofOneVariable(t, 10_000_000, sizes, counts, sigma, expected)
				a, err := p.Link(t.Context())
				require.NoError(t, err)
				p.Tables = []Table{{Name: "all", Kernel: perturb.None(), Counts: Counts{Count: []int64{10_000_000}}}}
				b, err := p.Link(t.Context())
				require.NoError(t, err)
				x, y := a[len(a)-1], b[len(b)-1]
				what := fmt.Sprint(sigma, expected, counts)
				require.Equal(t, []uint32{1}, y.Codes)
				require.InEpsilon(t, x.Correct, y.Correct, 5e-4, what)
				require.InEpsilon(t, x.Mean, y.Mean, 5e-4, what)
				require.Len(t, y.Law, len(x.Law), what)
				for i := range x.Law {
					require.InDelta(t, x.Law[i], y.Law[i], 2e-4, what)
				}
			}
		}
	}
}

// A table that says F tells more than any model.
func TestPriorUnderAnExactTable(t *testing.T) {
	p := ofOneVariable(t, 1000, []int64{100, 100}, []int64{1, 1}, 1, .001)
	p.Tables = []Table{{Name: "exact", Kernel: perturb.None(), Counts: Counts{Variables: []int{0}, Codes: [][]uint32{{1, 2, 3}}, Count: []int64{7, 493, 500}}}}
	m, err := p.Link(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 1./7, m[0].Correct, 1e-12)
	require.Equal(t, []float64{1}, m[0].Law)
}

// Three samples with a flat prior: the posterior from the definition.
func TestThreeSamples(t *testing.T) {
	p := ofOneVariable(t, 30, []int64{6, 9, 5}, []int64{1, 1, 2}, 0, 1)
	p.Prior = nil
	m, err := p.Link(t.Context())
	require.NoError(t, err)
	choose := func(n, k int) float64 {
		x := 1.0
		for i := range k {
			x *= float64(n-i) / float64(k-i)
		}
		return x
	}
	var all, match float64
	var law []float64
	for F := 2; F <= 30-8; F++ {
		w := choose(F, 1) * choose(30-F, 5) * choose(F, 1) * choose(30-F, 8) * choose(F, 2) * choose(30-F, 3)
		all, match, law = all+w, match+w/float64(F), append(law, w)
	}
	got := m[0]
	require.InDelta(t, match/all, got.Correct, 1e-12)
	require.Equal(t, []int64{1, 1, 2}, got.Records)
	require.Equal(t, 5., got.Pairs())
	require.Equal(t, 1, Uniques(got.Records))
	require.Equal(t, int64(2), got.Low)
	require.Equal(t, int64(22), got.High)
	for i, x := range got.Law {
		require.InDelta(t, law[i]/all, x, 1e-12)
	}
	require.Greater(t, len(got.Law), 8)
}
