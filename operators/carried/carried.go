// Package carried writes fitted operators as they are sent from the process that fitted them to others.
package carried

import (
	"bytes"
	"encoding/gob"
	"errors"
	"hash/crc32"
	"io"

	"microrisk/operators"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode writes what Carry of an operators.Apart gave.
func Encode(w io.Writer, all map[int]*operators.Carried) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(all); err != nil {
		return err
	}
	sum := crc32.Checksum(b.Bytes(), castagnoli)
	if _, err := w.Write([]byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)}); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

// Decode reads what Encode wrote.
func Decode(b []byte) (map[int]*operators.Carried, error) {
	if len(b) < 4 || crc32.Checksum(b[4:], castagnoli) != uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24 {
		return nil, errors.New("what fitted operators were sent as is damaged")
	}
	var all map[int]*operators.Carried
	err := gob.NewDecoder(bytes.NewReader(b[4:])).Decode(&all)
	return all, err
}
