// Package merged tells what models of a population, fitted once, say of a release in which categories are merged: the probability of a merged key is
// the sum of those of all keys within it, also of those that no record has. The same graphs on merged tables would be other models, under which a
// recoding can seem to raise the risk.
//
//	m, err := merged.New(law, lattice, unsampled, merged.MostModels)
//	found, err := lattice.Search(ctx, recoding.Options{Rule: m.Expected(10), Loss: recoding.Cells{}})
//
// Source: Smith 2011, chapter 8 (relative risk of recodings), for one variable; sums over junction trees as of Lauritzen & Spiegelhalter 1988.
package merged

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/graph"
	"microrisk/engine/recoding"
)

// MostModels is how many of the most probable models are taken unless told.
const MostModels = 3

// few is how many records a class has at most of which a model is asked; of others F is taken to be f / sampling fraction.
const few = 20

// A Model answers for the recodings of a lattice. It is not safe for concurrent use.
type Model struct {
	lattice   *recoding.Lattice
	unsampled float64 // people who are not in the sample
	fraction  float64
	trees     []*tree
	weights   []float64
	node      recoding.Node
	members   [][][]uint32 // codes of each group, by variable, at the levels of node
}

// New takes the most probable models of a law whose variables are those of the lattice, in order, with the same codes.
func New(law *risk.Law, l *recoding.Lattice, unsampled float64, models int) (*Model, error) {
	if len(law.Levels) != len(l.Variables) {
		return nil, fmt.Errorf("the law has %d variables, the lattice %d", len(law.Levels), len(l.Variables))
	}
	for v, r := range law.Levels {
		if codes := len(l.Variables[v].Levels[0].Group); codes != r {
			return nil, fmt.Errorf("the law has %d categories of %s, the lattice %d", r, l.Variables[v].Name, codes)
		}
	}
	if !(unsampled >= 0) || math.IsInf(unsampled, 1) {
		return nil, fmt.Errorf("%v people are not in the sample: it must be a number of at least 0", unsampled)
	}
	m := &Model{lattice: l, unsampled: unsampled, fraction: float64(law.Records) / (float64(law.Records) + unsampled)}
	best := slices.Clone(law.Models)
	slices.SortStableFunc(best, func(a, b bayes.Model) int { return cmp.Compare(b.Weight, a.Weight) })
	if models > 0 && len(best) > models {
		best = best[:models]
	}
	total := 0.0
	for _, x := range best {
		t, err := newTree(law, x.Graph)
		if err != nil {
			return nil, err
		}
		m.trees, m.weights = append(m.trees, t), append(m.weights, x.Weight)
		total += x.Weight
	}
	if total == 0 {
		return nil, errors.New("the law has no models")
	}
	for i := range m.weights {
		m.weights[i] /= total
	}
	return m, nil
}

// A tree is a junction tree with what is summed over it.
type tree struct {
	cliques []*clique
	records float64
	alpha   float64

	levels recoding.Node
	groups []uint32
	codes  []uint32
	memo   map[string]float64
	key    []byte
	sizes  [][]float64 // codes in each group, by variable
}

// A clique with the separator to its parent.
type clique struct {
	separator []int  // variables
	between   []int  // others that separate it from a child
	private   []int  // others
	hidden    []bool // by variable of the clique: it is private
	below     []int  // variables of it and of its children that are not in the separator
	children  []int
	lambda    float64 // of a cell
	counts    *counts
	parent    *counts // of the separator; nil for the empty one
	above     float64 // lambda of the separator's cells
}

// counts are those of a margin: by fine codes of some variables and groups of the others.
type counts struct {
	margin *risk.Margin
	radix  []uint64 // by variable of the margin
	order  []int    // its variables
	fine   map[uint64]float64
	merged map[string]map[uint64]float64 // by the levels of the private variables
}

func newTree(law *risk.Law, g *graph.Graph) (*tree, error) {
	junction := g.JunctionTree()
	t := &tree{records: float64(law.Records), alpha: law.Precision, codes: make([]uint32, len(law.Levels)), memo: map[string]float64{}}
	of := func(set graph.Set) (*counts, float64, error) {
		lambda := law.Precision
		c := &counts{merged: map[string]map[uint64]float64{}}
		size := uint64(1)
		for v := range set.Vertices() {
			c.radix, c.order = append(c.radix, size), append(c.order, v)
			lambda /= float64(law.Levels[v])
			hi, lo := bits.Mul64(size, uint64(law.Levels[v]))
			if hi != 0 {
				return nil, 0, errors.New("a clique of the model has more than 2^64 cells: recodings cannot be judged by it")
			}
			size = lo
		}
		for i := range law.Margins {
			if law.Margins[i].Variables == set {
				c.margin = &law.Margins[i]
			}
		}
		if c.margin == nil {
			return nil, 0, fmt.Errorf("the law has no margin of the variables %v", slices.Collect(set.Vertices()))
		}
		return c, lambda, nil
	}
	for i, set := range junction.Cliques {
		c := &clique{above: law.Precision}
		var err error
		if c.counts, c.lambda, err = of(set); err != nil {
			return nil, err
		}
		if s := junction.Separators[i]; s != 0 {
			if c.parent, c.above, err = of(s); err != nil {
				return nil, err
			}
			c.parent.index()
			c.separator = slices.Collect(s.Vertices())
		}
		t.cliques = append(t.cliques, c)
	}
	within := make([]graph.Set, len(t.cliques)) // what children are separated by
	for i, p := range junction.Parent {
		if p >= 0 {
			t.cliques[p].children = append(t.cliques[p].children, i)
			within[p] |= junction.Separators[i]
		}
	}
	for i, c := range t.cliques {
		for v := range junction.Cliques[i].Vertices() {
			private := !junction.Separators[i].Has(v) && !within[i].Has(v)
			c.hidden = append(c.hidden, private)
			switch {
			case junction.Separators[i].Has(v):
			case !private:
				c.between = append(c.between, v)
			default:
				c.private = append(c.private, v)
			}
		}
	}
	t.reach(0, junction)
	return t, nil
}

// reach fills in the variables below each clique.
func (t *tree) reach(i int, junction graph.Tree) graph.Set {
	all := junction.Cliques[i]
	for _, c := range t.cliques[i].children {
		all |= t.reach(c, junction)
	}
	for v := range all.Vertices() {
		if !junction.Separators[i].Has(v) {
			t.cliques[i].below = append(t.cliques[i].below, v)
		}
	}
	return all
}

func (c *counts) index() {
	c.fine = make(map[uint64]float64, len(c.margin.Counts))
	for i, n := range c.margin.Counts {
		at := uint64(0)
		for j, r := range c.radix {
			at += r * uint64(c.margin.Codes[j][i])
		}
		c.fine[at] = float64(n)
	}
}

// at moves the model to a node.
func (m *Model) at(n recoding.Node) {
	if slices.Equal(m.node, n) {
		return
	}
	m.node = slices.Clone(n)
	m.members = m.members[:0]
	var sizes [][]float64
	for v, level := range n {
		groups := m.lattice.Variables[v].Levels[level].Group
		members := make([][]uint32, 0)
		for code, g := range groups {
			for len(members) <= int(g) {
				members = append(members, nil)
			}
			members[g] = append(members[g], uint32(code))
		}
		m.members = append(m.members, members)
		size := make([]float64, len(members))
		for g := range members {
			size[g] = float64(len(members[g]))
		}
		sizes = append(sizes, size)
	}
	for _, t := range m.trees {
		clear(t.memo)
		t.levels, t.sizes = m.node, sizes
	}
}

// Probabilities are those of a merged key, the groups of a node, by the models.
func (m *Model) Probabilities(n recoding.Node, groups []uint32, to []float64) []float64 {
	m.at(n)
	to = to[:0]
	for _, t := range m.trees {
		t.groups = groups
		to = append(to, m.message(t, 0))
	}
	return to
}

// message sums over what lies below a clique, for the codes of its separator.
func (m *Model) message(t *tree, i int) float64 {
	c := t.cliques[i]
	t.key = binary.LittleEndian.AppendUint16(t.key[:0], uint16(i))
	for _, v := range c.separator {
		t.key = binary.LittleEndian.AppendUint32(t.key, t.codes[v])
	}
	for _, v := range c.below {
		t.key = binary.LittleEndian.AppendUint32(t.key, t.groups[v])
	}
	if x, made := t.memo[string(t.key)]; made {
		return x
	}
	key := string(t.key)
	spread := c.lambda
	for _, v := range c.private {
		spread *= t.sizes[v][t.groups[v]]
	}
	merged := c.counts.mergedAt(m.lattice, c.private, t.levels)
	sum := m.sum(t, c, 0, merged, spread)
	below := t.records + c.above
	if c.parent != nil {
		at := uint64(0)
		for j, v := range c.separator {
			at += c.parent.radix[j] * uint64(t.codes[v])
		}
		below = c.parent.fine[at] + c.above
	}
	if sum /= below; !(below > 0) {
		sum = 0
	}
	t.memo[key] = sum
	return sum
}

// sum goes through the codes of the variables between a clique and its children.
func (m *Model) sum(t *tree, c *clique, k int, merged map[uint64]float64, spread float64) float64 {
	if k < len(c.between) {
		v := c.between[k]
		sum := 0.0
		for _, code := range m.members[v][t.groups[v]] {
			t.codes[v] = code
			sum += m.sum(t, c, k+1, merged, spread)
		}
		return sum
	}
	at := uint64(0)
	for j, v := range c.counts.order {
		code := t.codes[v]
		if c.hidden[j] {
			code = t.groups[v]
		}
		at += c.counts.radix[j] * uint64(code)
	}
	x := merged[at] + spread
	for _, child := range c.children {
		if x == 0 {
			return 0
		}
		x *= m.message(t, child)
	}
	return x
}

// mergedAt are the counts with the private variables at their levels.
func (c *counts) mergedAt(l *recoding.Lattice, private []int, n recoding.Node) map[uint64]float64 {
	key := make([]byte, len(private))
	for k, v := range private {
		key[k] = n[v]
	}
	if made, is := c.merged[string(key)]; is {
		return made
	}
	out := make(map[uint64]float64, len(c.margin.Counts))
	up := make([][]uint32, len(c.order))
	for j, v := range c.order {
		if slices.Contains(private, v) {
			up[j] = l.Variables[v].Levels[n[v]].Group
		}
	}
	for i, count := range c.margin.Counts {
		at := uint64(0)
		for j, r := range c.radix {
			code := c.margin.Codes[j][i]
			if up[j] != nil {
				code = up[j][code]
			}
			at += r * uint64(code)
		}
		out[at] += float64(count)
	}
	c.merged[string(key)] = out
	return out
}

// match is E[1/F] of a class, averaged over the models, and alone P(F = 1) of a class of one record.
func (m *Model) match(n recoding.Node, groups []uint32, f int64, room []float64) (match, alone float64) {
	for i, p := range m.Probabilities(n, groups, room) {
		mean := m.unsampled * p
		match += m.weights[i] * risk.PoissonMatch(float64(f), mean)
		if f == 1 {
			alone += m.weights[i] * math.Exp(-mean)
		}
	}
	return match, alone
}

// Figures are what the models say of a release, F - f being Poisson given the probability of a class.
type Figures struct {
	Reidentifications float64 // sum of E[1/F] over all records that are kept
	CorrectMatches    float64 // over sample uniques
	PopulationUniques float64 // sum of P(F = 1) over sample uniques
	Greatest          float64 // E[1/F]
	Uniques           int64
}

// Of are the figures of a release.
func (m *Model) Of(l *recoding.Lattice, o *recoding.Outcome) (Figures, error) {
	var out Figures
	var room []float64
	err := l.Each(o, func(groups []uint32, f int64) {
		if f > few {
			out.Reidentifications += m.fraction
			out.Greatest = max(out.Greatest, m.fraction/float64(f))
			return
		}
		match, alone := m.match(o.Node, groups, f, room)
		out.Reidentifications += float64(f) * match
		out.Greatest = max(out.Greatest, match)
		if f == 1 {
			out.Uniques++
			out.CorrectMatches += match
			out.PopulationUniques += alone
		}
	})
	return out, err
}

// Expected limits the expected re-identifications. What is more than the limit is not summed to its end.
func (m *Model) Expected(most float64) recoding.Rule {
	return recoding.Rule{Name: fmt.Sprintf("expected re-identifications at most %.6g", most), Limit: most, Rising: true,
		Of: func(l *recoding.Lattice, o *recoding.Outcome) (sum float64, err error) {
			var room []float64
			err = l.Until(o, func(groups []uint32, f int64) bool {
				if f > few {
					sum += m.fraction
					return true
				}
				match, _ := m.match(o.Node, groups, f, room)
				sum += float64(f) * match
				return sum <= most*(1+1e-9)
			})
			return sum, err
		}}
}

// Greatest limits the greatest chance of a correct match of a record: that of one of f records is at most 1/f.
func (m *Model) Greatest(most float64) recoding.Rule {
	return recoding.Rule{Name: fmt.Sprintf("greatest E[1/F] at most %g", most), Limit: most, Rising: true,
		Of: func(l *recoding.Lattice, o *recoding.Outcome) (greatest float64, err error) {
			var room []float64
			err = l.Until(o, func(groups []uint32, f int64) bool {
				if f > few || 1/float64(f) <= max(greatest, most) {
					return true
				}
				match, _ := m.match(o.Node, groups, f, room)
				greatest = max(greatest, match)
				return greatest <= most*(1+1e-9)
			})
			return greatest, err
		}}
}

// PUSU limits the share of population uniques among sample uniques, which a recoding can raise.
func (m *Model) PUSU(most float64) recoding.Rule {
	return recoding.Rule{Name: fmt.Sprintf("PU|SU at most %g", most), Limit: most,
		Of: func(l *recoding.Lattice, o *recoding.Outcome) (float64, error) {
			f, err := m.Of(l, o)
			if err != nil || f.Uniques == 0 {
				return 0, err
			}
			return f.PopulationUniques / float64(f.Uniques), nil
		}}
}
