package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kinds of messages.
const (
	schemaMessage      = 1
	dictionaryMessage  = 2
	recordBatchMessage = 3
)

// A message is what the metadata of an IPC message says.
type message struct {
	kind uint8
	rows int64 // of a record batch
	body int64 // bytes

	compressed []span // buffers of the body
}

// readMessage checks a message's metadata. room is the number of bytes that its body may have.
func readMessage(metadata []byte, room int64) (m message, err error) {
	root, err := rootTable(metadata)
	if err != nil {
		return m, err
	}
	if m.kind, err = root.uint8(1); err != nil {
		return m, err
	}
	if m.body, err = root.int64(3); err != nil {
		return m, err
	}
	if m.body < 0 || m.body > room {
		return m, fmt.Errorf("a message of %d bytes ends after %d", m.body, max(room, 0))
	}
	if err := root.checkPairs(4); err != nil {
		return m, err
	}
	header, there, err := root.table(2)
	if err != nil {
		return m, err
	}
	if !there {
		return m, errMetadata
	}
	switch m.kind {
	case schemaMessage:
		err = checkSchema(header)
	case dictionaryMessage:
		batch, there, err2 := header.table(1)
		if err2 != nil || !there {
			return m, errMetadata
		}
		_, m.compressed, err = checkRecordBatch(batch, m.body)
	case recordBatchMessage:
		m.rows, m.compressed, err = checkRecordBatch(header, m.body)
	default:
		err = fmt.Errorf("a message is of the unknown kind %d", m.kind)
	}
	return m, err
}

// largestMetadata is the largest metadata of a message that is read.
const largestMetadata = 1 << 28

// messageAt reads the metadata of the message at an offset. next is where the one after it starts; at the end marker the kind is 0
// and next is where the marker ends. An end without a marker is io.EOF.
func messageAt(r io.ReaderAt, offset, size int64) (m message, next int64, err error) {
	var head [8]byte
	if offset+4 > size {
		return m, 0, io.EOF
	}
	if _, err := r.ReadAt(head[:min(8, size-offset)], offset); err != nil {
		return m, 0, err
	}
	length, prefix := int64(int32(binary.LittleEndian.Uint32(head[:]))), int64(4)
	if length == -1 { // the marker of messages since version 0.15
		length, prefix = int64(int32(binary.LittleEndian.Uint32(head[4:]))), 8
	}
	if length == 0 {
		return m, offset + prefix, nil
	}
	if length < 0 || length > largestMetadata || offset+prefix+length > size {
		return m, 0, fmt.Errorf("a message at byte %d says that its metadata has %d bytes, %d are left", offset, length, max(size-offset-prefix, 0))
	}
	metadata := make([]byte, length)
	if _, err := r.ReadAt(metadata, offset+prefix); err != nil {
		return m, 0, err
	}
	m, err = readMessage(metadata, size-offset-prefix-length)
	if err != nil {
		return m, 0, fmt.Errorf("the message at byte %d: %w", offset, err)
	}
	body := offset + prefix + length
	if err := checkCompressed(r, body, m.compressed); err != nil {
		return m, 0, fmt.Errorf("the message at byte %d: %w", offset, err)
	}
	return m, body + m.body, nil
}

// checkCompressed finds compressed buffers that would become larger than any compression makes possible: the library allocates
// what they say before it decompresses them.
func checkCompressed(r io.ReaderAt, body int64, buffers []span) error {
	var head [8]byte
	for _, s := range buffers {
		if s.size < int64(len(head)) {
			continue
		}
		if _, err := r.ReadAt(head[:], body+s.offset); err != nil {
			return err
		}
		if n := int64(binary.LittleEndian.Uint64(head[:])); n < -1 || n > 1<<26 && n/s.size > 1<<16 {
			return fmt.Errorf("a compressed buffer of %d bytes says that it has %d", s.size, n)
		}
	}
	return nil
}

// scanFile checks the metadata of a file: its footer, and the messages that it names. It tells the number of rows of each record
// batch.
func scanFile(r io.ReaderAt, size int64) (rows []int64, err error) {
	const magic = "ARROW1"
	tail := make([]byte, 10)
	if size < int64(len(tail)+8) {
		return nil, errors.New("it is too short to be an Arrow IPC file")
	}
	if _, err := r.ReadAt(tail, size-10); err != nil {
		return nil, err
	}
	length := int64(int32(binary.LittleEndian.Uint32(tail)))
	if string(tail[4:]) != magic {
		return nil, errors.New("its end is missing: it was cut off, or its writer did not finish")
	}
	if length <= 0 || length > size-18 {
		return nil, fmt.Errorf("its footer would have %d bytes", length)
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-10-length); err != nil {
		return nil, err
	}
	root, err := rootTable(footer)
	if err != nil {
		return nil, err
	}
	schema, there, err := root.table(1)
	if err != nil || !there {
		return nil, errMetadata
	}
	if err := errors.Join(checkSchema(schema), root.checkPairs(4)); err != nil {
		return nil, err
	}
	if _, err := blocks(r, root, 2, dictionaryMessage, size); err != nil {
		return nil, err
	}
	return blocks(r, root, 3, recordBatchMessage, size)
}

// blocks checks the messages that a vector of the footer names.
func blocks(r io.ReaderAt, root flatTable, field int, kind uint8, size int64) ([]int64, error) {
	first, n, err := root.vector(field, 24)
	if err != nil {
		return nil, err
	}
	rows := make([]int64, n)
	for i := range n {
		at := root.b[first+24*i:]
		offset, meta, body := int64(binary.LittleEndian.Uint64(at)), int64(int32(binary.LittleEndian.Uint32(at[8:]))), int64(binary.LittleEndian.Uint64(at[16:]))
		if offset < 0 || meta < 8 || body < 0 || offset > size || meta > size-offset || body > size-offset-meta {
			return nil, fmt.Errorf("block %d lies outside the file", i)
		}
		m, next, err := messageAt(r, offset, size)
		switch {
		case err != nil:
			return nil, fmt.Errorf("block %d: %w", i, err)
		case m.kind != kind || next-offset-m.body != meta || m.body != body:
			return nil, fmt.Errorf("block %d: the footer does not match the message at byte %d", i, offset)
		}
		rows[i] = m.rows
	}
	return rows, nil
}
