package recoding_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/recoding"
	"microrisk/engine/recoding/local"
)

// Hiding cells never costs less than is said, whether or not values are missing, for both meanings of safe; and often no more.
func TestLeastHidden(t *testing.T) {
	met, all := 0, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 11))
		variables, codes, counts, _ := randomLattice(r)
		l, err := recoding.New(variables, codes, counts)
		require.NoError(t, err)
		n := make(recoding.Node, len(variables))
		k := int64(2 + r.IntN(3))
		p := &local.Problem{K: k, Codes: make([][]uint32, len(n))}
		prices := recoding.Prices{Of: make([][]float64, len(n)), Fixed: make([]bool, len(n))}
		for v := range n {
			n[v] = uint8(variables[v].Least + r.IntN(variables[v].Most-variables[v].Least+1))
			missing := int64(local.NoCode)
			if r.IntN(2) == 0 {
				missing = int64(r.IntN(2))
			}
			weight := float64(1 + r.IntN(3))
			for g := range variables[v].Levels[n[v]].Group {
				price := weight
				if int64(g) == missing {
					price = 0
				}
				prices.Of[v] = append(prices.Of[v], price)
			}
			prices.Fixed[v] = r.IntN(6) == 0
			p.Weights, p.Fixed = append(p.Weights, weight), append(p.Fixed, prices.Fixed[v])
			p.Missing, p.Caps = append(p.Missing, missing), append(p.Caps, local.Unlimited)
		}
		o, err := l.Outcome(n, nil)
		require.NoError(t, err)
		require.NoError(t, l.Each(o, func(groups []uint32, f int64) {
			for v, g := range groups {
				p.Codes[v] = append(p.Codes[v], g)
			}
			p.Counts = append(p.Counts, f)
		}))
		least, err := l.LeastHidden(n, k, prices)
		require.NoError(t, err)
		for name, solve := range map[string]func() (*local.Result, error){
			"class": func() (*local.Result, error) { return local.Class(t.Context(), p, local.Options{}) },
			"own":   func() (*local.Result, error) { return local.Own(t.Context(), p, local.Options{}) },
		} {
			result, err := solve()
			if errors.Is(err, local.ErrTooFew) {
				continue
			}
			require.NoError(t, err)
			cost := 0.0
			for _, part := range result.Parts {
				for v := range n {
					if part.Whole || part.Cut.Has(v) {
						cost += float64(part.Records) * prices.Of[v][p.Codes[v][part.Class]]
					}
				}
			}
			require.LessOrEqual(t, least, cost+1e-9, "seed %d, %s", seed, name)
			all++
			if least > 0 && cost < 1.2*least {
				met++
			}
		}
	}
	require.Greater(t, met, all/10)
}
