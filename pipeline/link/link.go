// Package link tells which records of two samples may be the same person, from file to file; package engine/linkage has the mathematics.
package link

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"microrisk/engine/contingency"
	"microrisk/engine/linkage"
	"microrisk/engine/perturb"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/operators/recode"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Run counts two samples over what they have in common, and tells for each class how likely it is that a record of one and a record
// of the other are one person. Errors about what was asked are those for which IsSpec is true.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	if err := s.check(o.Reads); err != nil {
		return nil, err
	}
	schemas.Complete(s.Fields())
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
	a, b       *linked
	population *contingency.Table
	tables     []*released.Tables // Tables, Exact and Sampled
	without    []string           // columns that cannot be key variables, of a sample, when no key was named
}

func (l *linking) Close() {
	for _, s := range []*linked{l.a, l.b} {
		if s != nil {
			s.Close()
		}
	}
}

// open finds the overlap, reads the tables, and opens the samples.
func (l *linking) open(ctx context.Context) error {
	var columns, without [2][]string // that can be key variables, and that cannot
	for i, s := range []struct {
		role    string
		files   []string
		recodes []recode.Column
	}{{"sample A", l.A, l.RecodeA}, {"sample B", l.B, l.RecodeB}} {
		var err error
		if columns[i], without[i], err = l.columnsOf(ctx, s.role, s.files, slices.Concat(s.recodes, l.Bands)); err != nil {
			return err
		}
	}
	if l.Key != nil {
		l.overlap = *l.Key
		l.overlap.Variables = slices.Clone(l.overlap.Variables)
	} else {
		for i, list := range without {
			for _, name := range list {
				if slices.Contains(columns[1-i], name) || slices.Contains(without[1-i], name) {
					l.without = append(l.without, name)
				}
			}
		}
		for _, name := range columns[0] {
			if slices.Contains(columns[1], name) {
				l.overlap.Variables = append(l.overlap.Variables, schemas.KeyVariable{Name: name})
			}
		}
		if len(l.overlap.Variables) == 0 {
			return session.Wrong(errors.New("the samples have no column in common that could be a key variable: recode those of one of them to the names of the other"))
		}
	}
	if l.overlap.Missing == "" {
		l.overlap.Missing = l.Missing
	}
	if l.overlap.MissingCodes == nil {
		l.overlap.MissingCodes = l.MissingCodes
	}
	for i := range l.overlap.Variables {
		if v := &l.overlap.Variables[i]; v.Levels == nil {
			v.Levels = l.levels(v.Name)
		}
	}
	kernel, err := operators.Kernel(&l.Scheme)
	if err != nil {
		return session.Wrong(err)
	}
	for i, list := range [][]string{l.Tables, l.Exact, l.Sampled} {
		if i > 0 {
			kernel = perturb.None()
		}
		t := &released.Tables{Stated: true}
		for _, path := range list {
			if err := t.Read(ctx, path, kernel, l.options); err != nil {
				return err
			}
		}
		if i == 0 {
			for _, p := range l.Perturbed {
				own, err := p.Kernel()
				if err != nil {
					return err
				}
				if err := t.Read(ctx, p.Path, own, l.options); err != nil {
					return err
				}
			}
		}
		if i == 2 {
			if err := t.WholeFiles(); err != nil {
				return err
			}
		}
		l.tables = append(l.tables, t)
	}
	open := func(role string, files []string, recodes []recode.Column, has []string) (*linked, error) {
		key := l.overlap
		key.Variables = slices.Clone(key.Variables)
		for _, t := range l.tables {
			for _, variable := range t.Variables {
				name := variable.Name
				// Within the classes of the overlap, what a sample has of the tables' variables narrows tight bounds.
				known := slices.ContainsFunc(key.Variables, func(v schemas.KeyVariable) bool { return v.Name == name })
				if l.Bounds == "tight" && !known && slices.Contains(has, name) {
					key.Variables = append(key.Variables, schemas.KeyVariable{Name: name, Levels: l.levels(name)})
				}
			}
		}
		return openLinked(ctx, role, l.specOf(files, key, recodes), l.options)
	}
	if err := l.checkLevels(); err != nil {
		return err
	}
	if l.a, err = open("sample A", l.A, l.RecodeA, columns[0]); err != nil {
		return err
	}
	l.b, err = open("sample B", l.B, l.RecodeB, columns[1])
	return err
}

func (l *linking) specOf(files []string, key schemas.Key, recodes []recode.Column) *schemas.Spec {
	// Levels are declared for what a sample does not show.
	spec := &schemas.Spec{Source: schemas.Source{Path: files}, Key: &key, AllowEmpty: l.AllowEmpty || len(l.Levels) > 0}
	for _, list := range [][]recode.Column{recodes, l.Bands} {
		if list != nil {
			spec.Operators = append(spec.Operators, schemas.Operator{Config: (*recode.Config)(&list)})
		}
	}
	return spec
}

// columnsOf are the names of a sample's columns that can be key variables, and of those that cannot.
func (l *linking) columnsOf(ctx context.Context, role string, files []string, recodes []recode.Column) (names, without []string, err error) {
	source, err := session.OpenPaths(ctx, files, l.options)
	if err != nil {
		return nil, nil, session.InRole(role, err)
	}
	defer source.Close()
	recoded := func(name string) bool {
		return slices.ContainsFunc(recodes, func(r recode.Column) bool { return r.Name == name })
	}
	for _, f := range source.Schema().Fields() {
		switch {
		case recoded(f.Name):
		case session.Reason(source.Schema(), f) == "":
			names = append(names, f.Name)
		default:
			without = append(without, f.Name)
		}
	}
	for _, r := range recodes {
		names = append(names, r.Name)
	}
	return names, without, nil
}

// link counts and links.
func (l *linking) link(ctx context.Context) (*Outcome, error) {
	for _, s := range []*linked{l.a, l.b} {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
	}
	out := &Outcome{People: l.PopulationSize, RecordsA: l.a.table.Records(), RecordsB: l.b.table.Records(), Known: l.Population != nil}
	for _, v := range l.overlap.Variables {
		out.Overlap = append(out.Overlap, v.Name)
	}
	slices.Sort(l.without)
	if l.without = slices.Compact(l.without); len(l.without) > 0 {
		out.Warnings = append(
			out.Warnings,
			fmt.Sprintf("not linked by %s, which cannot be key variables in both samples: band or recode them", strings.Join(l.without, ", ")),
		)
	}
	if l.Population != nil {
		var err error
		if l.population, err = session.CountKey(ctx, "population", l.specOf(l.Population, l.overlap, l.RecodeP), l.options); err != nil {
			return nil, err
		}
		out.People = l.population.Records()
	}
	for i, n := range []int64{out.RecordsA, out.RecordsB} {
		if n > out.People {
			return nil, fmt.Errorf("sample %c has %d records, the population %d: a sample is part of its population", 'A'+i, n, out.People)
		}
	}
	for _, name := range out.Overlap {
		if slices.Contains(linkColumns, name) {
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
	p.Progress = func(done, total int64) { l.options.Progress("linking", done, total) }
	matches, err := p.Link(ctx)
	if err != nil {
		return nil, words.Named(err)
	}
	l.options.Progress("linking", int64(len(matches)), int64(len(matches)))
	out.Unmatched = words.Unmatched(l.a.table, l.b.table, len(l.overlap.Variables))
	return out, l.rank(ctx, out, p, words, matches)
}

// rank puts the matches in order, finds their records and what is known of them.
func (l *linking) rank(ctx context.Context, out *Outcome, p *linkage.Problem, words *released.Codebook, matches []linkage.Match) error {
	policies := session.PoliciesOf(l.overlap)
	classesA, classesB := released.ClassesOf(&p.Samples[0], p.Overlap), released.ClassesOf(&p.Samples[1], p.Overlap)
	out.ClassesA, out.ClassesB = int64(len(classesA)), int64(len(classesB))
	for _, m := range matches {
		c := LinkedClass{RecordsA: m.A, RecordsB: m.B, Low: m.Low, High: m.High, Mean: m.Mean, Correct: m.Correct}
		dropped := false
		for v, code := range m.Codes { // the overlap has the first of the common numbers
			value := words.Label(v, code)
			dropped = dropped || value == nil && policies[v] == uniques.Drop
			c.Values = append(c.Values, value)
		}
		if dropped {
			continue
		}
		id := released.CodesText(m.Codes)
		c.classA, c.classB = classesA[id], classesB[id]
		c.FirstA, c.FirstB = l.a.earliest(c.classA), l.b.earliest(c.classB)
		out.Classes = append(out.Classes, c)
		out.Pairs += m.Pairs()
		out.ExpectedPairs += m.Pairs() * m.Correct
		if m.Unique() {
			out.Unique++
			out.ExpectedUnique += m.Correct
		}
	}
	if l.population != nil {
		if err := l.know(ctx, out); err != nil {
			return err
		}
	}
	slices.SortStableFunc(out.Classes, func(x, y LinkedClass) int {
		if x.Unique() != y.Unique() {
			if x.Unique() {
				return -1
			}
			return 1
		}
		return cmp.Compare(y.Correct, x.Correct)
	})
	for i := range out.Unique {
		out.Classes[i].Rank = int64(i + 1)
		if i > 0 && out.Classes[i].Correct == out.Classes[i-1].Correct {
			out.Classes[i].Rank = out.Classes[i-1].Rank
		}
	}
	if l.population != nil {
		var estimated, known []float64
		for _, c := range out.Classes[:out.Unique] {
			estimated, known = append(estimated, c.Correct), append(known, 1/float64(c.F))
			out.KnownUnique += 1 / float64(c.F)
		}
		out.RankCorrelation = linkage.RankCorrelation(estimated, known)
	}
	return nil
}

// know looks the people of each class up in the population.
func (l *linking) know(ctx context.Context, out *Outcome) error {
	positions := make([]int, len(l.overlap.Variables))
	for v := range positions {
		positions[v] = v // the overlap comes first in the samples' keys
	}
	var margin *contingency.Table
	var match []int64
	for _, s := range []*linked{l.b, l.a} { // the classes of the last are looked up below
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
	of := func(t *contingency.Table, class int) string {
		codes := make([]uint32, len(positions))
		for v := range codes {
			codes[v] = t.Code(class, v)
		}
		return released.CodesText(codes)
	}
	at := make(map[string]int, len(match)) // the margin's class
	for i := range match {
		at[of(margin, i)] = i
	}
	for i := range out.Classes {
		c := &out.Classes[i]
		class := at[of(l.a.table, int(c.classA[0]))]
		if p := match[class]; p >= 0 {
			c.F = l.population.Count(int(p))
		}
		if c.F > c.High || c.F < c.Low {
			return fmt.Errorf(
				"the population has %d people of %s, the samples and tables leave %d to %d: they are not of this population",
				c.F,
				session.ClassText(margin, class),
				c.Low,
				c.High,
			)
		}
	}
	return nil
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
