package local

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var background = context.Background()

func TestOwnCases(t *testing.T) {
	for i, c := range suppressionCases(t) {
		p, class := rowsProblem(c.Rows, c.K, c.Weights)
		r, err := Own(background, p, Options{})
		require.NoError(t, err)
		sum := 0.0
		for row, want := range c.OwnCost {
			require.Equal(t, want, weightOf(p, cutOf(r, class[row])), "case %d, row %d", i, row)
			sum += want
		}
		require.Equal(t, sum, r.Cost)
		require.Equal(t, sum, r.Bound)
		again, err := Recount(background, p, r.Parts)
		require.NoError(t, err)
		require.Zero(t, again.Own)
		require.Zero(t, again.Wildcard)
		require.LessOrEqual(t, r.Bound, c.ClassCost)
	}
}

// The worked example of three records that share two values of three each: 1*1, 11*, 1*1, and the person 112 has one row that fits.
func TestOwnWorkedExample(t *testing.T) {
	rows := [][]uint32{{1, 1, 1}, {1, 1, 2}, {1, 2, 1}, {2, 2, 2}, {2, 2, 2}}
	p, _ := rowsProblem(rows, 2, nil)
	r, err := Own(background, p, Options{})
	require.NoError(t, err)
	assert.Equal(t, []Part{{0, 1, 0b010, false}, {1, 1, 0b100, false}, {2, 1, 0b010, false}}, r.Parts)
	assert.EqualValues(t, 3, r.Cells)
	assert.Equal(t, []int64{0, 2, 1}, r.CellsOf)
	again, err := Recount(background, p, r.Parts)
	require.NoError(t, err)
	assert.Equal(t, Recounted{Released: 5, Class: 1, Persons: 1, Alone: 1}, again)
	again, err = Recount(background, p, []Part{{Class: 0, Records: 1, Cut: 0b110}}) // the best by wildcards
	require.NoError(t, err)
	assert.Equal(t, Recounted{Released: 5, Class: 3, Own: 2, Persons: 1, Alone: 1}, again)
}

func TestOwnAgainstTryingAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 200 {
		rows := randomRows(r, 2+r.IntN(20), 1+r.IntN(5), 3)
		weights := make([]float64, len(rows[0]))
		fixed := make([]bool, len(rows[0]))
		for v := range weights {
			weights[v] = float64(r.IntN(4)) / 10
			fixed[v] = r.IntN(5) == 0
		}
		p, class := rowsProblem(rows, 2+r.Int64N(2), weights)
		if int64(len(rows)) < p.K {
			_, err := Own(background, p, Options{})
			require.ErrorIs(t, err, ErrTooFew)
			continue
		}
		p.Fixed = fixed
		got, err := Own(background, p, Options{Workers: 1 + r.IntN(4)})
		require.NoError(t, err)
		for row, c := range class {
			want := ownBrute(p, rows, row)
			whole := slices.ContainsFunc(got.Parts, func(x Part) bool { return x.Class == c && x.Whole })
			require.Equal(t, math.IsInf(want, 1), whole)
			if !whole {
				require.InDelta(t, want, weightOf(p, cutOf(got, c)), 1e-12)
			}
		}
	}
}

// With sets of all sizes the cheapest set that meets them is the cut that Own finds, ties and all.
func TestOwnSizeIsOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 200 {
		rows := randomRows(r, 3+r.IntN(40), 1+r.IntN(6), 4)
		p, _ := rowsProblem(rows, 2+r.Int64N(2), nil)
		want, err := Own(background, p, Options{})
		require.NoError(t, err)
		got, err := OwnSize(background, p, len(p.Codes), Options{})
		require.NoError(t, err)
		require.Equal(t, want, got)
		cost := 0.0
		for size := 1; size <= len(p.Codes); size++ {
			got, err := OwnSize(background, p, size, Options{Workers: 3})
			require.NoError(t, err)
			require.GreaterOrEqual(t, got.Cost, cost)
			cost = got.Cost
			requireNoSmall(t, p, rows, got, size)
		}
	}
}

// requireNoSmall: no set of at most size shown variables has fewer than k originals.
func requireNoSmall(t *testing.T, p *Problem, rows [][]uint32, got *Result, size int) {
	for c := range p.Counts {
		for s := range Set(1) << len(p.Codes) {
			if s.size() > size || s&cutOf(got, c) != 0 {
				continue
			}
			n := 0
			for _, row := range rows {
				same := true
				for v := range row {
					same = same && (!s.Has(v) || row[v] == p.Codes[v][c])
				}
				if same {
					n++
				}
			}
			require.GreaterOrEqual(t, n, int(p.K))
		}
	}
}

func TestOwnCaps(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	kept := 0
	for range 150 {
		rows := randomRows(r, 4+r.IntN(4), 2+r.IntN(2), 3)
		p, _ := rowsProblem(rows, 2, nil)
		p.Caps = make([]int64, len(p.Codes))
		for v := range p.Caps {
			p.Caps[v] = r.Int64N(5) - 1
		}
		got, err := Own(background, p, Options{})
		require.NoError(t, err)
		for v, n := range got.CellsOf {
			require.True(t, p.Caps[v] == Unlimited || n <= p.Caps[v])
		}
		best := cappedBrute(p, rows)
		require.LessOrEqual(t, got.OwnBound, best+1e-9)
		if !math.IsInf(best, 1) {
			require.LessOrEqual(t, got.Bound, best+1e-9)
			if got.Suppressed == 0 {
				require.GreaterOrEqual(t, got.Cost, best-1e-9)
				kept++
			}
		}
	}
	require.Greater(t, kept, 50)
}

// cappedBrute tries all ways to cut the classes at risk within the caps.
func cappedBrute(p *Problem, rows [][]uint32) float64 {
	left := slices.Clone(p.Caps)
	var try func(c int) float64
	try = func(c int) float64 {
		if c == len(p.Counts) {
			return 0
		}
		if p.Counts[c] >= p.K {
			return try(c + 1)
		}
		best := math.Inf(1)
		for s := range Set(1) << len(p.Codes) {
			n := int64(0)
			for _, row := range rows {
				same := true
				for v := range row {
					same = same && (s.Has(v) || row[v] == p.Codes[v][c])
				}
				if same {
					n++
				}
			}
			if n < p.K || !room(left, s, p.Counts[c]) {
				continue
			}
			before := slices.Clone(left)
			take(left, s, p.Counts[c])
			best = min(best, weightOf(p, s)*float64(p.Counts[c])+try(c+1))
			copy(left, before)
		}
		return best
	}
	return try(0)
}

func TestOwnMissing(t *testing.T) {
	// b is missing from the second: it shows a alone, which three have; the first must not count it as one that has its b.
	p := &Problem{K: 2, Codes: [][]uint32{{1, 1, 1}, {5, 0, 6}}, Counts: []int64{1, 1, 1}}
	r, err := Own(background, p, Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, r.Cells)
	p.Missing = []int64{NoCode, 0}
	r, err = Own(background, p, Options{})
	require.NoError(t, err)
	assert.Equal(t, []Part{{0, 1, 0b10, false}, {2, 1, 0b10, false}}, r.Parts)
	again, err := Recount(background, p, r.Parts)
	require.NoError(t, err)
	assert.Equal(t, Recounted{Released: 3}, again)
}

func TestOwnErrors(t *testing.T) {
	ok := Problem{K: 2, Codes: [][]uint32{{1, 2}}, Counts: []int64{1, 1}}
	for name, change := range map[string]func(*Problem){
		"at least 2":        func(p *Problem) { p.K = 1 },
		"no key variable":   func(p *Problem) { p.Codes = nil },
		"at most 20":        func(p *Problem) { p.Codes = make([][]uint32, 21) },
		"codes for 2":       func(p *Problem) { p.Codes = [][]uint32{{1}} },
		"weights: 2":        func(p *Problem) { p.Weights = []float64{1, 1} },
		"at least 0":        func(p *Problem) { p.Weights = []float64{math.NaN()} },
		"or Unlimited":      func(p *Problem) { p.Caps = []int64{-2} },
		"at least 1":        func(p *Problem) { p.Counts = []int64{0, 2} },
		"same key":          func(p *Problem) { p.Codes = [][]uint32{{1, 1}} },
		"fewer records":     func(p *Problem) { p.K = 3 },
		"entries for 1 var": func(p *Problem) { p.Missing = []int64{1, 2} },
	} {
		p := ok
		change(&p)
		_, err := Own(background, &p, Options{})
		require.ErrorContains(t, err, name)
	}
}

// Ten variables of 2^20 codes: keys of several words.
func TestOwnWideKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 20 {
		rows := randomRows(r, 30, 10, 2)
		narrow, _ := rowsProblem(rows, 2, nil)
		wide := *narrow
		wide.Codes = nil
		for _, codes := range narrow.Codes {
			big := slices.Clone(codes)
			for i := range big {
				big[i] <<= 20
			}
			wide.Codes = append(wide.Codes, big)
		}
		want, err := Own(background, narrow, Options{})
		require.NoError(t, err)
		got, err := Own(background, &wide, Options{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestOwnInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	cancel()
	p, _ := rowsProblem(randomRows(rand.New(rand.NewPCG(1, 1)), 30, 4, 3), 2, nil)
	r, err := Own(ctx, p, Options{})
	require.NoError(t, err)
	assert.True(t, r.Interrupted)
	assert.Equal(t, r.AtRisk, r.Suppressed)
}
