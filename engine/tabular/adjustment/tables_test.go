package adjustment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
)

// grid is a full table without hierarchies, of the values of its finest cells, the first variable slowest.
func grid(t testing.TB, shape tabular.Shape, leaves []int64) (*tabular.Grid, []int64) {
	var trees []*tabular.Tree
	for v, n := range shape {
		tree := tabular.NewTree(fmt.Sprint("V", v+1))
		for i := range n {
			tree.Add(tabular.Of(string(rune('a'+i))), 0)
		}
		trees = append(trees, tree)
	}
	var nodes []int32
	for cell := range shape.Cells() {
		for _, code := range tabular.Codes(shape, cell, make([]int32, len(shape))) {
			nodes = append(nodes, code+1)
		}
	}
	g, err := tabular.NewGrid(trees, nodes)
	require.NoError(t, err)
	values := make([]int64, g.Cells())
	for i, x := range leaves {
		values[g.Find(nodes[i*len(shape):(i+1)*len(shape)])] = x
	}
	require.NoError(t, g.Sum(values))
	return g, values
}

// t0 is the base table of Miller 2005.
func t0(t testing.TB) (*tabular.Grid, []int64) {
	return grid(t, tabular.Shape{4, 4}, []int64{23, 3, 37, 18, 1, 15, 12, 119, 54, 43, 8, 4, 19, 16, 22, 10})
}

// at is a cell of a two-way table by row and column, 0 for totals.
func at(g *tabular.Grid, row, column int32) int32 { return int32(g.Find([]int32{row, column})) }

// drawn is a random table with some zeros.
func drawn(t testing.TB, r *rand.Rand, shape tabular.Shape, most int64) (*tabular.Grid, []int64) {
	leaves := make([]int64, shape.Cells())
	for i := range leaves {
		if r.IntN(8) > 0 {
			leaves[i] = 1 + r.Int64N(most)
		}
	}
	return grid(t, shape, leaves)
}

func byNumber(secret string) Draws {
	return ByName(perturb.KeyOf([]byte(secret)), func(cell int32) []byte { return fmt.Append(nil, cell) })
}

func kernel(t testing.TB) func(k perturb.Kernel, err error) perturb.Kernel {
	return func(k perturb.Kernel, err error) perturb.Kernel {
		require.NoError(t, err)
		return k
	}
}
