package attribution

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// ErrTooMuch tells that the smallest number of people would take more work than is allowed.
var ErrTooMuch = errors.New("there are too many people and cells to find the smallest number of people known")

// Smallest is the smallest n with SAP(n) of at least threshold, above 0 and at most 1; false if there is none up to N. Errors: another
// threshold, ErrTooMuch if it would take more than about most steps (of a nanosecond), a context that ends.
func (s *Sound) Smallest(ctx context.Context, threshold, most float64) (int64, bool, error) {
	if !(threshold > 0 && threshold <= 1) {
		return 0, false, fmt.Errorf("the threshold is %v: it must be above 0 and at most 1", threshold)
	}
	p := s.problem()
	return p.smallest(newClock(ctx), threshold, most)
}

func (p *problem) smallest(clock *clock, threshold, most float64) (int64, bool, error) {
	needed := p.needed()
	switch {
	case p.empty:
		return 0, true, nil
	case needed == 0:
		return 0, false, nil
	case threshold == 1: // what is certain
		return p.n - needed + 1, true, nil
	case p.n <= exactPeople:
		n := slices.IndexFunc(p.counted(p.n), func(x float64) bool { return x >= threshold })
		return int64(n), true, nil
	}
	slices.Sort(p.relevant)
	slices.Sort(p.closed)
	threshold *= 1 - 1e-12 // figures of large tables are not rounded just once
	// SAP never falls. Two bounds that are simple to compute lead close to where it passes the threshold: the expected number of
	// zeros from above; from below what it would be if cells were known in full independently (they are so together less often).
	var err error
	after := func(from int64, low bool) int64 {
		return from + int64(sort.Search(int(p.n-from), func(k int) bool {
			n := from + int64(k)
			if most -= p.stepsOfBound(n); most < 0 && err == nil {
				err = ErrTooMuch
			}
			if err != nil || p.certain(n) {
				return true
			}
			var x float64
			x, err = p.bounded(clock, n, low)
			return x >= threshold
		}))
	}
	first := after(0, false)
	last := after(first, true)
	if err != nil {
		return 0, false, err
	}
	passes := func(n int64) bool {
		if err != nil {
			return true
		}
		most -= stepsOfOne(p.relevant, p.n, n)
		if p.closing && n >= p.open {
			most -= stepsOfOne(p.closed, p.n-p.open, n-p.open)
		}
		if most < 0 {
			err = ErrTooMuch
			return true
		}
		out := []float64{0}
		err = p.large(clock, []int64{n}, n, out)
		return out[0] >= threshold
	}
	for step := int64(1); last > first; step *= 2 {
		n := max(first, last-step)
		if !passes(n) {
			first = n + 1
			break
		}
		last = n
	}
	n := first + int64(sort.Search(int(last-first), func(k int) bool { return passes(first + int64(k)) }))
	return n, true, err
}

// stepsOfBound is about how many steps bounded takes.
func (p *problem) stepsOfBound(n int64) float64 {
	steps := float64(len(p.relevant))
	for k, c := range p.relevant {
		if k == 0 || c != p.relevant[k-1] {
			steps += float64(stepsOfChance(c, n, p.n))
		}
	}
	return steps
}

// bounded is a bound on SAP(n), from below or from above; relevant is in order.
func (p *problem) bounded(clock *clock, n int64, low bool) (float64, error) {
	sum, chance := 0.0, 0.0
	for k, c := range p.relevant {
		if k == 0 || c != p.relevant[k-1] {
			if err := clock.spend(stepsOfChance(c, n, p.n)); err != nil {
				return 0, err
			}
			if chance = AllKnown(c, n, p.n); chance == 0 {
				break // as for all that are larger
			}
		}
		if low {
			sum += math.Log1p(-chance)
		} else {
			sum += chance
		}
	}
	if low {
		return -math.Expm1(sum), nil
	}
	if p.closing {
		sum += AllKnown(p.open, n, p.n)
	}
	return sum, nil
}
