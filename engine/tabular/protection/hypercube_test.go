package protection

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

// flatCuber is a hypercuber of the base table whose totals are never hidden, with cells by their names: AE to DH.
func flatCuber(t *testing.T, reuse int64, primaries ...string) (*hypercuber, *subTable, func(name string) int32) {
	g, values := crossed(t, []int{4, 4}, base)
	p, err := newPlan(&Table{System: g.System(), Values: values}, nil)
	require.NoError(t, err)
	h := &hypercuber{plan: p, cost: values, never: make([]bool, len(values)), hidden: make([]bool, len(values)), needs: map[int32]Need{}, reuse: reuse}
	for cell := range h.never {
		h.never[cell] = g.Margin(cell)
	}
	at := func(name string) int32 { return int32(g.Find([]int32{int32(name[0]-'A') + 1, int32(name[1]-'E') + 1})) }
	for _, name := range primaries {
		cell := at(name)
		level := (values[cell]*30 + 99) / 100
		h.needs[cell] = p.capped(Need{Cell: cell, Lower: level, Upper: level})
		h.hidden[cell] = true
	}
	all := subTables(g)
	require.Len(t, all, 1)
	return h, all[0], at
}

func nameOf(s *subTable, cell int32) string {
	codes := tabular.Codes(s.shape, slices.Index(s.cells, cell), make([]int, 2))
	return string(rune('A'+codes[0]-1)) + string(rune('E'+codes[1]-1))
}

func TestHypercubeCandidates(t *testing.T) { // TV-N3a
	for name, want := range map[string]string{
		"AF": "BE 39 1 15 [2,18]|DH 44 3 16 [0,19]|DE 58 3 16 [0,19]|BG 64 3 15 [0,18]|CH 65 3 18 [0,21]|DG 75 3 16 [0,19]|CG 88 3 37 [0,40]|CE 120 3 23 " +
			"[0,26]|BH 152 3 15 [0,18]",
		"BE": "AF 41 1 15 [0,16]|DF 50 1 15 [0,16]|DG 53 1 12 [0,13]|AG 72 1 12 [0,13]|CG 74 1 12 [0,13]|CF 112 1 15 [0,16]|DH 148 1 19 [0,20]|AH 160 1 23 " +
			"[0,24]|CH 177 1 54 [0,55]",
		"CH": "DG 40 4 8 [0,12]|AG 63 4 8 [0,12]|AF 64 3 18 [1,22]|DF 69 4 10 [0,14]|DE 83 4 10 [0,14]|AE 95 4 18 [0,22]|BG 139 4 8 [0,12]|BE 174 1 54 [3,58]|BF " +
			"177 4 43 [0,47]",
	} {
		h, s, at := flatCuber(t, 0, name)
		type found struct {
			text string
			cost int64
		}
		var list []found
		h.candidates(s, slices.Index(s.cells, at(name)), func(c *hypercube) {
			x := h.Values[at(name)]
			// The opposite corner has both other coordinates.
			text := fmt.Sprintf("%s %d %d %d [%d,%d]", nameOf(s, c.corners[3]), c.cost, c.low, c.above, x-c.low, x+c.above)
			list = append(list, found{text, c.cost})
		})
		slices.SortStableFunc(list, func(a, b found) int { return int(a.cost - b.cost) })
		var texts []string
		for _, f := range list {
			texts = append(texts, f.text)
		}
		require.ElementsMatch(t, strings.Split(want, "|"), texts)
	}
}

func TestHypercubeRuns(t *testing.T) { // TV-N3b
	for _, c := range []struct {
		order string
		reuse int64
		want  string
		cost  int64
	}{
		{"AF BE", -1e6, "AE AF BE BF", 42}, {"AF BE", 0, "AE AF BE BF", 42},
		{"AF BE CH", -1e6, "AE AF AH BE BF CF CH", 107}, {"BE AF CH", -1e6, "AE AF AH BE BF CF CH", 107}, {"CH AF BE", -1e6, "AE AF AH BE BF CF CH", 107},
		{"AF BE CH", 0, "AE AF BE BF CG CH DG DH", 86}, {"BE AF CH", 0, "AE AF BE BF CG CH DG DH", 86}, {"CH AF BE", 0, "AF AH BE BG CG CH DE DF DG DH", 113},
	} {
		order := strings.Fields(c.order)
		h, s, at := flatCuber(t, c.reuse, order...)
		for _, name := range order {
			h.protect(s, slices.Index(s.cells, at(name)), h.needs[at(name)])
		}
		var names []string
		cost := int64(0)
		for cell, hidden := range h.hidden {
			if hidden {
				names = append(names, nameOf(s, int32(cell)))
				cost += h.cost[cell]
			}
		}
		require.Equal(t, c.want, strings.Join(names, " "), c)
		require.Equal(t, c.cost, cost)
	}
}

// TV-N4: groups by their classes, and how many sub-tables each has.
func TestSubTables(t *testing.T) {
	tree := func() *tabular.Tree { // level 1 has one parent, level 2 has two
		t := tabular.NewTree("v")
		for i := range 3 {
			t.Add(tabular.Of(fmt.Sprint(i)), 0)
		}
		for _, parent := range []int{1, 2} {
			for i := range 2 {
				t.Add(tabular.Of(fmt.Sprint(parent, i)), parent)
			}
		}
		return t
	}
	trees := []*tabular.Tree{tree(), tree()}
	var cells []int32
	for a := range trees[0].Nodes {
		for b := range trees[1].Nodes {
			cells = append(cells, int32(a), int32(b))
		}
	}
	g, err := tabular.NewGrid(trees, cells)
	require.NoError(t, err)
	list := subTables(g)
	require.Len(t, list, 9, "(1 parent at level 0 and 2 at level 1) squared")
	var classes []int
	seen := make(map[int32]int)
	for _, s := range list {
		classes = append(classes, s.class)
		for _, cell := range s.cells {
			seen[cell]++
		}
	}
	require.Equal(t, []int{0, 1, 1, 1, 1, 2, 2, 2, 2}, classes)
	require.Len(t, seen, g.Cells(), "every cell is in one at least")
}

// Where a sub-table has very many categories, hypercubes end with the time that there is.
func TestHypercubeEndsInASubTable(t *testing.T) {
	const n = 60_000
	g := categoriesOf(t, n)
	table := &Table{System: g.System(), Values: slices.Repeat([]int64{1}, n+1), Low: slices.Repeat([]int64{1}, n+1)}
	table.Values[0] = n
	var needs []Need
	for i := range n {
		needs = append(needs, Need{Cell: int32(i + 1), Lower: 1, Upper: 1})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Hypercube(ctx, g, table, needs, Options{Cost: slices.Repeat([]int64{1}, n+1)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
