// Package arrowfile reads and writes Arrow IPC: files, and streams on standard input and output.
package arrowfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// A Source reads Arrow IPC files; each record batch is a part.
type Source struct {
	files  []*file
	schema *arrow.Schema
	whyNot map[string]error
}

// NewSource opens Arrow IPC files. Columns that not all of them have, or not with the same type, are not in the schema.
func NewSource(_ context.Context, paths []string) (*Source, error) {
	s := &Source{}
	for i, path := range paths {
		f, err := open(path, i)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.files = append(s.files, f)
	}
	if len(s.files) == 0 {
		return nil, errors.New("no Arrow files were given")
	}
	s.schema, s.whyNot = common(s.files)
	return s, nil
}

// common is the schema of the columns that all files have alike, and why others are not in it.
func common(files []*file) (*arrow.Schema, map[string]error) {
	whyNot := map[string]error{}
	var fields []arrow.Field
	for _, f := range files[0].schema.Fields() {
		for _, other := range files[1:] {
			g, ok := other.schema.FieldsByName(f.Name)
			if !ok {
				whyNot[f.Name] = fmt.Errorf("%s has a column %q, %s has not", files[0].path, f.Name, other.path)
			} else if t, u := operators.CodedType(f.Type).ValueType, operators.CodedType(g[0].Type).ValueType; !arrow.TypeEqual(t, u) {
				whyNot[f.Name] = fmt.Errorf("the column %q is of type %s in %s and of type %s in %s", f.Name, t, files[0].path, u, other.path)
			} else if !arrow.TypeEqual(f.Type, g[0].Type) {
				f.Type = t
			}
		}
		if whyNot[f.Name] == nil {
			fields = append(fields, f)
		}
	}
	for _, other := range files[1:] {
		for _, f := range other.schema.Fields() {
			if !files[0].schema.HasField(f.Name) {
				whyNot[f.Name] = fmt.Errorf("%s has a column %q, %s has not", other.path, f.Name, files[0].path)
			}
		}
	}
	meta := files[0].schema.Metadata()
	return arrow.NewSchema(fields, &meta), whyNot
}

// Schema is a Source's.
func (s *Source) Schema() *arrow.Schema { return s.schema }

// WhyNot tells why a column that some input has is not in the schema; nil if no input has it.
func (s *Source) WhyNot(column string) error { return s.whyNot[column] }

// Inputs are the paths.
func (s *Source) Inputs() []string {
	paths := make([]string, len(s.files))
	for i, f := range s.files {
		paths[i] = f.path
	}
	return paths
}

// Close closes the files.
func (s *Source) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// Parts is a Source's.
func (s *Source) Parts(context.Context) ([]operators.Part, error) {
	var parts []operators.Part
	for _, f := range s.files {
		first := int64(0)
		for n, rows := range f.rows {
			parts = append(parts, &part{file: f, number: n, first: first, rows: rows})
			first += rows
		}
	}
	return parts, nil
}

// A file is an open input. A reader holds state that it changes, so each goroutine takes one of its own.
type file struct {
	path   string
	input  int
	schema *arrow.Schema
	rows   []int64 // of each record batch
	f      *os.File

	mu   sync.Mutex
	free []*ipc.FileReader
	all  []*ipc.FileReader
}

func open(path string, input int) (*file, error) {
	h, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist", path)
		}
		return nil, fmt.Errorf("%s cannot be read: %w", path, errors.Unwrap(err))
	}
	f := &file{path: path, input: input, f: h}
	if err := f.measure(); err != nil {
		h.Close()
		return nil, err
	}
	return f, nil
}

// measure reads the schema and the number of rows of each record batch.
func (f *file) measure() error {
	var magic [6]byte
	if _, err := f.f.ReadAt(magic[:], 0); err != nil || string(magic[:]) != "ARROW1" {
		switch {
		case err != nil && err != io.EOF:
			return fmt.Errorf("%s cannot be read: %w", f.path, err)
		case bytes.HasPrefix(magic[:], []byte("PAR1")):
			return fmt.Errorf("%s is a Parquet file, not an Arrow IPC file", f.path)
		case bytes.HasPrefix(magic[:], []byte{0xff, 0xff, 0xff, 0xff}):
			return fmt.Errorf("%s is an Arrow IPC stream, not an Arrow IPC file: pipe it to standard input and name the source -", f.path)
		}
		return fmt.Errorf("%s is not an Arrow IPC file", f.path)
	}
	info, err := f.f.Stat()
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", f.path, err)
	}
	if f.rows, err = scanFile(f.f, info.Size()); err != nil {
		return fmt.Errorf("%s is broken: %w", f.path, err)
	}
	return f.with(func(r *ipc.FileReader) error {
		f.schema = r.Schema()
		return nil
	})
}

// with lends a reader to a function. Panics of the library on broken files become errors.
func (f *file) with(do func(r *ipc.FileReader) error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%s is broken: its columns do not decode", f.path)
		} else if err != nil && !errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%s: %w", f.path, err)
		}
	}()
	f.mu.Lock()
	var r *ipc.FileReader
	if n := len(f.free); n > 0 {
		r, f.free = f.free[n-1], f.free[:n-1]
	}
	f.mu.Unlock()
	if r == nil {
		info, err := f.f.Stat()
		if err != nil {
			return err
		}
		r, err = ipc.NewFileReader(io.NewSectionReader(f.f, 0, info.Size()))
		if err != nil {
			return err
		}
		f.mu.Lock()
		f.all = append(f.all, r)
		f.mu.Unlock()
	}
	err = do(r)
	f.mu.Lock()
	f.free = append(f.free, r)
	f.mu.Unlock()
	return err
}

func (f *file) close() error {
	for _, r := range f.all {
		r.Close()
	}
	return f.f.Close()
}

// A part is one record batch of a file.
type part struct {
	file        *file
	number      int
	first, rows int64
}

func (p *part) String() string  { return fmt.Sprintf("%s, record batch %d", p.file.path, p.number) }
func (p *part) Input() int      { return p.file.input }
func (p *part) FirstRow() int64 { return p.first }
func (p *part) Rows() int64     { return p.rows }

func (p *part) Read(_ context.Context, mem memory.Allocator, want []operators.Want, batch int) (array.RecordReader, error) {
	var reader array.RecordReader
	err := p.file.with(func(r *ipc.FileReader) error {
		rec, err := r.RecordAt(p.number)
		if err != nil {
			return fmt.Errorf("record batch %d: %w", p.number, err)
		}
		defer rec.Release()
		if reader, err = operators.ReadRecord(mem, rec, want, batch); err != nil {
			return fmt.Errorf("record batch %d: %w", p.number, err)
		}
		return nil
	})
	return reader, err
}
