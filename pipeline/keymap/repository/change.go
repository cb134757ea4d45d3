package repository

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/engine/keymap"
	"microrisk/schemas"
)

// A Change is what is to become of a repository: documents that are put, and some that are removed. Nothing is written before Apply.
type Change struct {
	r      *Repository
	texts  map[string][]byte // by path; nil for a file that goes
	read   map[string]*file  // as it was when the repository was opened, by path
	slugs  map[string]Slugs  // of names of new files, by kind
	broken []*Finding        // of files that would be changed
	Force  bool              // edits of categories that are not safe are made, and judged by the forms that use them
	ctx    context.Context   // of ApplyContext
	// Inconsistent lets forms be put whose categories overlap or do not cover their variable: then they are here.
	Inconsistent *[]*Finding
}

// Change begins one.
func (r *Repository) Change() *Change {
	c := &Change{r: r, ctx: context.Background(), texts: make(map[string][]byte), read: make(map[string]*file, len(r.files)), slugs: make(map[string]Slugs)}
	for _, f := range r.files {
		c.read[f.path] = f
	}
	return c
}

// Put adds a document, or puts it in the place of the one of its kind that was called before; "" for one that is new.
func (c *Change) Put(doc schemas.Document, before string) error {
	kind, name := identityOf(doc)
	f := c.r.files[object{kind, before}]
	if kind == "" {
		f = c.r.files[object{}]
	}
	if f == nil || before == "" && kind != "" {
		if c.r.files[object{kind, name}] != nil {
			return fmt.Errorf("there is a %s %q already, in %s", strings.TrimSuffix(kind, "s"), name, c.r.files[object{kind, name}].path)
		}
		path := ConfigName
		if kind != "" {
			if c.slugs[kind] == nil {
				c.slugs[kind] = make(Slugs)
			}
			path = kind + "/" + c.slugs[kind].Free(fileName(name), func(slug string) bool { return c.taken(kind, slug) }) + ".yaml"
		}
		c.texts[path] = schemas.DocumentYAML(doc)
		return nil
	}
	if f.broken { // what could not be read of it would be lost
		c.broken = append(c.broken, f.wrong...)
		return nil
	}
	text, err := amended(f.path, f.text, doc)
	c.texts[f.path] = text
	return err
}

// fileName is as much of a name as a file's is made of: systems allow 255 bytes.
func fileName(name string) string {
	slug := Slug(name)
	return slug[:min(len(slug), 100)]
}

func (c *Change) taken(kind, slug string) bool {
	for _, ending := range endings {
		path := kind + "/" + slug + ending
		if _, planned := c.texts[path]; planned {
			return true
		}
		if _, err := os.Lstat(filepath.Join(c.r.Folder, filepath.FromSlash(path))); err == nil {
			return true
		}
	}
	return false
}

// Remove takes the file of an object away.
func (c *Change) Remove(kind, name string) error {
	f := c.r.files[object{kind, name}]
	if f == nil {
		return c.r.Unknown(kind, name)
	}
	c.texts[f.path] = nil
	return nil
}

func identityOf(doc schemas.Document) (kind, name string) {
	switch x := doc.(type) {
	case *Variable:
		return Variables, x.Name
	case *Form:
		return Forms, x.Name
	case *Group:
		return Groups, x.Name
	case *Scenario:
		return Scenarios, x.Name
	}
	return "", ""
}

// Apply judges the repository as it would become, and changes its files: all new texts are written beside the old ones and read back before
// the first is renamed. It is refused if it made anything wrong that was not before, or an edit of categories that is not safe. With dry
// nothing is written. Either all that stands in the answer was done, or nothing, unless the program is ended in between: then [Open] finds what is left.
func (c *Change) Apply(dry bool) ([]Written, error) {
	if c.broken != nil {
		return nil, fmt.Errorf("nothing was changed: mend first what is wrong in the file that would be:\n%w", &InvalidError{c.broken})
	}
	become, err := c.judged(c.texts)
	if err != nil {
		return nil, err
	}
	if err := c.addCodes(become); err != nil {
		return nil, err
	}
	list := c.written()
	if dry {
		return list, nil
	}
	return list, c.write(list, func() error { return nil })
}

// ApplyContext is Apply that can be stopped before the first file takes the place of another: then nothing is changed or left.
func (c *Change) ApplyContext(ctx context.Context, dry bool) ([]Written, error) {
	c.ctx = ctx
	return c.Apply(dry)
}

// judged is the repository as texts make it.
func (c *Change) judged(texts map[string][]byte) (*Repository, error) {
	become, err := open(c.ctx, c.r.Folder, texts)
	if err != nil {
		return nil, err
	}
	had := make(map[string]int)
	for _, f := range c.r.Findings {
		had[f.File+f.Message]++
	}
	var wrong, inconsistent []*Finding
	for _, f := range become.Findings {
		had[f.File+f.Message]--
		switch {
		case had[f.File+f.Message] >= 0:
		case f.Inconsistent && c.Inconsistent != nil:
			inconsistent = append(inconsistent, f)
		default:
			wrong = append(wrong, f)
		}
	}
	if c.Inconsistent != nil {
		*c.Inconsistent = inconsistent
	}
	if wrong != nil {
		return nil, fmt.Errorf("nothing was changed, since this would be wrong:\n%w", &InvalidError{wrong})
	}
	if c.Force {
		return become, nil
	}
	for _, v := range c.r.Variables {
		if err := safe(v, become.Variable(v.Name)); err != nil {
			return nil, fmt.Errorf("nothing was changed: variable %q: %w (--force makes the edit if all forms stay valid)", v.Name, err)
		}
	}
	return become, nil
}

// safe tells whether an edit of a variable keeps all categorizations that there could be.
func safe(old, edited *Variable) error {
	if edited == nil || slices.EqualFunc(old.Nodes, edited.Nodes, sameNode) && slices.Equal(old.Edges, edited.Edges) {
		return nil
	}
	if old.Scale == Interval && edited.Scale == Interval {
		return safeBands(old, edited)
	}
	before, _, err := old.Drawing()
	if err != nil {
		return nil // there was nothing to keep
	}
	after, _, err := edited.Drawing()
	if err != nil {
		return err
	}
	return keymap.CheckEdit(before, after)
}

func sameNode(a, b Node) bool {
	return a.ID == b.ID && same(a.Lo, b.Lo) && same(a.Hi, b.Hi)
}

func same(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

// safeBands tells whether all bands of before are there, and cover as much.
func safeBands(old, edited *Variable) error {
	if len(old.Nodes) == 0 {
		return nil
	}
	for _, n := range old.Nodes {
		if !slices.ContainsFunc(edited.Nodes, func(m Node) bool { return sameNode(n, m) }) {
			return fmt.Errorf("band %s is gone, or has other ends", n.ID)
		}
	}
	if was, is := old.Space(), edited.Space(); is != was {
		return fmt.Errorf("the bands cover %s instead of %s: categorizations of before would not cover the variable any more", is.ID(), was.ID())
	}
	return nil
}
