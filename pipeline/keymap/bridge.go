package keymap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/keymap"
	"microrisk/operators/recode"
	"microrisk/operators/suda"
	"microrisk/pipeline/keymap/repository"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A Version is a key variable of a form's data as an analysis compares it.
type Version struct {
	Answer  Answer
	Key     schemas.KeyVariable // its levels are the categories of the answer; nil where the value is written in
	Recodes []recode.Column     // that make it, one after another; none: it is a column of the data
	Column  string              // of the data
	raw     bool                // the column's own values can be counted
}

// A Bridge leads from the answers of an analysis to the data of a form.
type Bridge struct {
	Versions []Version // best first

	form *repository.Form
	file string // of the form, below the repository
	data string // path, "" for none
}

// A bridging makes versions.
type bridging struct {
	*Bridge
	schema *arrow.Schema // of the data; nil if it is not known
	pair   bool          // another file is recoded to the same categories: their names do not depend on the types of columns
	taken  map[string]string
}

// Bridge makes the versions of the keys of answers at one prevalence for the data of a form: of the target, or of the one form of the match set.
// Data may be "" if no variable needs its types; then nothing is counted. In a pair the categories have the same names in the data of both
// forms, and all are made by recodes. Errors say what the repository leaves open, or which values the data have that are in no category.
func (e *Environment) Bridge(ctx context.Context, answers []Answer, form, data string, pair bool, o session.Options) (*Bridge, error) {
	keys := Keys(answers)
	if len(keys) == 0 {
		return nil, errors.New("no variable is shared by enough forms: there is no key")
	}
	f := e.Form(form)
	b := &bridging{Bridge: &Bridge{form: f, file: e.File(repository.Forms, form), data: data}, pair: pair, taken: make(map[string]string)}
	if data != "" {
		var err error
		if b.schema, err = schemaOf(ctx, data, o); err != nil {
			return nil, err
		}
		for _, field := range b.schema.Fields() {
			b.taken[field.Name] = "a column of " + data
		}
	}
	var wrong []error
	for _, a := range keys {
		v, err := b.version(a)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("variable %q: %w; or leave it out: name the others with --variables", a.Name, err))
			continue
		}
		b.Versions = append(b.Versions, v)
	}
	if wrong != nil {
		return nil, session.Wrong(errors.Join(wrong...))
	}
	if b.schema != nil {
		if err := b.checkValues(ctx, o); err != nil {
			return nil, err
		}
	}
	return b.Bridge, nil
}

func schemaOf(ctx context.Context, path string, o session.Options) (*arrow.Schema, error) {
	source, err := session.OpenPaths(ctx, []string{path}, o.WithDefaults())
	if err != nil {
		return nil, err
	}
	defer source.Close()
	return source.Schema(), nil
}

// version makes a variable of the data what the answer compares.
func (b *bridging) version(a Answer) (Version, error) {
	x, _ := b.form.Instance(a.Name)
	v := Version{Answer: a, Column: x.Column}
	if x.Column == "" {
		return v, fmt.Errorf("form %q does not say which column of its data has it: write column: NAME below it in %s", b.form.Name, b.file)
	}
	var t arrow.DataType
	if b.schema != nil {
		fields, ok := b.schema.FieldsByName(x.Column)
		if !ok {
			return v, fmt.Errorf("%s has no column %q, which %s names%s", b.data, x.Column, b.file, b.near(x.Column))
		}
		t = fields[0].Type
		reason := session.Reason(b.schema, fields[0])
		v.raw = reason == ""
		if a.Node.Partition == keymap.Any && !v.raw {
			return v, fmt.Errorf("its values are written in, and the column %q of %s cannot be a key variable as it is (%s): give it categories in %s",
				x.Column, b.data, reason, b.file)
		}
	}
	name := stem(a.Name)
	var err error
	switch {
	case a.Node.Partition == keymap.Any:
		err = b.whole(&v, name, x)
	case len(x.Values) > 0 || a.Scale != repository.Interval:
		err = b.mapped(&v, name, x)
	default:
		err = b.banded(&v, name, x, t)
	}
	return v, err
}

func (b *bridging) near(column string) string {
	var names []string
	for _, f := range b.schema.Fields() {
		names = append(names, f.Name)
	}
	if near := schemas.Nearest(column, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// make is a recode to a new column.
func (b *bridging) make(v *Version, r recode.Column) error {
	if of, twice := b.taken[r.Name]; twice {
		return fmt.Errorf("its recoded column would be called %q, like %s: rename one of them", r.Name, of)
	}
	b.taken[r.Name] = fmt.Sprintf("that of variable %q", v.Answer.Name)
	v.Recodes = append(v.Recodes, r)
	return nil
}

// stem begins the names of the columns that are made for a variable.
func stem(variable string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, variable)
}

// keyName ends the names of the columns of a key.
const keyName = "_key"

// KeyColumn is the name of the column that recodes make for a variable.
func KeyColumn(variable string) string { return stem(variable) + keyName }

// whole keeps the column as it is.
func (b *bridging) whole(v *Version, name string, x *repository.Instance) error {
	if !b.pair {
		v.Key = schemas.KeyVariable{Name: x.Column, MissingCodes: x.MissingCodes}
		return nil
	}
	v.Key.Name = name + keyName
	values := missing(x)
	if len(values) == 0 {
		values["0"] = "0" // all stay as they are, under a name that the other file has too
	}
	return b.make(v, recode.Column{Name: v.Key.Name, From: x.Column, Map: values})
}

// missing maps missing codes.
func missing(x *repository.Instance) map[string]string {
	values := make(map[string]string)
	for _, code := range x.MissingCodes {
		values[code] = ""
	}
	return values
}

// mapped takes each value to the block of its category.
func (b *bridging) mapped(v *Version, name string, x *repository.Instance) error {
	g, p := v.Answer.Graph, v.Answer.Node.Partition
	if len(x.Categories) == 0 && len(x.Values) == 0 {
		return fmt.Errorf("its values are written in, and the answer %s has categories: write below values: in %s which values of the column %q each has",
			v.Answer.Code, b.file, x.Column)
	}
	labels, levels := v.Answer.levels(p)
	values := missing(x)
	for _, id := range slices.Concat(x.Categories, slices.Sorted(maps.Keys(x.Values))) {
		stored, listed := x.Values[id]
		if !listed {
			if parts := slices.ContainsFunc(slices.Collect(maps.Keys(x.Values)), func(part string) bool { return g.Inside(part, id) }); parts {
				continue
			}
			stored = []string{id}
		}
		reach := g.Reach(id)
		label := labels[p.Block(int(reach[0]))]
		for _, s := range reach {
			if labels[p.Block(int(s))] != label {
				return fmt.Errorf("category %s, which has values in %s, is in several categories of the answer %s", id, b.file, v.Answer.Code)
			}
		}
		for _, value := range stored {
			if had, twice := values[value]; twice && had != label {
				return fmt.Errorf("value %q stands in %s for several things: %q, and %q", value, b.file, cmp.Or(had, "missing"), label)
			}
			values[value] = label
		}
	}
	v.Key = schemas.KeyVariable{Name: name + keyName, Levels: levels}
	return b.make(v, recode.Column{Name: v.Key.Name, From: x.Column, Map: values, Other: outside(levels)})
}

// levels are the names of the blocks, by their number, and in the order of the variable. No two are the same.
func (v *Variable) levels(p keymap.Partition) (byBlock, ordered []string) {
	byBlock = make([]string, p.Size())
	taken := make(map[string]bool, p.Size())
	for _, block := range v.Blocks(p) {
		label := block.Label
		if taken[label] {
			label = fmt.Sprintf("%s (%s)", label, cmp.Or(block.ID, block.Sinks[0]))
		}
		for taken[label] {
			label += "'"
		}
		taken[label] = true
		byBlock[p.Block(block.at)] = label
		ordered = append(ordered, label)
	}
	return byBlock, ordered
}

// outside is what values in no category become: none of the levels, so that a run refuses them.
func outside(levels []string) *string {
	name := "(in no category)"
	for slices.Contains(levels, name) {
		name += "'"
	}
	return &name
}

// banded takes numbers to the bands of the blocks.
func (b *bridging) banded(v *Version, name string, x *repository.Instance, t arrow.DataType) error {
	if t == nil {
		return fmt.Errorf("it is made of bands, whose names depend on the type of the column %q of form %q: name its data with --data or --data-b",
			x.Column, b.form.Name)
	}
	sinks := v.Answer.Graph.Sinks()
	bands := make([]keymap.Band, len(sinks))
	for i, id := range sinks {
		bands[i] = v.Answer.bands[id]
	}
	cuts, err := keymap.Cuts(v.Answer.Node.Partition, bands)
	if err != nil {
		return err
	}
	cuts, inside := within(cuts, v.Answer.Space())
	hide, from := false, x.Column
	if codes := missing(x); len(codes) > 0 {
		codesOut := recode.Column{Name: name + "_values", From: from, Map: codes, Keep: &hide}
		if err := b.make(v, codesOut); err != nil {
			return err
		}
		from, t = codesOut.Name, arrow.BinaryTypes.String
	}
	named, err := recode.BandNames(cuts, t)
	if err != nil {
		return fmt.Errorf("column %q: %w", x.Column, err)
	}
	wanted := named
	if b.pair {
		if wanted, err = recode.BandNames(cuts, arrow.PrimitiveTypes.Int64); err != nil {
			return err
		}
	}
	alike := make(map[string]string)
	other := false
	for i := range named {
		if !inside(i) {
			continue
		}
		v.Key.Levels = append(v.Key.Levels, wanted[i][0])
		for _, name := range named[i] {
			alike[name] = wanted[i][0]
			other = other || name != wanted[i][0]
		}
	}
	v.Key.Name = name + keyName
	if !other {
		return b.make(v, recode.Column{Name: v.Key.Name, From: from, Cuts: cuts})
	}
	banded := recode.Column{Name: name + "_bands", From: from, Cuts: cuts, Keep: &hide}
	return errors.Join(b.make(v, banded), b.make(v, recode.Column{Name: v.Key.Name, From: banded.Name, Map: alike, Other: outside(v.Key.Levels)}))
}

// within adds the finite ends of a variable to its cuts, so that what is beyond them is in bands of its own; inside tells of the number of a
// band whether it is of the variable.
func within(cuts []float64, space keymap.Band) (all []float64, inside func(band int) bool) {
	first, last := 0, len(cuts)
	if !math.IsInf(space.Lo, -1) {
		cuts = slices.Insert(slices.Clone(cuts), 0, space.Lo)
		first, last = first+1, last+1
	}
	if !math.IsInf(space.Hi, 1) {
		cuts = append(slices.Clone(cuts), space.Hi)
	}
	return cuts, func(band int) bool { return band >= first && band <= last }
}

// operators are the recodes as an operator of a spec; none if all versions are columns of the data.
func (b *Bridge) operators() []schemas.Operator {
	list := b.Recodes()
	if len(list) == 0 {
		return nil
	}
	return []schemas.Operator{{Config: (*recode.Config)(&list)}}
}

// Recodes are those of all versions.
func (b *Bridge) Recodes() []recode.Column {
	var list []recode.Column
	for _, v := range b.Versions {
		list = append(list, v.Recodes...)
	}
	return list
}

// Spec is a run over the data: their columns recoded, and risk by minimal sample uniques of the key.
func (b *Bridge) Spec() *schemas.Spec {
	key := &schemas.Key{}
	for _, v := range b.Versions {
		key.Variables = append(key.Variables, v.Key)
	}
	name := repository.Slug(b.form.Name) + ".risk"
	sink := name
	if info, err := os.Stat(b.data); err == nil && !info.IsDir() { // else there may be several
		base := filepath.Base(b.data)
		stem, packed := strings.CutSuffix(base, ".gz")
		ending := filepath.Ext(stem)
		name = strings.TrimSuffix(stem, ending) + ".risk"
		if sink = name + ending; packed {
			sink += ".gz"
		}
	}
	return &schemas.Spec{
		Source:     schemas.Source{Path: []string{b.data}},
		Key:        key,
		Operators:  append(b.operators(), schemas.Operator{Config: &suda.Config{}}),
		Sink:       schemas.Sink{Path: sink},
		Summary:    name + ".json",
		AllowEmpty: true, // a category may have no record
	}
}
