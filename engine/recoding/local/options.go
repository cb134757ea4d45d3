package local

import (
	"context"
	"slices"
)

// A place is a released key that records may be given: what is cut and what is shown.
type place struct {
	cut     Set
	weight  float64 // of the cells that are cut
	total   int64   // records of the file that agree with it
	home    int64   // of them those of a class of at least k that is written so as it is
	donors  int32   // first in a list; -1: none
	members []int32 // records at risk that are there
	lent    []loan
}

// A loan is so many records of a class of at least k that are in a place so that its records are k.
type loan struct {
	class int32
	n     int64
	whole bool // all that the class has: k are not left of it
}

// donorsKept is how many classes a place keeps to borrow from, those with most to spare.
const donorsKept = 4

type donor struct {
	class int32
	next  int32
}

// A market is the places that the classes at risk may be in, those of least weight.
type market struct {
	*instance
	costs   *costing
	risk    []int32   // classes at risk
	lackW   []float64 // weight of what a class misses; nil: 0
	options [][]int32 // by class at risk: places, ascending in weight
	places  []place   // ascending in weight
	users   [][]int32 // by place: classes at risk
	donors  []donor
	reached int // classes with an option
}

// optionsOf is how many places are kept for a class at risk.
func optionsOf(classes int, k int64) int {
	if classes > 50_000 {
		return 16
	}
	return int(min(8*k, 32))
}

// enoughSets is how many sets of variables are looked at once each class has a place.
const enoughSets = 4096

func newMarket(ctx context.Context, in *instance, costs *costing, o Options) (*market, error) {
	m := &market{instance: in, costs: costs, risk: in.atRisk()}
	m.options = make([][]int32, len(m.risk))
	if in.lacks != nil {
		m.lackW = make([]float64, in.n)
		for c, s := range in.lacks {
			m.lackW[c] = costs.of[s]
		}
	}
	most, seen := optionsOf(len(m.risk), in.K), 0
	room := make([]int32, most*len(m.risk))
	for i := range m.options {
		m.options[i] = room[i*most : i*most : (i+1)*most]
	}
	var total []int64
	named := make([]int32, in.n)
	open := make([]int32, len(m.risk))
	for i := range open {
		open[i] = int32(i)
	}
	err := in.sweep(ctx, in.usable(costs), o, func(g *grouping) bool {
		total = in.totals(g, total)
		for id := range g.groups {
			named[id] = -1
		}
		from := len(m.places)
		left := open[:0]
		for _, i := range open {
			m.offer(g, i, total, named)
			if len(m.options[i]) < most {
				left = append(left, i)
			}
		}
		open = left
		if len(m.places) > from {
			m.lend(g, named)
		}
		seen++
		return len(open) > 0 && (seen < enoughSets || m.reached < len(m.risk))
	})
	m.use()
	return m, err
}

// use lists the classes at risk of each place.
func (m *market) use() {
	n, all := make([]int32, len(m.places)), 0
	for _, options := range m.options {
		all += len(options)
		for _, p := range options {
			n[p]++
		}
	}
	m.users = make([][]int32, len(m.places))
	rest := make([]int32, all)
	for p, k := range n {
		m.users[p], rest = rest[:0:k], rest[k:]
	}
	for i, options := range m.options {
		for _, p := range options {
			m.users[p] = append(m.users[p], int32(i))
		}
	}
}

// offer gives class i of those at risk its place in a grouping, where it has one that no narrower one with the same records is better than.
func (m *market) offer(g *grouping, i int32, total []int64, named []int32) {
	c := m.risk[i]
	id := g.of[c]
	if id < 0 || total[id] < m.K || (g.cut&^m.lack(int(c)))&m.never != 0 {
		return
	}
	for _, p := range m.options[i] {
		if x := &m.places[p]; x.cut&^g.cut == 0 && x.total == total[id] {
			return
		}
	}
	if named[id] < 0 {
		named[id] = int32(len(m.places))
		m.places = append(m.places, place{cut: g.cut, weight: m.costs.of[g.cut], total: total[id], donors: -1})
	}
	if len(m.options[i]) == 0 {
		m.reached++
	}
	m.options[i] = append(m.options[i], named[id])
}

// lend lists the classes of at least k that places can borrow from, and those that are at home there.
func (m *market) lend(g *grouping, named []int32) {
	for c, id := range g.of {
		if id < 0 || named[id] < 0 || m.counts[c] < m.K {
			continue
		}
		p, lack := &m.places[named[id]], m.lack(c)
		switch {
		case lack == g.cut:
			p.home = m.counts[c]
		case (g.cut&^lack)&m.never != 0:
		case m.lent(p) < donorsKept:
			m.donors = append(m.donors, donor{class: int32(c), next: p.donors})
			p.donors = int32(len(m.donors) - 1)
		default:
			m.displace(p, int32(c))
		}
	}
}

func (m *market) lent(p *place) (n int) {
	for d := p.donors; d >= 0; d = m.donors[d].next {
		n++
	}
	return n
}

// displace puts class c in the place of the donor with least to spare, if that is less.
func (m *market) displace(p *place, c int32) {
	least := p.donors
	for d := p.donors; d >= 0; d = m.donors[d].next {
		if m.counts[m.donors[d].class] < m.counts[m.donors[least].class] {
			least = d
		}
	}
	if m.counts[m.donors[least].class] < m.counts[c] {
		m.donors[least].class = c
	}
}

// cost of a record of class c in a place.
func (m *market) cost(c int32, p *place) float64 {
	if m.lackW == nil {
		return p.weight
	}
	return max(0, p.weight-m.lackW[c])
}

// levels has the first place of each weight, and the number of places at the end.
func (m *market) levels() (starts []int32) {
	for i := range m.places {
		if i == 0 || m.costs.rank[m.places[i].cut] != m.costs.rank[m.places[i-1].cut] {
			starts = append(starts, int32(i))
		}
	}
	return slices.Clip(append(starts, int32(len(m.places))))
}
