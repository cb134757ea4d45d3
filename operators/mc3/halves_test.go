package mc3_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/schemas"
)

// Half of a clumpy sample tells that models without effects of cells overstate the risk, and that those with them do not.
func TestHalvesTellOfEffects(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	var off, without float64 // in standard errors, means over samples
	const samples = 12
	for seed := range uint64(samples) {
		rows, _, size := clumpy(seed, 1.2, .15)
		for _, effects := range []string{mc3.EffectsLognormal, mc3.EffectsNone} {
			c := withEffects()
			c.Effects = effects
			_, report, err := mc3Rows(t, c, schemas.Sampling{PopulationSize: int64(size)}, operators.Options{Seed: seed}, rows, nil)
			require.NoError(t, err)
			h := report.Operators[0].Summary.(*mc3.Summary).Halves
			require.NotNil(t, h)
			var records int64
			sum := 0.0
			for _, b := range h.Bins {
				records += b.Records
				sum += float64(b.Records) * b.Observed
			}
			require.Equal(t, h.Uniques, records)
			require.InDelta(t, h.CMSU.Observed, sum/float64(records), 1e-12)
			require.LessOrEqual(t, h.PUSU.Observed, h.CMSU.Observed)
			by := (h.PUSU.Estimate - h.PUSU.Observed) / h.PUSU.SE / samples
			if effects == mc3.EffectsNone {
				without += by
			} else {
				off += by
			}
		}
	}
	require.InDelta(t, 0, off, .9)
	require.Greater(t, without, off+1, "without effects, of the same samples")
}

// Without a model of this sample, or anything that is unknown, there is nothing to try.
func TestNoHalves(t *testing.T) {
	rows, _, _ := clumpy(1, 1, .05)
	for name, c := range map[string]mc3.Config{
		"draws":    {Estimator: "montecarlo", Search: "fixed", Graph: "independence"},
		"anchored": {Anchor: mc3.AnchorDIS, Search: "fixed", Graph: "independence"},
	} {
		_, report, err := mc3Rows(t, c, schemas.Sampling{Fraction: .05}, operators.Options{}, rows, nil)
		require.NoError(t, err, name)
		require.Nil(t, report.Operators[0].Summary.(*mc3.Summary).Halves, name)
	}
	for name, rows := range map[string][]string{"one record": {"x 1"}, "nobody alone": {"x 1", "x 1", "x 1", "x 1", "x 1", "x 1", "x 1", "x 1", "x 1", "x 1"}} {
		_, report, err := mc3Rows(t, withEffects(), schemas.Sampling{Fraction: .05}, operators.Options{}, rows, nil)
		require.NoError(t, err, name)
		h := report.Operators[0].Summary.(*mc3.Summary).Halves
		require.True(t, h == nil || h.Uniques > 0, name)
	}
}
