package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/bitpack"
)

// Levels, dictionary indexes and RLE booleans are runs of the hybrid encoding: one value many times, or groups of eight values that
// are bit-packed. Here each run is measured against the bytes of its page and the values that the page has left, before a value is
// decoded. https://github.com/apache/parquet-format/blob/master/Encodings.md#RLE

var errPageEnds = errors.New("a page ends too early: the file is damaged")

// pagePadding is how many bytes behind a page can be read: decoders take whole words.
const pagePadding = 64

// A run is a stretch of values.
type run struct {
	n      int    // values of the page; a bit-packed run may hold up to the next multiple of eight
	packed []byte // nil: all are value
	value  uint32
}

// runs takes the runs of a page one after the other.
type runs struct {
	src   []byte
	width uint // bits of a value
	left  int  // values that are to come
}

// next is the next run, of at least one value; left must be positive.
func (r *runs) next() (run, error) {
	if r.width == 0 && len(r.src) == 0 { // nothing need be said of values without bits
		n := r.left
		r.left = 0
		return run{n: n}, nil
	}
	for {
		header, k := binary.Uvarint(r.src)
		if k <= 0 {
			return run{}, errPageEnds
		}
		r.src = r.src[k:]
		n := header >> 1
		switch {
		case n == 0:
			continue
		case header&1 == 0:
			return r.repeated(n)
		}
		return r.bitPacked(n)
	}
}

func (r *runs) repeated(n uint64) (run, error) {
	size := int(r.width+7) / 8
	if size > len(r.src) {
		return run{}, errPageEnds
	}
	if n >= uint64(r.left)+8 { // some writers fill the last byte of booleans
		return run{}, fmt.Errorf("a page is damaged: it has a run of %d values where %d are left", n, r.left)
	}
	v := run{n: min(int(n), r.left)}
	for i, b := range r.src[:size] {
		v.value |= uint32(b) << (8 * i)
	}
	r.src = r.src[size:]
	r.left -= v.n
	return v, nil
}

func (r *runs) bitPacked(groups uint64) (run, error) {
	n := r.left
	if groups <= uint64(r.left)/8 {
		n = int(groups) * 8
	}
	need := bitpack.ByteCount(uint(n) * r.width)
	if need > len(r.src) {
		return run{}, errPageEnds
	}
	v := run{n: n, packed: padded(r.src, need)}
	whole := uint64(len(r.src)) // some writers leave the unused end of the last group out
	if r.width > 0 && groups <= whole/uint64(r.width) {
		whole = groups * uint64(r.width)
	} else if r.width == 0 {
		whole = 0
	}
	r.src = r.src[whole:]
	r.left -= n
	return v, nil
}

// padded is the first n bytes with pagePadding behind them.
func padded(b []byte, n int) []byte {
	if cap(b) >= n+pagePadding {
		return b[: n+pagePadding : n+pagePadding]
	}
	out := make([]byte, n+pagePadding)
	copy(out, b[:min(n, len(b))])
	return out
}

// stretchCodes is how many codes are unpacked before they are looked at, while they are in the nearest cache.
const stretchCodes = 2048

// decodeCodes fills out with the values of src, of a width of up to 32 bits, which must be below n as unsigned numbers.
func decodeCodes(out []int32, src []byte, width uint, n uint32) error {
	if width > 32 {
		return fmt.Errorf("a page is damaged: its indexes have %d bits", width)
	}
	r := runs{src: src, width: width, left: len(out)}
	for len(out) > 0 {
		v, err := r.next()
		if err != nil {
			return err
		}
		if v.packed == nil || width == 0 {
			fill(out[:v.n], int32(v.value))
			if v.value >= n {
				return errBeyond(v.value, n)
			}
			out = out[v.n:]
			continue
		}
		for from := 0; from < v.n; from += stretchCodes {
			part := out[from:min(from+stretchCodes, v.n)]
			bitpack.Unpack(part, v.packed[uint(from)*width/8:], width)
			if !allBelow(part, n) {
				return errBeyond(largest(part), n)
			}
		}
		out = out[v.n:]
	}
	return nil
}

func errBeyond(index, n uint32) error {
	return fmt.Errorf("index %d is beyond the dictionary of %d values", index, n)
}

// fill sets all of out, by doubling.
func fill[T any](out []T, x T) {
	if len(out) == 0 {
		return
	}
	out[0] = x
	for n := 1; n < len(out); n *= 2 {
		copy(out[n:], out[:n])
	}
}

// decodeLevels fills out with levels, none of which may be above most.
func decodeLevels(out []byte, src []byte, width uint, most byte) error {
	r := runs{src: src, width: width, left: len(out)}
	for len(out) > 0 {
		v, err := r.next()
		if err != nil {
			return err
		}
		if v.packed != nil && width > 0 {
			expandBits(out[:v.n], v.packed, width)
			if err := noneAbove(out[:v.n], width, most); err != nil {
				return err
			}
		} else if v.value > uint32(most) {
			return levelAbove(v.value, most)
		} else {
			fill(out[:v.n], byte(v.value))
		}
		out = out[v.n:]
	}
	return nil
}

func levelAbove(level uint32, most byte) error {
	return fmt.Errorf("a page is damaged: it has a level of %d, its column has none above %d", level, most)
}

func noneAbove(levels []byte, width uint, most byte) error {
	if uint(most) == 1<<width-1 {
		return nil
	}
	for _, l := range levels {
		if l > most {
			return levelAbove(uint32(l), most)
		}
	}
	return nil
}

// expandBits gives each of the values, of up to eight bits, a byte.
func expandBits(out, packed []byte, width uint) {
	if width == 1 {
		for ; len(out) >= 8; out, packed = out[8:], packed[1:] {
			binary.LittleEndian.PutUint64(out, bytesOfBits[packed[0]])
		}
		for i := range out {
			out[i] = packed[0] >> i & 1
		}
		return
	}
	mask := uint64(1)<<width - 1
	for ; len(out) > 0; packed = packed[width:] {
		word := binary.LittleEndian.Uint64(packed)
		n := min(8, len(out))
		for i := range n {
			out[i] = byte(word >> (uint(i) * width) & mask)
		}
		out = out[n:]
	}
}

// bytesOfBits are the eight bits of a byte as eight bytes.
var bytesOfBits = func() (t [256]uint64) {
	for b := range t {
		for i := range 8 {
			t[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return t
}()

// decodeOldLevels fills out with levels of the deprecated BIT_PACKED encoding, which has no runs and begins with the highest bit.
func decodeOldLevels(out []byte, src []byte, width uint, most byte) error {
	if bitpack.ByteCount(uint(len(out))*width) > len(src) {
		return errPageEnds
	}
	for i := range out {
		var level byte
		for b := uint(i) * width; b < uint(i+1)*width; b++ {
			level = level<<1 | src[b/8]>>(7-b%8)&1
		}
		out[i] = level
	}
	return noneAbove(out, width, most)
}

// decodeBooleans fills out with a byte for each boolean in RLE encoding.
func decodeBooleans(out []byte, src []byte) error {
	if len(src) < 4 {
		return errPageEnds
	}
	n := uint64(binary.LittleEndian.Uint32(src))
	if src = src[4:]; n > uint64(len(src)) {
		return errPageEnds
	}
	r := runs{src: src[:n], width: 1, left: len(out)}
	for len(out) > 0 {
		v, err := r.next()
		switch {
		case err != nil:
			return err
		case v.packed != nil:
			expandBits(out[:v.n], v.packed, 1)
		case v.value == 0xff: // parquet-go writes it for true
			fill(out[:v.n], 1)
		case v.value > 1:
			return fmt.Errorf("a page is damaged: it has a boolean of value %d", v.value)
		default:
			fill(out[:v.n], byte(v.value))
		}
		out = out[v.n:]
	}
	return nil
}
