package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"microrisk/engine/keymap"
	"microrisk/schemas"
)

// ConfigName is the file that makes a folder a repository.
const ConfigName = "microrisk-keymap.yaml"

// endings of files that are read; JSON is YAML.
var endings = []string{".yaml", ".yml", ".json"}

// MaxFileSize is the largest file that is read, in bytes.
const MaxFileSize = 64 << 20

// A file is what was read of one.
type file struct {
	path   string // below the folder, with slashes
	text   []byte
	doc    schemas.Document
	places *schemas.Places
	wrong  []*Finding
	broken bool
}

// Open reads a repository. What is wrong with its files are findings; the error is that of a folder that is none, or that cannot be read.
func Open(folder string) (*Repository, error) { return open(context.Background(), folder, nil) }

// open reads a repository with some files replaced by other texts, or by nothing.
func open(ctx context.Context, folder string, instead map[string][]byte) (*Repository, error) {
	r := newRepository(folder)
	if _, planned := instead[ConfigName]; !planned {
		if _, err := os.Stat(filepath.Join(folder, ConfigName)); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("%s is no repository of forms: it has no %s; microrisk keymap init makes one", folder, ConfigName)
			}
			return nil, err
		}
	}
	if path := unfinishedName(ConfigName); exists(filepath.Join(folder, path)) {
		r.left(path, instead)
	}
	found := []*file{{path: ConfigName, doc: &r.Config}}
	for _, kind := range []string{Variables, Forms, Groups, Scenarios} {
		paths, err := r.list(kind, instead)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			found = append(found, &file{path: path, doc: newDocument(kind)})
		}
	}
	var work sync.WaitGroup
	next := make(chan *file)
	failed := make([]error, runtime.GOMAXPROCS(0))
	for i := range failed {
		work.Add(1)
		go func() {
			defer work.Done()
			for f := range next {
				if err := f.read(folder, instead); err != nil && failed[i] == nil {
					failed[i] = err
				}
			}
		}()
	}
	for _, f := range found {
		if ctx.Err() != nil {
			break
		}
		next <- f
	}
	close(next)
	work.Wait()
	if err := errors.Join(append(failed, ctx.Err())...); err != nil {
		return nil, err
	}
	for _, f := range found {
		r.paths = append(r.paths, f.path)
		r.take(f)
	}
	r.settle()
	return r, nil
}

func newRepository(folder string) *Repository {
	return &Repository{
		Folder: folder,
		files:  make(map[object]*file),
		graphs: make(map[string]*keymap.Graph),
		bands:  make(map[string]map[string]keymap.Band),
		judged: make(map[string]*keymap.InvalidError),
	}
}

// settle sorts what was taken, and judges it.
func (r *Repository) settle() {
	slices.SortFunc(r.Variables, func(a, b *Variable) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Forms, func(a, b *Form) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Groups, func(a, b *Group) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Scenarios, func(a, b *Scenario) int { return cmp.Compare(a.Name, b.Name) })
	r.judge()
	for _, f := range r.Findings {
		f.Message = shortened(f.Message)
	}
	slices.SortStableFunc(r.Findings, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// mostSaid is how many characters of a text a finding has at most.
const mostSaid = 1000

// shortened leaves the middle of a long text out.
func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= mostSaid {
		return text
	}
	return string(runes[:mostSaid/2]) + " ... " + string(runes[len(runes)-mostSaid/2:])
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func newDocument(kind string) schemas.Document {
	switch kind {
	case Variables:
		return new(Variable)
	case Forms:
		return new(Form)
	case Groups:
		return new(Group)
	}
	return new(Scenario)
}

// list are the files of a kind, by name; what a run that was ended left behind is a finding.
func (r *Repository) list(kind string, instead map[string][]byte) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.Folder, kind))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	paths := make(map[string]bool)
	for _, e := range entries {
		path := kind + "/" + e.Name()
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && hasFiles(filepath.Join(r.Folder, kind, e.Name())) {
			r.Findings = append(r.Findings, &Finding{File: path, Message: "it is a folder, whose files are not read: " + kind + " are files of " + kind + "/ itself"})
		}
		if !r.left(path, instead) && !e.IsDir() && slices.Contains(endings, strings.ToLower(filepath.Ext(e.Name()))) && !strings.HasPrefix(e.Name(), ".") {
			paths[path] = true
		}
	}
	for path, text := range instead {
		if strings.HasPrefix(path, kind+"/") {
			paths[path] = text != nil
		}
	}
	var list []string
	for path, is := range paths {
		if is {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list, nil
}

// hasFiles tells whether a folder has files that look like those of a repository.
func hasFiles(folder string) bool {
	found := false
	filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && slices.Contains(endings, strings.ToLower(filepath.Ext(e.Name()))) {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// Files are the paths of all files that were read.
func (r *Repository) Files() []string {
	list := make([]string, len(r.paths))
	for i, path := range r.paths {
		list[i] = filepath.Join(r.Folder, filepath.FromSlash(path))
	}
	return list
}

// TakenFor is the one of a repository's kinds of files that a new file would be taken for, by its path; "" if it would not.
func (r *Repository) TakenFor(path string) (kind string) {
	if !slices.Contains(endings, strings.ToLower(filepath.Ext(path))) {
		return ""
	}
	for _, kind := range []string{Variables, Forms, Groups, Scenarios} {
		if sameFolder(filepath.Join(r.Folder, kind), filepath.Dir(path)) {
			return kind
		}
	}
	return ""
}

// sameFolder compares two folders, which need not be there.
func sameFolder(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(x, y)
	}
	return errA != nil && errB != nil && filepath.Base(a) == filepath.Base(b) && a != filepath.Dir(a) && sameFolder(filepath.Dir(a), filepath.Dir(b))
}

// left tells whether a file is what a change leaves if it is ended, which is a finding, unless it is of the change that is looked at.
func (r *Repository) left(path string, instead map[string][]byte) bool {
	if !strings.HasSuffix(path, unfinished) {
		return false
	}
	if _, own := instead[finishedName(path)]; own {
		return true
	}
	r.Findings = append(r.Findings, &Finding{File: path, Message: "a change that was not finished left this, which would have become " +
		finishedName(path) + ": look at both, and rename or remove it, unless another change is at work now"})
	return true
}

// read decodes a file; the error is of reading it.
func (f *file) read(folder string, instead map[string][]byte) error {
	text, planned := instead[f.path]
	if !planned {
		var err error
		if text, err = readFile(filepath.Join(folder, filepath.FromSlash(f.path))); err != nil {
			return err
		}
	}
	f.text = text
	root, err := parse(f.path, text)
	if err == nil {
		f.places, err = schemas.DecodeDocument(f.path, root, f.doc, nil)
	}
	if err == nil {
		return nil
	}
	f.broken = true
	var wrong *schemas.SpecError
	if !errors.As(err, &wrong) {
		return err
	}
	for _, p := range wrong.Problems {
		f.wrong = append(f.wrong, &Finding{File: f.path, Line: p.Line, Column: p.Column, Message: p.Message.String()})
	}
	return nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	if info.Size() > MaxFileSize {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are read of a file of a repository", path, info.Size(), MaxFileSize)
	}
	return os.ReadFile(path)
}

// take puts what a file holds into the repository. A second object of a name is a finding, and stays out.
func (r *Repository) take(f *file) {
	r.Findings = append(r.Findings, f.wrong...)
	var at object
	switch x := f.doc.(type) {
	case *Config:
		r.files[object{}] = f
		return
	case *Variable:
		at = object{Variables, x.Name}
	case *Form:
		at = object{Forms, x.Name}
	case *Group:
		at = object{Groups, x.Name}
	case *Scenario:
		at = object{Scenarios, x.Name}
	}
	if at.name == "" {
		r.nameless = append(r.nameless, f.path)
		if !f.broken {
			place{r, f}.add("", "it has no name; each file names what it is of: name: ...")
		}
		return
	}
	if first, twice := r.files[at]; twice {
		place{r, f}.add("name", "%s is of the same name, %q; each has its own", first.path, at.name)
		return
	}
	r.files[at] = f
	switch x := f.doc.(type) {
	case *Variable:
		r.Variables = append(r.Variables, x)
	case *Form:
		r.Forms = append(r.Forms, x)
	case *Group:
		r.Groups = append(r.Groups, x)
	case *Scenario:
		r.Scenarios = append(r.Scenarios, x)
	}
}
