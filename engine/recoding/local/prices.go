package local

import (
	"context"
	"math"
	"sync"
)

// Prices say what a record at risk costs in a good assignment: multipliers of the condition that each record is in one place. With them each
// place stands for itself: the best group there gains the prices of its records less their cells. Prices of records that no place takes rise
// and those of records that several take fall, in steps that become shorter (Held & Karp 1971). They tell which places are worth looking at.
type prices struct {
	*market
	of     []float64 // by class at risk
	count  []int32   // records by class at risk
	lends  []bool    // by place: it can borrow what a record lacks
	active []int32   // places looked at in all rounds
	shares []*share
}

// A share is what one worker looks at.
type share struct {
	taken  []int32 // records by class at risk that places took
	offers []bid
	active []int32
}

// A bid is records of a class that cost more in a place than their price.
type bid struct {
	price float64
	of    int32 // class at risk, or record
	n     int32
}

// Every so many rounds look at all places, the others at those that lost no more than some, in the mean weight of k cells. The first step is a
// share of the sum of prices, the last that times exp(-shrink); a part of each direction is kept, and one that is nearly flat does
// not make steps longer. Above mostPriced as k there are no prices.
const (
	allPlaces  = 8
	loses      = .2
	firstStep  = .05
	shrink     = 5
	kept       = .7
	flat       = .05
	mostPriced = 32
)

// pricings is the number of rounds: larger groups take more until prices settle.
func (m *market) pricings() int { return int(min(max(16*m.K, 64), 256)) }

// worthwhile is what a place may lose and is kept, in the mean weight of k cells. Prices tell less of larger groups.
func (m *market) worthwhile() float64 { return max(.1, float64(m.K*m.K)/250) }

func newPrices(ctx context.Context, m *market, o Options) *prices {
	n := len(m.risk)
	p := &prices{market: m, of: make([]float64, n), count: make([]int32, n), lends: make([]bool, len(m.places))}
	for range o.workers() {
		p.shares = append(p.shares, &share{taken: make([]int32, n), offers: make([]bid, 0, m.K)})
	}
	p.begin()
	sum, records := 0.0, 0.0
	for i, price := range p.of {
		sum += price * float64(p.count[i])
		records += float64(p.count[i])
	}
	direction := make([]float64, n)
	rounds := p.pricings()
	for round := range rounds {
		if ctx.Err() != nil {
			break
		}
		p.round(round%allPlaces == 0)
		norm := 0.0
		for i := range direction {
			left := p.count[i]
			for _, s := range p.shares {
				left -= s.taken[i]
			}
			direction[i] = kept*direction[i] + (1-kept)*float64(left)
			norm += direction[i] * direction[i]
		}
		step := firstStep * math.Exp(-shrink*float64(round)/float64(rounds)) * sum / max(norm, flat*records)
		for i, d := range direction {
			p.of[i] = max(0, p.of[i]+step*d)
		}
	}
	return p
}

// begin has prices by which no place gains: for each record the least of the weights of its places, each borne by records at risk alone.
func (p *prices) begin() {
	for i, c := range p.risk {
		p.count[i] = int32(p.counts[c])
		if len(p.options[i]) > 0 {
			p.of[i] = math.Inf(1)
		}
	}
	for at := range p.places {
		x := &p.places[at]
		n := x.home
		for _, i := range p.users[at] {
			n += int64(p.count[i])
		}
		each := x.weight * max(1, float64(p.K)/float64(n))
		for _, i := range p.users[at] {
			p.of[i] = min(p.of[i], each)
		}
		spare := int64(0)
		for d := x.donors; d >= 0; d = p.donors[d].next {
			spare += p.counts[p.donors[d].class] - p.K
		}
		p.lends[at] = spare >= p.K-1 || x.donors >= 0 && p.lacks == nil
	}
}

// round has what places take at these prices, by several workers.
func (p *prices) round(all bool) {
	n := len(p.active)
	if all {
		n = len(p.places)
	}
	least := -loses * p.unit()
	size := (n + len(p.shares) - 1) / len(p.shares)
	var wg sync.WaitGroup
	for w, s := range p.shares {
		from, to := min(w*size, n), min((w+1)*size, n)
		look := func() {
			clear(s.taken)
			s.active = s.active[:0]
			for at := from; at < to; at++ {
				if !all {
					p.gain(s, p.active[at])
				} else if p.gain(s, int32(at)) > least {
					s.active = append(s.active, int32(at))
				}
			}
		}
		if w < len(p.shares)-1 {
			wg.Go(look)
		} else {
			look()
		}
	}
	wg.Wait()
	if all {
		p.active = p.active[:0]
		for _, s := range p.shares {
			p.active = append(p.active, s.active...)
		}
	}
}

// unit is the mean weight of k cells.
func (p *prices) unit() float64 {
	return p.costs.of[len(p.costs.of)-1] / float64(len(p.Codes)) * float64(p.K)
}

// gain of the best group of a place: all records whose price is above its weight, then those nearest to it while they are fewer than k. It is
// taken where it is above 0.
func (p *prices) gain(s *share, at int32) (gain float64) {
	x := &p.places[at]
	need := int32(p.K - min(x.home, p.K))
	n, least, bids := int32(0), -1.0, s.offers[:0]
	for _, i := range p.users[at] {
		price := p.of[i]
		if price > x.weight {
			gain += (price - x.weight) * float64(p.count[i])
			n += p.count[i]
		} else if n < need && price > least {
			bids = insert(bids, bid{price, i, p.count[i]})
			if len(bids) == cap(bids) {
				least = bids[len(bids)-1].price
			}
		}
	}
	used, some := 0, n > 0
	for ; n < need && used < len(bids); used++ {
		b := &bids[used]
		b.n = min(b.n, need-n)
		gain += float64(b.n) * (b.price - x.weight)
		n += b.n
	}
	if n < need {
		if !p.lends[at] {
			return math.Inf(-1)
		}
		gain -= float64(need-n) * x.weight
	}
	if !some || gain <= 0 {
		return min(gain, 0)
	}
	for _, i := range p.users[at] {
		if p.of[i] > x.weight {
			s.taken[i] += p.count[i]
		}
	}
	for _, b := range bids[:used] {
		s.taken[b.of] += b.n
	}
	return gain
}

// insert keeps bids in descending order of price, as many as there is room for.
func insert(bids []bid, b bid) []bid {
	at := len(bids)
	if at < cap(bids) {
		bids = bids[:at+1]
	} else {
		at--
	}
	for ; at > 0 && bids[at-1].price < b.price; at-- {
		bids[at] = bids[at-1]
	}
	bids[at] = b
	return bids
}

// narrow leaves each class the places that lose little, or the dearest one.
func (p *prices) narrow() {
	least := -p.worthwhile() * p.unit()
	good := make([]bool, len(p.places))
	for at, users := range p.users {
		good[at] = len(users) > 0 && p.gain(p.shares[0], int32(at)) > least
	}
	for i, options := range p.options {
		left := options[:0]
		for j, at := range options {
			if good[at] || j == len(options)-1 && len(left) == 0 {
				left = append(left, at)
			}
		}
		p.options[i] = left
	}
	p.use()
}
