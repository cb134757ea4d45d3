package csvfile

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A reader makes records of the lines of a file.
type reader struct {
	lines      *opened
	file       *file
	columns    []int // position in the line of each field
	builder    *array.RecordBuilder
	batch      int
	current    arrow.Record
	err        error
	references atomic.Int64
}

func (r *reader) Retain() { r.references.Add(1) }

func (r *reader) Release() {
	if r.references.Add(-1) > 0 {
		return
	}
	r.drop()
	r.builder.Release()
	r.lines.Close()
}

func (r *reader) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

func (r *reader) Schema() *arrow.Schema { return r.builder.Schema() }
func (r *reader) Record() arrow.Record  { return r.current }
func (r *reader) Err() error            { return r.err }

func (r *reader) Next() bool {
	r.drop()
	if r.err != nil {
		return false
	}
	rows := 0
	for ; rows < r.batch; rows++ {
		err := r.file.next(r.lines)
		if err == io.EOF {
			break
		}
		if err != nil {
			r.err = err
			return false
		}
		for f, c := range r.columns {
			if err := add(r.builder.Field(f), r.lines.fields[c], r.lines.quoted[c]); err != nil {
				r.err = r.file.atLine(r.lines.at[c], r.Schema().Field(f).Name, fmt.Errorf("%q is no %s", r.lines.fields[c], r.Schema().Field(f).Type))
				return false
			}
		}
	}
	if rows == 0 {
		return false
	}
	if len(r.columns) == 0 {
		r.current = array.NewRecord(r.Schema(), nil, int64(rows))
	} else {
		r.current = r.builder.NewRecord()
	}
	return true
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
