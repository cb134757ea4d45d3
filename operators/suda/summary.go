package suda

import "microrisk/schemas"

// A Summary is suda's part of the summary.
type Summary struct {
	schemas.MeasuredKey
	Score     string `json:"score"`
	MaxSize   int    `json:"max_size"` // the size limit, or the number of key variables
	Complete  bool   `json:"complete"` // the search went to full depth
	Threshold int64  `json:"threshold"`
	schemas.MeasuredRecords
	Fraction       *float64        `json:"sampling_fraction"` // that DIS was computed with
	PopulationSize *float64        `json:"population_size"`   // of the records: records / sampling_fraction
	DIS            *float64        `json:"dis"`               // null without a sampling fraction
	MSUs           int64           `json:"msus"`              // minimal sample uniques of all records
	MSUsBySize     []int64         `json:"msus_by_size"`      // of size 1, 2, ...
	SpecialUniques int64           `json:"special_uniques"`   // sample uniques with a minimal sample unique smaller than the key
	FileScore      float64         `json:"file_score"`
	FileIS         float64         `json:"file_is"`
	Variables      []Blame         `json:"variables"`  // in key order
	Categories     []CategoryBlame `json:"categories"` // in key order, then the order of values; those with a score above 0
}

// Blame is a variable's part of the file's score: the sum over the minimal sample uniques that contain it.
type Blame struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
	Share float64 `json:"share"` // percent of the file's score; shares may add to more than 100
}

// CategoryBlame is a category's part of the file's score.
type CategoryBlame struct {
	Variable    string  `json:"variable"`
	Category    *string `json:"category"` // null: missing
	Score       float64 `json:"score"`
	Share       float64 `json:"share"`        // percent of the file's score
	ShareWithin float64 `json:"share_within"` // percent of the variable's score
}

// Sampled is a Sampled part's.
func (s *Summary) Sampled() (fraction, population *float64) { return s.Fraction, s.PopulationSize }

// Figures is a Measured's.
func (s *Summary) Figures() map[string]float64 {
	m := map[string]float64{LimitSpecialUniques: float64(s.SpecialUniques), LimitMSUs: float64(s.MSUs), LimitFileScore: s.FileScore}
	if s.DIS != nil {
		m[LimitDIS] = *s.DIS
	}
	return m
}

// Short is a Lengthy part's.
func (s *Summary) Short(entries int) any {
	short := *s
	short.Categories = s.Categories[:min(len(s.Categories), entries)]
	return &short
}

// Estimates is an Estimating part's.
func (s *Summary) Estimates() []schemas.Estimate {
	return []schemas.Estimate{{Measure: "cm_um", Value: s.DIS}}
}
