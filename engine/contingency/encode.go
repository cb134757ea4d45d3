package contingency

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// The file of a table, to be sent from one process to another or kept:
//
//	file     = magic version frame... end
//	magic    = the 16 bytes "microrisk table\n"
//	version  = 1, in 4 bytes
//	frame    = length checksum payload    length: 1 to 65536, in 4 bytes
//	end      = 0 checksum                 nothing follows
//
// Whole numbers are little-endian. The checksum is CRC-32C, in 4 bytes, of the frame's number, which counts from 0, in 8 bytes, and its
// payload; so frames that are lost, doubled or exchanged are found too. The payloads, one after another, are the table:
//
//	table    = count variable... sums classes records class...
//	variable = text order count text...   order: a byte, 0 for by bytes, 1 for by number; then the labels of its categories
//	class    = same code... records sum... the variables whose codes are those of the class before, then the codes of the others
//	sum      = 16 bytes, two's complement, a multiple of 2^-32
//	text     = count byte...
//
// count, sums, classes, records, same and code are unsigned varints (seven bits a byte, the lowest first). Classes stand in the
// ascending order of their codes, which are those of the table, the missing value last; each has at least one record.
const (
	tableMagic   = "microrisk table\n"
	tableVersion = 1
	frameBytes   = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameSum is the checksum of a frame.
func frameSum(number uint64, payload []byte) uint32 {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], number)
	return crc32.Update(crc32.Checksum(n[:], castagnoli), castagnoli, payload)
}

// A frameWriter writes a payload in frames.
type frameWriter struct {
	w      io.Writer
	head   [8]byte
	buffer []byte
	number uint64
	err    error
}

func (f *frameWriter) frame(payload []byte) {
	if f.err != nil {
		return
	}
	binary.LittleEndian.PutUint32(f.head[:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(f.head[4:], frameSum(f.number, payload))
	f.number++
	if _, f.err = f.w.Write(f.head[:]); f.err == nil && len(payload) > 0 {
		_, f.err = f.w.Write(payload)
	}
}

func (f *frameWriter) full() {
	for len(f.buffer) >= frameBytes {
		f.frame(f.buffer[:frameBytes])
		f.buffer = f.buffer[:copy(f.buffer, f.buffer[frameBytes:])]
	}
}

func (f *frameWriter) number64(n uint64) {
	f.buffer = binary.AppendUvarint(f.buffer, n)
}

func (f *frameWriter) text(s string) {
	f.number64(uint64(len(s)))
	for len(s) > 0 {
		n := min(len(s), frameBytes)
		f.buffer = append(f.buffer, s[:n]...)
		s = s[n:]
		f.full()
	}
}

// Encode writes a table as a file: see the source for its form. Equal tables give equal bytes. [Decode] reads it. Errors: those of
// writing, of reading a table on disk, a context that ends.
func Encode(ctx context.Context, w io.Writer, t *Table) error {
	head := binary.LittleEndian.AppendUint32([]byte(tableMagic), tableVersion)
	if _, err := w.Write(head); err != nil {
		return err
	}
	f := &frameWriter{w: w, buffer: make([]byte, 0, 2*frameBytes)}
	f.number64(uint64(len(t.Variables)))
	for _, v := range t.Variables {
		f.text(v.Name)
		f.buffer = append(f.buffer, byte(v.Order))
		f.number64(uint64(len(v.Categories)))
		for _, c := range v.Categories {
			f.text(c)
			f.full()
		}
	}
	f.number64(uint64(len(t.sums)))
	f.number64(uint64(t.classes))
	f.number64(uint64(t.records))
	if err := f.classes(ctx, t); err != nil {
		return err
	}
	f.full()
	if len(f.buffer) > 0 {
		f.frame(f.buffer)
	}
	f.frame(nil)
	return f.err
}

func (f *frameWriter) classes(ctx context.Context, t *Table) error {
	before, codes := make([]uint32, len(t.Variables)), make([]uint32, len(t.Variables))
	words, first := t.layout.words, true
	return t.scan(scanKeys|scanCounts|scanSums, func(c *chunk) error {
		for i := range c.n {
			if i%cursorClasses == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			same, equal := 0, !first
			for v := range codes {
				codes[v] = t.layout.code(c.keys[i*words:(i+1)*words], v)
				if equal = equal && codes[v] == before[v]; equal {
					same++
				}
			}
			first = false
			f.number64(uint64(same))
			for _, code := range codes[same:] {
				f.number64(uint64(code))
			}
			f.number64(uint64(c.count(i)))
			for s := range t.sums {
				x := c.sum(i, s)
				f.buffer = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(f.buffer, x.lo), x.hi)
			}
			copy(before, codes)
			if f.full(); f.err != nil {
				return f.err
			}
		}
		return nil
	})
}
