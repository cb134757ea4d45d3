package objects

import (
	"container/list"
	"sync"

	"microrisk/operators/files"
)

type blockState int

const (
	blockPlanned blockState = iota
	blockRunning
	blockDone
)

// A block is a range of an input that is read by one request, if all goes well.
type block struct {
	input    *Input
	from, to int64
	turn     int // within its stretch
	state    blockState
	data     []byte
	filled   int64
	used     int64 // bytes that were copied out
	err      error
	idle     *list.Element // in held.idle: all of it was used
}

// blocksOf cuts a stretch.
func blocksOf(in *Input, s files.Stretch) []*block {
	var list []*block
	for from := s.From; from < s.To; from += blockBytes {
		list = append(list, &block{input: in, from: from, to: min(from+blockBytes, s.To), turn: len(list)})
	}
	return list
}

// A shelf has the blocks of all inputs. What was used stays, as it may be read again, until room is needed: then what was used longest
// ago goes.
type shelf struct {
	mu      sync.Mutex
	changed *sync.Cond
	most    int64 // bytes of all blocks, and half of it of those that were not used yet
	bytes   int64
	unused  int64
	idle    *list.List
}

// Bounds of a shelf, in bytes.
const (
	leastHeld = 32 << 20
	usualHeld = 128 << 20
)

var held = newShelf(usualHeld)

func newShelf(most int64) *shelf {
	s := &shelf{most: most, idle: list.New()}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *shelf) resize(most int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = max(most, leastHeld)
	s.evict(0)
}

// room tells whether so many bytes may be read before they are asked for.
func (s *shelf) room(n int64) bool { return s.unused == 0 || s.unused+n <= s.most/2 }

// take makes the memory of a block.
func (s *shelf) take(b *block) {
	n := b.to - b.from
	s.evict(n)
	s.bytes += n
	s.unused += n
	b.state, b.data = blockRunning, make([]byte, n)
}

func (s *shelf) evict(n int64) {
	for e := s.idle.Front(); e != nil && s.bytes+n > s.most; e = s.idle.Front() {
		b := e.Value.(*block)
		s.drop(b)
		b.input.forget(b)
	}
}

// used notes that bytes of a block were copied out.
func (s *shelf) used(b *block, n int64) {
	b.used += n
	switch {
	case b.idle != nil:
		s.idle.MoveToBack(b.idle)
	case b.used >= b.to-b.from && b.state == blockDone:
		s.unused -= b.to - b.from
		b.idle = s.idle.PushBack(b)
	}
}

// again says that a block will be read once more.
func (s *shelf) again(b *block) {
	b.used = 0
	if b.idle != nil {
		s.idle.Remove(b.idle)
		b.idle = nil
		s.unused += b.to - b.from
	}
}

// drop lets the memory of a block go.
func (s *shelf) drop(b *block) {
	if b.data == nil || b.state == blockRunning {
		return
	}
	s.bytes -= b.to - b.from
	if b.idle != nil {
		s.idle.Remove(b.idle)
		b.idle = nil
	} else {
		s.unused -= b.to - b.from
	}
	b.data = nil
}

// forget takes a block off the input's list.
func (in *Input) forget(b *block) {
	for i, x := range in.blocks {
		if x == b {
			in.blocks = append(in.blocks[:i], in.blocks[i+1:]...)
			return
		}
	}
}
