package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"sync"

	"microrisk/engine/budget"
)

// A leafType is what must be known of a leaf to decode its pages.
type leafType struct {
	physical    int
	fixed       int // bytes of a FIXED_LEN_BYTE_ARRAY
	repetitions int // highest repetition level
	definitions int
}

func (f *file) leafType(c *column, leaf int) leafType {
	shape := f.leaves(c)[leaf-c.leaf]
	t := leafType{physical: int(shape.element.integer(elementType, -1)), fixed: int(shape.element.integer(elementLength, 0)), definitions: len(shape.levels)}
	for _, repeated := range shape.levels {
		if repeated {
			t.repetitions++
		}
	}
	return t
}

// trouble tells why no page of the leaf can be decoded.
func (t *leafType) trouble() error {
	switch {
	case t.physical < 0 || t.physical > physicalFixed:
		return fmt.Errorf("unknown physical type %d", t.physical)
	case t.physical == physicalFixed && (t.fixed <= 0 || t.fixed > maxFixed):
		return fmt.Errorf("FIXED_LEN_BYTE_ARRAY of %d bytes", t.fixed)
	case t.definitions > math.MaxUint8:
		return fmt.Errorf("%d levels of nesting", t.definitions)
	}
	return nil
}

// width is the number of bytes of a value in a plain page, 0 if they vary; booleans take a byte when they are decoded.
func (t *leafType) width() int {
	c := conversion{physical: t.physical, fixed: t.fixed}
	if t.physical == physicalBoolean {
		return 1
	}
	return c.physicalWidth()
}

// A leafPage is a page of a leaf, decoded: a dictionary, or levels and the values that are not null. It holds until the reader
// moves on.
type leafPage struct {
	n       int       // values, nulls included
	levels  [2][]byte // repetition and definition levels, nil where all would be 0
	values  int       // that are not null
	coded   bool
	codes   []int32 // of the dictionary, when coded
	data    []byte  // of the values otherwise; booleans take a byte each
	offsets []uint32
}

// at is value i of the page, which must not be coded.
func (p *leafPage) at(i, width int) []byte {
	if p.offsets != nil {
		return p.data[p.offsets[i]:p.offsets[i+1]]
	}
	return p.data[i*width : (i+1)*width]
}

// A pageReader decodes the pages of a column chunk. Every length that a page claims is compared with the bytes that it has, so that
// no value can come from anywhere else, and nothing is allocated that these bytes cannot hold or that is larger than limit.
type pageReader struct {
	leaf       leafType
	codec      int64
	at, end    int64
	left       int64 // values that are to come
	limit      int64
	converted  int64 // bytes that a value takes once more, as Arrow has it
	page       leafPage
	dictionary *leafPage
	*pageMemory
}

// pageMemory is memory that chunks use one after the other.
type pageMemory struct {
	window
	whole   []byte // a page decompressed
	levels  [2][]byte
	codes   []int32
	data    []byte
	wide    []int64
	lengths [2][]int32
	offsets []uint32
}

var pageMemories = sync.Pool{New: func() any { return new(pageMemory) }}

// keepScratch is the size up to which memory is kept for the next chunk.
const keepScratch = 1 << 23

func newPageReader(r io.ReaderAt, at, end, values int64, codec int64, leaf leafType, limit int64) *pageReader {
	s := pageMemories.Get().(*pageMemory)
	s.window.r, s.window.end, s.window.likely, s.window.buffer = r, end, 0, s.window.buffer[:0]
	return &pageReader{leaf: leaf, codec: codec, at: at, end: end, left: values, limit: limit, pageMemory: s}
}

// close gives the memory of the pages back.
func (r *pageReader) close() {
	s := r.pageMemory
	if s == nil {
		return
	}
	r.pageMemory, r.page, r.dictionary = nil, leafPage{}, nil
	s.window.r = nil
	if cap(s.whole)+cap(s.data)+4*cap(s.codes)+8*cap(s.wide)+4*cap(s.offsets)+cap(s.window.long)+cap(s.levels[1]) < keepScratch {
		pageMemories.Put(s)
	}
}

// skip passes over the pages that lie within the first n values, and tells how many of these the next page has.
func (r *pageReader) skip(n int64) (within int64, err error) {
	for n > 0 {
		if r.at >= r.end {
			return n, fmt.Errorf("%d values are missing at the end", r.left)
		}
		h, size, err := readPageHeader(r.pageMemory, r.at, r.end)
		if err != nil {
			return n, err
		}
		switch {
		case !h.isData() && h.kind != pageDictionary:
		case h.kind == pageDictionary:
			if r.dictionary != nil {
				return n, errors.New("its column chunk has two dictionaries")
			}
			r.at += size
			if r.dictionary, err = r.readDictionary(&h); err != nil {
				return n, fmt.Errorf("dictionary: %w", err)
			}
			size = 0
		case h.values > r.left:
			return n, fmt.Errorf("its pages have %d values too many", h.values-r.left)
		case h.values > n:
			return n, nil
		default:
			r.left -= h.values
			n -= h.values
		}
		r.at += size + h.packed
	}
	return 0, nil
}

// next decodes the next data page; io.EOF when all values have been read.
func (r *pageReader) next() (*leafPage, error) {
	for r.left > 0 {
		if r.at >= r.end {
			return nil, fmt.Errorf("%d values are missing at the end", r.left)
		}
		h, n, err := readPageHeader(r.pageMemory, r.at, r.end)
		if err != nil {
			return nil, err
		}
		r.at += n
		switch {
		case h.kind == pageIndexKind:
		case h.kind == pageDictionary:
			if r.dictionary != nil {
				return nil, errors.New("its column chunk has two dictionaries")
			}
			if r.dictionary, err = r.readDictionary(&h); err != nil {
				return nil, fmt.Errorf("dictionary: %w", err)
			}
		case h.values > r.left:
			return nil, fmt.Errorf("its pages have %d values too many", h.values-r.left)
		default:
			if err := r.readData(&h); err != nil {
				return nil, err
			}
			r.left -= h.values
			r.at += h.packed
			return &r.page, nil
		}
		r.at += h.packed
	}
	return nil, io.EOF
}

// body is the page as it lies in the file, with its checksum compared.
func (r *pageReader) body(h *pageHeader) ([]byte, error) {
	if most := mostOf(r.codec, h.packed); h.whole > most && !h.uncompressed {
		return nil, fmt.Errorf("a page is damaged: it claims to hold %d bytes in %d", h.whole, h.packed)
	}
	need := h.whole + h.packed + h.values*r.bytesOf(h)
	if r.leaf.definitions > 0 {
		need += h.values / 8 // the bitmap of an Arrow array
	}
	if h.kind == pageDictionary && r.leaf.physical == physicalBytes {
		need += 2 * h.whole // as Arrow has them, and told apart
	}
	if need > r.limit {
		return nil, errTooLarge(need, r.limit)
	}
	b, err := r.bytes(r.at, int(h.packed))
	if err == nil && h.checksum != 0 && h.checksum != crc32.ChecksumIEEE(b) {
		err = errors.New("a page is damaged: its checksum does not match")
	}
	return b, err
}

// bytesOf is what a value of a page takes when it is decoded, besides the bytes that it has in the page.
func (r *pageReader) bytesOf(h *pageHeader) int64 {
	n := r.converted
	if h.kind == pageDictionary {
		n += dictionaryBytesOf + int64(r.leaf.width())
	}
	switch {
	case h.isData() && h.isCoded():
		n = 4
	case r.leaf.physical == physicalBytes && h.encoding == encodingDeltaBytes:
		n += 12
	case r.leaf.physical == physicalBytes:
		n += 8
	case h.encoding != encodingPlain:
		n += int64(r.leaf.width())
	}
	if r.leaf.definitions > 0 {
		n++
	}
	if r.leaf.repetitions > 0 {
		n++
	}
	return n
}

// dictionaryBytesOf is what telling a dictionary's values apart takes for each: a number, a hash and their places.
const dictionaryBytesOf = 24

func errTooLarge(need, limit int64) error {
	return budget.Budget{Bytes: limit}.Beyond("a page, which may take a part of the memory allowed,", need, "write the file with smaller pages")
}

// unpacked decompresses a page into fresh memory, or into that of the page before.
func (r *pageReader) unpacked(h *pageHeader, body []byte, plainBytes int64, fresh bool) ([]byte, error) {
	isPacked := r.codec != codecNone && !h.uncompressed
	if !isPacked && !fresh {
		return body, nil
	}
	whole := h.whole
	if !isPacked {
		whole = int64(len(body))
	}
	var out []byte
	if fresh {
		out = make([]byte, whole+pagePadding)[:whole]
	} else {
		r.whole = resized(r.whole, int(whole)+pagePadding)
		out = r.whole[:whole]
	}
	if !isPacked {
		copy(out, body)
		return out, nil
	}
	copy(out, body[:plainBytes])
	if whole == plainBytes {
		return out, nil
	}
	return out, unpack(out[plainBytes:], body[plainBytes:], r.codec)
}

// readDictionary decodes a dictionary page into memory of its own.
func (r *pageReader) readDictionary(h *pageHeader) (*leafPage, error) {
	if h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
		return nil, fmt.Errorf("its values are in encoding %d, not plain", h.encoding)
	}
	body, err := r.body(h)
	if err == nil {
		body, err = r.unpacked(h, body, 0, true)
	}
	if err != nil {
		return nil, err
	}
	p := &leafPage{n: int(h.values), values: int(h.values)}
	d := &pageMemory{offsets: make([]uint32, 0, min(h.values, int64(len(body)/4))+1)}
	return p, d.plain(p, r.leaf, body)
}

// readData decodes a data page into r.page.
func (r *pageReader) readData(h *pageHeader) error {
	p := &r.page
	*p = leafPage{n: int(h.values), values: int(h.values)}
	body, err := r.body(h)
	if err != nil {
		return err
	}
	if h.kind == pageDataV2 && h.values > 0 {
		if err := r.levelsV2(h, body); err != nil {
			return err
		}
	}
	plainBytes := h.levelBytes[0] + h.levelBytes[1]
	if h.kind == pageDataV2 && p.values == 0 { // nothing follows the levels, or what some writers compress nothing to
		return nil
	}
	if body, err = r.unpacked(h, body, plainBytes, false); err != nil {
		return err
	}
	body = body[plainBytes:]
	if h.kind == pageData {
		if body, err = r.levelsV1(h, body); err != nil {
			return err
		}
	}
	if p.values == 0 {
		return nil
	}
	return r.decode(h, body)
}

func (r *pageReader) levelsV2(h *pageHeader, body []byte) error {
	for k, size := range h.levelBytes {
		if err := r.decodeLevels(k, h, body[:size]); err != nil {
			return err
		}
		body = body[size:]
	}
	return nil
}

// levelsV1 decodes the levels and returns what follows them.
func (r *pageReader) levelsV1(h *pageHeader, body []byte) ([]byte, error) {
	for k, most := range [2]int{r.leaf.repetitions, r.leaf.definitions} {
		if most == 0 {
			continue
		}
		var size int64
		if h.levels[k] == encodingBitPacked {
			size = (h.values*int64(bits.Len(uint(most))) + 7) / 8
		} else {
			if len(body) < 4 {
				return nil, errPageEnds
			}
			size = int64(binary.LittleEndian.Uint32(body))
			body = body[4:]
		}
		if size > int64(len(body)) {
			return nil, errPageEnds
		}
		if err := r.decodeLevels(k, h, body[:size]); err != nil {
			return nil, err
		}
		body = body[size:]
	}
	return body, nil
}

// decodeLevels decodes the repetition (k = 0) or definition levels of a page and counts its values.
func (r *pageReader) decodeLevels(k int, h *pageHeader, src []byte) error {
	most := [2]int{r.leaf.repetitions, r.leaf.definitions}[k]
	if most == 0 {
		return nil
	}
	r.pageMemory.levels[k] = resized(r.pageMemory.levels[k], int(h.values))
	levels := r.pageMemory.levels[k]
	r.page.levels[k] = levels
	width := uint(bits.Len(uint(most)))
	var err error
	switch h.levels[k] {
	case encodingRLE:
		err = decodeLevels(levels, src, width, byte(most))
	case encodingBitPacked:
		err = decodeOldLevels(levels, src, width, byte(most))
	default:
		err = fmt.Errorf("its levels are in encoding %d", h.levels[k])
	}
	switch {
	case err != nil || k == 0:
	case most == 1:
		r.page.values = countOnes(levels)
	default:
		r.page.values = 0
		for _, l := range levels {
			if int(l) == most {
				r.page.values++
			}
		}
	}
	return err
}
