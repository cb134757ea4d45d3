package operators

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/schemas"
)

// requestWeight adds the table with the sum of the sampling weights to a plan, if there is such a column.
func requestWeight(plan *Plan, in *arrow.Schema, s *schemas.Sampling) error {
	if s == nil || s.Weight == "" {
		return nil
	}
	f, err := lookUp(plan.Name, in, s.Weight)
	if err != nil {
		return err
	}
	if !isNumber(valueType(f.Type)) {
		return fmt.Errorf("%s: the weight %q is of type %s: a weight must be a number", plan.Name, f.Name, f.Type)
	}
	plan.Tables = append(plan.Tables, contingency.Request{Sums: []contingency.Sum{{Name: f.Name, Weight: true}}})
	return nil
}

// fractionOf is the sampling fraction of the records of the first of tables, 0 if nothing is known; the second has the sum of
// weights, if there are weights.
func fractionOf(s *schemas.Sampling, tables []*contingency.Table) (float64, error) {
	n := float64(tables[0].Records())
	switch {
	case s == nil:
		return 0, nil
	case n == 0:
		return s.Fraction, nil
	case s.Weight != "":
		total := tables[1].SumOver(0, nil)
		if total < n {
			return 0, fmt.Errorf("the weights %q add up to %g, less than the %d records: sampling weights say how many people a record stands for", s.Weight, total, tables[0].Records())
		}
		return n / total, nil
	case s.PopulationSize != 0:
		if float64(s.PopulationSize) < n {
			return 0, fmt.Errorf("the population size %d is less than the %d records of the sample", s.PopulationSize, tables[0].Records())
		}
		return n / float64(s.PopulationSize), nil
	}
	if !(s.Fraction > 0 && s.Fraction <= 1) {
		return 0, fmt.Errorf("the sampling fraction is %g: it must be above 0 and at most 1", s.Fraction)
	}
	return s.Fraction, nil
}

// unsampled is u, the number of population members that records (of the first of tables) stand for besides themselves.
func unsampled(s *schemas.Sampling, tables []*contingency.Table, fraction float64, records int64) float64 {
	all := tables[0].Records()
	population := float64(s.PopulationSize)
	if s.Weight != "" {
		population = tables[1].SumOver(0, nil)
	}
	switch {
	case all == 0 || records == 0:
		return 0
	case s.Fraction != 0:
		return float64(records) * (1 - fraction) / fraction
	case records == all:
		return population - float64(all)
	}
	return float64(records) * ((population - float64(all)) / float64(all))
}
