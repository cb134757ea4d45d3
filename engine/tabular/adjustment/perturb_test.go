package adjustment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/fitting"
)

// Every cell is what its kernel draws at its own number, and the imbalance is the largest there is.
func TestEveryCellByItself(t *testing.T) {
	g, counts := t0(t)
	s := g.System()
	normal, err := perturb.Normal{SD: 2, Reach: 4, Negative: perturb.Truncate}.Kernel()
	require.NoError(t, err)
	for _, k := range []perturb.Kernel{perturb.Noise(), kernel(t)(perturb.Random(5)), kernel(t)(perturb.Conventional(5, "")), normal,
		perturb.Census2000(), perturb.None()} {
		p, err := Perturb(s, counts, k, byNumber("s"))
		require.NoError(t, err)
		worst := int64(0)
		for cell, x := range counts {
			require.Positive(t, perturb.Probability(k, p.Values[cell], x), k.Name())
			require.Equal(t, perturb.Draw(k, x, perturb.Uniform(perturb.KeyOf([]byte("s")), fmt.Append(nil, cell))), p.Values[cell])
		}
		for e := range s.Equations {
			off := s.Equations[e].Imbalance(p.Values)
			worst = max(worst, off, -off)
		}
		require.Equal(t, worst, p.Imbalance, k.Name())
		require.Equal(t, worst > 0, p.Equation >= 0)
	}
	p, err := Perturb(s, counts, kernel(t)(perturb.Conventional(5, "")), byNumber("s"))
	require.NoError(t, err)
	require.EqualValues(t, 5, p.Imbalance, "TV-P3: 25+5+35+20 is 85, published 80")
}

// TV-P6: what is drawn of T0 is one of 12 tables, each about as often as it should be, and all add up.
func TestTVP6(t *testing.T) {
	g, counts := t0(t)
	s, k := g.System(), kernel(t)(perturb.ISD(0.2, perturb.ReadingA))
	unchanged, seen := 0, map[string]bool{}
	const n = 4000
	for i := range n {
		p, err := PerturbParts(s, counts, k, byNumber(fmt.Sprint("secret ", i)))
		require.NoError(t, err)
		require.Empty(t, s.Broken(p.Values, 0))
		require.True(t, p.Values[0] >= 402 && p.Values[0] <= 406)
		key := fmt.Sprint(p.Values[at(g, 1, 2)], p.Values[at(g, 2, 1)], p.Values[at(g, 3, 4)])
		seen[key] = true
		if key == "3 1 4" {
			unchanged++
			require.Equal(t, counts, p.Values)
		}
		if key == "2 2 3" {
			require.EqualValues(t, []int64{403, 80, 148, 108, 67, 98, 76, 79, 150}, []int64{p.Values[0], p.Values[at(g, 1, 0)],
				p.Values[at(g, 2, 0)], p.Values[at(g, 3, 0)], p.Values[at(g, 4, 0)], p.Values[at(g, 0, 1)], p.Values[at(g, 0, 2)],
				p.Values[at(g, 0, 3)], p.Values[at(g, 0, 4)]})
		}
	}
	require.Len(t, seen, 12)
	require.InDelta(t, 0.512, float64(unchanged)/n, 5*math.Sqrt(0.25/n))
}

// Hierarchies and three variables add up too.
func TestPartsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		g, counts := drawn(t, r, tabular.Shape{3, 2, 4}, 30)
		p, err := PerturbParts(g.System(), counts, kernel(t)(perturb.Random(3)), byNumber("x"))
		require.NoError(t, err)
		require.Zero(t, p.Imbalance)
		again := append([]int64(nil), p.Values...)
		require.NoError(t, g.Sum(again))
		require.Equal(t, again, p.Values)
	}
}

// crooked is a kernel whose row of 1 is no law.
type crooked struct{ perturb.Kernel }

func (crooked) Outcomes(i int64) []perturb.Outcome { return []perturb.Outcome{{Count: i, P: 0.9}} }

func TestRefusals(t *testing.T) {
	g, counts := t0(t)
	s := g.System()
	_, err := Perturb(s, counts, crooked{perturb.None()}, byNumber("s"))
	require.ErrorContains(t, err, "sum to 0.9: they must sum to 1")
	_, err = Perturb(s, counts[1:], perturb.None(), byNumber("s"))
	require.ErrorContains(t, err, "24 values, of 25 cells")
	counts[3] = -2
	_, err = Perturb(s, counts, perturb.None(), byNumber("s"))
	require.ErrorContains(t, err, "cell 3 has the count -2")
	loop := &tabular.System{Cells: 2, Equations: []tabular.Equation{{Total: 0, Parts: []int32{1}}, {Total: 1, Parts: []int32{0}}}}
	_, err = PerturbParts(loop, []int64{1, 1}, perturb.None(), byNumber("s"))
	require.ErrorContains(t, err, "part of its own parts")
	odd := &tabular.System{Cells: 3, Equations: []tabular.Equation{{Total: 0, Parts: []int32{1, 2}}, {Total: 0, Parts: []int32{1}}}}
	_, err = PerturbParts(odd, []int64{3, 1, 2}, perturb.None(), byNumber("s"))
	require.ErrorContains(t, err, "equation 1 does not hold")
	for want, n := range map[string]Noise{"both are at least 0": {Reach: 4}, "reaches 0 standard": {SD: 1}, "could change its sign": {SD: 1, Reach: 4}} {
		_, err = n.Add(s, []int64{4: 3, 24: 0}, byNumber("s"))
		require.ErrorContains(t, err, want)
	}
}

// Noise of magnitudes has the mean 0 and the standard deviation that it says, and changes no sign.
func TestNoiseOfMagnitudes(t *testing.T) {
	const n = 20000
	s, values := &tabular.System{Cells: n}, make([]int64, n)
	for i := range values {
		values[i] = []int64{0, 1000, -5000}[i%3]
	}
	p, err := Noise{SD: 10, Proportional: 0.05, Reach: 4}.Add(s, values, byNumber("s"))
	require.NoError(t, err)
	for at, sd := range []float64{0, 60, 260} {
		sum, square, count := 0.0, 0.0, 0.0
		for i := at; i < n; i += 3 {
			d := float64(p.Values[i] - values[i])
			require.LessOrEqual(t, math.Abs(d), 4*sd+0.5)
			sum, square, count = sum+d, square+d*d, count+1
		}
		require.InDelta(t, 0, sum/count, 5*sd/math.Sqrt(count)+1e-12)
		require.InDelta(t, sd, math.Sqrt(square/count), 0.03*sd)
	}
}

// TV-P2: T0 fitted to margins 80, 145, 110, 70 and 100, 75, 80, 150.
func TestTVP2(t *testing.T) {
	g, counts := t0(t)
	f, err := fitMargins(context.Background(), g, counts, [][]float64{{0, 80, 145, 110, 70}, {0, 100, 75, 80, 150}}, fitting.Options{Tolerance: 1e-12 / 405})
	require.NoError(t, err)
	for row, list := range [][]float64{{22.9332, 2.8193, 36.5892, 17.6583}, {1.0061, 14.2237, 11.9740, 117.7962},
		{55.8288, 41.8995, 8.2029, 4.0688}, {20.2319, 16.0576, 23.2338, 10.4767}} {
		for column, want := range list {
			require.InDelta(t, want, f.Values[at(g, int32(row)+1, int32(column)+1)], 1e-4)
		}
	}
	require.InDelta(t, 405, f.Values[0], 1e-9)
	whole, controlled, err := f.Whole(context.Background(), g, nil)
	require.NoError(t, err)
	require.True(t, controlled)
	require.Empty(t, g.System().Broken(whole, 0))
	for cell, x := range whole {
		require.Less(t, math.Abs(float64(x)-f.Values[cell]), 1+1e-2)
	}
	require.Equal(t, []int64{80, 145, 110, 70}, []int64{whole[at(g, 1, 0)], whole[at(g, 2, 0)], whole[at(g, 3, 0)], whole[at(g, 4, 0)]})
}

// Margins of one grand total, odds ratios and zeros as they were, factors of mean 1.
func TestMultiplicative(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	m := Multiplicative{SD: 0.1, Reach: 4, Tolerance: 1e-11, Sweeps: 10000}
	for range 10 {
		g, values := drawn(t, r, tabular.Shape{4, 3, 3}, 50)
		f, err := m.Perturb(context.Background(), g, values, byNumber("s"))
		require.NoError(t, err)
		s := g.System()
		for e := range s.Equations {
			sum := 0.0
			s.Equations[e].Each(func(cell int32, sign int64) { sum += float64(sign) * f.Values[cell] })
			require.InDelta(t, 0, sum, 1e-6)
		}
		for cell, x := range values {
			require.Equal(t, x == 0, f.Values[cell] == 0)
		}
		require.InDelta(t, float64(values[0])*(1+m.SD*perturb.Standard(byNumber("s")(0, 0), 4)), f.Values[0], 1e-6)
	}
	g, counts := t0(t)
	const n = 3000
	sum := 0.0
	for i := range n {
		f, err := m.Perturb(context.Background(), g, counts, byNumber(fmt.Sprint(i)))
		require.NoError(t, err)
		odds := f.Values[at(g, 1, 1)] * f.Values[at(g, 2, 2)] / f.Values[at(g, 1, 2)] / f.Values[at(g, 2, 1)]
		require.InEpsilon(t, 23.*15/3/1, odds, 1e-9)
		sum += f.Values[0] / 404
	}
	require.InDelta(t, 1, sum/n, 5*0.1/math.Sqrt(n))
}

func TestRefusalsOfMultiplicative(t *testing.T) {
	g, counts := t0(t)
	for want, m := range map[string]Multiplicative{
		"must be above 0, the reach": {Reach: 4, Tolerance: 1, Sweeps: 1}, "could make a margin negative": {SD: 0.3, Reach: 4, Tolerance: 1, Sweeps: 1},
		"both must be above 0": {SD: 0.1, Reach: 4},
	} {
		_, err := m.Perturb(context.Background(), g, counts, byNumber("s"))
		require.ErrorContains(t, err, want)
	}
	diagonal, values := grid(t, tabular.Shape{2, 2}, []int64{5, 0, 0, 7})
	_, err := Multiplicative{SD: 0.1, Reach: 4, Tolerance: 1e-10, Sweeps: 200}.Perturb(context.Background(), diagonal, values, byNumber("s"))
	require.ErrorContains(t, err, "the zeros of the table may not allow")
	none, zeros := grid(t, tabular.Shape{2, 2}, []int64{0, 0, 0, 0})
	f, err := Multiplicative{SD: 0.1, Reach: 4, Tolerance: 1e-10, Sweeps: 200}.Perturb(context.Background(), none, zeros, byNumber("s"))
	require.NoError(t, err)
	require.Zero(t, f.Values[0])
}

// The same people have the same noise in two tables.
func TestByPeople(t *testing.T) {
	key := perturb.KeyOf([]byte("s"))
	a, b := ByPeople(key, []uint64{5, 9, 14}), ByPeople(key, []uint64{14, 1})
	require.Equal(t, a(2, 0), b(0, 0))
	require.Equal(t, a(2, 3), b(0, 3))
	require.NotEqual(t, a(2, 0), a(2, 1))
	require.NotEqual(t, a(0, 0), a(1, 0))
	n := byNumber("s")
	require.NotEqual(t, n(0, 1), n(0, 2))
}
