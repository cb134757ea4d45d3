package operators

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/bayes/risk"
	"microrisk/engine/contingency"
	"microrisk/schemas"
)

// MC3 annotates each record with the probabilities of a correct match and of population uniqueness, from Bayesian models of the key
// variables (packages bayes, search and risk say which). They are null for records that the missing-value policy drops.
type MC3 struct {
	Config   schemas.MC3
	Key      schemas.Key       // the pipeline's key; Config.Key comes before it
	Shared   bool              // the first operator to use Key: it writes sample_frequency
	Sampling *schemas.Sampling // must be known
	Model    *schemas.Model    // what is used without a fit; nil: a model is fitted
}

// A Modelled is a Fitted that has fitted a model, which may be saved.
type Modelled interface {
	Model() *schemas.Model
}

// Bind is an Operator's. The key variables must exist and have equality, and the weight, if there is one, must be a number. A
// model that is given must have the key's variables, in its order.
func (m MC3) Bind(in *arrow.Schema) (*Plan, error) {
	b := &mc3Bound{MC3: m, prefix: m.Config.ColumnPrefix(), key: m.Key}
	if m.Config.Key != nil {
		b.key = *m.Config.Key
	}
	if m.Sampling == nil {
		return nil, fmt.Errorf("%s: nothing is said of the size of the population: give sampling (fraction, population_size or weight)", b.prefix)
	}
	var err error
	if b.drop, err = dropsOf(b.prefix, b.key, m.Config.Missing); err != nil {
		return nil, err
	}
	request, err := keyRequest(b.prefix, in, b.key)
	if err != nil {
		return nil, err
	}
	if err := b.settings(); err != nil {
		return nil, err
	}
	plan := &Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit}
	if err := requestWeight(plan, in, m.Sampling); err != nil {
		return nil, err
	}
	b.frequency = m.Shared || m.Config.Key != nil
	addColumns(plan, in, m.Config.Columns(m.Config.Key == nil && m.Shared, nil), m.Config.Replace)
	return plan, nil
}

// mc3Bound is mc3, bound to a schema.
type mc3Bound struct {
	MC3
	prefix    string
	key       schemas.Key
	drop      []bool // by key variable: records without a value are left out
	frequency bool   // sample_frequency is written
	law       *risk.Law
}

// names are those of the key variables.
func (b *mc3Bound) names() []string {
	list := make([]string, len(b.key.Variables))
	for v, k := range b.key.Variables {
		list[v] = k.Name
	}
	return list
}

// settings checks what can be checked without data: the words, the graph, the model.
func (b *mc3Bound) settings() error {
	c := &b.Config
	for _, w := range []struct {
		what, value string
		known       []string
	}{{"search", c.Search, schemas.Searches}, {"estimator", c.Estimator, schemas.Estimators}} {
		if w.value != "" && !slices.Contains(w.known, w.value) {
			return fmt.Errorf("%s: there is no %s %q: it is one of %v", b.prefix, w.what, w.value, w.known)
		}
	}
	if b.Model != nil {
		return b.openModel()
	}
	_, err := b.searchOptions(Env{})
	return err
}

// mc3Fitted has the values of each class, in the table's order; NaN for classes that are dropped.
type mc3Fitted struct {
	ByClass
	bound   *mc3Bound
	count   []int64 // records of each class, 0 for one that is dropped
	values  [][]float64
	summary *schemas.MC3Summary
	model   *schemas.Model

	expectation *Expectation
}

func (f *mc3Fitted) Summary() any { return f.summary }

// Model is a Modelled's.
func (f *mc3Fitted) Model() *schemas.Model { return f.model }

// RankedBy is a Ranked's.
func (f *mc3Fitted) RankedBy() string {
	return schemas.Column(f.bound.prefix, schemas.MC3CorrectMatch)
}

// Rank is a Ranked's.
func (f *mc3Fitted) Rank(class int64) (float64, int64) { return f.values[0][class], f.count[class] }

// columns are the values of each class.
func (f *mc3Fitted) columns() []ClassColumn {
	in := func(c int) bool { return f.count[c] > 0 }
	var list []ClassColumn
	if f.bound.frequency {
		list = append(list, ClassColumn{Values: Values(f.count, in)})
	}
	for _, values := range f.values {
		list = append(list, ClassColumn{Values: Values(values, in)})
	}
	return list
}
