package keymap

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/operators/report"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A Table is what a verb answers: rows of named columns, which a person reads as a table, and a program as JSON, CSV or Parquet.
type Table struct {
	Rows    int
	Columns []Column
}

// A Column has one of its functions.
type Column struct {
	Name   string
	Text   func(row int) *string            // nil for null
	Whole  func(row int) (n int64, ok bool) // false for null
	Small  bool                             // whole numbers are of 32 bits
	Number func(row int) float64            // NaN for null
	Truth  func(row int) bool
	List   func(row int) []string // what CSV and Parquet have as one text, joined by "; "
	Hidden bool                   // not in the table that a person reads
	Read   func(row int) string   // what a person reads instead of Text
	Head   string                 // what a person reads above it; "" for Name with blanks
}

// said is a text that is null if it is empty.
func said(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Tables is a Tabled's: the table as columns of text, int64, double and bool; lists are joined by "; ". It is the caller's to release.
func (t *Table) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: t.Rows}
	for _, x := range t.Columns {
		switch {
		case x.Text != nil:
			c.TextsOrNull(x.Name, x.Text)
		case x.Whole != nil && x.Small:
			c.Wholes32OrNull(x.Name, func(row int) (int32, bool) {
				n, ok := x.Whole(row)
				return int32(n), ok
			})
		case x.Whole != nil:
			c.WholesOrNull(x.Name, x.Whole)
		case x.Number != nil:
			c.NumbersOrNull(x.Name, x.Number)
		case x.Truth != nil:
			c.Truths(x.Name, x.Truth)
		default:
			c.Texts(x.Name, func(row int) string { return strings.Join(x.List(row), "; ") })
		}
	}
	return c.Record()
}

// JSON is a list of objects, a row each.
func (t *Table) JSON() ([]byte, error) {
	rows := make([]any, t.Rows)
	for i := range rows {
		o := schemas.Ordered{}
		for _, x := range t.Columns {
			o = append(o, schemas.Member{Key: x.Name, Value: x.value(i)})
		}
		rows[i] = o
	}
	return schemas.IndentedJSON(rows)
}

func (x *Column) value(row int) any {
	switch {
	case x.Text != nil:
		if text := x.Text(row); text != nil {
			return *text
		}
	case x.Whole != nil:
		if n, ok := x.Whole(row); ok {
			return n
		}
	case x.Number != nil:
		if v := x.Number(row); !math.IsNaN(v) {
			return v
		}
	case x.Truth != nil:
		return x.Truth(row)
	default:
		list := x.List(row)
		values := make([]any, len(list))
		for i, text := range list {
			values[i] = text
		}
		return values
	}
	return nil
}

func (x *Column) title() string { return cmp.Or(x.Head, strings.ReplaceAll(x.Name, "_", " ")) }

func (x *Column) number() bool { return x.Whole != nil || x.Number != nil }

// Titles are what a person reads above the columns that are not hidden, and whether they are of numbers.
func (t *Table) Titles() (titles []string, numbers []bool) {
	for _, x := range t.Columns {
		if !x.Hidden {
			titles, numbers = append(titles, x.title()), append(numbers, x.number())
		}
	}
	return titles, numbers
}

// Shown is a value as a person reads it.
func (x *Column) Shown(row int) string {
	switch {
	case x.Read != nil:
		return x.Read(row)
	case x.Text != nil:
		if text := x.Text(row); text != nil {
			return *text
		}
		return "-"
	case x.Whole != nil:
		if n, ok := x.Whole(row); ok {
			return report.Count(n)
		}
		return "-"
	case x.Number != nil:
		if v := x.Number(row); v == v {
			return report.Figure(v)
		}
		return "-"
	case x.Truth != nil:
		if x.Truth(row) {
			return "yes"
		}
		return "no"
	}
	return strings.Join(x.List(row), "; ")
}

// WriteTable writes a table to a file, whose name tells its kind: .parquet, .arrow, .csv or .json.
func WriteTable(ctx context.Context, path string, t *Table, o session.Options) error {
	if strings.ToLower(filepath.Ext(path)) != ".json" {
		if session.KindOf(path) == "" {
			return session.Wrong(fmt.Errorf("cannot tell the format of %s by its name; endings are .parquet, .arrow, .csv and .json", path))
		}
		return session.WriteRecord(ctx, path, t, o, nil)
	}
	text, err := t.JSON()
	if err != nil {
		return err
	}
	return WriteText(path, text)
}

// WriteText writes a file whole or not at all.
func WriteText(path string, text []byte) error {
	tidy, err := session.MakeFolders([]string{path})
	if err != nil {
		return err
	}
	defer tidy()
	f, err := files.CreateLocal(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return files.Commit(f)
}
