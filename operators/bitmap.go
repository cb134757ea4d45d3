package operators

import "math/bits"

// A Bitmap has one bit a row, least significant first as Arrow has it.
type Bitmap struct {
	bits []byte
	n    int
}

// NewBitmap has n bits, all clear.
func NewBitmap(n int) *Bitmap { return &Bitmap{make([]byte, (n+7)/8), n} }

// Len is the number of bits.
func (b *Bitmap) Len() int { return b.n }

// Get is bit i.
func (b *Bitmap) Get(i int) bool { return b.bits[i>>3]>>(i&7)&1 != 0 }

// Set sets bit i.
func (b *Bitmap) Set(i int) { b.bits[i>>3] |= 1 << (i & 7) }

// Clear clears bit i.
func (b *Bitmap) Clear(i int) { b.bits[i>>3] &^= 1 << (i & 7) }

// Count is the number of bits set.
func (b *Bitmap) Count() int {
	n := 0
	for _, x := range b.bits {
		n += bits.OnesCount8(x)
	}
	return n
}

// And clears the bits of b that are clear in other, which has the same length.
func (b *Bitmap) And(other *Bitmap) {
	for i := range b.bits {
		b.bits[i] &= other.bits[i]
	}
}
