package contingency

import (
	"sync"

	"golang.org/x/sync/errgroup"
)

// Sizes of the buffers of an external merge, in words. A partition of partitionWords and its copy stay in the second-level cache
// while they are sorted.
const (
	pieceWords     = 1 << 15
	partitionWords = 1 << 16
	blockWords     = 1 << 12
	leastBlock     = 1 << 9
	mostPartitions = 4096
)

// An external merge sorts more than memory holds: entries are spread over partitions by ranges of the final key, and partitions are
// sorted and added up one by one, each within the room of its worker, and appended to the files of classes in order.
type external struct {
	*merger
	rooms  [][]uint64 // of each worker, used for everything one after the other
	file   *tempFile  // of partitions
	ranges *sorter
	block  int
	chains [][]chain // of each worker and partition
	out    *classWriter

	mu   sync.Mutex
	slot int // the next slot of the first source to be spread
	wake *sync.Cond
	next int // the next partition to be sorted
	turn int // the partition whose classes are appended now
	err  error
}

// external makes the table through the store with memory bytes.
func (m *merger) external(memory int64) (*Table, error) {
	e := &external{merger: m}
	e.wake = sync.NewCond(&e.mu)
	widest := m.stride()
	for _, s := range m.sources {
		widest = max(widest, s.slot())
	}
	// An eighth is left for splitters, samples and fences.
	room := min(memory/8*7/8/int64(m.workers), max(2*m.entries*int64(m.stride()), 1<<16))
	room = max(room, int64(128*(widest+link)))
	for range m.workers {
		e.rooms = append(e.rooms, make([]uint64, room))
	}
	var err error
	if e.file, err = m.store.create(); err != nil {
		return nil, err
	}
	if e.out, err = newClassWriter(m); err != nil {
		return nil, err
	}
	if err := e.plan(); err != nil {
		return nil, err
	}
	if err := e.parallel(e.spread); err != nil {
		return nil, err
	}
	if err := m.dropSpilled(); err != nil {
		return nil, err
	}
	if err := e.parallel(e.sortPartitions); err != nil {
		return nil, err
	}
	e.rooms, e.chains = nil, nil
	if err := e.file.drop(); err != nil {
		return nil, err
	}
	return e.out.table(m)
}

// parallel runs one goroutine a worker.
func (e *external) parallel(f func(worker int) error) error {
	var g errgroup.Group
	for w := range e.workers {
		g.Go(func() error {
			err := f(w)
			if err != nil {
				e.mu.Lock()
				if e.err == nil {
					e.err = err
				}
				e.mu.Unlock()
				e.wake.Broadcast()
			}
			return err
		})
	}
	if g.Wait() != nil {
		return e.err // not that of a worker that stopped because another one had failed
	}
	return nil
}

// plan chooses the number of partitions and draws their ranges.
func (e *external) plan() error {
	room, stride := len(e.rooms[0]), e.stride()
	e.ranges = &sorter{words: e.layout.words, stride: stride}
	e.chains = make([][]chain, e.workers)
	piece := min(room/8, pieceWords)
	least := max(min(leastBlock, room/16), stride+link)
	target := int64(min(room*3/8, partitionWords))
	n := (e.entries*int64(stride) + target - 1) / target
	n = max(1, min(n, int64((room-2*piece)/least), mostPartitions))
	e.block = min(blockWords, room/8)
	keys, err := e.sample(min(int(n)*256, 1<<16, room/2/e.layout.words))
	if err != nil {
		return err
	}
	e.ranges.split(keys, e.layout.words, int(n)-1)
	e.ranges.makeGuide()
	return nil
}

// split takes the quantiles of sorted entries of stride words as splitters, n at most, each once.
func (s *sorter) split(keys []uint64, stride, n int) {
	m := len(keys) / stride
	for b := 1; b <= n && m > 0; b++ {
		i := b * m / (n + 1) * stride
		key := keys[i : i+s.words]
		if at := len(s.splitters); at > 0 && equal(s.splitters[at-s.words:], key) {
			continue
		}
		s.splitters = append(s.splitters, key...)
	}
}

// sample draws about n final keys at even steps, sorted. They lie in the room of the first worker.
func (e *external) sample(n int) ([]uint64, error) {
	slots := 0
	for _, s := range e.sources {
		slots += s.n
	}
	step := max(1, slots/max(1, n))
	words := e.layout.words
	keys := e.rooms[0][: 0 : len(e.rooms[0])/2]
	entry := make([]uint64, 0, e.stride())
	at := step / 2
	for _, s := range e.sources {
		slot := make([]uint64, s.slot())
		for ; at < s.n && len(keys)+words <= cap(keys); at += step {
			i := at
			if s.file != nil {
				if err := s.file.read(bytesOf(slot), s.at+int64(8*i*len(slot))); err != nil {
					return nil, err
				}
			} else {
				for i < s.n-1 && s.slots[i*len(slot)+s.words] == 0 {
					i++
				}
				copy(slot, s.slots[i*len(slot):])
			}
			found, err := s.translator.entries(entry, slot, s.words, s.values, s.first+uint64(i))
			if err != nil {
				return nil, err
			}
			if len(found) > 0 {
				keys = append(keys, found[:words]...)
			}
		}
		at -= s.n
	}
	e.ranges.sortEntries(keys, e.rooms[0][len(e.rooms[0])/2:][:len(keys)], words)
	return keys, nil
}

// spread translates pieces of the sources until there are none left.
func (e *external) spread(worker int) error {
	room := e.rooms[worker]
	piece := min(len(room)/8, pieceWords)
	in, out := room[:piece], room[piece:piece:2*piece]
	s := newSpreader(e.file, e.ranges, room[2*piece:], e.block)
	for {
		from, at, n := e.piece(piece)
		if n == 0 {
			break
		}
		if err := e.ctx.Err(); err != nil {
			return err
		}
		slot := from.slot()
		slots := in[:n*slot]
		if from.file != nil {
			if err := from.file.read(bytesOf(slots), from.at+int64(8*at*slot)); err != nil {
				return err
			}
		} else {
			slots = from.slots[at*slot : (at+n)*slot]
		}
		entries, err := from.translator.entries(out, slots, from.words, from.values, from.first+uint64(at))
		if err != nil {
			return err
		}
		if err := s.add(entries); err != nil {
			return err
		}
	}
	e.chains[worker] = s.chains
	return s.finish()
}

// piece hands out slots that fit in so many words, as they are and as entries; 0 when there are none left.
func (e *external) piece(words int) (s *source, at, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return nil, 0, 0
	}
	for len(e.sources) > 0 {
		s = e.sources[0]
		if e.slot < s.n {
			at = e.slot
			n = min(words/max(s.slot(), e.stride()), s.n-at)
			e.slot += n
			return s, at, n
		}
		e.sources[0] = nil // what it holds is free once its last piece is done
		e.sources, e.slot = e.sources[1:], 0
	}
	return nil, 0, 0
}
