// Package keymap finds the key variables that a dataset shares with other collections, from what is known of their questions alone: which
// variables each of them holds, and how each is categorized (Smith and Elliot, key variable mapping).
//
// The categories of a variable are drawn in a partition graph ([Graph]): a parent is the union of its children, and the sinks, which have no
// children, are the smallest categories. A categorization is a set of nodes that reach every sink once, and is for every purpose the
// partition of the sinks that it makes ([Partition]). Categorizations are harmonized by merging their categories until they are the same
// ([Join]): what is left is the finest version on which records of all can be compared. All harmonizations of those that are in use are the
// nodes of the harmonization graph ([Closure], [Harmonizations]); an analysis asks it for the most detailed one that enough collections
// share with the dataset ([Profile], [Candidates]).
//
// Nothing depends on how a graph is drawn, nor on the order of forms: only on which sinks a category reaches.
package keymap

import (
	"fmt"
	"math"
	"slices"
)

// A Partition of the k sinks of a variable into blocks: two bytes a sink, the number of its block, and blocks are numbered as they appear.
// Two categorizations that make the same blocks are the same string, and strings in order are the canonical order. The zero value is the
// partition of no sinks.
type Partition string

// Any is the categorization of arbitrary precision: the value itself is written in. It is finer than every other.
const Any Partition = "*"

// MaxSinks is how many smallest categories a variable can have.
const MaxSinks = 1 << 16

// Unbounded is the size of [Any].
const Unbounded = math.MaxInt

// NewPartition is the partition in which sinks of equal labels are one block.
func NewPartition(labels []int) (Partition, error) {
	if len(labels) > MaxSinks {
		return "", tooManySinks(len(labels))
	}
	block := make(map[int]int)
	b := make([]byte, 0, 2*len(labels))
	for _, x := range labels {
		n, ok := block[x]
		if !ok {
			n = len(block)
			block[x] = n
		}
		b = append(b, byte(n>>8), byte(n))
	}
	return Partition(b), nil
}

func tooManySinks(n int) error {
	return fmt.Errorf("%d smallest categories, at most %d can be told apart: draw the variable with fewer", n, MaxSinks)
}

// Sinks is the number of sinks, 0 for Any.
func (p Partition) Sinks() int { return len(p) / 2 }

// Block is the number of the block of a sink.
func (p Partition) Block(sink int) int { return int(p[2*sink])<<8 | int(p[2*sink+1]) }

// Size is the number of blocks, [Unbounded] for Any.
func (p Partition) Size() int {
	if p == Any {
		return Unbounded
	}
	n := 0
	for i := range p.Sinks() {
		n = max(n, p.Block(i)+1)
	}
	return n
}

// Blocks are the sinks of each block.
func (p Partition) Blocks() [][]int {
	if p == Any {
		return nil
	}
	blocks := make([][]int, p.Size())
	for i := range p.Sinks() {
		b := p.Block(i)
		blocks[b] = append(blocks[b], i)
	}
	return blocks
}

// Refines tells whether every block of p lies in a block of q. Any refines all, and only Any refines Any.
func (p Partition) Refines(q Partition) bool {
	var o order
	return o.refines(sized{p, p.Size()}, sized{q, q.Size()})
}

// sized is a partition beside its number of blocks.
type sized struct {
	p Partition
	n int
}

// order compares partitions of the same sinks; it keeps what it needs to do so.
type order struct{ image []int32 }

func (o *order) refines(p, q sized) bool {
	switch {
	case p.p == q.p || p.p == Any:
		return true
	case q.p == Any || p.n <= q.n:
		return false
	}
	o.image = slices.Grow(o.image[:0], p.n)[:p.n]
	known := 0
	for i := range p.p.Sinks() {
		x, y := p.p.Block(i), int32(q.p.Block(i))
		if x == known {
			o.image[known] = y
			known++
		} else if o.image[x] != y {
			return false
		}
	}
	return true
}

// Join harmonizes two categorizations of the same sinks: the finest one that both refine.
func Join(p, q Partition) Partition {
	var j joiner
	return j.join(sized{p, p.Size()}, sized{q, q.Size()}).p
}

// Harmonize is the finest categorization that all of them refine; Any where there is none that has categories.
func Harmonize(ps ...Partition) Partition {
	var j joiner
	h := sized{Any, Unbounded}
	for _, p := range ps {
		h = j.join(h, sized{p, p.Size()})
	}
	return h.p
}

// joiner joins partitions of the same sinks, by a forest over the blocks of both.
type joiner struct {
	up   []int32
	name []int32
	out  []byte
}

func (j *joiner) join(p, q sized) sized {
	switch {
	case p.p == Any || p.p == q.p:
		return q
	case q.p == Any:
		return p
	}
	switch n := j.unite(p, q); n {
	case p.n:
		return p
	case q.n:
		return q
	default:
		return sized{Partition(j.labels(p, n)), n}
	}
}

// unite merges the blocks of two partitions, and is the number of blocks of their join. It is the one of them that has as many.
func (j *joiner) unite(p, q sized) int {
	blocks := p.n + q.n
	j.up = slices.Grow(j.up[:0], blocks)[:blocks]
	for i := range j.up {
		j.up[i] = int32(i)
	}
	trees := blocks
	lastX, lastY := -1, -1
	for i := 0; i < p.p.Sinks() && trees > 1; i++ {
		x, y := p.p.Block(i), q.p.Block(i)
		if x == lastX && y == lastY {
			continue
		}
		lastX, lastY = x, y
		a, b := j.root(int32(x)), j.root(int32(p.n+y))
		if a != b {
			j.up[max(a, b)] = min(a, b)
			trees--
		}
	}
	return trees
}

// labels are those of the join of n blocks that was united last, of p and another; they are written over by the next.
func (j *joiner) labels(p sized, n int) []byte {
	k := p.p.Sinks()
	j.out = slices.Grow(j.out[:0], 2*k)[:2*k]
	if n == 1 {
		clear(j.out)
		return j.out
	}
	j.name = slices.Grow(j.name[:0], p.n)[:p.n]
	next := int32(0)
	for x := range j.name { // blocks of p appear in the order of their numbers; a root is the least of its tree, and every tree has a block of p
		if r := j.root(int32(x)); r == int32(x) {
			j.name[x] = next
			next++
		} else {
			j.name[x] = j.name[r]
		}
	}
	for i := range k {
		name := j.name[p.p.Block(i)]
		j.out[2*i], j.out[2*i+1] = byte(name>>8), byte(name)
	}
	return j.out
}

func (j *joiner) root(x int32) int32 {
	for j.up[x] != x {
		j.up[x] = j.up[j.up[x]]
		x = j.up[x]
	}
	return x
}
