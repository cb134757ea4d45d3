package parquetfile

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"microrisk/operators"
	"microrisk/operators/files"
)

// SinkOptions of a Sink. The zero value is ready to use.
type SinkOptions struct {
	// Compression of the chunks that are made here: zstd (the default), snappy, gzip or none. Chunks that pass through keep theirs.
	Compression string
	// OnlyListed leaves out the columns of an input that the source's schema lacks because the inputs do not agree on them.
	// Otherwise they pass through, as columns do that nobody asks for.
	OnlyListed bool
}

// aheadBytes is how much may wait for a part before it that is not done.
const aheadBytes = 1 << 28

// A Sink writes Parquet files. Row groups come out in the order of the parts, and the bytes depend on nothing but the input
// and the added columns.
type Sink struct {
	source   *Source // nil when the rows come from another kind of file
	codec    compress.Codec
	options  SinkOptions
	outputs  []*output
	parts    []operators.Part
	units    []*unit
	unitOf   []int
	fields   []arrow.Field // encoded here: the added ones, or all
	formats  []columnFormat
	out      []operators.Output
	elements [][]thriftValue                    // of fields
	put      func(part int, piece []byte) error // instead of outputs, nil for these

	mu      sync.Mutex
	changed *sync.Cond
	next    int // unit to be written
	waiting map[int]*made
	bytes   int
	writing bool
	err     error
	ended   bool
}

var _ operators.Sink = (*Sink)(nil)

// Create is NewSink of what will be at the paths. An output that is an input is an error.
func Create(src operators.Source, paths []string, o SinkOptions) (*Sink, error) {
	outputs, err := files.CreateAll(context.Background(), paths, operators.InputsOf(src))
	if err != nil {
		return nil, err
	}
	return NewSink(src, outputs, o)
}

// NewSink prepares to write the rows of a source to the outputs: one for each input, or one for all. The rows of several Parquet files
// can only go to one if their schemas are the same. After an error the outputs are aborted.
func NewSink(src operators.Source, outputs []files.Output, o SinkOptions) (*Sink, error) {
	s, err := newSink(src, outputs, o)
	if err != nil {
		for _, o := range outputs {
			o.Abort()
		}
	}
	return s, err
}

func newSink(src operators.Source, outputs []files.Output, o SinkOptions) (*Sink, error) {
	s := &Sink{options: o, waiting: map[int]*made{}}
	s.changed = sync.NewCond(&s.mu)
	switch o.Compression {
	case "", "zstd":
		s.codec = &parquet.Zstd
	case "snappy":
		s.codec = &parquet.Snappy
	case "gzip":
		s.codec = &parquet.Gzip
	case "none", "uncompressed":
		s.codec = &parquet.Uncompressed
	default:
		return nil, fmt.Errorf("compression %q is not known: take zstd, snappy, gzip or none", o.Compression)
	}
	s.source, _ = src.(*Source)
	if len(outputs) == 0 {
		return nil, errors.New("no output file is given")
	}
	if s.source != nil && len(outputs) != 1 && len(outputs) != len(s.source.files) {
		return nil, fmt.Errorf("%d outputs for %d inputs: give one, or one for each", len(outputs), len(s.source.files))
	}
	if s.source != nil && len(outputs) == 1 {
		if err := s.source.sameSchemas(); err != nil {
			return nil, err
		}
	}
	for _, f := range outputs {
		s.outputs = append(s.outputs, &output{path: f.Name(), file: f})
	}
	return s, nil
}

// Begin asks for no column when the input's chunks are copied, and for all columns of the output otherwise. Types that are
// not written to Parquet are refused by name.
func (s *Sink) Begin(_ context.Context, parts []operators.Part, out []operators.Output) ([]string, error) {
	s.parts, s.out = parts, out
	var reads []string
	names := map[string]bool{}
	for _, o := range out {
		if names[o.Field.Name] {
			return nil, fmt.Errorf("the output would have two columns %q", o.Field.Name)
		}
		names[o.Field.Name] = true
		if o.Input && s.source != nil {
			continue
		}
		f, err := formatOf(o.Field.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w: leave it out (select columns), or write the same kind of file as the input", o.Field.Name, err)
		}
		s.fields, s.formats = append(s.fields, o.Field), append(s.formats, f)
		if o.Input {
			reads = append(reads, o.Field.Name)
		}
	}
	s.planUnits()
	shape, err := schemaOf(s.fields, s.formats)
	if err != nil {
		return nil, err
	}
	s.elements = shape.columnElements(s.fields, s.formats)
	for i, o := range s.outputs {
		if s.put != nil {
			break
		}
		if err := s.begin(i, o, shape); err != nil {
			s.Abort()
			return nil, err
		}
	}
	return reads, nil
}

// planUnits makes a unit of every part; of another source, small parts are gathered.
func (s *Sink) planUnits() {
	const enough = 1 << 17
	s.unitOf = make([]int, len(s.parts))
	var u *unit
	var rows int64
	for i, p := range s.parts {
		o := 0
		if len(s.outputs) > 1 {
			o = p.Input()
		}
		if u == nil || s.source != nil || rows >= enough || p.Rows() >= enough || u.output != o {
			u = &unit{sink: s, index: len(s.units), output: o, first: i}
			s.units = append(s.units, u)
			rows = 0
		}
		rows += p.Rows()
		s.unitOf[i] = u.index
		u.parts = append(u.parts, &partWriter{unit: u, part: p, turn: len(u.parts)})
	}
}

// Part starts a part. It waits while too much is waiting for a part before it that is under way.
func (s *Sink) Part(ctx context.Context, i int) (operators.PartWriter, error) {
	if i < 0 || i >= len(s.parts) {
		return nil, fmt.Errorf("there is no part %d of %d", i, len(s.parts))
	}
	u := s.units[s.unitOf[i]]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.put == nil {
		if err := s.await(ctx, u, func(before *unit) bool { return before.started }); err != nil {
			return nil, err
		}
	}
	if s.ended {
		return nil, errors.New("the output has ended")
	}
	w := u.parts[i-u.first]
	if w.started {
		return nil, fmt.Errorf("%s is started twice", w.part)
	}
	w.started, u.started, w.ctx = true, true, ctx
	return w, nil
}

// await waits, with the lock held, while too much of units after the next one to be written waits, and that is under way.
func (s *Sink) await(ctx context.Context, u *unit, underWay func(before *unit) bool) error {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer stop()
	for s.err == nil && ctx.Err() == nil && !s.ended && s.bytes > aheadBytes && u.index > s.next && underWay(s.units[s.next]) {
		s.changed.Wait()
	}
	return errors.Join(s.err, ctx.Err())
}

// deliver hands over what was made of a unit, and writes what can be written.
func (s *Sink) deliver(u *unit, m *made) error {
	if s.put != nil {
		return s.put(u.first, m.piece())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[u.index] = m
	s.bytes += m.size()
	m.before, u.full = append(u.full, m.before...), nil
	for !s.writing && s.err == nil && !s.ended {
		m := s.waiting[s.next]
		if m == nil {
			break
		}
		delete(s.waiting, s.next)
		u := s.units[s.next]
		s.writing = true
		s.mu.Unlock()
		err := s.outputs[u.output].write(u, m)
		s.mu.Lock()
		s.writing = false
		s.bytes -= m.size()
		s.next++
		s.err = err
		s.changed.Broadcast()
	}
	return s.err
}

// Commit writes the footers and puts the files in place, all complete before the first is.
func (s *Sink) Commit(ctx context.Context, metadata map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return s.err
	case s.ended:
		return errors.New("the output has ended")
	case s.next < len(s.units):
		return fmt.Errorf("%s is not complete", s.units[s.next].parts[0].part)
	}
	for _, o := range s.outputs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := o.finish(metadata); err != nil {
			return o.failed(err)
		}
	}
	s.ended = true
	var outputs []files.Output
	for _, o := range s.outputs {
		outputs = append(outputs, o.file)
	}
	return files.Commit(outputs...)
}

// Abort removes what was written. After Commit it does nothing.
func (s *Sink) Abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.writing {
		s.changed.Wait()
	}
	if s.ended {
		return
	}
	s.ended = true
	for _, u := range s.units {
		u.mu.Lock()
		for _, w := range u.parts {
			w.release()
		}
		u.mu.Unlock()
	}
	for _, o := range s.outputs {
		o.file.Abort()
	}
	s.changed.Broadcast()
}
