package ldiversity

import "microrisk/schemas"

// A Summary is ldiversity's part of the summary.
type Summary struct {
	schemas.MeasuredKey
	schemas.MeasuredRecords
	L         int64              `json:"l"`
	C         float64            `json:"c"`
	Sensitive []SensitiveSummary `json:"sensitive"`
}

// A SensitiveSummary tells of a sensitive variable. Least figures are null without records.
type SensitiveSummary struct {
	Name           string   `json:"name"`
	Missing        int64    `json:"missing"` // records without a value
	Policy         string   `json:"policy"`  // ignore or category
	LeastDistinct  *int64   `json:"least_distinct"`
	LeastEntropy   *float64 `json:"least_entropy"`
	LeastRecursive *int64   `json:"least_recursive"`
	BelowDistinct  int64    `json:"below_distinct"`  // records whose class has fewer than l different values
	BelowEntropy   int64    `json:"below_entropy"`   // whose class is not entropy l-diverse
	BelowRecursive int64    `json:"below_recursive"` // whose class is not recursive (c, l)-diverse
}

// Figures is a Measured's.
func (l *Summary) Figures() map[string]float64 {
	most := 0.0
	for _, s := range l.Sensitive {
		most = max(most, float64(s.BelowDistinct))
	}
	return map[string]float64{Limit: most}
}
