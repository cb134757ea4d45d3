package individual

import (
	"microrisk/operators/known"
	"microrisk/schemas"
)

// A Summary is individual's part of the summary.
type Summary struct {
	schemas.MeasuredKey
	schemas.MeasuredRecords
	Fraction            *float64          `json:"sampling_fraction"`
	PopulationSize      *float64          `json:"population_size"`
	Estimator           string            `json:"estimator"`
	Greatest            *float64          `json:"greatest_risk"` // null without records
	Reidentified        float64           `json:"expected_reidentifications"`
	ReidentifiedPercent float64           `json:"expected_reidentification_percent"`
	Household           *HouseholdSummary `json:"household,omitempty"`
	Known               *known.Summary    `json:"known_tables,omitempty"`
}

// A HouseholdSummary has the risk of households.
type HouseholdSummary struct {
	Households   int64   `json:"households"` // records without one are a household each
	Missing      int64   `json:"missing"`    // records without one
	Reidentified float64 `json:"expected_reidentifications"`
	Percent      float64 `json:"expected_reidentification_percent"`
}

// Sampled is a Sampled part's.
func (i *Summary) Sampled() (fraction, population *float64) {
	return i.Fraction, i.PopulationSize
}

// Figures is a Measured's.
func (i *Summary) Figures() map[string]float64 {
	return map[string]float64{schemas.LimitReidentifications: i.Reidentified}
}

// Estimates is an Estimating part's.
func (i *Summary) Estimates() []schemas.Estimate {
	return []schemas.Estimate{{Measure: schemas.LimitReidentifications, Value: &i.Reidentified}}
}
