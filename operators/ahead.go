package operators

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// ahead reads the next batch while the current one is looked at: for a source with fewer parts than there are workers.
type ahead struct {
	reader  array.RecordReader
	batches chan arrow.Record
	stop    chan struct{}
	err     error // set before batches is closed
	current arrow.Record
}

func readAhead(reader array.RecordReader) *ahead {
	a := &ahead{reader: reader, batches: make(chan arrow.Record, 1), stop: make(chan struct{})}
	go a.read()
	return a
}

func (a *ahead) read() {
	defer close(a.batches)
	defer func() {
		if x := recover(); x != nil {
			a.err = Recovered(x, nil)
		}
	}()
	for a.reader.Next() {
		r := a.reader.Record()
		r.Retain()
		select {
		case a.batches <- r:
		case <-a.stop:
			r.Release()
			return
		}
	}
	a.err = a.reader.Err()
}

// next is the next batch, good until the one after; nil at the end.
func (a *ahead) next() (arrow.Record, error) {
	a.drop()
	r, ok := <-a.batches
	if !ok {
		return nil, a.err
	}
	a.current = r
	return r, nil
}

func (a *ahead) drop() {
	if a.current != nil {
		a.current.Release()
		a.current = nil
	}
}

// close stops reading and lets everything go.
func (a *ahead) close() {
	close(a.stop)
	for r := range a.batches {
		r.Release()
	}
	a.drop()
	a.reader.Release()
}

// batches gives the batches of a reader one after the other, read ahead or not.
type batches interface {
	next() (arrow.Record, error)
	close()
}

// inPlace reads a batch when it is asked for.
type inPlace struct{ reader array.RecordReader }

func (p inPlace) next() (arrow.Record, error) {
	if p.reader.Next() {
		return p.reader.Record(), nil
	}
	return nil, p.reader.Err()
}

func (p inPlace) close() { p.reader.Release() }
