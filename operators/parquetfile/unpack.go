package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs of a column chunk.
const (
	codecNone, codecSnappy, codecGzip, codecLZO, codecBrotli = 0, 1, 2, 3, 4

	codecLZ4    = 5 // blocks in Hadoop's frames; some writers left the frames out
	codecZstd   = 6
	codecLZ4Raw = 7
)

// codecTrouble says why pages of a codec cannot be read, nil if they can.
func codecTrouble(codec int64) error {
	switch {
	case codec == codecLZO:
		return fmt.Errorf("it is compressed with LZO, which cannot be read: write the file again with zstd or snappy")
	case codec < 0 || codec > codecLZ4Raw:
		return fmt.Errorf("it is compressed with an unknown codec (number %d): write the file again with zstd or snappy", codec)
	}
	return nil
}

// mostOf is how many bytes n compressed ones can hold, for the codecs that have such a bound; what a page claims beyond it need not
// be allocated to be refused.
func mostOf(codec int64, n int64) int64 {
	switch codec {
	case codecNone:
		return n
	case codecSnappy:
		return 32*n + 64
	case codecLZ4, codecLZ4Raw:
		return 256*n + 64
	case codecGzip:
		return 1040*n + 64
	}
	return 1 << 62
}

// unpack decompresses a page into all of out. It stops where out is full: a page that holds more or less is damaged.
func unpack(out, packed []byte, codec int64) error {
	var n int
	var err error
	switch codec {
	case codecSnappy:
		n, err = unpackSnappy(out, packed)
	case codecGzip:
		n, err = unpackGzip(out, packed)
	case codecBrotli:
		n, err = readWhole(out, brotli.NewReader(bytes.NewReader(packed)))
	case codecZstd:
		n, err = unpackZstd(out, packed)
	case codecLZ4:
		if unpackFrames(out, packed) {
			return nil
		}
		n, err = lz4.UncompressBlock(packed, out)
	case codecLZ4Raw:
		n, err = lz4.UncompressBlock(packed, out)
	default:
		err = codecTrouble(codec)
	}
	if err != nil {
		return fmt.Errorf("a page is damaged: decompressing it: %w", err)
	}
	if n != len(out) {
		return fmt.Errorf("a page is damaged: it has %d of its %d bytes", n, len(out))
	}
	return nil
}

func errMoreThan(n int) error { return fmt.Errorf("it holds more than the %d bytes that it claims", n) }

func unpackSnappy(out, packed []byte) (int, error) {
	n, err := snappy.DecodedLen(packed)
	if err != nil {
		return 0, err
	}
	if n > len(out) {
		return 0, errMoreThan(len(out))
	}
	got, err := snappy.Decode(out, packed)
	return len(got), err
}

var zstdReaders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(1<<31))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
}}

func unpackZstd(out, packed []byte) (int, error) {
	d := zstdReaders.Get().(*zstd.Decoder)
	defer zstdReaders.Put(d)
	got, err := d.DecodeAll(packed, out[:0])
	switch {
	case err == zstd.ErrDecoderSizeExceeded || len(got) > len(out):
		return 0, errMoreThan(len(out))
	case err == nil && len(got) > 0 && &got[0] != &out[0]:
		copy(out, got)
	}
	return len(got), err
}

var gzipReaders sync.Pool

func unpackGzip(out, packed []byte) (int, error) {
	z, ok := gzipReaders.Get().(*gzip.Reader)
	if !ok {
		z = new(gzip.Reader)
	}
	defer gzipReaders.Put(z)
	if err := z.Reset(bytes.NewReader(packed)); err != nil {
		return 0, err
	}
	return readWhole(out, z)
}

// readWhole fills out, and tells from it whether the reader ends there.
func readWhole(out []byte, r io.Reader) (int, error) {
	n, err := io.ReadFull(r, out)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return n, nil
	case err != nil:
		return n, err
	}
	var more [1]byte
	switch k, err := io.ReadFull(r, more[:]); {
	case k > 0:
		return n, errMoreThan(n)
	case err != io.EOF:
		return n, err
	}
	return n, nil
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
