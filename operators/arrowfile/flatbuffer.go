package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The library trusts the lengths that it finds in the metadata of IPC messages, and allocates what they say. So the metadata
// is checked before the library sees it: everything it refers to must lie within it.

var errMetadata = errors.New("the metadata is broken")

// A flatTable is a table of a flatbuffer.
type flatTable struct {
	b   []byte
	pos int
}

// rootTable is the table that a flatbuffer starts with.
func rootTable(b []byte) (flatTable, error) {
	if len(b) < 4 {
		return flatTable{}, errMetadata
	}
	return flatAt(b, int64(binary.LittleEndian.Uint32(b)))
}

// flatAt checks that a table lies within the buffer, and all its fields' places in it.
func flatAt(b []byte, pos int64) (flatTable, error) {
	t := flatTable{b, int(pos)}
	if pos < 0 || pos+4 > int64(len(b)) {
		return t, errMetadata
	}
	v := pos - int64(int32(binary.LittleEndian.Uint32(b[pos:])))
	if v < 0 || v+4 > int64(len(b)) {
		return t, errMetadata
	}
	size, inline := int64(binary.LittleEndian.Uint16(b[v:])), int64(binary.LittleEndian.Uint16(b[v+2:]))
	if size < 4 || size%2 != 0 || v+size > int64(len(b)) || pos+inline > int64(len(b)) {
		return t, errMetadata
	}
	for f := v + 4; f < v+size; f += 2 {
		if at := int64(binary.LittleEndian.Uint16(b[f:])); at >= max(inline, 4) {
			return t, errMetadata
		}
	}
	return t, nil
}

// field is the place of a field of the given size, 0 if it has its default.
func (t flatTable) field(n, size int) (int, error) {
	v := t.pos - int(int32(binary.LittleEndian.Uint32(t.b[t.pos:])))
	if 4+2*n >= int(binary.LittleEndian.Uint16(t.b[v:])) {
		return 0, nil
	}
	at := int(binary.LittleEndian.Uint16(t.b[v+4+2*n:]))
	if at == 0 {
		return 0, nil
	}
	if t.pos+at+size > len(t.b) {
		return 0, errMetadata
	}
	return t.pos + at, nil
}

func (t flatTable) int64(n int) (int64, error) {
	at, err := t.field(n, 8)
	if at == 0 || err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(t.b[at:])), nil
}

func (t flatTable) int16(n int) (int16, error) {
	at, err := t.field(n, 2)
	if at == 0 || err != nil {
		return 0, err
	}
	return int16(binary.LittleEndian.Uint16(t.b[at:])), nil
}

func (t flatTable) uint8(n int) (uint8, error) {
	at, err := t.field(n, 1)
	if at == 0 || err != nil {
		return 0, err
	}
	return t.b[at], nil
}

// table is a table that a field refers to; there is none if it has its default.
func (t flatTable) table(n int) (sub flatTable, there bool, err error) {
	at, err := t.field(n, 4)
	if at == 0 || err != nil {
		return sub, false, err
	}
	sub, err = flatAt(t.b, int64(at)+int64(binary.LittleEndian.Uint32(t.b[at:])))
	return sub, err == nil, err
}

// vector is the place of the first element and the number of elements, each of the given size, of a vector or a string.
func (t flatTable) vector(n, size int) (first, length int, err error) {
	at, err := t.field(n, 4)
	if at == 0 || err != nil {
		return 0, 0, err
	}
	start := int64(at) + int64(binary.LittleEndian.Uint32(t.b[at:]))
	if start+4 > int64(len(t.b)) {
		return 0, 0, errMetadata
	}
	l := int64(binary.LittleEndian.Uint32(t.b[start:]))
	if start+4+l*int64(size) > int64(len(t.b)) {
		return 0, 0, errMetadata
	}
	return int(start) + 4, int(l), nil
}

// tables goes through a vector of tables.
func (t flatTable) tables(n int, do func(flatTable) error) error {
	first, length, err := t.vector(n, 4)
	if err != nil {
		return err
	}
	for i := range length {
		at := first + 4*i
		sub, err := flatAt(t.b, int64(at)+int64(binary.LittleEndian.Uint32(t.b[at:])))
		if err != nil {
			return err
		}
		if err := do(sub); err != nil {
			return err
		}
	}
	return nil
}

// checkPairs checks a vector of key-value pairs.
func (t flatTable) checkPairs(n int) error {
	return t.tables(n, func(pair flatTable) error {
		_, _, err1 := pair.vector(0, 1)
		_, _, err2 := pair.vector(1, 1)
		return errors.Join(err1, err2)
	})
}

// checkSchema checks a Schema table.
func checkSchema(t flatTable) error {
	if order, err := t.int16(0); err != nil {
		return err
	} else if order != 0 {
		return errors.New("its numbers are big-endian: write it on another machine, or little-endian")
	}
	if err := t.tables(1, func(f flatTable) error { return checkField(f, 0) }); err != nil {
		return err
	}
	return t.checkPairs(2)
}

// deepest is how deep columns may be nested.
const deepest = 64

func checkField(f flatTable, depth int) error {
	if depth > deepest {
		return fmt.Errorf("a column is nested more than %d deep", deepest)
	}
	if _, _, err := f.vector(0, 1); err != nil {
		return err
	}
	kind, err := f.uint8(2)
	if err != nil {
		return err
	}
	typ, there, err := f.table(3)
	if err != nil {
		return err
	}
	switch {
	case !there:
		return errMetadata
	case kind == 10: // Timestamp: its time zone
		_, _, err = typ.vector(1, 1)
	case kind == 14: // Union: its type ids
		_, _, err = typ.vector(1, 4)
	}
	if err != nil {
		return err
	}
	if dictionary, there, err := f.table(4); err != nil {
		return err
	} else if there {
		if _, _, err := dictionary.table(1); err != nil {
			return err
		}
	}
	if err := f.tables(5, func(c flatTable) error { return checkField(c, depth+1) }); err != nil {
		return err
	}
	return f.checkPairs(6)
}

// fieldIDs has the dictionaries of a field and of those within it.
type fieldIDs struct {
	id     int64
	fields []fieldIDs
}

func (f fieldIDs) child(k int) fieldIDs {
	if k < len(f.fields) {
		return f.fields[k]
	}
	return fieldIDs{}
}

// schemaIDs are the dictionaries of the columns of a Schema table that was checked.
func schemaIDs(t flatTable) (list []fieldIDs, err error) {
	err = t.tables(1, func(f flatTable) error {
		ids, err := idsOf(f)
		list = append(list, ids)
		return err
	})
	return list, err
}

func idsOf(f flatTable) (ids fieldIDs, err error) {
	if dictionary, there, err := f.table(4); err != nil {
		return ids, err
	} else if there {
		if ids.id, err = dictionary.int64(0); err != nil {
			return ids, err
		}
	}
	err = f.tables(5, func(c flatTable) error {
		sub, err := idsOf(c)
		ids.fields = append(ids.fields, sub)
		return err
	})
	return ids, err
}

// A span is a buffer within a message's body.
type span struct{ offset, size int64 }

// A recordBatch is what the metadata of a RecordBatch says.
type recordBatch struct {
	rows     int64
	nodes    []node
	buffers  []span
	variadic []int64 // of each array of views: how many buffers its values lie in
	codec    int8    // 0: LZ4 frames, 1: Zstandard, -1: not compressed
	old      bool    // of a version before 5
}

// checkRecordBatch reads a RecordBatch table whose body has the given length.
func checkRecordBatch(t flatTable, body int64) (*recordBatch, error) {
	b := &recordBatch{codec: -1}
	var err error
	if b.rows, err = t.int64(0); err != nil {
		return nil, err
	}
	if b.rows < 0 {
		return nil, errMetadata
	}
	pairs := func(n int, add func(x, y int64) error) error {
		first, length, err := t.vector(n, 16)
		if err != nil {
			return err
		}
		for i := range length {
			at := first + 16*i
			if err := add(int64(binary.LittleEndian.Uint64(t.b[at:])), int64(binary.LittleEndian.Uint64(t.b[at+8:]))); err != nil {
				return err
			}
		}
		return nil
	}
	if err := pairs(1, func(length, nulls int64) error {
		b.nodes = append(b.nodes, node{length, nulls})
		return nil
	}); err != nil {
		return nil, err
	}
	if err := pairs(2, func(offset, size int64) error {
		if offset < 0 || size < 0 || offset > body || size > body-offset {
			return errors.New("a buffer lies outside its message")
		}
		b.buffers = append(b.buffers, span{offset, size})
		return nil
	}); err != nil {
		return nil, err
	}
	compression, compressed, err := t.table(3)
	if err != nil {
		return nil, err
	}
	if compressed {
		codec, err := compression.uint8(0)
		if err != nil {
			return nil, err
		}
		b.codec = int8(codec & 0x7f)
	}
	first, length, err := t.vector(4, 8)
	if err != nil {
		return nil, err
	}
	for i := range length {
		b.variadic = append(b.variadic, int64(binary.LittleEndian.Uint64(t.b[first+8*i:])))
	}
	return b, nil
}
