package frequency

import (
	"cmp"

	"microrisk/schemas"
)

// Name of the operator, and what it is called in the summary unless the spec says otherwise.
const Name = "frequency"

// A Config is what a spec says of the operator.
type Config struct {
	Prefix  string       // names it in the summary, and starts its column's name unless it takes the spec's key; "" means frequency
	Key     *schemas.Key // nil means the spec's
	Missing string       // policy for all variables of the key, "" for what the key says
	Replace bool         // an existing column of the same name is replaced
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Fields: []schemas.Field{
		schemas.PrefixField(&c.Prefix, Name),
		schemas.KeyField(&c.Key),
		schemas.MissingField(&c.Missing),
		schemas.ReplaceField(&c.Replace),
	}}
}

// Check tells what the field table cannot: there is nothing.
func (c *Config) Check(*schemas.Checker, string, *schemas.Spec) {}

// ColumnPrefix is what the names of the operator's columns start with.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Common is a Writer's.
func (c *Config) Common() (prefix, missing *string, replace *bool) {
	return &c.Prefix, &c.Missing, &c.Replace
}

// OwnKey is a Measure's.
func (c *Config) OwnKey() *schemas.Key { return c.Key }

// SetKey is a Measure's.
func (c *Config) SetKey(key *schemas.Key) { c.Key = key }

// MissingPolicy is a Measure's.
func (c *Config) MissingPolicy() string { return c.Missing }

// Figures are those of the key.
func (c *Config) Figures(*schemas.Spec) []string { return schemas.KeyFigures() }

// Columns are those that the operator writes: one. Where another operator writes that of the spec's key, it has one of its own.
func (c *Config) Columns(frequency bool, _ []string) []schemas.ColumnInfo {
	return []schemas.ColumnInfo{schemas.FrequencyColumn(c, frequency)}
}
