package arrowfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// StreamOptions say where a stream is kept until it is read again.
type StreamOptions struct {
	Memory  int64  // bytes kept in memory; more goes to a file
	TempDir string // of that file; "" for the system's
}

// A StreamSource is an Arrow IPC stream that was read once and kept. It is one part.
type StreamSource struct {
	spool  *spool
	schema *arrow.Schema
	rows   int64
}

// NewStreamSource reads a stream to its end. A stream without an end marker is an error, since that is how a writer that failed
// leaves it.
func NewStreamSource(ctx context.Context, r io.Reader, o StreamOptions) (_ *StreamSource, err error) {
	s := &StreamSource{spool: &spool{limit: o.Memory, dir: o.TempDir}}
	defer func() {
		if err != nil {
			s.spool.close()
		}
	}()
	if s.spool.dir == "" {
		s.spool.dir = os.TempDir()
	}
	if _, err := io.Copy(s.spool, &interruptible{ctx, r}); err != nil {
		return nil, err
	}
	if s.spool.size == 0 {
		return nil, errors.New("standard input is empty: an Arrow IPC stream was expected")
	}
	if err := s.kind(); err != nil {
		return nil, err
	}
	rows, ended, err := scanStream(s.spool.reader(), s.spool.size)
	if err != nil {
		return nil, fmt.Errorf("standard input is no Arrow IPC stream, or a broken one: %w (a CSV or Parquet file is given by its name)", err)
	}
	s.rows = rows
	if err := s.readSchema(); err != nil {
		return nil, err
	}
	if !ended {
		return nil, fmt.Errorf("the Arrow stream on standard input has no end marker after %d rows: its writer failed, or did not close it", rows)
	}
	return s, nil
}

// interruptible stops reading between two reads.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// kind finds other kinds of data on standard input.
func (s *StreamSource) kind() error {
	head := make([]byte, 6)
	n, _ := io.ReadFull(s.spool.reader(), head)
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("ARROW1")):
		return errors.New("standard input has an Arrow IPC file: only a stream can be piped, give the file by its name")
	case bytes.HasPrefix(head, []byte("PAR1")):
		return errors.New("standard input has a Parquet file: only an Arrow IPC stream can be piped, give the file by its name")
	case len(head) >= 4 && !bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r > '~' }):
		return errors.New("standard input has text, not an Arrow IPC stream: give a CSV file by its name")
	}
	return nil
}

// readSchema reads the stream's schema. Panics of the library on broken streams become errors.
func (s *StreamSource) readSchema() (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = errors.New("the Arrow stream on standard input is broken: its schema does not decode")
		}
	}()
	r, err := ipc.NewReader(s.spool.reader())
	if err != nil {
		return fmt.Errorf("standard input is no Arrow IPC stream: %w", err)
	}
	defer r.Release()
	s.schema = r.Schema()
	return nil
}

// Schema is a Source's.
func (s *StreamSource) Schema() *arrow.Schema { return s.schema }

// Inputs names the only input.
func (s *StreamSource) Inputs() []string { return []string{"-"} }

// Close removes what was kept.
func (s *StreamSource) Close() error { return s.spool.close() }

// Parts is a Source's.
func (s *StreamSource) Parts(context.Context) ([]operators.Part, error) {
	return []operators.Part{&streamPart{s}}, nil
}

type streamPart struct{ source *StreamSource }

func (p *streamPart) String() string  { return "standard input" }
func (p *streamPart) Input() int      { return 0 }
func (p *streamPart) FirstRow() int64 { return 0 }
func (p *streamPart) Rows() int64     { return p.source.rows }

func (p *streamPart) Read(_ context.Context, mem memory.Allocator, want []operators.Want, batch int) (array.RecordReader, error) {
	r, err := ipc.NewReader(p.source.spool.reader(), ipc.WithAllocator(mem))
	if err != nil {
		return nil, fmt.Errorf("standard input is no Arrow IPC stream: %w", err)
	}
	return operators.ReadAll(mem, r, want, batch)
}
