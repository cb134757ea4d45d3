package bounds

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawTable makes a small base table.
func drawTable(t *rapid.T, most int64) (levels []int, table []int64) {
	levels = rapid.SampledFrom([][]int{{2, 2}, {2, 3}, {3, 3}, {2, 2, 2}, {2, 2, 3}, {4}, {1, 3, 2}}).Draw(t, "levels")
	n := 1
	for _, l := range levels {
		n *= l
	}
	for range n {
		table = append(table, rapid.Int64Range(0, most).Draw(t, "count"))
	}
	return levels, table
}

// drawMargin makes a margin of a table: exact, rounded about, or with one side open.
func drawMargin(t *rapid.T, r *Release, table []int64, variables []int, grouped bool, loose int64) Margin {
	m := Margin{Variables: variables}
	if grouped {
		m.Groups = make([][][]int, len(variables))
		for k, v := range variables {
			if l := r.Levels[v]; l > 2 && rapid.Bool().Draw(t, "merge") {
				at := rapid.IntRange(1, l-1).Draw(t, "at")
				all := everyCategory(l)
				m.Groups[k] = [][]int{all[at:], all[:at]}
				if rapid.IntRange(0, 5).Draw(t, "leave out") == 0 {
					m.Groups[k] = m.Groups[k][:1]
				}
			}
		}
	}
	size := 1
	for _, l := range r.shape(&m) {
		size *= l
	}
	m.Low, m.High = make([]int64, size), make([]int64, size)
	for c, to := range r.projection(&m) {
		if to >= 0 {
			m.Low[to] += table[c]
			m.High[to] += table[c]
		}
	}
	for i := range m.Low {
		m.Low[i] = max(0, m.Low[i]-rapid.Int64Range(0, loose).Draw(t, "below"))
		m.High[i] += rapid.Int64Range(0, loose).Draw(t, "above")
	}
	return m
}

// drawRelease makes margins of a table, one of which has all cells bounded; broken shifts one count, so that there may be no table.
func drawRelease(t *rapid.T) (*Release, []int64) {
	levels, table := drawTable(t, 2)
	r := &Release{Levels: levels}
	for range rapid.IntRange(1, 4).Draw(t, "margins") {
		var variables []int
		for _, v := range rapid.Permutation(everyCategory(len(levels))).Draw(t, "variables") {
			if rapid.Bool().Draw(t, "has it") {
				variables = append(variables, v)
			}
		}
		r.Margins = append(r.Margins, drawMargin(t, r, table, variables, rapid.Bool().Draw(t, "grouped"), rapid.Int64Range(0, 1).Draw(t, "loose")))
	}
	total := int64(0)
	for _, x := range table {
		total += x
	}
	r.Margins = append(r.Margins, exactly("total", nil, []int64{total}))
	if rapid.IntRange(0, 4).Draw(t, "broken") == 0 {
		m := &r.Margins[rapid.IntRange(0, len(r.Margins)-1).Draw(t, "which")]
		i := rapid.IntRange(0, len(m.Low)-1).Draw(t, "where")
		m.Low[i]++
		m.High[i] = max(m.High[i], m.Low[i])
	}
	return r, table
}

// trivial is the least upper bound of the rows a cell is in.
func trivial(sys *system) []int64 {
	high := make([]int64, sys.size)
	for c := range high {
		high[c] = NoLimit
	}
	for _, w := range sys.rows {
		for _, c := range w.cells {
			high[c] = min(high[c], w.high)
		}
	}
	return high
}

// All methods against plain enumeration: shuttle is between trivial and sharp bounds, everything that claims to be sharp is, and what
// cannot be is reported.
func TestMethodsAgainstEnumeration(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		r, _ := drawRelease(t)
		n, all, err := count(ctx, r, 300)
		require.NoError(t, err)
		if !all {
			return // too many to list them
		}
		tables := everyTable(t, r)
		require.Equal(t, int64(len(tables)), n)
		if len(tables) == 0 {
			for _, o := range []Options{{Tight: true}, {}} {
				var none *InfeasibleError
				for name, f := range map[string]func(context.Context, *Release, Options) (*Bounds, error){"tight": Shuttle, "sharp": Sharp, "of": Of} {
					if name == "tight" && !o.Tight {
						continue
					}
					_, err := f(ctx, r, o)
					require.ErrorAs(t, err, &none, name)
					require.Less(t, none.Margin, len(r.Margins))
				}
			}
			return
		}
		low, high := extremes(tables)
		sys, err := newSystem(context.Background(), r)
		require.NoError(t, err)
		basic, err := Shuttle(ctx, r, Options{})
		require.NoError(t, err)
		top := trivial(sys)
		for c := range low {
			require.LessOrEqual(t, basic.Low[c], low[c])
			require.GreaterOrEqual(t, basic.High[c], high[c])
			require.LessOrEqual(t, basic.High[c], top[c])
		}
		tight, err := Shuttle(ctx, r, Options{Tight: true})
		require.NoError(t, err)
		sharp, err := Sharp(ctx, r, Options{})
		require.NoError(t, err)
		of, err := Of(ctx, r, Options{})
		require.NoError(t, err)
		for name, b := range map[string]*Bounds{"tight": tight, "sharp": sharp, "of": of, "search": only(t, sys, false), "program": only(t, sys, true)} {
			require.True(t, b.Sharp, name)
			require.Equal(t, low, b.Low, name)
			require.Equal(t, high, b.High, name)
		}
		if l, h, ok := Frechet(context.Background(), r); ok {
			for c := range low {
				require.LessOrEqual(t, l[c], low[c])
				require.GreaterOrEqual(t, h[c], high[c])
			}
			if r.exact() {
				require.Equal(t, low, l)
				require.Equal(t, high, h)
			}
		}
	})
}

// only bounds by search or by programs alone.
func only(t require.TestingT, sys *system, programs bool) *Bounds {
	ctx := context.Background()
	net := newNetwork(sys, false)
	s, row := net.state(DefaultSteps)
	require.Equal(t, -1, row)
	out, _ := s.propagate(ctx)
	require.Equal(t, settled, out)
	sharp := make([]bool, sys.size)
	if programs {
		newProgram(sys, s, true, DefaultSteps).tighten(ctx, sharp)
	} else {
		net.tightenAll(ctx, s, sharp)
	}
	b := &Bounds{}
	b.take(s, sharp)
	return b
}

// Exact decomposable releases, with and without margins within others: closed formulas are sharp.
func TestFrechetIsSharp(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.SampledFrom([][]int{{2, 2, 2, 2}, {3, 2, 2}, {2, 3, 2, 2}}).Draw(t, "levels")
		n := 1
		for _, l := range levels {
			n *= l
		}
		table := make([]int64, n)
		for c := range table {
			table[c] = rapid.Int64Range(0, 6).Draw(t, "count")
		}
		r := &Release{Levels: levels}
		sets := rapid.SampledFrom([][][]int{{{0}, {1}, {2}}, {{0, 1}, {1, 2}}, {{0, 1}, {0, 2}, {1}}, {{0, 1}, {2}}, {{2}}, {{}}, {{2, 0, 1}}}).
			Draw(t, "cliques")
		if len(levels) == 4 {
			sets = rapid.SampledFrom([][][]int{{{0, 1}, {1, 2}, {2, 3}}, {{0, 1, 2}, {1, 2, 3}}, {{0, 1}, {0, 2}, {0, 3}}, {{1, 0, 2}, {3}, {}}, {{0}, {1}, {2, 3}}}).
				Draw(t, "larger cliques")
		}
		for _, s := range sets {
			r.Margins = append(r.Margins, drawMargin(t, r, table, s, false, 0))
		}
		low, high, ok := Frechet(context.Background(), r)
		require.True(t, ok)
		sharp, err := Sharp(ctx, r, Options{})
		require.NoError(t, err)
		require.True(t, sharp.Sharp)
		require.Equal(t, sharp.Low, low)
		require.Equal(t, sharp.High, high)
	})
}

// Releases that fall into parts which are no cliques.
func TestReducibleReleases(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		levels := []int{2, 2, 2, 2}
		table := make([]int64, 16)
		for c := range table {
			table[c] = rapid.Int64Range(0, 2).Draw(t, "count")
		}
		r := &Release{Levels: levels}
		for _, s := range [][]int{{0, 1}, {1, 2}, {0, 2}, rapid.SampledFrom([][]int{{2, 3}, {3}, {}}).Draw(t, "other part")} {
			r.Margins = append(r.Margins, drawMargin(t, r, table, s, false, 0))
		}
		b, err := Of(ctx, r, Options{})
		require.NoError(t, err)
		require.Equal(t, MethodIrreducible, b.Method)
		require.True(t, b.Sharp)
		sys, err := newSystem(context.Background(), r)
		require.NoError(t, err)
		s := only(t, sys, true)
		require.True(t, s.Sharp)
		require.Equal(t, s.Low, b.Low)
		require.Equal(t, s.High, b.High)
	})
}

// Stopped anywhere, bounds are valid, and nothing claims more than it knows.
func TestStoppedEarly(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		r, table := drawRelease(t)
		sys, err := newSystem(context.Background(), r)
		if err != nil || !sys.admits(table) {
			return
		}
		if _, all, err := count(ctx, r, 300); err == nil && !all {
			return
		}
		low, high := extremes(everyTable(t, r))
		o := Options{Steps: rapid.Int64Range(1, 300).Draw(t, "steps"), Tight: rapid.Bool().Draw(t, "tight")}
		for _, f := range []func(context.Context, *Release, Options) (*Bounds, error){Shuttle, Sharp, Of} {
			b, err := f(ctx, r, o)
			require.NoError(t, err)
			for c := range low {
				require.LessOrEqual(t, b.Low[c], low[c])
				require.GreaterOrEqual(t, b.High[c], high[c])
			}
			if b.Sharp {
				require.Equal(t, low, b.Low)
				require.Equal(t, high, b.High)
			}
			require.Equal(t, b.Sharp, b.Incomplete == 0)
		}
	})
}

func TestNoLimit(t *testing.T) {
	ctx := context.Background()
	r := &Release{Levels: []int{2, 2}, Margins: []Margin{
		{Variables: []int{0}, Low: []int64{3, 2}, High: []int64{NoLimit, 4}},
		{Variables: []int{1}, Low: []int64{0, 1}, High: []int64{NoLimit, 2}},
	}}
	for _, o := range []Options{{}, {Tight: true}} {
		for _, f := range []func(context.Context, *Release, Options) (*Bounds, error){Shuttle, Sharp, Of} {
			b, err := f(ctx, r, o)
			require.NoError(t, err)
			require.Equal(t, []int64{NoLimit, 2, 4, 2}, b.High)
			if b.Sharp {
				require.Equal(t, []int64{1, 0, 0, 0}, b.Low)
			}
		}
	}
	sys, err := newSystem(context.Background(), r)
	require.NoError(t, err)
	for _, b := range []*Bounds{only(t, sys, false), only(t, sys, true)} {
		require.True(t, b.Sharp)
		require.Equal(t, []int64{1, 0, 0, 0}, b.Low)
		require.Equal(t, []int64{math.MaxInt64, 2, 4, 2}, b.High)
	}
	_, _, err = count(ctx, r, 0)
	require.ErrorIs(t, err, ErrNoLimit)
}

// count counts the tables that have the released margins, up to most (0 for no limit): all is false if there may be more. A
// release without any has 0, and no error.
func count(ctx context.Context, r *Release, most int64) (n int64, all bool, err error) {
	n, all, err = Enumerate(ctx, r, most, func([]int64) bool { return true })
	var none *InfeasibleError
	if errors.As(err, &none) {
		return 0, true, nil
	}
	return n, all, err
}
