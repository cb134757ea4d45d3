package operators

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A Source has rows that can be read more than once.
type Source interface {
	// Schema has the columns as their reader would expect them (a string column is a string, not a dictionary, unless it was
	// written as one).
	Schema() *arrow.Schema
	// Parts are the pieces that can be read at the same time, in the order of the rows: row groups, record batches.
	Parts(ctx context.Context) ([]Part, error)
}

// A Part is a run of rows of one input.
type Part interface {
	String() string  // where it is, for messages: "census.parquet, row group 3"
	Input() int      // index of the input it belongs to
	FirstRow() int64 // number of its first row in that input, from 0
	Rows() int64
	// Read gives the wanted columns, in that order, in batches of at most batch rows (0: the reader's choice). Errors, the
	// reader's Err included, say where they happened. A part may be read from several goroutines at once, by a reader each.
	Read(ctx context.Context, mem memory.Allocator, want []Want, batch int) (array.RecordReader, error)
}

// A Divisible part can be read by pieces at the same time, as a row group can by its pages.
type Divisible interface {
	Part
	// Divide gives pieces of consecutive rows by which the wanted columns are to be read, at most as many as are asked for; the part itself if
	// it is not worth dividing.
	Divide(want []Want, pieces int) []Part
}

// A Want is a column to be read, as the type in the schema or coded.
type Want struct {
	Name string
	// Coded asks for arrow.Dictionary with int32 indexes and distinct values of the schema's type (of its value type, when the schema
	// says dictionary), for any type that has equality: all but floating point, null and nested ones. Nulls are nulls of the
	// index. Batches with the same dictionary share one arrow.ArrayData for it, so that what is computed for it once can be kept.
	// A dictionary may hold values that no row has.
	Coded bool
}

// A Sink takes annotated rows, part by part. Nothing is seen at its destination before Commit.
type Sink interface {
	// Begin is told the source's parts and the columns of the output, in order; it returns the input columns that it
	// wants to be handed with the rows, in the schema's type (none for a sink that copies them from the input itself).
	Begin(ctx context.Context, parts []Part, out []Output) (reads []string, err error)
	// Part starts part i of those given to Begin. Parts are written at the same time from several goroutines, about in order;
	// each is written by one goroutine from first to last row.
	Part(ctx context.Context, i int) (PartWriter, error)
	// Commit completes the output, adds the metadata where the format has a place for it, and puts it in place.
	Commit(ctx context.Context, metadata map[string]string) error
	// Abort removes what was written; after Commit it does nothing.
	Abort()
}

// A PartWriter takes the rows of one part, batch by batch.
type PartWriter interface {
	// Write takes a batch: rows has the columns that Begin asked for, added one array a new column of the output in order,
	// all of the same length. keep tells which rows stay, nil for all. Nothing given is kept after the call, unless retained.
	Write(rows arrow.Record, added []arrow.Array, keep *Bitmap) error
	Close() error
}

// An Output is a column of the output: one of the input's that passes through, or an added one.
type Output struct {
	Field arrow.Field
	Input bool // passes through from the input
	// Filtered says that rows leave the output: what is written must not hold values of theirs, as a dictionary might.
	Filtered bool
}

// InputsOf are the paths of the files of a source, as far as it names them.
func InputsOf(src Source) []string {
	if named, ok := src.(interface{ Inputs() []string }); ok {
		return named.Inputs()
	}
	return nil
}
