package repository

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"microrisk/engine/keymap"
	"microrisk/schemas"
)

// Kinds of files, which are their folders.
const (
	Variables = "variables"
	Forms     = "forms"
	Groups    = "groups"
	Scenarios = "scenarios"
)

// A Repository is what a folder holds: objects sorted by name, and what is wrong with them.
type Repository struct {
	Folder    string
	Config    Config
	Variables []*Variable
	Forms     []*Form
	Groups    []*Group
	Scenarios []*Scenario
	Findings  []*Finding // all that is wrong, by file and line

	files    map[object]*file
	paths    []string // of all files that were read
	nameless []string // files that do not tell the names of what they are of
	graphs   map[string]*keymap.Graph
	bands    map[string]map[string]keymap.Band
	judged   map[string]*keymap.InvalidError // by variable and categories
}

// An object is named within its kind.
type object struct{ kind, name string }

// A Finding is one thing that is wrong with a repository.
type Finding struct {
	File         string // below the folder
	Line, Column int    // 0 for none
	Message      string
	Inconsistent bool // categories of a form overlap or do not cover the variable: a lenient analysis goes on
}

func (f Finding) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// An InvalidError says that a repository cannot be worked with.
type InvalidError struct{ Findings []*Finding }

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Usable is nil if nothing is wrong but inconsistent categorizations, which an analysis tells of variable by variable.
func (r *Repository) Usable() error {
	var wrong []*Finding
	for _, f := range r.Findings {
		if !f.Inconsistent {
			wrong = append(wrong, f)
		}
	}
	if wrong == nil {
		return nil
	}
	return &InvalidError{wrong}
}

// Variable is one by its name; nil if there is none.
func (r *Repository) Variable(name string) *Variable {
	return find(r.Variables, func(v *Variable) string { return v.Name }, name)
}

// Node is a category by its id; nil if there is none.
func (v *Variable) Node(id string) *Node {
	for i := range v.Nodes {
		if v.Nodes[i].ID == id {
			return &v.Nodes[i]
		}
	}
	return nil
}

// Form is one by its name; nil if there is none.
func (r *Repository) Form(name string) *Form {
	return find(r.Forms, func(f *Form) string { return f.Name }, name)
}

// Group is one by its name; nil if there is none.
func (r *Repository) Group(name string) *Group {
	return find(r.Groups, func(g *Group) string { return g.Name }, name)
}

// Scenario is one by its name; nil if there is none.
func (r *Repository) Scenario(name string) *Scenario {
	return find(r.Scenarios, func(s *Scenario) string { return s.Name }, name)
}

// File is the path of an object's file below the folder, "" if there is none of the name.
func (r *Repository) File(kind, name string) string {
	if f := r.files[object{kind, name}]; f != nil {
		return f.path
	}
	return ""
}

// Readable is nil if all of an object's file could be read.
func (r *Repository) Readable(kind, name string) error {
	if f := r.files[object{kind, name}]; f != nil && f.broken {
		return fmt.Errorf("not all of %s can be read; mend it first:\n%w", f.path, &InvalidError{f.wrong})
	}
	return nil
}

func find[T any](sorted []*T, name func(*T) string, want string) *T {
	i, ok := slices.BinarySearchFunc(sorted, want, func(x *T, want string) int { return cmp.Compare(name(x), want) })
	if !ok {
		return nil
	}
	return sorted[i]
}

// Graph is the partition graph of a variable; nil if it is not valid.
func (r *Repository) Graph(variable string) *keymap.Graph { return r.graphs[variable] }

// Bands are those of the categories of an interval variable, by id; those of others are nil.
func (r *Repository) Bands(variable string) map[string]keymap.Band { return r.bands[variable] }

// Instance is a variable as the form has it.
func (f *Form) Instance(variable string) (*Instance, bool) {
	for i := range f.Variables {
		if f.Variables[i].Variable == variable {
			return &f.Variables[i], true
		}
	}
	return nil, false
}

// Members are the forms of a group, by name.
func (r *Repository) Members(g *Group) []string {
	return slices.Sorted(maps.Keys(r.members(g, make(map[string]map[string]bool))))
}

// members keeps those of groups that were asked for: many may be made of one.
func (r *Repository) members(g *Group, known map[string]map[string]bool) map[string]bool {
	if in, is := known[g.Name]; is {
		return in
	}
	in := make(map[string]bool)
	known[g.Name] = in
	for _, name := range g.Forms {
		in[name] = true
	}
	if g.Where != nil {
		for _, f := range r.Forms {
			all := true
			for key, values := range g.Where {
				all = all && slices.Contains(values, f.Metadata[key])
			}
			if all {
				in[f.Name] = true
			}
		}
	}
	for i, name := range slices.Concat(g.Union, g.Minus) {
		if other := r.Group(name); other != nil {
			for member := range r.members(other, known) {
				if i < len(g.Union) {
					in[member] = true
				} else {
					delete(in, member)
				}
			}
		}
	}
	return in
}

// MatchSet are the forms that a scenario compares its target with, by name: those of its groups and forms, all if it names none.
func (r *Repository) MatchSet(s *Scenario) []*Form {
	in := make(map[string]bool)
	for _, name := range s.Match.Groups {
		if g := r.Group(name); g != nil {
			for _, member := range r.Members(g) {
				in[member] = true
			}
		}
	}
	for _, name := range s.Match.Forms {
		in[name] = true
	}
	all := s.Match.Groups == nil && s.Match.Forms == nil
	var set []*Form
	for _, f := range r.Forms {
		switch {
		case !all && !in[f.Name], slices.Contains(s.Match.Exclude, f.Name), f.Name == s.Target && !s.IncludeTarget:
		default:
			set = append(set, f)
		}
	}
	return set
}

// Unknown says that there is no object of a kind that is called so, and which one may be meant.
func (r *Repository) Unknown(kind, name string) error {
	return fmt.Errorf("there is no %s %q%s", strings.TrimSuffix(kind, "s"), name, r.Near(kind, name))
}

// Near is a hint at the name that was meant, "" where none is near.
func (r *Repository) Near(kind, name string) string {
	var known []string
	switch kind {
	case Variables:
		for _, v := range r.Variables {
			known = append(known, v.Name)
		}
	case Forms:
		for _, f := range r.Forms {
			known = append(known, f.Name)
		}
	case Groups:
		for _, g := range r.Groups {
			known = append(known, g.Name)
		}
	case Scenarios:
		for _, s := range r.Scenarios {
			known = append(known, s.Name)
		}
	}
	if i := slices.IndexFunc(r.nameless, func(path string) bool { return strings.HasPrefix(path, kind+"/") }); i >= 0 {
		return fmt.Sprintf("; it may be what %s is of, which does not tell its name", r.nameless[i])
	}
	if near := schemas.Nearest(name, known); near != "" {
		return fmt.Sprintf(`; did you mean %q?`, near)
	}
	return ""
}

// A place is a file in which things are found.
type place struct {
	r *Repository
	f *file
}

func (r *Repository) where(kind, name string) place { return place{r, r.files[object{kind, name}]} }

// broken tells whether the file is wrong by itself, so that nothing more is said of it.
func (p place) broken() bool { return p.f.broken }

func (p place) add(path, format string, args ...any) *Finding {
	found := &Finding{File: p.f.path, Message: fmt.Sprintf(format, args...)}
	found.Line, found.Column = p.f.places.Of(path)
	p.r.Findings = append(p.r.Findings, found)
	return found
}

func (p place) unless(right bool, path, format string, args ...any) {
	if !right {
		p.add(path, format, args...)
	}
}

// names tells of a name that stands in the file whether there is an object of it.
func (p place) names(path, kind, name string) {
	if p.r.files[object{kind, name}] == nil {
		p.add(path, "%s", p.r.Unknown(kind, name))
	}
}
