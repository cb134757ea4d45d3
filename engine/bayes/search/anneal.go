package search

import (
	"context"
	"math"
	"math/rand/v2"
)

// A cooling is one run of simulated annealing.
type cooling struct {
	*state
	look            *lookup
	rng             *rand.PCG
	best            *state
	proposals, took int64
	trace           []float64
}

// runAnneal looks for the best graph by simulated annealing (Smith 2011, chapter 8): a proposal that lowers the score by d is
// accepted with probability exp(-d/T). Several runs, each with random numbers of its own; the best graph seen in any is kept.
func runAnneal(ctx context.Context, p *space, o Options) (*Result, error) {
	if len(p.pairs) == 0 {
		return p.single(p.empty(nil), Result{Method: Anneal, Diagnostics: noDiagnostics()}), nil
	}
	look := newLookup(p.scores)
	first := p.empty(look)
	hot := 1e14
	if o.Schedule == SweepSchedule {
		var ok bool
		if hot, ok = first.climb(look, stopper(ctx)); !ok {
			return nil, ctx.Err()
		}
		hot = max(hot, sweepEnd)
	}
	steps := int64(1)
	if o.Schedule == SweepSchedule {
		steps += int64(math.Log(sweepEnd/hot) / math.Log(sweepFactor))
	}
	report := newProgress(o.Progress, steps*int64(o.Restarts))
	runs := make([]*cooling, o.Restarts)
	err := each(ctx, o.Workers, o.Restarts, func(i int) error {
		c := &cooling{state: first.clone(), best: first.clone(), look: newLookup(p.scores), rng: rand.NewPCG(o.Seed, uint64(i))}
		var ok bool
		if o.Schedule == ThesisSchedule {
			ok = c.thesis(ctx, hot, report)
		} else {
			ok = c.sweeps(ctx, hot, report)
		}
		if !ok {
			return ctx.Err()
		}
		c.look, c.state = nil, nil
		runs[i] = c
		return nil
	})
	if err != nil {
		return nil, err
	}
	report.finish()
	best := runs[0]
	d := noDiagnostics()
	d.Steps = int64(o.Restarts)
	for _, c := range runs {
		d.Proposals += c.proposals
		d.Accepted += c.took
		if c.best.score > best.best.score {
			best = c
		}
	}
	d.Trace = [][]float64{thinned(best.trace, 500)}
	return p.single(best.best, Result{Method: Anneal, Diagnostics: d}), nil
}

// thesis is the schedule of Smith 2011: one proposal at each temperature, 0.01 being the last.
func (c *cooling) thesis(ctx context.Context, hot float64, report *progress) bool {
	stop := stopper(ctx)
	for t := hot; t > 0.01; t *= 0.99 {
		if stop() {
			return false
		}
		c.propose(t)
		c.trace = append(c.trace, c.score)
	}
	report.add(1)
	return true
}

const (
	sweepEnd    = 0.1  // the last temperature
	sweepFactor = 0.95 // from sweep to sweep
	sweepRounds = 20   // proposals for each pair in a sweep
)

// sweeps cools from the largest change among the legal moves of the greedy graph, and ends with greedy steps from the best graph
// seen and from the last one.
func (c *cooling) sweeps(ctx context.Context, hot float64, report *progress) bool {
	stop := stopper(ctx)
	for t := hot; t >= sweepEnd; t *= sweepFactor {
		for i := range sweepRounds * len(c.pairs) {
			if i&31 == 0 && stop() {
				return false
			}
			c.propose(t)
		}
		c.trace = append(c.trace, c.score)
		report.add(1)
	}
	for _, s := range []*state{c.best, c.state} {
		if _, ok := s.climb(c.look, stop); !ok {
			return false
		}
	}
	c.trace = append(c.trace, c.score)
	c.keep()
	return true
}

// keep remembers the state if it is the best so far.
func (c *cooling) keep() {
	if c.score > c.best.score {
		c.best.copyFrom(c.state)
	}
}

func (c *cooling) propose(t float64) {
	c.proposals++
	e := c.pairs[below(c.rng, len(c.pairs))]
	v, w := int(e[0]), int(e[1])
	if !c.legal(v, w) {
		return
	}
	d := c.change(c.look, v, w)
	if d < 0 && (d < -45*t || uniform(c.rng) >= math.Exp(d/t)) {
		return
	}
	c.took++
	c.toggle(v, w)
	c.score += d
	c.moved(c.look)
	c.keep()
}
