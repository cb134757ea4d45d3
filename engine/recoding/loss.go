package recoding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Loss says how much of a file's information a recoding takes away. Values are compared in the order of their numbers, most have one.
type Loss interface {
	Name() string
	// Bound is at most the loss of the node whatever is suppressed, and of all coarser nodes; it needs no table.
	Bound(l *Lattice, n Node) []float64
	// Of is the loss of a release.
	Of(l *Lattice, o *Outcome) []float64
	// Free tells whether the loss is the bound where nothing is suppressed.
	Free() bool
	// Blind tells whether suppressed records make no difference.
	Blind() bool
	// Rises tells whether the loss of a coarser node is at least that of a finer one where nothing is suppressed.
	Rises() bool
}

// close is how near losses are, relatively, that count as equal: their sums depend on the order of variables.
const close = 1e-12

// compare compares losses.
func compare(a, b []float64) int {
	for i, x := range a {
		if y := b[i]; math.Abs(x-y) > close*max(math.Abs(x), math.Abs(y)) {
			return cmp.Compare(x, y)
		}
	}
	return 0
}

// A free loss is a sum over variables, or another function of them, that needs no table.
type free struct{}

func (free) Free() bool  { return true }
func (free) Blind() bool { return false }
func (free) Rises() bool { return true }

// A counted loss needs the table of the node.
type counted struct{}

func (counted) Free() bool  { return false }
func (counted) Blind() bool { return false }
func (counted) Rises() bool { return true }

// Cells is the mean over all cells of the key, by the weights of their variables, of the share of a cell's information that is lost: 0 where it is as
// it was, 1 where it is suppressed or its variable has one group, and between them log(n_g/n_a) / log(n/n_a), with n_a records of the value, n_g of
// its group and n in the file; or, with Spread, (|g| - 1)/(D - 1), with |g| values in the group and D in the hierarchy.
type Cells struct {
	free
	Spread bool
}

// Name is a Loss's.
func (c Cells) Name() string {
	if c.Spread {
		return "spread"
	}
	return "cells"
}

// lost is the loss of all cells of a variable at a level, by group, summed over the records of the group.
func (c Cells) lost(l *Lattice, v int, level uint8) []float64 {
	x := &l.Variables[v]
	groups := l.sums[v][level]
	out := make([]float64, len(groups))
	if c.Spread {
		for g, n := range groups {
			if l.domain[v] > 1 {
				out[g] = float64(n) * float64(x.Levels[level].Size[g]-1) / (l.domain[v] - 1)
			}
		}
		return out
	}
	up, _ := l.above(v, 0, int(level))
	for a, n := range l.sums[v][0] {
		if n == 0 || n == l.Records {
			continue
		}
		g := up[a]
		out[g] += float64(n) * math.Log(float64(groups[g])/float64(n)) / math.Log(float64(l.Records)/float64(n))
	}
	return out
}

// Variable is the mean loss of a variable's cells at a level, where none is suppressed.
func (c Cells) Variable(l *Lattice, v int, level uint8) float64 {
	sum := 0.0
	for _, x := range c.lost(l, v, level) {
		sum += x
	}
	return sum / float64(max(l.Records, 1))
}

// Kept is how much of the information of a cell is left at a level, by group, in the mean over the records of the group.
func (c Cells) Kept(l *Lattice, v int, level uint8) []float64 {
	list := c.lost(l, v, level)
	for g, n := range l.sums[v][level] {
		list[g] = 1 - list[g]/float64(max(n, 1))
	}
	return list
}

// Sums are the records of each group of a level.
func (l *Lattice) Sums(v int, level uint8) []int64 { return slices.Clone(l.sums[v][level]) }

func (l *Lattice) weights() float64 {
	sum := 0.0
	for v := range l.Variables {
		sum += l.Variables[v].Weight
	}
	return sum
}

// Bound is a Loss's.
func (c Cells) Bound(l *Lattice, n Node) []float64 {
	sum := 0.0
	of := l.memo(c.Name(), func(v int, level uint8) float64 { return c.Variable(l, v, level) })
	for v, level := range n {
		sum += l.Variables[v].Weight * of[v][level]
	}
	if w := l.weights(); w > 0 {
		sum /= w
	}
	return []float64{sum}
}

// Of is a Loss's.
func (c Cells) Of(l *Lattice, o *Outcome) []float64 {
	kept := l.shown(o)
	if kept == nil {
		return c.Bound(l, o.Node)
	}
	return c.Suppressed(l, o.Node, kept)
}

// Suppressed is the loss where so many records of each group, by variable, keep their cell.
func (c Cells) Suppressed(l *Lattice, n Node, kept [][]int64) []float64 {
	sum := 0.0
	for v, level := range n {
		w := l.Variables[v].Weight
		if w == 0 {
			continue
		}
		shown := int64(0)
		for g, lost := range c.lost(l, v, level) {
			if all := l.sums[v][level][g]; all > 0 {
				sum += w * lost * float64(kept[v][g]) / float64(all)
			}
			shown += kept[v][g]
		}
		sum += w * float64(l.Records-shown)
	}
	if w := l.weights(); w > 0 && l.Records > 0 {
		sum /= w * float64(l.Records)
	}
	return []float64{sum}
}

// Height is the sum of the levels; suppressed records count for nothing.
type Height struct{ free }

// Name is a Loss's.
func (Height) Name() string { return "height" }

// Blind is a Loss's.
func (Height) Blind() bool { return true }

// Bound is a Loss's.
func (Height) Bound(_ *Lattice, n Node) []float64 { return []float64{float64(n.Height())} }

// Of is a Loss's.
func (h Height) Of(l *Lattice, o *Outcome) []float64 { return h.Bound(l, o.Node) }

// Precision is the mean over all cells of level / highest level, 1 where they are suppressed (Sweeney 2002).
type Precision struct{ free }

// Name is a Loss's.
func (Precision) Name() string { return "precision" }

// Bound is a Loss's.
func (Precision) Bound(l *Lattice, n Node) []float64 { return precision(l, n, 0) }

// Of is a Loss's.
func (Precision) Of(l *Lattice, o *Outcome) []float64 { return precision(l, o.Node, o.Suppressed) }

func precision(l *Lattice, n Node, suppressed int64) []float64 {
	sum, lost := 0.0, float64(suppressed)/float64(max(l.Records, 1))
	for v, level := range n {
		x := &l.Variables[v]
		part := 0.0
		if most := len(x.Levels) - 1; most > 0 {
			part = float64(level) / float64(most)
		}
		sum += x.Weight * ((1-lost)*part + lost)
	}
	return []float64{sum / float64(len(n))}
}

// Ways of putting the granularity of several variables together.
const (
	Geometric = "geometric" // the product of 1 + loss, to the power of 1 by their number, less 1
	Mean      = "mean"
	Rank      = "rank" // the greatest first, then the next
)

// Granularity is how large a part of the hierarchy's values a cell stands for, 0 where it is one of them and 1 where it is all or suppressed (Iyengar
// 2002). Tilt, of -1/2 to 1/2, makes suppression cheaper below 0, and generalisation above.
type Granularity struct {
	free
	Way  string
	Tilt float64
}

// Name is a Loss's.
func (Granularity) Name() string { return "granularity" }

// Bound is a Loss's.
func (g Granularity) Bound(l *Lattice, n Node) []float64 {
	of := g.each(l)
	return g.together(l, func(v int) float64 { return of[v][n[v]] })
}

// each is the granularity of each variable and level where nothing is suppressed.
func (g Granularity) each(l *Lattice) [][]float64 {
	return l.memo(fmt.Sprint("granularity ", g.Tilt), func(v int, level uint8) float64 { return g.of(l, v, level, l.sums[v][level], 0) })
}

// Of is a Loss's.
func (g Granularity) Of(l *Lattice, o *Outcome) []float64 {
	kept := l.shown(o)
	if kept == nil {
		return g.Bound(l, o.Node)
	}
	return g.together(l, func(v int) float64 { return g.of(l, v, o.Node[v], kept[v], o.Suppressed) })
}

// of is the granularity of a variable.
func (g Granularity) of(l *Lattice, v int, level uint8, kept []int64, suppressed int64) float64 {
	general, hidden := min(1, 1-2*g.Tilt), min(1, 1+2*g.Tilt)
	d, n := l.domain[v], float64(l.Records)
	sum := 0.0
	size := l.Variables[v].Levels[level].Size
	for group, k := range kept {
		part := float64(size[group]) / d
		sum += general * part * float64(k)
		if suppressed > 0 {
			gone := float64(l.sums[v][level][group] - k)
			sum += gone * (part + hidden*(1-part))
		}
	}
	if least := general * n / d; n > least {
		return max(0, (sum-least)/(n-least))
	}
	return 0
}

func (g Granularity) together(l *Lattice, of func(v int) float64) []float64 {
	switch g.Way {
	case Rank:
		most := 0.0
		for v := range l.Variables {
			most = max(most, l.Variables[v].Weight)
		}
		list := make([]float64, len(l.Variables))
		for v := range list {
			if most > 0 {
				list[v] = of(v) * l.Variables[v].Weight / most
			}
		}
		slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
		return list
	case Mean:
		sum := 0.0
		for v := range l.Variables {
			sum += of(v) * l.Variables[v].Weight
		}
		return []float64{sum / float64(len(l.Variables))}
	}
	product := 1.0
	for v := range l.Variables {
		product *= 1 + of(v)*l.Variables[v].Weight
	}
	return []float64{math.Pow(product, 1/float64(len(l.Variables))) - 1}
}

// Entropy is the bits that it takes to say which value each cell had (non-uniform entropy, Gionis & Tassa 2009); Kept alone takes no account of
// suppressed records, without it they are a group of their own in each variable.
type Entropy struct {
	free
	Kept bool
}

// Name is a Loss's.
func (Entropy) Name() string { return "entropy" }

// Blind is a Loss's.
func (e Entropy) Blind() bool { return e.Kept }

// Bound is a Loss's.
func (Entropy) Bound(l *Lattice, n Node) []float64 {
	of := l.memo("entropy", func(v int, level uint8) float64 {
		up, _ := l.above(v, 0, int(level))
		bits := 0.0
		for a, n := range l.sums[v][0] {
			if n > 0 {
				bits -= xlog2(n, l.sums[v][level][up[a]])
			}
		}
		return bits
	})
	sum := 0.0
	for v, level := range n {
		sum += l.Variables[v].Weight * of[v][level]
	}
	return []float64{sum}
}

// Of is a Loss's.
func (e Entropy) Of(l *Lattice, o *Outcome) []float64 {
	sum := e.Bound(l, o.Node)[0]
	kept := l.shown(o)
	if kept == nil || e.Kept {
		return []float64{sum}
	}
	for v, level := range o.Node {
		for g, n := range l.sums[v][level] {
			sum -= l.Variables[v].Weight * xlog2(n-kept[v][g], o.Suppressed)
		}
	}
	return []float64{sum}
}

// Discernibility is the sum of the squared sizes of classes; a suppressed record counts as many as there are, unless All classes count as they are.
type Discernibility struct {
	counted
	All bool
}

// Name is a Loss's.
func (Discernibility) Name() string { return "discernibility" }

// Blind is a Loss's.
func (d Discernibility) Blind() bool { return d.All }

// Bound is a Loss's: as if all were alone.
func (Discernibility) Bound(l *Lattice, _ Node) []float64 { return []float64{float64(l.Records)} }

// Of is a Loss's.
func (d Discernibility) Of(l *Lattice, o *Outcome) []float64 {
	if !d.All {
		return []float64{o.Squares + float64(l.Records)*float64(o.Suppressed)}
	}
	all, err := l.Outcome(o.Node, nil)
	if err != nil { // the table was made for o
		return []float64{math.Inf(1)}
	}
	return []float64{all.Squares}
}

// ClassSize is the mean size of classes, of which suppressed records are one.
type ClassSize struct{ counted }

// Name is a Loss's.
func (ClassSize) Name() string { return "class-size" }

// Bound is a Loss's.
func (ClassSize) Bound(*Lattice, Node) []float64 { return []float64{1} }

// Of is a Loss's.
func (ClassSize) Of(l *Lattice, o *Outcome) []float64 {
	classes := o.Classes
	if o.Suppressed > 0 {
		classes++
	}
	return []float64{float64(l.Records) / float64(max(classes, 1))}
}

// memo keeps a figure of each variable and level.
func (l *Lattice) memo(name string, of func(v int, level uint8) float64) [][]float64 {
	table, made := l.figures[name]
	if made {
		return table
	}
	for v := range l.Variables {
		var row []float64
		for level := range l.Variables[v].Levels {
			row = append(row, of(v, uint8(level)))
		}
		table = append(table, row)
	}
	l.figures[name] = table
	return table
}

// Divergence is how many bits a record loses if the values of a group are taken to be equally likely: the Kullback-Leibler divergence of the file from
// what the release tells of it (Kifer & Gehrke 2006). Suppressed records count as they were.
type Divergence struct{ counted }

// Name is a Loss's.
func (Divergence) Name() string { return "divergence" }

// Blind is a Loss's.
func (Divergence) Blind() bool { return true }

// Bound is a Loss's.
func (Divergence) Bound(*Lattice, Node) []float64 { return []float64{0} }

// Of is a Loss's.
func (Divergence) Of(l *Lattice, o *Outcome) []float64 {
	sum := 0.0
	n := float64(l.Records)
	for _, node := range []Node{o.Node, make(Node, len(o.Node))} {
		sign := 1.0
		if &node[0] != &o.Node[0] {
			sign = -1
		}
		all, err := l.Outcome(node, nil)
		if err != nil {
			return []float64{math.Inf(1)}
		}
		err = l.Each(all, func(groups []uint32, f int64) {
			size := 0.0
			for v, g := range groups {
				size += math.Log2(float64(l.Variables[v].Levels[node[v]].Size[g]))
			}
			sum += sign * float64(f) / n * (size - math.Log2(float64(f)/n))
		})
		if err != nil {
			return []float64{math.Inf(1)}
		}
	}
	return []float64{max(0, sum)}
}
