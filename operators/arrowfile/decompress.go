package arrowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decompress fills a buffer with what a compressed one holds, which must be as large as it says.
func decompress(codec int8, into, packed []byte) error {
	var r io.Reader
	switch codec {
	case 0:
		r = lz4.NewReader(bytes.NewReader(packed))
	case 1:
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return err
		}
		defer z.Close()
		r = z
	default:
		return fmt.Errorf("it is compressed by the unknown method %d", codec)
	}
	if _, err := io.ReadFull(r, into); err != nil {
		return fmt.Errorf("a compressed buffer does not hold the %d bytes that it says: %w", len(into), err)
	}
	var more [1]byte
	if n, _ := r.Read(more[:]); n > 0 {
		return errors.New("a compressed buffer holds more than it says")
	}
	return nil
}
