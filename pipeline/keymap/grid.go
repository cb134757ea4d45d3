package keymap

import (
	"context"
	"slices"

	"microrisk/engine/keymap"
)

// Grids are what a grid of forms shows in its cells.
var Grids = []string{"held", "codes", "target"}

// Grid has a row a form and a column a variable: held, an X where the form has it; codes, its code; target, the categories that the form and
// the target share. Metadata stand before, those that the repository names first.
func (e *Environment) Grid(ctx context.Context, kind, target string, variables []string) (*Table, error) {
	if variables == nil {
		for _, v := range e.Repository.Variables {
			variables = append(variables, v.Name)
		}
	}
	all, err := e.all(ctx, variables)
	if err != nil {
		return nil, err
	}
	forms := e.Repository.Forms
	t := &Table{Rows: len(forms), Columns: []Column{{Name: "form", Text: func(i int) *string { return said(forms[i].Name) }}}}
	for _, key := range e.metadata() {
		t.Columns = append(t.Columns, Column{Name: key, Head: key, Hidden: !slices.Contains(e.Config.MetadataColumns, key),
			Text: func(i int) *string { return said(forms[i].Metadata[key]) }})
	}
	for _, v := range all {
		x := Column{Name: v.Name, Head: v.Name}
		switch kind {
		case "held":
			x.Text = func(i int) *string {
				if _, holds := forms[i].Instance(v.Name); holds {
					return said("X")
				}
				return nil
			}
		case "codes":
			x.Text = func(i int) *string { return said(v.Codes[v.Forms[forms[i].Name]]) }
		case "target":
			own, holds := v.Forms[target]
			x.Whole = func(i int) (int64, bool) {
				p, has := v.Forms[forms[i].Name]
				if !holds || !has {
					return 0, false
				}
				n := keymap.Join(own, p).Size()
				return int64(n), n != keymap.Unbounded
			}
		}
		t.Columns = append(t.Columns, x)
	}
	return t, nil
}

// metadata are the names of what forms say of themselves, those of the configuration first.
func (e *Environment) metadata() []string {
	keys := slices.Clone(e.Config.MetadataColumns)
	var more []string
	for _, f := range e.Repository.Forms {
		for key := range f.Metadata {
			if !slices.Contains(keys, key) && !slices.Contains(more, key) {
				more = append(more, key)
			}
		}
	}
	slices.Sort(more)
	return append(keys, more...)
}
