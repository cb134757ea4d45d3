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

// A Parent says of which category another one is a part.
type Parent struct{ Code, Parent string }

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

// TreeOfParents is a hierarchy of categories with their parents, of which one that is called total, or nothing, is the total over all. A
// parent may stand after its parts. What is wrong is said with the row, counted from 1.
func TreeOfParents(name string, rows []Parent, variable, total string) (*tabular.Tree, error) {
	at := make(map[string]int, len(rows)) // row of a code
	for i, r := range rows {
		switch first, twice := at[r.Code]; {
		case r.Code == "":
			return nil, fmt.Errorf("%s, row %d: there is no code", name, i+1)
		case r.Code == total:
			return nil, fmt.Errorf("%s, row %d: the code %q is that of the total", name, i+1, total)
		case twice && rows[first].Parent != r.Parent:
			return nil, fmt.Errorf("%s, row %d: the code %q is below %q, and in row %d below %q; a code has one parent: give codes that differ",
				name, i+1, r.Code, r.Parent, first+1, rows[first].Parent)
		case twice:
			return nil, fmt.Errorf("%s, row %d: the code %q stands in row %d too", name, i+1, r.Code, first+1)
		}
		at[r.Code] = i
	}
	t := tabular.NewTree(variable)
	node := map[string]int{"": 0, total: 0}
	var put func(code string, from []string) (int, error)
	put = func(code string, from []string) (int, error) {
		if n, is := node[code]; is {
			return n, nil
		}
		i, is := at[code]
		switch {
		case !is:
			return 0, fmt.Errorf("%s: the parent %q of %q has no row of its own, and is not %q", name, code, from[len(from)-1], total)
		case slices.Contains(from, code):
			return 0, fmt.Errorf("%s, row %d: %q is below itself: %s", name, i+1, code, strings.Join(append(from[slices.Index(from, code):], code), ", below "))
		}
		parent, err := put(rows[i].Parent, append(from, code))
		if err != nil {
			return 0, err
		}
		node[code] = t.Add(tabular.Of(code), parent)
		return node[code], nil
	}
	for _, r := range rows {
		if _, err := put(r.Code, nil); err != nil {
			return nil, err
		}
	}
	return t, checkTree(name, t)
}

// TreeOfLevels is a hierarchy of rows with a code of each level, the coarsest first. A code below two others is an error, unless paths are
// told apart: then it is a category below each. The same code at the next level, as lists have where a level is not divided, is no category
// of its own.
func TreeOfLevels(name string, rows [][]string, variable string, paths bool) (*tabular.Tree, error) {
	t := tabular.NewTree(variable)
	below := make(map[int]map[string]int) // nodes by their parents
	owner := make(map[string]int)         // the parent of a code
	for i, row := range rows {
		parent := 0
		for level, code := range row {
			if code == "" {
				return nil, fmt.Errorf("%s, row %d: there is no code of level %d", name, i+1, level+1)
			}
			if parent > 0 && t.Nodes[parent].Code.Label == code {
				continue
			}
			n, is := below[parent][code]
			if !is {
				if other, twice := owner[code]; twice && !paths {
					return nil, fmt.Errorf("%s, row %d: the code %q is below %s, and below %s too; give codes that differ, or tell them apart by their paths (paths)",
						name, i+1, code, t.Nodes[parent].Code, t.Nodes[other].Code)
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
