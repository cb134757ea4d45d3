package sap

import (
	"cmp"
	"fmt"

	"microrisk/schemas"
)

// Name of the operator, and the prefix of its columns unless the spec says otherwise.
const Name = "sap"

// Names of its columns, between the prefix and the number of people known.
const (
	ColumnCell   = "cell"
	ColumnTarget = "target"
)

// Limit is the name of the limit of the greatest SAP of a released table at the largest n of known.
const Limit = "sap"

// Totals are the ways to publish the total, or the table over all of cells.
var Totals = []string{"same", "exact", "none"}

// DefaultThreshold is the SAP whose smallest n is found unless the spec says otherwise.
const DefaultThreshold = 0.5

// A Config is what a spec says of sap, which finds for each released table how likely it is that somebody who knows n of its people can subtract them and
// learn that a
// combination is empty. It needs no key: there is one table for each combination of By, over the variables Cells.
type Config struct {
	Prefix     string                // of the columns; "" means sap
	By         []schemas.KeyVariable // columns whose values tell the tables apart; none means one table
	Cells      []schemas.KeyVariable // variables of the tables; Missing is not looked at
	Missing    string                // of Cells: category (default) or drop; a record without a value of By is in no table
	Release    Release               // how the tables are published
	Known      []int64               // numbers of people known
	Impossible []map[string]string   // combinations of some of Cells that cannot occur: their zeros tell nothing
	Threshold  *float64              // the smallest n whose SAP is at least this is found for each table; nil means 0.5
	Tables     string                // file with one row a table, "" for none
	Replace    bool                  // existing columns of the same names are replaced
}

// Fields is the field table.
func (s *Config) Fields() schemas.Table {
	return schemas.Table{Required: []string{"cells", "known"}, Fields: []schemas.Field{
		schemas.PrefixField(&s.Prefix, Name),
		{
			Name:   "by",
			To:     &s.By,
			Single: true,
			Doc: "Columns whose values tell the tables apart; without it there is one table. With levels, every combination is a table, whether somebody is in " +
				"it or not.",
			Flag: &schemas.Flag{
				Name:  "by",
				Usage: "`COLUMNS` whose values tell released tables apart, separated by commas; a record without one of them is in no table (default: one table)",
			},
		},
		{Name: "cells", To: &s.Cells, Single: true, Doc: "Variables of the tables.",
			Flag: &schemas.Flag{
				Name:   "cells",
				Usage:  "`VARIABLES` of the released tables, separated by commas",
				Needed: "name the variables of the released tables: --cells SEX,HEALTH",
			}},
		schemas.ClassesMissingField(&s.Missing),
		{Name: "release", To: schemas.Nested(s.releaseFields())},
		{Name: "known", To: &s.Known, Single: true, Range: schemas.AtLeast(0).Saying("it must be 0 or more people"), Doc: "Numbers of people known.",
			Flag: &schemas.Flag{
				Name:  "known",
				Usage: "numbers of people known, separated by commas (default: 1,2,5,10)",
				Usual: []string{"1", "2", "5", "10"},
			}},
		{Name: "impossible", To: impossibleForm{&s.Impossible}, Doc: "Combinations of some of cells that cannot occur: their zeros tell nothing.",
			Flag: &schemas.Flag{
				Name:  "impossible",
				Usage: "a combination of categories that cannot occur, `VAR=VALUE,VAR=VALUE`; may be repeated",
				Many:  true,
				Set:   s.sayImpossible,
			}},
		{
			Name:    "threshold",
			To:      &s.Threshold,
			Default: DefaultThreshold,
			Range:   (&schemas.Range{Most: 1, Above: true}).Saying("it must be above 0 and at most 1"),
			Doc:     "The smallest n whose SAP is at least this is found for each table.",
			Flag:    &schemas.Flag{Name: "sap-threshold", Usage: "find for each table how many people must be known for a SAP of `P` (default: 0.5)"},
		},
		{Name: "tables", To: &s.Tables, File: true, Doc: "File with one row a table (.parquet, .arrow or .csv).",
			Flag: &schemas.Flag{Name: "tables", Usage: "write one row a table to `FILE`"}},
		schemas.ReplaceField(&s.Replace),
	}}
}

// ColumnPrefix is what the names of the operator's columns start with.
func (s *Config) ColumnPrefix() string { return cmp.Or(s.Prefix, Name) }

// Common is a Writer's.
func (s *Config) Common() (prefix, missing *string, replace *bool) {
	return &s.Prefix, &s.Missing, &s.Replace
}

// Lists is a Listing's.
func (s *Config) Lists(f func(path string, list *[]schemas.KeyVariable)) {
	f("by", &s.By)
	f("cells", &s.Cells)
}

// Names is a Naming operator's.
func (s *Config) Names(path string, scope schemas.Scope) {
	for i, v := range s.By {
		scope.Want(fmt.Sprintf("%s.by[%d]", path, i), s.ColumnPrefix(), v.Name)
	}
	for i, v := range s.Cells {
		scope.Want(fmt.Sprintf("%s.cells[%d]", path, i), s.ColumnPrefix(), v.Name)
	}
}

// Public is a Private config's: it is about other files.
func (s *Config) Public() schemas.Config { return nil }

// Columns are those that sap writes, in order; of several tables together there is no target.
func (s *Config) Columns(bool, []string) []schemas.ColumnInfo {
	var columns []schemas.ColumnInfo
	for _, kind := range []struct{ name, meaning string }{
		{"", "SAP(n) of the released table that the record falls in, n = %d: chance that a zero is recovered by who knows n of its people"},
		{ColumnCell, "chance that the record's own cell is known in full and shown empty, n = %d"},
		{ColumnTarget, "chance that some cell is shown empty by who knows n = %d of the table's other people"},
	} {
		if kind.name == ColumnTarget && s.Release.Joint() {
			continue // it is known of single tables only
		}
		for _, n := range s.Known {
			columns = append(columns, schemas.ColumnInfo{Name: s.column(kind.name, n), Type: schemas.Double, Description: fmt.Sprintf(kind.meaning, n)})
		}
	}
	return columns
}

// TableColumns are the columns of the file of tables after those of By, in order.
func (s *Config) TableColumns() []string {
	columns := []string{"people", "cells"}
	for _, n := range s.Known {
		columns = append(columns, fmt.Sprintf("sap_%d", n))
	}
	for _, n := range s.Known {
		columns = append(columns, fmt.Sprintf("expected_zeros_%d", n))
	}
	return append(columns, "smallest_known")
}

func (s *Config) column(kind string, n int64) string {
	name := fmt.Sprint(n)
	if kind != "" {
		name = kind + "_" + name
	}
	return schemas.Column(s.ColumnPrefix(), name)
}
