package bayes

import (
	"context"
	"fmt"
	"testing"

	"microrisk/engine/graph"
)

func BenchmarkSubsets(b *testing.B) {
	for _, n := range []int{3_600, 18_000, 450_000} {
		d := skewed(12, n, 14, 1)
		b.Run(fmt.Sprintf("cells=%d", d.Cells()), func(b *testing.B) {
			for b.Loop() {
				if _, err := newTestScores(b, d, 1).Subsets(context.Background(), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFirstMargin(b *testing.B) {
	d := skewed(12, 450_000, 14, 1)
	s := newTestScores(b, d, 1)
	s.cached.limit = 0
	for _, c := range []graph.Set{graph.Of(0, 3), graph.Of(1, 4, 7, 9), graph.First(8), graph.First(12)} {
		b.Run(fmt.Sprintf("variables=%d", c.Len()), func(b *testing.B) {
			for b.Loop() {
				s.compute(c)
			}
		})
	}
}
