package protection

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

// heuristics are the methods besides Optimal.
var heuristics = map[string]func(ctx context.Context, g *tabular.Grid, t *Table, needs []Need, o Options) (*Pattern, error){
	"hypercube": Hypercube,
	"modular":   Modular,
	"network": func(ctx context.Context, _ *tabular.Grid, t *Table, needs []Need, o Options) (*Pattern, error) {
		return Network(ctx, t, needs, o)
	},
}

// drawn is a random table of two or three variables, with hierarchies, zeros, protected cells and sole contributors. The holder of a cell
// with one contributor holds its totals of that value too.
func drawn(t testing.TB, r *rand.Rand, k int) (*tabular.Grid, *Table, []Need, Options) {
	var trees []*tabular.Tree
	switch k % 4 {
	case 0:
		trees = []*tabular.Tree{flat("r", 3+r.IntN(3), 'A'), flat("c", 3+r.IntN(3), 'A')}
	case 1:
		trees = []*tabular.Tree{flat("r", 2, 'A'), flat("c", 2+r.IntN(2), 'A'), flat("l", 3, 'A')}
	case 2:
		trees = []*tabular.Tree{grown(r, "r", 4+r.IntN(3)), flat("c", 3, 'A')}
	case 3:
		trees = []*tabular.Tree{grown(r, "r", 3+r.IntN(2)), grown(r, "c", 3)}
	}
	g, table := random(t, r, trees, 15, 6+r.IntN(20))
	o := Options{Cost: table.Values, Protected: pattern(g.Cells(), 0), Insider: Insider(r.IntN(3))}
	if r.IntN(2) == 0 {
		o.Cost = units(g.Cells())
	}
	table.Sole = make([]int64, g.Cells())
	var needs []Need
	for c, x := range table.Values {
		if k%3 == 0 {
			o.Protected[c] = g.Margin(c)
		}
		if x != 0 && g.Leaf(c) && r.IntN(8) == 0 {
			table.Sole[c] = 1 + r.Int64N(3)
		}
		o.Protected[c] = o.Protected[c] || r.IntN(15) == 0
		if x == 0 || o.Protected[c] || len(needs) > k%5 || r.IntN(4) > 0 {
			continue
		}
		needs = append(needs, Need{Cell: int32(c), Lower: r.Int64N(1 + x/3), Upper: r.Int64N(1 + x/3), Sliding: r.Int64N(3)})
	}
	return g, table, needs, o
}

func TestHeuristicsAreSafe(t *testing.T) {
	tables := draw(t, 300)
	r := rand.New(rand.NewPCG(31, 32))
	type tally struct {
		patterns, dearer int
		ratios           float64
	}
	tallies := make(map[string]*tally)
	for name := range heuristics {
		tallies[name] = &tally{}
	}
	for k := range tables {
		g, table, needs, o := drawn(t, r, k)
		limited := o
		limited.Nodes = 20
		best, none := Optimal(ctx, table, needs, limited)
		for name, method := range heuristics {
			p, err := method(ctx, g, table, needs, o)
			if errors.Is(err, ErrNoNetwork) {
				continue
			}
			if none != nil {
				var infeasible *InfeasibleError
				require.ErrorAs(t, none, &infeasible)
				require.ErrorAs(t, err, &infeasible, "%s: table %d", name, k)
				continue
			}
			require.NoError(t, err, "%s: table %d", name, k)
			require.True(t, accepted(table, p.Hidden, needs, o.Insider), "%s: table %d: %v", name, k, needs)
			require.GreaterOrEqual(t, p.Cost, best.Bound)
			require.Zero(t, p.Bound)
			require.Equal(t, name, p.Solver)
			for c, hidden := range p.Hidden {
				require.False(t, hidden && o.Protected[c])
			}
			again, err := method(ctx, g, table, needs, o)
			require.NoError(t, err)
			require.Equal(t, p, again)
			if n := tallies[name]; best.Cost > 0 && best.Proven() {
				n.patterns++
				n.ratios += float64(p.Cost) / float64(best.Cost)
				if p.Cost > best.Cost {
					n.dearer++
				}
			}
		}
	}
	for name, n := range tallies {
		t.Logf("%s: %d patterns, %d dearer than the best, %.3f of its cost on average", name, n.patterns, n.dearer, n.ratios/float64(n.patterns))
		require.Greater(t, n.patterns, tables/5)
	}
}
