package ldiversity

import (
	"cmp"

	"microrisk/schemas"
)

// Name of the operator, and the prefix of its columns unless the spec says otherwise.
const Name = "ldiversity"

// Limit is the name of the limit of records whose class has fewer than l values of a sensitive variable.
const Limit = "ldiversity_violations"

// Names of its columns, between the prefix and the sensitive variable.
const (
	ColumnDistinct  = "distinct"
	ColumnEntropy   = "entropy"
	ColumnRecursive = "recursive"
)

// What l and c are unless the spec says otherwise.
const (
	DefaultL int64   = 2
	DefaultC float64 = 2
)

// A Config is what a spec says of the operator.
type Config struct {
	schemas.MeasureOptions
	Sensitive []schemas.KeyVariable // Missing, of each: ignore (a missing value is no value; the default) or category
	L         int64                 // the summary counts records below it; 0 means DefaultL
	C         float64               // of recursive (c, l)-diversity; 0 means DefaultC
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Required: []string{"sensitive"}, Fields: c.WithDomains(Name, []schemas.Field{
		schemas.SensitiveField(&c.Sensitive, "The variables that must be diverse."),
		{Name: "l", To: &c.L, Default: DefaultL, Range: schemas.AtLeast(2), Doc: "The summary counts records whose class is below it.",
			Flag: &schemas.Flag{Name: "diversity", Usage: "ldiversity: `L` of the counts in the summary (default: 2)"}},
		{Name: "c", To: &c.C, Default: DefaultC, Range: schemas.Positive(), Doc: "Of recursive (c, l)-diversity.",
			Flag: &schemas.Flag{Name: "diversity-factor", Usage: "ldiversity: `C` of recursive (c, l)-diversity (default: 2)"}},
	})}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, s *schemas.Spec) {
	key := s.KeyOf(c)
	k.CategoryOrDrop(path, Name, c.Missing, key)
	k.Sensitive(path, Name, key, c.Sensitive)
}

// ColumnPrefix is what the names of the operator's columns start with.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Lists is a Listing's.
func (c *Config) Lists(f func(path string, list *[]schemas.KeyVariable)) {
	f("sensitive", &c.Sensitive)
}

// Columns are those that the operator writes, in order.
func (c *Config) Columns(frequency bool, _ []string) []schemas.ColumnInfo {
	columns := schemas.FrequencyColumns(c, frequency)
	for _, s := range c.Sensitive {
		name := func(kind string) string { return schemas.Column(schemas.Column(c.ColumnPrefix(), kind), s.Name) }
		columns = append(
			columns,
			schemas.ColumnInfo{
				Name:        name(ColumnDistinct),
				Type:        schemas.Int64,
				Description: "different values of " + s.Name + " among the records with the key",
			},
			schemas.ColumnInfo{
				Name:        name(ColumnEntropy),
				Type:        schemas.Double,
				Description: "exp of the entropy of " + s.Name + " among them: the class is entropy l-diverse for l up to it; 0 without values",
			},
			schemas.ColumnInfo{
				Name:        name(ColumnRecursive),
				Type:        schemas.Int64,
				Description: "largest l for which the class is recursive (c, l)-diverse in " + s.Name + "; 0 for none",
			},
		)
	}
	return columns
}
