package redesign

import (
	"encoding/binary"
	"slices"
)

// A Move is one merge: of two categories with all that are one with them already, of a group, or of all below a code.
type Move struct {
	Variable int
	Nodes    []int32 // categories that become one; of a hierarchy the code below which nothing is told apart
}

// Apply makes a design with a move; false if it must not be made: a pinned category, or fewer than two categories of a variable left.
func (p *Problem) Apply(d Design, m Move) (Design, bool) {
	made, ok := p.merge(d, m)
	return made, ok && p.Left(made, m.Variable) >= 2
}

// merge is Apply where nothing need be left.
func (p *Problem) merge(d Design, m Move) (Design, bool) {
	v := m.Variable
	made := slices.Clone(d)
	made[v] = slices.Clone(d[v])
	if p.kinds[v].nested {
		for node := range made[v] {
			if p.below(v, int32(node), m.Nodes[0]) {
				if p.pinned(v, int32(node)) {
					return nil, false
				}
				made[v][node] = m.Nodes[0]
			}
		}
		return made, true
	}
	to := d[v][m.Nodes[0]]
	for _, node := range m.Nodes {
		if p.pinned(v, node) {
			return nil, false
		}
		if other := d[v][node]; p.before(v, other, to) {
			to = other
		}
	}
	for _, node := range m.Nodes {
		from := d[v][node]
		for i, at := range made[v] {
			if at == from {
				made[v][i] = to
			}
		}
	}
	return made, true
}

// below tells whether a node of a tree is below another.
func (p *Problem) below(v int, node, above int32) bool {
	for n := p.Variables[v].Tree.Nodes[node].Parent; n >= 0; n = p.Variables[v].Tree.Nodes[n].Parent {
		if int32(n) == above {
			return true
		}
	}
	return false
}

// before tells whether a category stands before another.
func (p *Problem) before(v int, a, b int32) bool {
	if x, y := p.kinds[v].place[a], p.kinds[v].place[b]; x >= 0 && y >= 0 {
		return x < y
	}
	return a < b
}

// Moves are all single merges of a design, of which one of a list at least is in every coarser design that changes the node of a variable;
// node -1 is any.
func (p *Problem) Moves(d Design, v int, node int32) []Move {
	k := &p.kinds[v]
	switch {
	case node == 0:
		return nil
	case k.nested:
		return p.collapses(d, v, node)
	case p.Variables[v].Groups != nil:
		return p.grouped(d, v, node)
	}
	firsts := p.firsts(d, v)
	var list []Move
	if p.Variables[v].Order != nil {
		for i := 1; i < len(firsts); i++ {
			a, b := firsts[i-1], firsts[i]
			last := p.last(d, v, a)
			if (node < 0 || a == node || b == node) && p.kinds[v].place[b] == p.kinds[v].place[last]+1 {
				list = append(list, Move{v, []int32{last, b}}) // these are neighbours, whatever else is merged
			}
		}
		return list
	}
	for i, a := range firsts {
		for _, b := range firsts[i+1:] {
			if node < 0 || a == node || b == node {
				list = append(list, Move{v, []int32{a, b}})
			}
		}
	}
	return list
}

// Most is how many single merges of a variable there are at most, without listing them.
func (p *Problem) Most(v int) int {
	n := len(p.kinds[v].mergers)
	if p.kinds[v].nested || p.Variables[v].Groups != nil || p.Variables[v].Order != nil {
		return len(p.Variables[v].Tree.Nodes)
	}
	return n * (n - 1) / 2
}

// firsts are the first of the categories that are one already, of those that may become one with others.
func (p *Problem) firsts(d Design, v int) []int32 {
	var list []int32
	for _, node := range p.kinds[v].mergers {
		if d[v][node] == node {
			list = append(list, node)
		}
	}
	return list
}

// last is the last of the categories that are one with a first.
func (p *Problem) last(d Design, v int, first int32) int32 {
	last := first
	for node, to := range d[v] {
		if to == first && p.kinds[v].place[node] > p.kinds[v].place[last] {
			last = int32(node)
		}
	}
	return last
}

func (p *Problem) grouped(d Design, v int, node int32) []Move {
	var list []Move
	for g, nodes := range p.Variables[v].Groups {
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(n int32) bool { return !p.kinds[v].present[n] })
		if len(nodes) < 2 || d[v][nodes[0]] == d[v][nodes[1]] || node >= 0 && p.kinds[v].group[node] != g {
			continue
		}
		list = append(list, Move{v, nodes})
	}
	return list
}

// collapses are the codes below which nothing is told apart any more: of a node the nearest above it that has other parts.
func (p *Problem) collapses(d Design, v int, node int32) []Move {
	tree, k := p.Variables[v].Tree, &p.kinds[v]
	if node >= 0 {
		for n := tree.Nodes[node].Parent; n > 0; n = tree.Nodes[n].Parent {
			if len(k.children[n]) > 1 {
				return []Move{{v, []int32{int32(n)}}}
			}
		}
		return nil
	}
	var list []Move
	for n := 1; n < len(tree.Nodes); n++ {
		if k.present[n] && d[v][n] == int32(n) && len(k.children[n]) > 1 && d[v][k.children[n][0]] != int32(n) {
			list = append(list, Move{v, []int32{int32(n)}})
		}
	}
	return list
}

// coarsest merges all that may be, even to a single category.
func (p *Problem) coarsest() Design {
	d := p.Same()
	for v := range d {
		for again := true; again; {
			again = false
			for _, m := range p.Moves(d, v, -1) {
				if !p.kinds[v].nested && !slices.ContainsFunc(m.Nodes, func(n int32) bool { return d[v][n] != d[v][m.Nodes[0]] }) {
					continue // they are one by now
				}
				if next, ok := p.merge(d, m); ok {
					if d, again = next, true; p.kinds[v].nested {
						break // others are below it
					}
				}
			}
		}
	}
	return d
}

// Coarser tells whether a design merges all that another does.
func (p *Problem) Coarser(d, than Design) bool {
	for v := range d {
		for node := range d[v] {
			// What stands for a node in the finer one has the same in the coarser.
			if p.kinds[v].present[node] && d[v][node] != d[v][than[v][node]] {
				return false
			}
		}
	}
	return true
}

// place is a design as a text by which designs are told apart.
func (d Design) place() string {
	var b []byte
	for v := range d {
		for _, to := range d[v] {
			b = binary.LittleEndian.AppendUint32(b, uint32(to))
		}
	}
	return string(b)
}
