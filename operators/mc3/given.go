package mc3

import (
	"context"

	"microrisk/engine/contingency"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// Given is the chance of each cell's value of the last variable given its others, as other cells tell: none of the records that differ from the
// cell in that variable alone are counted. It is averaged over the models.
func (r *Rates) Given(ctx context.Context) ([]float64, error) {
	quiet := r.options
	quiet.Progress = nil
	return r.law.Given(ctx, r.Data, quiet)
}

// EvenWeights refuses a table whose classes have mean weights that differ: models count records.
func EvenWeights(t *contingency.Table, kept *contingency.Kept, weight string, instead advice.Advice) error {
	low, high, err := weightSpread(t, kept)
	if err != nil || high <= evenWeights*low {
		return err
	}
	return advice.Errorf("the weights %q differ, from %.4g to %.4g people a record by key combination, and models count records: take %s", weight, low, high, instead)
}

// Fitting are the fields that say how models are found, without flags: for operators that make something else of them.
func (c *Config) Fitting() schemas.Table {
	t := c.Fields().Only("prior_precision", "search", "weights", "edge_penalty", "moves", "schedule", "directions", "razor", "graph", "burn_in",
		"iterations", "thinning", "chains", "temperatures", "restarts", "draws", "window")
	for i := range t.Fields {
		t.Fields[i].Flag = nil
	}
	return t
}
