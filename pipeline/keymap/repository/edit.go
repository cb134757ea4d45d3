package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"microrisk/engine/keymap"
	"microrisk/schemas"
)

// Init makes a folder a repository. It may have files, but none of a repository.
func Init(folder string, config *Config) ([]Written, error) {
	path := filepath.Join(folder, ConfigName)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s is a repository already", folder)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	c := (&Repository{Folder: folder}).Change()
	c.texts[ConfigName] = schemas.DocumentYAML(config)
	return c.Apply(false)
}

// NewBand is a category of an interval variable; its id is made of the bounds.
func NewBand(label string, lo, hi float64) Node {
	return Node{ID: keymap.Band{Lo: lo, Hi: hi}.ID(), Label: label, Lo: &lo, Hi: &hi}
}

// Band is the category that is a band; nil if none is.
func (v *Variable) Band(b keymap.Band) *Node {
	for i, n := range v.Nodes {
		if n.Lo != nil && n.Hi != nil && *n.Lo == b.Lo && *n.Hi == b.Hi {
			return &v.Nodes[i]
		}
	}
	return nil
}

// Space is what all bands of an interval variable cover.
func (v *Variable) Space() keymap.Band {
	space := keymap.Band{Lo: math.Inf(1), Hi: math.Inf(-1)}
	for _, n := range v.Nodes {
		space.Lo, space.Hi = min(space.Lo, *n.Lo), max(space.Hi, *n.Hi)
	}
	return space
}

// Similar is the name of a variable that is written almost like another one, "" if none is.
func (r *Repository) Similar(name string) string {
	for _, v := range r.Variables {
		if v.Name != name &&
			(Folded(v.Name) == Folded(name) || Slug(v.Name) == Slug(name) && ascii(v.Name+name) || schemas.Distance(v.Name, name) <= utf8.RuneCountInString(name)/8) {
			return v.Name
		}
	}
	return ""
}

// ascii tells whether a slug has all letters of a text.
func ascii(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0
}

// Rename gives an object another name, in its file and in all that name it.
func (c *Change) Rename(kind, old, name string) error {
	f := c.r.files[object{kind, old}]
	switch {
	case f == nil:
		return c.r.Unknown(kind, old)
	case name == "":
		return fmt.Errorf("a %s needs a name", strings.TrimSuffix(kind, "s"))
	case c.r.files[object{kind, name}] != nil:
		return fmt.Errorf("there is a %s %q already", strings.TrimSuffix(kind, "s"), name)
	}
	other := func(list []string) []string { return renamed(list, old, name) }
	var failed []error
	for _, v := range c.r.Variables {
		x := *v
		if kind == Variables {
			if x.Name == old {
				x.Name = name
			}
			if v.Review != nil {
				review := *v.Review
				review.Same, review.Different = other(review.Same), other(review.Different)
				x.Review = &review
			}
		}
		failed = append(failed, c.putChanged(&x, v))
	}
	for _, f := range c.r.Forms {
		x := *f
		switch {
		case kind == Forms && x.Name == old:
			x.Name = name
		case kind == Variables:
			x.Variables = slices.Clone(f.Variables)
			for i := range x.Variables {
				if x.Variables[i].Variable == old {
					x.Variables[i].Variable = name
				}
			}
		}
		failed = append(failed, c.putChanged(&x, f))
	}
	for _, g := range c.r.Groups {
		x := *g
		switch kind {
		case Forms:
			x.Forms = other(g.Forms)
		case Groups:
			if x.Name == old {
				x.Name = name
			}
			x.Union, x.Minus = other(g.Union), other(g.Minus)
		}
		failed = append(failed, c.putChanged(&x, g))
	}
	for _, s := range c.r.Scenarios {
		x := *s
		switch kind {
		case Forms:
			if x.Target == old {
				x.Target = name
			}
			x.Match.Forms, x.Match.Exclude = other(s.Match.Forms), other(s.Match.Exclude)
		case Variables:
			x.Variables = other(s.Variables)
		case Groups:
			x.Match.Groups = other(s.Match.Groups)
		case Scenarios:
			if x.Name == old {
				x.Name = name
			}
		}
		failed = append(failed, c.putChanged(&x, s))
	}
	return errors.Join(failed...)
}

// putChanged puts a document if it says something else than before.
func (c *Change) putChanged(doc, before schemas.Document) error {
	if string(schemas.DocumentYAML(doc)) == string(schemas.DocumentYAML(before)) {
		return nil
	}
	_, was := identityOf(before)
	return c.Put(doc, was)
}

func renamed(list []string, old, name string) []string {
	if !slices.Contains(list, old) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i] == old {
			list[i] = name
		}
	}
	return list
}

// RenameNode gives a category another label; the one that it had stays among the former ones.
func (c *Change) RenameNode(variable, id, label string) error {
	v := c.r.Variable(variable)
	if v == nil {
		return c.r.Unknown(Variables, variable)
	}
	x := *v
	x.Nodes = slices.Clone(v.Nodes)
	for i, n := range x.Nodes {
		if n.ID == id {
			had := v.Label(id)
			if had == label {
				return fmt.Errorf("category %s is called %q already", id, label)
			}
			x.Nodes[i].Label = label
			x.Nodes[i].FormerLabels = append(slices.DeleteFunc(slices.Clone(n.FormerLabels), func(l string) bool { return l == label }), had)
			return c.Put(&x, variable)
		}
	}
	return fmt.Errorf("variable %q has no category %s", variable, id)
}

// Text is the review as its file has it.
func (r *Review) Text() []byte { return schemas.TableYAML(r.fields()) }
