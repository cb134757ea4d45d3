package protect

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"microrisk/operators/protectrecords"
	"microrisk/operators/report"
)

// An Outcome is what a protection found.
type Outcome struct {
	Version int      `json:"version"`
	Input   []string `json:"input"`
	*protectrecords.Outcome
	Frontier []protectrecords.Point `json:"frontier,omitempty"`
	Released *Released              `json:"released,omitempty"` // judged again, from the file
	Cost     *Cost                  `json:"cost,omitempty"`     // of the release that was written
	Implied  []Implied              `json:"implied"`            // columns that give back what was made coarser or hidden
	Unlooked []string               `json:"not_looked_at,omitempty"`
	Release  string                 `json:"release,omitempty"` // the spec
}

// Released is what is told of the release from its file.
type Released struct {
	Path          string   `json:"path"`
	Records       int64    `json:"records"`
	Classes       int64    `json:"classes"`
	SampleUniques int64    `json:"sample_uniques"`
	Below         int64    `json:"records_below_k"`
	Refitted      *float64 `json:"expected_reidentifications,omitempty"` // by models fitted to the release
	RefittedPUSU  *float64 `json:"pu_su,omitempty"`
	Greatest      *float64 `json:"greatest_correct_match,omitempty"`
	Met           bool     `json:"met"`
	Missed        []string `json:"missed,omitempty"` // targets that the release does not meet
}

// WriteTo writes the outcome as JSON, without folders.
func (o *Outcome) WriteTo(w io.Writer) (int64, error) {
	bare := *o
	bare.Input = nil
	for _, path := range o.Input {
		bare.Input = append(bare.Input, filepath.Base(path))
	}
	text, err := json.MarshalIndent(&bare, "", "  ")
	if err != nil {
		return 0, err
	}
	n, err := fmt.Fprintf(w, "%s\n", text)
	return int64(n), err
}

// Sparing tells how much less than the best others could lose.
func (o *Outcome) Sparing() string {
	switch {
	case o.Gap == nil:
		return "how much less others could lose is not known"
	case *o.Gap <= 0:
		return "none could lose less"
	}
	less := 100 * *o.Gap / (1 + *o.Gap)
	if less < 0.05 {
		return "others could lose less than 0.05 % less"
	}
	return fmt.Sprintf("others could lose %s less at most", report.Percent(less))
}
