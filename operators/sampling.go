package operators

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/schemas"
)

// requestWeight adds the sampling weights up in the first table of a plan, that of the key, if there is such a column.
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
	plan.Tables[0].Sums = []contingency.Sum{{Name: f.Name, Weight: true}}
	return nil
}

// A sampleSize is what is known of the records that an operator looks at (chosen, and not dropped) as a sample. Its population is
// theirs: fraction = records / population.
type sampleSize struct {
	records    int64
	fraction   float64 // 0 if nothing is known
	population float64 // 0 if nothing is known
}

// unsampled is u, the number of population members besides the records.
func (z sampleSize) unsampled() float64 {
	if z.records == 0 {
		return 0
	}
	return z.population - float64(z.records)
}

// sampleOf is the sample of the records of a key's table; drop tells the key variables without a value of which a record is left out.
func sampleOf(s *schemas.Sampling, t *contingency.Table, drop []bool) (sampleSize, error) {
	dropped := droppedClasses(t, drop)
	z := sampleSize{records: t.Records()}
	for i, d := range dropped {
		if d {
			z.records -= t.Count(i)
		}
	}
	n := float64(z.records)
	switch {
	case s == nil:
		return z, t.Err()
	case z.records == 0:
		if z.fraction = s.Fraction; s.Fraction == 0 {
			z.population = float64(s.PopulationSize)
		}
		return z, t.Err()
	case s.Weight != "":
		total := t.SumOver(0, func(i int) bool { return dropped == nil || !dropped[i] })
		if err := t.Err(); err != nil {
			return z, err
		}
		if total < n {
			return z, fmt.Errorf("the weights %q add up to %g, less than the %d records: sampling weights say how many people a record stands for", s.Weight, total, z.records)
		}
		z.fraction, z.population = n/total, total
	case s.PopulationSize != 0:
		if s.PopulationSize < z.records {
			return z, fmt.Errorf("the population size %d is less than the %d records of the sample", s.PopulationSize, z.records)
		}
		z.fraction, z.population = n/float64(s.PopulationSize), float64(s.PopulationSize)
	case !(s.Fraction > 0 && s.Fraction <= 1):
		return z, fmt.Errorf("the sampling fraction is %g: it must be above 0 and at most 1", s.Fraction)
	default:
		z.fraction, z.population = s.Fraction, n/s.Fraction
	}
	return z, t.Err()
}

// DroppedClasses are the classes of a table that missing-value policies, one a variable, leave out; nil if there are none.
func DroppedClasses(t *contingency.Table, policies []uniques.Policy) []bool {
	return droppedClasses(t, dropping(policies))
}

// droppedClasses are the classes of a table that lack a value of a variable in drop; nil if there are none.
func droppedClasses(t *contingency.Table, drop []bool) []bool {
	var dropped []bool
	codes := make([]uint32, min(t.Classes(), 4096))
	for v, d := range drop {
		if !d {
			continue
		}
		missing := t.Variables[v].Missing()
		for from := 0; from < t.Classes(); from += len(codes) {
			part := codes[:min(len(codes), t.Classes()-from)]
			t.Codes(v, from, part)
			for i, c := range part {
				if c != missing {
					continue
				}
				if dropped == nil {
					dropped = make([]bool, t.Classes())
				}
				dropped[from+i] = true
			}
		}
	}
	return dropped
}
