// Package difference compares the risk of two files, or of one file under two specs: before and after a protection, this wave of a survey and the last.
//
//	out, err := difference.Run(ctx, difference.Spec{Before: before, After: after}, session.Options{})
package difference

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A Spec has two runs, of which nothing is written. Key variables that the second file lacks, as one where they were left out does, are not looked for
// there if Lacking says so.
type Spec struct {
	Before, After *schemas.Spec
	Lacking       bool
	Top           int // records of the top of each list
}

// An Outcome is what differs.
type Outcome struct {
	Version    int                    `json:"version"`
	Before     Side                   `json:"before"`
	After      Side                   `json:"after"`
	LeftOut    []string               `json:"left_out,omitempty"` // key variables that the second file does not have
	Figures    []Figure               `json:"figures"`
	Variables  []Share                `json:"variables,omitempty"`
	Categories []Share                `json:"categories,omitempty"` // whose part of the score rose or fell most
	Lists      []List                 `json:"lists,omitempty"`
	Limits     []schemas.LimitSummary `json:"limits,omitempty"` // of the second
	Breaches   []pipeline.Breach      `json:"-"`
	Warnings   []string               `json:"warnings"`
}

// A Side is one of the two.
type Side struct {
	Input []string `json:"input"`
	Rows  int64    `json:"rows"`
	Key   []string `json:"key"`
}

// A Figure is a measure of both.
type Figure struct {
	Operator string   `json:"operator,omitempty"` // "" for one of the key
	Name     string   `json:"name"`
	Before   *float64 `json:"before"`
	After    *float64 `json:"after"`
}

// A Share is a variable's, or a category's, part of the file's SUDA score in percent.
type Share struct {
	Operator string  `json:"operator"`
	Variable string  `json:"variable"`
	Category *string `json:"category,omitempty"`
	Missing  bool    `json:"missing,omitempty"` // the category is that of missing values
	Before   float64 `json:"before"`
	After    float64 `json:"after"`
}

// A List compares the riskiest records by a score.
type List struct {
	Operator string `json:"operator"`
	Column   string `json:"column"`
	By       string `json:"by"`                // what records are told apart by: row, or the column of identifiers
	Unlike   string `json:"unlike,omitempty"`  // why they cannot be compared
	Stayed   int    `json:"stayed"`            // in both lists
	Entered  []Row  `json:"entered,omitempty"` // in that of the second alone
	Left     []Row  `json:"left,omitempty"`    // in that of the first alone
}

// A Row is a record of a list. Its key values are told on the terminal, and nowhere else.
type Row struct {
	Row   int64   `json:"row"`
	Score float64 `json:"score"`
	id    *string
	Key   []string  `json:"-"`
	Value []*string `json:"-"`
}

// DefaultTop is how many records of each list are compared unless told.
const DefaultTop = 20

// mostShares is how many categories are told of.
const mostShares = 10

// Run compares. Errors about what was asked are those for which session.IsSpec is true.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	top := cmp.Or(s.Top, DefaultTop)
	out := &Outcome{Version: 1, Warnings: []string{}}
	if s.Lacking {
		var err error
		if s.After, out.LeftOut, err = lacking(ctx, s.After, o); err != nil {
			return nil, session.InRole("after", err)
		}
	}
	before, err := pipeline.Look(ctx, s.Before, o, top)
	if err != nil {
		return nil, session.InRole("before", err)
	}
	after, err := pipeline.Look(ctx, s.After, o, top)
	if err != nil {
		return nil, session.InRole("after", err)
	}
	out.Before, out.After = side(before), side(after)
	out.Figures = figures(before.Summary, after.Summary)
	out.shares(before.Summary, after.Summary)
	out.lists(before, after)
	out.Limits, out.Breaches = after.Summary.Limits, after.Breaches
	for i, x := range []*pipeline.Outcome{before, after} {
		for _, w := range x.Summary.Warnings {
			out.Warnings = append(out.Warnings, []string{"before", "after"}[i]+": "+w)
		}
	}
	return out, nil
}

// lacking is a spec without the key variables that its file does not have.
func lacking(ctx context.Context, s *schemas.Spec, o session.Options) (*schemas.Spec, []string, error) {
	if s.Key == nil || s.Source.Table != "" {
		return s, nil, nil
	}
	source, err := session.OpenPaths(ctx, s.Source.Path, o)
	if err != nil {
		return nil, nil, err
	}
	defer source.Close()
	made := made(s)
	var left []string
	key := *s.Key
	key.Variables = nil
	for _, v := range s.Key.Variables {
		if there(source.Schema(), v.Name) || made[v.Name] {
			key.Variables = append(key.Variables, v)
		} else {
			left = append(left, v.Name)
		}
	}
	if len(key.Variables) == 0 {
		return nil, nil, session.Wrong(fmt.Errorf("%s has none of the key variables", s.Source.Path[0]))
	}
	with := *s
	with.Key = &key
	return &with, left, nil
}

// made are the columns that operators of a spec make.
func made(s *schemas.Spec) map[string]bool {
	all := map[string]bool{}
	for _, o := range s.Operators {
		if r, ok := o.Config.(interface{ Remakes(string) bool }); ok && s.Key != nil {
			for _, v := range s.Key.Variables {
				if r.Remakes(v.Name) {
					all[v.Name] = true
				}
			}
		}
	}
	return all
}

func there(s *arrow.Schema, name string) bool { return len(s.FieldIndices(name)) > 0 }

func side(o *pipeline.Outcome) Side {
	s := Side{Input: o.Inputs, Rows: o.Summary.Rows}
	if o.Spec.Key != nil {
		for _, v := range o.Spec.Key.Variables {
			s.Key = append(s.Key, v.Name)
		}
	}
	return s
}

// figures are those that either has, those of the key first.
func figures(before, after *schemas.Summary) []Figure {
	var list []Figure
	add := func(operator, name string, b, a *float64) {
		if b != nil || a != nil {
			list = append(list, Figure{operator, name, b, a})
		}
	}
	add("", "rows", number(before.Rows), number(after.Rows))
	keys := [2]*schemas.KeySummary{keyOf(before), keyOf(after)}
	for _, name := range []string{schemas.LimitClasses, schemas.LimitSampleUniques, schemas.LimitDoubles} {
		var values [2]*float64
		for i, k := range keys {
			if k != nil {
				x := map[string]float64{schemas.LimitClasses: float64(k.Classes), schemas.LimitSampleUniques: float64(k.SampleUniques), schemas.LimitDoubles: k.Doubles}[name]
				values[i] = &x
			}
		}
		add("", name, values[0], values[1])
	}
	names := map[string]bool{}
	for _, s := range []*schemas.Summary{before, after} {
		for prefix := range s.Operators {
			names[prefix] = true
		}
	}
	for _, prefix := range slices.Sorted(maps.Keys(names)) {
		b, a := measured(before.Operators[prefix]), measured(after.Operators[prefix])
		both := maps.Clone(b)
		maps.Copy(both, a)
		for _, name := range slices.Sorted(maps.Keys(both)) {
			add(prefix, name, valueOf(b, name), valueOf(a, name))
		}
	}
	return list
}

func number(n int64) *float64 {
	x := float64(n)
	return &x
}

// keyOf is the key of a summary, or of the first of its operators that has one.
func keyOf(s *schemas.Summary) *schemas.KeySummary {
	if s.Key != nil {
		return s.Key
	}
	for _, prefix := range slices.Sorted(maps.Keys(s.Operators)) {
		if m, ok := s.Operators[prefix].(schemas.Measured); ok && m.Key() != nil {
			return m.Key()
		}
	}
	return nil
}

func measured(document any) map[string]float64 {
	if m, ok := document.(interface{ Figures() map[string]float64 }); ok {
		return m.Figures()
	}
	return map[string]float64{}
}

func valueOf(m map[string]float64, name string) *float64 {
	x, ok := m[name]
	if !ok {
		return nil
	}
	return &x
}

// shares compare what variables and categories add to the file's SUDA score.
func (out *Outcome) shares(before, after *schemas.Summary) {
	for _, prefix := range slices.Sorted(maps.Keys(before.Operators)) {
		b, ok := before.Operators[prefix].(*suda.Summary)
		a, same := after.Operators[prefix].(*suda.Summary)
		if !ok || !same {
			continue
		}
		of := map[string]float64{}
		for _, v := range a.Variables {
			of[v.Name] = v.Share
		}
		for _, v := range b.Variables {
			out.Variables = append(out.Variables, Share{Operator: prefix, Variable: v.Name, Before: v.Share, After: of[v.Name]})
		}
		type key struct {
			variable, category string
			missing            bool
		}
		keyed := func(c suda.CategoryBlame) key {
			if c.Category == nil {
				return key{c.Variable, "", true}
			}
			return key{c.Variable, *c.Category, false}
		}
		shares := map[key]*Share{}
		var order []key
		put := func(c suda.CategoryBlame) *Share {
			k := keyed(c)
			if shares[k] == nil {
				shares[k] = &Share{Operator: prefix, Variable: c.Variable, Category: c.Category, Missing: c.Category == nil}
				order = append(order, k)
			}
			return shares[k]
		}
		for _, c := range b.Categories {
			put(c).Before = c.Share
		}
		for _, c := range a.Categories {
			put(c).After = c.Share
		}
		var list []Share
		for _, k := range order {
			list = append(list, *shares[k])
		}
		slices.SortStableFunc(list, func(x, y Share) int { return cmp.Compare(y.After-y.Before, x.After-x.Before) })
		for _, s := range list[:min(len(list), mostShares)] {
			if s.After > s.Before {
				out.Categories = append(out.Categories, s)
			}
		}
	}
}

// lists compare the riskiest records.
func (out *Outcome) lists(before, after *pipeline.Outcome) {
	for _, b := range before.Rankings {
		at := slices.IndexFunc(after.Rankings, func(r operators.Ranking) bool { return r.Operator == b.Operator })
		if at < 0 {
			continue
		}
		a := after.Rankings[at]
		l := List{Operator: b.Operator, Column: b.Column, By: "row"}
		named := before.Spec.ID != "" && after.Spec.ID != ""
		switch {
		case named:
			l.By = after.Spec.ID
		case before.Summary.Rows != after.Summary.Rows || len(before.Inputs) != len(after.Inputs):
			l.Unlike = fmt.Sprintf("the files have %d and %d rows, and no column of identifiers was named", before.Summary.Rows, after.Summary.Rows)
			out.Lists = append(out.Lists, l)
			continue
		}
		key := func(r operators.RiskyRow) string {
			if named && r.ID != nil {
				return *r.ID
			}
			return fmt.Sprint(r.Input, " ", r.Row)
		}
		first, second := map[string]bool{}, map[string]bool{}
		for _, r := range b.Rows {
			first[key(r)] = true
		}
		for _, r := range a.Rows {
			second[key(r)] = true
			if first[key(r)] {
				l.Stayed++
			} else {
				l.Entered = append(l.Entered, rowOf(r, a.Key))
			}
		}
		for _, r := range b.Rows {
			if !second[key(r)] {
				l.Left = append(l.Left, rowOf(r, b.Key))
			}
		}
		out.Lists = append(out.Lists, l)
	}
}

func rowOf(r operators.RiskyRow, key []string) Row {
	return Row{Row: r.Row, Score: r.Score, id: r.ID, Key: key, Value: r.Values}
}

// ID is the record's identifier, nil for none.
func (r Row) ID() *string { return r.id }

// Write writes the comparison as JSON, without folders, key values and identifiers.
func (out *Outcome) Write(ctx context.Context, path string, o session.Options) error {
	var reads []session.Reading
	for _, p := range slices.Concat(out.Before.Input, out.After.Input) {
		reads = append(reads, session.Reading{What: "an input", Path: p})
	}
	if err := session.CheckPaths(append(reads, o.Reads...), []string{path}); err != nil {
		return err
	}
	return session.WriteParts(
		ctx,
		[]operators.SideFile{{Path: path, What: "the comparison", Kind: operators.MadeDocument, Begins: "{\n", Part: path}},
		parted{out},
		o,
		slices.Concat(out.Before.Input, out.After.Input),
	)
}

type parted struct{ *Outcome }

// Part is a Parted's.
func (p parted) Part(string) any { return p.Outcome }

// Document is a Documented's.
func (out *Outcome) Document() ([]byte, error) {
	bare := *out
	for _, s := range []*Side{&bare.Before, &bare.After} {
		var names []string
		for _, p := range s.Input {
			names = append(names, filepath.Base(p))
		}
		s.Input = names
	}
	text, err := json.MarshalIndent(&bare, "", "  ")
	return append(text, '\n'), err
}
