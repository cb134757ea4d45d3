package redesign

import (
	"cmp"
	"context"
	"slices"
)

// A Candidate is a single merge, what it leaves unsafe, and what it loses.
type Candidate struct {
	Move   Move
	Design Design
	Cost   Cost
	Cells  int // of the table
	Unsafe int
	Helps  bool // an unsafe cell of the table as it is becomes one with another
}

// Preview judges all single merges of the table as it is, those that help first, no more than most of them: the ones that leave the fewest
// unsafe cells first, and of these the cheapest. All is how many there are.
func (p *Problem) Preview(ctx context.Context, most int) (list []Candidate, all int, err error) {
	p.Ready()
	same := p.Same()
	now, err := p.Judge(same)
	if err != nil {
		return nil, 0, err
	}
	helps := make(map[string]bool)
	for _, cell := range now.Unsafe {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		for v, node := range cell {
			for _, m := range p.Moves(same, v, node) {
				if d, ok := p.Apply(same, m); ok {
					helps[d.place()] = true
				}
			}
		}
	}
	for v := range same {
		for _, m := range p.Moves(same, v, -1) {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			if d, ok := p.Apply(same, m); ok {
				list = append(list, Candidate{Move: m, Design: d, Cost: p.Cost(d), Helps: helps[d.place()]})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Candidate) int {
		switch {
		case a.Helps != b.Helps && a.Helps:
			return -1
		case a.Helps != b.Helps:
			return 1
		}
		return p.compare(a.Cost, b.Cost)
	})
	all = len(list)
	list = list[:min(len(list), most)]
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, all, err
		}
		v, err := p.Judge(list[i].Design)
		if err != nil {
			return nil, all, err
		}
		list[i].Cells, list[i].Unsafe = v.Cells, len(v.Unsafe)
	}
	slices.SortStableFunc(list, func(a, b Candidate) int { return cmp.Or(cmp.Compare(a.Unsafe, b.Unsafe), p.compare(a.Cost, b.Cost)) })
	return list, all, nil
}

func (p *Problem) compare(a, b Cost) int {
	x, y := p.key(a), p.key(b)
	return slices.Compare(x[:], y[:])
}
