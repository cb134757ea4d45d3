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

// A span is a buffer within a message's body.
type span struct{ offset, size int64 }

// checkRecordBatch checks a RecordBatch table whose body has the given length, and tells its number of rows and its buffers if
// they are compressed.
func checkRecordBatch(t flatTable, body int64) (rows int64, compressed []span, err error) {
	rows, err = t.int64(0)
	if err != nil {
		return 0, nil, err
	}
	if rows < 0 {
		return 0, nil, errMetadata
	}
	if _, _, err := t.vector(1, 16); err != nil {
		return 0, nil, err
	}
	first, length, err := t.vector(2, 16)
	if err != nil {
		return 0, nil, err
	}
	_, compress, err := t.table(3)
	if err != nil {
		return 0, nil, err
	}
	for i := range length {
		at := first + 16*i
		offset, size := int64(binary.LittleEndian.Uint64(t.b[at:])), int64(binary.LittleEndian.Uint64(t.b[at+8:]))
		if offset < 0 || size < 0 || offset > body || size > body-offset {
			return 0, nil, errors.New("a buffer lies outside its message")
		}
		if compress {
			compressed = append(compressed, span{offset, size})
		}
	}
	_, _, err = t.vector(4, 8)
	return rows, compressed, err
}
