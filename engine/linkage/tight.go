package linkage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"microrisk/engine/program"
	"microrisk/engine/tabular"
)

// MostTightCells is the largest table whose classes are bounded together; where every table has all variables of the overlap it is the
// size of each class's part.
const MostTightCells = 1024

// A tight finds the narrowest bounds on classes that samples, tables and N imply together.
type tight struct {
	problem *Problem
	whole   *program.Model // all cells, when some table lacks variables of the overlap
	basis   *program.Basis // of the last class of whole
	layout  *cells
	terms   map[key][]program.Term // of whole, by class

	// Otherwise classes depend on each other through N alone: the least and most of each by itself, and their sums.
	alone      map[key]span
	rest       span // of a class that neither sample nor table has
	sumLow     int64
	unlimited  int   // classes without an upper bound
	finiteHigh int64 // sum over the others
}

type span struct{ low, high int64 }

// cells number the combinations of some variables, the first one slowest. An open variable has one category more, which stands for
// all that nobody lists.
type cells struct {
	variables []int
	levels    tabular.Shape
	size      int
}

func (p *Problem) cells(variables []int, what string) (*cells, error) {
	c := &cells{variables: variables}
	for _, v := range variables {
		levels := p.Levels[v]
		if p.open(v) {
			levels++
		}
		c.levels = append(c.levels, levels)
	}
	if !c.levels.Within(MostTightCells) {
		return nil, fmt.Errorf("tight bounds need all cells %s, which are more than %d: take naive bounds, or coarser tables", what, MostTightCells)
	}
	c.size = c.levels.Cells()
	return c, nil
}

// sums tells for each combination of some variables (a subset) which cells it sums; the key is that of the categories.
func (c *cells) sums(over []int) map[key][]program.Term {
	t := Counts{Variables: c.variables, Count: make([]int64, c.size)}
	for range c.variables {
		t.Codes = append(t.Codes, make([]uint32, c.size))
	}
	codes := make([]uint32, len(c.levels))
	for cell := range c.size {
		for j, code := range tabular.Codes(c.levels, cell, codes) {
			t.Codes[j][cell] = code
		}
	}
	terms := map[key][]program.Term{}
	for cell, k := range t.keys(over) {
		terms[k] = append(terms[k], program.Term{Column: cell, Value: 1})
	}
	return terms
}

// narrow prepares tight bounds; samples are the classes of each.
func (p *Problem) narrow(ctx context.Context, samples []map[key]int64) (*tight, error) {
	t := &tight{problem: p}
	var inTables []int
	separate := true
	for _, table := range p.Tables {
		inTables = append(inTables, table.Variables...)
		separate = separate && contains(table.Variables, p.Overlap)
	}
	if !separate {
		variables := slices.Concat(p.Overlap, inTables)
		slices.Sort(variables)
		var err error
		if t.layout, err = p.cells(slices.Compact(variables), "of the overlap and the tables"); err != nil {
			return nil, err
		}
		t.whole = p.model(t.layout)
		t.whole.AddRow("", float64(p.People), float64(p.People), t.layout.sums(nil)[""]...)
		return t, nil
	}
	return t, t.separately(ctx, inTables, samples)
}

// model has a column for each cell and a row for each sum that a sample or table knows.
func (p *Problem) model(layout *cells) *program.Model {
	m := &program.Model{}
	for range layout.size {
		m.AddColumn("", 0, float64(p.People), 0, true)
	}
	rows := func(c *Counts, span func(count int64, unseen bool) (low, high int64), listedOnly bool) {
		var over []int
		for _, v := range c.Variables {
			if slices.Contains(layout.variables, v) {
				over = append(over, v)
			}
		}
		terms := layout.sums(over)
		sums := c.collapse(over)
		for _, k := range sortedKeys(terms) {
			n, listed := sums[k]
			if !listed && listedOnly {
				continue
			}
			low, high := span(n, p.unseen(over, k))
			top := float64(high)
			if high == unlimited {
				top = program.Infinity
			}
			m.AddRow("", float64(low), top, terms[k]...)
		}
	}
	for i := range p.Samples {
		rows(&p.Samples[i], func(n int64, _ bool) (int64, int64) { return n, unlimited }, true)
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		if t.Sample {
			rows(&t.Counts, func(n int64, _ bool) (int64, int64) { return n, unlimited }, true)
			continue
		}
		rows(&t.Counts, func(n int64, unseen bool) (int64, int64) {
			low, high, _ := t.Kernel.Bounds(n)
			if unseen { // any number of cells, each published as 0
				if low = 0; high > 0 {
					high = unlimited
				}
			}
			return low, high
		}, false)
	}
	return m
}

// unseen tells whether a key over some variables has a category that nobody lists.
func (p *Problem) unseen(over []int, k key) bool {
	for j, code := range k.codes() {
		if int(code) >= p.Levels[over[j]] {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[key]V) []key {
	list := make([]key, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// classes are those that a sample or a table has.
func (p *Problem) classes(samples []map[key]int64) map[key]span {
	list := map[key]span{}
	for _, m := range samples {
		for k := range m {
			list[k] = span{}
		}
	}
	for i := range p.Tables {
		for _, k := range p.Tables[i].keys(p.Overlap) {
			list[k] = span{}
		}
	}
	return list
}

// separately bounds each class by itself.
func (t *tight) separately(ctx context.Context, inTables []int, samples []map[key]int64) error {
	p := t.problem
	t.alone = p.classes(samples)
	variables := slices.DeleteFunc(inTables, func(v int) bool { return slices.Contains(p.Overlap, v) })
	slices.Sort(variables)
	layout, err := p.cells(slices.Compact(variables), "of each class in the tables")
	if err != nil {
		return err
	}
	classes := 1.0
	for _, v := range p.Overlap {
		classes *= float64(p.Levels[v])
	}
	split := newSplit(p)
	t.rest = span{0, unlimited}
	if len(p.Tables) > 0 {
		const none = "\x00none" // no key has five bytes
		if t.rest, err = p.spanOf(ctx, layout, split.of(none)); err != nil {
			return err
		}
	}
	empty := classes - float64(len(t.alone))
	if slices.ContainsFunc(p.Overlap, p.open) { // classes without number, and who is in them is bounded by the tables' zeros alone
		if empty = 1; t.rest.high > 0 {
			t.rest = span{0, unlimited}
		}
	}
	if t.rest.high == unlimited {
		t.unlimited = int(min(empty, math.MaxInt32))
	} else {
		t.finiteHigh = int64(min(empty*float64(t.rest.high), 1<<60))
	}
	t.sumLow = int64(min(empty*float64(t.rest.low), 1<<60))
	for _, k := range sortedKeys(t.alone) {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := p.spanOf(ctx, layout, split.of(k))
		if err != nil {
			return &ClassError{Codes: k.codes(), Reason: err.Error()}
		}
		t.alone[k] = s
		t.sumLow = add(t.sumLow, s.low)
		if s.high == unlimited {
			t.unlimited++
		} else {
			t.finiteHigh = min(add(t.finiteHigh, s.high), 1<<60)
		}
	}
	if t.sumLow > p.People || t.unlimited == 0 && t.finiteHigh < p.People {
		return fmt.Errorf(
			"the tables and samples contradict the size of the population: they have at least %d people and the population %d",
			t.sumLow,
			p.People,
		)
	}
	return nil
}

// solve is the least and the most that a sum of cells can be. Where branch and bound does not end the bounds are those of the
// relaxation, in whole numbers, which are valid.
// It starts from the basis of a model that differs in costs alone, if there is one, and leaves its own.
func solve(ctx context.Context, m *program.Model, sum []program.Term, basis **program.Basis) (span, error) {
	for _, term := range sum {
		m.Columns[term.Column].Cost = 1
	}
	defer func() {
		for _, term := range sum {
			m.Columns[term.Column].Cost = 0
		}
	}()
	var out span
	for _, most := range []bool{false, true} {
		m.Maximise = most
		s, err := program.Embedded{Nodes: 1000, Start: *basis}.Solve(ctx, m)
		if err != nil {
			return out, err
		}
		if s.Basis != nil {
			*basis = s.Basis
		}
		value := int64(0)
		switch s.Status {
		case program.Infeasible:
			return out, errors.New("the tables and samples contradict each other")
		case program.Unbounded:
			value = unlimited
		case program.Optimal:
			value = int64(math.Round(s.Objective))
		default:
			if err := ctx.Err(); err != nil {
				return out, err
			}
			if value = int64(math.Ceil(s.Bound - 1e-6)); most {
				value = int64(math.Floor(s.Bound + 1e-6))
			}
		}
		if most {
			out.high = value
		} else {
			out.low = value
		}
	}
	return out, nil
}

// of bounds a class.
func (t *tight) of(ctx context.Context, class key) (low, high int64, err error) {
	n := t.problem.People
	if t.whole != nil {
		if t.terms == nil {
			t.terms = t.layout.sums(t.problem.Overlap)
		}
		s, err := solve(ctx, t.whole, t.terms[class], &t.basis)
		return s.low, s.high, err
	}
	s := t.alone[class]
	low, high = s.low, min(s.high, n-(t.sumLow-s.low))
	others := t.unlimited
	finite := t.finiteHigh
	if s.high == unlimited {
		others--
	} else {
		finite -= s.high
	}
	if others == 0 {
		low = max(low, n-finite)
	}
	return low, high, nil
}
