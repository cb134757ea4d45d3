package attribution

import "microrisk/schemas"

// Where the chance of a correct match came from.
const (
	MatchColumn     = "column"
	MatchIndividual = "individual" // Benedetti and Franconi's E[1/F]
	MatchPopulation = "population" // 1/f: all people are in the file
)

// A Summary is the operator's part of the summary.
type Summary struct {
	schemas.MeasuredKey
	schemas.MeasuredRecords
	Fraction       *float64           `json:"sampling_fraction"`
	PopulationSize *float64           `json:"population_size"`
	Match          string             `json:"match"` // one of the words above
	MatchFrom      string             `json:"match_column,omitempty"`
	Values         string             `json:"values"` // class or model
	Smoothing      float64            `json:"smoothing"`
	Sensitive      []SensitiveSummary `json:"sensitive"`
}

// A SensitiveSummary tells of a sensitive variable. Figures are of the records that have a value; null without any.
type SensitiveSummary struct {
	Name       string      `json:"name"`
	Missing    int64       `json:"missing"`               // records without a value
	Policy     string      `json:"policy"`                // ignore or category
	Expected   float64     `json:"expected_attributions"` // records whose value is learnt: the chances, summed
	Mean       *float64    `json:"mean"`
	Prior      *float64    `json:"mean_prior"`
	Gain       *float64    `json:"mean_gain"`
	Greatest   *float64    `json:"greatest"`
	Models     int         `json:"models,omitempty"` // of the key and the variable, if any were fitted
	Thresholds []Threshold `json:"thresholds"`
}

// A Threshold counts the records whose chance is above it.
type Threshold struct {
	Above   float64 `json:"above"`
	Records int64   `json:"records"`
}

// Sampled is a Sampled part's.
func (s *Summary) Sampled() (fraction, population *float64) { return s.Fraction, s.PopulationSize }

// Figures is a Measured's.
func (s *Summary) Figures() map[string]float64 {
	greatest, expected := 0.0, 0.0
	for _, x := range s.Sensitive {
		if x.Greatest != nil {
			greatest = max(greatest, *x.Greatest)
		}
		expected = max(expected, x.Expected)
	}
	return map[string]float64{LimitGreatest: greatest, LimitExpected: expected}
}
