package tablefile

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/schemas"
)

// A Hierarchy is what was read of a file of one.
type Hierarchy struct {
	Name  string // of the file
	Lead  string // of .hrc files
	Paths bool   // codes below several parents are told apart
	text  []byte
	rows  *rows         // of .csv files and files of columns
	root  *schemas.Node // of .yaml files
}

// rows are those of a file of columns.
type rows struct {
	header []string
	list   [][]string
	lines  []int // of the rows in a text; nil: they are counted
}

// where is a row in words.
func (r *rows) where(name string, row int) string {
	if r.lines != nil {
		return fmt.Sprintf("%s:%d", name, r.lines[row])
	}
	return fmt.Sprintf("%s, row %d", name, row+1)
}

// ReadHierarchy reads the text of a hierarchy: .hrc of the ARGUS programs, or .csv with the columns code and parent, or else with a column for
// each level, the coarsest first.
func ReadHierarchy(name string, text []byte, lead string, paths bool) (Hierarchy, error) {
	h := Hierarchy{Name: name, Lead: lead, Paths: paths, text: text}
	if strings.EqualFold(filepath.Ext(name), ".hrc") {
		return h, nil
	}
	list, lines, err := readCSV(name, text)
	if err != nil {
		return h, err
	}
	h.rows = &rows{list[0], list[1:], lines[1:]}
	return h, nil
}

// OutlineHierarchy is a hierarchy of nested mappings and lists: {North: [N1, N2], South: [S1]}, with or without the total above them.
func OutlineHierarchy(name string, root *schemas.Node, paths bool) Hierarchy {
	return Hierarchy{Name: name, Paths: paths, root: root}
}

// OpenHierarchy reads a hierarchy of a file of columns: those of ReadHierarchy, of which none has more than so many bytes of text.
func OpenHierarchy(ctx context.Context, name string, from operators.Source, most int64, paths bool) (Hierarchy, error) {
	h := Hierarchy{Name: name, Paths: paths, rows: &rows{}}
	for _, f := range from.Schema().Fields() {
		if t := operators.ValueType(f.Type); !operators.IsText(t) && !operators.IsInteger(t) {
			return h, fmt.Errorf("%s: the column %q is of type %s; codes are text or whole numbers", name, f.Name, t)
		}
		h.rows.header = append(h.rows.header, f.Name)
	}
	err := operators.EachRow(ctx, from, func(batch arrow.Record, row int) error {
		texts := make([]string, batch.NumCols())
		for i, column := range batch.Columns() {
			if !column.IsNull(row) {
				texts[i] = strings.Clone(operators.Text(column, row))
			}
			most -= int64(len(texts[i])) + 16
		}
		if most < 0 {
			return fmt.Errorf("%s has too many codes for a hierarchy", name)
		}
		h.rows.list = append(h.rows.list, texts)
		return nil
	})
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
	switch {
	case h.root != nil:
		return treeOfOutline(h.Name, h.root, variable, total, h.Paths)
	case h.rows == nil:
		return ParseHRC(h.Name, h.text, variable, h.Lead, h.Paths)
	}
	code, parent := slices.Index(h.rows.header, "code"), slices.Index(h.rows.header, "parent")
	if code < 0 || parent < 0 {
		return treeOfLevels(h.Name, h.rows, variable, h.Paths)
	}
	return treeOfParents(h.Name, h.rows, code, parent, variable, total)
}

// readCSV are the rows of a text, the header first, and their lines; the delimiter is the one that the header has.
func readCSV(name string, text []byte) (list [][]string, lines []int, err error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		return nil, nil, fmt.Errorf("%s is not UTF-8; convert it first, as from Windows-1252: iconv -f WINDOWS-1252 -t UTF-8", name)
	}
	r := csv.NewReader(bytes.NewReader(text))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	for _, d := range []rune{',', ';', '\t'} {
		if bytes.ContainsRune(first, d) {
			r.Comma = d
			break
		}
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		list, lines = append(list, row), append(lines, line)
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("%s is empty", name)
	}
	for i := range list[0] {
		list[0][i] = strings.TrimSpace(list[0][i])
	}
	return list, lines, nil
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
	rows, lines, err := readCSV(name, text)
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
		x := Setting{Line: lines[i+1]}
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
