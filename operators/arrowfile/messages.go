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
	body int64 // bytes
	at   int64 // where the body starts

	ids   []fieldIDs   // of a schema
	batch *recordBatch // of a record batch, or of a dictionary's values
	id    int64        // of a dictionary
	delta bool         // the dictionary grows by these values
}

// rows of a record batch.
func (m message) rows() int64 {
	if m.kind != recordBatchMessage {
		return 0
	}
	return m.batch.rows
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
		if err = checkSchema(header); err == nil {
			m.ids, err = schemaIDs(header)
		}
	case dictionaryMessage:
		batch, there, err2 := header.table(1)
		if err2 != nil || !there {
			return m, errMetadata
		}
		delta, err1 := header.uint8(2)
		id, err2 := header.int64(0)
		m.batch, err = checkRecordBatch(batch, m.body)
		m.id, m.delta, err = id, delta != 0, errors.Join(err, err1, err2)
	case recordBatchMessage:
		m.batch, err = checkRecordBatch(header, m.body)
	default:
		err = fmt.Errorf("a message is of the unknown kind %d", m.kind)
	}
	if m.batch != nil {
		version, err := root.int16(0)
		if err != nil {
			return m, err
		}
		m.batch.old = version < 4
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
	m.at = offset + prefix + length
	return m, m.at + m.body, nil
}

// scanFile checks the metadata of a file: its footer, and the messages that it names.
func scanFile(r io.ReaderAt, size int64) (*content, error) {
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
	if length > largestMetadata {
		return nil, fmt.Errorf("its footer has %d bytes, more than %d are not read", length, largestMetadata)
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
	c := &content{in: r, size: size, dictionaries: map[int64]*dictionary{}}
	if c.ids, err = schemaIDs(schema); err != nil {
		return nil, err
	}
	version, err := root.int16(0)
	if err != nil {
		return nil, err
	}
	c.start = schemaStream(footer, schema.pos, version)
	if err := c.blocks(root, 2, dictionaryMessage); err != nil {
		return nil, err
	}
	return c, c.blocks(root, 3, recordBatchMessage)
}

// schemaStream is a stream of nothing but the schema that lies in a footer: a message around it. (The first message of a file is the
// schema too, but some writers leave it out.)
func schemaStream(footer []byte, schema int, version int16) []byte {
	const table, around = 16, 32
	m := make([]byte, around, around+len(footer)+8)
	le := binary.LittleEndian
	le.PutUint32(m, table)
	for i, v := range []uint16{10, 12, 8, 10, 4} { // the size of this list and of the table, and where version, kind and header are in it
		le.PutUint16(m[4+2*i:], v)
	}
	le.PutUint32(m[table:], table-4)
	le.PutUint32(m[table+4:], uint32(around+schema-(table+4)))
	le.PutUint16(m[table+8:], uint16(version))
	m[table+10] = schemaMessage
	m = append(m, footer...)
	m = append(m, make([]byte, (8-len(m)%8)%8)...)
	head := le.AppendUint32(le.AppendUint32(nil, 0xffffffff), uint32(len(m)))
	return append(head, m...)
}

// blocks takes the messages that a vector of the footer names.
func (c *content) blocks(root flatTable, field int, kind uint8) error {
	first, n, err := root.vector(field, 24)
	if err != nil {
		return err
	}
	for i := range n {
		at := root.b[first+24*i:]
		offset, meta, body := int64(
			binary.LittleEndian.Uint64(at),
		), int64(
			int32(binary.LittleEndian.Uint32(at[8:])),
		), int64(
			binary.LittleEndian.Uint64(at[16:]),
		)
		if offset < 0 || meta < 8 || body < 0 || offset > c.size || meta > c.size-offset || body > c.size-offset-meta {
			return fmt.Errorf("block %d lies outside the file", i)
		}
		m, next, err := messageAt(c.in, offset, c.size)
		switch {
		case err != nil:
			return fmt.Errorf("block %d: %w", i, err)
		case m.kind != kind || next-offset-m.body != meta || m.body != body:
			return fmt.Errorf("block %d: the footer does not match the message at byte %d", i, offset)
		}
		c.take(m, offset)
	}
	return nil
}
