package protection

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

func TestTVN6(t *testing.T) {
	for _, c := range []struct {
		order, want string
		cost        int64 // with the cells that have needs
	}{
		{"AF", "AE AF BE BF", 39 + 3}, {"BE", "AE AF BE BF", 41 + 1}, {"CH", "CG CH DG DH", 40 + 4},
		{"AF BE", "AE AF BE BF", 42},
		{"AF BE CH", "AE AF AH BE BF BG CG CH", 84}, {"BE AF CH", "AE AF AH BE BF BG CG CH", 84},
		{"CH AF BE", "AF AH BE BG CG CH DE DF DG DH", 113},
	} {
		t.Run(c.order, func(t *testing.T) {
			g, table := t0(t)
			needs := percent(table, 30, named(t, g, strings.Fields(c.order)...)...)
			s, err := newSearch(ctx, table, needs, Options{Cost: table.Values, Protected: inner(g)})
			require.NoError(t, err)
			p := s.paths()
			for _, n := range s.needs {
				p.protect(n)
			}
			var cells []int32
			cost := int64(0)
			for cell, hidden := range p.hidden {
				if hidden {
					cells = append(cells, int32(cell))
					cost += table.Values[cell]
				}
			}
			require.Equal(t, c.want, strings.Join(names(g, cells), " "))
			require.Equal(t, c.cost, cost)
			final, err := Network(ctx, table, needs, Options{Cost: table.Values, Protected: inner(g)})
			require.NoError(t, err)
			require.LessOrEqual(t, final.Cost, cost)
		})
	}
	_, cube := table(t, []*tabular.Tree{flat("a", 2, 'A'), flat("b", 2, 'A'), flat("c", 2, 'A')}, []int64{1, 2, 3, 4, 5, 6, 7, 8})
	_, err := Network(ctx, cube, nil, Options{Cost: cube.Values})
	require.ErrorIs(t, err, ErrNoNetwork)
}
