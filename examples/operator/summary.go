package main

import "microrisk/schemas"

// A Summary is the operator's part of the summary.
type Summary struct {
	schemas.MeasuredKey
	schemas.MeasuredRecords
	Rare int64 `json:"rare"` // records whose key is rare
}

// Figures are what limits are compared with.
func (s *Summary) Figures() map[string]float64 { return map[string]float64{limit: float64(s.Rare)} }
