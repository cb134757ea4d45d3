package keymap

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A catalogue is what forms have, as counts of categorizations of each variable: of bands with random bounds.
type catalogue struct {
	graph    []*Graph
	observed [][]Partition
	match    [][]Observation
}

func catalogueOf(t testing.TB, forms, variables, distinct, sinks int) catalogue {
	r := rand.New(rand.NewPCG(1, 2))
	var c catalogue
	for range variables {
		var d Drawing
		for s := range sinks {
			d.Nodes = append(d.Nodes, fmt.Sprintf("s%05d", s))
		}
		var observed []Partition
		match := make([]Observation, distinct)
		for len(observed) < distinct {
			labels, at := make([]int, sinks), 0
			bounds := r.Perm(sinks - 1)[:1+r.IntN(min(15, sinks-1))] // which makes graphs of the sizes that were measured of other programs
			for s := range labels {
				if s > 0 && slices.Contains(bounds, s-1) {
					at++
				}
				labels[s] = at
			}
			p, err := NewPartition(labels)
			require.NoError(t, err)
			if !slices.Contains(observed, p) {
				match[len(observed)].Partition = p
				observed = append(observed, p)
			}
		}
		for range forms {
			match[r.IntN(distinct)].Forms++
		}
		c.graph, c.observed, c.match = append(c.graph, graphOf(t, d)), append(c.observed, observed), append(c.match, match)
	}
	return c
}

// What forms have is read once; these are of the counts that stand then.
func BenchmarkCatalogue(b *testing.B) {
	for _, size := range [][4]int{{200, 15, 6, 20}, {300, 40, 8, 61}, {2000, 60, 10, 61}, {20_000, 60, 12, 61}} {
		c := catalogueOf(b, size[0], size[1], size[2], size[3])
		name := fmt.Sprintf("%dx%dx%dx%d", size[0], size[1], size[2], size[3])
		b.Run("graphs/"+name, func(b *testing.B) {
			for range b.N {
				for _, observed := range c.observed {
					closure, err := Closure(context.Background(), "X", observed, Limits{Nodes: MaxNodes})
					require.NoError(b, err)
					_, err = Harmonizations(context.Background(), closure)
					require.NoError(b, err)
				}
			}
		})
		b.Run("profiles/"+name, func(b *testing.B) {
			for range b.N {
				for v, observed := range c.observed {
					nodes, err := Query{
						Target:   observed[0],
						Match:    c.match[v],
						Observed: func(p Partition) bool { return slices.Contains(observed, p) },
						Limits:   Limits{Nodes: MaxNodes},
					}.Nodes(
						context.Background(),
					)
					require.NoError(b, err)
					Profile(nodes)
				}
			}
		})
	}
}

func BenchmarkJoin(b *testing.B) {
	c := catalogueOf(b, 10, 1, 12, 61)
	var j joiner
	var all []sized
	for _, p := range c.observed[0] {
		all = append(all, sized{p, p.Size()})
	}
	b.ReportAllocs()
	for i := range b.N {
		j.join(all[i%12], all[i*7%12])
	}
}

func BenchmarkWorstCase(b *testing.B) {
	for _, n := range []int{10, 12} {
		all := worst(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				_, err := Closure(context.Background(), "X", all, Limits{Nodes: MaxNodes})
				require.NoError(b, err)
			}
		})
	}
}
