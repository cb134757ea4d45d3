package protection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

// A network that was asked, and told of bounds that went down and up again, answers as one that is made anew.
func TestNetworksThatAreTold(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := range 60 {
		_, table := random(t, r, draws(r, k%2), 50, 6)
		p, err := newPlan(table, nil)
		require.NoError(t, err)
		hidden := make([]bool, table.System.Cells)
		for i := range hidden {
			hidden[i] = r.IntN(3) > 0
		}
		for _, cells := range table.System.Components(hidden) {
			a := p.area(cells)
			n, down, up := newNetwork(a), slices.Clone(a.down), slices.Clone(a.up)
			for range 12 {
				for range 1 + r.IntN(3) {
					j := r.IntN(len(cells))
					a.down[j], a.up[j] = down[j], up[j]
					if r.IntN(2) == 0 {
						a.down[j], a.up[j] = 0, r.Int64N(3)
					}
					n.changed(int32(j))
				}
				j, side, want := int32(r.IntN(len(cells))), r.IntN(2) == 0, []int64{infinite, 1, 7}[r.IntN(3)]
				moved, columns, err := n.reach(j, side, want)
				require.NoError(t, err)
				require.True(t, slices.IsSorted(columns))
				anew, _, err := newNetwork(a).reach(j, side, want)
				require.NoError(t, err)
				require.Equal(t, anew, moved)
			}
		}
	}
}

// categoriesOf is the grid of one variable of n categories.
func categoriesOf(t *testing.T, n int) *tabular.Grid {
	tree := tabular.NewTree("a")
	var cells []int32
	for i := range n {
		cells = append(cells, int32(tree.Add(tabular.Of(fmt.Sprint(i)), 0)))
	}
	g, err := tabular.NewGrid([]*tabular.Tree{tree}, cells)
	require.NoError(t, err)
	return g
}

// A table of many categories, of which each is asked: the work is not that of all pairs, whether nothing can move or everything.
func TestAuditOfManyCategories(t *testing.T) {
	const n = 200_000
	g := categoriesOf(t, n)
	for _, low := range []int64{1, 0} {
		table := &Table{System: g.System(), Values: slices.Repeat([]int64{1}, n+1), Low: slices.Repeat([]int64{low}, n+1)}
		table.Values[0] = n
		hidden := slices.Repeat([]bool{true}, n+1)
		hidden[0] = false
		var needs []Need
		for i := range n {
			needs = append(needs, Need{Cell: int32(i + 1), Lower: 1, Upper: 1})
		}
		report, err := Audit(context.Background(), table, hidden, needs, InsiderExact)
		require.NoError(t, err)
		require.Len(t, report.Failed(), int(low)*n) // all are 1 or more, and their sum is n; or each can be 0 to n
		require.Equal(t, Interval{low, low + (1-low)*n}, report.Findings[n/2].Interval)
	}
}

// How far a cell of a single sum comes is the same by the sum of all others as by sending what they can, however bounds change.
func TestFarOfSingleSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	asked := 0
	for range 300 {
		n := 2 + r.IntN(5)
		s := &tabular.System{Cells: n + 1, Equations: []tabular.Equation{{Total: 0}}}
		table := &Table{System: s, Values: make([]int64, n+1), Low: make([]int64, n+1), High: make([]int64, n+1)}
		for cell := 1; cell <= n; cell++ {
			s.Equations[0].Parts = append(s.Equations[0].Parts, int32(cell))
			table.Values[cell] = r.Int64N(6)
			table.Values[0] += table.Values[cell]
		}
		for cell, x := range table.Values {
			table.Low[cell], table.High[cell] = max(0, x-r.Int64N(4)), x+r.Int64N(4)
			switch r.IntN(6) {
			case 0:
				table.Low[cell] = NoLow
			case 1:
				table.High[cell] = tabular.NoLimit
			case 2:
				table.Low[cell] = x
			}
		}
		p, err := newPlan(table, nil)
		require.NoError(t, err)
		var cells []int32
		for cell := range n + 1 {
			if cell > 0 || r.IntN(2) == 0 { // the total is hidden too, or not
				cells = append(cells, int32(cell))
			}
		}
		w := newNetwork(p.area(cells))
		for range 2 {
			for j := range int32(len(cells)) {
				for _, arc := range []int32{j, ^j} {
					for _, want := range []int64{infinite, 1, 3} {
						far, ok := w.far(arc, want)
						require.True(t, ok)
						moved, _, err := w.reach(j, arc >= 0, want)
						require.NoError(t, err)
						require.Equal(t, moved, far)
						asked++
					}
				}
			}
			j := r.IntN(len(cells))
			w.down[j], w.up[j] = r.Int64N(3), r.Int64N(3)
			w.changed(int32(j))
		}
	}
	require.Greater(t, asked, 10_000)
}

// An audit of a single sum says the same of insiders whether it asks for all cells that move or for no more than are needed.
func TestInsidersOfSingleSums(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var met [3]int
	insiders := 0
	for range 2000 {
		n := 2 + r.IntN(5)
		s := &tabular.System{Cells: n + 1, Equations: []tabular.Equation{{Total: 0}}}
		table := &Table{System: s, Values: make([]int64, n+1), Low: make([]int64, n+1), Sole: make([]int64, n+1)}
		hidden := slices.Repeat([]bool{true}, n+1)
		hidden[0] = false
		var needs []Need
		for cell := 1; cell <= n; cell++ {
			s.Equations[0].Parts = append(s.Equations[0].Parts, int32(cell))
			table.Values[cell] = 1 + r.Int64N(4)
			table.Values[0] += table.Values[cell]
			table.Low[cell], table.Sole[cell] = r.Int64N(2), r.Int64N(4)
			needs = append(needs, Need{Cell: int32(cell), Lower: r.Int64N(2), Upper: r.Int64N(3), Sliding: r.Int64N(4)})
		}
		for _, insider := range []Insider{InsiderExact, InsiderFull} {
			got, err := Audit(context.Background(), table, hidden, needs, insider)
			require.NoError(t, err)
			p, err := newPlan(table, needs)
			require.NoError(t, err)
			a := p.auditor(context.Background(), hidden, insider)
			for i, need := range needs {
				want, _, err := a.prove(need)
				require.NoError(t, err)
				require.Equal(t, want, got.Findings[i])
				if met[want.Verdict]++; want.Holder != 0 {
					insiders++
				}
			}
		}
	}
	require.Positive(t, insiders)
	require.Positive(t, met[Pass])
	require.Positive(t, met[Under])
	require.Positive(t, met[Exact])
}

// Audits of wide networks, which go no further than is needed, have the verdicts of those that find whole intervals.
func TestWideNetworks(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for k := range 60 {
		g, table := random(t, r, []*tabular.Tree{flat("r", 12, 'A'), flat("c", 3, 'A')}, 60, 6)
		table.Sole = make([]int64, g.Cells())
		var needs []Need
		hidden := make([]bool, g.Cells())
		for c, x := range table.Values {
			if x > 0 && x < 4 || x > 0 && r.IntN(5) == 0 {
				hidden[c] = true
				needs = append(needs, Need{Cell: int32(c), Lower: min(x, 2), Upper: 1})
				if x == 1 {
					table.Sole[c] = int64(c + 1)
				}
			}
		}
		for _, insider := range []Insider{InsiderOff, InsiderExact, InsiderFull} {
			want, err := Audit(ctx, table, hidden, needs, insider)
			require.NoError(t, err)
			p, err := newPlan(table, needs)
			require.NoError(t, err)
			a := p.auditor(ctx, hidden, insider)
			a.plain, a.widest = true, 1
			for i, n := range needs {
				f, _, err := a.prove(n)
				require.NoError(t, err)
				require.Equal(t, want.Findings[i].Verdict, f.Verdict, "%d: %d", k, n.Cell)
				if f.Holder == want.Findings[i].Holder {
					require.GreaterOrEqual(t, f.Low, want.Findings[i].Low)
					require.LessOrEqual(t, f.High, want.Findings[i].High)
				}
			}
		}
	}
}
