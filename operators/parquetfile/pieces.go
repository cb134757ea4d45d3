package parquetfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"microrisk/operators/files"
)

// NewPieces is a sink that writes no file: put gets what is to be written of each part, from several goroutines, for a [Sink] of another
// process that takes it (see Take). It goes with a Sink of one output for each input, or of one for all; the options are the same.
func NewPieces(src *Source, several bool, o SinkOptions, put func(part int, piece []byte) error) (*Sink, error) {
	outputs := []files.Output{nowhere("the output")}
	for several && len(outputs) < len(src.files) {
		outputs = append(outputs, nowhere("the output"))
	}
	s, err := NewSink(src, outputs, o)
	if err == nil {
		s.put = put
	}
	return s, err
}

// nowhere is an output of which nothing is kept.
type nowhere string

func (n nowhere) Name() string                { return string(n) }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) Commit() error               { return errors.New("pieces are no file") }
func (n nowhere) Abort()                      {}

const pieceMagic = "microrisk piece1"

var pieceSum = crc32.MakeTable(crc32.Castagnoli)

// piece is what is made of a part, in bytes: the mark, a checksum of the rest, the number of rows, and one or two small files, the second
// being of the input's rows that stay.
func (m *made) piece() []byte {
	b := append([]byte(pieceMagic), 0, 0, 0, 0)
	b = binary.AppendVarint(b, m.rows)
	for _, e := range []*encoded{m.added, m.original} {
		if e == nil {
			b = binary.AppendUvarint(b, 0)
			continue
		}
		footer := e.footer.append(nil)
		b = binary.AppendUvarint(b, uint64(len(footer)))
		b = append(b, footer...)
		b = binary.AppendUvarint(b, uint64(e.footer.start))
		b = binary.AppendUvarint(b, uint64(len(e.data)))
		b = append(b, e.data...)
	}
	head := len(pieceMagic)
	binary.LittleEndian.PutUint32(b[head:], crc32.Checksum(b[head+4:], pieceSum))
	return b
}

var errPiece = errors.New("what was made of it elsewhere is damaged")

func madeOf(b []byte) (*made, error) {
	head := len(pieceMagic)
	if len(b) < head+4 || string(b[:head]) != pieceMagic || binary.LittleEndian.Uint32(b[head:]) != crc32.Checksum(b[head+4:], pieceSum) {
		return nil, errPiece
	}
	b = b[head+4:]
	number := func() int64 {
		x, n := binary.Uvarint(b)
		if n <= 0 || x > uint64(len(b)) {
			b = nil
			return -1
		}
		b = b[n:]
		return int64(x)
	}
	rows, n := binary.Varint(b)
	if n <= 0 {
		return nil, errPiece
	}
	b = b[n:]
	m := &made{rows: rows}
	for _, to := range []**encoded{&m.added, &m.original} {
		size := number()
		if size == 0 {
			continue
		}
		if size < 0 || size > int64(len(b)) {
			return nil, errPiece
		}
		footer, err := parseFooter(b[:size], maxPageBytes)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errPiece, err)
		}
		b = b[size:]
		start, length := number(), number()
		if start < 0 || length < 0 || length > int64(len(b)) {
			return nil, errPiece
		}
		footer.start = start
		*to = &encoded{b[:length:length], footer}
		b = b[length:]
	}
	if m.added == nil || len(b) > 0 {
		return nil, errPiece
	}
	return m, nil
}

// Take takes the piece of a part that NewPieces gave in another process, as if its rows had been written here; it keeps the bytes.
func (s *Sink) Take(ctx context.Context, i int, piece []byte) error {
	if s.source == nil || i < 0 || i >= len(s.parts) {
		return fmt.Errorf("there is no part %d of %d", i, len(s.parts))
	}
	m, err := madeOf(piece)
	if err != nil {
		return fmt.Errorf("%s: %w", s.parts[i], err)
	}
	if rows := s.parts[i].Rows(); m.rows < 0 || m.rows > rows || m.original == nil && m.rows > 0 && m.rows < rows {
		return fmt.Errorf("%s: %w", s.parts[i], errPiece)
	}
	if _, err := s.Part(ctx, i); err != nil {
		return err
	}
	return s.deliver(s.units[s.unitOf[i]], m)
}
