package search

import (
	"context"
	"errors"
	"math/bits"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"microrisk/engine/graph"
)

// A chain is one Markov chain over decomposable graphs, with the hotter ones it is coupled to (Metropolis-coupled chains, Geyer
// 1991). It has its own random numbers, so that it is the same whichever goroutine runs it.
type chain struct {
	*space
	moves   string
	rng     *rand.PCG
	look    *lookup
	rungs   []*state // by inverse temperature, 1 first
	seen    *seen
	heated  bool // cool down from the hottest temperature during the first half of the burn-in
	cliques []graph.Set

	swapEvery       int
	turn            int       // of swaps: pairs of even and of odd rungs take turns
	tried, swapped  []int64   // swaps of each rung with the next
	hot             []bool    // by rung: the state there was at the hottest temperature since it was last at 1
	trips           int64     // states that came from the hottest temperature to 1, burn-in left out
	proposals, took int64     // at temperature 1, burn-in left out
	samples         []float64 // score at temperature 1, one of thin iterations
	counts          [][]int32 // of each batch of samples: how many have each edge
}

// batches is the number of parts of a chain whose edge frequencies are compared.
const batches = 20

func runMC3(ctx context.Context, p *space, o Options) (*Result, error) {
	if len(p.pairs) == 0 {
		return p.single(p.empty(nil), Result{Method: MC3, Diagnostics: noDiagnostics()}), nil
	}
	chains, ladder, err := p.start(ctx, o)
	if err != nil {
		return nil, err
	}
	report := newProgress(o.Progress, int64(o.Chains)*int64(*o.Burn+o.Iterations))
	half, most := *o.Burn/2, *o.Burn*3/4
	for _, phase := range []struct{ from, to int }{{0, half}, {half, most}, {most, *o.Burn}, {*o.Burn, *o.Burn + o.Iterations}} {
		err := each(ctx, o.Workers, len(chains), func(i int) error {
			return chains[i].run(ctx, ladder, phase.from, phase.to, o, report)
		})
		if err != nil {
			return nil, err
		}
		if phase.from >= half && phase.to <= *o.Burn { // the ladder is frozen when the burn-in ends
			ladder = tune(ladder, chains)
		}
		if phase.to <= *o.Burn {
			for _, c := range chains {
				clear(c.tried)
				clear(c.swapped)
				c.trips = 0
			}
		}
	}
	report.finish()
	return p.summarise(chains, ladder, o), nil
}

// each calls f for 0 to n-1 on some goroutines.
func each(ctx context.Context, workers, n int, f func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(workers)
	stop := stopper(ctx)
	for i := 0; i < n && !stop(); i++ {
		group.Go(func() error { return f(i) })
	}
	return errors.Join(group.Wait(), ctx.Err())
}

// start makes the chains: the first from no edges, the second from the graph that greedy steps lead to, the others from random
// graphs; and the first ladder of temperatures, in geometric steps.
func (p *space) start(ctx context.Context, o Options) ([]*chain, []float64, error) {
	look := newLookup(p.scores)
	stop := stopper(ctx)
	none := p.empty(look)
	greedy := none
	largest := 1.0
	if o.Chains > 1 || o.Rungs > 1 {
		largest = none.largest(look)
		greedy = none.clone()
		end, ok := greedy.climb(look, stop)
		if !ok {
			return nil, nil, ctx.Err()
		}
		largest = max(largest, end)
	}
	chains := make([]*chain, o.Chains)
	for i := range chains {
		c := &chain{
			space: p, moves: o.Moves, rng: rand.NewPCG(o.Seed, uint64(i)), look: newLookup(p.scores),
			seen: newSeen(p, o.Memory/int64(2*o.Chains)), swapEvery: p.k, heated: i != 1 && o.Rungs > 1,
			tried: make([]int64, o.Rungs), swapped: make([]int64, o.Rungs), counts: make([][]int32, batches),
			samples: make([]float64, 0, o.Iterations/o.Thin),
		}
		for b := range c.counts {
			c.counts[b] = make([]int32, len(p.pairs))
		}
		first := none.clone()
		switch {
		case i == 1:
			first = greedy.clone()
		case i > 1:
			first.scatter(look, c.rng)
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		for range o.Rungs {
			c.rungs = append(c.rungs, first.clone())
		}
		c.hot = make([]bool, o.Rungs)
		c.seen.add(first.key, first.score, first.edges, -1)
		chains[i] = c
	}
	return chains, firstLadder(o.Rungs, largest), nil
}

// largest is the greatest change, either way, that one legal move makes.
func (s *state) largest(l *lookup) float64 {
	d := 0.0
	for _, e := range s.pairs {
		if v, w := int(e[0]), int(e[1]); s.legal(v, w) {
			c := s.change(l, v, w)
			d = max(d, c, -c)
		}
	}
	return d
}

// run makes the iterations from one to another: one proposal at each temperature, and swaps now and then.
func (c *chain) run(ctx context.Context, ladder []float64, from, to int, o Options, report *progress) error {
	stop := stopper(ctx)
	ramp := newRamp(ladder, c.heated, *o.Burn)
	betas := ladder
	for it := from; it < to; it++ {
		if it&31 == 0 {
			if stop() {
				return ctx.Err()
			}
			betas = ramp.at(it)
			if it&1023 == 0 {
				report.add(1024)
			}
		}
		for r := range c.rungs {
			if c.step(r, betas[r]) && r == 0 && it >= *o.Burn {
				c.took++
			}
		}
		if len(c.rungs) > 1 && it%c.swapEvery == 0 {
			c.swap(betas)
		}
		if past := it - *o.Burn + 1; past > 0 && past%o.Thin == 0 {
			c.sample(o.Iterations / o.Thin)
		}
	}
	if from >= *o.Burn {
		c.proposals += int64(to - from)
	}
	return nil
}

// sample counts the state at temperature 1 as one of total samples.
func (c *chain) sample(total int) {
	s := c.rungs[0]
	n := c.seen.add(s.key, s.score, s.edges, -1)
	c.seen.visits[n]++
	counts := c.counts[len(c.samples)*batches/total]
	c.samples = append(c.samples, s.score)
	for i, word := range s.edges {
		for ; word != 0; word &= word - 1 {
			counts[i*64+bits.TrailingZeros64(word)]++
		}
	}
}
