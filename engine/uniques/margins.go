package uniques

import "math/bits"

// Limits of the margins of a lattice, in bits of their keys.
const (
	marginLeast = 7
	marginMost  = 12
)

// A margins has, for the last variables of a lattice, which of their combinations occur and which occur more than once, two bits for each. What
// is so on some of these variables follows from it without a look at the entries, of which mostly none is unique on so few values.
type margins struct {
	width int // bits of the keys; 0 where there are none
	sets  int // the sets that these variables have: those without a bit below
	parts []uint64
	occur [1 << marginMost / 64]uint64
	many  [1 << marginMost / 64]uint64

	once  [1 << marginMost / 64]uint64 // scratch
	twice [1 << marginMost / 64]uint64
}

// reset counts entries on as many of the last variables as it is worth.
func (m *margins) reset(keys []uint64, many []uint64, parts []uint64) {
	m.width, m.sets, m.parts = 0, -1<<len(parts), parts
	limit := min(bits.Len(uint(len(keys)))-1, marginMost)
	first := len(parts)
	for first > 0 && m.width+bits.OnesCount64(parts[first-1]) <= limit {
		first--
		m.width += bits.OnesCount64(parts[first])
	}
	if m.width < marginLeast {
		m.width = 0
		return
	}
	m.sets = -1 << first
	clear(m.occur[:wordsFor(m.width)])
	clear(m.many[:wordsFor(m.width)])
	mask := uint64(1)<<m.width - 1
	for i, k := range keys {
		k &= mask
		w, b := k>>6&(1<<marginMost/64-1), k&63
		m.many[w] |= (m.occur[w]>>b | many[i>>6]>>(i&63)) & 1 << b
		m.occur[w] |= 1 << b
	}
}

// has tells whether a set is one of these variables alone.
func (m *margins) has(s int) bool { return m.width > 0 && s&m.sets == s }

// unique gives the combinations on a set that occur once, by key with the other variables left out; nil if there is none.
func (m *margins) unique(s int) []uint64 {
	n := wordsFor(m.width)
	once, twice := m.once[:n], m.twice[:n]
	copy(once, m.occur[:n])
	copy(twice, m.many[:n])
	for rest := m.sets & (1<<len(m.parts) - 1) &^ s; rest != 0; rest &= rest - 1 {
		part := m.parts[bits.TrailingZeros(uint(rest))]
		for ; part != 0; part &= part - 1 {
			fold(once, twice, bits.TrailingZeros64(part))
		}
	}
	var any uint64
	for i, t := range twice {
		once[i] &^= t
		any |= once[i]
	}
	if any == 0 {
		return nil
	}
	return once
}

// fold makes keys that differ in one bit the same, which has that bit 0.
func fold(once, twice []uint64, at int) {
	if at < 6 {
		shift, low := 1<<at, lows[at]
		for i, o := range once {
			t := twice[i]
			zero, one := o&low, o>>shift&low
			once[i], twice[i] = zero|one, (t|t>>shift)&low|zero&one
		}
		return
	}
	step := 1 << (at - 6)
	for i := 0; i < len(once); i += 2 * step {
		for j := i; j < i+step; j++ {
			zero, one := once[j], once[j+step]
			once[j], once[j+step] = zero|one, 0
			twice[j], twice[j+step] = twice[j]|twice[j+step]|zero&one, 0
		}
	}
}
