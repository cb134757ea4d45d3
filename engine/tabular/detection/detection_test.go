package detection

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The base table of Miller 2005, table 2.1.3.
var t0 = []Line{{23, 3, 37, 18}, {1, 15, 12, 119}, {54, 43, 8, 4}, {19, 16, 22, 10}}

func column(table []Line, j int) Line {
	var line Line
	for _, row := range table {
		line = append(line, row[j])
	}
	return line
}

func count(n int64) *Cell { return &Cell{Records: n, Contributors: n, Total: n} }

func below(table []Line, r MinFrequency) string {
	var list []string
	for i, row := range table {
		for j, n := range row {
			if Judge(count(n), []Rule{r}).Status == UnsafeFrequency {
				list = append(list, string(rune('A'+i))+string(rune('E'+j)))
			}
		}
	}
	return fmt.Sprint(list)
}

func TestMinFrequency(t *testing.T) { // TV-D5
	require.Equal(t, "[BE]", below(t0, MinFrequency{N: 3}))
	require.Equal(t, "[AF BE]", below(t0, MinFrequency{N: 3, Inclusive: true}))
	require.Equal(t, "[AF BE]", below(t0, MinFrequency{N: 4}))
	require.Equal(t, "[AF BE CH]", below(t0, MinFrequency{N: 5}))
	require.Equal(t, "[AF BE CG CH]", below(t0, MinFrequency{N: 10}))
	disease := []Line{{72, 12}, {75, 3}, {89, 1}}
	require.Equal(t, "[CF]", below(disease, MinFrequency{N: 3}))
	require.Equal(t, "[BF CF]", below(disease, MinFrequency{N: 4}))
	require.Equal(t, "[BF CF]", below(disease, MinFrequency{N: 5}))
	merged := []Line{{72, 12}, {164, 4}}
	require.Equal(t, "[]", below(merged, MinFrequency{N: 4}))
	require.Equal(t, "[BF]", below(merged, MinFrequency{N: 5}))
}

// Safe at n is safe at every smaller n.
func TestMinFrequencyFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := count(rapid.Int64Range(0, 30).Draw(t, "count"))
		n := rapid.Int64Range(2, 30).Draw(t, "n")
		if !Judge(c, []Rule{MinFrequency{N: n}}).Status.Primary() {
			require.False(t, Judge(c, []Rule{MinFrequency{N: n - 1}}).Status.Primary())
		}
	})
}

func TestMagnitudeRules(t *testing.T) { // 4.5
	const safe, unsafe, edge = "safe", "unsafe", "boundary"
	for _, c := range []struct {
		top          []int64
		s1, s2, s3   float64
		one, two, pq string
	}{
		{[]int64{50, 30, 12, 8}, 50, 80, 92, safe, safe, unsafe},
		{[]int64{80, 15, 3, 2}, 80, 95, 98, unsafe, unsafe, unsafe},
		{[]int64{50, 45, 3, 2}, 50, 95, 98, edge, unsafe, unsafe},
		{[]int64{60, 30, 5, 3, 2}, 60, 90, 95, safe, unsafe, unsafe},
		{[]int64{60, 20, 10, 7, 3}, 60, 80, 90, safe, safe, unsafe},
		{[]int64{30, 25, 15, 15, 15}, 30, 55, 70, safe, safe, safe},
		{[]int64{300, 40, 30, 20, 10}, 75, 85, 92.5, safe, edge, unsafe},
		{[]int64{60, 40}, 60, 100, 100, unsafe, unsafe, unsafe},
		{[]int64{100}, 100, 100, 100, unsafe, unsafe, unsafe},
	} {
		cell := &Cell{Records: int64(len(c.top)), Contributors: int64(len(c.top)), Top: c.top}
		for _, x := range c.top {
			cell.Total += x
		}
		verdict := func(open, closed Rule) string {
			switch a, b := open.Unsafe(cell), closed.Unsafe(cell); {
			case a && b:
				return unsafe
			case b:
				return edge
			case a:
				t.Fatal("the boundary is part of it")
			}
			return safe
		}
		require.Equal(t, c.one, verdict(Percent{P: 10, Coalition: 1}, Percent{P: 10, Coalition: 1, Inclusive: true}), "%v", c.top)
		require.Equal(t, c.two, verdict(Percent{P: 10, Coalition: 2}, Percent{P: 10, Coalition: 2, Inclusive: true}), "%v", c.top)
		require.Equal(t, c.pq, verdict(PriorPosterior{10, 15, 1, false}, PriorPosterior{10, 15, 1, true}), "%v", c.top)
		for n, share := range []float64{c.s1, c.s2, c.s3} {
			if share == 100 {
				require.True(t, Dominance{N: n + 1, K: 99.999999}.Unsafe(cell))
			} else {
				require.False(t, Dominance{N: n + 1, K: share}.Unsafe(cell), "%v", c.top)
				require.True(t, Dominance{N: n + 1, K: share, Inclusive: true}.Unsafe(cell), "%v", c.top)
				require.True(t, Dominance{N: n + 1, K: share - .000001}.Unsafe(cell), "%v", c.top)
				require.False(t, Dominance{N: n + 1, K: share + .000001, Inclusive: true}.Unsafe(cell), "%v", c.top)
			}
		}
	}
	// The hospital of five surgeons.
	hospital := &Cell{Records: 400, Contributors: 5, Total: 400, Top: []int64{300, 40, 30}}
	require.False(t, Dominance{N: 1, K: 75}.Unsafe(hospital))
	require.True(t, Dominance{N: 1, K: 70}.Unsafe(hospital))
}

// Rules are what exact fractions say, and an unsafe cell to which its level is added, by others, is safe.
func TestRulesAgainstFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		big62 := rapid.Bool().Draw(t, "large")
		top := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) int64 {
			if big62 {
				return rapid.Int64Range(0, 1<<58).Draw(t, "x")
			}
			return rapid.Int64Range(0, 60).Draw(t, "x")
		}), 1, 7).Draw(t, "top")
		slices.SortFunc(top, func(a, b int64) int { return int(max(-1, min(1, b-a))) })
		c := &Cell{Records: int64(len(top)), Contributors: int64(len(top)), Top: top}
		for _, x := range top {
			c.Total += x
		}
		p, q := float64(rapid.IntRange(1, 200).Draw(t, "p"))/2, float64(rapid.IntRange(1, 300).Draw(t, "q"))/2
		n, inclusive := rapid.IntRange(1, 4).Draw(t, "n"), rapid.Bool().Draw(t, "inclusive")
		fraction := func(v float64) *big.Rat { return new(big.Rat).Quo(new(big.Rat).SetFloat64(v), big.NewRat(100, 1)) }
		times := func(f *big.Rat, v int64) *big.Rat { return new(big.Rat).Mul(f, new(big.Rat).SetInt64(v)) }
		exceeds := func(a, b *big.Rat) bool { return a.Cmp(b) > 0 || inclusive && a.Cmp(b) == 0 }
		most, rest := int64(0), int64(0)
		for i, x := range top {
			if i < n {
				most += x
			}
			if i > n {
				rest += x
			}
		}
		require.Equal(t, exceeds(new(big.Rat).SetInt64(most), times(fraction(p), c.Total)), Dominance{n, p, inclusive}.Unsafe(c))
		pq := PriorPosterior{p, q, n, inclusive}
		require.Equal(t, exceeds(times(fraction(p), top[0]), times(fraction(q), rest)), pq.Unsafe(c))
		require.Equal(t, PriorPosterior{p, 100, n, inclusive}.Unsafe(c), Percent{p, n, inclusive}.Unsafe(c))
		if big62 {
			return
		}
		more := func(r Rule, by int64) *Cell { d := *c; d.Total += by; return &d }
		if r := (Dominance{n, p, false}); r.Unsafe(c) {
			level := r.Level(c)
			require.False(t, r.Unsafe(more(r, level)))
			require.True(t, level == 1 || r.Unsafe(more(r, level-1)), "less would not do")
		}
		if r := (Percent{p, n, false}); r.Unsafe(c) {
			level := r.Level(c)
			require.False(t, r.Unsafe(more(r, level)))
			require.True(t, level == 1 || r.Unsafe(more(r, level-1)))
		}
		if pq.Unsafe(c) { // p/100 x1 - q/100 R, rounded up
			want := new(big.Rat).Sub(times(fraction(p), top[0]), times(fraction(q), rest))
			level := new(big.Rat).SetInt64(pq.Level(c))
			require.True(t, level.Cmp(want) >= 0)
			require.True(t, pq.Level(c) == 1 || level.Sub(level, big.NewRat(1, 1)).Cmp(want) < 0)
		}
	})
}

func TestJudge(t *testing.T) {
	rules := []Rule{MinFrequency{N: 3, Range: 30}, Percent{P: 10, Coalition: 1}, Dominance{N: 3, K: 75}}
	require.Equal(t, Finding{Status: Empty}, Judge(&Cell{}, rules))
	require.Equal(t, Finding{Status: Zero}, Judge(&Cell{Records: 2, Contributors: 2, Top: []int64{0, 0}}, rules))
	require.Equal(t, Finding{Status: Safe}, Judge(&Cell{Records: 9, Contributors: 9, Total: 90, Top: []int64{10, 10, 10}}, rules))
	// 30 % of 100; 10 % of 60 less 0; 100/75 of 100 less 100
	require.Equal(
		t,
		Finding{Status: Unsafe, Rules: []int{0, 1, 2}, Lower: 34, Upper: 34},
		Judge(&Cell{Records: 2, Contributors: 2, Total: 100, Top: []int64{60, 40}}, rules),
	)
	require.Equal(t, Finding{Status: UnsafeFrequency, Rules: []int{0}, Lower: 1, Upper: 1}, Judge(count(1), rules[:1]))
	require.Equal(t, Finding{Status: UnsafeFrequency, Rules: []int{0}, Lower: 1, Upper: 1}, Judge(count(2), []Rule{MinFrequency{N: 3}}))
	require.Equal(
		t,
		[]string{
			"unsafe",
			"unsafe_frequency",
			"unsafe_manual",
			"unsafe_line",
			"safe",
			"safe_manual",
			"protected",
			"zero",
			"empty",
			"secondary",
			"secondary_manual",
		},
		statuses[1:],
	)
	for s := Unsafe; s <= SecondaryManual; s++ {
		require.Equal(t, s, StatusOf(s.String()))
		require.Equal(t, s <= UnsafeLine || s >= Secondary, s.Hidden())
	}
	require.Zero(t, StatusOf("unsure"))
}

func TestConcentration(t *testing.T) { // TV-D4
	failing := func(p float64, lines ...Line) string {
		var list []int
		for i, l := range lines {
			if (Concentration{p}).Category(l, nil) >= 0 {
				list = append(list, i)
			}
		}
		return fmt.Sprint(list)
	}
	columns := []Line{column(t0, 0), column(t0, 1), column(t0, 2), column(t0, 3)}
	require.Equal(t, "[1]", failing(70, t0...), "the columns' variable is unknown")
	require.Equal(t, "[1]", failing(80, t0...))
	require.Equal(t, "[]", failing(81, t0...))
	require.Equal(t, "[3]", failing(70, columns...), "the rows' variable is unknown")
	require.Equal(t, "[]", failing(80, columns...))
	require.Equal(t, "[0]", failing(80, Line{4, 1}))
	require.Equal(t, 3, Concentration{80}.Category(t0[1], []bool{false, false, false, true}))
	require.Equal(t, -1, Concentration{80}.Category(t0[1], []bool{true, true, true, false}))
	require.Equal(t, -1, Concentration{80}.Category(Line{0, 0}, nil))
	require.Equal(t, 1, Concentration{100}.Category(Line{0, 1}, nil))
}

// The shares of TV-D4, of lines both ways.
func TestSharesOfLines(t *testing.T) {
	rows := [][]float64{{28.40, 3.70, 45.68, 22.22}, {0.68, 10.20, 8.16, 80.95}, {49.54, 39.45, 7.34, 3.67}, {28.36, 23.88, 32.84, 14.93}}
	columns := [][]float64{{23.71, 3.90, 46.84, 11.92}, {1.03, 19.48, 15.19, 78.81}, {55.67, 55.84, 10.13, 2.65}, {19.59, 20.78, 27.85, 6.62}}
	for i, row := range t0 {
		for j := range row {
			sensitive := make([]bool, 4)
			sensitive[j] = true
			require.Equal(t, j, Concentration{rows[i][j] - .005}.Category(row, sensitive))
			require.Equal(t, -1, Concentration{rows[i][j] + .005}.Category(row, sensitive))
			sensitive = make([]bool, 4)
			sensitive[i] = true
			require.Equal(t, i, Concentration{columns[i][j] - .005}.Category(column(t0, j), sensitive))
			require.Equal(t, -1, Concentration{columns[i][j] + .005}.Category(column(t0, j), sensitive))
		}
	}
}

func TestContiguous(t *testing.T) { // 2.2, test vectors
	both := func(table []Line) (failing []string) {
		for i, row := range table {
			if !Contiguous(row) {
				failing = append(failing, fmt.Sprint("row ", i))
			}
		}
		for j := range table[0] {
			if !Contiguous(column(table, j)) {
				failing = append(failing, fmt.Sprint("column ", j))
			}
		}
		return failing
	}
	require.Equal(t, []string{"row 0", "column 1"}, both([]Line{{4, 1}, {14, 17}}), "T-A")
	require.Empty(t, both([]Line{{6, 2}, {20, 19}}), "T-B")
	require.Empty(t, both(t0), "T0")
	require.Equal(t, []string{"row 2"}, both([]Line{{72, 12}, {75, 3}, {89, 1}}), "T-DIS")
	require.Empty(t, both([]Line{{72, 12}, {164, 4}}), "T-DIS recoded")
	require.Empty(t, both([]Line{{7, 12}, {45, 32}, {2, 14}}), "T-BP")
	require.True(t, Contiguous(Line{0, 0}))
}

func TestAcrossCells(t *testing.T) { // 2.2, exact test vectors
	bands := []Band{{0, 16}, {17, 24}, {25, 35}}
	require.NoError(t, CheckBands(bands))
	for _, c := range []struct {
		line  Line
		p     float64
		c     int64
		fails bool
	}{
		{Line{12, 3, 1}, 30, 1, false}, {Line{12, 3, 1}, 30, 2, false}, {Line{12, 3, 1}, 40, 1, false}, {Line{12, 3, 1}, 40, 2, false},
		{Line{0, 3, 1}, 30, 1, true}, {Line{0, 3, 1}, 40, 1, true},
		{Line{0, 3, 2}, 30, 1, false}, {Line{0, 3, 2}, 30, 2, true}, {Line{0, 3, 2}, 40, 1, true},
		{Line{0, 5, 0}, 30, 1, true}, {Line{0, 5, 0}, 20, 1, true}, {Line{0, 0, 0}, 40, 2, false},
	} {
		require.Equal(t, c.fails, AcrossCells{c.p, c.c}.Ordered(c.line, bands) != nil, "%v", c)
	}
	require.Equal(t, &Break{1, 1, 1}, AcrossCells{40, 1}.Ordered(Line{0, 3, 1}, bands))
	require.Nil(t, AcrossCells{40, 1}.Ordered(Line{0, 0, 3}, []Band{{0, 16}, {17, 24}, {25, math.Inf(1)}}), "an open band is wide enough")
	require.Equal(t, &Break{1, 1, 1}, AcrossCells{40, 1}.Unordered(Line{1, 17}))
	require.Nil(t, AcrossCells{40, 1}.Unordered(Line{2, 17}))
	require.NotNil(t, AcrossCells{40, 2}.Unordered(Line{2, 17}))
	require.NotNil(t, AcrossCells{40, 1}.Unordered(Line{1}))
	for _, wrong := range [][]Band{{{3, 2}}, {{0, 5}, {4, 6}}, {{-1, 2}}, {{math.NaN(), 2}}, {{math.Inf(1), math.Inf(1)}}} {
		require.Error(t, CheckBands(wrong))
	}
}

// The windows of a line are all that a coalition can make of it: everybody is taken away who can be.
func TestAcrossCellsAgainstRemovals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := Line(rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 5).Draw(t, "line"))
		bands, at := make([]Band, len(line)), 0.0
		for i := range bands {
			at += float64(rapid.IntRange(0, 3).Draw(t, "gap"))
			bands[i].Low = at
			at += float64(rapid.IntRange(0, 20).Draw(t, "width"))
			bands[i].High = at
		}
		r := AcrossCells{float64(rapid.IntRange(1, 99).Draw(t, "p")), rapid.Int64Range(1, 3).Draw(t, "coalition")}
		fails, alike := false, false
		var remove func(i int, left int64, rest Line)
		remove = func(i int, left int64, rest Line) {
			if i == len(line) {
				if sum(rest) == 0 {
					return
				}
				first, last, kinds := -1, -1, 0
				for j, n := range rest {
					if n > 0 {
						if first < 0 {
							first = j
						}
						last = j
						kinds++
					}
				}
				// A point within p per cent of both ends is within p per cent of all between.
				low, high := bands[first].Low, bands[last].High
				if v := 100 * high / (100 + r.P); v*(100-r.P) <= 100*low*(1+1e-12) {
					fails = true
				}
				alike = alike || kinds == 1
				return
			}
			for n := int64(0); n <= min(left, line[i]); n++ {
				next := slices.Clone(rest)
				next[i] -= n
				remove(i+1, left-n, next)
			}
		}
		remove(0, r.Coalition, line)
		if low, high := bands[0].Low, bands[len(bands)-1].High; low+high > 0 {
			require.Equal(t, fails, r.Ordered(line, bands) != nil)
		}
		require.Equal(t, alike, r.Unordered(line) != nil)
	})
}

func TestFiguresOfRules(t *testing.T) {
	for _, r := range []Rule{MinFrequency{}, MinFrequency{N: 3, Range: -1}, Dominance{K: 75}, Dominance{N: 1}, Dominance{N: 1, K: 101}, Dominance{N: 1, K: math.NaN()},
		Percent{P: 10}, Percent{Coalition: 1}, Percent{P: 1e-7, Coalition: 1}, PriorPosterior{P: 10, Coalition: 1}, PriorPosterior{10, 15, 0, false}} {
		require.Error(t, r.Check(), "%#v", r)
	}
	for want, r := range map[string]Rule{
		"minimum frequency 3 (unsafe below 3)":                                                      MinFrequency{N: 3, Range: 30},
		"minimum frequency 3 (unsafe up to 3)":                                                      MinFrequency{N: 3, Inclusive: true},
		"dominance, n = 1, k = 75 (unsafe if the largest of a cell gave more than 75 % of it)":      Dominance{N: 1, K: 75},
		"dominance, n = 2, k = 70.5 (unsafe if the 2 largest of a cell gave at least 70.5 % of it)": Dominance{2, 70.5, true},
		"p% rule, p = 10": Percent{P: 10, Coalition: 1},
		"p,q rule, p = 10, q = 15, coalition of 2 (the boundary is unsafe)": PriorPosterior{10, 15, 2, true},
	} {
		require.NoError(t, r.Check())
		require.Equal(t, want, r.Name())
	}
	for _, r := range []interface{ Check() error }{AcrossCells{P: 40}, AcrossCells{Coalition: 1}, AcrossCells{P: 100, Coalition: 1}, Concentration{}, Concentration{P: 101}} {
		require.Error(t, r.Check())
	}
	require.Equal(t, 2, Percent{P: 10, Coalition: 1}.Needs())
}
