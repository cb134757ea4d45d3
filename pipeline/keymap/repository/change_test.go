package repository

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// folder is what a folder holds, by path.
func folder(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return all
}

func reopened(t testing.TB, dir string) *Repository {
	t.Helper()
	r, err := Open(dir)
	require.NoError(t, err)
	return r
}

// renaming changes both variables (they get codes), both forms and the scenario of the good repository.
func renaming(t testing.TB, dir string) *Change {
	t.Helper()
	c := reopened(t, dir).Change()
	require.NoError(t, c.Rename(Variables, "Sex", "Gender"))
	require.NoError(t, c.Rename(Scenarios, "S", "T"))
	_, err := c.Apply(true)
	require.NoError(t, err)
	require.Len(t, c.written(), 5)
	return c
}

// A change that is ended at any moment leaves what was, what was to be, or files that check names; and what it left goes on to be told until
// a person has decided, by removing it or by renaming it.
func TestEndedChanges(t *testing.T) {
	for at := range 11 {
		dir := t.TempDir()
		writeAll(t, dir, good)
		c := renaming(t, dir)
		before := folder(t, dir)
		after := maps.Clone(before)
		for path, text := range c.texts {
			after[path] = string(text)
		}
		steps := 0
		require.NoError(t, c.write(c.written(), func() error {
			if steps == at {
				ended(t, dir, before, after) // as it would be if the program were killed here
			}
			steps++
			return nil
		}))
		if at == 10 {
			require.Equal(t, 10, steps)
			require.Equal(t, after, folder(t, dir))
			require.Empty(t, reopened(t, dir).Findings)
		}
	}
}

// ended looks at a copy of a folder in the midst of a change.
func ended(t testing.TB, dir string, before, after map[string]string) {
	t.Helper()
	left := folder(t, dir)
	at := t.TempDir()
	writeAll(t, at, left)
	var names []string
	for path, text := range left {
		if strings.HasSuffix(path, unfinished) {
			names = append(names, path)
			require.Equal(t, after[finishedName(path)], text)
		} else {
			require.Contains(t, []string{before[path], after[path]}, text)
		}
	}
	r := reopened(t, at)
	if names == nil {
		require.Equal(t, before, left)
		require.Empty(t, r.Findings)
		return
	}
	require.Error(t, r.Usable())
	for _, path := range names {
		f := findingOf(r, path)
		require.NotNil(t, f, path)
		require.Contains(t, f.Message, "which would have become "+finishedName(path)+": look at both, and rename or remove it, unless another change is at work now")
	}
	// Another change that touches none of it is made (codes of variables are written with the first); one that does is refused, and writes nothing.
	if !slices.ContainsFunc(names, func(path string) bool { return strings.HasPrefix(path, Variables) }) {
		c := r.Change()
		require.NoError(t, c.Put(&Form{Name: "Other", Variables: []Instance{{Variable: "Age"}}}, ""))
		_, err := c.Apply(false)
		require.NoError(t, err)
		require.NoError(t, os.Remove(filepath.Join(at, "forms", "other.yaml")))
		writeAll(t, at, left) // without the codes
		r = reopened(t, at)
	}
	c := r.Change()
	for _, path := range names {
		f := *r.files[fileAt(r, finishedName(path))]
		switch x := f.doc.(type) {
		case *Form:
			y := *x
			y.Note = "changed"
			require.NoError(t, c.Put(&y, x.Name))
		case *Variable:
			y := *x
			y.Note = "changed"
			require.NoError(t, c.Put(&y, x.Name))
		case *Scenario:
			y := *x
			y.Narrative = "changed"
			require.NoError(t, c.Put(&y, x.Name))
		}
	}
	_, err := c.Apply(false)
	require.ErrorContains(t, err, "a change that was not finished left ")
	require.Equal(t, left, folder(t, at))
	// Renaming all of it ends the change.
	for _, path := range names {
		require.NoError(t, os.Rename(filepath.Join(at, path), filepath.Join(at, finishedName(path))))
	}
	if len(names) == 5 || left["forms/a.yaml"] == after["forms/a.yaml"] {
		require.Equal(t, after, folder(t, at))
		require.Empty(t, reopened(t, at).Findings)
	}
}

func findingOf(r *Repository, path string) *Finding {
	for _, f := range r.Findings {
		if f.File == path {
			return f
		}
	}
	return nil
}

func fileAt(r *Repository, path string) object {
	for at, f := range r.files {
		if f.path == path {
			return at
		}
	}
	return object{}
}

// A change that fails before the first file took its place leaves nothing; one that fails later says so.
func TestFailedChanges(t *testing.T) {
	no := errors.New("no space is left")
	for at := range 10 {
		dir := t.TempDir()
		writeAll(t, dir, good)
		c := renaming(t, dir)
		steps := 0
		err := c.write(c.written(), func() error {
			if steps++; steps == at+1 {
				return no
			}
			return nil
		})
		require.ErrorIs(t, err, no)
		if at <= 5 {
			require.Equal(t, good, folder(t, dir))
			require.NotContains(t, err.Error(), "in part")
			continue
		}
		require.ErrorContains(t, err, "the change was made in part, microrisk keymap check tells what is left of it")
		require.Error(t, reopened(t, dir).Usable())
	}
}

func TestChangesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, good)
	writeAll(t, dir, map[string]string{"forms/c.yaml": "schema: microrisk/keymap/form@1\nname: C\nnmae: D\nvariables: {Age: {}}\n"})
	writeAll(t, dir, map[string]string{
		"variables/free.yaml": "schema: microrisk/keymap/variable@1\nname: Free\nnodes: [{id: a}, {id: b}, {id: c}, {id: ab}]\nedges: [[ab, a], [ab, b]]\n",
		"variables/years.yaml": "schema: microrisk/keymap/variable@1\nname: Years\nscale: interval\n" +
			"nodes: [{id: lower, lo: 0, hi: 18}, {id: upper, lo: 18, hi: 40}]\n",
	})
	before := folder(t, dir)
	below, lo, hi, end := -5.0, 18.0, 39.0, 60.0
	for says, put := range map[string]func(r *Repository, c *Change) error{
		"the categories do not cover x": func(_ *Repository, c *Change) error {
			return c.Put(&Form{Name: "New", Variables: []Instance{{Variable: "Sex", Categories: []string{"f", "m"}}}}, "")
		},
		`there is no form "A"`: func(_ *Repository, c *Change) error { return c.Remove(Forms, "A") },
		// What could not be read of a file would be lost.
		"forms/c.yaml:3:1: the form has no field \"nmae\"": func(r *Repository, c *Change) error {
			x := *r.Form("C")
			x.Note = "new"
			return c.Put(&x, "C")
		},
		"category ab, which had parts already, gets another, c": func(r *Repository, c *Change) error {
			v := *r.Variable("Free")
			v.Edges = append(v.Edges[:2:2], [2]string{"ab", "c"})
			return c.Put(&v, "Free")
		},
		"the smallest categories of before are no categorization any more: the categories do not cover stray": func(r *Repository, c *Change) error {
			v := *r.Variable("Free")
			v.Nodes = append(v.Nodes[:4:4], Node{ID: "stray"})
			return c.Put(&v, "Free")
		},
		"category ab is gone": func(r *Repository, c *Change) error {
			v := *r.Variable("Free")
			v.Nodes, v.Edges = v.Nodes[:3], nil
			return c.Put(&v, "Free")
		},
		"band upper is gone, or has other ends": func(r *Repository, c *Change) error {
			v := *r.Variable("Years")
			v.Nodes = []Node{v.Nodes[0], {ID: "upper", Lo: &lo, Hi: &hi}}
			return c.Put(&v, "Years")
		},
		"the bands cover 0-60 instead of 0-40: categorizations of before would not cover": func(r *Repository, c *Change) error {
			v := *r.Variable("Years")
			v.Nodes = append(v.Nodes[:2:2], Node{ID: "more", Lo: &lo, Hi: &end})
			return c.Put(&v, "Years")
		},
		"the bands cover m5-40 instead of 0-40": func(r *Repository, c *Change) error {
			v := *r.Variable("Years")
			v.Nodes = append(v.Nodes[:2:2], Node{ID: "less", Lo: &below, Hi: &lo})
			return c.Put(&v, "Years")
		},
	} {
		r := reopened(t, dir)
		c := r.Change()
		require.NoError(t, put(r, c))
		_, err := c.Apply(false)
		require.ErrorContains(t, err, "nothing was changed", says)
		require.ErrorContains(t, err, says)
		require.Equal(t, before, folder(t, dir), says)
	}
}

// What another change wrote between the reading and the writing of this one is not written over.
func TestChangesAtOnce(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, good)
	c, other := renaming(t, dir), renaming(t, dir)
	_, err := other.Apply(false)
	require.NoError(t, err)
	after := folder(t, dir)
	_, err = c.Apply(false)
	require.ErrorContains(t, err, "nothing was changed: forms/a.yaml was changed by something else meanwhile; try again")
	require.Equal(t, after, folder(t, dir))
	for _, name := range []string{"New", "new"} { // a file of the slug came in between
		c = reopened(t, dir).Change()
		require.NoError(t, c.Put(&Form{Name: name, Variables: []Instance{{Variable: "Age"}}}, ""))
		if name == "new" {
			writeAll(t, dir, map[string]string{"forms/new-2.yaml": "schema: microrisk/keymap/form@1\nname: Newer\nvariables: {Age: {}}\n"})
			after = folder(t, dir)
		}
		_, err = c.Apply(false)
	}
	require.ErrorContains(t, err, "forms/new-2.yaml was changed by something else meanwhile")
	require.Equal(t, after, folder(t, dir))
}

// What is renamed is renamed wherever it is named.
func TestRenamesEverywhere(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, good)
	writeAll(t, dir, map[string]string{
		"variables/age.yaml": good["variables/age.yaml"] + "review: {same: [Sex], different: [Sex]}\n",
		"groups/other.yaml":  "schema: microrisk/keymap/group@1\nname: Other\nforms: [B]\nunion: [All]\n",
		"groups/third.yaml":  "schema: microrisk/keymap/group@1\nname: Third\nforms: [B]\nminus: [All]\n",
		"scenarios/u.yaml": "schema: microrisk/keymap/scenario@1\nname: U\ntarget: B\nvariables: [Sex]\n" +
			"match: {groups: [All], forms: [B], exclude: [B, A]}\n",
	})
	for _, x := range [][3]string{{Variables, "Sex", "Gender"}, {Forms, "B", "Bank"}, {Groups, "All", "Every"}, {Scenarios, "U", "V"}} {
		c := reopened(t, dir).Change()
		require.NoError(t, c.Rename(x[0], x[1], x[2]))
		_, err := c.Apply(false)
		require.NoError(t, err)
	}
	r := reopened(t, dir)
	require.Empty(t, r.Findings)
	require.Equal(t, []string{"Gender"}, r.Variable("Age").Review.Same)
	require.Equal(t, []string{"Gender"}, r.Variable("Age").Review.Different)
	require.Equal(t, map[string][]string{"C2.001": {"young", "old"}}, r.Variable("Age").Codes) // a value that is written in has its code without that
	require.Equal(t, []string{"Every"}, r.Group("Other").Union)
	require.Equal(t, []string{"Every"}, r.Group("Third").Minus)
	s := r.Scenario("V")
	require.Equal(t, Match{Groups: []string{"Every"}, Forms: []string{"Bank"}, Exclude: []string{"Bank", "A"}}, s.Match)
	require.Equal(t, "Bank", s.Target)
	require.Equal(t, []string{"Gender"}, s.Variables)
	require.ErrorContains(t, r.Change().Rename(Forms, "Bank", "A"), `there is a form "A" already`)
	require.ErrorContains(t, r.Change().Rename(Forms, "Bank", ""), "a form needs a name")
}

// Force makes an edit that is not safe, if nothing that is there becomes wrong by it.
func TestForce(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, good)
	writeAll(t, dir, map[string]string{"variables/free.yaml": "schema: microrisk/keymap/variable@1\nname: Free\nnodes: [{id: a}, {id: b}]\n"})
	r := reopened(t, dir)
	for name, put := range map[string]func(v *Variable){
		"Free": func(v *Variable) { v.Nodes = append(v.Nodes[:2:2], Node{ID: "c"}) },
		"Sex":  func(v *Variable) { v.Nodes = append(v.Nodes[:4:4], Node{ID: "c"}) },
	} {
		for _, force := range []bool{false, true} {
			v := *r.Variable(name)
			put(&v)
			c := r.Change()
			c.Force = force
			require.NoError(t, c.Put(&v, name))
			_, err := c.Apply(true)
			require.Equal(t, force && name == "Free", err == nil, "%s %v: %v", name, force, err)
		}
	}
}

// New objects of one change whose names make the same slug get files of their own.
func TestSlugsOfOneChange(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, good)
	c := reopened(t, dir).Change()
	for _, name := range []string{"New 2", "New", "new"} {
		require.NoError(t, c.Put(&Form{Name: name, Variables: []Instance{{Variable: "Age"}}}, ""))
	}
	_, err := c.Apply(false)
	require.NoError(t, err)
	r := reopened(t, dir)
	require.Equal(t, "forms/new-2.yaml", r.File(Forms, "New 2"))
	require.Equal(t, "forms/new.yaml", r.File(Forms, "New"))
	require.Equal(t, "forms/new-3.yaml", r.File(Forms, "new"))
}

// Comments stay beside what gets another name.
func TestRenamesKeepComments(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, good)
	text := "schema: microrisk/keymap/form@1\nname: B # two\nvariables: # of it\n  # asked first\n  Sex: # in words\n    # all of them\n" +
		"    categories: [f, m, x] # three\n  Age: {} # in years\n"
	writeAll(t, dir, map[string]string{"forms/b.yaml": text})
	_, err := renaming(t, dir).Apply(false)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(text, "Sex", "Gender", 1), folder(t, dir)["forms/b.yaml"])
}

// A change that changes nothing writes nothing.
func TestChangesOfNothing(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, good)
	r := reopened(t, dir)
	c := r.Change()
	require.NoError(t, c.Put(r.Group("All"), "All"))
	list, err := c.Apply(false)
	require.NoError(t, err)
	for _, w := range list {
		require.NotEqual(t, "groups/all.yaml", w.Path)
	}
}

// Groups that are made of groups many times over are no work.
func TestGroupsOfGroups(t *testing.T) {
	r := newRepository("")
	r.Forms = []*Form{{Name: "A", Variables: []Instance{}}}
	r.files[object{Forms, "A"}] = &file{broken: true}
	for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "") {
		g := &Group{Name: name, Forms: []string{"A"}}
		if n := len(r.Groups); n > 0 {
			last := r.Groups[n-1].Name
			g.Union, g.Minus = []string{last, last}, []string{last}
		}
		r.Groups = append(r.Groups, g)
	}
	last := r.Groups[len(r.Groups)-1]
	for _, g := range r.Groups {
		r.files[object{Groups, g.Name}] = &file{}
	}
	r.settle()
	require.Empty(t, r.Findings)
	require.Empty(t, r.Members(last))
	require.Equal(t, []string{"A"}, r.Members(r.Group("a")))
}

func TestMatchSets(t *testing.T) {
	r := opened(t, map[string]string{
		ConfigName:         good[ConfigName],
		"variables/x.yaml": "schema: microrisk/keymap/variable@1\nname: X\nnodes: [{id: a}]\n",
		"forms/a.yaml":     "schema: microrisk/keymap/form@1\nname: A\nmetadata: {k: v, l: w}\nvariables: {X: {}}\n",
		"forms/b.yaml":     "schema: microrisk/keymap/form@1\nname: B\nmetadata: {k: v}\nvariables: {X: {}}\n",
		"forms/c.yaml":     "schema: microrisk/keymap/form@1\nname: C\nmetadata: {l: w}\nvariables: {X: {}}\n",
		"groups/g.yaml":    "schema: microrisk/keymap/group@1\nname: G\nwhere: {k: [v], l: [w]}\n",
	})
	require.Empty(t, r.Findings)
	require.Equal(t, []string{"A"}, r.Members(r.Group("G")))
	for want, s := range map[string]Scenario{
		"BC":  {Target: "A"},
		"ABC": {Target: "A", IncludeTarget: true},
		"B":   {Target: "A", Match: Match{Exclude: []string{"C"}}},
		"AC":  {Target: "B", Match: Match{Groups: []string{"G"}, Forms: []string{"C", "B"}}},
	} {
		got := ""
		for _, f := range r.MatchSet(&s) {
			got += f.Name
		}
		require.Equal(t, want, got)
	}
	require.Error(t, r.Change().RenameNode("X", "a", "a"))
	c := r.Change()
	require.NoError(t, c.RenameNode("X", "a", "All"))
}

// What overlaps or lacks something does not keep an analysis from the other variables.
func TestUsable(t *testing.T) {
	for text, usable := range map[string]bool{"f, m, x": true, "f, m": true, "f, x, not-f": true, "f, y": false} {
		r := opened(t, merged(replaced("forms/b.yaml", "f, m, x", text)))
		require.Equal(t, usable, r.Usable() == nil, text)
	}
}

// merged are the files of the good repository with others in their places.
func merged(others map[string]string) map[string]string {
	files := maps.Clone(good)
	maps.Copy(files, others)
	return files
}
