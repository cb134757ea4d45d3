package contingency

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// A DamageError says what is wrong with the file of a table, and where.
type DamageError struct {
	Frame  int64 // number of the frame, from 0
	Offset int64 // of it in the file
	What   string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the file of a table is damaged: frame %d, at byte %d: %s", e.Frame, e.Offset, e.What)
}

// A frameReader reads the payload of frames that are whole.
type frameReader struct {
	ctx    context.Context
	r      io.Reader
	buffer []byte
	at     int
	next   uint64 // number of the next frame
	start  int64  // of the frame that was read last
	end    int64
	ended  bool
}

func (f *frameReader) damage(format string, args ...any) error {
	return &DamageError{int64(f.next) - 1, f.start, fmt.Sprintf(format, args...)}
}

// fill reads the next frame. The end is io.EOF.
func (f *frameReader) fill() error {
	if f.ended {
		return io.EOF
	}
	if err := f.ctx.Err(); err != nil {
		return err
	}
	f.start, f.next = f.end, f.next+1
	var head [8]byte
	if n, err := io.ReadFull(f.r, head[:]); err != nil {
		return f.short(err, "it ends %d bytes into a frame's head of 8, before the end mark", n)
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length > frameBytes {
		return f.damage("its length is %d, more than the %d of a frame", length, frameBytes)
	}
	if f.buffer == nil {
		f.buffer = make([]byte, 0, frameBytes)
	}
	f.buffer, f.at = f.buffer[:length], 0
	if n, err := io.ReadFull(f.r, f.buffer); err != nil {
		return f.short(err, "it ends %d bytes into a payload of %d", n, length)
	}
	if want, got := binary.LittleEndian.Uint32(head[4:]), frameSum(f.next-1, f.buffer); want != got {
		return f.damage("its checksum is %08x, that of its bytes %08x", want, got)
	}
	f.end += int64(len(head)) + int64(length)
	if length > 0 {
		return nil
	}
	f.ended = true
	if n, err := io.ReadFull(f.r, head[:1]); n > 0 {
		return f.damage("bytes follow the end mark")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return io.EOF
}

// short is the damage of a file that ends early, or what reading failed with.
func (f *frameReader) short(err error, format string, args ...any) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return f.damage(format, args...)
	}
	return err
}

// more has at least a byte in the buffer.
func (f *frameReader) more() error {
	if f.at < len(f.buffer) {
		return nil
	}
	err := f.fill()
	if errors.Is(err, io.EOF) {
		return f.damage("the table goes on after the last frame")
	}
	return err
}

// ReadByte is an io.ByteReader's.
func (f *frameReader) ReadByte() (byte, error) {
	if err := f.more(); err != nil {
		return 0, err
	}
	f.at++
	return f.buffer[f.at-1], nil
}

// number is a varint of at most most.
func (f *frameReader) number(what string, most uint64) (uint64, error) {
	n := uint64(0)
	for shift := 0; ; shift += 7 {
		b, err := f.ReadByte()
		if err != nil {
			return 0, err
		}
		if shift == 63 && b > 1 {
			return 0, f.damage("%s is no number of 64 bits", what)
		}
		if n |= uint64(b&0x7f) << shift; b < 0x80 {
			break
		}
	}
	if n > most {
		return 0, f.damage("%s is %d, more than %d", what, n, most)
	}
	return n, nil
}

// text is read piece by piece: it takes no more memory than there are bytes of it.
func (f *frameReader) text(what string) (string, error) {
	n, err := f.number("the length of "+what, math.MaxInt32)
	if err != nil {
		return "", err
	}
	var b []byte
	for uint64(len(b)) < n {
		if err := f.more(); err != nil {
			return "", err
		}
		part := f.buffer[f.at:min(uint64(len(f.buffer)), uint64(f.at)+n-uint64(len(b)))]
		b, f.at = append(b, part...), f.at+len(part)
	}
	return string(b), nil
}

// Decode reads the file of a table that [Encode] wrote. What is damaged is a [DamageError]; a file that is none, or of another version,
// and a context that ends are errors too. However large a table the file claims to be, no more memory is taken than it has bytes for.
// The table is in memory if it and its lookup index fit in memory bytes (0: no limit), else in the store, as with [Merge].
func Decode(ctx context.Context, r io.Reader, workers int, memory int64, s *Store) (*Table, error) {
	head := make([]byte, len(tableMagic)+4)
	if n, err := io.ReadFull(r, head); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	} else if n < len(head) || string(head[:len(tableMagic)]) != tableMagic {
		return nil, errors.New("this is no file of a table: it does not begin with its mark")
	}
	if v := binary.LittleEndian.Uint32(head[len(tableMagic):]); v != tableVersion {
		return nil, fmt.Errorf("the file of a table is of version %d, which is not known: version %d is", v, tableVersion)
	}
	f := &frameReader{ctx: ctx, r: r, end: int64(len(head))}
	variables, err := f.variables()
	if err != nil {
		return nil, err
	}
	l, err := layoutOf(variables)
	if err != nil {
		return nil, f.damage("%v", err)
	}
	sums, err := f.number("the number of sums", 1<<16)
	if err != nil {
		return nil, err
	}
	classes, err := f.number("the number of classes", math.MaxInt64)
	if err != nil {
		return nil, err
	}
	records, err := f.number("the number of records", math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if classes > records {
		return nil, f.damage("%d classes have %d records", classes, records)
	}
	b := newBuilder(variables, l, int(sums), workers)
	// A table that would be too large by far is as large as is possible: no product overflows.
	if err := b.within(ctx, int64(min(classes, 1<<40)), int64(records), memory, s); err != nil {
		return nil, err
	}
	if err := f.classes(b, classes); err != nil {
		return nil, err
	}
	if b.t.records != int64(records) {
		return nil, f.damage("the classes have %d records, the table says %d", b.t.records, records)
	}
	if f.at < len(f.buffer) {
		return nil, f.damage("%d bytes follow the last class", len(f.buffer)-f.at)
	}
	if err := f.fill(); err == nil {
		return nil, f.damage("a frame follows the last class")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b.table()
}

func (f *frameReader) variables() ([]Variable, error) {
	n, err := f.number("the number of variables", maxVariables)
	if err != nil {
		return nil, err
	}
	variables := make([]Variable, n)
	for i := range variables {
		v := &variables[i]
		if v.Name, err = f.text("a name"); err != nil {
			return nil, err
		}
		order, err := f.ReadByte()
		if err != nil {
			return nil, err
		}
		if v.Order = Order(order); v.Order > ByNumber {
			return nil, f.damage("variable %q has the order %d, which is none", v.Name, order)
		}
		if v.Categories, err = f.categories(v); err != nil {
			return nil, err
		}
	}
	return variables, nil
}

// categories are different from each other, in any order.
func (f *frameReader) categories(v *Variable) ([]string, error) {
	n, err := f.number("the number of categories", math.MaxUint32-1)
	if err != nil {
		return nil, err
	}
	var list []string
	var seen map[string]bool // once they are out of order
	for c := range n {
		label, err := f.text("a category")
		if err != nil {
			return nil, err
		}
		if seen == nil && c > 0 && v.Order.Compare(list[c-1], label) >= 0 {
			seen = make(map[string]bool, len(list))
			for _, other := range list {
				seen[other] = true
			}
		}
		if seen[label] {
			return nil, f.damage("variable %q has the category %q twice", v.Name, label)
		}
		if seen != nil {
			seen[label] = true
		}
		list = append(list, label)
	}
	return list, nil
}

func (f *frameReader) classes(b *builder, classes uint64) error {
	t := b.t
	codes := make([]uint32, len(t.Variables))
	entry := make([]uint64, t.layout.words+1+2*len(t.sums))
	for i := range classes {
		same, err := f.number("the number of codes that stay", uint64(len(codes)))
		if err != nil {
			return err
		}
		if i == 0 && same > 0 || i > 0 && same == uint64(len(codes)) {
			return f.damage("class %d does not follow the one before", i)
		}
		for v := int(same); v < len(codes); v++ {
			code, err := f.number("a code", math.MaxUint32)
			if err != nil {
				return err
			}
			if code > uint64(t.Variables[v].Missing()) {
				return f.damage("code %d of class %d is beyond the %d categories of variable %q", code, i, len(t.Variables[v].Categories), t.Variables[v].Name)
			}
			if i > 0 && v == int(same) && uint32(code) <= codes[v] {
				return f.damage("class %d does not follow the one before", i)
			}
			codes[v] = uint32(code)
		}
		clear(entry[:t.layout.words])
		for v, c := range codes {
			entry[t.layout.fields[v].word] |= uint64(c) << t.layout.fields[v].shift
		}
		if err := f.values(entry[t.layout.words:], i); err != nil {
			return err
		}
		if err := b.add(entry); err != nil {
			return err
		}
	}
	return nil
}

// values are the records and sums of a class.
func (f *frameReader) values(to []uint64, class uint64) error {
	n, err := f.number("the number of records", math.MaxInt64)
	if err != nil {
		return err
	}
	if n == 0 {
		return f.damage("class %d has no records", class)
	}
	to[0] = n
	for s := 1; s < len(to); s += 2 {
		var x [16]byte
		for i := range x {
			if x[i], err = f.ReadByte(); err != nil {
				return err
			}
		}
		to[s], to[s+1] = binary.LittleEndian.Uint64(x[8:]), binary.LittleEndian.Uint64(x[:])
	}
	return nil
}
