package frequency

import "microrisk/schemas"

// A Summary is frequency's part of the summary.
type Summary struct {
	KeySummary *schemas.KeySummary `json:"key,omitempty"` // only when it has a key of its own, or another missing policy
	Records    int64               `json:"records"`       // not dropped
	Dropped    int64               `json:"dropped"`       // chosen, and left out for a missing value
}

// Key is a Measured's.
func (f *Summary) Key() *schemas.KeySummary { return f.KeySummary }

// LeftOut is a Measured's.
func (f *Summary) LeftOut() int64 { return f.Dropped }

// Counted is a Measured's.
func (f *Summary) Counted() int64 { return f.Records }

// WithoutKey is a Measured's.
func (f *Summary) WithoutKey() schemas.Measured {
	return &Summary{Records: f.Records, Dropped: f.Dropped}
}

// Sampled is a Measured's.
func (f *Summary) Sampled() (fraction, population *float64) { return nil, nil }

// Figures is a Measured's.
func (f *Summary) Figures() map[string]float64 { return nil }

// Short is a Measured's.
func (f *Summary) Short(int) schemas.Measured { return f }
