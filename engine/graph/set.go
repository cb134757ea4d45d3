package graph

import (
	"iter"
	"math/bits"
)

// A Set is a set of vertices, bit v for vertex v.
type Set uint64

// MaxVertices is the largest number of vertices a graph can have.
const MaxVertices = 64

// Of is the set of the given vertices.
func Of(vertices ...int) Set {
	var s Set
	for _, v := range vertices {
		s |= 1 << v
	}
	return s
}

// First is the set of the vertices 0 to n-1.
func First(n int) Set {
	if n >= MaxVertices {
		return ^Set(0)
	}
	return 1<<n - 1
}

// Has tells whether v is in the set.
func (s Set) Has(v int) bool { return s>>v&1 != 0 }

// With is the set with v.
func (s Set) With(v int) Set { return s | 1<<v }

// Without is the set without v.
func (s Set) Without(v int) Set { return s &^ (1 << v) }

// Len is the number of vertices in the set.
func (s Set) Len() int { return bits.OnesCount64(uint64(s)) }

// Min is the smallest vertex of the set, 64 of the empty set.
func (s Set) Min() int { return bits.TrailingZeros64(uint64(s)) }

// Contains tells whether all of t is in the set.
func (s Set) Contains(t Set) bool { return t&^s == 0 }

// Vertices goes through the set in ascending order.
func (s Set) Vertices() iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(s.Min()) {
				return
			}
		}
	}
}
