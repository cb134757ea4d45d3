package redesign

import (
	"context"
	"errors"
	"slices"
)

// descend looks for a safe design by taking the move that leaves the fewest unsafe cells for what it loses, and gives back what is not needed.
func (s *searching) descend(ctx context.Context) error {
	if len(s.result.Best) >= s.o.Best {
		return nil
	}
	d := s.Same()
	var made []Move
	v, err := s.Judge(d)
	for err == nil && len(v.Unsafe) > 0 {
		var next Design
		var best Verdict
		var by Move
		score := 0.0
		cost := s.key(s.Cost(d))[0]
		moves := s.branch(d, v.Unsafe)
		moves = moves[:min(len(moves), widest)]
		for _, m := range moves {
			tried, ok := s.Apply(d, m)
			if !ok {
				continue
			}
			found, err := s.Judge(tried)
			if err != nil {
				return err
			}
			worth := float64(len(v.Unsafe)-len(found.Unsafe)) + 0.5
			worth /= float64(max(s.key(s.Cost(tried))[0]-cost, 1))
			if next == nil || worth > score {
				next, best, by, score = tried, found, m, worth
			}
		}
		if next == nil {
			return nil // there is no way on
		}
		s.fewest(next, best)
		d, v, made = next, best, append(made, by)
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
	}
	if err != nil {
		return err
	}
	return s.peel(made)
}

// widest is how many moves are tried at each step of a descent.
const widest = 40

// peel gives back moves without which a design is safe too, and takes it among the best.
func (s *searching) peel(made []Move) error {
	with := func(list []Move) (Design, bool) {
		d := s.Same()
		for _, m := range list {
			var ok bool
			if d, ok = s.Apply(d, m); !ok {
				return nil, false
			}
		}
		return d, true
	}
	for i := len(made) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(made), i, i+1)
		d, ok := with(fewer)
		if !ok {
			continue
		}
		v, err := s.Judge(d)
		if err != nil {
			return err
		}
		if len(v.Unsafe) == 0 {
			made = fewer
		}
	}
	d, _ := with(made)
	v, err := s.Judge(d)
	if err == nil && len(v.Unsafe) == 0 {
		s.safe(d, s.Cost(d), v.Cells)
	}
	return err
}
