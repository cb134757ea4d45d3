package graph

import "slices"

// JunctionTrees is the number of junction trees of a decomposable graph, at least 1: of the trees over all its
// maximal cliques with the junction property, where an empty separator may join two components (Thomas & Green 2009). For each
// distinct separator, of multiplicity m and contained in t cliques, whose part of any junction tree falls into pieces of the sizes
// f_1 to f_(m+1) when all edges with exactly this separator are cut, it is the product of t^(m-1) f_1 ... f_(m+1).
// It is exact up to 2^53, beyond that it has the relative accuracy of a floating point number.
func (g *Graph) JunctionTrees() float64 {
	number := 1.0
	g.JunctionTree().eachSeparator(func(cliques, cuts int, pieces []int) {
		for range cuts - 1 {
			number *= float64(cliques)
		}
		for _, f := range pieces {
			number *= float64(f)
		}
	})
	return number
}

// eachSeparator goes through the distinct separators, with the number of cliques that contain it, the number of edges of the tree
// that have exactly it, and the sizes of the pieces of its part of the tree without those. The pieces are only valid in the call.
func (t Tree) eachSeparator(yield func(cliques, cuts int, pieces []int)) {
	if len(t.Cliques) < 2 {
		return
	}
	distinct := slices.Clone(t.Separators[1:])
	slices.Sort(distinct)
	piece := make([]int, len(t.Cliques))
	sizes := make([]int, 0, len(t.Cliques))
	for _, s := range slices.Compact(distinct) {
		sizes = sizes[:0]
		cliques, cuts := 0, 0
		for c, clique := range t.Cliques {
			if !clique.Contains(s) {
				continue
			}
			cliques++
			parent := t.Parent[c]
			inside := parent >= 0 && t.Cliques[parent].Contains(s)
			if inside && t.Separators[c] != s {
				piece[c] = piece[parent]
				sizes[piece[c]]++
				continue
			}
			if inside {
				cuts++
			}
			piece[c] = len(sizes)
			sizes = append(sizes, 1)
		}
		yield(cliques, cuts, sizes)
	}
}
