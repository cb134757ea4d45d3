package uniques

import "sync"

// A sheet has the minimal sets of the entries of a view, as several workers find them. They stand on pages, a number of sets before each
// list; a list begins at an even place, so that 32 bits are enough to say where.
type sheet struct {
	at    []uint32 // of each entry: page and half the place on it, 0 where it has none
	pages [][]uint32
	bytes int64
	mutex sync.Mutex
}

// Lengths of a page: the least, and the most that can be told from one another.
const (
	pageLeast = 1 << 10
	pageBits  = 16
	pageMost  = 2 << pageBits
)

func newSheet(entries int) *sheet {
	return &sheet{at: make([]uint32, entries), pages: [][]uint32{nil}, bytes: int64(4 * entries)}
}

// of is the sets of an entry.
func (s *sheet) of(x uint32) []uint32 {
	at := s.at[x]
	if at == 0 {
		return nil
	}
	page := s.pages[at>>pageBits]
	from := at & (1<<pageBits - 1) * 2
	return page[from+1 : from+1+page[from]]
}

// copy copies the sets of some entries, each far from the last, to a list: places, beginnings and sets are fetched for several at once.
func (s *sheet) copy(entries []uint32, to *listing) {
	to.reset()
	for len(entries) > 0 {
		var at, length [64]uint32
		n := copy(at[:], entries)
		for i, x := range at[:n] {
			at[i] = s.at[x]
		}
		for i, at := range at[:n] {
			if at != 0 {
				length[i] = s.pages[at>>pageBits][at&(1<<pageBits-1)*2]
			}
		}
		for i, n := range length[:n] {
			if n != 0 {
				from := at[i]&(1<<pageBits-1)*2 + 1
				to.sets = append(to.sets, s.pages[at[i]>>pageBits][from:from+n]...)
			}
			to.close()
		}
		entries = entries[n:]
	}
}

// A writer is a worker's place on a sheet.
type writer struct {
	page   []uint32
	number int
	used   int
}

// add writes the sets of an entry: some as they are, and others with a variable more. It tells whether there was memory for them.
func (s *sheet) add(w *writer, u *outer, x int, sets, others []uint32, more uint32) bool {
	n := len(sets) + len(others)
	if n == 0 {
		return true
	}
	if w.used+n+1 > len(w.page) && !s.turn(w, u, n+1) {
		return false
	}
	s.at[x] = uint32(w.number<<pageBits | w.used/2)
	list := w.page[w.used : w.used+n+1]
	list[0] = uint32(n)
	copy(list[1:], sets)
	for i, o := range others {
		list[1+len(sets)+i] = o | more
	}
	w.used += (n + 2) &^ 1
	return true
}

// turn gives a worker a new page for at least so much. Pages are about as long as all before them.
func (s *sheet) turn(w *writer, u *outer, least int) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	length := max(least, min(max(pageLeast, int(s.bytes/4)), pageMost))
	bytes := int64(4 * length)
	if len(s.pages)>>(32-pageBits) > 0 || !u.take(bytes) {
		return false
	}
	s.bytes += bytes
	*w = writer{page: make([]uint32, length), number: len(s.pages)}
	s.pages = append(s.pages, w.page)
	return true
}
