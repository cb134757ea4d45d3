package protection

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

// branching is a tree whose nodes of each level have so many children, some one more where that is a fraction.
func branching(name string, children ...float64) *tabular.Tree {
	tree := tabular.NewTree(name)
	level := []int{0}
	for _, n := range children {
		var next []int
		for i, parent := range level {
			for range int(float64(i+1)*n+1e-9) - int(float64(i)*n+1e-9) {
				next = append(next, tree.Add(tabular.Of(string(rune('A'+len(tree.Nodes)))), parent))
			}
		}
		level = next
	}
	return tree
}

// large is a frequency table of about 10^5 cells and 1.5 million records: leaves by a Pareto distribution, cells below 3 with needs, ones with
// holders.
func large(t testing.TB) (*tabular.Grid, *Table, []Need, Options) {
	return frequencies(t, []*tabular.Tree{branching("G", 20, 4, 3, 2.4), branching("A", 4, 5, 4)}, 1_500_000, 21)
}

// frequencies is a table of so many records, by trees.
func frequencies(t testing.TB, trees []*tabular.Tree, records float64, seed uint64) (*tabular.Grid, *Table, []Need, Options) {
	r := rand.New(rand.NewPCG(seed, 1))
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
	weights, sum := make([]float64, leaves), 0.0
	for i := range weights {
		weights[i] = 1/(1-r.Float64()) - 1
		sum += weights[i]
	}
	values := make([]int64, leaves)
	for i, w := range weights {
		values[i] = int64(math.Floor(w / sum * records))
	}
	g, tab := table(t, trees, values)
	tab.Sole = make([]int64, g.Cells())
	var needs []Need
	for c, x := range tab.Values {
		if x == 1 {
			tab.Sole[c] = int64(c) + 1
		}
		if x == 1 || x == 2 {
			needs = append(needs, Need{Cell: int32(c), Lower: 1, Upper: 1})
		}
	}
	for range 6 { // the holder of a total is that of its part, level by level
		for i := range tab.System.Equations {
			e := &tab.System.Equations[i]
			for _, p := range e.Parts {
				if tab.Values[e.Total] == 1 && tab.Values[p] == 1 {
					tab.Sole[e.Total] = tab.Sole[p]
				}
			}
		}
	}
	return g, tab, needs, Options{Cost: tab.Values, Protected: pattern(g.Cells(), 0)}
}

// BenchmarkLarge hides cells of it, and audits what is hidden: MICRORISK_LARGE=1 go test -run '^$' -bench Large -benchtime 1x
func BenchmarkLarge(b *testing.B) {
	if os.Getenv("MICRORISK_LARGE") == "" {
		b.Skip("MICRORISK_LARGE is not set; it takes a minute or two")
	}
	g, table, needs, o := large(b)
	for _, method := range []struct {
		name string
		hide func() (*Pattern, error)
	}{
		{"hypercube", func() (*Pattern, error) { return Hypercube(ctx, g, table, needs, o) }},
		{"modular", func() (*Pattern, error) { return Modular(ctx, g, table, needs, o) }},
	} {
		var p *Pattern
		b.Run(method.name, func(b *testing.B) {
			for range b.N {
				var err error
				p, err = method.hide()
				require.NoError(b, err)
			}
			b.ReportMetric(float64(len(p.Secondary)), "secondary")
			b.ReportMetric(float64(p.Cost), "cost")
		})
		if p == nil {
			continue // it was not chosen
		}
		b.Run(method.name+"/audit", func(b *testing.B) {
			for range b.N {
				report, err := Audit(ctx, table, p.Hidden, needs, o.Insider)
				require.NoError(b, err)
				require.Empty(b, report.Failed())
			}
		})
	}
}
