package operators

import (
	"errors"
	"strings"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A Located part tells its place by fields, for errors.
type Located interface{ Location() schemas.Location }

// inPart says in which part an error is.
func inPart(part Part, err error) error {
	at := schemas.Location{File: part.String()}
	if l, ok := part.(Located); ok {
		at = l.Location()
	}
	return &schemas.InputError{Location: at, Err: err}
}

// An OperatorError says which operator an error is about.
type OperatorError struct {
	Operator string // its name in the output's columns
	Err      error
}

// Error has the operator before what was wrong, unless that begins with it.
func (e *OperatorError) Error() string { return e.Worded(advice.OfSpec) }

// Unwrap gives what was wrong.
func (e *OperatorError) Unwrap() error { return e.Err }

// Worded is the text, its advice as say words it.
func (e *OperatorError) Worded(say func(part any) string) string {
	text, before := say(e.Err), e.Operator+": "
	if strings.HasPrefix(text, before) {
		return text
	}
	return before + text
}

// named says which operator an error is about.
func (p *Plan) named(err error) error {
	var other *OperatorError
	if p == nil || p.Name == "" || err == nil || errors.As(err, &other) {
		return err
	}
	return &OperatorError{p.Name, err}
}
