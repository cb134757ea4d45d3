package operators

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/schemas"
)

// Recode makes a column from another one, on its distinct values.
type Recode struct{ Config schemas.Recode }

// Bind is an Operator's.
func (r Recode) Bind(in *arrow.Schema) (*Plan, error) { return nil, errors.New("recode: unfinished") }
