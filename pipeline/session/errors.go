package session

import (
	"errors"

	"microrisk/operators"
	"microrisk/schemas"
)

// A SpecError says that a run was described wrongly: the spec, the flags, or names in them that the data does not have.
type SpecError struct{ Err error }

func (e *SpecError) Error() string { return e.Err.Error() }
func (e *SpecError) Unwrap() error { return e.Err }

// IsSpec tells whether an error is about the description of a run and not about running it.
func IsSpec(err error) bool {
	var mine *SpecError
	var theirs *schemas.SpecError
	var unfound *operators.UnfoundError
	return errors.As(err, &mine) || errors.As(err, &theirs) || errors.As(err, &unfound)
}

// Wrong makes an error one about the description of a run; nil stays nil.
func Wrong(err error) error {
	if err == nil {
		return nil
	}
	return &SpecError{err}
}
