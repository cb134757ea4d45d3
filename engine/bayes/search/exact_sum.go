package search

import "math/bits"

// sums is the algebra of sums.
type sums struct{ *program }

func (p sums) branches(b *buffer, c uint32, u int) {
	base := p.offset[c]
	if u == 0 {
		p.g[base] = p.packing.encode(scaled{1, 0})
		return
	}
	n := 1 << (p.k - bits.OnesCount32(c))
	h, g := b.x[:n], b.y[:n]
	p.packing.decodeAll(h, p.h[base:base+n])
	p.packing.decodeAll(g, p.g[base:base+n])
	for i := uint32(1)<<u - 1; i < uint32(n); i = following(i) {
		low := i & -i
		p.g[base+int(i)] = p.packing.encode(sumProducts(h, g, low, i^low))
	}
}

// sumProducts is the sum of h[low|s] g[rest-s] over all subsets s of rest.
func sumProducts(h, g []scaled, low, rest uint32) scaled {
	first := h[low|rest]
	unit := g[0]
	sum, top := first.mantissa*unit.mantissa, first.exponent+unit.exponent
	for s := rest; s != 0; {
		s = (s - 1) & rest
		a, b := &h[low|s], &g[rest^s]
		d := a.exponent + b.exponent - top
		if d <= 0 {
			if d > -farBelow {
				sum += a.mantissa * b.mantissa * power(d)
			}
			continue
		}
		if d < farBelow {
			sum = sum*power(-d) + a.mantissa*b.mantissa
		} else {
			sum = a.mantissa * b.mantissa
		}
		top += d
	}
	return scaled{sum, top}
}

func (p sums) trees(b *buffer, w uint32) {
	sets := subsets(w, b.sets)
	x, sum := b.x[:len(sets)], b.y[:len(sets)]
	for i, c := range sets {
		sum[i] = scaled{}
		if c != 0 {
			g := p.packing.decode(p.g[p.at(c, w^c)])
			x[i] = scaled{p.phi[c].mantissa * g.mantissa, p.phi[c].exponent + g.exponent}
		}
	}
	for bit := 1; bit < len(sets); bit *= 2 {
		for i := range sets {
			if i&bit == 0 {
				above := &sum[i|bit]
				if above.mantissa != 0 {
					sum[i].add(above.mantissa, above.exponent)
				}
				sum[i].add(x[i|bit].mantissa, x[i|bit].exponent)
			}
		}
	}
	for i, s := range sets[:len(sets)-1] {
		p.own[p.at(w^s, s)] = p.packing.encode(sum[i].over(p.phi[s]))
	}
}

func (p sums) branch(b *buffer, r uint32, c int) {
	base := p.offset[r]
	n := 1 << (p.k - bits.OnesCount32(r))
	own := b.x[:n]
	p.packing.decodeAll(own, p.own[base:base+n])
	sets := subsets(p.all&^r, b.sets)
	for i := uint32(1)<<c - 1; i < uint32(n); i = following(i) {
		p.h[p.at(sets[i], r)] = p.packing.encode(sumParts(own, i))
	}
}

// sumParts is the sum of own[s] over all subsets s of i other than i.
func sumParts(own []scaled, i uint32) scaled {
	s := (i - 1) & i
	sum, top := own[s].mantissa, own[s].exponent
	for s != 0 {
		s = (s - 1) & i
		a := &own[s]
		d := a.exponent - top
		if d <= 0 {
			if d > -farBelow {
				sum += a.mantissa * power(d)
			}
			continue
		}
		if d < farBelow {
			sum = sum*power(-d) + a.mantissa
		} else {
			sum = a.mantissa
		}
		top += d
	}
	return scaled{sum, top}
}

// total is f({}, V).
func (p sums) total() scaled {
	var sum scaled
	for c := uint32(1); c <= p.all; c++ {
		t := p.root(0, p.all, c)
		sum.add(t.mantissa, t.exponent)
	}
	return sum
}

// root is the term of the clique c in f(s, r).
func (p sums) root(s, r, c uint32) scaled {
	return p.phi[c].times(p.packing.decode(p.g[p.at(c, (s|r)^c)]))
}

// cover is the term of the first branch's variables r in g(c, u).
func (p sums) cover(c, u, r uint32) scaled {
	return p.packing.decode(p.h[p.at(c, r)]).times(p.packing.decode(p.g[p.at(c, u^r)]))
}

// hang is the term of the separator s in h(c, r).
func (p sums) hang(_, r, s uint32) scaled { return p.packing.decode(p.own[p.at(r, s)]) }
