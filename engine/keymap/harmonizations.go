package keymap

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// A HarmonizationGraph holds the harmonizations of a variable by how fine they are: a path leads from v to w exactly if v is strictly
// coarser, and no edge says what a path says. It is the Hasse diagram of the closure, and so does not depend on any order of forms.
type HarmonizationGraph struct {
	Nodes    []Partition
	Children [][]int // of each node the finer ones next to it, ascending
}

// Harmonizations draws the graph of a closure, as [Closure] makes it. Nodes stand by size, coarse ones first, then in canonical order.
func Harmonizations(ctx context.Context, closure []Partition) (*HarmonizationGraph, error) {
	nodes := make([]sized, len(closure))
	for i, p := range closure {
		nodes[i] = sized{p, p.Size()}
	}
	slices.SortFunc(nodes, func(a, b sized) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.p, b.p)) })
	g := &HarmonizationGraph{Nodes: make([]Partition, len(nodes)), Children: make([][]int, len(nodes))}
	words := (len(nodes) + 63) / 64
	finer := make([][]uint64, len(nodes))
	var o order
	for v := len(nodes) - 1; v >= 0; v-- {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		g.Nodes[v] = nodes[v].p
		finer[v] = make([]uint64, words)
		for w := v + 1; w < len(nodes); w++ { // a child comes before all that is finer than it
			if finer[v][w/64]>>(w%64)&1 == 0 && o.refines(nodes[w], nodes[v]) {
				g.Children[v] = append(g.Children[v], w)
				finer[v][w/64] |= 1 << (w % 64)
				for i, x := range finer[w] {
					finer[v][i] |= x
				}
			}
		}
	}
	return g, nil
}

// Edges is how many there are.
func (g *HarmonizationGraph) Edges() int {
	n := 0
	for _, c := range g.Children {
		n += len(c)
	}
	return n
}

// Lookup is the harmonization of some nodes, found by edges alone: the one sink among what is coarser than, or the same as, all of them.
func (g *HarmonizationGraph) Lookup(nodes ...int) int {
	words := (len(g.Nodes) + 63) / 64
	all := make([]uint64, words)
	for i := range all {
		all[i] = ^uint64(0)
	}
	for _, v := range nodes {
		above := make([]uint64, words)
		above[v/64] |= 1 << (v % 64)
		for u := v - 1; u >= 0; u-- { // parents come before their children
			for _, c := range g.Children[u] {
				if above[c/64]>>(c%64)&1 == 1 {
					above[u/64] |= 1 << (u % 64)
				}
			}
		}
		for i := range all {
			all[i] &= above[i]
		}
	}
	for i := words - 1; i >= 0; i-- {
		if all[i] != 0 {
			return 64*i + bits.Len64(all[i]) - 1
		}
	}
	return -1
}
