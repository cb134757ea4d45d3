package risk

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// Variances against those of draws of pi from the posterior, which are made another way: each model's clique tables, from gamma numbers.
func TestVariancesAgainstDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	d := &bayes.Data{Levels: []int{4, 3, 5, 2}, Codes: make([][]uint32, 4)}
	for a := range uint32(4) {
		for b := range uint32(3) {
			for c := range uint32(5) {
				for e := range uint32(2) {
					if n := int64(r.IntN(900)); n > 200 {
						for v, code := range []uint32{a, b, c, e} {
							d.Codes[v] = append(d.Codes[v], code)
						}
						d.Counts = append(d.Counts, n)
						d.Records += n
					}
				}
			}
		}
	}
	models := func(weights ...float64) (list []bayes.Model) {
		names := []string{"a", "b", "c", "d"}
		for i, text := range []string{"[a b][b c][c d]", "[a b c][d]", "[a][b][c][d]"} {
			if weights[i] > 0 {
				g, err := graph.Parse(text, names)
				require.NoError(t, err)
				list = append(list, bayes.Model{Graph: g, Weight: weights[i]})
			}
		}
		return list
	}
	slopes := make([][]float64, 3)
	for range d.Counts {
		slopes[0] = append(slopes[0], 1)
		slopes[1] = append(slopes[1], r.Float64())
		slopes[2] = append(slopes[2], 0)
	}
	slopes[2][7] = 1
	for _, weights := range [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {.6, .4, 0}} {
		law, err := NewLaw(context.Background(), d, 1, models(weights...), 1)
		require.NoError(t, err)
		got, err := law.Variances(context.Background(), d, slopes, Options{})
		require.NoError(t, err)
		again, err := law.Variances(context.Background(), d, slopes, Options{Workers: 3})
		require.NoError(t, err)
		require.Equal(t, got, again)
		o := Options{}
		require.NoError(t, law.ready(d, &o))
		p := newPlan(law, false, &o)
		mean := make([]float64, d.Cells())
		require.NoError(t, p.eachBlock(context.Background(), d, &o, func(b *block, _, lo int) {
			for k, m := range law.Models {
				for j, x := range b.means(k) {
					mean[lo+j] += m.Weight * x
				}
			}
		}))
		const draws = 6000
		sums := make([][]float64, len(slopes))
		pi := make([]float64, d.Cells())
		for k, n := range allot(law.Models, draws, .5) {
			s := newSampler(p, k, d)
			for i := range n {
				s.draw(rand.NewPCG(uint64(k), uint64(i)), pi)
				for q := range slopes {
					x := 0.0
					for c, h := range slopes[q] {
						if len(law.Models) > 1 { // what models differ by is taken of logarithms
							x += h * math.Log(pi[c]/mean[c])
						} else {
							x += h * (pi[c]/mean[c] - 1)
						}
					}
					sums[q] = append(sums[q], x)
				}
			}
		}
		for q := range slopes {
			require.InEpsilon(t, stat.Variance(sums[q], nil), got[q], .1, "weights %v, sum %d", weights, q)
		}
	}
}
