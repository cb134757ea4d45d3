package arrowfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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
	Most    int64  // as Options.Memory
}

// A StreamSource is an Arrow IPC stream that was read once and kept. It is one part.
type StreamSource struct {
	spool    *spool
	schema   *arrow.Schema
	content  *content
	rows     int64
	warnings []string
}

// NewStreamSource reads a stream to its end. The end marker is optional in the format, and a stream without one is taken at the end of
// a message, with a warning, since a writer that failed leaves it so too.
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
	in := bufio.NewReaderSize(&interruptible{ctx, r}, 1<<16)
	if err := kindOf(in); err != nil {
		return nil, err
	}
	ended, err := s.keep(in)
	if err != nil {
		return nil, err
	}
	if s.content == nil {
		return nil, errors.New("standard input is no Arrow IPC stream: it has no schema")
	}
	s.content.in, s.content.size = s.spool.reader(), s.spool.size
	if err := s.readSchema(Options{Memory: o.Most}.most()); err != nil {
		return nil, fmt.Errorf("the Arrow stream on standard input is broken: %w", err)
	}
	if !ended {
		s.warnings = append(
			s.warnings,
			fmt.Sprintf(
				"the Arrow stream on standard input ends after %d rows without an end marker: it was taken as whole, but a writer that failed leaves it so too",
				s.rows,
			),
		)
	}
	return s, nil
}

// Warnings are what should be known of the stream.
func (s *StreamSource) Warnings() []string { return s.warnings }

// keep reads the stream to its end, message by message, so that what is none is found before much of it is kept. It tells whether there
// is an end marker.
func (s *StreamSource) keep(in *bufio.Reader) (ended bool, err error) {
	for {
		m, err := s.keepMessage(in)
		var own *keepError
		switch {
		case err == io.EOF:
			return false, nil
		case errors.As(err, &own):
			return false, own.error
		case err != nil:
			return false, fmt.Errorf("standard input is no Arrow IPC stream, or a broken one: %w (a CSV or Parquet file is given by its name)", err)
		case m.kind == 0:
			if _, err := in.Peek(1); err != io.EOF {
				return false, errors.New("bytes follow the end marker of the Arrow stream on standard input: streams cannot be put one after the other")
			}
			return true, nil
		}
		s.rows += m.rows()
	}
}

// A keepError is about reading standard input or keeping it, not about what it has.
type keepError struct{ error }

// keepMessage reads a message. The end marker has kind 0; an end without a marker is io.EOF.
func (s *StreamSource) keepMessage(in *bufio.Reader) (m message, err error) {
	start := s.spool.size
	if head, err := in.Peek(4); err != nil && err != io.EOF {
		return m, &keepError{err}
	} else if len(head) == 0 {
		return m, io.EOF
	} else if len(head) < 4 {
		return m, errors.New("it ends within a message")
	}
	head, _ := in.Peek(8)
	length, prefix := int64(int32(binary.LittleEndian.Uint32(head))), int64(4)
	if length == -1 { // the marker of messages since version 0.15
		if prefix = 8; len(head) < 8 {
			return m, errors.New("it ends within a message")
		}
		length = int64(int32(binary.LittleEndian.Uint32(head[4:])))
	}
	if length < 0 || length > largestMetadata {
		return m, fmt.Errorf("a message at byte %d says that its metadata has %d bytes", start, length)
	}
	if err := s.copy(in, prefix+length); err != nil || length == 0 {
		return m, err
	}
	metadata := make([]byte, length)
	if _, err := s.spool.reader().ReadAt(metadata, start+prefix); err != nil {
		return m, &keepError{err}
	}
	if m, err = readMessage(metadata, math.MaxInt64); err != nil {
		return m, fmt.Errorf("the message at byte %d: %w", start, err)
	}
	if start == 0 && m.kind != schemaMessage {
		return m, errors.New("its first message is not a schema")
	}
	if m.kind == schemaMessage {
		if start > 0 {
			return m, fmt.Errorf("the message at byte %d is a second schema", start)
		}
		s.content = &content{ids: m.ids, dictionaries: map[int64]*dictionary{}}
	} else {
		s.content.take(m, start)
	}
	return m, s.copy(in, m.body)
}

// copy keeps n bytes.
func (s *StreamSource) copy(in io.Reader, n int64) error {
	got, err := io.CopyN(s.spool, in, n)
	switch {
	case err == io.EOF:
		return fmt.Errorf("a message of %d bytes ends after %d", n, got)
	case err != nil:
		return &keepError{err}
	}
	return nil
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

// kindOf finds that there is nothing on standard input, or data of another kind.
func kindOf(in *bufio.Reader) error {
	head, err := in.Peek(6)
	switch {
	case err != nil && err != io.EOF:
		return err
	case len(head) == 0:
		return errors.New("standard input is empty: an Arrow IPC stream was expected")
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
func (s *StreamSource) readSchema(most int64) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = operators.Recovered(x, errors.New("its schema does not decode"))
		}
	}()
	r, err := ipc.NewReader(s.spool.reader())
	if err != nil {
		return err
	}
	defer r.Release()
	if err := s.content.begin(r.Schema(), most); err != nil {
		return err
	}
	s.schema = s.content.schema
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

func (p *streamPart) Read(ctx context.Context, mem memory.Allocator, want []operators.Want, batch int) (array.RecordReader, error) {
	c := p.source.content
	numbers := make([]int, len(c.batches))
	for i := range numbers {
		numbers[i] = i
	}
	return c.read(ctx, mem, "standard input", numbers, want, batch)
}
