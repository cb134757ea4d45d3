package frequency

import (
	"cmp"

	"microrisk/schemas"
)

// Name of the operator, and what it is called in the summary unless the spec says otherwise.
const Name = "frequency"

// A Config is what a spec says of the operator.
type Config struct {
	schemas.MeasureOptions
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Fields: c.With(Name, nil)}
}

// Check tells what the field table cannot: there is nothing.
func (c *Config) Check(*schemas.Checker, string, *schemas.Spec) {}

// ColumnPrefix is what the names of the operator's columns start with.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Columns are those that the operator writes: one. Where another operator writes that of the spec's key, it has one of its own.
func (c *Config) Columns(frequency bool, _ []string) []schemas.ColumnInfo {
	return []schemas.ColumnInfo{schemas.FrequencyColumn(c, frequency)}
}
