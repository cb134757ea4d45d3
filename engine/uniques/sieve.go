package uniques

import "math/bits"

// A sieve lets keys through that some others may equal, by one hash of each: the highest bits of its product with mix.
type sieve struct {
	bits  []uint64
	shift uint8
	hits  []uint32
}

// Bits of the number of places in a sieve: at most, and where more of them cost nothing.
const (
	sieveBits  = 18
	sieveSmall = 14
)

// reset makes a sieve for at most so many keys.
func (s *sieve) reset(keys int) {
	width := min(bits.Len(uint(16*keys)), sieveBits)
	if width < sieveSmall {
		width += 2
	}
	s.shift = uint8(64 - width)
	s.bits = grown(s.bits, 1<<sieveBits/64)[:max(1, 1<<width>>6)]
	clear(s.bits)
}

func (s *sieve) add(key uint64) {
	h := key * mix >> (s.shift & 63)
	s.bits[h>>6] |= 1 << (h & 63)
}

// pass gives the places of the keys that pass it, of which only the bits of a mask count.
func (s *sieve) pass(keys []uint64, mask uint64) []uint32 {
	hits, places, shift := grown(s.hits, len(keys)+1), s.bits, s.shift&63
	n := 0
	for j, key := range keys {
		h := key & mask * mix >> shift
		hits[n] = uint32(j)
		n += int(places[h>>6] >> (h & 63) & 1)
	}
	s.hits = hits
	return hits[:n]
}
