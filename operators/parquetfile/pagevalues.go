package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// decode decodes the values of a data page, at least one.
func (r *pageReader) decode(h *pageHeader, body []byte) error {
	p, n := &r.page, r.page.values
	number := r.leaf.physical == physicalInt32 || r.leaf.physical == physicalInt64
	text := r.leaf.physical == physicalBytes
	switch {
	case h.isCoded():
		return r.decodeIndexes(body)
	case h.encoding == encodingPlain:
		return r.plain(p, r.leaf, body)
	case h.encoding == encodingRLE && r.leaf.physical == physicalBoolean:
		r.data = resized(r.data, n)
		p.data = r.data
		return decodeBooleans(p.data, body)
	case h.encoding == encodingDelta && number:
		return r.decodeNumbers(body)
	case h.encoding == encodingDeltaLength && text:
		r.lengths[1], r.offsets = resized(r.lengths[1], n), resized(r.offsets, n+1)
		rest, err := decodeLengths(r.offsets, r.lengths[1], body)
		p.data, p.offsets = rest, r.offsets
		return err
	case h.encoding == encodingDeltaBytes && (text || r.leaf.physical == physicalFixed):
		return r.decodePrefixed(body)
	case h.encoding == encodingSplit && !text && r.leaf.width() > 1 && r.leaf.physical != physicalInt96 || h.encoding == encodingSplit && r.leaf.physical == physicalFixed:
		return r.decodeSplit(body)
	}
	return fmt.Errorf("its values are in encoding %d, which %s does not have", h.encoding, physicalNames[r.leaf.physical])
}

func (r *pageReader) decodeIndexes(body []byte) error {
	if r.dictionary == nil {
		return errors.New("a page has indexes of a dictionary that its column chunk does not have")
	}
	if len(body) == 0 {
		return errPageEnds
	}
	r.codes = resized(r.codes, r.page.values)
	if err := decodeCodes(r.codes, body[1:], uint(body[0]), uint32(r.dictionary.n)); err != nil {
		return err
	}
	r.page.codes, r.page.coded = r.codes, true
	return nil
}

func (r *pageReader) decodeNumbers(body []byte) error {
	var err error
	if n := r.page.values; r.leaf.physical == physicalInt32 {
		r.codes = resized(r.codes, n)
		r.page.data = arrow.Int32Traits.CastToBytes(r.codes)
		_, err = decodeDelta(r.codes, body)
	} else {
		r.wide = resized(r.wide, n)
		r.page.data = arrow.Int64Traits.CastToBytes(r.wide)
		_, err = decodeDelta(r.wide, body)
	}
	return err
}

func (r *pageReader) decodePrefixed(body []byte) error {
	n := r.page.values
	r.lengths[0], r.lengths[1], r.offsets = resized(r.lengths[0], n), resized(r.lengths[1], n), resized(r.offsets, n+1)
	fixed := 0
	if r.leaf.physical == physicalFixed {
		fixed = r.leaf.fixed
	}
	var err error
	if r.data, err = decodePrefixed(r.offsets, r.lengths[0], r.lengths[1], body, r.data, fixed, r.limit); err != nil {
		return err
	}
	r.page.data = r.data
	if fixed == 0 {
		r.page.offsets = r.offsets
	}
	return nil
}

// decodeSplit gathers the bytes of values that lie in a stream for each place.
func (r *pageReader) decodeSplit(body []byte) error {
	n, width := r.page.values, r.leaf.width()
	if int64(len(body)) != int64(n)*int64(width) {
		return fmt.Errorf("a page is damaged: it has %d bytes for %d values of %d", len(body), n, width)
	}
	r.data = resized(r.data, len(body))
	for k := range width {
		stream := body[k*n:][:n]
		out := r.data[k:]
		for i, b := range stream {
			out[i*width] = b
		}
	}
	r.page.data = r.data
	return nil
}

// plain decodes the values of a plain page, which may stay where they are.
func (s *pageMemory) plain(p *leafPage, leaf leafType, body []byte) error {
	n := p.values
	switch leaf.physical {
	case physicalBytes:
		return s.plainBytes(p, body)
	case physicalBoolean:
		if (n+7)/8 > len(body) {
			return errFewer(n)
		}
		s.data = resized(s.data, n)
		p.data = s.data
		expandBits(p.data, padded(body, (n+7)/8), 1)
		return nil
	}
	need := int64(n) * int64(leaf.width())
	if need > int64(len(body)) {
		return errFewer(n)
	}
	p.data = body[:need]
	return nil
}

func errFewer(n int) error { return fmt.Errorf("a page has fewer than the %d values it claims", n) }

// plainBytes moves the values of a plain page together, over their lengths.
func (s *pageMemory) plainBytes(p *leafPage, body []byte) error {
	if int64(p.values)*4 > int64(len(body)) {
		return errFewer(p.values)
	}
	s.offsets = resized(s.offsets, p.values+1)
	at, from := 0, 0
	for i := range p.values {
		if len(body)-from < 4 {
			return errFewer(p.values)
		}
		n := binary.LittleEndian.Uint32(body[from:])
		if from += 4; uint64(n) > uint64(len(body)-from) {
			return fmt.Errorf("a page has values beyond its end")
		}
		s.offsets[i] = uint32(at)
		at += copy(body[at:], body[from:from+int(n)])
		from += int(n)
	}
	s.offsets[p.values] = uint32(at)
	p.data, p.offsets = body[:at], s.offsets
	return nil
}

// allBelow tells whether all codes are below n as unsigned numbers. It looks at two at once: with what is wanting to 2^31 added, the highest
// bit of a code says it.
func allBelow(codes []int32, n uint32) bool {
	if n > 1<<31 {
		return largest(codes) < n
	}
	want := uint64(1<<31-n) * (1<<32 | 1)
	var sum, high uint64
	for len(codes) >= 2 {
		pair := uint64(uint32(codes[0])) | uint64(uint32(codes[1]))<<32
		// Codes of 2^31 and more, whose sum carries into the next, have the bit themselves.
		sum, high = sum|(pair&^signs+want), high|pair
		codes = codes[2:]
	}
	if len(codes) == 1 {
		last := uint64(uint32(codes[0]))
		sum, high = sum|(last&^signs+want&(1<<32-1)), high|last
	}
	return (sum|high)&signs == 0
}

const signs = 1<<63 | 1<<31

// largest is the largest of the codes as an unsigned number, 0 of none.
func largest(codes []int32) uint32 {
	var a, b, c, d uint32
	for len(codes) >= 4 {
		a, b, c, d = max(a, uint32(codes[0])), max(b, uint32(codes[1])), max(c, uint32(codes[2])), max(d, uint32(codes[3]))
		codes = codes[4:]
	}
	for _, x := range codes {
		a = max(a, uint32(x))
	}
	return max(a, b, c, d)
}
