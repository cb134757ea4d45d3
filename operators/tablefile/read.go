package tablefile

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"microrisk/engine/tabular"
)

// A Hierarchy is what was read of a file of one.
type Hierarchy struct {
	Name  string // of the file
	Lead  string // of .hrc files
	Paths bool   // codes below several parents are told apart
	text  []byte
	rows  [][]string // of .csv files, the header first
}

// ReadHierarchy reads the text of a hierarchy: .hrc of the ARGUS programs, or .csv with the columns code and parent, or else with a column for
// each level, the coarsest first.
func ReadHierarchy(name string, text []byte, lead string, paths bool) (Hierarchy, error) {
	h := Hierarchy{Name: name, Lead: lead, Paths: paths, text: text}
	if strings.EqualFold(filepath.Ext(name), ".hrc") {
		return h, nil
	}
	var err error
	h.rows, err = readCSV(name, text)
	return h, err
}

// Tree is the hierarchy of a variable; total is what files call its total.
func (h Hierarchy) Tree(variable, total string) (*tabular.Tree, error) {
	t, err := h.tree(variable, total)
	if err != nil {
		return nil, err
	}
	for _, n := range t.Nodes[1:] {
		if n.Code == tabular.Of(total) {
			return nil, fmt.Errorf("%s has the code %q, which names the total over all: leave it out, or call totals something else (total)", h.Name, total)
		}
	}
	return t, nil
}

func (h Hierarchy) tree(variable, total string) (*tabular.Tree, error) {
	if h.rows == nil {
		return ParseHRC(h.Name, h.text, variable, h.Lead, h.Paths)
	}
	header := h.rows[0]
	code, parent := slices.Index(header, "code"), slices.Index(header, "parent")
	if code < 0 || parent < 0 {
		return TreeOfLevels(h.Name, h.rows[1:], variable, h.Paths)
	}
	rows := make([]Parent, 0, len(h.rows)-1)
	for _, r := range h.rows[1:] {
		rows = append(rows, Parent{r[code], r[parent]})
	}
	return TreeOfParents(h.Name, rows, variable, total)
}

// readCSV are the rows of a text, the header first; the delimiter is the one that the header has.
func readCSV(name string, text []byte) ([][]string, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%s is not UTF-8; convert it first, as from Windows-1252: iconv -f WINDOWS-1252 -t UTF-8", name)
	}
	r := csv.NewReader(bytes.NewReader(text))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	for _, d := range []rune{',', ';', '\t'} {
		if bytes.ContainsRune(first, d) {
			r.Comma = d
			break
		}
	}
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s is empty", name)
	}
	for i := range rows[0] {
		rows[0][i] = strings.TrimSpace(rows[0][i])
	}
	return rows, nil
}

// Settings are what was read of a file that says things of cells.
type Settings struct {
	Name  string // of the file
	Total string // what it calls totals
	Blank bool   // a code that is empty is a missing value; else it is the total too
	List  []Setting
}

// Columns of a file of settings besides the variables.
var settingColumns = []string{"set", "cost", "lower", "upper", "reason", "name"}

// ReadSettings reads what is said of cells of some variables: .csv with their columns and set (safe, unsafe, protected, hidden), cost, lower,
// upper, reason and name, of which all but the variables may be left out; or .hst of tau-ARGUS.
func ReadSettings(name string, text []byte, variables []string, total string) (Settings, error) {
	s := Settings{Name: name, Total: total}
	if !strings.EqualFold(filepath.Ext(name), ".csv") {
		var err error
		s.List, err = ParseAPriori(name, text, len(variables))
		return s, err
	}
	s.Blank = true
	rows, err := readCSV(name, text)
	if err != nil {
		return s, err
	}
	at := make(map[string]int)
	for i, column := range rows[0] {
		if _, twice := at[column]; twice || !slices.Contains(variables, column) && !slices.Contains(settingColumns, column) {
			return s, fmt.Errorf(
				"%s has a column %q, which is none of %s",
				name,
				column,
				strings.Join(append(slices.Clone(variables), settingColumns...), ", "),
			)
		}
		at[column] = i
	}
	for _, v := range variables {
		if _, ok := at[v]; !ok {
			return s, fmt.Errorf("%s has no column %q, by which a cell is found", name, v)
		}
	}
	for i, row := range rows[1:] {
		x := Setting{Line: i + 2}
		text := func(column string) string {
			if c, ok := at[column]; ok {
				return strings.TrimSpace(row[c])
			}
			return ""
		}
		for _, v := range variables {
			x.Codes = append(x.Codes, text(v))
		}
		if x.Set = text("set"); x.Set != "" && !slices.Contains(Sets, x.Set) {
			return s, fmt.Errorf("%s:%d: a cell is set %q; it can be set %s", name, x.Line, x.Set, strings.Join(Sets, ", "))
		}
		for _, f := range []struct {
			column string
			to     **float64
		}{{"cost", &x.Cost}, {"lower", &x.Lower}, {"upper", &x.Upper}} {
			if text(f.column) == "" {
				continue
			}
			v, err := strconv.ParseFloat(text(f.column), 64)
			if err != nil || v < 0 || v-v != 0 {
				return s, fmt.Errorf("%s:%d: %s is %q; it must be a number of at least 0", name, x.Line, f.column, text(f.column))
			}
			*f.to = &v
		}
		x.Reason, x.Name = text("reason"), text("name")
		s.List = append(s.List, x)
	}
	return s, nil
}
