package main

import (
	"cmp"

	"microrisk/operators"
	"microrisk/operators/report"
	"microrisk/schemas"
)

// Words of the operator: its name and the usual prefix of its column, its limit, its column.
const (
	name   = "rare"
	limit  = "rare_records"
	column = "percent"
)

// A Config is what a spec says of the operator.
type Config struct {
	schemas.MeasureOptions
	Below float64 // percent of the records: a key that fewer have is rare; 0 means 1
}

// Fields is the field table: the spec's decoder, its JSON Schema, the defaults and the range checks come of it.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Fields: c.With(name, []schemas.Field{
		{Name: "below", To: &c.Below, Default: 1.0, Range: (&schemas.Range{Most: 100, Above: true}).Saying("it must be above 0 and at most 100"),
			Doc:  "A key that fewer percent of the records have is rare.",
			Flag: &schemas.Flag{Name: "rare-below", Usage: "rare: a key that fewer than `P` percent of the records have is rare (default: 1)"}},
	})}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, s *schemas.Spec) {
	k.CategoryOrDrop(path, name, c.Missing, s.KeyOf(c))
}

// ColumnPrefix is what the names of the columns start with.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, name) }

// Columns are those that it writes.
func (c *Config) Columns(frequency bool, _ []string) []schemas.ColumnInfo {
	return append(schemas.FrequencyColumns(c, frequency),
		schemas.ColumnInfo{Name: schemas.Column(c.ColumnPrefix(), column), Type: schemas.Double, Description: "records with the key, percent of all"})
}

// Operators are what is run.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	return []operators.Operator{rare{config: *c, key: with.Key}}
}

// Report is the operator's table on the terminal.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	s := document.(*Summary)
	return report.Section{Place: report.Classes, Parts: []report.Part{{Apart: true, Rows: [][]report.Cell{
		report.Row("rare keys", report.Count(s.Rare), report.Limited(limit, report.PartOf(s.Rare, s.Records)+" of the records")),
	}}}}
}
