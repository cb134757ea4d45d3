package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
)

// A thriftValue is a value of Thrift's compact protocol, without a schema. Footers are edited as trees of it, so that fields
// that this package does not know, and fields that are absent, stay as they are.
type thriftValue struct {
	kind  byte
	elem  byte          // list, set: kind of the elements; map: kinds of key and value
	num   int64         // integers; booleans within lists
	bytes []byte        // binary, double and uuid, aliasing what was parsed
	ids   []int16       // struct: field numbers
	kids  []thriftValue // struct: fields, list: elements, map: keys and values in turn
}

const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13

	thriftDepth = 64 // footers nest some ten deep
)

var (
	errThriftShort = errors.New("it ends in the middle of a value")
	errThriftDepth = errors.New("it is nested too deep")
	errThriftLarge = errors.New("it takes more memory than --memory leaves for it")
)

// parseThriftStruct parses the struct at the start of b and returns the number of bytes it took. Sizes are checked against
// the bytes that are left before anything is allocated.
func parseThriftStruct(b []byte) (thriftValue, int, error) { return parseThriftWithin(b, maxPageBytes) }

// parseThriftWithin parses a struct whose tree takes no more memory than limit bytes.
func parseThriftWithin(b []byte, limit int64) (thriftValue, int, error) {
	var p thriftParser
	return p.parse(b, limit)
}

// thriftParsers are those of brief, whose room serves again and again.
var thriftParsers = sync.Pool{New: func() any { return new(thriftParser) }}

// brief is parseThriftWithin for a tree that is looked at by f alone.
func brief(b []byte, limit int64, f func(v *thriftValue) error) (int, error) {
	p := thriftParsers.Get().(*thriftParser)
	defer thriftParsers.Put(p)
	v, n, err := p.parse(b, limit)
	p.b = nil
	if err != nil {
		return n, err
	}
	return n, f(&v)
}

// A thriftParser parses one struct after the other.
type thriftParser struct {
	b     []byte
	pos   int
	nodes int64 // that may still be made
	skips bool  // values are checked but not kept

	// Nodes of the values that are being read, and room for those of the ones that have been.
	open          []thriftValue
	openIDs       []int16
	room, kids    []thriftValue
	roomIDs, nums []int16
}

// parse is parseThriftWithin; the tree holds until the parser's next call.
func (p *thriftParser) parse(b []byte, limit int64) (thriftValue, int, error) {
	p.b, p.pos, p.nodes = b, 0, limit/thriftNodeBytes
	p.open, p.openIDs, p.kids, p.nums = p.open[:0], p.openIDs[:0], p.room, p.roomIDs
	v, err := p.value(thriftStruct, 0)
	return v, p.pos, err
}

// thriftNodeBytes is about what a node of the tree takes, with what growing lists leave behind.
const thriftNodeBytes = 192

func (p *thriftParser) take(n uint64) ([]byte, error) {
	if n > uint64(len(p.b)-p.pos) {
		return nil, errThriftShort
	}
	s := p.b[p.pos : p.pos+int(n) : p.pos+int(n)]
	p.pos += int(n)
	return s, nil
}

func (p *thriftParser) byte() (byte, error) {
	if p.pos >= len(p.b) {
		return 0, errThriftShort
	}
	p.pos++
	return p.b[p.pos-1], nil
}

func (p *thriftParser) uvarint() (uint64, error) {
	x, n := binary.Uvarint(p.b[p.pos:])
	if n == 0 {
		return 0, errThriftShort
	}
	if n < 0 {
		return 0, errors.New("a number is too long")
	}
	p.pos += n
	return x, nil
}

func (p *thriftParser) varint() (int64, error) {
	x, err := p.uvarint()
	return int64(x>>1) ^ -int64(x&1), err
}

func (p *thriftParser) value(kind byte, depth int) (v thriftValue, err error) {
	v.kind = kind
	if depth > thriftDepth {
		return v, errThriftDepth
	}
	if p.nodes--; p.nodes < 0 {
		return v, errThriftLarge
	}
	switch kind {
	case thriftTrue, thriftFalse: // within a list: a byte of its own
		b, err := p.byte()
		v.num = int64(b)
		return v, err
	case thriftByte:
		b, err := p.byte()
		v.num = int64(int8(b))
		return v, err
	case thriftI16, thriftI32, thriftI64:
		v.num, err = p.varint()
		return v, err
	case thriftDouble:
		v.bytes, err = p.take(8)
		return v, err
	case thriftUUID:
		v.bytes, err = p.take(16)
		return v, err
	case thriftBinary:
		n, err := p.uvarint()
		if err != nil {
			return v, err
		}
		v.bytes, err = p.take(n)
		return v, err
	case thriftList, thriftSet:
		elem, size, err := p.listHeader()
		if err != nil {
			return v, err
		}
		v.elem = elem
		from := len(p.open)
		for range size {
			kid, err := p.value(elem, depth+1)
			if err != nil {
				return v, err
			}
			p.push(kid, 0)
		}
		v.kids, _ = p.keep(from)
		return v, nil
	case thriftMap:
		return v, p.mapEntries(&v, depth)
	case thriftStruct:
		return v, p.fields(&v, depth)
	}
	return v, fmt.Errorf("value of unknown kind %d", kind)
}

// listHeader reads the header of a list; each element takes at least a byte, which bounds the size.
func (p *thriftParser) listHeader() (elem byte, size int, err error) {
	h, err := p.byte()
	if err != nil {
		return 0, 0, err
	}
	n := uint64(h >> 4)
	if n == 15 {
		if n, err = p.uvarint(); err != nil {
			return 0, 0, err
		}
	}
	if n > uint64(len(p.b)-p.pos) {
		return 0, 0, errThriftShort
	}
	return h & 15, int(n), nil
}

func (p *thriftParser) mapEntries(v *thriftValue, depth int) error {
	n, err := p.uvarint()
	if err != nil || n == 0 {
		return err
	}
	if v.elem, err = p.byte(); err != nil {
		return err
	}
	if n > uint64(len(p.b)-p.pos) {
		return errThriftShort
	}
	from := len(p.open)
	for range n {
		for _, kind := range [2]byte{v.elem >> 4, v.elem & 15} {
			kid, err := p.value(kind, depth+1)
			if err != nil {
				return err
			}
			p.push(kid, 0)
		}
	}
	v.kids, _ = p.keep(from)
	return nil
}

// field reads a field header; kind 0 is the end of the struct.
func (p *thriftParser) field(last int16) (id int16, kind byte, err error) {
	h, err := p.byte()
	if err != nil || h == 0 {
		return 0, 0, err
	}
	if delta := h >> 4; delta != 0 {
		return last + int16(delta), h & 15, nil
	}
	x, err := p.varint()
	return int16(x), h & 15, err
}

func (p *thriftParser) fields(v *thriftValue, depth int) error {
	var last int16
	from := len(p.open)
	for {
		id, kind, err := p.field(last)
		if err != nil {
			return err
		}
		if kind == 0 {
			v.kids, v.ids = p.keep(from)
			return nil
		}
		kid := thriftValue{kind: kind}
		if kind != thriftTrue && kind != thriftFalse {
			if kid, err = p.value(kind, depth+1); err != nil {
				return err
			}
		}
		p.push(kid, id)
		last = id
	}
}

// Nodes that room is made for at once: the first time, and at most.
const (
	thriftRoomLeast = 16
	thriftRoomMost  = 1024
)

func (p *thriftParser) push(v thriftValue, id int16) {
	if !p.skips {
		p.open, p.openIDs = append(p.open, v), append(p.openIDs, id)
	}
}

// keep takes the nodes from one on, those of a value that ends.
func (p *thriftParser) keep(from int) (kids []thriftValue, ids []int16) {
	n := len(p.open) - from
	if n == 0 {
		return nil, nil
	}
	if n > len(p.kids) {
		room := max(n, min(2*len(p.room), thriftRoomMost), thriftRoomLeast)
		p.room, p.roomIDs = make([]thriftValue, room), make([]int16, room)
		p.kids, p.nums = p.room, p.roomIDs
	}
	kids, p.kids = p.kids[:n:n], p.kids[n:]
	ids, p.nums = p.nums[:n:n], p.nums[n:]
	copy(kids, p.open[from:])
	copy(ids, p.openIDs[from:])
	p.open, p.openIDs = p.open[:from], p.openIDs[:from]
	return kids, ids
}

// append writes the value as the compact protocol has it.
func (v *thriftValue) append(b []byte) []byte {
	switch v.kind {
	case thriftTrue, thriftFalse, thriftByte:
		return append(b, byte(v.num))
	case thriftI16, thriftI32, thriftI64:
		return binary.AppendVarint(b, v.num)
	case thriftDouble, thriftUUID:
		return append(b, v.bytes...)
	case thriftBinary:
		return append(binary.AppendUvarint(b, uint64(len(v.bytes))), v.bytes...)
	case thriftList, thriftSet:
		b = appendThriftListHeader(b, v.elem, len(v.kids))
	case thriftMap:
		b = binary.AppendUvarint(b, uint64(len(v.kids)/2))
		if len(v.kids) > 0 {
			b = append(b, v.elem)
		}
	case thriftStruct:
		var last int16
		for i := range v.kids {
			b = appendThriftField(b, last, v.ids[i], v.kids[i].kind)
			if k := v.kids[i].kind; k != thriftTrue && k != thriftFalse {
				b = v.kids[i].append(b)
			}
			last = v.ids[i]
		}
		return append(b, 0)
	}
	for i := range v.kids {
		b = v.kids[i].append(b)
	}
	return b
}

func appendThriftListHeader(b []byte, elem byte, size int) []byte {
	if size < 15 {
		return append(b, byte(size)<<4|elem)
	}
	return binary.AppendUvarint(append(b, 0xf0|elem), uint64(size))
}

func appendThriftField(b []byte, last, id int16, kind byte) []byte {
	if delta := int(id) - int(last); delta > 0 && delta <= 15 {
		return append(b, byte(delta)<<4|kind)
	}
	return binary.AppendVarint(append(b, kind), int64(id))
}

// field is the field with that number, nil if the struct has none.
func (v *thriftValue) field(id int16) *thriftValue {
	if v == nil {
		return nil
	}
	for i, x := range v.ids {
		if x == id {
			return &v.kids[i]
		}
	}
	return nil
}

// integer is the value of an integer field, otherwise the value given.
func (v *thriftValue) integer(id int16, otherwise int64) int64 {
	if f := v.field(id); f != nil && f.kind >= thriftByte && f.kind <= thriftI64 {
		return f.num
	}
	return otherwise
}

// list is the elements of a list, nil of no value.
func (v *thriftValue) list() []thriftValue {
	if v == nil {
		return nil
	}
	return v.kids
}

// text is the value of a binary field, "" without one.
func (v *thriftValue) text(id int16) string {
	if f := v.field(id); f != nil && f.kind == thriftBinary {
		return string(f.bytes)
	}
	return ""
}

// set replaces or adds a field, keeping the order of numbers.
func (v *thriftValue) set(id int16, kid thriftValue) {
	for i, x := range v.ids {
		if x == id {
			v.kids[i] = kid
			return
		}
		if x > id {
			v.ids = append(v.ids[:i:i], append([]int16{id}, v.ids[i:]...)...)
			v.kids = append(v.kids[:i:i], append([]thriftValue{kid}, v.kids[i:]...)...)
			return
		}
	}
	v.ids = append(v.ids, id)
	v.kids = append(v.kids, kid)
}

// remove drops a field.
func (v *thriftValue) remove(id int16) {
	for i, x := range v.ids {
		if x == id {
			v.ids = append(v.ids[:i:i], v.ids[i+1:]...)
			v.kids = append(v.kids[:i:i], v.kids[i+1:]...)
			return
		}
	}
}

func thriftInt(kind byte, n int64) thriftValue { return thriftValue{kind: kind, num: n} }

func thriftText(s string) thriftValue { return thriftValue{kind: thriftBinary, bytes: []byte(s)} }
