package frequency

import "microrisk/schemas"

// A Summary is frequency's part of the summary.
type Summary struct {
	schemas.MeasuredKey
	schemas.MeasuredRecords
}

// Figures is a Measured's.
func (f *Summary) Figures() map[string]float64 { return nil }
