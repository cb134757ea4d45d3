package repository

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Long is a catalogue of forms in tables of one fact a row, as spreadsheets have them.
type Long struct {
	Variables []*Variable // in the order of the text
	Forms     []*Form

	variables map[string]*longVariable
	forms     map[string]*longForm
	beside    *Repository // that they come to
	conflicts []string    // with it
}

type longVariable struct {
	doc   *Variable
	ids   map[string]string // of labels
	taken map[string]bool
	slugs Slugs
	lists map[string][]string // of categories, that many forms have
	names *NodeIndex          // of one that the repository has; nil of others
}

type longForm struct {
	doc       *Form
	instances map[*longVariable]int
}

// NewLong is an empty one.
func NewLong() *Long {
	return &Long{variables: make(map[string]*longVariable), forms: make(map[string]*longForm)}
}

// Headers of the tables.
var (
	CategoriesHeader = []string{"form", "variable", "category"} // a row a category; one with an empty category: the value is written in
	MetadataHeader   = []string{"form", "key", "value"}
	EdgesHeader      = []string{"variable", "parent", "child"} // an empty child: a category alone
)

// Read takes a table, which its header tells apart. name is the file's, for messages.
func (l *Long) Read(name string, from io.Reader) error {
	r, header, err := longReader(from)
	if err != nil {
		if err == io.EOF {
			return fmt.Errorf("%s is empty", name)
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	take := l.categories
	switch {
	case slices.Equal(header, CategoriesHeader):
	case slices.Equal(header, MetadataHeader):
		take = l.metadata
	case slices.Equal(header, EdgesHeader):
		take = l.edges
	default:
		return fmt.Errorf("%s begins with %s; a table of forms begins with %s, %s or %s", name, strings.Join(header, ","),
			strings.Join(CategoriesHeader, ","), strings.Join(MetadataHeader, ","), strings.Join(EdgesHeader, ","))
	}
	if err := take(r); err != nil {
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			return fmt.Errorf("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		return fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return nil
}

// rows calls take for every row.
func rows(r *csv.Reader, take func(row []string) error) error {
	for {
		row, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i, field := range row {
			if !utf8.ValidString(field) {
				return fmt.Errorf("field %d is not UTF-8; convert the file first, as from Windows-1252: iconv -f WINDOWS-1252 -t UTF-8", i+1)
			}
		}
		if err := take(row); err != nil {
			return err
		}
	}
}

func (l *Long) categories(r *csv.Reader) error {
	var (
		form     *longForm
		variable *longVariable
		place    int
		list     []string // of the instance that is read
		any      bool
	)
	finish := func() {
		if variable != nil {
			form.doc.Variables[place].Categories = variable.shared(list)
		}
	}
	err := rows(r, func(row []string) error {
		if row[0] == "" || row[1] == "" {
			return errors.New("a row names a form and a variable")
		}
		if variable == nil || form.doc.Name != row[0] || variable.doc.Name != row[1] {
			finish()
			form, variable = l.form(row[0]), l.variable(row[1])
			var there bool
			if place, there = form.instances[variable]; there {
				list = append(list[:0], form.doc.Variables[place].Categories...)
				any = len(list) == 0
			} else {
				place = len(form.doc.Variables)
				form.instances[variable] = place
				form.doc.Variables = append(form.doc.Variables, Instance{Variable: variable.doc.Name})
				list, any = list[:0], false
			}
		}
		if any || row[2] == "" && len(list) > 0 {
			return fmt.Errorf("%s of form %q: a row without a category says that the value is written in, then there are no others", row[1], row[0])
		}
		if any = row[2] == ""; any {
			return nil
		}
		id := variable.id(row[2])
		if slices.Contains(list, id) {
			return fmt.Errorf("%s of form %q has the category %q twice", row[1], row[0], row[2])
		}
		list = append(list, id)
		return nil
	})
	finish()
	return err
}

func (l *Long) metadata(r *csv.Reader) error {
	return rows(r, func(row []string) error {
		if row[0] == "" || row[1] == "" {
			return errors.New("a row names a form and a key")
		}
		f := l.form(row[0]).doc
		if had, twice := f.Metadata[row[1]]; twice && had != row[2] {
			return fmt.Errorf("form %q has %q and %q for %s", row[0], had, row[2], row[1])
		}
		if f.Metadata == nil {
			f.Metadata = make(map[string]string)
		}
		f.Metadata[strings.Clone(row[1])] = strings.Clone(row[2])
		return nil
	})
}

func (l *Long) edges(r *csv.Reader) error {
	return rows(r, func(row []string) error {
		if row[0] == "" || row[1] == "" {
			return errors.New("a row names a variable and a category")
		}
		v := l.variable(row[0])
		parent := v.id(row[1])
		switch {
		case row[2] == "":
		case v.names != nil:
			l.knownEdge(v.doc, row[1], row[2], parent, v.id(row[2]))
		default:
			v.doc.Edges = append(v.doc.Edges, [2]string{parent, v.id(row[2])})
		}
		return nil
	})
}

func (l *Long) form(name string) *longForm {
	f, ok := l.forms[name]
	if !ok {
		name = strings.Clone(name)
		if l.beside != nil && l.beside.Form(name) != nil {
			l.conflict("there is a form %q already, in %s", name, l.beside.File(Forms, name))
		}
		f = &longForm{&Form{Name: name, Variables: []Instance{}}, make(map[*longVariable]int)}
		l.forms[name] = f
		l.Forms = append(l.Forms, f.doc)
	}
	return f
}

func (l *Long) variable(name string) *longVariable {
	v, ok := l.variables[name]
	if !ok {
		name = strings.Clone(name)
		v = &longVariable{&Variable{Name: name, Nodes: []Node{}}, make(map[string]string), make(map[string]bool), make(Slugs), make(map[string][]string), nil}
		l.variables[name] = v
		if !l.known(v) {
			l.Variables = append(l.Variables, v.doc)
		}
	}
	return v
}

// id of a label; a new one gets one.
func (v *longVariable) id(label string) string {
	id, ok := v.ids[label]
	if !ok {
		label = strings.Clone(label)
		if v.names != nil {
			if id = v.names.Of(label); id == "" {
				id = "?" + label // a conflict
			}
			v.ids[label] = id
			return id
		}
		id = v.slugs.Free(label, func(id string) bool { return v.taken[id] })
		n := Node{ID: id}
		if id != label {
			n.Label = label
		}
		v.doc.Nodes = append(v.doc.Nodes, n)
		v.ids[label], v.taken[id] = id, true
	}
	return id
}

// shared is a list that is kept once, however many forms have it.
func (v *longVariable) shared(list []string) []string {
	text := strings.Join(list, ",")
	kept, ok := v.lists[text]
	if !ok {
		kept = slices.Clone(list)
		if kept == nil {
			kept = []string{}
		}
		v.lists[text] = kept
	}
	return kept
}

// Repository is the catalogue as a repository without files, judged as those are.
func (l *Long) Repository() *Repository {
	r := newRepository("")
	for _, v := range l.Variables {
		r.take(&file{path: v.Name, doc: v})
	}
	for _, f := range l.Forms {
		r.take(&file{path: f.Name, doc: f})
	}
	r.settle()
	return r
}
