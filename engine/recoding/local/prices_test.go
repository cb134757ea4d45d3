package local

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// value is what an assignment costs at least: prices less what places gain.
func (p *prices) value() (v float64) {
	for i, price := range p.of {
		v += price * float64(p.count[i])
	}
	for at := range p.places {
		v -= max(0, p.gain(p.shares[0], int32(at)))
	}
	return v
}

// Prices bound the cost from below, those that it begins with too, and they come nearer to it.
func TestPrices(t *testing.T) {
	first, last, n := 0.0, 0.0, 0.0
	for i, c := range suppressionCases(t) {
		p, _ := rowsProblem(c.Rows, c.K, c.Weights)
		in, err := newInstance(p)
		require.NoError(t, err)
		m, err := newMarket(background, in, newCosting(in.weights()), Options{})
		require.NoError(t, err)
		ended, cancel := context.WithCancel(background)
		cancel()
		begin, end := newPrices(ended, m, Options{Workers: 2}), newPrices(background, m, Options{Workers: 2})
		for at := range m.places {
			require.LessOrEqual(t, begin.gain(begin.shares[0], int32(at)), 1e-9, "case %d", i)
		}
		require.LessOrEqual(t, begin.value(), c.ClassCost+1e-9, "case %d", i)
		require.LessOrEqual(t, end.value(), c.ClassCost+1e-9, "case %d", i)
		if c.ClassCost > 0 {
			first, last, n = first+begin.value()/c.ClassCost, last+end.value()/c.ClassCost, n+1
		}
	}
	t.Logf("of the best: %.4f, then %.4f", first/n, last/n)
	require.Greater(t, last/n, first/n+.05)
}

// Whatever k is, the search saves some of what its first pass costs.
func TestClassSaves(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	r := rand.New(rand.NewPCG(8, 8))
	for _, k := range []int64{2, 5, 13, 20, 32, 33} {
		p, _ := rowsProblem(randomRows(r, 700, 5, 5), k, nil)
		first, err := Class(background, p, Options{Effort: -1})
		require.NoError(t, err)
		got, err := Class(background, p, Options{})
		require.NoError(t, err)
		requireSafe(t, p, got)
		t.Logf("k %d: at risk %d, bound %.0f, first %.0f, then %.0f", k, got.AtRisk, got.Bound, first.Cost, got.Cost)
		require.Less(t, got.Cost, first.Cost, "k = %d", k)
	}
}
