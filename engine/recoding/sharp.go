package recoding

import (
	"fmt"
	"math"
)

// A sharp loss can tell more than its Bound where records must be suppressed: those that are at a coarser node are at a finer one, too, where classes
// that are safe stay so.
type sharp interface {
	// Hidden is, for each variable and level up to that of the outcome's node, at least what suppressing its records adds to the figure of the variable.
	Hidden(l *Lattice, o *Outcome) [][]float64
	// Above is at most the loss of a node's release of which so much is added, by variable.
	Above(l *Lattice, n Node, added func(v int) float64) []float64
}

// A hiding is what a node's table told of the suppression at finer ones.
type hiding struct {
	node  Node
	added [][]float64
}

// mostHidings is how many nodes are looked at for a bound.
const mostHidings = 1 << 6

// hide keeps what an outcome tells of finer nodes.
func (s *searcher) hide(o *Outcome) {
	if s.sharp == nil || o.Suppressed == 0 || o.Suppressed > s.o.Suppressed {
		return
	}
	h := hiding{o.Node, s.sharp.Hidden(s.l, o)}
	if len(s.hidings) < mostHidings {
		s.hidings = append(s.hidings, h)
		return
	}
	s.hidings[s.hidden%mostHidings] = h
	s.hidden++
}

// bound is that of a node's loss by all that is known, as far as it takes to say that it is enough.
func (s *searcher) bound(n Node) float64 {
	most := s.o.Loss.Bound(s.l, n)[0]
	for i, h := range s.hidings {
		if s.enough(most) {
			break
		}
		if !n.Finer(h.node) {
			continue
		}
		if b := s.sharp.Above(s.l, n, func(v int) float64 { return h.added[v][n[v]] })[0]; b > most {
			most = b
			if i > 0 { // it is likely to be so of the next node, too
				s.hidings[i-1], s.hidings[i] = h, s.hidings[i-1]
			}
		}
	}
	return most
}

// hidden adds up by groups what each suppressed record adds at least, at each level up to an outcome's.
func (l *Lattice) hidden(o *Outcome, name string, of func(v int, level uint8) []float64) [][]float64 {
	kept := l.shown(o)
	out := make([][]float64, len(o.Node))
	for v, top := range o.Node {
		for level := range int(top) + 1 {
			sum := 0.0
			least := l.leastOf(name, v, level, int(top), of)
			for g, n := range l.sums[v][top] {
				if gone := n - kept[v][g]; gone > 0 {
					sum += float64(gone) * least[g]
				}
			}
			out[v] = append(out[v], sum)
		}
	}
	return out
}

// leastOf is the least of a figure among the groups of a level in each group of a coarser one.
func (l *Lattice) leastOf(name string, v, level, top int, of func(v int, level uint8) []float64) []float64 {
	name = fmt.Sprint(name, " ", v, level, " ", top)
	if made, there := l.least[name]; there {
		return made
	}
	list := make([]float64, len(l.sums[v][top]))
	for g := range list {
		list[g] = math.Inf(1)
	}
	up, err := l.above(v, level, top)
	if err == nil { // the levels nest
		for h, x := range of(v, uint8(level)) {
			if l.sums[v][level][h] > 0 {
				list[up[h]] = min(list[up[h]], x)
			}
		}
	}
	l.least[name] = list
	return list
}

// Hidden is what the cells of suppressed records lose besides what they would.
func (c Cells) Hidden(l *Lattice, o *Outcome) [][]float64 {
	return l.hidden(o, c.Name(), func(v int, level uint8) []float64 { return c.Kept(l, v, level) })
}

// Above is a sharp loss's.
func (c Cells) Above(l *Lattice, n Node, added func(v int) float64) []float64 {
	sum := c.Bound(l, n)[0]
	if w := l.weights(); w > 0 {
		for v := range n {
			sum += l.Variables[v].Weight / w * added(v) / float64(l.Records)
		}
	}
	return []float64{sum}
}

// Hidden is by how much more the variables of suppressed records are coarser.
func (g Granularity) Hidden(l *Lattice, o *Outcome) [][]float64 {
	general, hidden := min(1, 1-2*g.Tilt), min(1, 1+2*g.Tilt)
	out := l.hidden(o, fmt.Sprint("granularity ", g.Tilt), func(v int, level uint8) []float64 {
		var list []float64
		for _, size := range l.Variables[v].Levels[level].Size {
			part := float64(size) / l.domain[v]
			list = append(list, part+hidden*(1-part)-general*part)
		}
		return list
	})
	for v := range out {
		n := float64(l.Records)
		least := general * n / l.domain[v]
		for level := range out[v] {
			if n > least {
				out[v][level] /= n - least
			} else {
				out[v][level] = 0
			}
		}
	}
	return out
}

// Above is a sharp loss's.
func (g Granularity) Above(l *Lattice, n Node, added func(v int) float64) []float64 {
	of := g.each(l)
	return g.together(l, func(v int) float64 { return of[v][n[v]] + added(v) })
}

// Hidden is how far the levels of suppressed records are from the top.
func (Precision) Hidden(l *Lattice, o *Outcome) [][]float64 {
	var out [][]float64
	for v, top := range o.Node {
		var list []float64
		for level := range int(top) + 1 {
			part := 0.0
			if most := len(l.Variables[v].Levels) - 1; most > 0 {
				part = float64(level) / float64(most)
			}
			list = append(list, float64(o.Suppressed)/float64(max(l.Records, 1))*(1-part))
		}
		out = append(out, list)
	}
	return out
}

// Above is a sharp loss's.
func (p Precision) Above(l *Lattice, n Node, added func(v int) float64) []float64 {
	sum := p.Bound(l, n)[0]
	for v := range n {
		sum += l.Variables[v].Weight * added(v) / float64(len(n))
	}
	return []float64{sum}
}

// Hidden is the bits that it takes to say which groups suppressed records were in: more records, and finer groups, take no fewer.
func (Entropy) Hidden(l *Lattice, o *Outcome) [][]float64 {
	kept := l.shown(o)
	var out [][]float64
	for v, top := range o.Node {
		bits := 0.0
		for g, n := range l.sums[v][top] {
			bits -= xlog2(n-kept[v][g], o.Suppressed)
		}
		list := make([]float64, int(top)+1)
		for level := range list {
			list[level] = bits
		}
		out = append(out, list)
	}
	return out
}

// Above is a sharp loss's.
func (e Entropy) Above(l *Lattice, n Node, added func(v int) float64) []float64 {
	sum := e.Bound(l, n)[0]
	for v := range n {
		sum += l.Variables[v].Weight * added(v)
	}
	return []float64{sum}
}
