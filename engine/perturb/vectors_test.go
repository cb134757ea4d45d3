package perturb

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// T0 of Miller 2005 with its totals: rows A to D and the total, columns E to H and the total.
var t0 = [5][5]int64{{23, 3, 37, 18, 81}, {1, 15, 12, 119, 147}, {54, 43, 8, 4, 109}, {19, 16, 22, 10, 67}, {97, 77, 79, 151, 404}}

// chance is the probability that T0 is published as a table, each cell by itself.
func chance(k Kernel, published [5][5]int64) float64 {
	p := 1.0
	for r := range t0 {
		for c := range t0[r] {
			p *= Probability(k, published[r][c], t0[r][c])
		}
	}
	return p
}

func TestTVP1(t *testing.T) {
	p := chance(Noise(), [5][5]int64{{23, 2, 38, 17, 81}, {1, 14, 11, 119, 147}, {54, 42, 8, 5, 110}, {18, 17, 23, 10, 67}, {98, 77, 79, 150, 403}})
	require.InEpsilon(t, math.Pow(3, -25), p, 1e-9)
}

func TestTVP3(t *testing.T) {
	for b, want := range map[int64][5][5]int64{
		5:  {{25, 5, 35, 20, 80}, {0, 15, 10, 120, 145}, {55, 45, 10, 5, 110}, {20, 15, 20, 10, 65}, {95, 75, 80, 150, 405}},
		3:  {{24, 3, 36, 18, 81}, {0, 15, 12, 120, 147}, {54, 42, 9, 3, 108}, {18, 15, 21, 9, 66}, {96, 78, 78, 150, 405}},
		10: {{20, 0, 40, 20, 80}, {0, 20, 10, 120, 150}, {50, 40, 10, 0, 110}, {20, 20, 20, 10, 70}, {100, 80, 80, 150, 400}},
	} {
		tie := TieUp
		if b%2 == 1 {
			tie = ""
		}
		require.EqualValues(t, 1, chance(must(Conventional(b, tie)), want), b)
	}
}

func TestTVP4a(t *testing.T) {
	k := must(Random(5))
	for i, up := range map[int64]float64{5: 0, 6: 0.2, 7: 0.4, 8: 0.6, 9: 0.8} {
		require.InDelta(t, 1-up, Probability(k, 5, i), 1e-15)
		require.InDelta(t, up, Probability(k, 10, i), 1e-15)
	}
}

func TestTVP4b(t *testing.T) {
	p := chance(must(Random(5)),
		[5][5]int64{{25, 5, 40, 15, 80}, {5, 15, 15, 120, 150}, {55, 40, 5, 5, 110}, {20, 15, 25, 10, 65}, {100, 80, 80, 150, 400}})
	require.InEpsilon(t, 3.0399e-7, p, 1e-5)
}

func TestTVP6(t *testing.T) {
	a, b := must(ISD(0.2, ReadingA)), must(ISD(0.2, ReadingB))
	require.Equal(t, []Outcome{{2, 0.1}, {3, 0.8}, {4, 0.1}}, a.Outcomes(3))
	require.Equal(t, []Outcome{{1, 0.8}, {2, 0.2}}, a.Outcomes(1))
	require.Equal(t, []Outcome{{3, 0.2}, {4, 0.8}}, a.Outcomes(4))
	for _, o := range b.Outcomes(2) {
		require.InDelta(t, map[int64]float64{1: 1. / 6, 2: 4. / 6, 3: 1. / 6}[o.Count], o.P, 1e-15)
	}
	inside, tables := 1.0, 1
	example := 1.0
	for r := range 4 {
		for c := range 4 {
			x := t0[r][c]
			inside *= Probability(a, x, x)
			tables *= len(a.Outcomes(x))
			published := x
			switch [2]int{r, c} {
			case [2]int{0, 1}:
				published = 2
			case [2]int{1, 0}:
				published = 2
			case [2]int{2, 3}:
				published = 3
			}
			example *= Probability(a, published, x)
		}
	}
	require.Equal(t, 12, tables)
	require.InDelta(t, 0.512, inside, 1e-12)
	require.InDelta(t, 1./250, example, 1e-12)
	for i := range int64(8) {
		require.Zero(t, Probability(a, 0, i)-Probability(None(), 0, i), "nothing becomes 0")
		if i < 5 {
			require.Zero(t, Probability(a, 5, i))
		}
	}
}

func TestTVP7(t *testing.T) {
	k := Census2000()
	require.EqualValues(t, 1, chance(k,
		[5][5]int64{{25, 4, 35, 20, 80}, {4, 15, 10, 120, 145}, {55, 45, 10, 4, 110}, {20, 15, 20, 10, 65}, {95, 75, 80, 150, 405}}))
	for i, j := range map[int64]int64{0: 0, 1: 4, 7: 4, 8: 10, 12: 10, 13: 15} {
		require.Equal(t, j, Draw(k, i, 0.9))
	}
}

func TestABS(t *testing.T) {
	a := ABS()
	for _, c := range []struct {
		respondents int64
		value, want float64
		published   bool
	}{{0, 0, 0, false}, {3, 940, 0, false}, {4, 940, 900, true}, {4, 949.9, 900, true}, {4, 950, 1000, true}, {10, 49, 0, true}, {10, -150, -100, true}} {
		got, published, err := a.Publish(c.respondents, c.value)
		require.NoError(t, err)
		require.Equal(t, c.published, published)
		require.Equal(t, c.want, got)
		if low, high := a.Bounds(got); published {
			require.True(t, low <= c.value && c.value < high)
		}
	}
	_, _, err := a.Publish(-1, 0)
	require.ErrorContains(t, err, "-1 respondents")
	_, _, err = a.Publish(5, math.NaN())
	require.ErrorContains(t, err, "must be a number")
}
