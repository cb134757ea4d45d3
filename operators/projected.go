package operators

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// errDecode stands for a panic of the library on broken data.
var errDecode = errors.New("the input is broken: its columns do not decode")

// projected are the wanted columns of a reader's records.
type projected struct {
	mem    memory.Allocator
	reader array.RecordReader
	want   []Want
	batch  int
	pieces []arrow.Record
	schema *arrow.Schema // of the last piece; nil before the first
}

// Close is a Batches'.
func (p *projected) Close() {
	for _, piece := range p.pieces {
		piece.Release()
	}
	p.pieces = nil
	p.reader.Release()
}

// Schema is that of the reader beneath, not of the wanted columns: those are known when the first record comes.
func (p *projected) Schema() *arrow.Schema {
	if p.schema != nil {
		return p.schema
	}
	return p.reader.Schema()
}

// Next is a Batches'.
func (p *projected) Next() (next arrow.Record, err error) {
	defer func() {
		if x := recover(); x != nil {
			next, err = nil, Recovered(x, errDecode)
		}
	}()
	for len(p.pieces) == 0 {
		if !p.reader.Next() {
			if err := p.reader.Err(); err != io.EOF {
				return nil, err
			}
			return nil, nil
		}
		r, err := Project(p.mem, p.reader.Record(), p.want)
		if err != nil {
			return nil, err
		}
		p.pieces, p.schema = cut(r, p.batch), r.Schema()
		r.Release()
	}
	next, p.pieces = p.pieces[0], p.pieces[1:]
	return next, nil
}
