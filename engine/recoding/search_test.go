package recoding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/recoding"
)

// randomLattice has three or four variables with random nested levels, and at most forty classes with a sensitive value.
func randomLattice(r *rand.Rand) (variables []recoding.Variable, codes [][]uint32, counts []int64, sensitive []uint32) {
	for v := range 3 + r.IntN(2) {
		n := 2 + r.IntN(6)
		level := recoding.Level{}
		for c := range n {
			level.Group = append(level.Group, uint32(c))
		}
		if r.IntN(2) == 0 { // values that the file lacks
			for range n {
				level.Size = append(level.Size, 1+r.IntN(2))
			}
		}
		x := recoding.Variable{Name: fmt.Sprint(v), Weight: float64(1 + r.IntN(3)), Levels: []recoding.Level{level}}
		groups := n
		for groups > 1 {
			next := max(1, groups/2+r.IntN(2)*(groups-groups/2-1))
			to := make([]uint32, groups)
			for g := range to {
				if to[g] = uint32(r.IntN(next)); g < next {
					to[g] = uint32(g)
				}
			}
			below := x.Levels[len(x.Levels)-1]
			up := recoding.Level{}
			if below.Size != nil {
				up.Size = make([]int, next)
				for g, size := range below.Size {
					up.Size[to[g]] += size
				}
			}
			for _, g := range below.Group {
				up.Group = append(up.Group, to[g])
			}
			x.Levels = append(x.Levels, up)
			groups = next
		}
		x.Most = len(x.Levels) - 1
		if r.IntN(4) == 0 && x.Most > 0 {
			x.Least = r.IntN(2)
		}
		variables = append(variables, x)
	}
	codes = make([][]uint32, len(variables))
	for range 5 + r.IntN(36) {
		for v := range variables {
			codes[v] = append(codes[v], uint32(r.IntN(len(variables[v].Levels[0].Group))))
		}
		counts, sensitive = append(counts, int64(1+r.IntN(3))), append(sensitive, uint32(r.IntN(3)))
	}
	return variables, codes, counts, sensitive
}

// every goes through all nodes.
func every(variables []recoding.Variable, take func(n recoding.Node)) {
	n := make(recoding.Node, len(variables))
	var from func(v int)
	from = func(v int) {
		if v == len(variables) {
			take(slices.Clone(n))
			return
		}
		for l := variables[v].Least; l <= variables[v].Most; l++ {
			n[v] = uint8(l)
			from(v + 1)
		}
	}
	from(0)
}

// counted is the classes of a node, counted anew from the rows.
func counted(variables []recoding.Variable, codes [][]uint32, counts []int64, sensitive []uint32, n recoding.Node) map[string]*recoding.Class {
	classes := map[string]*recoding.Class{}
	shares := map[string]map[uint32]int64{}
	for i, f := range counts {
		key := ""
		for v := range variables {
			key += fmt.Sprint(variables[v].Levels[n[v]].Group[codes[v][i]], " ")
		}
		if classes[key] == nil {
			classes[key], shares[key] = &recoding.Class{}, map[uint32]int64{}
		}
		classes[key].Records += f
		shares[key][sensitive[i]] += f
	}
	for key, c := range classes {
		for v, f := range shares[key] {
			c.Values = append(c.Values, recoding.Share{Value: v, Records: f})
		}
	}
	return classes
}

// Searches find what going through all nodes does, for every loss and rule.
func TestSearchIsBruteForce(t *testing.T) {
	losses := []recoding.Loss{recoding.Cells{}, recoding.Cells{Spread: true}, recoding.Height{}, recoding.Precision{}, recoding.Granularity{},
		recoding.Granularity{Way: recoding.Mean, Tilt: -.3}, recoding.Granularity{Way: recoding.Rank, Tilt: .2}, recoding.Entropy{},
		recoding.Entropy{Kept: true}, recoding.Discernibility{}, recoding.Discernibility{All: true}, recoding.ClassSize{}, recoding.Divergence{}}
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 3))
		variables, codes, counts, sensitive := randomLattice(r)
		l, err := recoding.NewSensitive(variables, codes, counts, sensitive, 3)
		require.NoError(t, err)
		rules := []recoding.Rule{recoding.K(2), recoding.K(4), recoding.Uniques(int64(r.IntN(4))), recoding.MeanRisk(.3), recoding.DIS(.2, .1),
			recoding.Distinct(2), recoding.EntropyOf(1.8), recoding.Recursive(2, 2), recoding.All(recoding.K(2), recoding.Distinct(2), recoding.Uniques(0))}
		rule, loss := rules[r.IntN(len(rules))], losses[int(seed)%len(losses)]
		o := recoding.Options{Rule: rule, Loss: loss, Alternatives: r.IntN(3), Suppressed: []int64{0, 0, 3, l.Records}[r.IntN(4)]}
		var best []recoding.Release
		every(variables, func(n recoding.Node) {
			suppressed, uniques := int64(0), int64(0)
			for _, c := range counted(variables, codes, counts, sensitive, n) {
				if rule.Safe != nil && !rule.Safe(*c) {
					suppressed += c.Records
				} else if c.Records == 1 {
					uniques++
				}
			}
			out, err := l.Outcome(n, rule.Safe)
			require.NoError(t, err)
			require.Equal(t, suppressed, out.Suppressed)
			require.Equal(t, uniques, out.Uniques)
			require.Equal(t, l.Records, out.Records+out.Suppressed)
			if suppressed > o.Suppressed {
				return
			}
			if rule.Of != nil {
				x, err := rule.Of(l, out)
				require.NoError(t, err)
				if x > rule.Limit*(1+1e-12) {
					return
				}
			}
			best = append(best, recoding.Release{Outcome: out, Loss: loss.Of(l, out)})
			for i, b := range loss.Bound(l, n) {
				require.LessOrEqual(t, b, best[len(best)-1].Loss[i]+1e-9, "%s bounds", loss.Name())
				if loss.Name() == "granularity" {
					break // of the vector only the first is a bound
				}
			}
		})
		minimal := slices.DeleteFunc(slices.Clone(best), func(a recoding.Release) bool {
			return slices.ContainsFunc(best, func(b recoding.Release) bool {
				return !slices.Equal(a.Node, b.Node) && b.Node.Finer(a.Node) && less(b.Loss, a.Loss) <= 0
			})
		})
		found, err := l.Search(t.Context(), o)
		require.NoError(t, err)
		name := fmt.Sprintf("seed %d: %s, %s, %d", seed, rule.Name, loss.Name(), o.Suppressed)
		if len(best) == 0 {
			require.Empty(t, found.Best, name)
			require.NotNil(t, found.Nearest)
			continue
		}
		require.True(t, found.Proven, name)
		slices.SortFunc(minimal, func(a, b recoding.Release) int { return less(a.Loss, b.Loss) })
		require.Equal(t, min(o.Alternatives+1, len(minimal)), len(found.Best), name)
		for i, b := range found.Best {
			require.InDeltaSlice(t, minimal[i].Loss, b.Loss, 1e-9, name)
		}
		require.InDeltaSlice(t, found.Best[0].Loss, found.Bound, 1e-12)
		require.Zero(t, found.Gap())

		again, err := l.Search(t.Context(), o) // tables of the first search are there already
		require.NoError(t, err)
		require.Equal(t, len(found.Best), len(again.Best))
		for i := range again.Best {
			require.Equal(t, found.Best[i].Node, again.Best[i].Node)
		}
		for _, checks := range []int{1, 3, 10} {
			o.Checks = checks
			early, err := l.Search(t.Context(), o)
			require.NoError(t, err)
			require.LessOrEqual(t, early.Bound[0], found.Bound[0]*(1+1e-9)+1e-12, name)
			if len(early.Best) > 0 {
				require.GreaterOrEqual(t, less(early.Best[0].Loss, found.Best[0].Loss), 0, name)
			}
		}
	}
}

func less(a, b []float64) int {
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-9*max(1, math.Abs(a[i])) {
			if a[i] < b[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// The worked example: values a, b, c of 2, 1 and 1 records, joined as {a} {b, c}, then all.
func TestLossesByHand(t *testing.T) {
	v := recoding.Variable{
		Name:   "v",
		Weight: 1,
		Most:   2,
		Levels: []recoding.Level{{Group: []uint32{0, 1, 2}}, {Group: []uint32{0, 1, 1}}, {Group: []uint32{0, 0, 0}}},
	}
	l, err := recoding.New([]recoding.Variable{v}, [][]uint32{{0, 1, 2}}, []int64{2, 1, 1})
	require.NoError(t, err)
	for level, want := range []struct{ bits, granularity float64 }{{0, 0}, {2, .25}, {6, 1}} {
		n := recoding.Node{uint8(level)}
		require.InDelta(t, want.bits, recoding.Entropy{}.Bound(l, n)[0], 1e-12)
		require.InDelta(t, want.granularity, recoding.Granularity{}.Bound(l, n)[0], 1e-12)
	}
	require.InDelta(t, 2*(math.Log(2)/math.Log(4))/4, recoding.Cells{}.Bound(l, recoding.Node{1})[0], 1e-12)
	require.InDelta(t, 1, recoding.Cells{}.Bound(l, recoding.Node{2})[0], 1e-12)
	require.InDelta(t, 2*.5/4, recoding.Cells{Spread: true}.Bound(l, recoding.Node{1})[0], 1e-12)
}

// A lattice of ten million recodings has a release and a bound within its time.
func TestLargeLattice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var variables []recoding.Variable
	codes := make([][]uint32, 12)
	for v := range codes {
		x := recoding.Variable{Name: fmt.Sprint(v), Weight: 1, Most: 3}
		for l := range 4 {
			level := recoding.Level{}
			for c := range 8 {
				level.Group = append(level.Group, uint32(c>>l))
			}
			x.Levels = append(x.Levels, level)
		}
		variables = append(variables, x)
		for range 2000 {
			codes[v] = append(codes[v], uint32(min(7, int(r.ExpFloat64()*2))))
		}
	}
	counts := slices.Repeat([]int64{1}, 2000)
	l, err := recoding.New(variables, codes, counts)
	require.NoError(t, err)
	require.Equal(t, math.Pow(4, 12), l.Nodes())
	best, bound := math.Inf(1), 0.0
	tries := []int{100, 400, 1600}
	if testing.Short() {
		tries = tries[:1]
	}
	for _, checks := range tries {
		found, err := l.Search(t.Context(), recoding.Options{Rule: recoding.K(3), Loss: recoding.Cells{}, Checks: checks, Suppressed: 40})
		require.NoError(t, err)
		require.NotEmpty(t, found.Best)
		require.LessOrEqual(t, found.Best[0].Loss[0], best)
		require.GreaterOrEqual(t, found.Bound[0], bound)
		best, bound = found.Best[0].Loss[0], found.Bound[0]
		require.Less(t, bound, best)
		require.Positive(t, found.Gap())
		require.NotEmpty(t, found.Stopped)
	}
	found, err := l.Search(t.Context(), recoding.Options{Rule: recoding.K(3), Loss: recoding.Cells{}, Time: time.Millisecond})
	require.NoError(t, err)
	require.Contains(t, found.Stopped, "time")
}

// What is wrong with hierarchies is told by names.
func TestWrongLevels(t *testing.T) {
	good := recoding.Level{Group: []uint32{0, 1, 2}, Names: []string{"a", "b", "c"}}
	for want, v := range map[string]recoding.Variable{
		"do not nest": {Name: "v", Levels: []recoding.Level{good, {Group: []uint32{0, 0, 1}}, {Group: []uint32{0, 1, 1}}}, Most: 2},
		"level 1":     {Name: "v", Levels: []recoding.Level{good, {Group: []uint32{0, 0}}}, Most: 1},
		"weight":      {Name: "v", Levels: []recoding.Level{good}, Weight: math.NaN()},
		"levels are":  {Name: "v", Levels: []recoding.Level{good}, Most: 1},
	} {
		_, err := recoding.New([]recoding.Variable{v}, [][]uint32{{0}}, []int64{1})
		require.ErrorContains(t, err, want)
	}
	_, err := recoding.New(nil, nil, nil)
	require.Error(t, err)
	_, err = recoding.New([]recoding.Variable{{Name: "v", Levels: []recoding.Level{good}}}, [][]uint32{{7}}, []int64{1})
	require.ErrorContains(t, err, "code 7 of v")
	_, err = recoding.New([]recoding.Variable{{Name: "v", Levels: []recoding.Level{good}}}, [][]uint32{{1}}, []int64{0})
	require.ErrorContains(t, err, "0 records")
}
