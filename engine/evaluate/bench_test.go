package evaluate

import (
	"context"
	"math/rand/v2"
	"testing"
)

// scored makes records of which about one in four is risky, with a score that tells something of it.
func scored(n int, seed uint64) ([]float64, []bool) {
	r := rand.New(rand.NewPCG(seed, 17))
	score, truth := make([]float64, n), make([]bool, n)
	for i := range score {
		score[i] = r.NormFloat64()
		truth[i] = r.Float64() < logistic(1.5*score[i]-1.5)
	}
	return score, truth
}

func BenchmarkNewROC(b *testing.B) {
	score, truth := scored(100_000, 1)
	for b.Loop() {
		if _, err := NewROC(score, truth); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewLogitRank(b *testing.B) {
	score, truth := scored(100_000, 1)
	for b.Loop() {
		if _, err := NewLogitRank(context.Background(), score, truth, 0, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoess(b *testing.B) {
	x, _ := scored(100_000, 1)
	y, _ := scored(100_000, 2)
	for b.Loop() {
		Loess(x, y, x[:100], 0.3)
	}
}

func BenchmarkTake(b *testing.B) {
	s, err := NewSelector([]int64{int64(b.N)}, Design{Fraction: 0.01}, 1, 0)
	if err != nil {
		b.Fatal(err)
	}
	for range b.N {
		s.Take(0)
	}
}
