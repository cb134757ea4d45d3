package audit

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"microrisk/operators"
	"microrisk/operators/protect"
	"microrisk/schemas"
)

// Name of the operator, and what it is called in the summary unless the spec says otherwise.
const Name = "audit"

// A Config is what a spec says of the operator. Its source is the published table.
type Config struct {
	Prefix     string
	Truth      string // the internal folder of the operator protect
	Insider    string // what the only contributors of hidden cells must not know; "" is what the log says, as with the others
	Beforehand string
	Sliding    *int
	Base       *int
	All        bool   // findings of all hidden cells
	Out        string // file of findings; "" for none
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Required: []string{"truth"}, Fields: []schemas.Field{
		schemas.PrefixField(&c.Prefix, Name),
		{Name: "truth", To: &c.Truth, File: true, Doc: "The internal folder of the operator protect (or microrisk table protect), by whose table and log the source was made."},
		{Name: "insider", To: &c.Insider, Words: protect.Insider,
			Doc: "What the only contributors of hidden cells must not know of others: exact, full or off; without it what the log says."},
		{Name: "beforehand", To: &c.Beforehand, Words: protect.Beforehand,
			Doc: "What everybody knows of hidden cells beforehand: that they are occupied, or nothing; without it what the log says."},
		{Name: "sliding", To: &c.Sliding, Range: schemas.AtLeast(1), Doc: "Width that a hidden cell's interval needs; without it what the log says."},
		{Name: "base", To: &c.Base, Range: schemas.AtLeast(2), Doc: "Base of rounding; without it what the log says."},
		{Name: "all_intervals", To: &c.All, Doc: "Findings of all hidden cells, not of those alone that disclose."},
		{Name: "out", To: &c.Out, File: true, Doc: "File of what was found out of each cell (.parquet, .arrow or .csv), which must not be published."},
	}}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, _ *schemas.Spec) {
	if c.Truth == "" {
		k.Add(path+".truth", "audit does not say what is true: truth is the internal folder of the operator protect, or of table protect")
	}
	if c.All && c.Out == "" {
		k.Add(path+".all_intervals", "findings of all cells are for a file of them, and none is named (out)")
	}
}

// ColumnPrefix names the operator in the summary.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Public is a Private config's: what it found is not for those who get the output.
func (c *Config) Public() schemas.Config { return nil }

// Files are a Filing config's.
func (c *Config) Files() []operators.SideFile {
	var log *Log
	list := []operators.SideFile{
		{Path: c.log(), What: "the internal log", Kind: operators.Document, Most: protect.LargestFile, Read: func(text []byte) (any, error) {
			var err error
			log, err = ReadLog(c.log(), text)
			return log, err
		}},
		{Path: c.cells(), What: "the internal table", Kind: operators.Opened, Open: func(ctx context.Context, from operators.Source, memory int64) (any, error) {
			if log == nil {
				return nil, fmt.Errorf("%s is read as something else than the log of %s", c.log(), c.cells())
			}
			return log.Truth(ctx, c.cells(), from, memory, Asked{})
		}},
	}
	if c.Out != "" {
		list = append(list, operators.SideFile{Path: c.Out, What: "the file of findings", Kind: operators.MadeTable})
	}
	return list
}

func (c *Config) log() string   { return filepath.Join(c.Truth, protect.LogFile) }
func (c *Config) cells() string { return filepath.Join(c.Truth, protect.CellsFile) }
