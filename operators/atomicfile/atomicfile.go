// Package atomicfile writes files that appear whole or not at all: each is written under another name beside its place and
// renamed when it is complete.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A File is being written.
type File struct {
	*os.File
	path string
	done bool
}

// Create starts a file that will be at path. The folder must exist; a folder at path is an error.
func Create(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, fmt.Errorf("cannot write %s: it is a folder", path)
		}
		return nil, fmt.Errorf("cannot write %s: it is not a regular file", path)
	}
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	for i := 0; ; i++ {
		temp := filepath.Join(dir, fmt.Sprintf(".%s.partial-%d-%d", name, os.Getpid(), i))
		f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case err == nil:
			return &File{File: f, path: path}, nil
		case errors.Is(err, fs.ErrExist) && i < 1000:
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("cannot write %s: the folder %s does not exist", path, dir)
		default:
			return nil, fmt.Errorf("cannot write %s: %w", path, reason(err))
		}
	}
}

// Write is an os.File's; its errors do not have the temporary name.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if err != nil {
		err = reason(err)
	}
	return n, err
}

// Path is where the file will be.
func (f *File) Path() string { return f.path }

// Commit completes the files and puts them in place; the first takes its place only when all are complete. After an error all
// that are not in place are removed.
func Commit(files ...*File) error {
	for _, f := range files {
		if f.done {
			continue
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			abort(files)
			return fmt.Errorf("completing %s: %w", f.path, reason(err))
		}
	}
	for _, f := range files {
		if f.done {
			continue
		}
		if err := os.Rename(f.Name(), f.path); err != nil {
			abort(files)
			return fmt.Errorf("putting %s in place: %w", f.path, reason(err))
		}
		f.done = true
	}
	return nil
}

func abort(files []*File) {
	for _, f := range files {
		f.Abort()
	}
}

// Commit completes the file and puts it in place.
func (f *File) Commit() error { return Commit(f) }

// Abort removes what was written. After Commit it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.Close()
	os.Remove(f.Name())
}

// reason leaves the temporary name out of an error about it.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
