package schemas

import (
	"fmt"
	"strings"

	"microrisk/schemas/advice"
)

// A Location is a part of an input.
type Location struct {
	File   string // "" where who wraps an error knows it
	Unit   string // what Number counts, such as row group; "" for the whole file
	Number int64  // from 0; lines from 1
}

// String is the location in words: "census.parquet, row group 3".
func (l Location) String() string {
	switch {
	case l.Unit == "":
		return l.File
	case l.File == "":
		return fmt.Sprintf("%s %d", l.Unit, l.Number)
	}
	return fmt.Sprintf("%s, %s %d", l.File, l.Unit, l.Number)
}

// An InputError says where in an input something went wrong. One that wraps another is about what is around it.
type InputError struct {
	Location
	Column *string // nil: it is about no column
	Named  bool    // the column, by Err: its text begins with what it is about
	Doing  string  // what could not be done, before the location: "cannot read"
	Err    error
}

// Error has the location before what was wrong.
func (e *InputError) Error() string { return e.Worded(advice.OfSpec) }

// Unwrap gives what was wrong.
func (e *InputError) Unwrap() error { return e.Err }

// Worded is the text, its advice as say words it.
func (e *InputError) Worded(say func(part any) string) string {
	at := e.Location.String()
	if e.Column != nil && !e.Named {
		at = strings.TrimPrefix(fmt.Sprintf("%s, column %q", at, *e.Column), ", ")
	}
	if e.Doing != "" {
		at = e.Doing + " " + at
	}
	if at == "" {
		return say(e.Err)
	}
	return at + ": " + say(e.Err)
}

// InColumn says in which column of a location something went wrong.
func InColumn(at Location, column string, err error) error {
	return &InputError{Location: at, Column: &column, Err: err}
}

// OfColumn says which column an error is about that names it in its own words.
func OfColumn(column string, err error) error {
	return &InputError{Column: &column, Named: true, Err: err}
}

// A ContradictionError says that what was said of the data, or what was published of it, and the data disagree.
type ContradictionError struct {
	Said   string // of the spec's fields or inputs, the one that disagrees: levels, impossible, published, population, ...
	Column string // of which it was said; "" for none
	Err    error  // how they disagree
}

// Error says how they disagree.
func (e *ContradictionError) Error() string { return e.Err.Error() }

// Unwrap gives how they disagree.
func (e *ContradictionError) Unwrap() error { return e.Err }

// Contradiction makes a ContradictionError as fmt.Errorf does.
func Contradiction(said, column, format string, args ...any) error {
	return &ContradictionError{said, column, advice.Errorf(format, args...)}
}
