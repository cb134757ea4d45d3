package kanonymity

import "microrisk/schemas"

// A Summary is kanonymity's part of the summary.
type Summary struct {
	KeySummary        *schemas.KeySummary `json:"key,omitempty"`
	Records           int64               `json:"records"` // not dropped
	Dropped           int64               `json:"dropped"` // chosen, and left out for a missing value
	K                 int64               `json:"k"`
	Smallest          *int64              `json:"smallest_class"` // null without records
	Violations        int64               `json:"violations"`     // records whose key fewer than k have
	ViolationPercent  float64             `json:"violation_percent"`
	Combinations      int64               `json:"combinations"` // looked at, the whole key or those of a size
	CombinationsSizes []CombinationsSize  `json:"sizes,omitempty"`
}

// A CombinationsSize has the records for which a smallest combination that fewer than k share is of this size.
type CombinationsSize struct {
	Size    int   `json:"size"`
	Records int64 `json:"records"`
}

// Key is a Measured's.
func (k *Summary) Key() *schemas.KeySummary { return k.KeySummary }

// LeftOut is a Measured's.
func (k *Summary) LeftOut() int64 { return k.Dropped }

// Counted is a Measured's.
func (k *Summary) Counted() int64 { return k.Records }

// WithoutKey is a Measured's.
func (k *Summary) WithoutKey() schemas.Measured {
	alone := *k
	alone.KeySummary = nil
	return &alone
}

// Sampled is a Measured's.
func (k *Summary) Sampled() (fraction, population *float64) { return nil, nil }

// Figures is a Measured's.
func (k *Summary) Figures() map[string]float64 {
	return map[string]float64{Limit: float64(k.Violations)}
}

// Short is a Measured's.
func (k *Summary) Short(int) schemas.Measured { return k }
