package local

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// priced fills an assignment by prices, and leaves places out that are not worth while, but where records are few.
func (a *assignment) priced(ctx context.Context, o Options) {
	p := newPrices(ctx, a.market, o)
	if len(a.in) > fewest {
		p.narrow()
	}
	unit := p.unit() / float64(a.K)
	for i, price := range p.of {
		a.worth[i] = int64((price/unit + leastWorth) * (1 << 20))
	}
	a.groups(ctx, p)
}

// leastWorth is added to the price of a record, in cells of mean weight.
const leastWorth = .3

// groups fills an empty assignment, those groups first that cost least of the prices of their records.
func (a *assignment) groups(ctx context.Context, p *prices) {
	h := make([]offer, 0, len(a.places))
	var members []int32
	for at := range a.places {
		if len(a.users[at]) == 0 {
			continue
		}
		var ratio float64
		if ratio, members = a.group(p, int32(at), members); len(members) > 0 {
			h = append(h, offer{ratio, int32(at)})
		}
	}
	slices.SortFunc(h, offer.compare) // a heap
	for n := 0; len(h) > 0 && a.placed < len(a.in); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return
		}
		x := h[0]
		var ratio float64
		ratio, members = a.group(p, x.at, members)
		if len(members) > 0 && ratio <= x.ratio*(1+1e-9) {
			for _, r := range members {
				a.add(r, x.at)
			}
			a.settle(x.at)
			ratio, members = a.group(p, x.at, members) // others may follow
		}
		if h[0].ratio = ratio; len(members) == 0 {
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
		}
		sink(h)
	}
	a.log = a.log[:0]
}

// An offer is what a group costs, a share of the prices of its records.
type offer struct {
	ratio float64
	at    int32
}

func (o offer) compare(p offer) int {
	return cmp.Or(cmp.Compare(o.ratio, p.ratio), cmp.Compare(o.at, p.at))
}

// sink moves the first of a heap to its place.
func sink(h []offer) {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1].compare(h[c]) < 0 {
			c++
		}
		if h[i].compare(h[c]) <= 0 {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// group is the best that could enter a place now, and what it costs; none where they are too few.
func (a *assignment) group(p *prices, at int32, into []int32) (ratio float64, members []int32) {
	x := &a.places[at]
	need := int(max(0, a.K-x.rows()-x.loans()))
	bids := p.shares[0].offers[:0]
	worth, members := 0.0, into[:0]
	for _, i := range a.users[at] {
		for r := a.first[i]; r < a.first[i+1]; r++ {
			switch price := p.of[i]; {
			case a.in[r] >= 0:
			case price >= x.weight*(1-1e-9):
				members = append(members, r)
				worth += price
			case len(members) < need && (len(bids) < cap(bids) || bids[len(bids)-1].price < price):
				bids = insert(bids, bid{price, r, 1})
			}
		}
	}
	for _, b := range bids {
		if len(members) >= need {
			break
		}
		members = append(members, b.of)
		worth += b.price
	}
	n := int64(len(members))
	if lack := int64(need) - n; n > 0 && lack > 0 {
		more, ok := a.lendable(x, lack)
		if !ok {
			return math.Inf(1), members[:0]
		}
		n += more
	}
	return x.weight * float64(n) / worth, members
}
