package uniques

import (
	"context"
	"math"
)

// plan chooses the direction of the search.
func (p *problem) plan(ctx context.Context, o *Options) (direction, error) {
	fits := p.fitsDownwards(o)
	if o.direction != chosen && (o.direction == upwards || fits) {
		return o.direction, nil
	}
	if fits && p.cellsDown() < p.visitsUp(o.MaxSize) {
		return downwards, nil
	}
	return upwards, nil
}

// cellsDown is the number of cells of all margins, prod (1 + 2^bits).
func (p *problem) cellsDown() float64 {
	cells := 1.0
	for _, f := range p.fields {
		cells *= 1 + math.Ldexp(1, int(f.bits))
	}
	return cells
}

// visitsUp is the most classes that an upward search can count, over all sets.
func (p *problem) visitsUp(limit int) float64 {
	return float64(latticeSize(p.variables, limit)) * float64(p.n)
}
