package bounds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/perturb"
)

// rounded3 is the worked example of Smith 2011: 3 x 3, conventionally rounded to base 3, with margins and the grand total.
func rounded3(t testing.TB) *Release {
	k, err := perturb.Conventional(3, "")
	require.NoError(t, err)
	r := &Release{Levels: []int{3, 3}, Names: []string{"row", "column"}}
	for _, m := range []struct {
		name      string
		variables []int
		counts    []int64
	}{
		{"table", []int{0, 1}, []int64{0, 3, 0, 3, 0, 0, 3, 3, 0}},
		{"rows", []int{0}, []int64{3, 3, 6}},
		{"columns", []int{1}, []int64{9, 6, 0}},
		{"total", nil, []int64{12}},
	} {
		margin, err := publishedBy(m.name, m.variables, m.counts, k)
		require.NoError(t, err)
		r.Margins = append(r.Margins, margin)
	}
	return r
}

func TestWorkedExampleRoundedToBase3(t *testing.T) {
	ctx := context.Background()
	r := rounded3(t)
	cells := &Release{Levels: r.Levels, Margins: r.Margins[:1]}
	trivial, err := Sharp(ctx, cells, Options{})
	require.NoError(t, err)
	require.Equal(t, []int64{0, 2, 0, 2, 0, 0, 2, 2, 0}, trivial.Low)
	require.Equal(t, []int64{1, 4, 1, 4, 1, 1, 4, 4, 1}, trivial.High)
	truth := []int64{1, 3, 0, 4, 0, 0, 3, 2, 0}
	for name, o := range map[string]Options{"tight": {Tight: true}, "": {}} {
		f := Sharp
		if name == "tight" {
			f = Shuttle
		}
		b, err := f(ctx, r, o)
		require.NoError(t, err)
		require.True(t, b.Sharp)
		require.Equal(t, []int64{0, 2, 0, 3, 0, 0, 3, 2, 0}, b.Low)
		require.Equal(t, []int64{1, 3, 0, 4, 1, 0, 4, 3, 0}, b.High)
		zeros := 0
		for c, x := range truth {
			if x == 0 && b.High[c] == 0 {
				zeros++
			}
		}
		require.Equal(t, 3, zeros, "three of the four zeros come back")
	}
}

func TestRefusals(t *testing.T) {
	for want, r := range map[string]*Release{
		"no margin was released":              {Levels: []int{2}},
		"1 names for 2 variables":             {Levels: []int{2, 2}, Names: []string{"A"}},
		"variable 0 has 0 categories":         {Levels: []int{0}},
		"more than 16777216 cells":            {Levels: []int{1 << 20, 1 << 20}},
		"margin x: there is no variable 3":    {Levels: []int{2}, Margins: []Margin{{Name: "x", Variables: []int{3}}}},
		"margin 0: variable 0 is named twice": {Levels: []int{2}, Margins: []Margin{{Variables: []int{0, 0}}}},
		"1 lower and 2 upper bounds": {
			Levels: []int{2}, Margins: []Margin{{Variables: []int{0}, Low: []int64{1}, High: []int64{1, 2}}},
		},
		"variable 0 = 1: a bound of -2": {
			Levels: []int{2}, Margins: []Margin{{Variables: []int{0}, Low: []int64{0, -2}, High: []int64{1, 2}}},
		},
		"the lower bound 3 is above the upper one": {
			Levels: []int{2}, Margins: []Margin{{Variables: []int{0}, Low: []int64{3, 0}, High: []int64{1, 2}}},
		},
		"the counts add up to more than": {Levels: []int{2}, Margins: []Margin{exactly("", []int{0}, []int64{1 << 53, 1})}},
		"groups for 1 variables, and 0":  {Levels: []int{2}, Margins: []Margin{{Groups: [][][]int{{{0}}}}}},
		"category 1 of variable 0 is in two": {
			Levels: []int{2}, Margins: []Margin{{Variables: []int{0}, Groups: [][][]int{{{0, 1}, {1}}}}},
		},
		"group 0 of variable 0 has a category 2": {Levels: []int{2}, Margins: []Margin{{Variables: []int{0}, Groups: [][][]int{{{2}}}}}},
		"group 1 of variable 0 is empty": {
			Levels: []int{2}, Margins: []Margin{{Variables: []int{0}, Groups: [][][]int{{{0}, {}}}}},
		},
		"variable 0 has no groups": {Levels: []int{2}, Margins: []Margin{{Variables: []int{0}, Groups: [][][]int{{}}}}},
		"of the total, which both have, the first has 4, the second 3": {
			Levels: []int{2, 2}, Margins: []Margin{exactly("A", []int{0}, []int64{1, 2}), exactly("B", []int{1}, []int64{2, 2})},
		},
		"the first has at least 7, the second 3": {
			Levels: []int{2}, Margins: []Margin{exactly("A", []int{0}, []int64{1, 2}), {Name: "N", Low: []int64{7}, High: []int64{NoLimit}}},
		},
		"of variable 0 = 0, which both have, the first has 3, the second 2": {
			Levels: []int{2, 2}, Margins: []Margin{exactly("A", []int{0}, []int64{2, 1}), exactly("AB", []int{1, 0}, []int64{2, 1, 1, 1})},
		},
	} {
		require.ErrorContains(t, r.Check(context.Background()), want)
		_, _, ok := Frechet(context.Background(), r)
		require.False(t, ok)
		for _, f := range []func(context.Context, *Release, Options) (*Bounds, error){Shuttle, Sharp, Of} {
			_, err := f(context.Background(), r, Options{})
			require.ErrorContains(t, err, want)
		}
	}
}

func must(k perturb.Kernel, err error) perturb.Kernel {
	if err != nil {
		panic(err)
	}
	return k
}

// All pairs of sums agree, and still there is no table: the margin and the cell that break are named.
func TestContradictionsAreNamed(t *testing.T) {
	ctx := context.Background()
	ones := []int64{1, 0, 0, 1}
	r := &Release{Levels: []int{2, 2, 2}, Names: []string{"A", "B", "C"}, Margins: []Margin{
		exactly("AB", []int{0, 1}, ones), exactly("AC", []int{0, 2}, ones), exactly("BC", []int{1, 2}, []int64{0, 1, 1, 0}),
	}}
	require.NoError(t, r.Check(context.Background()))
	for _, f := range []func(context.Context, *Release, Options) (*Bounds, error){Shuttle, Sharp, Of} {
		_, err := f(ctx, r, Options{})
		var none *InfeasibleError
		require.ErrorAs(t, err, &none)
		require.GreaterOrEqual(t, none.Margin, 0)
		require.Len(t, none.Cell, 2)
		require.Contains(t, none.Error(), "margin "+r.Margins[none.Margin].Name)
	}
	// As a network: a row of four takes more than its columns can hold, though any two margins agree.
	r = &Release{Levels: []int{2, 2}, Names: []string{"A", "B"}, Margins: []Margin{
		{Name: "cells", Variables: []int{0, 1}, Low: []int64{0, 0, 0, 0}, High: []int64{1, 9, 9, 1}},
		exactly("A", []int{0}, []int64{5, 1}), exactly("B", []int{1}, []int64{3, 3}),
	}}
	require.NoError(t, r.Check(context.Background()))
	_, err := Sharp(ctx, r, Options{})
	require.EqualError(t, err, "no table has these margins: margin A, A = 0: by the others it would be at least 5 and at most 4")
}

func TestContextsAndDeadlines(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := cube(6, 3)
	for name, f := range map[string]func(context.Context, *Release, Options) (*Bounds, error){"shuttle": Shuttle, "sharp": Sharp, "of": Of} {
		_, err := f(ctx, r, Options{})
		require.ErrorIs(t, err, context.Canceled, name)
		b, err := f(context.Background(), r, Options{Deadline: time.Unix(1, 0)})
		require.NoError(t, err, name)
		for c, x := range b.Low {
			require.LessOrEqual(t, x, b.High[c])
		}
	}
}

// cube is a table of k by k by k cells with all its two-way margins.
func cube(k int, most int64) *Release {
	random := rand.New(rand.NewPCG(1, uint64(k)))
	r := &Release{Levels: []int{k, k, k}}
	table := make([]int64, k*k*k)
	for c := range table {
		table[c] = max(0, random.Int64N(most+3)-2)
	}
	for _, pair := range [][]int{{0, 1}, {0, 2}, {1, 2}} {
		m := Margin{Variables: pair, Low: make([]int64, k*k)}
		for c, to := range r.projection(&m) {
			m.Low[to] += table[c]
		}
		m.High = m.Low
		r.Margins = append(r.Margins, m)
	}
	return r
}

// square is a table of k by k cells rounded to base 3, with margins and total.
func square(k int) *Release {
	random := rand.New(rand.NewPCG(2, uint64(k)))
	r := &Release{Levels: []int{k, k}}
	table := make([]int64, k*k)
	for c := range table {
		table[c] = max(0, random.Int64N(12)-3)
	}
	scheme := must(perturb.Conventional(3, ""))
	for _, set := range [][]int{{0, 1}, {0}, {1}, {}} {
		m := Margin{Variables: set}
		size := 1
		for range set {
			size *= k
		}
		sums := make([]int64, size)
		for c, to := range r.projection(&m) {
			sums[to] += table[c]
		}
		for i, x := range sums {
			sums[i] = perturb.Draw(scheme, x, 0)
		}
		m, err := publishedBy("", set, sums, scheme)
		if err != nil {
			panic(err)
		}
		r.Margins = append(r.Margins, m)
	}
	return r
}

func ExampleOf() {
	r := &Release{Levels: []int{2, 3}, Margins: []Margin{
		exactly("A", []int{0}, []int64{4, 5}),
		exactly("B", []int{1}, []int64{3, 2, 4}),
		{Name: "one cell", Variables: []int{0, 1}, Groups: [][][]int{{{0}}, {{2}}}, Low: []int64{3}, High: []int64{3}},
	}}
	b, err := Of(context.Background(), r, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Low, b.High, b.Sharp, b.Method)
	// Output: [0 0 3 2 1 1] [1 1 3 3 2 1] true flow
}

func BenchmarkShuttle(b *testing.B) {
	for _, k := range []int{3, 5, 10} {
		r := cube(k, 5)
		b.Run(fmt.Sprintf("cube%d", k), func(b *testing.B) {
			for b.Loop() {
				if _, err := Shuttle(context.Background(), r, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSharp(b *testing.B) {
	for name, r := range map[string]*Release{"cube3": cube(3, 5), "cube5": cube(5, 5), "cube10": cube(10, 5), "square10": square(10), "square50": square(50)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				got, err := Sharp(context.Background(), r, Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(got.Incomplete), "unproven")
			}
		})
	}
}

func BenchmarkEnumerate(b *testing.B) {
	r := &Release{Levels: []int{4, 4}, Margins: []Margin{exactly("", []int{0}, []int64{2, 3, 2, 1}), exactly("", []int{1}, []int64{2, 1, 3, 2})}}
	for b.Loop() {
		n, _, err := count(context.Background(), r, 0)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n), "tables")
	}
}

func BenchmarkProber(b *testing.B) {
	r := square(10)
	var table []int64
	if _, _, err := Enumerate(context.Background(), r, 1, func(x []int64) bool { table = append(table, x...); return false }); err != nil {
		b.Fatal(err)
	}
	p, err := NewProber(context.Background(), r, table, 0)
	if err != nil {
		b.Fatal(err)
	}
	least := make([]int64, len(table))
	for i := 0; b.Loop(); i++ {
		p.Exceeds(context.Background(), i%len(table), least)
	}
}

// Two margins are compared until the context ends.
func TestCheckStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := &Release{Levels: []int{2}, Margins: []Margin{exactly("a", []int{0}, []int64{1, 2}), exactly("b", []int{0}, []int64{1, 2})}}
	require.ErrorIs(t, r.Check(ctx), context.Canceled)
	_, _, ok := Frechet(ctx, r)
	require.False(t, ok)
}

// exactly is a margin published as it is.
func exactly(name string, variables []int, counts []int64) Margin {
	return Margin{Name: name, Variables: variables, Low: counts, High: counts}
}

// publishedBy is a margin whose cells were perturbed one by one. The error names a count that the scheme never publishes.
func publishedBy(name string, variables []int, counts []int64, scheme perturb.Kernel) (Margin, error) {
	m := Margin{Name: name, Variables: variables, Low: make([]int64, len(counts)), High: make([]int64, len(counts))}
	for i, j := range counts {
		low, high, ok := scheme.Bounds(j)
		if !ok {
			return Margin{}, fmt.Errorf("margin %s, cell %d: %s never publishes a count of %d", name, i, scheme.Name(), j)
		}
		m.Low[i], m.High[i] = low, high
	}
	return m, nil
}
