package keymap

// An Overlap tells which categories of two categorizations may hold the same record: the pairs of blocks that share a sink.
type Overlap struct {
	Pairs    [][2]int // blocks of the first, of the second
	All      int      // pairs that there are
	Partners [2][][]int
	Inside   [2][]bool // whether a block lies within one block of the other
}

// Overlaps compares two partitions of the same sinks, neither of which is Any. What harmonizing merges may still tell many records apart:
// two categorizations without a common boundary harmonize to one category, though few of their pairs are compatible.
func Overlaps(p, q Partition) Overlap {
	sizes := [2]int{p.Size(), q.Size()}
	o := Overlap{All: sizes[0] * sizes[1]}
	for side, n := range sizes {
		o.Partners[side] = make([][]int, n)
		o.Inside[side] = make([]bool, n)
	}
	seen := make(map[[2]int]bool)
	for s := range p.Sinks() {
		pair := [2]int{p.Block(s), q.Block(s)}
		if !seen[pair] {
			seen[pair] = true
			o.Pairs = append(o.Pairs, pair)
			o.Partners[0][pair[0]] = append(o.Partners[0][pair[0]], pair[1])
			o.Partners[1][pair[1]] = append(o.Partners[1][pair[1]], pair[0])
		}
	}
	for side := range o.Inside {
		for b, partners := range o.Partners[side] {
			o.Inside[side][b] = len(partners) == 1
		}
	}
	return o
}
