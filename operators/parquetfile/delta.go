package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// encodingDelta is DELTA_BINARY_PACKED.
const encodingDelta = 5

// wideDelta is the shape of a leaf of unsigned numbers of 32 bits whose pages may be delta-encoded, nil for other leaves. DuckDB
// encodes them as numbers of 64 bits, which the library refuses from 2^31 on, so such pages are decoded here.
func (f *file) wideDelta(leaf int, meta *thriftValue) *leafShape {
	encodings := meta.field(metaEncodings)
	if meta.integer(metaType, -1) != physicalInt32 || encodings == nil {
		return nil
	}
	found := false
	for i := range encodings.kids {
		found = found || encodings.kids[i].num == encodingDelta
	}
	for i := range f.columns {
		c := &f.columns[i]
		if !found || leaf < c.leaf || leaf >= c.leaf+c.leaves {
			continue
		}
		shape := f.leaves(c)[leaf-c.leaf]
		if l := logicalOf(shape.element); l.kind == logicalInteger && !l.signed && l.width == 32 {
			return &shape
		}
	}
	return nil
}

// plainPage turns a delta-encoded page, decompressed, into a plain one; other pages stay as they are.
func (s *leafShape) plainPage(h *thriftValue, body []byte) ([]byte, error) {
	v1, v2 := h.field(5), h.field(8)
	levels := 0
	switch {
	case v1 != nil && v1.integer(2, 0) == encodingDelta:
		repeated := false
		for _, r := range s.levels {
			repeated = repeated || r
		}
		for _, has := range []bool{repeated, len(s.levels) > 0} {
			if !has {
				continue
			}
			if levels+4 > len(body) {
				return nil, errPageEnds
			}
			n := int64(levels) + 4 + int64(binary.LittleEndian.Uint32(body[levels:]))
			if n > int64(len(body)) {
				return nil, errPageEnds
			}
			levels = int(n)
		}
		v1.set(2, thriftInt(thriftI32, 0))
	case v2 != nil && v2.integer(4, 0) == encodingDelta:
		if levels = int(v2.integer(5, 0) + v2.integer(6, 0)); levels > len(body) {
			return nil, errPageEnds
		}
		v2.set(4, thriftInt(thriftI32, 0))
	default:
		return body, nil
	}
	if levels == len(body) {
		return body, nil
	}
	wide, err := new(delta.BinaryPackedEncoding).DecodeInt64(nil, body[levels:])
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, levels+4*len(wide)), body[:levels]...)
	for _, x := range wide {
		out = binary.LittleEndian.AppendUint32(out, uint32(x))
	}
	h.set(2, thriftInt(thriftI32, int64(len(out))))
	return out, nil
}

var errPageEnds = errors.New("a page ends too early: the file is damaged")

// unpackBytes decompresses the values of a page with one of the library's codecs but LZ4.
func unpackBytes(into, packed []byte, codec int64) error {
	out, err := parquet.LookupCompressionCodec(format.CompressionCodec(codec)).Decode(make([]byte, 0, len(into)), packed)
	if err != nil {
		return fmt.Errorf("decompressing a page: %w", err)
	}
	if len(out) != len(into) {
		return fmt.Errorf("a page is damaged: it has %d of its %d bytes", len(out), len(into))
	}
	copy(into, out)
	return nil
}
