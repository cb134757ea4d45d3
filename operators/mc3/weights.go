package mc3

import (
	"fmt"

	"microrisk/engine/contingency"
)

// weightSpread is the least and the largest mean weight of the classes of a table that are not dropped.
func weightSpread(t *contingency.Table, kept *contingency.Kept) (low, high float64, err error) {
	for i := range t.Classes() {
		if !kept.Has(i) {
			continue
		}
		w := t.Sum(i, 0) / float64(t.Count(i))
		if low == 0 || w < low {
			low = w
		}
		high = max(high, w)
	}
	return low, high, t.Err()
}

// evenWeights is by which factor weights may differ that are taken as one.
const evenWeights = 1.01

// oneFraction refuses weights that differ: the models have one law of the sample and one sampling fraction, and how many people are
// in a combination that the sample lacks cannot be told from the weights of those that it has.
func (b *bound) oneFraction(t *contingency.Table) error {
	if b.Sampling.Weight == "" || t.Classes() == 0 {
		return nil
	}
	low, high, err := weightSpread(t, t.Keep(b.drop))
	if err != nil || high <= evenWeights*low {
		return err
	}
	return fmt.Errorf(
		"the weights %q differ, from %.4g to %.4g people a record by key combination: models of the population take one sampling fraction for all. "+
			"If the design can be ignored, give sampling as population_size or fraction; individual takes the weights of each combination",
		b.Sampling.Weight,
		low,
		high,
	)
}
