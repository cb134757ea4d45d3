package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"microrisk/engine/scratch"
)

// A Local is a file of this machine that is being written, beside its place, without a name where the system has such files: it appears
// whole or not at all. Until then only this user can read it.
type Local struct {
	file   *os.File
	path   string // as it was asked for
	target string // with links followed
	temp   string // "" while the file has no name
	mode   fs.FileMode
	whole  bool // complete, but for its place
	done   bool
}

// CreateLocal starts a file of this machine that will be at path; if that is a link, where the link leads. The folder must exist; a folder at path is an
// error. The file will have the mode of the one that it replaces; a new one can be read by no more than those who can read all of
// the inputs, files that its contents come from.
func CreateLocal(path string, inputs ...string) (*Local, error) {
	target, err := Target(path)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, scratch.Reason(err))
	}
	f := &Local{path: path, target: target}
	dir := filepath.Dir(target)
	if f.mode, err = modeOf(target, inputs); err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, placeReason(err, dir))
	}
	if f.file, f.temp, err = scratch.Open(dir); err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, placeReason(err, dir))
	}
	return f, nil
}

// modeOf is the mode that a file will have.
func modeOf(target string, inputs []string) (fs.FileMode, error) {
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return 0, errors.New("it is a folder")
	case err == nil && !info.Mode().IsRegular():
		return 0, errors.New("it is not a regular file")
	case err == nil:
		return info.Mode().Perm(), nil
	}
	mode, err := scratch.DefaultMode(filepath.Dir(target))
	if err != nil {
		return 0, err
	}
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && info.Mode().IsRegular() {
			mode &= info.Mode().Perm() | 0o600
		}
	}
	return mode, nil
}

// mostLinks is how many links a path may lead through.
const mostLinks = 40

// Target is where a file at path will be: links are followed, the last one even if nothing is there.
func Target(path string) (string, error) {
	for range mostLinks {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link: what is wrong with it is told when it is opened
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("it leads through too many links")
}

// placeReason says what is wrong with the folder of a file.
func placeReason(err error, dir string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s does not exist", dir)
	}
	return scratch.Reason(err)
}

// Write is an Output's; its errors do not have the temporary name.
func (f *Local) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	if err != nil {
		err = scratch.Reason(err)
	}
	return n, err
}

// ReadAt reads what was written.
func (f *Local) ReadAt(p []byte, at int64) (int, error) { return f.file.ReadAt(p, at) }

// Name is where the file will be, as it was asked for.
func (f *Local) Name() string { return f.path }

// Complete is a Completer's.
func (f *Local) Complete() error {
	if f.whole || f.done {
		return nil
	}
	if err := errors.Join(f.file.Sync(), f.name(), f.file.Close()); err != nil {
		return fmt.Errorf("completing %s: %w", f.path, scratch.Reason(err))
	}
	f.whole = true
	return nil
}

// Commit completes the file and puts it in place.
func (f *Local) Commit() error {
	if f.done {
		return nil
	}
	if err := f.Complete(); err != nil {
		return err
	}
	// Where modes cannot be changed the file stays this user's.
	_ = os.Chmod(f.temp, f.mode)
	if err := os.Rename(f.temp, f.target); err != nil {
		return fmt.Errorf("putting %s in place: %w", f.path, scratch.Reason(err))
	}
	f.done = true
	return nil
}

// name gives a file without a name a hidden one: a name that is taken cannot be given at once.
func (f *Local) name() error {
	if f.temp != "" {
		return nil
	}
	temp := filepath.Join(filepath.Dir(f.target), scratch.Name())
	err := scratch.Link(f.file, temp)
	if err == nil {
		f.temp = temp
	}
	return err
}

// Abort removes what was written. After Commit it does nothing.
func (f *Local) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.file.Close()
	if f.temp != "" {
		os.Remove(f.temp)
	}
}
