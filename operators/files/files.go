// Package files has what sources read and sinks write: an [Input] and an [Output], of which files of this machine are one implementation; a
// [Store] that was registered has others.
//
//	in, err := files.Open(ctx, "census.parquet")
//	source, err := parquetfile.NewSource(ctx, []files.Input{in}, parquetfile.Options{})
package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"microrisk/engine/scratch"
	"microrisk/schemas"
)

// An Input is a file, or what stands for one: bytes that do not change while they are read. It is safe for concurrent use.
type Input interface {
	io.ReaderAt
	io.Closer
	Size() int64  // bytes
	Name() string // in messages and in the summary
}

// An Output gets bytes from front to back. Nobody sees them before Commit.
type Output interface {
	io.Writer
	Name() string  // in messages
	Commit() error // what was written is there from now on; an output that has been committed stays as it is
	Abort()        // nothing is left of what was written; after Commit it does nothing
}

// A Completer is what an Output may also be: it can do all that may fail, and last, before any of several outputs is committed.
type Completer interface{ Complete() error }

// Commit completes the outputs and commits them; the first is committed only when all are complete, and first those that may fail yet, as
// they are no Completers. After an error all that are not committed are aborted.
func Commit(outputs ...Output) error {
	var first, last []Output
	for _, o := range outputs {
		c, ok := o.(Completer)
		if !ok {
			first = append(first, o)
			continue
		}
		if err := c.Complete(); err != nil {
			abort(outputs)
			return err
		}
		last = append(last, o)
	}
	for _, o := range append(first, last...) {
		if err := o.Commit(); err != nil {
			abort(outputs)
			return err
		}
	}
	return nil
}

func abort(outputs []Output) {
	for _, o := range outputs {
		o.Abort()
	}
}

// Held is an output that its writer completes, and that somebody else commits or aborts: for files that appear together.
func Held(o Output) Output { return held{o} }

type held struct{ Output }

// Complete is a Completer's.
func (h held) Complete() error {
	if c, ok := h.Output.(Completer); ok {
		return c.Complete()
	}
	return nil
}

// Commit completes the output.
func (h held) Commit() error { return h.Complete() }

// Abort leaves the output to who holds it.
func (held) Abort() {}

// ReadAt reads what was written, if the output can.
func (h held) ReadAt(p []byte, at int64) (int, error) {
	if r, ok := h.Output.(io.ReaderAt); ok {
		return r.ReadAt(p, at)
	}
	return 0, errors.ErrUnsupported
}

// CreateAll starts what will be at each path (see Create) for what comes from all inputs, or from one each where there are as many. An output
// that is an input, or the same twice, is an error.
func CreateAll(ctx context.Context, paths, inputs []string) ([]Output, error) {
	if err := Distinct(inputs, paths); err != nil {
		return nil, err
	}
	var outputs []Output
	for i, path := range paths {
		from := inputs
		if len(paths) == len(inputs) {
			from = inputs[i : i+1]
		}
		o, err := Create(ctx, path, from...)
		if err != nil {
			abort(outputs)
			return nil, err
		}
		outputs = append(outputs, o)
	}
	return outputs, nil
}

// CannotRead says why an input cannot be read.
func CannotRead(path string, err error) error {
	return &schemas.InputError{Doing: "cannot read", Location: schemas.Location{File: path}, Err: err}
}

// OpenLocal opens a file of this machine. What is no regular file is an error.
func OpenLocal(path string) (Input, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, CannotRead(path, errors.New("there is no such file"))
	}
	if err != nil {
		return nil, CannotRead(path, scratch.Reason(err))
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = scratch.Reason(err)
	case info.IsDir():
		err = errors.New("it is a folder: name the files in it")
	case !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	default:
		return local{f, path, info.Size()}, nil
	}
	f.Close()
	return nil, CannotRead(path, err)
}

// OpenAll opens what the paths name (see Open).
func OpenAll(ctx context.Context, paths []string) (Opened, error) {
	var inputs Opened
	for _, path := range paths {
		in, err := Open(ctx, path)
		if err != nil {
			inputs.Close()
			return nil, err
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// Opened are the inputs of a source, which it closes with itself: readers and sinks must be done with them by then.
type Opened []Input

// Inputs are their names, in their order.
func (o Opened) Inputs() []string {
	names := make([]string, len(o))
	for i, in := range o {
		names[i] = in.Name()
	}
	return names
}

// Close closes them all.
func (o Opened) Close() error {
	var errs []error
	for _, in := range o {
		errs = append(errs, in.Close())
	}
	return errors.Join(errs...)
}

// A local is a file of this machine that is read.
type local struct {
	*os.File
	path string
	size int64
}

func (l local) Name() string { return l.path }
func (l local) Size() int64  { return l.size }
