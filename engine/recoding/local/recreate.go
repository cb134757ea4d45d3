package local

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// A recreation changes an assignment: it takes the records of some places that have keys in common out and puts them in again, cheapest
// places first, with chance; what is dearer is taken back, but for a little at first. (Schrimpf and others 2000.)
type recreation struct {
	*assignment
	rand   *rand.Rand
	pool   []int32
	listed []int32   // places that some could
	least  []float64 // by class at risk: the least weight of a place
	fine   float64   // for a record without a place
	ends   []int32   // by place: the last of its weight
	last   int32     // place that is looked at
	aim    int32     // place that is filled first; -1: none
	looked int64     // places that were looked at
}

// The chance of the search: how many places are taken apart at most, by how much scores are shaken, the first temperature, a share of the
// mean weight of a cell, the records that changes are tried for at least, and the
// places that are looked at by default.
const (
	apart  = 4
	shake  = .5
	warmth = .4

	fewest = 100

	mostLooked = 300e6
)

func (a *assignment) improve(ctx context.Context, o Options) (interrupted bool) {
	if len(a.in) == 0 {
		return false
	}
	x := &recreation{assignment: a, rand: rand.New(rand.NewPCG(1, 2))}
	all := a.costs.of[len(a.costs.of)-1]
	x.fine = 2 * all * float64(a.K)
	x.ends = make([]int32, len(a.places))
	starts := a.levels()
	for l := range starts[1:] {
		for p := starts[l]; p < starts[l+1]; p++ {
			x.ends[p] = starts[l+1] - 1
		}
	}
	x.least = make([]float64, len(a.options))
	for i, options := range a.options {
		if len(options) > 0 {
			x.least[i] = a.places[options[0]].weight
		}
	}
	tries := a.changes(o, len(a.in))
	for t := range tries {
		done := float64(t) / float64(tries)
		if o.Effort == 0 {
			done = max(done, float64(x.looked)/mostLooked)
		}
		if t%1024 == 0 {
			if ctx.Err() != nil {
				return true
			}
			o.tell(int64(done*float64(tries)), int64(tries))
		}
		if done >= 1 {
			break
		}
		x.once(warmth * all / float64(len(a.Codes)) * (1 - done))
	}
	a.log = a.log[:0]
	return false
}

func (x *recreation) price() float64 { return x.cost + x.fine*float64(len(x.in)-x.placed) }

func (x *recreation) once(temperature float64) {
	x.log = x.log[:0]
	before, cost := x.price(), x.cost
	most := before
	if temperature > 0 {
		most -= temperature * math.Log(1-x.rand.Float64())
	}
	if x.ruin() {
		x.recreate(most)
	}
	if x.price() > most {
		x.undo()
		x.cost = cost // without what rounding left
	}
}

// ruin takes a record out that might be cheaper, and some that could be with it.
func (x *recreation) ruin() bool {
	r := int32(-1)
	for range 8 {
		r = int32(x.rand.IntN(len(x.in)))
		if x.mightGain(r) {
			break
		}
		r = -1
	}
	if r < 0 {
		return false
	}
	x.pool, x.last, x.aim = x.pool[:0], 0, -1
	x.out(r)
	if x.rand.IntN(2) == 0 {
		x.clear(r)
		return true
	}
	most := 4 * int(x.K)
	for range 1 + x.rand.IntN(apart) {
		options := x.options[x.class[x.pool[x.rand.IntN(len(x.pool))]]]
		if len(options) == 0 {
			break
		}
		at := options[min(x.rand.IntN(len(options)), x.rand.IntN(len(options)))]
		other := x.users[at][x.rand.IntN(len(x.users[at]))]
		x.out(x.first[other] + x.rand.Int32N(x.first[other+1]-x.first[other]))
		if len(x.pool) >= most {
			break
		}
	}
	return true
}

// clear chooses a place that record r could enter, which is out already, and takes out records to fill it with: those that would gain by
// it, and where they are too few, others.
func (x *recreation) clear(r int32) {
	options := x.options[x.class[r]]
	at := options[min(x.rand.IntN(len(options)), x.rand.IntN(len(options)))]
	p := &x.places[at]
	if p.rows() >= x.K {
		return
	}
	x.aim, x.last = at, max(x.last, x.ends[at])
	need := int(x.K-p.rows()) - 1
	got := x.gather(at, need+x.rand.IntN(int(x.K)), true)
	if got < need {
		x.gather(at, need-got, false)
	}
}

// gather takes out at most so many records that could enter a place: of those that are in dearer places, or of others.
func (x *recreation) gather(at int32, most int, gain bool) (got int) {
	p, users := &x.places[at], x.users[at]
	from := x.rand.IntN(len(users))
	for n := range min(len(users), 32) {
		i := users[(from+n)%len(users)]
		for r := x.first[i]; r < x.first[i+1]; r++ {
			if got >= most {
				return got
			}
			o := x.in[r]
			if gain == (o < 0 || x.marks[o].weight > p.weight) && o != at && (o >= 0 || !slices.Contains(x.pool, r)) {
				x.out(r)
				got++
			}
		}
	}
	return got
}

func (x *recreation) mightGain(r int32) bool {
	if x.in[r] < 0 {
		return len(x.options[x.class[r]]) > 0
	}
	p := &x.marks[x.in[r]]
	return p.lent > 0 || p.weight > x.least[x.class[r]]
}

func (x *recreation) out(r int32) {
	if at := x.in[r]; at >= 0 {
		x.last = max(x.last, x.ends[at])
		x.pool = x.free(r, x.pool)
		return
	}
	x.last = int32(len(x.places))
	for _, q := range x.pool {
		if q == r {
			return
		}
	}
	x.pool = append(x.pool, r)
}

// recreate puts the records of the pool in, place by place, while it may cost no more than most.
func (x *recreation) recreate(most float64) {
	x.listed = x.listed[:0]
	for _, r := range x.pool {
		for _, at := range x.options[x.class[r]] {
			if at > x.last {
				break
			}
			if x.marks[at].wants == 0 {
				x.listed = append(x.listed, at)
			}
			x.marks[at].wants++
			x.marks[at].worth += x.worth[x.class[r]]
		}
	}
	left := len(x.pool)
	if x.aim >= 0 && x.marks[x.aim].wants > 0 && !math.IsInf(x.score(x.aim, math.Inf(1)), 1) {
		left -= x.fillFrom(x.aim, x.rand.IntN(2) == 0)
	}
	for left > 0 && x.cost+float64(left)*x.marks[0].weight <= most {
		best, least := int32(-1), math.Inf(1)
		x.looked += int64(len(x.listed))
		kept := x.listed[:0]
		for _, at := range x.listed {
			if x.marks[at].wants == 0 {
				continue
			}
			kept = append(kept, at)
			if s := x.score(at, least); s < least {
				if s *= 1 + shake*x.rand.Float64(); s < least {
					best, least = at, s
				}
			}
		}
		x.listed = kept
		if best < 0 {
			break
		}
		left -= x.fillFrom(best, false)
	}
	for _, at := range x.listed {
		x.marks[at].wants = 0
		x.marks[at].worth = 0
	}
}

// score of a place is its cost by what records of the pool that could enter are worth, if that is less than least.
func (x *recreation) score(at int32, least float64) float64 {
	p := &x.marks[at]
	n := int64(p.wants)
	need := x.K - int64(p.have) - n
	u := p.weight / float64(p.worth)
	if u*float64(n) >= least {
		return least
	}
	if need <= 0 {
		return u * float64(n)
	}
	if u*float64(n+need) >= least {
		return least
	}
	more, ok := x.lendable(&x.places[at], need)
	if !ok {
		return least
	}
	return u * float64(n+more)
}

// fillFrom puts records of the pool into a place: all that could enter, or as few as make k.
func (x *recreation) fillFrom(at int32, few bool) (n int) {
	left := x.pool[:0]
	p := &x.places[at]
	for _, r := range x.pool {
		if few && p.rows() >= x.K || !x.may(x.class[r], at) {
			left = append(left, r)
			continue
		}
		x.add(r, at)
		n++
		for _, o := range x.options[x.class[r]] {
			if o > x.last {
				break
			}
			x.marks[o].wants--
			x.marks[o].worth -= x.worth[x.class[r]]
		}
	}
	x.pool = left
	x.settle(at)
	return n
}

func (x *recreation) may(i, at int32) bool {
	for _, o := range x.options[i] {
		if o >= at {
			return o == at
		}
	}
	return false
}
