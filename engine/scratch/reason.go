package scratch

import (
	"errors"
	"os"
	"syscall"
)

// Reason is what was wrong with a file, without its path: whoever tells it knows what the file is called, and this one may have a name
// for the time being. A full disk is told in the same words everywhere.
func Reason(err error) error {
	var path *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fullError{err}
	}
	return err
}

type fullError struct{ error }

func (fullError) Error() string   { return "the disk is full" }
func (e fullError) Unwrap() error { return e.error }
