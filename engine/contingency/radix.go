package contingency

import "slices"

const (
	digitBits = 8
	digits    = 1 << digitBits
)

// sortEntries sorts entries of stride words by their first s.words words, least significant digit first, over the digits in
// which they differ at all. spare is as long as data.
func (s *sorter) sortEntries(data, spare []uint64, stride int) {
	n := len(data) / stride
	if n < 2 {
		return
	}
	if n < 48 {
		s.insertionSort(data, spare[:stride], stride)
		return
	}
	from, to := data, spare
	for w := s.words - 1; w >= 0; w-- {
		var differ uint64
		first := data[w]
		for at := w; at < len(data); at += stride {
			differ |= from[at] ^ first
		}
		for shift := 0; shift < 64; shift += digitBits {
			if differ>>shift == 0 {
				break
			}
			if differ>>shift&(digits-1) == 0 {
				continue
			}
			radixPass(from, to, stride, w, shift)
			from, to = to, from
		}
	}
	if &from[0] != &data[0] {
		copy(data, from)
	}
}

// radixPass moves entries to the order of one digit of word w, equal digits in the order they had.
func radixPass(from, to []uint64, stride, w, shift int) {
	var at [digits]int
	for i := w; i < len(from); i += stride {
		at[from[i]>>shift&(digits-1)]++
	}
	sum := 0
	for d := range at {
		at[d], sum = sum, sum+at[d]
	}
	if stride == 2 && w == 0 {
		for i := 0; i+1 < len(from); i += 2 {
			key, value := from[i], from[i+1]
			d := key >> shift & (digits - 1)
			j := at[d] * 2
			at[d]++
			to[j], to[j+1] = key, value
		}
		return
	}
	for i := 0; i < len(from); i += stride {
		d := from[i+w] >> shift & (digits - 1)
		copy(to[at[d]*stride:(at[d]+1)*stride], from[i:i+stride])
		at[d]++
	}
}

func (s *sorter) insertionSort(data, entry []uint64, stride int) {
	for i := stride; i < len(data); i += stride {
		copy(entry, data[i:i+stride])
		j := i
		for j > 0 && slices.Compare(data[j-stride:j-stride+s.words], entry[:s.words]) > 0 {
			copy(data[j:j+stride], data[j-stride:j])
			j -= stride
		}
		copy(data[j:j+stride], entry)
	}
}
