package perturb

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// RecordKeyBits are those of the key of a record: a float64 holds it exactly, and so do sums of 2^47 of them as contingency has them.
const RecordKeyBits = 48

// RecordKey is the key of a record by its identity, a whole number below 2^RecordKeyBits. With it noise goes by people, not by cells: the
// key of a cell is the sum of those of its records, so that the same people get the same noise in whatever table and cell they stand
// (Fraser & Wooton 2005; Thompson, Broadfoot & Elazar 2013).
//
//	cell := perturb.CellKey(keys...)                            // sums of parts add up: CellKey(a, b) + CellKey(c)
//	n := perturb.Draw(k, count, perturb.UniformOf(secret, cell))
//
// Records whose own keys are given, as a column of whole numbers, need no identity.
func RecordKey(key Key, id []byte) uint64 {
	return keyed(key, "record", id) >> (64 - RecordKeyBits)
}

// CellKey is the key of a cell: the sum of the keys of its records, modulo 2^64.
func CellKey(records ...uint64) uint64 {
	sum := uint64(0)
	for _, k := range records {
		sum += k
	}
	return sum
}

// UniformOf is a number in [0, 1) that depends on the secret key and a cell's key alone. It is hashed, so that keys that are near, or of few
// records, tell no more than others.
func UniformOf(key Key, cell uint64) float64 {
	return float64(keyed(key, "cell", binary.LittleEndian.AppendUint64(nil, cell))>>11) / (1 << 53)
}

// keyed is a hash of bytes for a purpose.
func keyed(key Key, purpose string, data []byte) uint64 {
	h := hmac.New(sha256.New, key[:])
	h.Write([]byte(purpose))
	h.Write([]byte{0})
	h.Write(data)
	var sum [sha256.Size]byte
	return binary.LittleEndian.Uint64(h.Sum(sum[:0]))
}
