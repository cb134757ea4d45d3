package csvfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
	"microrisk/operators/atomicfile"
)

// waiting is how many bytes of lines may wait for their turn to be written.
const waiting = 64 << 20

// A Sink writes CSV with a header: one file an input, or one for all inputs. If the input is CSV too, its fields are written as
// they were. A null is an empty field, minimal sample uniques are written as JSON.
type Sink struct {
	source  *Source // nil if the input is of another kind
	files   []*atomicfile.File
	writers []*bufio.Writer
	single  bool
	listed  bool
	parts   []operators.Part
	out     []operators.Output
	outs    [][]operators.Output // of each file: out, and the columns of its input that others have not
	order   *operators.InOrder
	comma   rune
}

// SinkOptions of a sink.
type SinkOptions struct {
	Delimiter  rune // 0: the input's if it is CSV, else a comma
	OnlyListed bool // columns that not all inputs have do not pass
}

// NewSink writes to one path an input of the source, or to one path for all.
func NewSink(src operators.Source, outputs []string, o SinkOptions) (*Sink, error) {
	s := &Sink{single: len(outputs) == 1, listed: o.OnlyListed, comma: o.Delimiter}
	if c, ok := src.(*Source); ok {
		s.source = c
		if s.single && len(c.files) > 1 && len(c.whyNot) > 0 {
			for _, f := range c.files[1:] {
				if !slices.Equal(f.header, c.files[0].header) {
					return nil, fmt.Errorf("%s and %s have different headers: write one output an input (name a folder), not one file", c.files[0].path, f.path)
				}
			}
		}
		if s.comma == 0 {
			s.comma = c.o.Delimiter
		}
	}
	if s.comma == 0 {
		s.comma = ','
	}
	for i, path := range outputs {
		f, err := atomicfile.Create(path, operators.InputsOf(src, i, len(outputs))...)
		if err != nil {
			s.Abort()
			return nil, err
		}
		s.files = append(s.files, f)
		s.writers = append(s.writers, bufio.NewWriterSize(f, 1<<20))
	}
	return s, nil
}

// Begin is a Sink's. Nested columns of the input are refused.
func (s *Sink) Begin(_ context.Context, parts []operators.Part, out []operators.Output) ([]string, error) {
	s.parts, s.out = parts, out
	s.order = operators.NewInOrder(waiting, s.write)
	var reads []string
	for _, o := range out {
		if !o.Input {
			continue
		}
		if arrow.IsNested(o.Field.Type.ID()) {
			return nil, fmt.Errorf("column %q is nested (%s), CSV has no place for it: leave it out with select columns, or write Parquet", o.Field.Name, o.Field.Type)
		}
		if s.source == nil {
			reads = append(reads, o.Field.Name)
		}
	}
	for i := range s.writers {
		s.outs = append(s.outs, s.columns(i))
		var header []string
		for _, o := range s.outs[i] {
			header = append(header, o.Field.Name)
		}
		if err := s.line(s.writers[i], header); err != nil {
			return nil, fmt.Errorf("writing %s: %w", s.files[i].Path(), err)
		}
	}
	return reads, nil
}

// columns are those of output i. A column of its input that other inputs have not stands behind the one that it stands behind there.
func (s *Sink) columns(i int) []operators.Output {
	if s.source == nil || s.listed || len(s.source.whyNot) == 0 {
		return s.out
	}
	out := slices.Clone(s.out)
	after := 0
	for _, name := range s.source.files[i].header {
		at := slices.IndexFunc(out, func(o operators.Output) bool { return o.Input && o.Field.Name == name })
		if at < 0 && s.source.whyNot[name] != nil {
			at = after
			out = slices.Insert(out, at, operators.Output{Field: arrow.Field{Name: name, Type: arrow.BinaryTypes.String}, Input: true})
		}
		if at >= 0 {
			after = at + 1
		}
	}
	return out
}

func (s *Sink) line(w io.Writer, fields []string) error {
	c := csv.NewWriter(w)
	c.Comma = s.comma
	if err := c.Write(fields); err != nil {
		return err
	}
	c.Flush()
	return c.Error()
}

func (s *Sink) write(part int, item any) error {
	at := 0
	if !s.single {
		at = s.parts[part].Input()
	}
	if _, err := s.writers[at].Write(item.([]byte)); err != nil {
		return fmt.Errorf("writing %s: %w", s.files[at].Path(), err)
	}
	return nil
}

// Part is a Sink's.
func (s *Sink) Part(ctx context.Context, i int) (operators.PartWriter, error) {
	p := &partWriter{ctx: ctx, sink: s, part: i, out: s.outs[0]}
	if !s.single {
		p.out = s.outs[s.parts[i].Input()]
	}
	if s.source == nil {
		return p, nil
	}
	f := &file{path: s.source.files[s.parts[i].Input()].path}
	var err error
	if p.lines, p.input, err = f.open(s.source.o); err != nil {
		return nil, err
	}
	for _, o := range p.out {
		if o.Input {
			p.columns = append(p.columns, slices.Index(f.header, o.Field.Name))
		}
	}
	return p, nil
}

type partWriter struct {
	ctx     context.Context
	sink    *Sink
	part    int
	out     []operators.Output
	lines   *csv.Reader // of the input, if it is CSV
	input   *os.File
	columns []int
}

func (p *partWriter) Write(rows arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = p.sink.comma
	fields := make([]string, len(p.out))
	for r := range int(rows.NumRows()) {
		var line []string
		if p.lines != nil {
			var err error
			if line, err = p.lines.Read(); err != nil {
				return fmt.Errorf("reading the line again: %w", err)
			}
		}
		if keep != nil && !keep.Get(r) {
			continue
		}
		p.fields(fields, line, r, rows, added)
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	w.Flush()
	return p.sink.order.Add(p.ctx, p.part, b.Bytes(), int64(b.Len()))
}

// fields fills in the fields of row r.
func (p *partWriter) fields(fields, line []string, r int, rows arrow.Record, added []arrow.Array) {
	read, made := 0, 0
	for i, o := range p.out {
		var a arrow.Array
		switch {
		case o.Input && line != nil:
			fields[i] = line[p.columns[read]]
			read++
			continue
		case o.Input:
			a = rows.Column(read)
			read++
		default:
			a = added[made]
			made++
		}
		if fields[i] = ""; a.IsValid(r) {
			fields[i] = operators.Text(a, r)
		}
	}
}

func (p *partWriter) Close() error {
	if p.input != nil {
		p.input.Close()
	}
	return p.sink.order.Done(p.part)
}

// Commit is a Sink's. CSV has no place for the metadata.
func (s *Sink) Commit(context.Context, map[string]string) error {
	for i, w := range s.writers {
		if err := w.Flush(); err != nil {
			return fmt.Errorf("writing %s: %w", s.files[i].Path(), err)
		}
	}
	return atomicfile.Commit(s.files...)
}

// Abort is a Sink's.
func (s *Sink) Abort() {
	for _, f := range s.files {
		f.Abort()
	}
}
