package protection

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

// table is a full table of leaves of trees, the first slowest, with all totals.
func table(t testing.TB, trees []*tabular.Tree, leaves []int64) (*tabular.Grid, *Table) {
	var cells []int32
	var fill func(v int, cell []int32)
	fill = func(v int, cell []int32) {
		if v == len(trees) {
			cells = append(cells, cell...)
			return
		}
		for n := range trees[v].Nodes {
			if trees[v].Leaf(n) {
				fill(v+1, append(slices.Clone(cell), int32(n)))
			}
		}
	}
	fill(0, nil)
	g, err := tabular.NewGrid(trees, cells)
	require.NoError(t, err)
	values := make([]int64, g.Cells())
	for i, x := range leaves {
		values[g.Find(cells[i*len(trees):(i+1)*len(trees)])] = x
	}
	require.NoError(t, g.Sum(values))
	return g, &Table{System: g.System(), Values: values}
}

// flat is a tree of n categories: A, B, ... or from another letter on.
func flat(name string, n int, from byte) *tabular.Tree {
	tree := tabular.NewTree(name)
	for i := range n {
		tree.Add(tabular.Of(string(rune(int(from)+i))), 0)
	}
	return tree
}

// named are the cells of a two-way table that have one letter a variable, such as AF.
func named(t testing.TB, g *tabular.Grid, names ...string) []int32 {
	list := make([]int32, len(names))
	for i, name := range names {
		nodes := make([]int32, len(g.Trees))
		for v, tree := range g.Trees {
			if name[v] == '.' {
				continue
			}
			at := tree.Find(tabular.Of(name[v : v+1]))
			require.GreaterOrEqual(t, at, 0, name)
			nodes[v] = int32(at)
		}
		list[i] = int32(g.Find(nodes))
		require.GreaterOrEqual(t, list[i], int32(0), name)
	}
	return list
}

func names(g *tabular.Grid, cells []int32) []string {
	var list []string
	for _, c := range cells {
		name := ""
		for _, code := range g.Codes(int(c)) {
			if code == tabular.Total {
				name += "."
			} else {
				name += code.Label
			}
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func pattern(n int, cells ...int32) []bool {
	hidden := make([]bool, n)
	for _, c := range cells {
		hidden[c] = true
	}
	return hidden
}

// T0 is the base table of the methods' page.
func t0(t testing.TB) (*tabular.Grid, *Table) {
	return table(t, []*tabular.Tree{flat("Variable 1", 4, 'A'), flat("Variable 2", 4, 'E')},
		[]int64{23, 3, 37, 18, 1, 15, 12, 119, 54, 43, 8, 4, 19, 16, 22, 10})
}

// furthest is the largest or the smallest real value of a hidden cell, less its value, by a tableau of its own (Bland's rule) over moves up
// and down from the truth: an oracle that shares nothing with the package. No end is infinite.
func furthest(t *Table, hidden []bool, cell int32, up bool) float64 {
	column := make(map[int32]int)
	var cells []int32
	for i, h := range hidden {
		if h {
			column[int32(i)] = len(cells)
			cells = append(cells, int32(i))
		}
	}
	n := 2 * len(cells)
	var a [][]float64 // rows sum <= right
	var right []float64
	for i := range t.System.Equations {
		row, any := make([]float64, n), false
		t.System.Equations[i].Each(func(c int32, sign int64) {
			if j, is := column[c]; is {
				row[2*j], row[2*j+1], any = float64(sign), -float64(sign), true
			}
		})
		if any {
			other := make([]float64, n)
			for j, v := range row {
				other[j] = -v
			}
			a, right = append(a, row, other), append(right, 0, 0)
		}
	}
	for j, c := range cells {
		low, high := t.bounds(c)
		for k, d := range []int64{high - t.Values[c], t.Values[c] - low} {
			if k == 0 && high == tabular.NoLimit || k == 1 && low == NoLow {
				continue
			}
			row := make([]float64, n)
			row[2*j+k] = 1
			a, right = append(a, row), append(right, float64(d))
		}
	}
	cost := make([]float64, n)
	cost[2*column[cell]], cost[2*column[cell]+1] = 1, -1
	if !up {
		cost[2*column[cell]], cost[2*column[cell]+1] = -1, 1
	}
	return maximise(a, right, cost)
}

func maximise(a [][]float64, right, cost []float64) float64 {
	n, m := len(cost), len(a)
	basis := make([]int, m)
	for i := range a {
		row := make([]float64, n+m+1) // with a slack
		copy(row, a[i])
		row[n+i], row[n+m] = 1, right[i]
		a[i], basis[i] = row, n+i
	}
	z := append(slices.Clone(cost), make([]float64, m+1)...)
	for {
		j := slices.IndexFunc(z[:n+m], func(v float64) bool { return v > 1e-9 })
		if j < 0 {
			return -z[n+m]
		}
		p, best := -1, math.Inf(1)
		for i := range a {
			if a[i][j] > 1e-9 {
				if r := a[i][n+m] / a[i][j]; r < best-1e-12 || r < best+1e-12 && basis[i] < basis[p] {
					p, best = i, r
				}
			}
		}
		if p < 0 {
			return math.Inf(1)
		}
		d := a[p][j]
		var filled []int // columns of the pivot's row that are not 0
		for k, v := range a[p] {
			if v != 0 {
				a[p][k] = v / d
				filled = append(filled, k)
			}
		}
		subtract := func(row []float64) {
			if f := row[j]; f != 0 {
				for _, k := range filled {
					row[k] -= f * a[p][k]
				}
			}
		}
		for i := range a {
			if i != p {
				subtract(a[i])
			}
		}
		subtract(z)
		basis[p] = j
	}
}

// draw is how many random tables a long test tries: it runs beside others, and tries a fifth with -short.
func draw(t *testing.T, tables int) int {
	t.Parallel()
	if testing.Short() {
		return tables / 5
	}
	return tables
}

// safe tells by the oracle what an attacker who knows the cells of a holder sees of a need.
func safe(t *Table, hidden []bool, n Need, holder int64) bool {
	if !hidden[n.Cell] {
		return false
	}
	free := slices.Clone(hidden)
	for c := range free {
		if holder != 0 && t.sole(int32(c)) == holder {
			free[c] = false
		}
	}
	most := int64(infinite) // down
	if low, _ := t.bounds(n.Cell); low != NoLow {
		most = t.Values[n.Cell] - low
	}
	up, down := furthest(t, free, n.Cell, true), furthest(t, free, n.Cell, false)
	const e = 1e-7
	return up > float64(n.Upper)-e && down > float64(min(n.Lower, most))-e && up+down > float64(max(n.Sliding, 1))-e
}

// random is a table of random values, of which one in so many is 0.
func random(t testing.TB, r *rand.Rand, trees []*tabular.Tree, most int64, zeros int) (*tabular.Grid, *Table) {
	leaves := 1
	for _, tree := range trees {
		n := 0
		for i := range tree.Nodes {
			if tree.Leaf(i) {
				n++
			}
		}
		leaves *= n
	}
	values := make([]int64, leaves)
	for i := range values {
		if r.IntN(zeros) > 0 {
			values[i] = 1 + r.Int64N(most)
		}
	}
	return table(t, trees, values)
}

// grown is a tree of n leaves under random groups.
func grown(r *rand.Rand, name string, n int) *tabular.Tree {
	tree := tabular.NewTree(name)
	groups := []int{0}
	for i := range 1 + r.IntN(2) {
		groups = append(groups, tree.Add(tabular.Of(string(rune('a'+i))), groups[r.IntN(len(groups))]))
	}
	for i := range n {
		g := groups[r.IntN(len(groups))]
		if i < len(groups) {
			g = groups[i]
		}
		tree.Add(tabular.Of(string(rune('A'+i))), g)
	}
	return tree
}
