package perturb

import (
	"fmt"
	"math"
)

// Check finds what is wrong with the law of a true count: outcomes that are negative or do not ascend, probabilities that are none or do not
// sum to 1 to within 1e-9. Laws of this package are right.
func Check(k Kernel, i int64) error {
	if _, is := k.(normal); is {
		return nil
	}
	sum, before := 0.0, int64(-1)
	for _, o := range k.Outcomes(i) {
		switch {
		case o.Count <= before:
			return fmt.Errorf("%s: a count of %d becomes %d after %d: outcomes ascend from 0", k.Name(), i, o.Count, before)
		case !(o.P > 0 && o.P <= 1+1e-9):
			return fmt.Errorf("%s: a count of %d becomes %d with probability %v: it must be above 0 and at most 1", k.Name(), i, o.Count, o.P)
		}
		before = o.Count
		sum += o.P
	}
	if math.Abs(sum-1) > 1e-9 {
		return fmt.Errorf("%s: the probabilities of a count of %d sum to %v: they must sum to 1", k.Name(), i, sum)
	}
	return nil
}
