// Package csvfile reads and writes CSV with a header. It is a convenience: slower than the other kinds of file.
package csvfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/schemas"
)

// Options of a source. The zero value is good.
type Options struct {
	Types     map[string]string // of columns, by name (see TypeNames); the others are inferred from all their values
	Delimiter rune              // 0: that which each file is found to have
}

// A Source reads CSV files; each is a part. Its columns are those that all files have. An empty field is null; in quotes it
// is an empty text, and null where the column is of another type.
type Source struct {
	files.Opened
	files  []*file
	schema *arrow.Schema
	whyNot map[string]error
	o      Options
}

type file struct {
	path   string
	file   files.Input
	input  int
	header []string
	rows   int64

	delimiter rune
	guesses   []*guess // of its columns
}

// Open is NewSource of what the paths name.
func Open(ctx context.Context, paths []string, o Options) (*Source, error) {
	inputs, err := files.OpenAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	return NewSource(ctx, inputs, o)
}

// again is the file for one more reading.
func (f *file) again() *file { return &file{path: f.path, file: f.file} }

// NewSource reads the inputs once, to count their rows and infer the types of their columns. It closes them with itself, and after an
// error.
func NewSource(ctx context.Context, inputs []files.Input, o Options) (*Source, error) {
	s, err := newSource(ctx, inputs, o)
	if err != nil {
		files.Opened(inputs).Close()
	}
	return s, err
}

func newSource(ctx context.Context, inputs []files.Input, o Options) (*Source, error) {
	if len(inputs) == 0 {
		return nil, errors.New("no CSV files were given")
	}
	s := &Source{Opened: inputs, o: o, whyNot: map[string]error{}}
	guesses := map[string]*guess{} // by column, over all files
	for i, in := range inputs {
		f := &file{path: in.Name(), file: in, input: i}
		err := f.scan(o, func(l *lines) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if f.rows == 0 {
				f.guesses = guessesOf(guesses, f.header)
			}
			for c, text := range l.fields {
				f.guesses[c].see(text)
			}
			f.rows++
			return nil
		})
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
	}
	fields, err := fields(s.files[0], guessesOf(guesses, s.files[0].header), o.Types)
	if err != nil {
		return nil, err
	}
	s.schema = arrow.NewSchema(s.common(fields), nil)
	return s, nil
}

// common are the fields that all files have; whyNot says why others are not in the schema.
func (s *Source) common(fields []arrow.Field) []arrow.Field {
	first := s.files[0]
	for _, f := range s.files[1:] {
		for _, name := range f.header {
			if !slices.Contains(first.header, name) {
				s.whyNot[name] = fmt.Errorf("%s has a column %q, %s has not", f.path, name, first.path)
			}
		}
		for _, name := range first.header {
			if !slices.Contains(f.header, name) {
				s.whyNot[name] = fmt.Errorf("%s has a column %q, %s has not", first.path, name, f.path)
			}
		}
	}
	return slices.DeleteFunc(fields, func(f arrow.Field) bool { return s.whyNot[f.Name] != nil })
}

// WhyNot tells why a column that some input has is not in the schema; nil if no input has it.
func (s *Source) WhyNot(column string) error { return s.whyNot[column] }

// fields gives each column its type.
func fields(f *file, guesses []*guess, types map[string]string) ([]arrow.Field, error) {
	out := make([]arrow.Field, len(f.header))
	for c, name := range f.header {
		out[c] = arrow.Field{Name: name, Type: guesses[c].typ(), Nullable: true}
	}
	for name, word := range types {
		c := slices.Index(f.header, name)
		if c < 0 {
			err := fmt.Errorf("%s: there is no column %q to be of type %s", f.path, name, word)
			if near := schemas.Nearest(name, f.header); near != "" {
				err = fmt.Errorf("%w; did you mean %q?", err, near)
			}
			return nil, err
		}
		t, ok := typeNames[word]
		if !ok {
			return nil, fmt.Errorf("%s: column %q: there is no type %q: it is one of %s", f.path, name, word, strings.Join(TypeNames(), ", "))
		}
		out[c].Type = t
	}
	return out, nil
}

// Schema is a Source's.
func (s *Source) Schema() *arrow.Schema { return s.schema }

// Parts is a Source's.
func (s *Source) Parts(context.Context) ([]operators.Part, error) {
	parts := make([]operators.Part, len(s.files))
	for i, f := range s.files {
		parts[i] = &part{s, f}
	}
	return parts, nil
}

// scan goes through the lines after the header.
func (f *file) scan(o Options, see func(l *lines) error) error {
	r, err := f.open(o)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		err := f.next(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for c, text := range r.fields {
			if !utf8.ValidString(text) {
				return f.atLine(r.at[c], f.header[c], errors.New("text that is not UTF-8: "+latin))
			}
		}
		if err := see(r.lines); err != nil {
			return err
		}
	}
}

// wrong says what is wrong with the file.
func (f *file) wrong(format string, args ...any) error {
	return &schemas.InputError{Location: schemas.Location{File: f.path}, Err: fmt.Errorf(format, args...)}
}

// unreadable says why nothing of the file can be read.
func (f *file) unreadable(format string, args ...any) error {
	return files.CannotRead(f.path, fmt.Errorf(format, args...))
}

// atLine says in which line and column an error is.
func (f *file) atLine(line int, column string, err error) error {
	return f.wrong("%w", schemas.InColumn(schemas.Location{Unit: "line", Number: int64(line)}, column, err))
}

// next reads a record, which has as many fields as the header.
func (f *file) next(r *opened) error {
	switch err := r.next(); {
	case err == io.EOF:
		return io.EOF
	case err != nil:
		return f.wrong("%w", err)
	case len(r.fields) != len(f.header):
		return f.wrong("%w", inLine(r.at[0], "%d fields, the header has %d (the delimiter is %q)", len(r.fields), len(f.header), f.delimiter))
	}
	return nil
}

type part struct {
	source *Source
	file   *file
}

func (p *part) String() string  { return p.file.path }
func (p *part) Input() int      { return p.file.input }
func (p *part) FirstRow() int64 { return 0 }
func (p *part) Rows() int64     { return p.file.rows }

// Read is a Part's.
func (p *part) Read(_ context.Context, mem memory.Allocator, want []operators.Want, batch int) (array.RecordReader, error) {
	f := p.file.again()
	r, err := f.open(p.source.o)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(f.header, p.file.header) {
		r.Close()
		return nil, fmt.Errorf("%s has changed during the run", f.path)
	}
	rd := &rows{lines: r, file: f, batch: batch}
	if rd.batch <= 0 {
		rd.batch = 1 << 16
	}
	var fields []arrow.Field
	seen := map[string]bool{}
	for _, w := range want {
		if seen[w.Name] {
			continue
		}
		seen[w.Name] = true
		c := slices.Index(f.header, w.Name)
		if c < 0 {
			r.Close()
			return nil, fmt.Errorf("%s: there is no column %q", f.path, w.Name)
		}
		rd.columns = append(rd.columns, c)
		field, _ := p.source.schema.FieldsByName(w.Name)
		if len(field) == 0 {
			r.Close()
			return nil, fmt.Errorf("%s: not all files have a column %q", f.path, w.Name)
		}
		fields = append(fields, field[0])
	}
	rd.builder = array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
	return operators.ReadAll(mem, operators.ReadBatches(rd), want, batch)
}
