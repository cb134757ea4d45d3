package contingency

// A spreader spreads entries over partitions by ranges of the key and writes them to a file in blocks. Blocks of a partition are chained
// backwards, so that memory does not grow with the file.
type spreader struct {
	file    *tempFile
	ranges  *sorter // its splitters
	block   int     // words of a block, the two of the link included
	buffers []uint64
	fill    []int // words in each buffer
	chains  []chain
}

// A chain is the blocks of one partition, the last one first.
type chain struct {
	at      int64 // where the last block starts, in bytes
	words   int   // of the entries in it; 0: there are no blocks
	entries int64 // in all blocks
}

// link is the number of words behind the entries of a block: where the block before it starts, and its words.
const link = 2

// newSpreader makes a spreader with buffers in room.
func newSpreader(file *tempFile, ranges *sorter, room []uint64, most int) *spreader {
	n := len(ranges.splitters)/ranges.words + 1
	s := &spreader{file: file, ranges: ranges, block: min(len(room)/n, most)}
	s.buffers = room[:n*s.block]
	s.fill = make([]int, n)
	s.chains = make([]chain, n)
	return s
}

func (s *spreader) add(entries []uint64) error {
	stride, words := s.ranges.stride, s.ranges.words
	for at := 0; at < len(entries); at += stride {
		entry := entries[at : at+stride]
		p := s.ranges.bucket(entry[:words])
		n := s.fill[p]
		if n+stride > s.block-link {
			if err := s.flush(p); err != nil {
				return err
			}
			n = 0
		}
		copy(s.buffers[p*s.block+n:], entry)
		s.fill[p] = n + stride
	}
	return nil
}

func (s *spreader) flush(p int) error {
	n, c := s.fill[p], &s.chains[p]
	if n == 0 {
		return nil
	}
	b := s.buffers[p*s.block : p*s.block+n+link]
	b[n], b[n+1] = uint64(c.at), uint64(c.words)
	bytes := bytesOf(b)
	at := s.file.reserve(len(bytes))
	*c = chain{at: at, words: n, entries: c.entries + int64(n/s.ranges.stride)}
	s.fill[p] = 0
	return s.file.write(bytes, at)
}

func (s *spreader) finish() error {
	for p := range s.fill {
		if err := s.flush(p); err != nil {
			return err
		}
	}
	return nil
}

// next reads the entries of the last block to the front of dst, which has room for a block, and takes it off the chain.
func (c *chain) next(f *tempFile, stride int, dst []uint64) (entries []uint64, err error) {
	n := c.words
	b := dst[:n+link]
	if err := f.read(bytesOf(b), c.at); err != nil {
		return nil, err
	}
	c.at, c.words = int64(b[n]), int(b[n+1])
	c.entries -= int64(n / stride)
	return b[:n], nil
}
