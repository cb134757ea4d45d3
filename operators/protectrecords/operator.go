// Package protectrecords finds the least change of key variables after which records are safe to release, and makes it: coarser categories for all
// records, and hidden cells of those that stay risky. Packages recoding, recoding/local and recoding/merged have the mathematics; microrisk protect
// stands on the same search, and tells and writes more of it.
//
//	key: {variables: [AGE, REGION, SEX]}
//	operators:
//	  - protect_records: {safe: {k: 3}, suppress: cells, hierarchies: {AGE: {widths: [5, 10]}, REGION: {file: regions.csv}}}
//	  - kanonymity: {k: 3}      # of the release
package protectrecords

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/recoding"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/schemas"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(schemas.Kind{Name: Name, Document: document, New: func() schemas.Config { return &Config{} },
		Doc: "Makes the least change of the key after which records are safe, as microrisk protect does: key variables become coarser, and cells are hidden. " +
			"A variable that can be made coarser becomes text (bytes stay bytes), one that is left out is missing throughout. " +
			"Records that select leaves in the file without choosing them show no key. Tables are made safe by protect.",
		Limits: []schemas.Figure{{Name: Limit, Doc: "What protect_records lost, by its loss."}}})
}

// An Operator makes records safe.
type Operator struct {
	Config   Config // Key is given
	Sampling *schemas.Sampling
	Texts    map[string][]byte // of the files of hierarchies
}

// Bind is an Operator's. The key variables and the sensitive column must exist and have equality.
func (o Operator) Bind(in *arrow.Schema) (*operators.Plan, error) {
	b := &bound{Operator: o, prefix: o.Config.ColumnPrefix()}
	if err := schemas.Settle(b.prefix, b.Config.Fields()); err != nil {
		return nil, err
	}
	all := *b.Config.Key
	if s := b.Config.Target.Sensitive; s != "" {
		if all.Has(s) {
			return nil, asked("%s: %s is a key variable; what is sensitive is not known to an intruder", b.prefix, s)
		}
		all.Variables = append(slices.Clone(all.Variables), schemas.KeyVariable{Name: s})
	}
	request, err := operators.Key{Who: b.prefix, Policy: schemas.MissingCategory, Key: all}.Request(in)
	if err != nil {
		return nil, err
	}
	plan := &operators.Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit, InOrder: b.Config.Suppress == SuppressCells}
	for v, x := range b.Config.Key.Variables {
		f, err := operators.LookUp(b.prefix, in, x.Name)
		if err != nil {
			return nil, err
		}
		t := operators.ValueType(f.Type)
		b.types = append(b.types, t)
		coarser, hidden := b.changes(v)
		if !coarser && !hidden {
			continue
		}
		c := column{variable: v, read: -1, t: t}
		if coarser {
			c.t = textOf(t)
		} else {
			c.read, plan.Reads = len(plan.Reads), append(plan.Reads, x.Name)
		}
		b.columns = append(b.columns, c)
		plan.Adds = append(plan.Adds, operators.Added{Field: arrow.Field{Name: x.Name, Type: c.t, Nullable: true}, Replaces: x.Name})
	}
	if !b.Config.Target.Modelled() {
		return plan, nil
	}
	model := b.Config.Model
	model.Replace = true
	setup := operators.Setup{Key: *b.Config.Key, Sampling: o.Sampling}
	if b.model, err = model.Operators(setup)[0].Bind(in); err != nil {
		return nil, err
	}
	plan.Tables = append(plan.Tables, b.model.Tables...)
	return plan, nil
}

// textOf is the type of a variable that can be made coarser: text, or bytes where there were bytes, which need not be text.
func textOf(t arrow.DataType) arrow.DataType {
	switch t.ID() {
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return arrow.BinaryTypes.Binary
	}
	return arrow.BinaryTypes.String
}

// bound is the operator, bound to a schema.
type bound struct {
	Operator
	prefix  string
	types   []arrow.DataType // by key variable
	columns []column
	model   *operators.Plan // nil: the target asks none
}

// A column is one that the operator makes.
type column struct {
	variable int // of the key
	read     int // where it is as it was; -1: its values are those of groups
	t        arrow.DataType
}

// changes tells what may become of a variable: it is made coarser, or cells of it are hidden.
func (b *bound) changes(v int) (coarser, hidden bool) {
	h := b.Config.Hierarchies.Of(b.Config.Key.Variables[v].Name)
	coarser = h == nil || !h.Fixed && (h.Most == nil || *h.Most > 0)
	return coarser, b.Config.Suppress != SuppressNone
}

func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[0]
	held := int64(t.Classes()) * int64(64+16*len(t.Variables))
	if err := env.InMemory(t, fmt.Sprintf("a search over %d key combinations", t.Classes()), held, operators.FewerVariables); err != nil {
		return nil, err
	}
	if t.Records() == 0 {
		return nil, errors.New("no record was counted: there is nothing to protect")
	}
	ask := b.Config.Ask
	p, err := ask.New(t, b.Config.Key.Variables, b.types, b.Texts)
	if err != nil {
		return nil, err
	}
	p.Sampling, p.Workers, p.Progress = b.Sampling, env.Workers, env.Progress
	if b.model != nil {
		fitted, err := b.model.Fit(ctx, tables[1:], env)
		if err != nil {
			return nil, err
		}
		if r, ok := fitted.(operators.Releaser); ok {
			defer r.Release()
		}
		p.Expectation = fitted.(mc3.Expecting).Expectation()
	}
	rule, err := p.Rule(1)
	if err != nil {
		return nil, err
	}
	out, err := p.FindBy(ctx, rule)
	switch {
	case err != nil:
		return nil, err
	case len(out.Best) == 0:
		return nil, notMet(out)
	}
	if !out.Proven && out.Stopped != "" {
		env.Warn("%s: the search ended (%s) before it was known that nothing loses less", b.prefix, out.Stopped)
	}
	f := &fitted{bound: b, summary: &Summary{*out}}
	return f, f.make(p, &out.Best[0], rule)
}

// make says what becomes of each class.
func (f *fitted) make(p *Search, best *Release, rule recoding.Rule) error {
	f.node = best.Node
	parts, err := p.parts(best, rule)
	if err != nil {
		return err
	}
	f.limited = parts.limited
	classes := p.Table.Classes()
	f.of = make([]int32, classes)
	f.portions = [][]portion{nil}
	f.groups = make([][]uint32, len(best.Node))
	codes := make([]uint32, classes)
	for v, level := range best.Node {
		p.Table.Codes(v, 0, codes)
		f.groups[v] = make([]uint32, classes)
		group := p.Levels[v].Levels[level].Group
		for i, c := range codes {
			f.groups[v][i] = group[c]
		}
		_, left := p.Levels[v].Recode(int(level))
		var texts []*string
		for g, name := range p.Levels[v].Levels[level].Names {
			if left || p.Levels[v].Missing(int(level), uint32(g)) {
				texts = append(texts, nil)
			} else {
				texts = append(texts, &name)
			}
		}
		f.texts = append(f.texts, texts)
	}
	at := map[string]int32{}
	key := make([]byte, 0, 4*len(best.Node))
	for i := range classes {
		key = key[:0]
		for v := range f.groups {
			key = appendCode(key, f.groups[v][i])
		}
		list := parts.of[string(key)]
		if list == nil {
			continue
		}
		k, seen := at[string(key)]
		if !seen {
			k = int32(len(f.portions))
			at[string(key)], f.portions = k, append(f.portions, list)
		}
		f.of[i] = k
	}
	return p.Table.Err()
}

func appendCode(key []byte, code uint32) []byte {
	return append(key, byte(code), byte(code>>8), byte(code>>16), byte(code>>24))
}
