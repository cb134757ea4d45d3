package mc3

import (
	_ "embed"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/bayes/risk"
	"microrisk/operators"
	"microrisk/operators/known"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(
		schemas.Kind{
			Name:     Name,
			Document: document,
			Brief:    "probabilities from models of the population",
			Alone:    true,
			New:      func() schemas.Config { return &Config{} },
			Doc:      "Estimates the probabilities of a correct match and of population uniqueness from Bayesian models of the key variables. It needs sampling.",
			Limits: []schemas.Figure{
				{Name: LimitPU, Doc: "Share of the population that is population unique, 0 to 1."},
				{Name: LimitPUSU, Doc: "Share of the sample uniques that are population unique, 0 to 1."},
				{Name: LimitCMUM, Doc: "Pr(correct match given unique match) by the model, 0 to 1."},
				{Name: LimitCMSU, Doc: "Pr(correct match given sample unique), 0 to 1."},
				{Name: LimitMaxCorrectMatch, Doc: "Greatest chance of a correct match of a record, 0 to 1.", Ranked: true},
				{Name: LimitPopulationUniques, Doc: "Expected number of population uniques among the sample uniques."},
				{Name: LimitCorrectMatches, Doc: "Expected number of correct matches among the sample uniques."},
				{Name: schemas.LimitReidentifications, Doc: "Expected number of correct matches among all records."},
			},
		},
	)
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	o := Operator{Config: *c, Key: with.Key, Sampling: with.Sampling, Documents: with.Files.Documents}
	o.Model, _ = with.Files.Documents[c.ModelIn].(*Model) // nil where none is read
	return []operators.Operator{o}
}

// Files is a Filing config's.
func (c *Config) Files() []operators.SideFile {
	list := known.Files(c.Known)
	if c.ModelIn != "" {
		list = append(list, operators.SideFile{Path: c.ModelIn, What: "the saved model", Kind: operators.Document, Most: 64 << 20,
			Read: func(text []byte) (any, error) { return DecodeModel(c.ModelIn, text) }})
	}
	if c.ModelOut != "" {
		list = append(list, operators.SideFile{Path: c.ModelOut, What: "saved model", Kind: operators.MadeDocument, Begins: `{"microrisk_model":`})
	}
	return list
}

// An Operator annotates each record with the probabilities of a correct match and of population uniqueness, from Bayesian models of the key
// variables (packages bayes, search and risk say which). They are null for records that the missing-value policy drops.
type Operator struct {
	Config   Config
	Key      schemas.Key       // the chain's; Config.Key comes before it
	Sampling *schemas.Sampling // must be known
	Model    *Model            // what is used without a fit; nil: a model is fitted

	Documents map[string]any // what was read of known tables
}

// A Modelled is a Fitted that has fitted a model, which may be saved.
type Modelled interface{ Model() *Model }

// Bind is an Operator's. The key variables must exist and have equality, and the weight, if there is one, must be a number. A
// model that is given must have the key's variables, in its order.
func (o Operator) Bind(in *arrow.Schema) (*operators.Plan, error) { return o.BindAs(in, false) }

// Counts is a Keyed operator's.
func (o Operator) Counts() operators.Key { return operators.KeyOf(&o.Config, o.Key) }

// BindAs is a Keyed operator's.
func (o Operator) BindAs(in *arrow.Schema, frequency bool) (*operators.Plan, error) {
	b, err := o.bind(in, frequency)
	if err != nil {
		return nil, err
	}
	return b.Plan, nil
}

// bind is BindAs.
func (o Operator) bind(in *arrow.Schema, frequency bool) (*bound, error) {
	b := &bound{Operator: o}
	var err error
	if b.BoundKey, err = operators.BindKey(&b.Config, o.Key, in, frequency); err != nil {
		return nil, err
	}
	if o.Sampling == nil {
		return nil, advice.Errorf("%s: nothing is said of the size of the population: give %s", b.Prefix, operators.Sampling)
	}
	if b.drop, err = b.Counted.Drops(); err != nil {
		return nil, err
	}
	if b.tables, err = known.Bind(b.Config.Known, o.Documents, b.Counted); err != nil {
		return nil, advice.Errorf("%s: %w", b.Prefix, err)
	}
	if err := b.settings(); err != nil {
		return nil, err
	}
	b.Plan.Fit = b.fit
	if err := operators.RequestWeight(b.Plan, in, o.Sampling); err != nil {
		return nil, err
	}
	if b.Config.Fit == FitEach {
		return b, b.requestEach()
	}
	return b, nil
}

// bound is mc3, bound to a schema.
type bound struct {
	Operator
	*operators.BoundKey
	drop   []bool // by key variable: records without a value are left out
	law    *risk.Law
	each   bool          // of each domain a model of its own
	tables *known.Tables // nil: none
}

// names are those of the key variables.
func (b *bound) names() []string { return schemas.VariableNames(b.Counted.Variables) }

// settings checks what can be checked without data: the graph, the model.
func (b *bound) settings() error {
	if b.Model != nil {
		return b.openModel()
	}
	_, err := b.searchOptions(operators.Env{})
	return err
}

// fitted has the values of each class, in the table's order; NaN for classes that are dropped.
type fitted struct {
	operators.ByClass
	operators.Domains
	bound   *bound
	count   []int64 // records of each class, 0 for one that is dropped
	values  [][]float64
	summary *Summary
	model   *Model

	expectation *Expectation
}

func (f *fitted) Summary() any { return f.summary }

// Document is a Documented's: the model.
func (f *fitted) Document() ([]byte, error) { return f.model.Marshal() }

// Model is a Modelled's.
func (f *fitted) Model() *Model { return f.model }

// RankedBy is a Ranked's.
func (f *fitted) RankedBy() string {
	return schemas.Column(f.bound.Prefix, ColumnCorrectMatch)
}

// RankedTable is a RankedBeside's.
func (f *fitted) RankedTable() int { return f.bound.classTable() }

// Rank is a Ranked's.
func (f *fitted) Rank(class int64) (float64, int64) { return f.values[0][class], f.count[class] }

// columns are the values of each class.
func (f *fitted) columns() []operators.ClassColumn {
	in := func(c int) bool { return f.count[c] > 0 }
	var list []arrow.Array
	for _, values := range f.values {
		list = append(list, operators.Values(values, in))
	}
	return f.bound.Columns(f.count, list...)
}
