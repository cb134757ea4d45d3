package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/pierrec/lz4/v4"
)

// The library's LZ4_RAW decoder leaves the page as it was when it happens to need another buffer than the one it is given
// (values of an earlier page are then read), and never ends on a damaged page. The older LZ4 codec it does not have. Chunks of
// both are therefore decompressed here, and the library reads them as uncompressed ones.
const (
	codecLZ4    = 5 // blocks in Hadoop's frames; some writers left the frames out
	codecLZ4Raw = 7
)

func isLZ4(codec int64) bool { return codec == codecLZ4 || codec == codecLZ4Raw }

// unpackChunk appends the pages of a chunk, decompressed, with headers to match; wide is what wideDelta says of the leaf.
func (f *file) unpackChunk(out []byte, meta *thriftValue, wide *leafShape) ([]byte, error) {
	from := meta.integer(metaData, 0)
	if d := meta.integer(metaDictionary, 0); d > 0 {
		from = d
	}
	to := from + meta.integer(metaCompressed, 0)
	buffer := make([]byte, 1024)
	for seen := int64(0); from < to && seen < meta.integer(metaValues, 0); {
		h, n, err := readPageHeader(f.file, from, to, &buffer)
		if err != nil {
			return nil, err
		}
		body := make([]byte, h.integer(3, 0))
		if _, err := f.file.ReadAt(body, from+int64(n)); err != nil {
			return nil, fmt.Errorf("reading a page: %w", reason(err))
		}
		from += int64(n + len(body))
		if crc := h.integer(4, 0); crc != 0 && uint32(crc) != crc32.ChecksumIEEE(body) {
			return nil, errors.New("a page is damaged: its checksum does not match")
		}
		if body, err = unpackPage(&h, body, meta.integer(metaCodec, 0)); err != nil {
			return nil, err
		}
		if wide != nil {
			if body, err = wide.plainPage(&h, body); err != nil {
				return nil, err
			}
		}
		seen += h.field(5).integer(1, 0) + h.field(8).integer(1, 0)
		h.set(3, thriftInt(thriftI32, int64(len(body))))
		h.remove(4)
		out = append(h.append(out), body...)
	}
	return out, nil
}

func unpackPage(h *thriftValue, body []byte, codec int64) ([]byte, error) {
	if codec == 0 {
		return body, nil
	}
	whole, levels := int(h.integer(2, 0)), 0
	if v2 := h.field(8); v2 != nil {
		if c := v2.field(7); c != nil && c.kind == thriftFalse {
			return body, nil
		}
		levels = int(v2.integer(5, 0) + v2.integer(6, 0)) // they are not compressed
	}
	out := make([]byte, whole)
	copy(out, body[:levels])
	if whole == levels {
		return out, nil
	}
	packed, into := body[levels:], out[levels:]
	if codec == codecLZ4 && unpackFrames(into, packed) {
		return out, nil
	}
	if !isLZ4(codec) {
		return out, unpackBytes(into, packed, codec)
	}
	if n, err := lz4.UncompressBlock(packed, into); err != nil || n != len(into) {
		return nil, fmt.Errorf("a page is damaged: LZ4 gives %d of its %d bytes", n, len(into))
	}
	return out, nil
}

// unpackFrames decodes Hadoop's framing: big-endian sizes, uncompressed and compressed, before each block.
func unpackFrames(out, in []byte) bool {
	for len(in) >= 8 {
		whole, packed := binary.BigEndian.Uint32(in), binary.BigEndian.Uint32(in[4:])
		if uint64(packed) > uint64(len(in)-8) || uint64(whole) > uint64(len(out)) {
			return false
		}
		if n, err := lz4.UncompressBlock(in[8:8+packed], out[:whole]); err != nil || n != int(whole) {
			return false
		}
		in, out = in[8+packed:], out[whole:]
	}
	return len(in) == 0 && len(out) == 0
}
