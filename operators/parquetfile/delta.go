package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/bitpack"
)

// decodeDelta fills out with numbers of DELTA_BINARY_PACKED and returns what follows them. Sums wrap around, as the format says, in
// the bits of the type: writers may give the differences of 32-bit numbers 33 bits, or take unsigned numbers for numbers of 64 bits.
func decodeDelta[T int32 | int64](out []T, src []byte) ([]byte, error) {
	d := deltaPage{src: src}
	if err := d.header(len(out)); err != nil || len(out) == 0 {
		return d.src, err
	}
	out[0] = T(d.first)
	last := out[0]
	for out = out[1:]; len(out) > 0; {
		least, widths, err := d.block()
		if err != nil {
			return nil, err
		}
		for _, width := range widths {
			n := min(d.mini, len(out))
			packed, err := d.miniBlock(n, width)
			if err != nil {
				return nil, err
			}
			if err := unpackNumbers(out[:n], packed, uint(width)); err != nil {
				return nil, err
			}
			for i, x := range out[:n] {
				last += T(least) + x
				out[i] = last
			}
			if out = out[n:]; len(out) == 0 {
				break
			}
		}
	}
	return d.src, nil
}

// A deltaPage is what is left of an encoded page.
type deltaPage struct {
	src    []byte
	blocks int // miniblocks of a block
	mini   int // values of a miniblock
	first  int64
}

// header reads the header of a page that must have n values.
func (d *deltaPage) header(n int) error {
	var sizes [3]uint64
	for i := range sizes {
		x, k := binary.Uvarint(d.src)
		if k <= 0 {
			return errPageEnds
		}
		sizes[i], d.src = x, d.src[k:]
	}
	first, k := binary.Varint(d.src)
	if k <= 0 {
		return errPageEnds
	}
	d.first, d.src = first, d.src[k:]
	block, minis, total := sizes[0], sizes[1], sizes[2]
	if block == 0 || block > 1<<30 || minis == 0 || block%minis != 0 || block/minis%8 != 0 {
		return fmt.Errorf("a page is damaged: its blocks have %d values in %d miniblocks", block, minis)
	}
	if total != uint64(n) {
		return fmt.Errorf("a page is damaged: it has %d of its %d values", total, n)
	}
	d.blocks, d.mini = int(minis), int(block/minis)
	return nil
}

// block reads the header of a block: the least difference, and the widths of its miniblocks.
func (d *deltaPage) block() (int64, []byte, error) {
	least, k := binary.Varint(d.src)
	if k <= 0 || k == len(d.src) {
		return 0, nil, errPageEnds
	}
	d.src = d.src[k:]
	n := min(d.blocks, len(d.src))
	widths := d.src[:n]
	d.src = d.src[n:]
	return least, widths, nil
}

// miniBlock takes a miniblock, of which n values are needed, with padding behind.
func (d *deltaPage) miniBlock(n int, width byte) ([]byte, error) {
	if width > 64 {
		return nil, fmt.Errorf("a page is damaged: a miniblock has numbers of %d bits", width)
	}
	need := bitpack.ByteCount(uint(n) * uint(width))
	if need > len(d.src) {
		return nil, errPageEnds
	}
	packed := padded(d.src, need)
	d.src = d.src[min(len(d.src), d.mini/8*int(width)):] // some writers leave the unused end of the last one out
	return packed, nil
}

// unpackNumbers unpacks numbers that may be wider than the type, whose higher bits do not matter then.
func unpackNumbers[T int32 | int64](out []T, packed []byte, width uint) error {
	switch o := any(out).(type) {
	case []int32:
		if width > 32 {
			wide := make([]int64, len(o))
			bitpack.Unpack(wide, packed, width)
			for i, x := range wide {
				o[i] = int32(x)
			}
			return nil
		}
	}
	if width == 0 {
		clear(out)
		return nil
	}
	bitpack.Unpack(out, packed, width)
	return nil
}

// decodeLengths fills offsets, one longer than there are values, from lengths in DELTA_BINARY_PACKED and returns what follows them:
// at least as many bytes as the lengths add up to.
func decodeLengths(offsets []uint32, lengths []int32, src []byte) ([]byte, error) {
	rest, err := decodeDelta(lengths, src)
	if err != nil {
		return nil, err
	}
	var sum int64
	for i, n := range lengths {
		if n < 0 {
			return nil, errNegativeLength
		}
		offsets[i] = uint32(sum)
		if sum += int64(n); sum > int64(len(rest)) {
			return nil, errPageEnds
		}
	}
	offsets[len(lengths)] = uint32(sum)
	return rest, nil
}

var errNegativeLength = errors.New("a page is damaged: it has a value of negative length")

// decodePrefixed puts values of DELTA_BYTE_ARRAY together, in no more than limit bytes: of each value it tells how many bytes of the
// one before it begins with. fixed is the length that all must have, 0 for any.
func decodePrefixed(offsets []uint32, prefixes, suffixes []int32, src, out []byte, fixed int, limit int64) ([]byte, error) {
	rest, err := decodeDelta(prefixes, src)
	if err != nil {
		return nil, err
	}
	ends := offsets // of the suffixes, until they become those of the values
	if rest, err = decodeLengths(ends, suffixes, rest); err != nil {
		return nil, err
	}
	whole := int64(ends[len(suffixes)])
	before := int32(0)
	for i, p := range prefixes {
		if p < 0 || p > before {
			return nil, fmt.Errorf("a page is damaged: a value begins with %d bytes of one of %d", p, before)
		}
		if fixed > 0 && int64(p)+int64(suffixes[i]) != int64(fixed) {
			return nil, fmt.Errorf("a page is damaged: it has a value of %d bytes, not %d", int64(p)+int64(suffixes[i]), fixed)
		}
		if whole += int64(p); whole > limit {
			return nil, errTooLarge(whole, limit)
		}
		before = p + suffixes[i]
	}
	out = resized(out, int(whole))
	at, from := 0, 0
	for i, p := range prefixes {
		start := at
		if i > 0 {
			at += copy(out[at:], out[offsets[i-1]:][:p])
		}
		at += copy(out[at:], rest[from:][:suffixes[i]])
		from += int(suffixes[i])
		offsets[i] = uint32(start)
	}
	offsets[len(prefixes)] = uint32(at)
	return out, nil
}
