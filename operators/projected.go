package operators

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// errDecode stands for a panic of the library on broken data.
var errDecode = errors.New("the input is broken: its columns do not decode")

// projected reads the wanted columns of another reader's records.
type projected struct {
	mem        memory.Allocator
	reader     array.RecordReader
	want       []Want
	batch      int
	references atomic.Int64
	pieces     []arrow.Record
	current    arrow.Record
	err        error
}

func (p *projected) Retain() { p.references.Add(1) }

func (p *projected) Release() {
	if p.references.Add(-1) > 0 {
		return
	}
	p.drop()
	for _, piece := range p.pieces {
		piece.Release()
	}
	p.pieces = nil
	p.reader.Release()
}

func (p *projected) drop() {
	if p.current != nil {
		p.current.Release()
		p.current = nil
	}
}

// Schema is that of the reader beneath, not of the wanted columns: those are known when the first record comes.
func (p *projected) Schema() *arrow.Schema {
	if p.current != nil {
		return p.current.Schema()
	}
	return p.reader.Schema()
}

func (p *projected) Record() arrow.Record { return p.current }
func (p *projected) Err() error           { return p.err }

func (p *projected) Next() (more bool) {
	defer func() {
		if x := recover(); x != nil {
			p.err, more = Recovered(x, errDecode), false
		}
	}()
	p.drop()
	for p.err == nil && len(p.pieces) == 0 {
		if !p.reader.Next() {
			if err := p.reader.Err(); err != nil && err != io.EOF {
				p.err = err
			}
			return false
		}
		r, err := Project(p.mem, p.reader.Record(), p.want)
		if err != nil {
			p.err = err
			return false
		}
		p.pieces = cut(r, p.batch)
		r.Release()
	}
	if p.err != nil {
		return false
	}
	p.current, p.pieces = p.pieces[0], p.pieces[1:]
	return true
}
