package operators

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// RequestWeight adds the sampling weights up in the first table of a plan, that of the key, if there is such a column.
func RequestWeight(plan *Plan, in *arrow.Schema, s *schemas.Sampling) error {
	if s == nil || s.Weight == "" {
		return nil
	}
	f, err := LookUp(plan.Name, in, s.Weight)
	if err != nil {
		return err
	}
	if !IsNumber(ValueType(f.Type)) {
		return fmt.Errorf("%s: the weight %q is of type %s: a weight must be a number", plan.Name, f.Name, f.Type)
	}
	plan.Tables[0].Sums = []contingency.Sum{{Name: f.Name, Weight: true}}
	return nil
}

// A SampleSize is what is known of the records that an operator looks at (chosen, and not dropped) as a sample. Its population is
// theirs: fraction = records / population.
type SampleSize struct {
	Records    int64
	Fraction   float64 // 0 if nothing is known
	Population float64 // 0 if nothing is known
}

// Unsampled is u, the number of population members besides the records.
func (z SampleSize) Unsampled() float64 {
	if z.Records == 0 {
		return 0
	}
	return z.Population - float64(z.Records)
}

// SampleOf is the sample of the records of a key's table; drop tells the key variables without a value of which a record is left out.
func SampleOf(s *schemas.Sampling, t *contingency.Table, drop []bool) (SampleSize, error) {
	kept := t.Keep(drop)
	z := SampleSize{Records: kept.Records}
	n := float64(z.Records)
	switch {
	case s == nil:
		return z, t.Err()
	case z.Records == 0:
		if z.Fraction = s.Fraction; s.Fraction == 0 {
			z.Population = float64(s.PopulationSize)
		}
		return z, t.Err()
	case s.Weight != "":
		total := t.SumOver(0, kept.Has)
		if err := t.Err(); err != nil {
			return z, err
		}
		if total < n {
			return z, schemas.Contradiction(
				"weight",
				s.Weight,
				"the weights %q add up to %g, less than the %d records: sampling weights say how many people a record stands for",
				s.Weight,
				total,
				z.Records,
			)
		}
		z.Fraction, z.Population = n/total, total
	case s.PopulationSize != 0:
		if s.PopulationSize < z.Records {
			return z, schemas.Contradiction(
				"population_size",
				"",
				"the population size %d is less than the %d records of the sample",
				s.PopulationSize,
				z.Records,
			)
		}
		z.Fraction, z.Population = n/float64(s.PopulationSize), float64(s.PopulationSize)
	case !(s.Fraction > 0 && s.Fraction <= 1):
		return z, fmt.Errorf("the sampling fraction is %g: it must be above 0 and at most 1", s.Fraction)
	default:
		z.Fraction, z.Population = s.Fraction, n/s.Fraction
	}
	return z, t.Err()
}

// Sampling is what to give where nothing is said of how the records were drawn.
var Sampling = advice.Advice{Spec: "sampling (fraction, population_size or weight)", Flags: "--fraction, --population-size or --weight"}
