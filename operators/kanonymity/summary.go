package kanonymity

import "microrisk/schemas"

// A Summary is kanonymity's part of the summary.
type Summary struct {
	schemas.MeasuredKey
	schemas.MeasuredRecords
	K                 int64              `json:"k"`
	Smallest          *int64             `json:"smallest_class"` // null without records
	Violations        int64              `json:"violations"`     // records whose key fewer than k have
	ViolationPercent  float64            `json:"violation_percent"`
	Combinations      int64              `json:"combinations"` // looked at, the whole key or those of a size
	CombinationsSizes []CombinationsSize `json:"sizes,omitempty"`
}

// A CombinationsSize has the records for which a smallest combination that fewer than k share is of this size.
type CombinationsSize struct {
	Size    int   `json:"size"`
	Records int64 `json:"records"`
}

// Figures is a Measured's.
func (k *Summary) Figures() map[string]float64 {
	return map[string]float64{Limit: float64(k.Violations)}
}
