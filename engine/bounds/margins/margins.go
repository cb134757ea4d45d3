// Package margins finds which margins of a table of counts may be published: sets of them that leave the bounds of every small cell wide,
// and lose the least of the association among the variables.
//
//	f, err := margins.Search(ctx, &margins.Table{Levels: []int{2, 2, 2}, Counts: counts}, margins.Rule{From: 1, To: 2, Width: 4}, margins.Options{})
//	f.Sets[0].Margins // [[0 1] [1 2]]: the variables of each margin of the best set
//
// Sets are the cliques of decomposable graphs over some of the variables: for them bounds are closed formulas, and so is the fit of the
// log-linear model of what was published, whose deviance is the loss. Who gets fewer margins, or smaller ones, knows less: all that is
// within a safe set is safe, and the frontier has the sets that are within no other.
//
// Sources: Dobra & Fienberg 2000, Bounds for cell entries in contingency tables given marginal totals and decomposable graphs; Dobra, Karr,
// Sanil & Fienberg 2002, Software systems for tabular data releases (frontiers, optimal tabular releases).
package margins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"microrisk/engine/graph"
	"microrisk/engine/tabular"
)

// The largest searches. Variables of one category are not counted.
const (
	MostComplete  = 8       // variables of which all sets are looked at
	MostVariables = 16      // beyond which there is no search
	MostCells     = 1 << 22 // combinations of categories, and a total over each variable
)

// A Table has the true counts, row-major, the first variable slowest.
type Table struct {
	Levels []int
	Counts []int64
}

// A Rule says what must not be known: the count of a cell from From to To is to stay unknown within bounds whose ends are Width apart or
// more. With From 0 empty cells are protected too.
type Rule struct{ From, To, Width int64 }

// Options limit what is found.
type Options struct {
	Most   int // sets that are kept, those of the least loss; 0 for all
	Climbs int // where there are more than MostComplete variables: ways up the frontier; 0 for DefaultClimbs
}

// DefaultClimbs is some seconds.
const DefaultClimbs = 300

// A Set of margins that may be published together, which nothing can be added to but a margin that is unsafe with them, or that makes their
// graph one that is not decomposable.
type Set struct {
	Margins  [][]int // the variables of each, ascending; one without variables is the total alone
	Deviance float64 // G2 of the log-linear model of these margins; the variables in none are taken to be uniform
	DF       int     // of it, by the number of parameters, whatever cells are empty
}

// A Frontier has the sets by their deviance.
type Frontier struct {
	Sets  []Set
	Found int // before only some were kept; 0: even the total is unsafe
	// Complete: these are all; else they were found by climbing, each by itself on the frontier, and there may be better ones.
	Complete     bool
	Small        int     // cells that are protected
	Independence float64 // the deviance of the one-way margins, safe or not, to compare with; twice the mutual information, times the people
	People       int64   // deviance by twice their number is the information that is left out, in nats a person
}

// Search finds the frontier. Errors: levels and counts that are no table, a rule that is none, more variables or cells than there may be; a
// context that ends.
func Search(ctx context.Context, t *Table, r Rule, o Options) (*Frontier, error) {
	p, err := newProblem(t, r)
	if err != nil {
		return nil, err
	}
	f := &Frontier{Complete: len(p.active) <= MostComplete, Small: p.small, People: p.people}
	alone := &state{present: graph.First(len(p.active))}
	f.Independence = p.deviance(alone)
	keep := newKeeper(p, o.Most)
	if f.Complete {
		err = p.all(ctx, keep)
	} else {
		err = p.climb(ctx, cmp.Or(o.Climbs, DefaultClimbs), keep)
	}
	if err != nil {
		return nil, err
	}
	f.Found = keep.found
	for _, k := range keep.sorted() {
		f.Sets = append(f.Sets, p.set(&k.state, k.deviance))
	}
	return f, nil
}

// A problem is a table as the search wants it. Sets of its variables are numbered as graph.Set is.
type problem struct {
	rule    Rule
	levels  []int // of active variables
	active  []int // variables of more than one category
	people  int64
	small   int
	entropy []float64 // sum of n ln n over the cells of each margin
	safe    []bool    // whether a margin by itself is, as long as other variables are in none
	// Small cells of which some safe margin has a count so low that a lower bound could matter, by margin; and the counts of all such cells
	// in each safe margin, by the numbers of these cells.
	tight [][]int32
	count [][]int64
	loose bool // there are no such cells
}

func newProblem(t *Table, r Rule) (*problem, error) {
	p := &problem{rule: r}
	sizes := 1
	for v, l := range t.Levels {
		if l < 1 {
			return nil, fmt.Errorf("variable %d has %d categories: it must have at least 1", v, l)
		}
		if l > 1 {
			if sizes > MostCells/(l+1) {
				return nil, fmt.Errorf("the table has too many cells: margins are chosen where the product of the numbers of categories, each and one, "+
					"is at most %d", MostCells)
			}
			sizes *= l + 1
			p.active, p.levels = append(p.active, v), append(p.levels, l)
		}
	}
	switch {
	case len(p.active) > MostVariables:
		return nil, fmt.Errorf("there are %d variables: margins are chosen among %d at most", len(p.active), MostVariables)
	case tabular.Shape(p.levels).Cells() != len(t.Counts):
		return nil, fmt.Errorf("there are %d counts, of %d cells", len(t.Counts), tabular.Shape(p.levels).Cells())
	case r.From < 0 || r.To < r.From:
		return nil, fmt.Errorf("counts from %d to %d are to be protected: the first must be at least 0, and the second no less", r.From, r.To)
	case r.Width < 1:
		return nil, fmt.Errorf("bounds are to be %d wide: it must be at least 1", r.Width)
	}
	for i, x := range t.Counts {
		if x < 0 || x > math.MaxInt64/2-p.people {
			return nil, fmt.Errorf("cell %d has a count of %d: counts are at least 0, and add up to a whole number of 62 bits", i, x)
		}
		p.people += x
	}
	return p, p.measure(t.Counts)
}

// measure fills in what is known of each margin.
func (p *problem) measure(counts []int64) error {
	n := len(p.active)
	all := graph.First(n)
	tables := make([][]int64, 1<<n)
	tables[all] = counts
	for s := all; s > 0; s-- { // a margin from the one with its smallest variable that is missing
		if t := s - 1; tables[t] == nil {
			v := (all &^ t).Min()
			tables[t] = p.without(tables[t.With(v)], t.With(v), v)
		}
	}
	var cells []int
	for i, x := range counts {
		if x >= p.rule.From && x <= p.rule.To {
			cells = append(cells, i)
		}
	}
	p.small = len(cells)
	p.entropy, p.safe = make([]float64, 1<<n), make([]bool, 1<<n)
	near := make([]bool, len(cells))
	of := make([]func(cell int) int64, 1<<n)
	for s, table := range tables {
		for _, x := range table {
			if x > 0 {
				p.entropy[s] += float64(x) * math.Log(float64(x))
			}
		}
		of[s] = p.lookup(table, graph.Set(s))
		p.safe[s] = true
		for _, cell := range cells {
			p.safe[s] = p.safe[s] && of[s](cell) >= p.rule.Width
		}
		for j, cell := range cells {
			near[j] = near[j] || p.safe[s] && of[s](cell)-counts[cell] < p.rule.Width
		}
	}
	return p.tighten(counts, cells, near, of)
}

// mostTight is the largest number of counts of small cells that are kept.
const mostTight = 1 << 25

// tighten keeps what is needed of the small cells whose lower bounds can matter.
func (p *problem) tighten(counts []int64, cells []int, near []bool, of []func(cell int) int64) error {
	var kept []int
	for j, cell := range cells {
		if near[j] {
			kept = append(kept, cell)
		}
	}
	if len(kept) > mostTight>>len(p.active) {
		return errors.New("there are too many small cells whose lower bounds matter: take fewer variables, or coarser ones")
	}
	p.loose = kept == nil
	p.tight, p.count = make([][]int32, len(p.safe)), make([][]int64, len(p.safe))
	for s, safe := range p.safe {
		if !safe {
			continue
		}
		p.count[s] = make([]int64, len(kept))
		for j, cell := range kept {
			p.count[s][j] = of[s](cell)
			if p.count[s][j]-counts[cell] < p.rule.Width {
				p.tight[s] = append(p.tight[s], int32(j))
			}
		}
	}
	return nil
}

// without is a margin summed over one of its variables.
func (p *problem) without(table []int64, s graph.Set, v int) []int64 {
	inner := 1
	for w := range s.Vertices() {
		if w > v {
			inner *= p.levels[w]
		}
	}
	l := p.levels[v]
	out := make([]int64, len(table)/l)
	for i, x := range table {
		out[i/(inner*l)*inner+i%inner] += x
	}
	return out
}

// lookup gives the count of the cell of a margin that a cell of the table is in.
func (p *problem) lookup(table []int64, s graph.Set) func(cell int) int64 {
	type step struct{ by, levels, times int }
	var steps []step
	whole := tabular.Shape(p.levels).Steps()
	times := len(table)
	for v := range s.Vertices() {
		times /= p.levels[v]
		steps = append(steps, step{whole[v], p.levels[v], times})
	}
	return func(cell int) int64 {
		at := 0
		for _, t := range steps {
			at += cell / t.by % t.levels * t.times
		}
		return table[at]
	}
}

// deviance is that of the model of a graph: a chain of simplicial vertices, and a uniform law of the variables that are not in it.
func (p *problem) deviance(g *state) float64 {
	e := g.elimination()
	fit := p.entropy[0]
	for k := range e.size {
		fit += p.entropy[e.with[k]] - p.entropy[e.with[k].Without(e.vertex[k])]
	}
	for v := range (graph.First(len(p.active)) &^ g.present).Vertices() {
		fit -= float64(p.people) * math.Log(float64(p.levels[v]))
	}
	return max(0, 2*(p.entropy[len(p.entropy)-1]-fit))
}

// set tells a graph in the variables of the table.
func (p *problem) set(g *state, deviance float64) Set {
	s := Set{Deviance: deviance, DF: tabular.Shape(p.levels).Cells() - 1}
	e := g.elimination()
	for k := range e.size {
		s.DF -= p.cells(e.with[k]) - p.cells(e.with[k].Without(e.vertex[k]))
	}
	for _, c := range e.cliques() {
		margin := []int{}
		for v := range c.Vertices() {
			margin = append(margin, p.active[v])
		}
		s.Margins = append(s.Margins, margin)
	}
	slices.SortFunc(s.Margins, slices.Compare)
	return s
}

func (p *problem) cells(s graph.Set) int {
	n := 1
	for v := range s.Vertices() {
		n *= p.levels[v]
	}
	return n
}
