package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/attack"
	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// CountKey counts the key of a spec, and no more; role names the source in errors, such as "population".
func CountKey(ctx context.Context, role string, spec *schemas.Spec, options Options) (*contingency.Table, error) {
	count := &Counting{Requests: KeyRequest(*spec.Key)}
	if err := CountWith(ctx, role, spec, count, options); err != nil {
		return nil, err
	}
	return count.Tables[0], nil
}

// CountWith is CountKey, for an operator that counts.
func CountWith(ctx context.Context, role string, spec *schemas.Spec, count *Counting, options Options) error {
	if progress := options.Progress; progress != nil {
		options.Progress = func(stage string, done, total int64) { progress(stage+" the "+role, done, total) }
	}
	j, err := OpenToLook(ctx, spec, options)
	if err != nil {
		return InRole(role, err)
	}
	defer j.Source.Close()
	if j.Chain, err = j.Bind(true, append(OperatorsOf(spec, &Companions{}), count)...); err != nil {
		return InRole(role, err)
	}
	if _, err := j.Chain.Run(ctx, j.Source, nil, j.ChainOptions()); err != nil {
		return InRole(role, err)
	}
	return nil
}

// InRole says which of several sources an error is about.
func InRole(role string, err error) error {
	if IsSpec(err) {
		return Wrong(advice.Errorf("%s: %w", role, err))
	}
	return advice.Errorf("%s: %w", role, err)
}

// TwoPolicies refuses missing-value policies other than category and drop.
func TwoPolicies(what string, key schemas.Key) error {
	for v, policy := range PoliciesOf(key) {
		if policy != uniques.Category && policy != uniques.Drop {
			return Wrong(
				fmt.Errorf(
					"%s compares classes: a missing value of %s is a category or drops the record (missing: category or drop)",
					what,
					key.Variables[v].Name,
				),
			)
		}
	}
	return nil
}

// KnownClasses are all classes of a population, in its order, with the records of a sample of it, those dropped left out; of gives the
// class of each of the sample's, -1 for one that is dropped. Both tables are of the same key.
func KnownClasses(ctx context.Context, sample, population *contingency.Table, policies []uniques.Policy) (classes []attack.Class, of []int, err error) {
	people, records := population.Keep(operators.Dropping(policies)), sample.Keep(operators.Dropping(policies))
	if records.Records > people.Records {
		return nil, nil, schemas.Contradiction(
			"population",
			"",
			"the sample has %d records, the population %d: a sample is part of its population",
			records.Records,
			people.Records,
		)
	}
	match, err := contingency.Match(ctx, sample, population)
	if err != nil {
		return nil, nil, err
	}
	number := make([]int, population.Classes())
	for i := range number {
		if number[i] = -1; people.Has(i) {
			number[i] = len(classes)
			classes = append(classes, attack.Class{Population: population.Count(i)})
		}
	}
	of = make([]int, sample.Classes())
	var unknown, large []int
	for i, c := range match {
		of[i] = -1
		switch {
		case !records.Has(i):
		case c < 0:
			unknown = append(unknown, i)
		default:
			of[i] = number[c]
			classes[of[i]].Sample = sample.Count(i)
			if sample.Count(i) > population.Count(int(c)) {
				large = append(large, i)
			}
		}
	}
	switch {
	case len(unknown) > 0:
		return nil, nil, schemas.Contradiction(
			"population",
			"",
			"%d of the sample's %d key combinations are not in the population, such as %s: the sample is not of this population, or the two files code their values "+
				"differently",
			len(unknown),
			sample.Classes(),
			ClassText(sample, unknown[0]),
		)
	case len(large) > 0:
		return nil, nil, schemas.Contradiction(
			"population",
			"",
			"of %d key combinations the sample has more records than the population people, such as %s: the sample is not of this population",
			len(large),
			ClassText(sample, large[0]),
		)
	}
	return classes, of, nil
}

// ClassText names a class by its values.
func ClassText(t *contingency.Table, class int) string {
	words := make([]string, len(t.Variables))
	for v, variable := range t.Variables {
		value := "missing"
		if c := Category(variable, t.Code(class, v)); c != nil {
			value = *c
		}
		words[v] = variable.Name + " = " + value
	}
	return strings.Join(words, ", ")
}

// WithSource is the spec over other files.
func WithSource(spec *schemas.Spec, paths []string) *schemas.Spec {
	other := *spec
	other.Source = schemas.Source{Path: paths}
	other.Operators = slices.Clone(spec.Operators)
	return &other
}

// Category is the text of a code; nil for a missing value.
func Category(v contingency.Variable, code uint32) *string {
	if code == v.Missing() {
		return nil
	}
	return &v.Categories[code]
}
