package schemas

import "encoding/json"

// A Summary is the document that a run writes beside its output, and without Run into the output's footer.
type Summary struct {
	SchemaVersion int             `json:"schema_version"`
	Program       string          `json:"program,omitempty"` // and its version
	Input         []string        `json:"input"`
	Rows          int64           `json:"rows"`
	Key           *KeySummary     `json:"key,omitempty"`
	Sampling      SamplingSummary `json:"sampling"`
	Operators     map[string]any  `json:"operators"`
	Seed          uint64          `json:"seed"`
	Warnings      []string        `json:"warnings"`
	Limits        []LimitSummary  `json:"limits,omitempty"` // figures that were compared with a limit
	Spec          json.RawMessage `json:"spec,omitempty"`   // as it was run
	Run           *RunSummary     `json:"run,omitempty"`
}

// A LimitSummary is a figure that was compared with its limit.
type LimitSummary struct {
	Limit    string  `json:"limit"`
	Operator string  `json:"operator,omitempty"` // prefix of the one whose figure it is; left out for the key's
	Value    float64 `json:"value"`
	Allowed  float64 `json:"allowed"`
	Of       string  `json:"of,omitempty"`
	Records  int64   `json:"records"` // that the figure is of
	Dropped  int64   `json:"dropped"` // records that were asked about and are left out
	Breached bool    `json:"breached"`
}

// A KeySummary says what the key's contingency table looks like.
type KeySummary struct {
	Variables     []VariableSummary `json:"variables"`
	Classes       int64             `json:"classes"`
	SampleUniques int64             `json:"sample_uniques"`
	Doubles       float64           `json:"doubles"` // records with frequency 2, halved
}

// A VariableSummary says what a key variable looks like in the records counted.
type VariableSummary struct {
	Name         string   `json:"name"`
	Categories   int64    `json:"categories"` // observed or declared, missing not counted
	Missing      int64    `json:"missing"`    // records without a value, those that are dropped for it included
	Policy       string   `json:"policy"`
	MissingCodes []string `json:"missing_codes,omitempty"`
}

// A SamplingSummary is what is known of the sample; null where it is not.
type SamplingSummary struct {
	Fraction       *float64 `json:"fraction"`
	PopulationSize *float64 `json:"population_size"`
	Weight         string   `json:"weight,omitempty"`
}

// A RunSummary tells how a run went; it is the only part that differs between two runs of the same spec.
type RunSummary struct {
	ElapsedSeconds  float64 `json:"elapsed_seconds"`
	PeakMemoryBytes int64   `json:"peak_memory_bytes"`
	SpilledBytes    int64   `json:"spilled_bytes"`
	Workers         int     `json:"workers"`
	MemoryLimit     int64   `json:"memory_limit"`
	Host            string  `json:"host,omitempty"` // only if it is asked for
}

// MarshalIndent is the document as it is written.
func (s *Summary) MarshalIndent() ([]byte, error) {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}
