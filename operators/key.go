package operators

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A Key is a key as an operator counts it.
type Key struct {
	schemas.Key
	Who    string // the operator, for messages
	Policy string // for missing values of all variables; "" for what the key says
	Own    bool   // it is the operator's own, not the chain's
}

// KeyOf is the key that a measure counts: its own, or that of the chain.
func KeyOf(m schemas.Measure, chain schemas.Key) Key {
	k := Key{Key: chain, Who: m.ColumnPrefix(), Policy: m.MissingPolicy()}
	if own := m.OwnKey(); own != nil {
		k.Key, k.Own = *own, true
	}
	return k
}

// A Keyed operator counts a key. The chain tells one of those that count its own key to write the sample frequency of that key; operators
// with a key of their own write theirs.
type Keyed interface {
	Operator
	Counts() Key
	// BindAs is Bind; frequency: it writes the sample frequency of the chain's key.
	BindAs(in *arrow.Schema, frequency bool) (*Plan, error)
}

// frequencyWriter is the operator of a list that writes the sample frequency of the chain's key, -1 for none.
func frequencyWriter(list []Operator) int {
	var policies []string
	var at []int
	for i, o := range list {
		if k, ok := o.(Keyed); ok && !k.Counts().Own {
			policies, at = append(policies, k.Counts().Policy), append(at, i)
		}
	}
	if w := schemas.FrequencyWriter(policies); w >= 0 {
		return at[w]
	}
	return -1
}

var policies = map[string]uniques.Policy{
	"": uniques.Category, schemas.MissingCategory: uniques.Category, schemas.MissingWildcard: uniques.Wildcard,
	schemas.MissingIgnore: uniques.Ignore, schemas.MissingDrop: uniques.Drop,
}

// Policies are what the words of the spec mean to the search, one policy a key variable.
func (key Key) Policies() ([]uniques.Policy, error) {
	chosen := make([]uniques.Policy, len(key.Variables))
	for v := range key.Variables {
		word, ok := key.PolicyOf(v), false
		if chosen[v], ok = policies[word]; !ok {
			return nil, fmt.Errorf("%s: there is no missing-value policy %q: it is one of category, wildcard, ignore, drop", key.Who, word)
		}
	}
	return chosen, nil
}

// Drops tells for each key variable whether a record without a value is dropped; policies other than category and drop are errors.
func (key Key) Drops() ([]bool, error) {
	chosen, err := key.Policies()
	if err != nil {
		return nil, err
	}
	for v, policy := range chosen {
		if policy != uniques.Drop && policy != uniques.Category {
			return nil, fmt.Errorf("%s: the missing-value policy of %s is %s, which %s does not know: give it a policy of its own, category or drop",
				key.Who, key.Variables[v].Name, key.PolicyOf(v), key.Who)
		}
	}
	return Dropping(chosen), nil
}

// Dropping tells the variables without a value of which a record is left out.
func Dropping(chosen []uniques.Policy) []bool {
	drop := make([]bool, len(chosen))
	for v, policy := range chosen {
		drop[v] = policy == uniques.Drop
	}
	return drop
}

// PolicyOf is the missing-value policy of key variable v: the operator's, the variable's, the key's, category.
func (key Key) PolicyOf(v int) string {
	return cmp.Or(key.Policy, key.Variables[v].Missing, key.Missing, schemas.MissingCategory)
}

// Request is the table of the key. It finds key variables that are not there, are named twice, or have no equality.
func (key Key) Request(in *arrow.Schema) (contingency.Request, error) {
	operator := key.Who
	var r contingency.Request
	if len(key.Variables) == 0 {
		return r, fmt.Errorf("%s: the key has no variables", operator)
	}
	if len(key.Variables) > 64 {
		return r, fmt.Errorf("%s: the key has %d variables, at most 64 are possible", operator, len(key.Variables))
	}
	for v, k := range key.Variables {
		f, err := LookUp(operator, in, k.Name)
		if err != nil {
			return r, err
		}
		for _, other := range key.Variables[:v] {
			if other.Name == k.Name {
				return r, fmt.Errorf("%s: the key names %q twice", operator, k.Name)
			}
		}
		switch t := ValueType(f.Type); {
		case arrow.IsFloating(t.ID()):
			return r, advice.Errorf(
				"%s: %q is of type %s: floating-point numbers are hardly ever equal, so they are no key variables: band them%s",
				operator,
				k.Name,
				t,
				advice.Advice{Spec: " with recode (width or cuts)", Flags: ", such as --band COLUMN=5"},
			)
		case arrow.IsNested(t.ID()):
			return r, fmt.Errorf("%s: %q is nested (%s): a key variable has one value a record", operator, k.Name, t)
		case !HasEquality(t):
			return r, fmt.Errorf("%s: %q is of type %s, which cannot be a key variable", operator, k.Name, t)
		}
		codes := k.MissingCodes
		if codes == nil {
			codes = key.MissingCodes
		}
		codes = slices.Compact(slices.Sorted(slices.Values(codes)))
		levels := slices.Compact(slices.Sorted(slices.Values(k.Levels)))
		for _, m := range codes {
			if slices.Contains(levels, m) {
				return r, fmt.Errorf("%s: %q has %q both among its levels and its missing codes", operator, k.Name, m)
			}
		}
		if k.Levels == nil {
			levels = nil
		}
		r.Keys = append(r.Keys, contingency.Key{Name: k.Name, MissingCodes: codes, Levels: levels})
	}
	return r, nil
}

// Kept says what the key's table looks like, and how many records it is of, where some of its classes are dropped.
func (key Key) Kept(t *contingency.Table, kept *contingency.Kept) (schemas.MeasuredKey, schemas.MeasuredRecords) {
	return key.measured(t, kept.Records, schemas.KeySummary{Classes: kept.Classes, SampleUniques: kept.Uniques, Doubles: float64(kept.Doubles)})
}

// Searched is Kept of a table in which a missing value can be any: classes with a frequency of 0 are dropped.
func (key Key) Searched(t *contingency.Table, r *uniques.Result) (schemas.MeasuredKey, schemas.MeasuredRecords) {
	s := schemas.KeySummary{SampleUniques: r.Uniques, Doubles: r.Doubles}
	for _, f := range r.Frequency {
		if f > 0 {
			s.Classes++
		}
	}
	return key.measured(t, r.Records, s)
}

// measured adds the variables to what is said of a key's classes.
func (key Key) measured(t *contingency.Table, records int64, s schemas.KeySummary) (schemas.MeasuredKey, schemas.MeasuredRecords) {
	s.Variables = key.Describe(t)
	return schemas.MeasuredKey{KeySummary: &s}, schemas.MeasuredRecords{Records: records, Dropped: t.Records() - records}
}

// Describe says what the variables of the key's table are.
func (key Key) Describe(t *contingency.Table) []schemas.VariableSummary {
	list := make([]schemas.VariableSummary, len(t.Variables))
	for v, variable := range t.Variables {
		codes := key.Variables[v].MissingCodes
		if codes == nil {
			codes = key.MissingCodes
		}
		list[v] = schemas.VariableSummary{Name: variable.Name, Categories: int64(len(variable.Categories)), Missing: t.MissingRecords(v),
			Policy: key.PolicyOf(v), MissingCodes: codes}
	}
	return list
}
