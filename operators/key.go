package operators

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/schemas"
)

var policies = map[string]uniques.Policy{
	"": uniques.Category, schemas.MissingCategory: uniques.Category, schemas.MissingWildcard: uniques.Wildcard,
	schemas.MissingIgnore: uniques.Ignore, schemas.MissingDrop: uniques.Drop,
}

// policiesOf are what the words of the spec mean to the search, one policy a key variable. operators is the operator's own, "" for none.
func policiesOf(name string, key schemas.Key, operators string) ([]uniques.Policy, error) {
	chosen := make([]uniques.Policy, len(key.Variables))
	for v := range key.Variables {
		word, ok := policyOf(key, v, operators), false
		if chosen[v], ok = policies[word]; !ok {
			return nil, fmt.Errorf("%s: there is no missing-value policy %q: it is one of category, wildcard, ignore, drop", name, word)
		}
	}
	return chosen, nil
}

// dropping tells the variables without a value of which a record is left out.
func dropping(chosen []uniques.Policy) []bool {
	drop := make([]bool, len(chosen))
	for v, policy := range chosen {
		drop[v] = policy == uniques.Drop
	}
	return drop
}

// policyOf is the missing-value policy of key variable v: the operator's, the variable's, the key's, category.
func policyOf(key schemas.Key, v int, operators string) string {
	for _, word := range []string{operators, key.Variables[v].Missing, key.Missing} {
		if word != "" {
			return word
		}
	}
	return schemas.MissingCategory
}

// keyRequest is the table of a key. It finds key variables that are not there, are named twice, or have no equality.
func keyRequest(operator string, in *arrow.Schema, key schemas.Key) (contingency.Request, error) {
	var r contingency.Request
	if len(key.Variables) == 0 {
		return r, fmt.Errorf("%s: the key has no variables", operator)
	}
	if len(key.Variables) > 64 {
		return r, fmt.Errorf("%s: the key has %d variables, at most 64 are possible", operator, len(key.Variables))
	}
	for v, k := range key.Variables {
		f, err := lookUp(operator, in, k.Name)
		if err != nil {
			return r, err
		}
		for _, other := range key.Variables[:v] {
			if other.Name == k.Name {
				return r, fmt.Errorf("%s: the key names %q twice", operator, k.Name)
			}
		}
		switch t := valueType(f.Type); {
		case arrow.IsFloating(t.ID()):
			return r, fmt.Errorf("%s: %q is of type %s: floating-point numbers are hardly ever equal, so they are no key variables: band them with recode (width or cuts)", operator, k.Name, t)
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

// keySummary says what a key's table looks like under an operator's missing-value policies; classes is the number of those that
// are not dropped.
func keySummary(t *contingency.Table, key schemas.Key, operators string, classes, uniques int64, doubles float64) *schemas.KeySummary {
	s := &schemas.KeySummary{Classes: classes, SampleUniques: uniques, Doubles: doubles}
	for v, variable := range t.Variables {
		s.Variables = append(s.Variables, schemas.VariableSummary{
			Name: variable.Name, Categories: int64(len(variable.Categories)), Missing: missing(t, v),
			Policy: policyOf(key, v, operators), MissingCodes: key.Variables[v].MissingCodes,
		})
		if key.Variables[v].MissingCodes == nil {
			s.Variables[v].MissingCodes = key.MissingCodes
		}
	}
	return s
}

// missing is the number of records without a value of variable v.
func missing(t *contingency.Table, v int) int64 {
	var n int64
	codes := make([]uint32, min(t.Classes(), 4096))
	for from := 0; from < t.Classes(); from += len(codes) {
		part := codes[:min(len(codes), t.Classes()-from)]
		t.Codes(v, from, part)
		for i, c := range part {
			if c == t.Variables[v].Missing() {
				n += t.Count(from + i)
			}
		}
	}
	return n
}
