package scratch

import (
	"os"
	"sync/atomic"
)

var pinned atomic.Pointer[string]

// TempDir is the folder for temporary files: the one that Pin holds, or the system's.
func TempDir() string {
	if p := pinned.Load(); p != nil {
		return *p
	}
	return os.TempDir()
}

// Pin holds the folder for temporary files as it is, while TMPDIR is another one for the sake of a library.
func Pin() (free func()) {
	dir := TempDir()
	pinned.Store(&dir)
	return func() { pinned.Store(nil) }
}
