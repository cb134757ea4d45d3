// Package arrowfile reads and writes Arrow IPC: files, and streams on standard input and output.
package arrowfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/schemas"
)

// A Source reads Arrow IPC files; each record batch is a part.
type Source struct {
	files.Opened
	files  []*file
	schema *arrow.Schema
	whyNot map[string]error
}

// Options of a source. The zero value is good.
type Options struct {
	Memory int64 // bytes that what is read of all record batches at a time may take; 0: 1 GiB
}

// most is how many bytes the wanted columns of one record batch may take: a small file may claim any number.
func (o Options) most() int64 {
	if o.Memory <= 0 {
		return 1 << 30
	}
	return max(o.Memory/2, 1<<20)
}

// Open is NewSource of what the paths name.
func Open(ctx context.Context, paths []string, o Options) (*Source, error) {
	inputs, err := files.OpenAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	return NewSource(ctx, inputs, o)
}

// NewSource reads the metadata of Arrow IPC files, which it closes with itself, and after an error. Columns that not all of them have,
// or not with the same type, are not in the schema.
func NewSource(_ context.Context, inputs []files.Input, o Options) (*Source, error) {
	s := &Source{Opened: inputs}
	for i, in := range inputs {
		f := &file{path: in.Name(), input: i, f: in}
		if err := f.begin(o.most()); err != nil {
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

// oneDictionary tells whether all files have the same dictionary for a column.
func (s *Source) oneDictionary(column string) bool {
	var first arrow.Array
	for _, f := range s.files {
		c := f.content
		d, err := c.dictionary(c.ids[c.native.FieldIndices(column)[0]].id, c.count)
		switch {
		case err != nil:
			return false // what is wrong is told when it is read
		case first == nil:
			first = d.values
		case !array.Equal(first, d.values):
			return false
		}
	}
	return true
}

// Schema is a Source's.
func (s *Source) Schema() *arrow.Schema { return s.schema }

// WhyNot tells why a column that some input has is not in the schema; nil if no input has it.
func (s *Source) WhyNot(column string) error { return s.whyNot[column] }

// Parts is a Source's.
func (s *Source) Parts(context.Context) ([]operators.Part, error) {
	var parts []operators.Part
	for _, f := range s.files {
		first := int64(0)
		for n, b := range f.content.batches {
			parts = append(parts, &part{file: f, number: n, first: first, rows: b.rows})
			first += b.rows
		}
	}
	return parts, nil
}

// A file is an open input.
type file struct {
	path    string
	input   int
	schema  *arrow.Schema
	content *content
	f       files.Input
}

// begin reads the metadata of all messages.
func (f *file) begin(memory int64) error {
	var magic [6]byte
	if _, err := f.f.ReadAt(magic[:], 0); err != nil || string(magic[:]) != "ARROW1" {
		switch {
		case err != nil && err != io.EOF:
			return files.CannotRead(f.path, err)
		case bytes.HasPrefix(magic[:], []byte("PAR1")):
			return files.CannotRead(f.path, errors.New("it is a Parquet file, not an Arrow IPC file"))
		case bytes.HasPrefix(magic[:], []byte{0xff, 0xff, 0xff, 0xff}):
			return files.CannotRead(f.path, errors.New("it is an Arrow IPC stream, not an Arrow IPC file: pipe it to standard input and name the source -"))
		}
		return files.CannotRead(f.path, errors.New("it is not an Arrow IPC file"))
	}
	var err error
	if f.content, err = scanFile(f.f, f.f.Size()); err == nil {
		err = f.readSchema(memory)
	}
	if err != nil {
		return files.CannotRead(f.path, fmt.Errorf("it is broken: %w", err))
	}
	return nil
}

// readSchema reads the schema. Panics of the library on broken files become errors.
func (f *file) readSchema(memory int64) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = operators.Recovered(x, errors.New("its schema does not decode"))
		}
	}()
	r, err := ipc.NewReader(bytes.NewReader(f.content.start))
	if err != nil {
		return err
	}
	defer r.Release()
	if err := f.content.begin(r.Schema(), memory); err != nil {
		return err
	}
	f.schema = f.content.schema
	return nil
}

// A part is one record batch of a file.
type part struct {
	file        *file
	number      int
	first, rows int64
}

// Location is a [operators.Located] part's.
func (p *part) Location() schemas.Location {
	return schemas.Location{File: p.file.path, Unit: "record batch", Number: int64(p.number)}
}

func (p *part) String() string  { return p.Location().String() }
func (p *part) Input() int      { return p.file.input }
func (p *part) FirstRow() int64 { return p.first }
func (p *part) Rows() int64     { return p.rows }

func (p *part) Read(ctx context.Context, mem memory.Allocator, want []operators.Want, batch int) (array.RecordReader, error) {
	return p.file.content.read(ctx, mem, p.file.path, []int{p.number}, want, batch)
}
