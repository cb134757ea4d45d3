package local

import "math"

// An assignment has the place of each record at risk. Each place holds none, or at least k records with those that it borrows.
type assignment struct {
	*market
	class  []int32 // of each record: its number among those at risk
	first  []int32 // first record of each class at risk
	in     []int32 // place of each record; -1: none yet
	at     []int32 // position among the members of its place
	spare  []int64 // by class: records that may be borrowed
	gone   []bool  // by class: all are borrowed
	cost   float64 // of all records in places, borrowed ones included
	placed int
	log    []step  // what was done since it was emptied
	marks  []mark  // by place
	worth  []int64 // of a record, by class at risk
}

// A mark is what is looked at of a place most often.
type mark struct {
	weight float64
	have   int32 // records there, with those at home and those lent
	wants  int32 // records that could enter, of those that are looked at
	worth  int64 // of these
	lent   int32 // records lent to it
}

// A step is one change, so that it can be taken back.
type step struct {
	kind   kind
	record int32
	place  int32
	loan   loan
}

type kind uint8

const (
	added kind = iota
	removed
	borrowed
	returned
)

func newAssignment(m *market) *assignment {
	a := &assignment{market: m, spare: make([]int64, m.n), gone: make([]bool, m.n)}
	for i, c := range m.risk {
		a.first = append(a.first, int32(len(a.class)))
		for range m.counts[c] {
			a.class = append(a.class, int32(i))
		}
	}
	a.first = append(a.first, int32(len(a.class)))
	a.in, a.at = make([]int32, len(a.class)), make([]int32, len(a.class))
	for r := range a.in {
		a.in[r] = -1
	}
	a.worth = make([]int64, len(m.risk))
	for i := range a.worth {
		a.worth[i] = 1
	}
	a.marks = make([]mark, len(m.places))
	for i, p := range m.places {
		a.marks[i] = mark{weight: p.weight, have: int32(min(p.home, math.MaxInt32/4))}
	}
	for c, n := range m.counts {
		a.spare[c] = max(0, n-m.K)
	}
	return a
}

// rows that are in a place, without those lent to it.
func (p *place) rows() int64 { return p.home + int64(len(p.members)) }

func (p *place) loans() (n int64) {
	for _, l := range p.lent {
		n += l.n
	}
	return n
}

func (a *assignment) add(r, to int32) {
	p := &a.places[to]
	a.in[r], a.at[r] = to, int32(len(p.members))
	a.marks[to].have++
	p.members = append(p.members, r)
	a.cost += a.market.cost(a.risk[a.class[r]], p)
	a.placed++
	a.log = append(a.log, step{kind: added, record: r, place: to})
}

func (a *assignment) remove(r int32) {
	from := a.in[r]
	p := &a.places[from]
	last := p.members[len(p.members)-1]
	p.members[a.at[r]], a.at[last] = last, a.at[r]
	p.members = p.members[:len(p.members)-1]
	a.in[r] = -1
	a.marks[from].have--
	a.cost -= a.market.cost(a.risk[a.class[r]], p)
	a.placed--
	a.log = append(a.log, step{kind: removed, record: r, place: from})
}

func (a *assignment) borrow(to int32, l loan) {
	p := &a.places[to]
	p.lent = append(p.lent, l)
	a.take(l, p, 1)
	a.marks[to].have += int32(l.n)
	a.marks[to].lent += int32(l.n)
	a.log = append(a.log, step{kind: borrowed, place: to, loan: l})
}

// giveBack returns the last loan of a place.
func (a *assignment) giveBack(from int32) {
	p := &a.places[from]
	l := p.lent[len(p.lent)-1]
	p.lent = p.lent[:len(p.lent)-1]
	a.take(l, p, -1)
	a.marks[from].have -= int32(l.n)
	a.marks[from].lent -= int32(l.n)
	a.log = append(a.log, step{kind: returned, place: from, loan: l})
}

func (a *assignment) take(l loan, p *place, sign int64) {
	if l.whole {
		a.gone[l.class] = sign > 0
	} else {
		a.spare[l.class] -= sign * l.n
	}
	a.cost += float64(sign*l.n) * a.market.cost(l.class, p)
}

// undo takes back all that was done since the log was emptied.
func (a *assignment) undo() {
	for len(a.log) > 0 {
		n := len(a.log) - 1
		s := a.log[n]
		switch s.kind {
		case added:
			a.remove(s.record)
		case removed:
			a.add(s.record, s.place)
		case borrowed:
			a.giveBack(s.place)
		case returned:
			a.borrow(s.place, s.loan)
		}
		a.log = a.log[:n]
	}
}

// lendable is how many records a place would have to borrow so as to get need more, and whether it can. The classes that have some to spare
// come first; then one that gives all it has.
func (a *assignment) lendable(p *place, need int64) (n int64, ok bool) {
	got := int64(0)
	for d := p.donors; d >= 0 && got < need; d = a.donors[d].next {
		if c := a.donors[d].class; !a.gone[c] {
			got += min(a.spare[c], need-got)
		}
	}
	if got == need {
		return got, true
	}
	if c := a.giver(p, need); c >= 0 {
		return a.counts[c], true
	}
	return 0, false
}

// giver is the smallest class that can give all it has; -1: none. It has lent nothing yet, and no record that misses a value is written as
// it is.
func (a *assignment) giver(p *place, need int64) (giver int32) {
	giver = -1
	if a.lacks != nil {
		return giver
	}
	for d := p.donors; d >= 0; d = a.donors[d].next {
		c := a.donors[d].class
		if !a.gone[c] && a.spare[c] == a.counts[c]-a.K && a.counts[c] >= need && (giver < 0 || a.counts[c] < a.counts[giver]) {
			giver = c
		}
	}
	return giver
}

// fill borrows need records for a place, which lendable says it can.
func (a *assignment) fill(to int32, need int64) {
	p := &a.places[to]
	got := int64(0)
	for d := p.donors; d >= 0; d = a.donors[d].next {
		if c := a.donors[d].class; !a.gone[c] {
			got += min(a.spare[c], need-got)
		}
	}
	if got < need {
		c := a.giver(p, need)
		a.borrow(to, loan{class: c, n: a.counts[c], whole: true})
		return
	}
	for d := p.donors; d >= 0 && need > 0; d = a.donors[d].next {
		c := a.donors[d].class
		if n := min(a.spare[c], need); n > 0 && !a.gone[c] {
			a.borrow(to, loan{class: c, n: n})
			need -= n
		}
	}
}

// settle returns loans that a place does without, and borrows what it lacks; false: it cannot.
func (a *assignment) settle(at int32) bool {
	p := &a.places[at]
	for len(p.lent) > 0 && (len(p.members) == 0 || p.rows()+p.loans()-p.lent[len(p.lent)-1].n >= a.K) {
		a.giveBack(at)
	}
	if len(p.members) == 0 {
		return true
	}
	for p.rows()+p.loans() > a.K && len(p.lent) > 0 && !p.lent[len(p.lent)-1].whole {
		l := p.lent[len(p.lent)-1]
		a.giveBack(at)
		l.n = a.K - p.rows() - p.loans()
		a.borrow(at, l)
	}
	need := a.K - p.rows() - p.loans()
	if need <= 0 {
		return true
	}
	if _, ok := a.lendable(p, need); !ok {
		return false
	}
	a.fill(at, need)
	return true
}

// free takes a record out of its place, and with it all others there if they would be too few; it appends them to pool.
func (a *assignment) free(r int32, pool []int32) []int32 {
	at := a.in[r]
	p := &a.places[at]
	if p.rows()+p.loans()-1 >= a.K {
		a.remove(r)
		if len(p.members) == 0 {
			a.settle(at)
		}
		return append(pool, r)
	}
	for len(p.members) > 0 {
		last := p.members[len(p.members)-1]
		a.remove(last)
		pool = append(pool, last)
	}
	a.settle(at)
	return pool
}
