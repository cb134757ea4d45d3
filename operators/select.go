package operators

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/schemas"
)

// Select chooses rows and columns.
type Select struct{ Config schemas.Select }

// Bind is an Operator's.
func (s Select) Bind(in *arrow.Schema) (*Plan, error) { return nil, errors.New("select: unfinished") }
