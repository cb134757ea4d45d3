package link

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"microrisk/engine/perturb"
	"microrisk/operators"
	"microrisk/operators/recode"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// open finds the overlap, reads the tables, and opens the samples.
func (l *linking) open(ctx context.Context) error {
	columns, err := l.findOverlap(ctx)
	if err != nil {
		return err
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
	if err := l.readTables(ctx); err != nil {
		return err
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
	for i, f := range l.files() {
		sample, err := open(f.role, f.files, f.recodes, columns[i])
		if err != nil {
			return err
		}
		l.samples = append(l.samples, sample)
	}
	return nil
}

// A sampleFiles is what the spec says of a sample.
type sampleFiles struct {
	role    string
	files   []string
	recodes []recode.Column
}

// files are the samples, in order.
func (s *Spec) files() []sampleFiles {
	list := []sampleFiles{{"sample A", s.A, s.RecodeA}, {"sample B", s.B, s.RecodeB}}
	for _, path := range s.Further {
		list = append(list, sampleFiles{"sample " + Letter(len(list)), []string{path}, nil})
	}
	return list
}

// Letter is what a sample is called.
func Letter(i int) string { return string(rune('A' + i)) }

// findOverlap finds the variables that all samples have, and gives the columns of each that can be key variables.
func (l *linking) findOverlap(ctx context.Context) (columns [][]string, err error) {
	files := l.files()
	columns = make([][]string, len(files))
	without := make([][]string, len(files)) // that cannot
	for i, s := range files {
		if columns[i], without[i], err = l.columnsOf(ctx, s.role, s.files, slices.Concat(s.recodes, l.Bands)); err != nil {
			return nil, err
		}
	}
	if l.Key != nil {
		l.overlap = *l.Key
		l.overlap.Variables = slices.Clone(l.overlap.Variables)
		return columns, nil
	}
	all := func(name string, with bool) bool { // all samples have the column, as a key variable or not
		for i := range files {
			if !slices.Contains(columns[i], name) && !(with && slices.Contains(without[i], name)) {
				return false
			}
		}
		return true
	}
	risk := riskColumns()
	for _, list := range without {
		for _, name := range list {
			switch {
			case !all(name, true):
			case risk[name]:
				l.risk = append(l.risk, name)
			default:
				l.without = append(l.without, name)
			}
		}
	}
	for _, name := range columns[0] {
		switch {
		case !all(name, false):
		case risk[name]:
			l.risk = append(l.risk, name)
		default:
			l.overlap.Variables = append(l.overlap.Variables, schemas.KeyVariable{Name: name})
		}
	}
	return columns, l.checkShared()
}

// More columns than a few are seldom meant, and models of so many take long.
const (
	manyShared = 10
	mostShared = 20
)

// checkShared judges the columns that are linked by where no key is named: naming them is how many of them are asked for.
func (l *linking) checkShared() error {
	names := schemas.VariableNames(l.overlap.Variables)
	key := l.Fields().Advice("", "key", "")
	switch n := len(names); {
	case n == 0:
		return session.Wrong(
			errors.New("the samples have no column in common that could be a key variable: recode those of one of them to the names of the other"),
		)
	case n > mostShared:
		return session.Wrong(advice.Errorf("the samples share %d columns, and models of so many take long: name those that tell who a person is (%s); all are: %s",
			n, key, strings.Join(names, ",")))
	case n > manyShared:
		l.shared = advice.Textf("linked by all %d columns that the samples share: name those that tell who a person is (%s)", n, key)
		advice.Log(l.options.Logger, slog.LevelWarn, l.shared)
	}
	return nil
}

// riskColumns are the names of the columns that measures of risk write. Of a person they tell nothing: they are of the sample.
func riskColumns() map[string]bool {
	names := map[string]bool{schemas.Frequency: true}
	for _, k := range schemas.Kinds() {
		if w, ok := k.New().(schemas.Writer); ok {
			names[w.ColumnPrefix()+"_"+schemas.Frequency] = true
			for _, c := range w.Columns(true, nil) {
				names[c.Name] = true
			}
		}
	}
	return names
}

// readTables reads the published tables.
func (l *linking) readTables(ctx context.Context) error {
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
	return nil
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
