//go:build !linux

package scratch

import (
	"errors"
	"io/fs"
	"os"
)

// unnamed is a file that has no name: there is none here.
func unnamed(string, fs.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }

// Link gives a file without a name one.
func Link(*os.File, string) error { return errors.ErrUnsupported }

// startOf is when a process started; 0 if that is not known.
func startOf(int) uint64 { return 0 }
