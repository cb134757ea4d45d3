package arrowfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/files"
)

// waiting is how many bytes of record batches may wait for their turn to be written.
const waiting = 128 << 20

// A Sink writes Arrow IPC: one file an input, one file for all inputs, or one stream.
type Sink struct {
	targets []*target
	single  bool
	several *Source // of which all files go into one, nil if not
	parts   []operators.Part
	out     []operators.Output
	order   *operators.InOrder
}

// A target is one output. A file is put in place when it is complete; a stream gets its end marker then.
type target struct {
	file   files.Output
	stream io.Writer
	schema *arrow.Schema
	writer interface {
		Write(arrow.Record) error
		Close() error
	}
}

// Create is NewSink of what will be at the paths. An output that is an input is an error.
func Create(src operators.Source, paths []string) (*Sink, error) {
	outputs, err := files.CreateAll(context.Background(), paths, operators.InputsOf(src))
	if err != nil {
		return nil, err
	}
	return NewSink(src, outputs)
}

// NewSink writes files: one output an input of the source, or one for all. Several inputs go into one file only if all their columns are
// alike. After an error the outputs are aborted.
func NewSink(src operators.Source, outputs []files.Output) (*Sink, error) {
	s := &Sink{single: len(outputs) == 1}
	for _, f := range outputs {
		s.targets = append(s.targets, &target{file: f})
	}
	if a, ok := src.(*Source); ok && s.single && len(a.files) > 1 {
		if err := a.identical(); err != nil {
			s.Abort()
			return nil, err
		}
		s.several = a
	}
	return s, nil
}

// identical finds inputs with other columns than the first.
func (s *Source) identical() error {
	for _, f := range s.files[1:] {
		if !f.schema.Equal(s.files[0].schema) {
			return fmt.Errorf("%s and %s have different columns: write one output an input (name a folder), not one file", s.files[0].path, f.path)
		}
	}
	return nil
}

// NewStreamSink writes an Arrow IPC stream. A run that fails leaves it without its end marker.
func NewStreamSink(w io.Writer) *Sink {
	return &Sink{single: true, targets: []*target{{stream: w}}}
}

// Begin is a Sink's. Nested columns of other kinds of input pass if the source can read them.
func (s *Sink) Begin(_ context.Context, parts []operators.Part, out []operators.Output) ([]string, error) {
	s.parts, s.out = parts, out
	s.order = operators.NewInOrder(waiting, s.write)
	var reads []string
	fields := make([]arrow.Field, 0, len(out))
	for _, o := range out {
		if o.Input {
			reads = append(reads, o.Field.Name)
		}
		d, coded := o.Field.Type.(*arrow.DictionaryType)
		switch {
		case coded && o.Input && (o.Filtered || s.several != nil && !s.several.oneDictionary(o.Field.Name)):
			// A file has one dictionary for a column, and that of rows which leave has their values too.
			o.Field.Type = d.ValueType
		case o.Filtered && nestsDictionary(o.Field.Type):
			return nil, fmt.Errorf(
				"column %q of type %s: its dictionary would hold values of rows that are not chosen: leave the column out (select columns)",
				o.Field.Name,
				o.Field.Type,
			)
		}
		fields = append(fields, o.Field)
	}
	schema := arrow.NewSchema(fields, nil)
	for _, t := range s.targets {
		t.schema = schema
		if err := t.open(); err != nil {
			return nil, err
		}
	}
	return reads, nil
}

// nestsDictionary tells whether a nested type has dictionaries in it.
func nestsDictionary(t arrow.DataType) bool {
	nested, ok := t.(arrow.NestedType)
	return ok && slices.ContainsFunc(nested.Fields(), func(f arrow.Field) bool {
		return f.Type.ID() == arrow.DICTIONARY || nestsDictionary(f.Type)
	})
}

func (t *target) open() error {
	if t.stream != nil {
		t.writer = ipc.NewWriter(t.stream, ipc.WithSchema(t.schema))
		return nil
	}
	w, err := ipc.NewFileWriter(&position{to: t.file}, ipc.WithSchema(t.schema))
	if err != nil {
		return fmt.Errorf("writing %s: %w", t.file.Name(), err)
	}
	t.writer = w
	return nil
}

// A position is a writer that knows how far it is, which is all of seeking that the format's writer asks for.
type position struct {
	to io.Writer
	at int64
}

func (p *position) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	p.at += int64(n)
	return n, err
}

// Seek is an io.Seeker's that goes nowhere.
func (p *position) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekCurrent || offset != 0 {
		return p.at, errors.ErrUnsupported
	}
	return p.at, nil
}

func (t *target) String() string {
	if t.file != nil {
		return t.file.Name()
	}
	return "standard output"
}

// write takes a record whose turn it is.
func (s *Sink) write(part int, item any) error {
	r := item.(arrow.Record)
	defer r.Release()
	t := s.targets[0]
	if !s.single {
		t = s.targets[s.parts[part].Input()]
	}
	if err := t.writer.Write(r); err != nil {
		return fmt.Errorf("writing %s: %w", t, err)
	}
	return nil
}

// Part is a Sink's.
func (s *Sink) Part(ctx context.Context, i int) (operators.PartWriter, error) {
	return &partWriter{ctx: ctx, sink: s, part: i}, nil
}

type partWriter struct {
	ctx  context.Context
	sink *Sink
	part int
	held []arrow.Record // that wait until they are enough
	rows int64          // of them
}

func (p *partWriter) Write(rows arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	r, err := operators.Assemble(memory.DefaultAllocator, p.sink.targets[0].schema, p.sink.out, rows, added, keep)
	if err != nil {
		return err
	}
	if r.NumRows() == 0 {
		r.Release()
		return nil
	}
	p.held, p.rows = append(p.held, r), p.rows+r.NumRows()
	if p.rows < mostRows {
		return nil
	}
	return p.flush(false)
}

// flush hands over record batches of mostRows rows, so that they do not depend on how the rows came; at the end what is left too.
func (p *partWriter) flush(end bool) error {
	for p.rows >= mostRows || end && p.rows > 0 {
		r, err := p.take(min(p.rows, mostRows))
		if err != nil {
			return err
		}
		size := int64(0)
		for _, c := range r.Columns() {
			size += int64(c.Data().SizeInBytes())
		}
		if err := p.sink.order.Add(p.ctx, p.part, r, size); err != nil {
			return err
		}
	}
	return nil
}

// take makes one record of the first rows that wait. It is a copy: how large its buffers are depends on the rows alone.
func (p *partWriter) take(rows int64) (arrow.Record, error) {
	var pieces []arrow.Record
	defer func() {
		for _, r := range pieces {
			r.Release()
		}
	}()
	for left := rows; left > 0; {
		r := p.held[0]
		n := min(left, r.NumRows())
		pieces = append(pieces, r.NewSlice(0, n))
		if p.held = p.held[1:]; n < r.NumRows() {
			p.held = append([]arrow.Record{r.NewSlice(n, r.NumRows())}, p.held...)
		}
		r.Release()
		left -= n
	}
	p.rows -= rows
	columns := make([]arrow.Array, 0, pieces[0].NumCols())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i := range int(pieces[0].NumCols()) {
		list := make([]arrow.Array, len(pieces))
		for k, r := range pieces {
			list[k] = r.Column(i)
		}
		c, err := array.Concatenate(list, memory.DefaultAllocator)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", pieces[0].ColumnName(i), err)
		}
		columns = append(columns, c)
	}
	return array.NewRecord(pieces[0].Schema(), columns, rows), nil
}

func (p *partWriter) Close() error {
	if err := p.flush(true); err != nil {
		return err
	}
	return p.sink.order.Done(p.part)
}

// Commit is a Sink's. Arrow IPC has no place for the metadata after the rows.
func (s *Sink) Commit(context.Context, map[string]string) error {
	for _, t := range s.targets {
		if err := t.writer.Close(); err != nil {
			return fmt.Errorf("completing %s: %w", t, err)
		}
	}
	var outputs []files.Output
	for _, t := range s.targets {
		if t.file != nil {
			outputs = append(outputs, t.file)
		}
	}
	return files.Commit(outputs...)
}

// Abort is a Sink's.
func (s *Sink) Abort() {
	if s.order != nil {
		s.order.Drop(func(item any) { item.(arrow.Record).Release() })
	}
	for _, t := range s.targets {
		if t.file != nil {
			t.file.Abort()
		}
	}
}
