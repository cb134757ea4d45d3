package operators

import (
	"context"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/schemas"
)

// Records is a source of records that are in memory already: each is a part.
type Records struct {
	schema  *arrow.Schema
	records []arrow.Record
}

// NewRecords takes all records of a reader, and retains them until Release.
func NewRecords(reader array.RecordReader) (*Records, error) {
	s := &Records{schema: reader.Schema()}
	for reader.Next() {
		r := reader.Record()
		r.Retain()
		s.records = append(s.records, r)
	}
	if err := reader.Err(); err != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// Release lets the records go.
func (s *Records) Release() {
	for _, r := range s.records {
		r.Release()
	}
	s.records = nil
}

// Schema is a Source's.
func (s *Records) Schema() *arrow.Schema { return s.schema }

// Parts is a Source's.
func (s *Records) Parts(context.Context) ([]Part, error) {
	parts, first := make([]Part, 0, len(s.records)), int64(0)
	for i, r := range s.records {
		parts = append(parts, &recordPart{Record: r, number: i, first: first})
		first += r.NumRows()
	}
	return parts, nil
}

type recordPart struct {
	arrow.Record
	number int
	first  int64
}

// Location is a Located part's.
func (p *recordPart) Location() schemas.Location {
	return schemas.Location{Unit: "record batch", Number: int64(p.number)}
}

func (p *recordPart) String() string  { return p.Location().String() }
func (p *recordPart) Input() int      { return 0 }
func (p *recordPart) FirstRow() int64 { return p.first }
func (p *recordPart) Rows() int64     { return p.NumRows() }

func (p *recordPart) Read(_ context.Context, mem memory.Allocator, want []Want, batch int) (array.RecordReader, error) {
	r, err := ReadRecord(mem, p.Record, want, batch)
	if err != nil {
		return nil, inPart(p, err)
	}
	return r, nil
}

// Emit is a sink that hands annotated records to a function: for a program that embeds a chain. Records come from several
// goroutines in no fixed order, one call at a time, with the number of their part; the function retains what it keeps.
type Emit struct {
	To func(part int, r arrow.Record) error

	mu     sync.Mutex
	parts  []Part
	schema *arrow.Schema
	out    []Output
}

// Begin is a Sink's.
func (e *Emit) Begin(_ context.Context, parts []Part, out []Output) ([]string, error) {
	e.parts, e.out = parts, out
	var reads []string
	fields := make([]arrow.Field, 0, len(out))
	for _, o := range out {
		if o.Input {
			reads = append(reads, o.Field.Name)
		}
		fields = append(fields, o.Field)
	}
	e.schema = arrow.NewSchema(fields, nil)
	return reads, nil
}

// Part is a Sink's.
func (e *Emit) Part(_ context.Context, i int) (PartWriter, error) { return &emitPart{e, i}, nil }

// Commit is a Sink's.
func (e *Emit) Commit(context.Context, map[string]string) error { return nil }

// Abort is a Sink's.
func (e *Emit) Abort() {}

type emitPart struct {
	sink *Emit
	part int
}

func (p *emitPart) Write(rows arrow.Record, added []arrow.Array, keep *Bitmap) error {
	r, err := Assemble(memory.DefaultAllocator, p.sink.schema, p.sink.out, rows, added, keep)
	if err != nil {
		return err
	}
	defer r.Release()
	p.sink.mu.Lock()
	defer p.sink.mu.Unlock()
	return p.sink.To(p.part, r)
}

func (p *emitPart) Close() error { return nil }
