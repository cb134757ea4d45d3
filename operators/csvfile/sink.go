package csvfile

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
	"microrisk/operators/files"
)

// waiting is how many bytes of lines may wait for their turn to be written.
const waiting = 64 << 20

// A Sink writes CSV with a header: one file an input, or one for all inputs. If the input is CSV too, its fields are written as
// they were. A null is an empty field, an empty text has quotes, minimal sample uniques are written as JSON. A path that ends
// in .gz is compressed.
type Sink struct {
	source  *Source // nil if the input is of another kind
	files   []files.Output
	writers []*bufio.Writer
	single  bool
	listed  bool
	parts   []operators.Part
	out     []operators.Output
	outs    [][]operators.Output // of each file: out, and the columns of its input that others have not
	order   *operators.InOrder
	commas  [][]byte       // of each file
	packed  []*gzip.Writer // of each file, nil where it is not compressed
}

// SinkOptions of a sink.
type SinkOptions struct {
	Delimiter  rune // 0: the input's if it is CSV, else a comma
	Gzip       bool // outputs are compressed, also if their names do not end in .gz
	OnlyListed bool // columns that not all inputs have do not pass
}

// Create is NewSink of what will be at the paths. An output that is an input is an error.
func Create(src operators.Source, paths []string, o SinkOptions) (*Sink, error) {
	outputs, err := files.CreateAll(context.Background(), paths, operators.InputsOf(src))
	if err != nil {
		return nil, err
	}
	return NewSink(src, outputs, o)
}

// NewSink writes to one output an input of the source, or to one for all. After an error the outputs are aborted.
func NewSink(src operators.Source, outputs []files.Output, o SinkOptions) (*Sink, error) {
	s := &Sink{files: outputs, single: len(outputs) == 1, listed: o.OnlyListed}
	if c, ok := src.(*Source); ok {
		s.source = c
		if s.single && len(c.files) > 1 && len(c.whyNot) > 0 {
			for _, f := range c.files[1:] {
				if !slices.Equal(f.header, c.files[0].header) {
					s.Abort()
					return nil, fmt.Errorf("%s and %s have different headers: write one output an input (name a folder), not one file", c.files[0].path, f.path)
				}
			}
		}
	}
	for i, f := range outputs {
		s.commas = append(s.commas, s.commaOf(i, o.Delimiter))
		var to io.Writer = f
		var packed *gzip.Writer
		if o.Gzip || strings.HasSuffix(strings.ToLower(f.Name()), ".gz") {
			packed = gzip.NewWriter(f)
			to = packed
		}
		s.packed = append(s.packed, packed)
		s.writers = append(s.writers, bufio.NewWriterSize(to, 1<<20))
	}
	return s, nil
}

// commaOf is the delimiter of output i: the one that was given, that of its input, or a comma.
func (s *Sink) commaOf(i int, given rune) []byte {
	switch {
	case given != 0:
	case s.source == nil:
		given = ','
	case s.single:
		given = s.source.files[0].delimiter
	default:
		given = s.source.files[i].delimiter
	}
	return utf8.AppendRune(nil, given)
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
			return nil, fmt.Errorf(
				"column %q is nested (%s), CSV has no place for it: leave it out with select columns, or write Parquet",
				o.Field.Name,
				o.Field.Type,
			)
		}
		if s.source == nil {
			reads = append(reads, o.Field.Name)
		}
	}
	for i := range s.writers {
		s.outs = append(s.outs, s.columns(i))
		var header []byte
		for c, o := range s.outs[i] {
			if c > 0 {
				header = append(header, s.commas[i]...)
			}
			header = appendField(header, o.Field.Name, false, len(header) == 0 && beginsOtherwise(o.Field.Name), s.commas[i])
		}
		if _, err := s.writers[i].Write(append(header, '\n')); err != nil {
			return nil, fmt.Errorf("writing %s: %w", s.files[i].Name(), err)
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

func (s *Sink) write(part int, item any) error {
	at := 0
	if !s.single {
		at = s.parts[part].Input()
	}
	if _, err := s.writers[at].Write(item.([]byte)); err != nil {
		return fmt.Errorf("writing %s: %w", s.files[at].Name(), err)
	}
	return nil
}

// Part is a Sink's.
func (s *Sink) Part(ctx context.Context, i int) (operators.PartWriter, error) {
	p := &partWriter{ctx: ctx, sink: s, part: i, out: s.outs[0], comma: s.commas[0]}
	if !s.single {
		p.out, p.comma = s.outs[s.parts[i].Input()], s.commas[s.parts[i].Input()]
	}
	if s.source == nil {
		return p, nil
	}
	f := s.source.files[s.parts[i].Input()].again()
	p.file = f
	var err error
	if p.lines, err = f.open(s.source.o); err != nil {
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
	comma   []byte
	file    *file   // the input, if it is CSV
	lines   *opened // its lines
	columns []int
}

func (p *partWriter) Write(rows arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	var b []byte
	for r := range int(rows.NumRows()) {
		if p.lines != nil {
			if err := p.file.next(p.lines); err != nil {
				return fmt.Errorf("reading the line again: %w", err)
			}
		}
		if keep == nil || keep.Get(r) {
			b = append(p.line(b, r, rows, added), '\n')
		}
	}
	return p.sink.order.Add(p.ctx, p.part, b, int64(len(b)))
}

// line appends row r.
func (p *partWriter) line(b []byte, r int, rows arrow.Record, added []arrow.Array) []byte {
	read, made := 0, 0
	for i, o := range p.out {
		if i > 0 {
			b = append(b, p.comma...)
		}
		var a arrow.Array
		switch {
		case o.Input && p.lines != nil:
			c := p.columns[read]
			read++
			text, quoted := p.lines.fields[c], p.lines.quoted[c]
			b = appendField(b, text, text == "" && !quoted, quoted, p.comma)
			continue
		case o.Input:
			a = rows.Column(read)
			read++
		default:
			a = added[made]
			made++
		}
		if a.IsValid(r) {
			b = appendField(b, textOf(a, r), false, false, p.comma)
		}
	}
	return b
}

// textOf is a value as text. Bytes that are no text are written in hexadecimal after \x, and so are texts that begin so themselves where
// bytes are expected.
func textOf(a arrow.Array, r int) string {
	text := operators.Text(a, r)
	if utf8.ValidString(text) && !(strings.HasPrefix(text, `\x`) && isBinary(a.DataType())) {
		return text
	}
	return `\x` + hex.EncodeToString([]byte(text))
}

func isBinary(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	return t.ID() == arrow.BINARY || t.ID() == arrow.LARGE_BINARY || t.ID() == arrow.FIXED_SIZE_BINARY || t.ID() == arrow.BINARY_VIEW
}

func (p *partWriter) Close() error {
	if p.lines != nil {
		p.lines.Close()
	}
	return p.sink.order.Done(p.part)
}

// Commit is a Sink's. CSV has no place for the metadata.
func (s *Sink) Commit(context.Context, map[string]string) error {
	for i, w := range s.writers {
		err := w.Flush()
		if s.packed[i] != nil {
			err = errors.Join(err, s.packed[i].Close())
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", s.files[i].Name(), err)
		}
	}
	return files.Commit(s.files...)
}

// Abort is a Sink's.
func (s *Sink) Abort() {
	for _, f := range s.files {
		f.Abort()
	}
}
