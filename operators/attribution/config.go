package attribution

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/schemas"
)

// Name of the operator, and the prefix of its columns unless the spec says otherwise.
const Name = "attribution"

// Names of its columns, between the prefix and the sensitive variable; that of the chance has no such word.
const (
	ColumnPrior = "prior"
	ColumnGain  = "gain"
)

// Names of its limits.
const (
	LimitGreatest = "max_attribution"
	LimitExpected = "expected_attributions"
)

// What the chance that others with the key have the value comes from, besides the shares of its class.
const (
	ValuesClass = "class" // the shares in the file
	ValuesModel = "model" // models of the key and the sensitive variable
)

// Smoothing that is taken for a sample; for a whole population, which needs none, it is 0.
const (
	DefaultSmoothing = 1.0
	ModelSmoothing   = 5.0 // by a model
)

// DefaultThresholds are what the summary counts the records above, unless the spec says otherwise.
var DefaultThresholds = []float64{0.5, 0.9}

// A Config is what a spec says of the operator.
type Config struct {
	schemas.MeasureOptions
	Sensitive  []schemas.KeyVariable // Missing, of each: ignore (a record without a value gets nulls; the default) or category
	Match      string                // column with the chance of a correct match; "" for that of package baseline by the sampling, or 1/f
	Values     string                // class or model; "" for model in a sample without weights, else class
	Model      mc3.Config            // how models are fitted
	Smoothing  *float64              // records of the key that the shares in the file, or the model, count as; nil: see DefaultSmoothing
	Thresholds []float64             // nil means DefaultThresholds
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	chance := (&schemas.Range{Most: 1, Below: true}).Saying("it must be a chance, at least 0 and below 1")
	return schemas.Table{Required: []string{"sensitive"}, Fields: c.WithDomains(Name, []schemas.Field{
		schemas.SensitiveField(&c.Sensitive, "The variables of which an intruder could learn the value."),
		{Name: "match", To: &c.Match, Schema: `"minLength": 1`,
			Doc: "Column with the chance that a match is correct, one value a key, such as mc3_correct_match of an mc3 before it. Without it the individual risk, " +
				"or 1/f if the file has the whole population.",
			Flag: &schemas.Flag{
				Name: "match",
				Usage: "attribution: `COLUMN` with the chance of a correct match, such as mc3_correct_match (default: the individual " +
					"risk, or 1/f if the file has the whole population)",
			}},
		{Name: "values", To: &c.Values, Words: []string{ValuesClass, ValuesModel},
			Doc: "What tells of a value besides the other records of its key: class, its share in the file; or model, models of the key and the sensitive variable " +
				"that are fitted to all records. Without it model for a sample without weights, else class.",
			Flag: &schemas.Flag{
				Name: "attribution-values",
				Usage: "attribution: what tells of a value besides the other records of its key: class (its share in the file) or model " +
					"(models of key and sensitive variable; default: model for a sample without weights, else class)",
			}},
		{Name: "model", To: schemas.Nested(c.modelFields())},
		{Name: "smoothing", To: &c.Smoothing, Range: schemas.AtLeast(0).Saying("it must be a finite number of at least 0"),
			Doc: "So many records with the shares of the whole file, or of the model, are put into every key before its own shares are taken; without it 1, with " +
				"models 5, and 0 if the file has the whole population.",
			Flag: &schemas.Flag{
				Name: "smoothing",
				Usage: "attribution: put `N` records with the shares of the whole file, or of the model, into every key before its own shares are " +
					"taken (default: 1, with models 5; 0 if the file has the whole population)",
			}},
		{Name: "thresholds", To: &c.Thresholds, Single: true, Range: chance, Default: DefaultThresholds,
			Doc: "The summary counts the records above each.",
			Flag: &schemas.Flag{
				Name: "attribution-thresholds",
				Usage: "attribution: count the records whose chance is above these, separated by commas (default: " +
					"0.5,0.9)",
			}},
	})}
}

// modelFields say how models are found.
func (c *Config) modelFields() schemas.Table {
	t := c.Model.Fitting()
	t.What, t.Doc = "the model", "How models of the key and a sensitive variable are found, as mc3 finds them."
	return t
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, s *schemas.Spec) {
	key := s.KeyOf(c)
	k.CategoryOrDrop(path, Name, c.Missing, key)
	k.Sensitive(path, Name, key, c.Sensitive)
	c.checkModel(k, path, s)
	if c.Thresholds != nil && len(c.Thresholds) == 0 {
		k.Add(path+".thresholds", "thresholds is an empty list; give one number or several, such as 0.5")
	}
}

// checkModel refuses models, and settings of them, that nothing would look at.
func (c *Config) checkModel(k *schemas.Checker, path string, s *schemas.Spec) {
	t, sampling := c.Fields(), s.Sampling
	population := sampling == nil || sampling.Fraction == 1
	class := c.Values == ValuesClass || c.Values == "" && (population || sampling.Weight != "")
	switch {
	case class && !reflect.DeepEqual(c.Model, mc3.Config{}):
		k.Add(path+".model", "model says how models are found, and none is fitted here: add %s, or leave it out", t.Saying("values", ValuesModel))
		return
	case class:
		return
	case population && c.Match == "" && (c.Smoothing == nil || *c.Smoothing == 0):
		k.Add(path+".values", "%s tells of those who are not in the file, which is taken as the whole population: give %s, or leave it out",
			t.Saying("values", ValuesModel), operators.Sampling)
	}
	if len(c.Model.PriorPrecision) > 1 {
		k.Add(path+".model.prior_precision", "attribution takes one prior precision, or auto")
	}
	of := &schemas.Spec{Sampling: &schemas.Sampling{Fraction: 1}}
	if key := s.KeyOf(c); key != nil {
		of.Key = &schemas.Key{Variables: append(slices.Clone(key.Variables), schemas.KeyVariable{})} // a sensitive variable beside it
	}
	m := c.Model
	m.Missing = schemas.MissingCategory // the policies are judged above
	m.Check(k, path+".model", of)
}

// ColumnPrefix is what the names of the operator's columns start with.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Weighs is a Weighing operator's.
func (c *Config) Weighs() bool { return true }

// Lists is a Listing's.
func (c *Config) Lists(f func(path string, list *[]schemas.KeyVariable)) {
	f("sensitive", &c.Sensitive)
}

// Names is a Naming operator's.
func (c *Config) Names(path string, scope schemas.Scope) {
	for i, s := range c.Sensitive {
		scope.Want(fmt.Sprintf("%s.sensitive[%d]", path, i), c.ColumnPrefix(), s.Name)
	}
	if c.Match != "" {
		scope.Want(path+".match", c.ColumnPrefix(), c.Match)
	}
}

// Columns are those that the operator writes, in order.
func (c *Config) Columns(frequency bool, _ []string) []schemas.ColumnInfo {
	columns, prefix := schemas.FrequencyColumns(c, frequency), c.ColumnPrefix()
	add := func(name, meaning string) {
		columns = append(columns, schemas.ColumnInfo{Name: name, Type: schemas.Double, Description: meaning})
	}
	for _, s := range c.Sensitive {
		add(
			schemas.Column(prefix, s.Name),
			"chance that the record's value of "+s.Name+" is learnt of a person with its key: by a correct match, or as others with the key have it",
		)
		add(schemas.Column(schemas.Column(prefix, ColumnPrior), s.Name), "share of the record's value of "+s.Name+" among all other records")
		add(schemas.Column(schemas.Column(prefix, ColumnGain), s.Name), "what the key adds to that: the chance less the prior; below 0 where the key misleads")
	}
	return columns
}
