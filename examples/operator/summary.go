package main

import "microrisk/schemas"

// A Summary is the operator's part of the summary.
type Summary struct {
	KeySummary *schemas.KeySummary `json:"key,omitempty"`
	Records    int64               `json:"records"`
	Dropped    int64               `json:"dropped"`
	Rare       int64               `json:"rare"` // records whose key is rare
}

// Key is a schemas.Measured's.
func (s *Summary) Key() *schemas.KeySummary { return s.KeySummary }

// Counted is a schemas.Judged's.
func (s *Summary) Counted() int64 { return s.Records }

// LeftOut is a schemas.Judged's.
func (s *Summary) LeftOut() int64 { return s.Dropped }

// Figures are what limits are compared with.
func (s *Summary) Figures() map[string]float64 { return map[string]float64{limit: float64(s.Rare)} }

// WithoutKey is a schemas.Measured's.
func (s *Summary) WithoutKey() schemas.Measured {
	alone := *s
	alone.KeySummary = nil
	return &alone
}

// Sampled is a schemas.Measured's.
func (s *Summary) Sampled() (fraction, population *float64) { return nil, nil }

// Short is a schemas.Measured's.
func (s *Summary) Short(int) schemas.Measured { return s }
