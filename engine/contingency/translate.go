package contingency

import "fmt"

// stepBits is the width of adjacent fields that are translated together: a table of so many codes stays in the first-level cache.
const stepBits = 10

// noCode stands in tables of shifted codes for a code that has no translation. A key of 64 set bits may also be a true one, so it is
// looked at once more.
const noCode = ^uint64(0)

// A translator turns keys of one layout into keys of another by tables of codes that are shifted to their final place.
type translator struct {
	from, to *layout
	shifted  [][]uint64 // per variable
	steps    []step
}

// A step translates some adjacent fields.
type step struct {
	word  int
	shift uint8
	mask  uint64
	to    int      // word of the new key
	codes []uint64 // by the bits of the fields; what is beyond it has no translation
}

// shiftCodes gives codes their place in the keys of a layout.
func shiftCodes(l *layout, codes [][]uint32) [][]uint64 {
	shifted := make([][]uint64, len(codes))
	for v := range codes {
		shifted[v] = make([]uint64, len(codes[v]))
		for p, code := range codes[v] {
			shifted[v][p] = uint64(code) << l.fields[v].shift
		}
	}
	return shifted
}

func newTranslator(from, to *layout, shifted [][]uint64) *translator {
	t := &translator{from: from, to: to, shifted: shifted}
	for v := 0; v < len(from.fields); {
		f := from.fields[v]
		end, bits := v+1, int(f.bits)
		for end < len(from.fields) && from.fields[end].word == f.word && to.fields[end].word == to.fields[v].word &&
			bits+int(from.fields[end].bits) <= stepBits {
			bits += int(from.fields[end].bits)
			end++
		}
		last := from.fields[end-1]
		s := step{word: f.word, shift: last.shift, mask: 1<<bits - 1, to: to.fields[v].word, codes: shifted[v]}
		if end > v+1 || bits <= stepBits {
			s.codes = t.together(v, end, bits)
		}
		t.steps = append(t.steps, s)
		v = end
	}
	return t
}

// together is the table of the fields v to end.
func (t *translator) together(v, end, bits int) []uint64 {
	codes := make([]uint64, 1<<bits)
	for i := range codes {
		at := bits
		for u := v; u < end; u++ {
			f := t.from.fields[u]
			at -= int(f.bits)
			code := uint64(i) >> at & f.mask()
			if code >= uint64(len(t.shifted[u])) {
				codes[i] = noCode
				break
			}
			codes[i] |= t.shifted[u][code] // which may be noCode too
		}
	}
	return codes
}

// key translates one key to out. It reports a code that has no translation.
func (t *translator) key(key, out []uint64) error {
	clear(out)
	for i := range t.steps {
		s := &t.steps[i]
		code := key[s.word] >> s.shift & s.mask
		x := noCode
		if code < uint64(len(s.codes)) {
			x = s.codes[code]
		}
		out[s.to] |= x
	}
	for _, x := range out {
		if x == noCode {
			return t.check(key)
		}
	}
	return nil
}

func (t *translator) check(key []uint64) error {
	for v := range t.from.fields {
		if code := t.from.code(key, v); int(code) >= len(t.shifted[v]) || t.shifted[v][code] == noCode {
			return fmt.Errorf("contingency: code %d of variable %d has no final code", code, v)
		}
	}
	return nil
}

// entries translates the used slots of src (words words of the key, 0 when the key is first, first+1, ..., then values values, of which
// the first is not 0 in a used slot) and appends them to out, which has room. out may be the front of src if new entries are no longer.
func (t *translator) entries(out, src []uint64, words, values int, first uint64) ([]uint64, error) {
	if words == 1 && values == 1 && t.to.words == 1 {
		return t.pairs(out, src)
	}
	slot, stride := words+values, t.to.words+values
	var room [maxVariables]uint64
	key := room[:max(1, words)]
	for at := 0; at < len(src); at += slot {
		if src[at+words] == 0 {
			continue
		}
		key[0] = first + uint64(at/slot)
		copy(key, src[at:at+words])
		// Writing never overtakes reading: an entry is no longer than a slot, and the values move first.
		end := len(out) + stride
		out = out[:end]
		copy(out[end-values:], src[at+words:at+slot])
		if err := t.key(key, out[end-stride:end-values]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pairs is entries for keys and values of one word.
func (t *translator) pairs(out, src []uint64) ([]uint64, error) {
	n := len(out)
	out = out[:cap(out)]
	for ; len(src) >= 2; src = src[2:] {
		key, count := src[0], src[1]
		if count == 0 {
			continue
		}
		var x uint64
		for i := range t.steps {
			s := &t.steps[i]
			code := key >> (s.shift & 63) & s.mask
			if code < uint64(len(s.codes)) {
				x |= s.codes[code]
			} else {
				x = noCode
			}
		}
		if x == noCode {
			if err := t.check([]uint64{key}); err != nil {
				return nil, err
			}
		}
		out[n], out[n+1] = x, count
		n += 2
	}
	return out[:n], nil
}
