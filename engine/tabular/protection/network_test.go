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

// A table of many categories, of which each is asked: the work is not that of all pairs.
func TestAuditOfManyCategories(t *testing.T) {
	const n = 200_000
	tree := tabular.NewTree("a")
	var cells []int32
	for i := range n {
		cells = append(cells, int32(tree.Add(tabular.Of(fmt.Sprint(i)), 0)))
	}
	g, err := tabular.NewGrid([]*tabular.Tree{tree}, cells)
	require.NoError(t, err)
	table := &Table{System: g.System(), Values: slices.Repeat([]int64{1}, n+1), Low: slices.Repeat([]int64{1}, n+1)}
	table.Values[0] = n
	hidden := slices.Repeat([]bool{true}, n+1)
	hidden[0] = false
	var needs []Need
	for i := range n {
		needs = append(needs, Need{Cell: int32(i + 1), Lower: 1, Upper: 1})
	}
	report, err := Audit(context.Background(), table, hidden, needs, InsiderOff)
	require.NoError(t, err)
	require.Len(t, report.Failed(), n) // all are 1 or more, and their sum is n
}
