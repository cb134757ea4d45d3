package local

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClassCases(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	ratio, worst, least := 0.0, 0.0, 0.0
	optimal, n := 0, 0.0
	for i, c := range suppressionCases(t) {
		p, _ := rowsProblem(c.Rows, c.K, c.Weights)
		r, err := Class(background, p, Options{})
		require.NoError(t, err)
		require.Zero(t, r.Suppressed)
		require.GreaterOrEqual(t, r.Cost, c.ClassCost, "case %d", i)
		require.LessOrEqual(t, r.OwnBound, c.ClassCost+1e-9)
		require.LessOrEqual(t, r.GroupBound, c.ClassCost+1e-9)
		again, err := Recount(background, p, r.Parts)
		require.NoError(t, err)
		require.Zero(t, again.Class)
		require.Zero(t, again.Own)
		require.Zero(t, again.Wildcard)
		if c.ClassCost == 0 {
			continue
		}
		n++
		if r.Cost == c.ClassCost {
			optimal++
		}
		ratio += r.Cost / c.ClassCost
		worst = max(worst, r.Cost/c.ClassCost)
		least += r.Bound / c.ClassCost
	}
	ratio, least = ratio/n, least/n
	t.Logf("mean ratio %.4f, worst %.3f, optimal %d of %v, bound %.3f", ratio, worst, optimal, n, least)
	require.LessOrEqual(t, ratio, 1.03)
}

// The worked example: three rows 1**; the group bound is 3.
func TestClassWorkedExample(t *testing.T) {
	rows := [][]uint32{{1, 1, 1}, {1, 1, 2}, {1, 2, 1}, {2, 2, 2}, {2, 2, 2}}
	p, _ := rowsProblem(rows, 2, nil)
	r, err := Class(background, p, Options{})
	require.NoError(t, err)
	assert.Equal(t, []Part{{0, 1, 0b110, false}, {1, 1, 0b110, false}, {2, 1, 0b110, false}}, r.Parts)
	assert.EqualValues(t, 6, r.Cells)
	assert.Equal(t, 3.0, r.GroupBound)
	assert.Equal(t, 3.0, r.OwnBound)
	assert.Equal(t, 1.0, r.Gap())
	assert.Equal(t, 6.0, classBrute(p, rows))
}

// Without bounds the release is the same.
func TestClassWithoutBounds(t *testing.T) {
	for i, c := range suppressionCases(t)[:40] {
		p, _ := rowsProblem(c.Rows, c.K, c.Weights)
		with, err := Class(background, p, Options{Effort: -1})
		require.NoError(t, err)
		without, err := Class(background, p, Options{Effort: -1, NoBounds: true})
		require.NoError(t, err)
		require.Equal(t, with.Parts, without.Parts, "case %d", i)
		require.Equal(t, with.Cost, without.Cost)
		require.Zero(t, without.Bound+without.OwnBound+without.GroupBound)
	}
}

// requireSafe recounts a release: class => own => wildcard.
func requireSafe(t *testing.T, p *Problem, r *Result) {
	t.Helper()
	again, err := Recount(background, p, r.Parts)
	require.NoError(t, err)
	require.Zero(t, again.Class)
	require.Zero(t, again.Own)
	require.Zero(t, again.Wildcard)
	total := int64(0)
	for _, n := range p.Counts {
		total += n
	}
	require.Equal(t, total, again.Released+r.Suppressed)
	for v, n := range r.CellsOf {
		require.False(t, p.fixed().Has(v) && n > 0)
		require.True(t, p.Caps == nil || p.Caps[v] == Unlimited || n <= p.Caps[v])
	}
}

func TestClassAgainstTryingAll(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	ratio, n := 0.0, 0.0
	for range 150 {
		rows := randomRows(r, 4+r.IntN(7), 1+r.IntN(4), 3)
		weights := make([]float64, len(rows[0]))
		for v := range weights {
			weights[v] = float64(1+r.IntN(3)) / 10
		}
		p, _ := rowsProblem(rows, 2+r.Int64N(2), weights)
		p.Fixed = make([]bool, len(weights))
		p.Fixed[r.IntN(len(weights))] = r.IntN(2) == 0
		got, err := Class(background, p, Options{})
		require.NoError(t, err)
		requireSafe(t, p, got)
		best := classBrute(p, rows)
		if got.Suppressed > 0 {
			require.True(t, p.fixed() != 0)
			continue
		}
		require.GreaterOrEqual(t, got.Cost, best-1e-9)
		require.LessOrEqual(t, got.Bound, best+1e-9)
		if best > 0 {
			ratio += got.Cost / best
			n++
		}
	}
	require.LessOrEqual(t, ratio/n, 1.03)
	require.Greater(t, n, 80.0)
}

// The order of classes and rows and the number of workers change nothing.
func TestClassSame(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	problems := 30
	if testing.Short() {
		problems = 6
	}
	for range problems {
		rows := randomRows(r, 100+r.IntN(400), 2+r.IntN(4), 6)
		p, _ := rowsProblem(rows, 2+r.Int64N(4), nil)
		want, err := Class(background, p, Options{Workers: 1})
		require.NoError(t, err)
		requireSafe(t, p, want)
		got, err := Class(background, p, Options{Workers: 8})
		require.NoError(t, err)
		require.Equal(t, want, got)

		order := r.Perm(len(p.Counts))
		other := &Problem{K: p.K, Codes: make([][]uint32, len(p.Codes))}
		for _, c := range order {
			other.Counts = append(other.Counts, p.Counts[c])
			for v := range p.Codes {
				other.Codes[v] = append(other.Codes[v], p.Codes[v][c])
			}
		}
		got, err = Class(background, other, Options{Workers: 3})
		require.NoError(t, err)
		for i := range got.Parts {
			got.Parts[i].Class = order[got.Parts[i].Class]
		}
		slices.SortStableFunc(got.Parts, func(a, b Part) int { return a.Class - b.Class })
		require.Equal(t, want, got)
	}
}

func TestClassChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	whole := int64(0)
	problems := 80
	if testing.Short() {
		problems = 16
	}
	for i := range problems {
		rows := randomRows(r, 20+r.IntN(200), 2+r.IntN(4), 5)
		p, _ := rowsProblem(rows, 2+r.Int64N(3), nil)
		switch i % 4 {
		case 0:
			p.Fixed = make([]bool, len(p.Codes))
			p.Fixed[0], p.Fixed[1] = true, i%8 == 0
		case 1:
			p.Caps = make([]int64, len(p.Codes))
			for v := range p.Caps {
				p.Caps[v] = r.Int64N(20) - 1
			}
		case 2:
			p.Missing = make([]int64, len(p.Codes))
		case 3:
			p.Weights = make([]float64, len(p.Codes))
		}
		got, err := Class(background, p, Options{})
		require.NoError(t, err)
		requireSafe(t, p, got)
		whole += got.Suppressed
		if i%4 > 1 {
			require.Zero(t, got.Suppressed)
		}
	}
	require.Positive(t, whole)
}

func TestClassEnds(t *testing.T) {
	for name, c := range map[string]struct {
		p           Problem
		cells, gone int64
	}{
		"no record at risk":    {p: Problem{K: 2, Codes: [][]uint32{{1, 2}}, Counts: []int64{2, 3}}},
		"one variable":         {p: Problem{K: 2, Codes: [][]uint32{{1, 2, 3}}, Counts: []int64{1, 1, 3}}, cells: 2},
		"borrowing":            {p: Problem{K: 2, Codes: [][]uint32{{1, 2}}, Counts: []int64{1, 3}}, cells: 2},
		"all of a class":       {p: Problem{K: 2, Codes: [][]uint32{{1, 2}}, Counts: []int64{1, 2}}, cells: 3},
		"a variable of 1":      {p: Problem{K: 2, Codes: [][]uint32{{1, 1, 1}, {1, 2, 3}}, Counts: []int64{1, 1, 1}}, cells: 3},
		"fewer than k at last": {p: Problem{K: 3, Codes: [][]uint32{{1, 2}, {0, 0}}, Counts: []int64{1, 2}}, cells: 3},
		"all fixed":            {p: Problem{K: 2, Codes: [][]uint32{{1, 2}}, Counts: []int64{1, 2}, Fixed: []bool{true}}, gone: 1},
		"none may be cut":      {p: Problem{K: 2, Codes: [][]uint32{{1, 2}}, Counts: []int64{1, 2}, Caps: []int64{0}}, gone: 1},
		"cap of one":           {p: Problem{K: 2, Codes: [][]uint32{{1, 2}}, Counts: []int64{1, 2}, Caps: []int64{1}}, gone: 1},
		"missing fits":         {p: Problem{K: 2, Codes: [][]uint32{{1, 0}}, Counts: []int64{1, 2}, Missing: []int64{0}}, cells: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Class(background, &c.p, Options{})
			require.NoError(t, err)
			requireSafe(t, &c.p, r)
			assert.Equal(t, c.cells, r.Cells)
			assert.Equal(t, c.gone, r.Suppressed)
			assert.LessOrEqual(t, r.Bound, r.Cost) // a bound above it, of records that were suppressed instead, is left out
		})
	}
	_, err := Class(background, &Problem{K: 3, Codes: [][]uint32{{1, 2}}, Counts: []int64{1, 1}}, Options{})
	require.ErrorIs(t, err, ErrTooFew)
}

// Records that the places leave out are joined set by set where they are many.
func TestClassJoinMany(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 30 {
		p, _ := rowsProblem(randomRows(r, 50+r.IntN(200), 2+r.IntN(4), 5), 2+r.Int64N(3), nil)
		if i%3 == 0 {
			p.Missing = make([]int64, len(p.Codes))
		}
		if i%5 == 0 {
			p.Fixed = make([]bool, len(p.Codes))
			p.Fixed[0] = true
		}
		in, err := newInstance(p)
		require.NoError(t, err)
		m, err := newMarket(background, in, newCosting(counted(in.weights())), Options{})
		require.NoError(t, err)
		a := newAssignment(m)
		if i%2 == 0 {
			a.initial(background)
			for r := int32(0); r < int32(len(a.in)); r += 7 { // take some out
				if a.in[r] >= 0 {
					a.free(r, nil)
				}
			}
		}
		rel := newRelease(a)
		rel.joinMany(background)
		rel.joinRest(background)
		rel.showAgain()
		requireSafe(t, p, rel.result())
	}
}

// Wherever it is interrupted, what is done is safe.
func TestClassInterrupted(t *testing.T) {
	p, _ := rowsProblem(randomRows(rand.New(rand.NewPCG(1, 1)), 600, 5, 6), 3, nil)
	for stop := range 30 {
		ctx, cancel := context.WithCancel(background)
		calls := 0
		r, err := Class(ctx, p, Options{Workers: 1, Progress: func(done, total int64) {
			if calls++; calls == stop*4 {
				cancel()
			}
		}})
		require.NoError(t, err)
		requireSafe(t, p, r)
		if stop == 1 {
			require.True(t, r.Interrupted)
		}
		cancel()
	}
}

func BenchmarkClass(b *testing.B) {
	p, _ := rowsProblem(randomRows(rand.New(rand.NewPCG(1, 1)), 5000, 5, 12), 3, nil)
	for b.Loop() {
		_, err := Class(background, p, Options{})
		require.NoError(b, err)
	}
}

func BenchmarkOwn(b *testing.B) {
	p, _ := rowsProblem(randomRows(rand.New(rand.NewPCG(1, 1)), 5000, 5, 12), 3, nil)
	for b.Loop() {
		_, err := Own(background, p, Options{})
		require.NoError(b, err)
	}
}

func BenchmarkGroup(b *testing.B) {
	p, _ := rowsProblem(randomRows(rand.New(rand.NewPCG(1, 1)), 5000, 5, 12), 3, nil)
	in, err := newInstance(p)
	require.NoError(b, err)
	g, made := newGrouper(in), grouping{}
	for b.Loop() {
		g.group(0b101, &made)
	}
}
