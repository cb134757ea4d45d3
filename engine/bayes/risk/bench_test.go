package risk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"microrisk/engine/bayes"
)

// large is a table of some 400,000 occupied cells (for cells = 400,000) of 12 variables, most of them unique, with models of 14 edges.
func large(b *testing.B, cells, models int) (*bayes.Data, []bayes.Model) {
	levels := []int{16, 2, 5, 9, 7, 3, 12, 6, 4, 8, 5, 20}
	rng := rand.New(rand.NewPCG(1, 1))
	d := tabulate(levels, synthetic(rng, levels, 2*cells))
	list := make([]bayes.Model, models)
	for i := range list {
		list[i] = bayes.Model{Graph: chordal(rng, len(levels), 14), Weight: 1 / float64(models)}
	}
	b.Logf("%d cells", d.Cells())
	return d, list
}

func BenchmarkLaw(b *testing.B) {
	d, models := large(b, 400000, 100)
	var l *Law
	b.Run("NewLaw", func(b *testing.B) {
		for b.Loop() {
			l, _ = NewLaw(context.Background(), d, 1, models, 0)
		}
	})
	b.Logf("%d margins", len(l.Margins))
	o := Options{Unsampled: 99 * float64(d.Records)}
	var c *Cells
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			newPlan(l, false, &Options{})
		}
	})
	b.Run("Cells", func(b *testing.B) {
		for b.Loop() {
			c, _ = l.Cells(context.Background(), d, o)
		}
	})
	b.Run("File", func(b *testing.B) {
		for b.Loop() {
			_, _ = l.File(context.Background(), d, c, o)
		}
	})
}

func BenchmarkRelatives(b *testing.B) {
	d, models := large(b, 15000, 1)
	l := fit(b, d, models...)
	o := Options{Unsampled: 99 * float64(d.Records)}
	b.Run("Variables", func(b *testing.B) {
		for b.Loop() {
			_, _ = l.Variables(context.Background(), d, o)
		}
	})
	b.Run("Categories", func(b *testing.B) {
		for b.Loop() {
			_, _, _ = l.Categories(context.Background(), d, nil, o)
		}
	})
}

func BenchmarkSlowEstimators(b *testing.B) {
	d, models := large(b, 3000, 1)
	l := fit(b, d, models...)
	for _, e := range []Estimator{Exact, MonteCarlo} {
		b.Run(fmt.Sprint(e), func(b *testing.B) {
			for b.Loop() {
				_, _ = l.Cells(context.Background(), d, Options{Estimator: e, Unsampled: 99 * float64(d.Records)})
			}
		})
	}
}
