package uniques

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"
)

// A level holds the sets of one size, in lexicographic order of their variables, each with a bitmap of the classes that are
// done on it: not candidates for any larger set, as they are unique on this one already (or ignored on it). They lie in pieces, so
// that no growing list is ever copied. When it is settled only open sets are left: those above which a class can still have a minimal
// sample unique.
type level struct {
	size   int
	room   *room
	pieces []*piece
	count  int
	slots  []uint32 // of a settled level, open addressing: one more than the number of a set, 0 where empty
}

// A piece has some sets of a level.
type piece struct {
	sets []uint64
	done []uint64 // bitmaps, one after the other
	open []bool

	refuted []uint64 // bitmaps of classes that are unique but for missing values, where the room has them
}

// A room makes pieces, and keeps those that are free.
type room struct {
	words  int  // of a bitmap
	shift  int  // of a number of a set to that of its piece
	twice  bool // whether sets have a second bitmap
	spare  []*piece
	budget *meter
}

// pieceWords is about how long the bitmaps of a piece are.
const pieceWords = 1 << 15

func newRoom(p *problem) *room {
	r := &room{words: len(p.base), budget: p.budget}
	widest := binomial(p.variables, p.variables/2) // no level has more sets
	for r.shift < 12 && int64(1)<<r.shift < widest && r.words<<(r.shift+1) <= pieceWords {
		r.shift++
	}
	return r
}

// get is a piece, nil if there is no memory left.
func (r *room) get() *piece {
	if n := len(r.spare); n > 0 {
		p := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return p
	}
	n := 1 << r.shift
	bytes := 8 * r.words
	if r.twice {
		bytes *= 2
	}
	if !r.budget.take(int64(n) * int64(bytes+setBytes)) {
		return nil
	}
	p := &piece{sets: make([]uint64, n), done: make([]uint64, n*r.words), open: make([]bool, n)}
	if r.twice {
		p.refuted = make([]uint64, n*r.words)
	}
	return p
}

// set is set number i.
func (l *level) set(i int) uint64 { return l.pieces[i>>l.room.shift].sets[i&(1<<l.room.shift-1)] }

// done is the bitmap of set number i.
func (l *level) done(i int) []uint64 {
	at := i & (1<<l.room.shift - 1) * l.room.words
	return l.pieces[i>>l.room.shift].done[at : at+l.room.words]
}

// refuted is the second bitmap of set number i.
func (l *level) refuted(i int) []uint64 {
	at := i & (1<<l.room.shift - 1) * l.room.words
	return l.pieces[i>>l.room.shift].refuted[at : at+l.room.words]
}

func (l *level) setOpen(i int, open bool) {
	l.pieces[i>>l.room.shift].open[i&(1<<l.room.shift-1)] = open
}

// add appends a set, and tells whether there was memory for it.
func (l *level) add(set uint64) bool {
	if l.count>>l.room.shift == len(l.pieces) {
		p := l.room.get()
		if p == nil {
			return false
		}
		l.pieces = append(l.pieces, p)
	}
	l.pieces[l.count>>l.room.shift].sets[l.count&(1<<l.room.shift-1)] = set
	l.count++
	return true
}

// release gives all pieces back.
func (l *level) release() {
	l.room.spare = append(l.room.spare, l.pieces...)
	l.room.budget.give(int64(4 * len(l.slots)))
	l.pieces, l.slots, l.count = nil, nil, 0
}

// settle drops the closed sets, gives the pieces that they leave back, and makes the index; it tells whether there was memory for that.
func (l *level) settle() bool {
	mask := 1<<l.room.shift - 1
	n := 0
	for i := range l.count {
		if !l.pieces[i>>l.room.shift].open[i&mask] {
			continue
		}
		if n < i {
			l.pieces[n>>l.room.shift].sets[n&mask] = l.set(i)
			copy(l.done(n), l.done(i))
			if l.room.twice {
				copy(l.refuted(n), l.refuted(i))
			}
		}
		n++
	}
	l.count = n
	used := (n + mask) >> l.room.shift
	l.room.spare = append(l.room.spare, l.pieces[used:]...)
	l.pieces = l.pieces[:used]
	slots := 1
	for 2*slots < 3*n {
		slots *= 2
	}
	if !l.room.budget.take(int64(4 * slots)) {
		return false
	}
	l.slots = make([]uint32, slots)
	for i := range n {
		_, at := l.find(l.set(i))
		l.slots[at] = uint32(i + 1)
	}
	return true
}

// find is the number of a set, or -1 and the slot where it could be.
func (l *level) find(set uint64) (number, slot int) {
	mask := len(l.slots) - 1
	at := int(spread(set)>>20) & mask
	for l.slots[at] != 0 {
		if i := int(l.slots[at] - 1); l.set(i) == set {
			return i, at
		}
		at = (at + 1) & mask
	}
	return -1, at
}

// next lists the sets one larger than those of a settled level that have no closed subset; nil where there is no memory for them.
func (l *level) next(variables int) *level {
	n := &level{size: l.size + 1, room: l.room}
	for i := range l.count {
		s := l.set(i)
		for v := bits.Len64(s); v < variables; v++ {
			set := s | 1<<v
			if l.allOpen(set, s) && !n.add(set) {
				return nil
			}
		}
	}
	return n
}

// allOpen tells whether all subsets of a set one smaller than it are open, save one that is known to be.
func (l *level) allOpen(set, save uint64) bool {
	for rest := set; rest != 0; rest &= rest - 1 {
		sub := set &^ (rest & -rest)
		if sub == save {
			continue
		}
		if i, _ := l.find(sub); i < 0 {
			return false
		}
	}
	return true
}

// known writes the classes that are done on some subset of set to dst, words from to from+len(dst) of the bitmap.
func (l *level) known(p *problem, set uint64, from int, dst []uint64) {
	first := true
	for rest := set; rest != 0; rest &= rest - 1 {
		i, _ := l.find(set &^ (rest & -rest))
		sub := l.done(i)[from : from+len(dst)]
		if first {
			copy(dst, sub)
			first = false
			continue
		}
		for i, w := range sub {
			dst[i] |= w
		}
	}
	if l.size == 0 {
		if ignored := p.ignored[bits.TrailingZeros64(set)]; ignored != nil {
			for i := range dst {
				dst[i] |= ignored[from+i]
			}
		}
	}
}

// inParallel calls f for 0 to n-1 on some goroutines, until done or ctx ends.
func inParallel(ctx context.Context, workers, n int, f func(worker, i int)) error {
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range min(max(workers, 1), n) {
		group.Add(1)
		go func() {
			defer group.Done()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(w, i)
			}
		}()
	}
	group.Wait()
	return ctx.Err()
}

// A progress adds sets up and reports them.
type progress struct {
	mutex       sync.Mutex
	report      func(done, total int64)
	done, total int64
	rounds      int64 // how often each set is gone through
}

func newProgress(o *Options, total int64) *progress {
	return &progress{report: o.Progress, total: total, rounds: 1}
}

func (p *progress) add(sets int64) {
	if p.report == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done = min(p.done+sets, p.total*p.rounds)
	p.report(p.done/p.rounds, p.total)
}
