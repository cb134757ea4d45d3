package repository

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/engine/keymap"
	"microrisk/schemas"
)

// unfinished ends the names of files that a change writes before any is renamed.
const unfinished = ".unfinished"

// finishedName is what such a file would have become.
func finishedName(path string) string {
	path = strings.TrimSuffix(path, unfinished)
	at := strings.LastIndexByte(path, '/') + 1
	return path[:at] + strings.TrimPrefix(path[at:], ".")
}

func unfinishedName(path string) string {
	at := strings.LastIndexByte(path, '/') + 1
	return path[:at] + "." + path[at:] + unfinished
}

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
	want := schemas.DocumentOrdered(doc)
	if strings.HasSuffix(strings.ToLower(f.path), ".json") {
		text, err := schemas.IndentedJSON(want)
		c.texts[f.path] = text
		return err
	}
	text, err := amended(f.path, f.text, want)
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
		return fmt.Errorf("there is no %s %q%s", strings.TrimSuffix(kind, "s"), name, c.r.Near(kind, name))
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

// A Written is a file that a change writes or takes away.
type Written struct {
	Path    string
	Removed bool
	New     bool
	Text    []byte // that it gets
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
	become, err := openContext(c.ctx, c.r.Folder, texts)
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
	ends := func(nodes []Node) (lo, hi float64) {
		lo, hi = *nodes[0].Lo, *nodes[0].Hi
		for _, n := range nodes {
			lo, hi = min(lo, *n.Lo), max(hi, *n.Hi)
		}
		return lo, hi
	}
	lo, hi := ends(old.Nodes)
	if l, h := ends(edited.Nodes); l != lo || h != hi {
		return fmt.Errorf("the bands cover %s instead of %s: categorizations of before would not cover the variable any more",
			keymap.Band{Lo: l, Hi: h}.ID(), keymap.Band{Lo: lo, Hi: hi}.ID())
	}
	return nil
}

// addCodes puts the codes that categorizations get into the files of their variables, so that they never change.
func (c *Change) addCodes(become *Repository) error {
	changed := false
	for _, v := range become.Variables {
		given, err := become.givenCodes(v)
		if err != nil || become.graphs[v.Name] == nil {
			continue // it is a finding
		}
		observed, first := become.observed(v)
		codes := become.graphs[v.Name].Codes(given, observed, nil)
		fresh := false
		for _, p := range observed {
			if _, has := given[codes[p]]; !has && p != keymap.Any {
				if v.Codes == nil {
					v.Codes = make(map[string][]string)
				}
				v.Codes[codes[p]] = first[p]
				fresh = true
			}
		}
		if !fresh {
			continue
		}
		changed = true
		f := become.files[object{Variables, v.Name}]
		text := c.texts[f.path]
		if text == nil {
			text = f.text
		}
		if strings.HasSuffix(strings.ToLower(f.path), ".json") {
			text, err = schemas.IndentedJSON(schemas.DocumentOrdered(v))
		} else {
			text, err = amended(f.path, text, schemas.DocumentOrdered(v))
		}
		if err != nil {
			return err
		}
		c.texts[f.path] = text
	}
	if !changed {
		return nil
	}
	_, err := c.judged(c.texts)
	return err
}

// observed are the categorizations of a variable in the order of their first form by name, and the categories that it has there.
func (r *Repository) observed(v *Variable) ([]keymap.Partition, map[keymap.Partition][]string) {
	var list []keymap.Partition
	first := make(map[keymap.Partition][]string)
	for _, f := range r.Forms {
		x, holds := f.Instance(v.Name)
		if !holds {
			continue
		}
		p, err := r.graphs[v.Name].Partition(x.Categories)
		if _, seen := first[p]; err != nil || seen {
			continue
		}
		first[p] = x.Categories
		list = append(list, p)
	}
	return list, first
}

// givenCodes are those in the file of a variable.
func (r *Repository) givenCodes(v *Variable) (map[string]keymap.Partition, error) {
	given := make(map[string]keymap.Partition, len(v.Codes))
	if r.graphs[v.Name] == nil {
		return given, nil
	}
	for code, categories := range v.Codes {
		p, err := r.graphs[v.Name].Partition(categories)
		if err != nil {
			return nil, err
		}
		given[code] = p
	}
	return given, nil
}

func (c *Change) written() []Written {
	var list []Written
	for path, text := range c.texts {
		if f := c.read[path]; f != nil && text != nil && bytes.Equal(f.text, text) {
			continue
		}
		_, err := os.Lstat(filepath.Join(c.r.Folder, filepath.FromSlash(path)))
		list = append(list, Written{path, text == nil, errors.Is(err, fs.ErrNotExist), text})
	}
	slices.SortFunc(list, func(a, b Written) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// untouched tells whether all files are as they were when the repository was opened: what another change made is not written over.
func (c *Change) untouched(list []Written) error {
	for _, w := range list {
		text, err := os.ReadFile(filepath.Join(c.r.Folder, filepath.FromSlash(w.Path)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if was := c.read[w.Path]; was == nil && err == nil || was != nil && (err != nil || !bytes.Equal(was.text, text)) {
			return fmt.Errorf("nothing was changed: %s was changed by something else meanwhile; try again", w.Path)
		}
	}
	return nil
}

// write changes the files. step is called before each that is written and each that takes the place of another.
func (c *Change) write(list []Written, step func() error) (err error) {
	at := func(path string) string { return filepath.Join(c.r.Folder, filepath.FromSlash(path)) }
	var temporaries []string
	begun := false
	defer func() {
		switch {
		case err != nil && begun:
			err = fmt.Errorf("the change was made in part, microrisk keymap check tells what is left of it: %w", err)
		case err != nil:
			for _, t := range temporaries {
				os.Remove(at(t))
			}
		}
	}()
	for _, w := range list {
		if info, err := os.Lstat(at(w.Path)); err == nil && info.Mode()&fs.ModeSymlink != 0 && !w.Removed {
			return fmt.Errorf("nothing was changed: %s is a link; change what it links to, or put a copy in its place", w.Path)
		}
	}
	readBack := make(map[string][]byte, len(list))
	for _, w := range list {
		if w.Removed {
			readBack[w.Path] = nil
			continue
		}
		if err := cmp.Or(step(), c.ctx.Err()); err != nil {
			return err
		}
		t := unfinishedName(w.Path)
		if err := os.MkdirAll(filepath.Dir(at(t)), 0o777); err != nil {
			return err
		}
		if err := writeNew(at(t), c.texts[w.Path]); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("a change that was not finished left %s: look at it, and rename it to %s or remove it, unless another change is at work now", t, w.Path)
			}
			return err
		}
		temporaries = append(temporaries, t)
		if readBack[w.Path], err = os.ReadFile(at(t)); err != nil {
			return err
		}
	}
	if _, err := c.judged(readBack); err != nil {
		return err
	}
	if err := cmp.Or(c.untouched(list), c.ctx.Err()); err != nil {
		return err
	}
	for _, w := range list {
		if err = step(); err != nil {
			return err
		}
		if w.Removed {
			err = os.Remove(at(w.Path))
		} else {
			err = os.Rename(at(unfinishedName(w.Path)), at(w.Path))
		}
		if err != nil {
			return err
		}
		begun = true
	}
	return nil
}

func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}
