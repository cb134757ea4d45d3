package search

import "math"

// firstLadder has inverse temperatures from 1 down to where the largest change that a move makes is of the order of 1.
func firstLadder(rungs int, largest float64) []float64 {
	ladder := make([]float64, rungs)
	low := 1 / max(2, largest)
	for r := range ladder {
		ladder[r] = 1
		if r > 0 {
			ladder[r] = math.Pow(low, float64(r)/float64(rungs-1))
		}
	}
	return ladder
}

// swap proposes to exchange states between neighbouring temperatures, pairs that begin at even and at odd rungs in turn.
func (c *chain) swap(betas []float64) {
	for r := c.turn; r+1 < len(c.rungs); r += 2 {
		c.tried[r]++
		a, b := c.rungs[r], c.rungs[r+1]
		if c.accepts((betas[r] - betas[r+1]) * (b.score - a.score)) {
			c.rungs[r], c.rungs[r+1] = b, a
			c.swapped[r]++
			c.hot[r], c.hot[r+1] = c.hot[r+1], c.hot[r]
			if r+2 == len(c.rungs) {
				c.hot[r+1] = true
			}
			if r == 0 && c.hot[0] {
				c.hot[0] = false
				c.trips++
			}
			if r == 0 {
				c.seen.add(b.key, b.score, b.edges, -1)
			}
		}
	}
	c.turn ^= 1
}

// tune moves the temperatures between the first and the last so that swaps are rejected equally often everywhere: the rejections
// so far, added up along the ladder, are read backwards at equal distances (Syed, Bouchard-Cote, Deligiannidis & Doucet 2022).
func tune(ladder []float64, chains []*chain) []float64 {
	n := len(ladder)
	if n < 3 {
		return ladder
	}
	barrier := make([]float64, n)
	for r := range n - 1 {
		tried, swapped := 0.0, 0.0
		for _, c := range chains {
			tried += float64(c.tried[r])
			swapped += float64(c.swapped[r])
		}
		if tried == 0 {
			return ladder
		}
		barrier[r+1] = barrier[r] + max(1-swapped/tried, 0.01)
	}
	tuned := make([]float64, n)
	tuned[0], tuned[n-1] = ladder[0], ladder[n-1]
	at := 0
	for r := 1; r < n-1; r++ {
		goal := barrier[n-1] * float64(r) / float64(n-1)
		for barrier[at+1] < goal {
			at++
		}
		part := (goal - barrier[at]) / (barrier[at+1] - barrier[at])
		tuned[r] = math.Exp((1-part)*math.Log(ladder[at]) + part*math.Log(ladder[at+1]))
	}
	return tuned
}

// A ramp cools a chain from the hottest temperature to those of the ladder during the first half of the burn-in.
type ramp struct {
	ladder []float64
	now    []float64
	length int // iterations, 0 for none
}

func newRamp(ladder []float64, heated bool, burn int) *ramp {
	r := &ramp{ladder: ladder}
	if heated {
		r.length = burn / 2
		r.now = make([]float64, len(ladder))
	}
	return r
}

// at is the inverse temperatures in an iteration.
func (r *ramp) at(iteration int) []float64 {
	if iteration >= r.length {
		return r.ladder
	}
	part := float64(iteration) / float64(r.length)
	low := r.ladder[len(r.ladder)-1]
	for i, b := range r.ladder {
		r.now[i] = math.Exp((1-part)*math.Log(low) + part*math.Log(b))
	}
	return r.now
}
