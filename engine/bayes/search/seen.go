package search

import "math"

// A seen has the distinct graphs that a search has scored, in the order in which it met them.
type seen struct {
	*space
	slots  []uint32 // open addressing: one more than the number of a graph, 0 where empty
	keys   []key
	scores []float64 // penalty included
	visits []uint32
	edges  []uint64 // of each graph, space.words at a time; none where the keys are the edges
	best   float64  // greatest score
	most   int      // graphs that are kept unless visited, 0 for no limit
	met    int64    // graphs met, those that were dropped later included
}

func newSeen(p *space, memory int64) *seen {
	s := &seen{space: p, slots: make([]uint32, 1<<10), best: math.Inf(-1)}
	if memory > 0 {
		s.most = int(max(1024, memory/s.entryBytes()))
	}
	return s
}

// entryBytes is about what one graph takes, spare room of growing slices included.
func (s *seen) entryBytes() int64 {
	bytes := int64(64)
	if s.words > 2 {
		bytes += int64(16 * s.words)
	}
	return bytes
}

func hashOf(k key) uint64 {
	h := (k[0] ^ k[1]*0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// find is the number of a graph, or -1 and the slot where it could be.
func (s *seen) find(k key) (number, slot int) {
	mask := len(s.slots) - 1
	at := int(hashOf(k)) & mask
	for s.slots[at] != 0 {
		if n := int(s.slots[at] - 1); s.keys[n] == k {
			return n, at
		}
		at = (at + 1) & mask
	}
	return -1, at
}

// add makes sure that a graph is there and returns its number. Its edges are those given, with pair number flip toggled unless it
// is negative.
func (s *seen) add(k key, score float64, edges []uint64, flip int) int {
	n, at := s.find(k)
	if n >= 0 {
		return n
	}
	n = len(s.keys)
	s.met++
	s.keys, s.scores, s.visits = append(s.keys, k), append(s.scores, score), append(s.visits, 0)
	if s.words > 2 {
		s.edges = append(s.edges, edges...)
		if flip >= 0 {
			s.edges[n*s.words+flip/64] ^= 1 << (flip % 64)
		}
	}
	s.best = max(s.best, score)
	s.slots[at] = uint32(n + 1)
	if s.most > 0 && n >= s.most {
		s.prune()
		n, _ = s.find(k)
		return n
	}
	if 2*len(s.keys) > len(s.slots) {
		s.index(2 * len(s.slots))
	}
	return n
}

// index makes the slots anew.
func (s *seen) index(size int) {
	s.slots = make([]uint32, size)
	for n, k := range s.keys {
		_, at := s.find(k)
		s.slots[at] = uint32(n + 1)
	}
}

// negligible is how far below the best a score must lie, in natural logarithms, for a graph not to matter.
const negligible = 30

// prune drops graphs that were never visited and do not matter; where that does not help the limit is raised. The latest graph stays.
func (s *seen) prune() {
	last, kept := len(s.keys)-1, 0
	for n := range s.keys {
		if n != last && s.visits[n] == 0 && s.scores[n] < s.best-negligible {
			continue
		}
		s.keys[kept], s.scores[kept], s.visits[kept] = s.keys[n], s.scores[n], s.visits[n]
		if s.words > 2 {
			copy(s.edges[kept*s.words:(kept+1)*s.words], s.edges[n*s.words:])
		}
		kept++
	}
	s.keys, s.scores, s.visits = s.keys[:kept], s.scores[:kept], s.visits[:kept]
	if s.words > 2 {
		s.edges = s.edges[:kept*s.words]
	}
	if kept > s.most/2 {
		s.most *= 2
	}
	size := len(s.slots)
	for size < 2*kept+2 {
		size *= 2
	}
	s.index(size)
}

// edgesOf are the edges of graph number n. The slice must not be changed.
func (s *seen) edgesOf(n int) []uint64 {
	if s.words <= 2 {
		return s.keys[n][:s.words]
	}
	return s.edges[n*s.words : (n+1)*s.words]
}

// merge adds all graphs of another, visits included.
func (s *seen) merge(o *seen) {
	for n, k := range o.keys {
		at := s.add(k, o.scores[n], o.edgesOf(n), -1)
		s.visits[at] += o.visits[n]
	}
}
