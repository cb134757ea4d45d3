package operators

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/schemas"
)

// Suda annotates each record with its minimal sample uniques' score.
type Suda struct {
	Config   schemas.Suda
	Key      schemas.Key       // the key to use
	Shared   bool              // Key is the pipeline's own key: sample_frequency is written without a prefix
	Sampling *schemas.Sampling // nil: nothing is known, no DIS
}

// Bind is an Operator's.
func (s Suda) Bind(in *arrow.Schema) (*Plan, error) { return nil, errors.New("suda: unfinished") }
