// Package link tells which records of several samples may be the same person, from file to file; package engine/linkage has the mathematics.
package link

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"microrisk/engine/contingency"
	"microrisk/engine/linkage"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// Run counts samples over what they have in common, and tells for each class how likely it is that records of two of them are one person. Errors about what was asked are those for which IsSpec is true.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	if err := s.check(o.Reads); err != nil {
		return nil, err
	}
	schemas.Complete(s.Fields())
	if s.Posterior == nil && s.lists() {
		s.Posterior = new(int)
		*s.Posterior = DefaultPosterior
	}
	o.Sweep(s.Out, s.Pairs)
	l := &linking{Spec: s, options: o}
	defer l.Close()
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	out, err := l.link(ctx)
	if err != nil {
		return nil, err
	}
	return out, l.write(ctx, out)
}

// A linking is a link at work.
type linking struct {
	Spec
	options    session.Options
	overlap    schemas.Key
	samples    []*linked
	population *contingency.Table
	tables     []*released.Tables // Tables, Exact and Sampled
	risk       []string           // columns of risk that all samples have, when no key was named
	shared     advice.Text        // a warning of very many columns, when no key was named
	without    []string           // columns that cannot be key variables, of a sample, when no key was named
}

func (l *linking) Close() {
	for _, s := range l.samples {
		s.Close()
	}
}

// link counts and links.
func (l *linking) link(ctx context.Context) (*Outcome, error) {
	out := &Outcome{People: l.PopulationSize, Known: l.Population != nil}
	for _, s := range l.samples {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
		out.Samples = append(out.Samples, Sample{Records: s.table.Records()})
	}
	for _, v := range l.overlap.Variables {
		out.Overlap = append(out.Overlap, v.Name)
	}
	if l.shared.String() != "" {
		out.Warnings = append(out.Warnings, l.shared.String())
	}
	slices.Sort(l.without)
	if l.without = slices.Compact(l.without); len(l.without) > 0 {
		them, those := "them", "key variables"
		if len(l.without) == 1 {
			them, those = "it", "a key variable"
		}
		out.Warnings = append(
			out.Warnings,
			fmt.Sprintf("not linked by %s, which cannot be %s in all samples: band or recode %s", strings.Join(l.without, ", "), those, them),
		)
	}
	slices.Sort(l.risk)
	if l.risk = slices.Compact(l.risk); len(l.risk) > 0 {
		out.Warnings = append(out.Warnings,
			fmt.Sprintf("not linked by %s, which an earlier run wrote of risk: what it tells is no property of a person", strings.Join(l.risk, ", ")))
	}
	if l.Population != nil {
		var err error
		if l.population, err = session.CountKey(ctx, "population", l.specOf(l.Population, l.overlap, l.RecodeP), l.options); err != nil {
			return nil, err
		}
		out.People = l.population.Records()
	}
	for i, s := range out.Samples {
		if s.Records > out.People {
			return nil, fmt.Errorf("sample %s has %d records, the population %d: a sample is part of its population", Letter(i), s.Records, out.People)
		}
	}
	for _, name := range out.Overlap {
		if slices.Contains(linkColumns(len(l.samples)), name) {
			return nil, session.Wrong(fmt.Errorf("the variable %s has the name of a column of the output: recode it to another name", name))
		}
	}
	p, words, err := l.problem()
	if err != nil {
		return nil, err
	}
	p.People = out.People
	if w := l.unlisted(p, words); w != "" {
		out.Warnings = append(out.Warnings, w)
	}
	classes := l.classesOf(p)
	fitted, err := l.fit(ctx, p, words, classes, out)
	if err != nil {
		return nil, err
	}
	if l.Posterior != nil {
		p.Listed = *l.Posterior
	}
	p.Workers = l.options.Workers
	p.Progress = func(done, total int64) { l.options.Progress("linking", done, total) }
	matches, err := p.Link(ctx)
	if err != nil {
		return nil, words.Named(err)
	}
	l.options.Progress("linking", int64(len(matches)), int64(len(matches)))
	for i := 1; i < len(l.samples); i++ {
		for _, u := range words.Unmatched(l.samples[0].table, l.samples[i].table, len(l.overlap.Variables)) {
			u.Sample = i - 1
			out.Unmatched = append(out.Unmatched, u)
		}
	}
	for _, m := range matches {
		if c := l.linkedClass(words, classes, &m); c != nil {
			out.Classes = append(out.Classes, *c)
		}
	}
	if l.population != nil {
		if err := l.know(ctx, out); err != nil {
			return nil, err
		}
	}
	out.rank()
	return out, l.sum(ctx, out, classes, fitted)
}

// A class has what the samples have of a class of the overlap.
type class struct {
	codes   []uint32
	records []int64   // by sample
	cells   [][]int64 // of the samples' tables
	dropped bool
}

// classesOf are the classes of the overlap that any sample has, by the text of their codes.
func (l *linking) classesOf(p *linkage.Problem) map[string]*class {
	all := map[string]*class{}
	for s := range p.Samples {
		sample := &p.Samples[s]
		for id, cells := range released.ClassesOf(sample, p.Overlap) {
			c := all[id]
			if c == nil {
				c = &class{records: make([]int64, len(p.Samples)), cells: make([][]int64, len(p.Samples))}
				for _, v := range p.Overlap {
					c.codes = append(c.codes, sample.Codes[slices.Index(sample.Variables, v)][cells[0]])
				}
				all[id] = c
			}
			for _, cell := range cells {
				c.records[s] += sample.Count[cell]
			}
			c.cells[s] = cells
		}
	}
	return all
}

// linkedClass is a match with its records, nil where it is dropped.
func (l *linking) linkedClass(words *released.Codebook, classes map[string]*class, m *linkage.Match) *LinkedClass {
	at := classes[released.CodesText(m.Codes)]
	if at.dropped {
		return nil
	}
	c := &LinkedClass{Records: m.Records, Low: m.Low, High: m.High, Mean: m.Mean, Correct: m.Correct, Posterior: m.Law, class: at}
	for v, code := range m.Codes { // the overlap has the first of the common numbers
		c.Values = append(c.Values, words.Label(v, code))
	}
	for s, sample := range l.samples {
		if m.Records[s] > 0 {
			c.First = append(c.First, sample.earliest(at.cells[s]))
		} else {
			c.First = append(c.First, Place{})
		}
	}
	return c
}

// rank puts the classes in order.
func (out *Outcome) rank() {
	slices.SortStableFunc(out.Classes, func(x, y LinkedClass) int {
		if x.Unique() != y.Unique() {
			if x.Unique() {
				return -1
			}
			return 1
		}
		return cmp.Compare(y.Correct, x.Correct)
	})
	for i := range out.Classes {
		c := &out.Classes[i]
		if !c.Unique() {
			break
		}
		out.Unique++
		c.Rank = int64(i + 1)
		if i > 0 && out.Classes[i-1].Correct == c.Correct {
			c.Rank = out.Classes[i-1].Rank
		}
	}
}

// know looks the people of each class up in the population.
func (l *linking) know(ctx context.Context, out *Outcome) error {
	positions := make([]int, len(l.overlap.Variables))
	for v := range positions {
		positions[v] = v // the overlap comes first in the samples' keys
	}
	var margin *contingency.Table
	var match []int64
	at := map[string]int64{} // people, by class
	for _, s := range slices.Backward(l.samples) {
		var err error
		if margin, err = s.table.Margin(ctx, positions...); err != nil {
			return err
		}
		if match, err = contingency.Match(ctx, margin, l.population); err != nil {
			return err
		}
		for i, p := range match {
			people := int64(0)
			if p >= 0 {
				people = l.population.Count(int(p))
			}
			at[labelsOf(margin, i)] = people
			if n := margin.Count(i); n > people {
				return fmt.Errorf(
					"%s has %d records and the population %d people of %s: the sample is not of this population, or the files code their values differently",
					s.role,
					n,
					people,
					session.ClassText(margin, i),
				)
			}
		}
	}
	for i := range out.Classes {
		c := &out.Classes[i]
		s := slices.IndexFunc(c.Records, func(n int64) bool { return n > 0 })
		first := int(c.class.cells[s][0])
		c.F = at[labelsOf(l.samples[s].table, first, positions...)]
		if c.F > c.High || c.F < c.Low {
			return fmt.Errorf(
				"the population has %d people of %s, the samples and tables leave %d to %d: they are not of this population",
				c.F,
				session.ClassText(l.samples[s].table, first),
				c.Low,
				c.High,
			)
		}
	}
	return nil
}

// labelsOf is a name for the values of a class on some variables, all if none are named.
func labelsOf(t *contingency.Table, class int, variables ...int) string {
	if variables == nil {
		for v := range t.Variables {
			variables = append(variables, v)
		}
	}
	var b []byte
	for _, v := range variables {
		code, categories := t.Code(class, v), t.Variables[v].Categories
		if int(code) < len(categories) {
			b = append(strconv.AppendInt(b, int64(len(categories[code])), 10), ':')
			b = append(b, categories[code]...)
		} else {
			b = append(b, '-')
		}
	}
	return string(b)
}

// earliest is the first record of some classes.
func (l *linked) earliest(classes []int64) Place {
	first := session.Place{Input: math.MaxInt, Row: 0}
	for _, c := range classes {
		if session.ComparePlaces(l.first[c], first) < 0 {
			first = l.first[c]
		}
	}
	return l.place(first)
}

func (l *linked) place(p session.Place) Place { return Place{l.inputs[p.Input], p.Row} }
