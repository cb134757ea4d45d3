package parquetfile

import (
	"errors"
	"fmt"
	"io"

	"microrisk/engine/scratch"
)

// Kinds of pages.
const (
	pageData, pageIndexKind, pageDictionary, pageDataV2 = 0, 1, 2, 3
)

// Encodings of values and levels.
const (
	encodingPlain, encodingPlainDictionary, encodingRLE, encodingBitPacked, encodingDelta = 0, 2, 3, 4, 5

	encodingDeltaLength, encodingDeltaBytes, encodingDictionary, encodingSplit = 6, 7, 8, 9
)

// Limits of a page whatever memory there is. Writers make pages of about a megabyte.
const (
	maxPageValues = 1 << 27
	maxPageBytes  = 1 << 30
)

// A pageHeader is what the header of a page claims; sizes are in bytes.
type pageHeader struct {
	kind         int64
	packed       int64 // of the page as it lies in the file
	whole        int64 // decompressed
	checksum     uint32
	values       int64 // nulls included
	rows         int64 // of pages v2, otherwise -1
	encoding     int64
	levels       [2]int64 // encodings of repetition and definition levels, of pages v1
	levelBytes   [2]int64 // sizes of them, of pages v2
	uncompressed bool     // though the chunk is compressed
}

// readPageHeader reads the header of the page at a place and returns its size. The page must end before to.
func readPageHeader(r byteReader, at, to int64) (pageHeader, int64, error) {
	for size := int64(1 << 10); ; size *= 8 {
		b, err := r.bytes(at, int(min(size, to-at)))
		if err != nil {
			return pageHeader{}, 0, err
		}
		var h pageHeader
		n, err := brief(b, maxPageBytes, func(v *thriftValue) error {
			h = headerOf(v)
			return nil
		})
		if errors.Is(err, errThriftShort) && int64(len(b)) < to-at && size < 1<<24 {
			continue
		}
		if err != nil {
			return pageHeader{}, 0, fmt.Errorf("the header of a page is damaged: %w", err)
		}
		return h, int64(n), h.check(to - at - int64(n))
	}
}

func headerOf(v *thriftValue) pageHeader {
	h := pageHeader{kind: v.integer(1, -1), whole: v.integer(2, -1), packed: v.integer(3, -1), checksum: uint32(v.integer(4, 0)), rows: -1}
	switch h.kind {
	case pageData:
		d := v.field(5)
		h.values, h.encoding = d.integer(1, -1), d.integer(2, -1)
		h.levels = [2]int64{d.integer(4, encodingRLE), d.integer(3, encodingRLE)}
	case pageDictionary:
		d := v.field(7)
		h.values, h.encoding = d.integer(1, -1), d.integer(2, -1)
	case pageDataV2:
		d := v.field(8)
		h.values, h.rows, h.encoding = d.integer(1, -1), d.integer(3, -1), d.integer(4, -1)
		h.levels = [2]int64{encodingRLE, encodingRLE}
		h.levelBytes = [2]int64{d.integer(6, -1), d.integer(5, -1)}
		c := d.field(7)
		h.uncompressed = c != nil && c.kind == thriftFalse
	}
	return h
}

// check refuses what no page can be; room is what the column chunk has left behind the header.
func (h *pageHeader) check(room int64) error {
	switch {
	case h.kind < pageData || h.kind > pageDataV2:
		return fmt.Errorf("the header of a page is damaged: unknown page type %d", h.kind)
	case h.packed < 0 || h.packed > room:
		return fmt.Errorf("the header of a page is damaged: it is %d bytes long, its column chunk has %d left", h.packed, room)
	case h.whole < 0 || h.whole > maxPageBytes:
		return fmt.Errorf("the header of a page is damaged: it claims to hold %d bytes", h.whole)
	case h.values < 0 || h.values > maxPageValues:
		return fmt.Errorf("the header of a page is damaged: it claims to have %d values", h.values)
	case h.kind == pageDataV2:
		a, b := h.levelBytes[0], h.levelBytes[1]
		if a < 0 || b < 0 || a > h.packed || b > h.packed || a+b > min(h.packed, h.whole) {
			return fmt.Errorf("the header of a page is damaged: levels of %d and %d bytes in a page of %d", a, b, min(h.packed, h.whole))
		}
	}
	return nil
}

// isData tells whether the page has values of the column.
func (h *pageHeader) isData() bool { return h.kind == pageData || h.kind == pageDataV2 }

func (h *pageHeader) isCoded() bool {
	return h.encoding == encodingDictionary || h.encoding == encodingPlainDictionary
}

// A byteReader gives n bytes at a place, with capacity for pagePadding more; they hold until the next call.
type byteReader interface {
	bytes(at int64, n int) ([]byte, error)
}

// windowBytes are read at a time.
const windowBytes = 1 << 18

// A window reads a file in stretches of windowBytes.
type window struct {
	r      io.ReaderAt
	end    int64 // of what may be read
	likely int64 // where reading most likely ends: beyond it no more is read than is asked for; 0 if nobody knows
	from   int64 // of buffer
	buffer []byte
	long   []byte // for what is longer
}

func (w *window) bytes(at int64, n int) ([]byte, error) {
	if at < 0 || n < 0 || int64(n) > w.end-at {
		return nil, errPageEnds
	}
	if n > windowBytes/2 {
		w.long = resized(w.long, n+pagePadding)
		return w.long[:n], w.fill(w.long[:n], at)
	}
	if at < w.from || at+int64(n) > w.from+int64(len(w.buffer)) {
		size := int(min(windowBytes, w.end-at))
		if w.likely > at {
			size = max(n, int(min(int64(size), w.likely-at)))
		}
		w.buffer = resized(w.buffer, windowBytes+pagePadding)[:size]
		w.from = at
		if err := w.fill(w.buffer, at); err != nil {
			w.buffer = w.buffer[:0]
			return nil, err
		}
	}
	return w.buffer[at-w.from:][:n], nil
}

func (w *window) fill(b []byte, at int64) error {
	if n, err := w.r.ReadAt(b, at); n < len(b) {
		if err == io.EOF {
			return errPageEnds
		}
		return fmt.Errorf("reading a page: %w", scratch.Reason(err))
	}
	return nil
}
