package redesign

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
)

// A made table for tests: cells with all totals, of counts of the finest ones.
func made(t require.TestingT, trees []*tabular.Tree, leaf map[string]int64) *Problem {
	var cells []int32
	for key, n := range leaf {
		if n > 0 {
			cells = append(cells, nodesOf(trees, key)...)
		}
	}
	g, err := tabular.NewGrid(trees, cells)
	require.NoError(t, err)
	p := &Problem{Grid: g, Cells: make([]detection.Cell, g.Cells()), Local: true}
	values := make([]int64, g.Cells())
	for key, n := range leaf {
		if cell := g.Find(nodesOf(trees, key)); cell >= 0 {
			values[cell] = n
		}
	}
	require.NoError(t, g.Sum(values))
	for cell, n := range values {
		p.Cells[cell] = detection.Cell{Records: n, Contributors: n, Total: n}
	}
	for _, tree := range trees {
		p.Variables = append(p.Variables, Variable{Tree: tree})
	}
	return p
}

func nodesOf(trees []*tabular.Tree, key string) []int32 {
	var list []int32
	for v, code := range strings.Split(key, "|") {
		list = append(list, int32(trees[v].Find(tabular.Of(code))))
	}
	return list
}

func frequency(n int64) func(c *detection.Cell) bool {
	rules := []detection.Rule{detection.MinFrequency{N: n}}
	return func(c *detection.Cell) bool { return detection.Judge(c, rules).Status.Primary() }
}

func flat(name string, codes ...string) *tabular.Tree {
	var list []tabular.Category
	for _, c := range codes {
		list = append(list, tabular.Of(c))
	}
	return tabular.Flat(name, list...)
}

// words are the merges of a design.
func words(p *Problem, d Design) string {
	var list []string
	for v := range d {
		for _, g := range p.Groups(d, v) {
			var codes []string
			for _, n := range g {
				codes = append(codes, p.Variables[v].Tree.Nodes[n].Code.Label)
			}
			list = append(list, strings.Join(codes, "+"))
		}
	}
	return strings.Join(list, " ")
}

func diseases(t require.TestingT) *Problem {
	p := made(t, []*tabular.Tree{flat("age", "0-16", "17-24", "25-35"), flat("disease", "No", "Yes")},
		map[string]int64{"0-16|No": 72, "0-16|Yes": 12, "17-24|No": 75, "17-24|Yes": 3, "25-35|No": 89, "25-35|Yes": 1})
	p.Variables[0].Order = []int32{1, 2, 3}
	return p
}

// TV-N1 and TV-M1 of T-DIS (Miller 2005, 3.1): with fewer than 4 unsafe, the bands 17-24 and 25-35 become one.
func TestTVN1(t *testing.T) {
	p := diseases(t)
	p.Judge, p.Monotone = Cells(p.Grid, p.Cells, 0, frequency(4)), true
	list, all, err := p.Preview(context.Background(), 100)
	require.NoError(t, err)
	require.Equal(t, 2, all)
	var texts []string
	for _, c := range list {
		texts = append(texts, fmt.Sprintf("%s %d of %d", words(p, c.Design), c.Unsafe, c.Cells))
	}
	require.Equal(t, []string{"17-24+25-35 0 of 9", "0-16+17-24 1 of 9"}, texts)
	require.Equal(t, Cost{Categories: 1, Cells: 4, Contributors: 168, Value: 168}, list[0].Cost)
	require.Equal(t, Cost{Categories: 1, Cells: 6, Contributors: 336, Value: 336}, p.WithTotals(list[0].Design))
	require.Equal(t, 162, int(list[1].Cost.Contributors))

	r, err := p.Search(context.Background(), Options{Best: 3})
	require.NoError(t, err)
	require.Len(t, r.Best, 1)
	require.Equal(t, 1, r.Proven)
	require.True(t, r.Whole)
	require.Equal(t, "17-24+25-35", words(p, r.Best[0].Design))

	p.Judge = Cells(p.Grid, p.Cells, 0, frequency(5)) // 17-35 has 4 with the disease
	r, err = p.Search(context.Background(), Options{})
	require.NoError(t, err)
	require.Empty(t, r.Best)
	require.True(t, r.Whole)
	require.Equal(t, 1, r.Fewest.Unsafe)

	p.Judge = Cells(p.Grid, p.Cells, 0, frequency(4))
	p.Variables[0].Order = nil // any two
	r, err = p.Search(context.Background(), Options{Best: 3})
	require.NoError(t, err)
	require.Equal(t, "17-24+25-35", words(p, r.Best[0].Design))
	require.Len(t, r.Best, 1)
	p.Variables[0].Pinned = []bool{false, false, true, false} // 17-24 must stay
	r, err = p.Search(context.Background(), Options{})
	require.NoError(t, err)
	require.Empty(t, r.Best)
	p.Variables[0].Pinned, p.Variables[0].Groups = nil, [][]int32{{2, 3}}
	list, _, err = p.Preview(context.Background(), 100)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// The codes below a region are not told apart: the region stays, with its own figures.
func TestHierarchy(t *testing.T) {
	tree := tabular.NewTree("region")
	for _, r := range []string{"north", "south"} {
		at := tree.Add(tabular.Of(r), 0)
		for i := range 3 {
			tree.Add(tabular.Of(fmt.Sprintf("%s%d", r[:1], i)), at)
		}
	}
	p := made(t, []*tabular.Tree{tree, flat("sex", "f", "m")}, map[string]int64{"n0|f": 9, "n0|m": 9, "n1|f": 1, "n1|m": 9, "n2|f": 9, "n2|m": 9,
		"s0|f": 9, "s0|m": 9, "s1|f": 9, "s1|m": 9})
	p.Judge, p.Monotone = Cells(p.Grid, p.Cells, 0, frequency(3)), true
	r, err := p.Search(context.Background(), Options{Best: 2})
	require.NoError(t, err)
	require.Len(t, r.Best, 1)
	require.Equal(t, Cost{Categories: 2, Cells: 6, Contributors: 46, Value: 46}, r.Best[0].Cost)
	require.Equal(t, 15, r.Best[0].Cells) // of 3 codes and 2 regions and the total, without north's 3
	require.Equal(t, [][]int32{{2, 3, 4}}, p.Groups(r.Best[0].Design, 0))
	p.Variables[0].Pinned = make([]bool, len(tree.Nodes))
	p.Variables[0].Pinned[2] = true
	r, err = p.Search(context.Background(), Options{})
	require.NoError(t, err)
	require.Empty(t, r.Best)
}

// drawn is a small problem of one to three variables of all kinds, with a rule that is monotone or is not.
func drawn(t *rapid.T) *Problem {
	n := rapid.IntRange(1, 2).Draw(t, "variables")
	var trees []*tabular.Tree
	var codes [][]string
	kinds := make([]string, n)
	for v := range n {
		kinds[v] = rapid.SampledFrom([]string{"any", "ordered", "groups", "hierarchy"}).Draw(t, "kind")
		tree := tabular.NewTree(fmt.Sprint("v", v))
		var own []string
		size := rapid.IntRange(2, 4).Draw(t, "size")
		for i := range size {
			parent := 0
			if kinds[v] == "hierarchy" {
				if i%2 == 0 || rapid.Bool().Draw(t, "new parent") {
					parent = tree.Add(tabular.Of(fmt.Sprintf("g%d", i)), 0)
					if rapid.Bool().Draw(t, "deep") {
						parent = tree.Add(tabular.Of(fmt.Sprintf("h%d", i)), parent)
					}
				} else {
					parent = tree.Nodes[len(tree.Nodes)-1].Parent
					if rapid.Bool().Draw(t, "above") && tree.Nodes[parent].Parent > 0 {
						parent = tree.Nodes[parent].Parent
					}
				}
			}
			code := fmt.Sprintf("c%d", i)
			tree.Add(tabular.Of(code), parent)
			own = append(own, code)
		}
		trees, codes = append(trees, tree), append(codes, own)
	}
	leaf := make(map[string]int64)
	var fill func(v int, key []string)
	fill = func(v int, key []string) {
		if v == n {
			leaf[strings.Join(key, "|")] = int64(rapid.SampledFrom([]int{0, 1, 2, 3, 5, 9, 20}).Draw(t, "count"))
			return
		}
		for _, c := range codes[v] {
			fill(v+1, append(key[:v:v], c))
		}
	}
	fill(0, nil)
	p := made(t, trees, leaf)
	for v := range n {
		x := &p.Variables[v]
		var leaves []int32
		for node := range x.Tree.Nodes {
			if node > 0 && x.Tree.Leaf(node) {
				leaves = append(leaves, int32(node))
			}
		}
		switch kinds[v] {
		case "ordered":
			x.Order = leaves
		case "groups":
			x.Groups = [][]int32{leaves[:2], leaves[2:]}
		}
		if rapid.Bool().Draw(t, "pins") {
			x.Pinned = make([]bool, len(x.Tree.Nodes))
			x.Pinned[rapid.IntRange(1, len(x.Tree.Nodes)-1).Draw(t, "pinned")] = true
		}
	}
	p.Loss = Loss(rapid.IntRange(0, 3).Draw(t, "loss"))
	if p.Monotone = rapid.Bool().Draw(t, "monotone"); p.Monotone {
		p.Judge = Cells(p.Grid, p.Cells, 0, frequency(3))
		return p
	}
	p.Judge = Cells(p.Grid, p.Cells, 0, func(c *detection.Cell) bool { return c.Records%4 == 1 || c.Records == 2 }) // of cells alone, and nothing else
	if rapid.Bool().Draw(t, "lines") {                                                                              // of the whole table
		p.Local = false
		inner := p.Judge
		p.Judge = func(d Design) (Verdict, error) {
			v, err := inner(d)
			if len(v.Unsafe) > 0 && v.Cells%3 == 0 {
				v.Unsafe = nil
			}
			return v, err
		}
	}
	return p
}

// all are all designs, by what may become of each variable.
func all(p *Problem) []Design {
	met := map[string]Design{}
	var walk func(d Design)
	walk = func(d Design) {
		if _, is := met[d.place()]; is {
			return
		}
		met[d.place()] = d
		for v := range d {
			for _, m := range p.Moves(d, v, -1) {
				if next, ok := p.Apply(d, m); ok {
					walk(next)
				}
			}
		}
	}
	walk(p.Same())
	var list []Design
	for _, d := range met {
		list = append(list, d)
	}
	return list
}

// partitions counts all ways in which a variable's categories can become one, by brute force.
func partitions(p *Problem, v int) int {
	tree := p.Variables[v].Tree
	var leaves []int32
	for node := range tree.Nodes {
		if node > 0 && tree.Leaf(node) && p.kinds[v].present[node] {
			leaves = append(leaves, int32(node))
		}
	}
	count := 0
	blocks := make([]int, len(leaves))
	var walk func(i, used int)
	walk = func(i, used int) {
		if i < len(leaves) {
			for b := range used + 1 {
				blocks[i] = b
				walk(i+1, max(used, b+1))
			}
			return
		}
		if used < 2 && len(leaves) > 1 {
			return
		}
		for b := range used {
			var block []int32
			for i, x := range blocks {
				if x == b {
					block = append(block, leaves[i])
				}
			}
			if len(block) > 1 && !mayBeOne(p, v, block) {
				return
			}
		}
		count++
	}
	walk(0, 0)
	return count
}

// mayBeOne tells whether categories may become one, and no others with them.
func mayBeOne(p *Problem, v int, block []int32) bool {
	x := &p.Variables[v]
	for _, n := range block {
		if p.pinned(v, n) {
			return false
		}
	}
	switch {
	case p.kinds[v].nested: // they are all below a code, of which nothing below is pinned
		for code := 1; code < len(x.Tree.Nodes); code++ {
			below, pinned := []int32{}, false
			for node := range x.Tree.Nodes {
				if p.below(v, int32(node), int32(code)) {
					pinned = pinned || p.pinned(v, int32(node))
					if x.Tree.Leaf(node) && p.kinds[v].present[node] {
						below = append(below, int32(node))
					}
				}
			}
			if !pinned && slices.Equal(below, block) {
				return true
			}
		}
		return false
	case x.Groups != nil:
		return slices.ContainsFunc(x.Groups, func(g []int32) bool {
			return slices.Equal(slices.DeleteFunc(slices.Clone(g), func(n int32) bool { return !p.kinds[v].present[n] }), block)
		})
	case x.Order != nil:
		return p.kinds[v].place[block[len(block)-1]]-p.kinds[v].place[block[0]] == len(block)-1
	}
	return true
}

// The search finds what trying all designs finds: the cheapest safe ones of which none is coarser than another.
func TestSearchOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		p.Ready()
		designs := all(p)
		most := 1
		for v := range p.Variables {
			if !p.kinds[v].nested || !onlyChildren(p, v) { // else several designs have the same finest categories
				most *= partitions(p, v)
			} else {
				most = 0
			}
		}
		if most > 0 {
			require.Len(t, designs, most)
		}
		var safe []Design
		for _, d := range designs {
			v, err := p.Judge(d)
			require.NoError(t, err)
			if len(v.Unsafe) == 0 {
				safe = append(safe, d)
			}
			if p.Monotone { // what is coarser than a safe one is safe
				for _, other := range designs {
					if len(v.Unsafe) == 0 && p.Coarser(other, d) {
						v, err := p.Judge(other)
						require.NoError(t, err)
						require.Empty(t, v.Unsafe)
					}
				}
			}
		}
		var want []string
		keys := map[string][4]int64{}
		for _, d := range safe {
			if !slices.ContainsFunc(safe, func(other Design) bool { return d.place() != other.place() && p.Coarser(d, other) }) {
				want = append(want, d.place())
				keys[d.place()] = p.key(p.Cost(d))
			}
		}
		slices.SortFunc(want, func(a, b string) int {
			x, y := keys[a], keys[b]
			return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a, b))
		})
		r, err := p.Search(context.Background(), Options{Best: 1000})
		require.NoError(t, err)
		var got []string
		for _, b := range r.Best {
			got = append(got, b.Design.place())
			require.Equal(t, p.Cost(b.Design), b.Cost)
		}
		require.True(t, slices.IsSortedFunc(got, func(a, b string) int { x, y := keys[a], keys[b]; return slices.Compare(x[:], y[:]) }))
		require.ElementsMatch(t, want, got) // those that lose the same may stand in any order
		require.True(t, r.Whole)
		require.Equal(t, len(want), r.Proven)
		// A search that is stopped has a bound that holds, and what it proves is right.
		r, err = p.Search(context.Background(), Options{Best: 2, Nodes: rapid.IntRange(1, 6).Draw(t, "nodes")})
		require.NoError(t, err)
		for i, b := range r.Best[:r.Proven] {
			require.Contains(t, want, b.Design.place())
			require.Equal(t, keys[want[i]], p.key(b.Cost))
		}
		for _, b := range r.Best[r.Proven:] {
			require.GreaterOrEqual(t, p.key(b.Cost)[0], r.Bound)
			v, err := p.Judge(b.Design)
			require.NoError(t, err)
			require.Empty(t, v.Unsafe)
		}
		if !r.Whole && r.Proven < len(want) && r.Proven < 2 {
			require.LessOrEqual(t, r.Bound, keys[want[r.Proven]][0])
		}
	})
}

// onlyChildren tells whether a code has a single part.
func onlyChildren(p *Problem, v int) bool {
	return slices.ContainsFunc(p.kinds[v].children[1:], func(c []int32) bool { return len(c) == 1 })
}

// A larger table is solved as well: 12 bands and 8 regions.
func TestLarger(t *testing.T) {
	bands, regions := flat("age"), flat("region")
	leaf := make(map[string]int64)
	for i := range 12 {
		bands.Add(tabular.Of(fmt.Sprintf("%d-%d", 5*i, 5*i+4)), 0)
	}
	for i := range 8 {
		regions.Add(tabular.Of(fmt.Sprint("r", i)), 0)
	}
	for i := range 12 {
		for k := range 8 {
			leaf[fmt.Sprintf("%d-%d|r%d", 5*i, 5*i+4, k)] = int64(40 - 3*i + (i*7+k*13)%9)
		}
	}
	p := made(t, []*tabular.Tree{bands, regions}, leaf)
	for i := range 12 {
		p.Variables[0].Order = append(p.Variables[0].Order, int32(i+1))
	}
	p.Judge, p.Monotone = Cells(p.Grid, p.Cells, 0, frequency(12)), true
	r, err := p.Search(context.Background(), Options{Best: 2, Nodes: 5000})
	require.NoError(t, err)
	require.NotEmpty(t, r.Best)
	require.Equal(t, 2, r.Proven)
	t.Log(r.Nodes, words(p, r.Best[0].Design), r.Best[0].Cost)
}
