package attribution

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/bounds"
	"microrisk/engine/perturb"
)

func readColumn(t *testing.T, path string) []int64 {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	var list []int64
	for _, row := range rows[1:] {
		x, err := strconv.ParseInt(row[len(row)-1], 10, 64)
		require.NoError(t, err)
		list = append(list, x)
	}
	return list
}

// readReleases reads a case of several margins.
func readReleases(t *testing.T, dir string) (*Release, expectation) {
	var params struct {
		Variables []struct {
			Name   string
			Levels []string
		}
		Releases []struct {
			File      string
			Variables []string
			Scheme    scheme
		}
	}
	var want expectation
	for name, to := range map[string]any{"params.json": &params, "expected.json": &want} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, to))
	}
	r := &Release{Counts: readColumn(t, filepath.Join(dir, "table.csv"))}
	for _, v := range params.Variables {
		r.Published.Levels, r.Published.Names = append(r.Published.Levels, len(v.Levels)), append(r.Published.Names, v.Name)
	}
	for _, p := range params.Releases {
		var variables []int
		for _, v := range p.Variables {
			variables = append(variables, slices.Index(r.Published.Names, v))
		}
		m, kernel := bounds.Margin{Name: p.File, Variables: variables}, p.Scheme.kernel(t)
		for _, n := range readColumn(t, filepath.Join(dir, p.File)) {
			low, high, ok := kernel.Bounds(n)
			require.True(t, ok)
			m.Low, m.High = append(m.Low, low), append(m.High, high)
		}
		r.Published.Margins = append(r.Published.Margins, m)
	}
	return r, want
}

func TestMarginsConventional3(t *testing.T) {
	ctx := context.Background()
	r, want := readReleases(t, "testdata/sap-05-margins-conventional-3")
	got, err := r.SAP(ctx, upTo(want.N), ReleaseOptions{})
	require.NoError(t, err)
	require.True(t, got.Exact)
	require.True(t, got.Sharp)
	for n, p := range want.SAP {
		require.InDelta(t, p.Value, got.SAP[n], 1e-11, "SAP(%d)", n)
	}
	require.Zero(t, got.Samples)
	require.Equal(t, got.SAP, got.Low)
}

// ofTable is a single table with a total as a general release.
func ofTable(t *Table) *Release {
	r := &Release{Counts: t.Counts, Impossible: t.Impossible, Published: bounds.Release{Levels: []int{len(t.Counts)}}}
	r.Published.Margins = append(r.Published.Margins, bounds.Margin{Variables: []int{0}, Low: t.Lower, High: t.Upper})
	if t.TotalUpper != NoTotal {
		r.Published.Margins = append(r.Published.Margins, bounds.Margin{Low: []int64{0}, High: []int64{t.TotalUpper}})
	}
	return r
}

// Single tables with and without totals as general releases: what package attribution computes for them.
func TestReleasesAgreeWithTables(t *testing.T) {
	ctx := context.Background()
	compare := func(t require.TestingT, table *Table, o ReleaseOptions) *ReleaseResult {
		n := upTo(total(table) + 1)
		of, err := table.Check()
		require.NoError(t, err)
		want, err := of.SAP(ctx, n)
		require.NoError(t, err)
		expected, err := of.Expected(ctx, n)
		require.NoError(t, err)
		got, err := ofTable(table).SAP(ctx, n, o)
		require.NoError(t, err)
		require.True(t, got.Sharp)
		if !got.Exact {
			for k := range n {
				require.InDelta(t, want[k], got.SAP[k], 0.25)
			}
			return got
		}
		require.InDeltaSlice(t, want, got.SAP, 1e-12)
		require.InDeltaSlice(t, expected, got.Expected, 1e-11)
		for i := range table.Counts {
			cell, err := of.Cell(i, n)
			require.NoError(t, err)
			for k := range n {
				require.InDelta(t, cell[k], got.Cells[k][i], 1e-12)
			}
		}
		return got
	}
	for name, table := range map[string]*Table{
		"two cells published as 5 and 5, total as 0": {Counts: []int64{3, 1}, Lower: []int64{1, 1}, Upper: []int64{9, 9}, TotalUpper: 4},
		"3, 3, 1, 0 with base 5":                     {Counts: []int64{3, 3, 1, 0}, Lower: []int64{3, 3, 0, 0}, Upper: []int64{7, 7, 2, 2}, TotalUpper: 7},
	} {
		t.Run(name, func(t *testing.T) {
			got := compare(t, table, ReleaseOptions{})
			require.True(t, got.Exact)
			if len(table.Counts) == 2 {
				require.InDelta(t, 0.25, got.SAP[3], 1e-15)
				require.Equal(t, 1.0, got.SAP[4])
			} else {
				require.InDelta(t, 1.0/7, got.SAP[1], 1e-15)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		compare(t, table, ReleaseOptions{})
		compare(t, table, ReleaseOptions{Estimate: true, Samples: 200})
	})
}

// drawRelease makes a table of two or three variables, some of whose margins are published by different schemes.
func drawRelease(t *rapid.T) *Release {
	levels := rapid.SampledFrom([][]int{{2, 2}, {2, 3}, {2, 2, 2}}).Draw(t, "levels")
	r := &Release{Published: bounds.Release{Levels: levels}}
	cells := r.Published.Cells()
	for range cells {
		r.Counts = append(r.Counts, rapid.Int64Range(0, 2).Draw(t, "count"))
	}
	kernels := []perturb.Kernel{perturb.None(), made(perturb.Conventional(3, "")), made(perturb.Random(3)), made(perturb.Barnard(0.5))}
	for range rapid.IntRange(1, 4).Draw(t, "margins") {
		m := bounds.Margin{}
		for v := range levels {
			if rapid.Bool().Draw(t, "has it") {
				m.Variables = append(m.Variables, v)
			}
		}
		grouped := slices.Contains(m.Variables, 1) && levels[1] == 3 && rapid.Bool().Draw(t, "grouped")
		sums := map[int]int64{}
		size := 1
		for _, v := range m.Variables {
			g := [][]int(nil)
			if grouped && v == 1 {
				g = [][]int{{0, 2}, {1}}
				size *= 2
			} else {
				size *= levels[v]
			}
			m.Groups = append(m.Groups, g)
		}
		for c, x := range r.Counts {
			at, rest := make([]int, len(levels)), c
			for v := len(levels) - 1; v >= 0; v-- {
				at[v], rest = rest%levels[v], rest/levels[v]
			}
			to := 0
			for _, v := range m.Variables {
				switch {
				case grouped && v == 1:
					to = to*2 + at[v]%2
				default:
					to = to*levels[v] + at[v]
				}
			}
			sums[to] += x
		}
		k := rapid.SampledFrom(kernels).Draw(t, "scheme")
		for i := range size {
			j := perturb.Draw(k, sums[i], rapid.Float64Range(0, 0.999).Draw(t, "u"))
			low, high, ok := k.Bounds(j)
			require.True(t, ok)
			m.Low, m.High = append(m.Low, low), append(m.High, high)
		}
		r.Published.Margins = append(r.Published.Margins, m)
	}
	if rapid.Bool().Draw(t, "with impossible cells") {
		r.Impossible = make([]bool, cells)
		for i, c := range r.Counts {
			r.Impossible[i] = c == 0 && rapid.Bool().Draw(t, "impossible")
		}
	}
	return r
}

// releaseByBrute has SAP for each n by listing all tables and all known people; ok is false if there are too many tables.
func releaseByBrute(t require.TestingT, r *Release) (sap []*big.Rat, cells [][]*big.Rat, ok bool) {
	published, err := r.withImpossible(context.Background())
	require.NoError(t, err)
	var tables [][]int64
	_, all, err := bounds.Enumerate(context.Background(), published, 3000, func(x []int64) bool {
		tables = append(tables, slices.Clone(x))
		return true
	})
	if err != nil || !all {
		return nil, nil, false
	}
	total := int64(0)
	for _, c := range r.Counts {
		total += c
	}
	everyone := everyKnown(r.Counts)
	for n := range total + 1 {
		sum, parts := new(big.Rat), make([]*big.Rat, len(r.Counts))
		for i := range parts {
			parts[i] = new(big.Rat)
		}
		for _, s := range everyone[n] {
			p := new(big.Rat).SetFrac(s.ways, new(big.Int).Binomial(total, n))
			some := false
			for i, c := range r.Counts {
				if s.counts[i] != c || r.Impossible != nil && r.Impossible[i] {
					continue
				}
				if !slices.ContainsFunc(tables, func(x []int64) bool { return x[i] > c && within(s.counts, x) }) {
					some = true
					parts[i].Add(parts[i], p)
				}
			}
			if some {
				sum.Add(sum, p)
			}
		}
		sap, cells = append(sap, sum), append(cells, parts)
	}
	return sap, cells, true
}

// Any margins and schemes against plain enumeration; estimates against exact figures.
func TestReleasesAgainstEnumeration(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRelease(t)
		want, cells, ok := releaseByBrute(t, r)
		if !ok {
			return
		}
		n := upTo(int64(len(want) - 1))
		got, err := r.SAP(ctx, n, ReleaseOptions{})
		require.NoError(t, err)
		require.True(t, got.Exact)
		require.True(t, got.Sharp)
		estimated, err := r.SAP(ctx, n, ReleaseOptions{Estimate: true, Samples: 400, Confidence: 1 - 1e-6, Workers: 2})
		require.NoError(t, err)
		require.True(t, estimated.Sharp)
		for k := range n {
			near(t, want[k], got.SAP[k], "SAP(%d)", k)
			for i, p := range cells[k] {
				near(t, p, got.Cells[k][i], "cell %d, n = %d", i, k)
			}
			p, _ := want[k].Float64()
			require.LessOrEqual(t, estimated.Low[k], p+1e-9)
			require.GreaterOrEqual(t, estimated.High[k], p-1e-9)
			require.LessOrEqual(t, estimated.BandLow[k], p+1e-9)
			require.GreaterOrEqual(t, estimated.BandHigh[k], p-1e-9)
		}
	})
}

// Estimates are the same for any number of workers, and differ by seed.
func TestEstimatesAreReproducible(t *testing.T) {
	ctx := context.Background()
	r := ofTable(&Table{Counts: []int64{3, 1, 4, 2}, Lower: []int64{1, 1, 2, 0}, Upper: []int64{9, 9, 10, 8}, TotalUpper: 10})
	o := ReleaseOptions{Estimate: true, Samples: 1000, Workers: 1}
	one, err := r.SAP(ctx, upTo(10), o)
	require.NoError(t, err)
	require.False(t, one.Exact)
	require.Equal(t, 1000, one.Samples)
	for workers := 2; workers < 5; workers++ {
		o.Workers = workers
		again, err := r.SAP(ctx, upTo(10), o)
		require.NoError(t, err)
		require.Equal(t, one, again)
	}
	o.Seed = 2
	other, err := r.SAP(ctx, upTo(10), o)
	require.NoError(t, err)
	require.NotEqual(t, one.SAP, other.SAP)
	exact, err := r.SAP(ctx, upTo(10), ReleaseOptions{})
	require.NoError(t, err)
	require.True(t, exact.Exact)
	for n := range exact.SAP {
		require.LessOrEqual(t, one.BandLow[n], exact.SAP[n])
		require.GreaterOrEqual(t, one.BandHigh[n], exact.SAP[n])
	}
	some, err := r.SAP(ctx, []int64{9, 99}, o) // asked for in any way, the figures are the same
	require.NoError(t, err)
	require.Equal(t, []float64{other.SAP[9], other.SAP[10]}, some.SAP)
}

func TestReleaseRefusals(t *testing.T) {
	good := func() *Release {
		return ofTable(&Table{Counts: []int64{1, 2}, Lower: []int64{0, 0}, Upper: []int64{3, 3}, TotalUpper: NoTotal})
	}
	ctx, cancel := context.WithCancel(context.Background())
	for want, change := range map[string]func(r *Release, o *ReleaseOptions){
		"cell 0 has a count of -1":            func(r *Release, _ *ReleaseOptions) { r.Counts = []int64{-1, 2} },
		"does not have the released margins":  func(r *Release, _ *ReleaseOptions) { r.Counts = []int64{1, 4} },
		"the counts add up to more":           func(r *Release, _ *ReleaseOptions) { r.Counts = []int64{1 << 62, 1 << 62} },
		"2 counts and 1 marks":                func(r *Release, _ *ReleaseOptions) { r.Impossible = []bool{true} },
		"cell 1 is impossible, and its count": func(r *Release, _ *ReleaseOptions) { r.Impossible = []bool{false, true} },
		"there is no variable 7":              func(r *Release, _ *ReleaseOptions) { r.Published.Margins[0].Variables = []int{7} },
		"the confidence is 1":                 func(_ *Release, o *ReleaseOptions) { o.Confidence = 1 },
		"-1 samples":                          func(_ *Release, o *ReleaseOptions) { o.Samples = -1 },
	} {
		r, o := good(), ReleaseOptions{}
		change(r, &o)
		_, err := r.SAP(ctx, []int64{1}, o)
		require.ErrorContains(t, err, want)
	}
	_, err := good().SAP(ctx, []int64{-1}, ReleaseOptions{})
	require.ErrorContains(t, err, "-1 people cannot be known")
	cancel()
	_, err = good().SAP(ctx, []int64{1}, ReleaseOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

// larger is a table with rounded margins that is no network: three variables, all three two-way margins.
func larger() *Release {
	r := &Release{Published: bounds.Release{Levels: []int{4, 3, 3}}}
	for c := range 36 {
		r.Counts = append(r.Counts, int64(c*7919%5))
	}
	k := made(perturb.Conventional(3, ""))
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		l := r.Published.Levels
		sums := make([]int64, l[pair[0]]*l[pair[1]])
		for c, x := range r.Counts {
			at := [3]int{c / 9, c / 3 % 3, c % 3}
			sums[at[pair[0]]*l[pair[1]]+at[pair[1]]] += x
		}
		m := bounds.Margin{Variables: pair[:]}
		for _, x := range sums {
			low, high, _ := k.Bounds(perturb.Draw(k, x, 0))
			m.Low, m.High = append(m.Low, low), append(m.High, high)
		}
		r.Published.Margins = append(r.Published.Margins, m)
	}
	return r
}

func BenchmarkReleaseExact(b *testing.B) {
	r := ofTable(&Table{Counts: []int64{3, 1, 4, 2, 0, 1}, Lower: []int64{1, 1, 2, 0, 0, 0}, Upper: []int64{9, 9, 10, 8, 4, 4}, TotalUpper: 11})
	for b.Loop() {
		if _, err := r.SAP(context.Background(), upTo(11), ReleaseOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReleaseEstimate(b *testing.B) {
	r := ofTable(&Table{Counts: []int64{3, 1, 4, 2, 0, 1}, Lower: []int64{1, 1, 2, 0, 0, 0}, Upper: []int64{9, 9, 10, 8, 4, 4}, TotalUpper: 11})
	for b.Loop() {
		if _, err := r.SAP(context.Background(), upTo(11), ReleaseOptions{Estimate: true, Samples: 1000}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReleaseOfThreeMargins(b *testing.B) {
	r := larger()
	for b.Loop() {
		got, err := r.SAP(context.Background(), []int64{5, 20, 60}, ReleaseOptions{Samples: 256})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(got.Questions), "questions/op")
	}
}
