package kanonymity

import (
	"cmp"

	"microrisk/schemas"
)

// Name of the operator, and the prefix of its columns unless the spec says otherwise.
const Name = "kanonymity"

// DefaultK is k unless the spec says otherwise.
const DefaultK int64 = 3

// MostCombinedVariables is the largest number of key variables whose combinations are counted.
const MostCombinedVariables = 20

// Limit is the name of the limit of records whose key fewer than k have.
const Limit = "kanonymity_violations"

// Names of its columns, without the prefix.
const (
	ColumnViolation  = "violation"
	ColumnViolations = "violations"
	ColumnMinSize    = "min_size"
)

// A Config is what a spec says of the operator.
type Config struct {
	schemas.MeasureOptions
	K            int64 // 0 means DefaultK
	Combinations int   // combinations of at most this many key variables are looked at; 0: the whole key only
	Force        bool  // search even if it is estimated to take more than an hour
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Fields: c.WithDomains(Name, []schemas.Field{
		{
			Name:    "k",
			To:      &c.K,
			Default: DefaultK,
			Range:   schemas.Within(2, schemas.MaxThreshold).Saying("it must be at least 2 and at most %d", schemas.MaxThreshold),
			Doc:     "Fewer records than this with a key violate k-anonymity.",
			Flag:    &schemas.Flag{Name: "anonymity", Usage: "kanonymity: fewer than `K` records with a key violate it (default: 3)"},
		},
		{Name: "combinations", To: &c.Combinations, Range: schemas.AtLeast(0).Saying("it must be 0 (the whole key only) or more"),
			Doc: "Look at combinations of at most this many key variables too; 0: the whole key only.", Schema: `"maximum": 20, "default": 0`,
			Flag: &schemas.Flag{Name: "combinations", Usage: "kanonymity: look at combinations of at most `N` key variables too"}},
		{Name: "force", To: &c.Force, Doc: "Search even if it is estimated to take more than an hour.",
			Flag: &schemas.Flag{
				Name:  "force",
				Usage: "search even if it is estimated to take more than an hour",
				When:  func() bool { return c.Combinations > 0 },
			}},
	})}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, s *schemas.Spec) {
	switch key := s.KeyOf(c); {
	case c.Combinations > 0 && key != nil && len(key.Variables) > MostCombinedVariables:
		k.Add(
			path+".combinations",
			"combinations of %d key variables cannot be counted; at most %d can: take a smaller key for this operator",
			len(key.Variables),
			MostCombinedVariables,
		)
	case c.Force && c.Combinations == 0:
		k.Add(path+".force", "force is about the search for combinations; without combinations there is none")
	}
}

// ColumnPrefix is what the names of the operator's columns start with.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Columns are those that the operator writes, in order.
func (c *Config) Columns(frequency bool, _ []string) []schemas.ColumnInfo {
	name := func(of string) string { return schemas.Column(c.ColumnPrefix(), of) }
	columns := append(schemas.FrequencyColumns(c, frequency),
		schemas.ColumnInfo{Name: name(ColumnViolation), Type: schemas.Int32, Description: "1 if fewer than k records have the record's key, 0 otherwise"})
	if c.Combinations > 0 {
		columns = append(
			columns,
			schemas.ColumnInfo{
				Name:        name(ColumnViolations),
				Type:        schemas.Int64,
				Description: "combinations of key variables, of the sizes looked at, on which fewer than k records agree with the record",
			},
			schemas.ColumnInfo{Name: name(ColumnMinSize), Type: schemas.Int32, Description: "size of the smallest of these; null if there is none"},
		)
	}
	return columns
}

// Scores is a Scoring operator's.
func (c *Config) Scores() []schemas.Score {
	if c.Combinations == 0 {
		return nil
	}
	return []schemas.Score{{Column: schemas.Column(c.ColumnPrefix(), ColumnViolations)}}
}

// AskScores is a Reticent scorer's: combinations of two key variables are looked at.
func (c *Config) AskScores() { c.Combinations = cmp.Or(c.Combinations, 2) }
