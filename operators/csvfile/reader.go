package csvfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// rows are the values of the lines of a file.
type rows struct {
	lines   *opened
	file    *file
	columns []int // position in the line of each field
	builder *array.RecordBuilder
	batch   int
}

// Close is a Batches'.
func (r *rows) Close() {
	r.builder.Release()
	r.lines.Close()
}

// Schema is a Batches'.
func (r *rows) Schema() *arrow.Schema { return r.builder.Schema() }

// Next is a Batches'.
func (r *rows) Next() (arrow.Record, error) {
	rows := 0
	for ; rows < r.batch; rows++ {
		err := r.file.next(r.lines)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for f, c := range r.columns {
			if err := add(r.builder.Field(f), r.lines.fields[c], r.lines.quoted[c]); err != nil {
				return nil, r.file.atLine(r.lines.at[c], r.Schema().Field(f).Name, fmt.Errorf("%q is no %s", r.lines.fields[c], r.Schema().Field(f).Type))
			}
		}
	}
	switch {
	case rows == 0:
		return nil, nil
	case len(r.columns) == 0:
		return array.NewRecord(r.Schema(), nil, int64(rows)), nil
	}
	return r.builder.NewRecord(), nil
}

var errBoolean = errors.New("neither true nor false")

func add(b array.Builder, text string, quoted bool) error {
	if text == "" {
		if s, ok := b.(*array.StringBuilder); ok && quoted {
			s.Append("")
		} else {
			b.AppendNull()
		}
		return nil
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(text)
		return nil
	case *array.BooleanBuilder:
		switch text {
		case "true", "TRUE", "True":
			b.Append(true)
		case "false", "FALSE", "False":
			b.Append(false)
		default:
			return errBoolean
		}
		return nil
	}
	return b.AppendValueFromString(text)
}
