package individual

import (
	"cmp"

	"microrisk/operators/known"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// Name of the operator, and the prefix of its columns unless the spec says otherwise.
const Name = "individual"

// Names of its columns, without the prefix.
const (
	ColumnRisk      = "risk"
	ColumnHousehold = "household_risk"
)

// Estimators of the risk; the first one is taken unless another is asked for.
var Estimators = []string{"exact", "approximate"}

// A Config is what a spec says of the operator.
type Config struct {
	schemas.MeasureOptions
	Household string // column that is the same for all members of a household; "" for none
	Estimator string // one of Estimators; "" means exact
	Known     []known.Table
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Fields: c.WithDomains(Name, []schemas.Field{
		{Name: "household", To: &c.Household, Doc: "Column that is the same for all members of a household.",
			Flag: &schemas.Flag{Name: "household", Usage: "individual: `COLUMN` that is the same for all members of a household"}},
		known.Field(&c.Known),
		{Name: "estimator", To: &c.Estimator, Words: Estimators, Default: Estimators[0],
			Doc:  "The negative binomial's E[1/F], or the closed formula of other programs.",
			Flag: &schemas.Flag{Name: "risk-estimator", Usage: "individual: exact or approximate, the closed formula of other programs (default: exact)"}},
	})}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, s *schemas.Spec) {
	key := s.KeyOf(c)
	k.CategoryOrDrop(path, Name, c.Missing, key)
	if s.Sampling == nil {
		k.Add(
			path,
			"individual needs the sampling weights: add %s",
			advice.Advice{
				Spec:  "sampling: {weight: COLUMN}, or its fraction or the population_size",
				Flags: "--weight COLUMN, or --fraction or --population-size",
			},
		)
	}
	if len(c.Known) > 0 && c.Estimator == Estimators[1] {
		k.Add(path+".estimator", "the closed formula has no bounds: with known tables take estimator: exact")
	}
	if c.Household != "" && key.Has(c.Household) {
		k.Add(path+".household", "%s is the household and a key variable; leave it out of the key", c.Household)
	}
}

// ColumnPrefix is what the names of the operator's columns start with.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Public is a Private config's: without paths.
func (c *Config) Public() schemas.Config {
	bare := *c
	bare.Known = nil
	return &bare
}

// Weighs is a Weighing operator's.
func (c *Config) Weighs() bool { return true }

// Columns are those that the operator writes, in order.
func (c *Config) Columns(frequency bool, _ []string) []schemas.ColumnInfo {
	columns := append(
		schemas.FrequencyColumns(c, frequency),
		schemas.ColumnInfo{
			Name:        schemas.Column(c.ColumnPrefix(), ColumnRisk),
			Type:        schemas.Double,
			Description: "individual risk E[1/F] from the class's frequency and the sum of its weights, in (0, 1/f]",
		},
	)
	if c.Household != "" {
		columns = append(
			columns,
			schemas.ColumnInfo{
				Name:        schemas.Column(c.ColumnPrefix(), ColumnHousehold),
				Type:        schemas.Double,
				Description: "chance that at least one member of the record's household is recognised",
			},
		)
	}
	return columns
}

// Scores is a Scoring operator's.
func (c *Config) Scores() []schemas.Score {
	return []schemas.Score{{Column: schemas.Column(c.ColumnPrefix(), ColumnRisk), Match: true}}
}
