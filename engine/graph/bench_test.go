package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// randomDecomposable is a decomposable graph after some random legal moves.
func randomDecomposable(n, moves int, rng *rand.Rand) *Graph {
	g := New(n)
	for range moves {
		v, w := rng.IntN(n), rng.IntN(n)
		if g.CanAdd(v, w) {
			g.Connect(v, w)
		} else if rng.IntN(3) == 0 && g.CanRemove(v, w) {
			g.Disconnect(v, w)
		}
	}
	return g
}

// BenchmarkGraphProposals judges random pairs of vertices and makes every eighth legal move, as a Markov chain would.
func BenchmarkGraphProposals(b *testing.B) {
	for _, n := range []int{12, 30} {
		b.Run(fmt.Sprintf("vertices=%d", n), func(b *testing.B) {
			g := randomDecomposable(n, 20*n, rand.New(rand.NewPCG(1, 2)))
			rng := rand.New(rand.NewPCG(3, 4))
			b.ReportAllocs()
			for b.Loop() {
				v, w := rng.IntN(n), rng.IntN(n)
				if g.Adjacent(v, w) {
					if g.CanRemove(v, w) && rng.IntN(8) == 0 {
						g.Disconnect(v, w)
					}
				} else if g.CanAdd(v, w) && rng.IntN(8) == 0 {
					g.Connect(v, w)
				}
			}
		})
	}
}

func BenchmarkEachDecomposable(b *testing.B) {
	for b.Loop() {
		EachDecomposable(6, func(*Graph) bool { return true })
	}
}
