// Package tablefile reads and writes the files of tables with structure: their cells, the hierarchies of their variables, recodes, and what
// people set by hand. Offices have such files from other programs; those of the ARGUS programs are read as they are.
package tablefile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"microrisk/engine/tabular"
)

// DefaultLead is what stands before a code in a hierarchy of the ARGUS programs, once for each level below the first.
const DefaultLead = "@"

// ParseHRC reads a hierarchy as the ARGUS programs have it (.hrc): a code a line, those of a category below it, each level with one more
// of the leading text. A code that is there twice is an error, unless paths are told apart. Errors have the line.
func ParseHRC(name string, text []byte, variable, lead string, paths bool) (*tabular.Tree, error) {
	t := tabular.NewTree(variable)
	path := []int{0}
	lines := make(map[string]int)
	err := eachLine(name, text, func(line int, s string) error {
		level := 1
		for lead != "" && strings.HasPrefix(s, lead) {
			s, level = s[len(lead):], level+1
		}
		if s = strings.TrimSpace(s); s == "" {
			return fmt.Errorf("%s:%d: there is no code after %q", name, line, lead)
		}
		if level > len(path) {
			return fmt.Errorf("%s:%d: the code %q is at level %d, and the one before it at level %d; a level is left out", name, line, s, level, len(path)-1)
		}
		if first, twice := lines[s]; twice && !paths {
			return fmt.Errorf("%s:%d: the code %q stands in line %d too; give codes that differ, or tell them apart by their paths (paths)", name, line, s, first)
		}
		lines[s] = line
		path = append(path[:level], t.Add(tabular.Of(s), path[level-1]))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, checkTree(name, t)
}

// treeOfParents is a hierarchy of categories with their parents, of which one that is called total, or nothing, is the total over all. A
// parent may stand after its parts.
func treeOfParents(name string, r *rows, code, parent int, variable, total string) (*tabular.Tree, error) {
	at := make(map[string]int, len(r.list)) // row of a code
	for i, row := range r.list {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("%s: %s", r.where(name, i), fmt.Sprintf(format, args...))
		}
		switch first, twice := at[row[code]]; {
		case row[code] == "":
			return nil, wrong("there is no code")
		case row[code] == total:
			return nil, wrong("the code %q is that of the total", total)
		case twice && r.list[first][parent] != row[parent]:
			return nil, wrong("the code %q is below %q, and below %q (%s); a code has one parent: give codes that differ", row[code], row[parent],
				r.list[first][parent], r.where(name, first))
		case twice:
			return nil, wrong("the code %q stands there twice (%s)", row[code], r.where(name, first))
		}
		at[row[code]] = i
	}
	t := tabular.NewTree(variable)
	node := map[string]int{"": 0, total: 0}
	var put func(label string, from []string) (int, error)
	put = func(label string, from []string) (int, error) {
		if n, is := node[label]; is {
			return n, nil
		}
		i, is := at[label]
		switch {
		case !is:
			below := from[len(from)-1]
			return 0, fmt.Errorf("%s: the parent %q of %q has no row of its own, and is not %q", r.where(name, at[below]), label, below, total)
		case slices.Contains(from, label):
			return 0, fmt.Errorf("%s: %q is below itself: %s", r.where(name, i), label,
				strings.Join(append(from[slices.Index(from, label):], label), ", below "))
		}
		above, err := put(r.list[i][parent], append(from, label))
		if err != nil {
			return 0, err
		}
		node[label] = t.Add(tabular.Of(label), above)
		return node[label], nil
	}
	for _, row := range r.list {
		if _, err := put(row[code], nil); err != nil {
			return nil, err
		}
	}
	return t, checkTree(name, t)
}

// treeOfLevels is a hierarchy of rows with a code of each level, the coarsest first. A code below two others is an error, unless paths are
// told apart: then it is a category below each. The same code at the next level, as lists have where a level is not divided, is no category
// of its own.
func treeOfLevels(name string, r *rows, variable string, paths bool) (*tabular.Tree, error) {
	t := tabular.NewTree(variable)
	below := make(map[int]map[string]int) // nodes by their parents
	owner := make(map[string]int)         // the parent of a code
	for i, row := range r.list {
		parent := 0
		for level, code := range row {
			if code == "" {
				return nil, fmt.Errorf("%s: there is no code of level %d", r.where(name, i), level+1)
			}
			if parent > 0 && t.Nodes[parent].Code.Label == code {
				continue
			}
			n, is := below[parent][code]
			if !is {
				if other, twice := owner[code]; twice && !paths {
					return nil, fmt.Errorf("%s: the code %q is below %s, and below %s too; give codes that differ, or tell them apart by their paths (paths)",
						r.where(name, i), code, t.Nodes[parent].Code, t.Nodes[other].Code)
				}
				n = t.Add(tabular.Of(code), parent)
				if below[parent] == nil {
					below[parent] = make(map[string]int)
				}
				below[parent][code], owner[code] = n, parent
			}
			parent = n
		}
	}
	return t, checkTree(name, t)
}

// checkTree finds a tree of nothing.
func checkTree(name string, t *tabular.Tree) error {
	if len(t.Nodes) == 1 {
		return fmt.Errorf("%s has no code", name)
	}
	return nil
}

// eachLine calls take for every line that is not blank, counted from 1.
func eachLine(name string, text []byte, take func(line int, s string) error) error {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	line := 0
	for s := range bytes.Lines(text) {
		line++
		if !utf8.Valid(s) {
			return fmt.Errorf("%s:%d: it is not UTF-8; convert it first, as from Windows-1252: iconv -f WINDOWS-1252 -t UTF-8", name, line)
		}
		if s = bytes.TrimRight(s, "\r\n"); len(bytes.TrimSpace(s)) == 0 {
			continue
		}
		if err := take(line, string(s)); err != nil {
			return err
		}
	}
	return nil
}
