package fitting

import (
	"context"
	"fmt"
	"math"

	"microrisk/engine/tabular"
)

// Defaults of Options.
const (
	DefaultTolerance = 1e-10
	DefaultSweeps    = 10_000
	DefaultWork      = 2_000_000_000
)

// leastSweeps are done whatever the work.
const leastSweeps = 10

// Options limit the work.
type Options struct {
	Tolerance float64 // how far a margin may be off, as a part of the total; 0 for DefaultTolerance
	Sweeps    int     // most rounds over all margins; 0 for DefaultSweeps
	Work      int64   // most visits to cells, but for ten sweeps; 0 for DefaultWork, some seconds
}

func (o Options) withDefaults() Options {
	if o.Tolerance == 0 {
		o.Tolerance = DefaultTolerance
	}
	if o.Sweeps == 0 {
		o.Sweeps = DefaultSweeps
	}
	if o.Work == 0 {
		o.Work = DefaultWork
	}
	return o
}

// A Margin is what a table is to add up to over some variables.
type Margin struct {
	Variables []int     // ascending; none for the total
	Want      []float64 // row-major, the first variable slowest; at least 0
}

// An Adjusted table has the margins it was to have, as nearly as Off says.
type Adjusted struct {
	Values    []float64
	Sweeps    int     // rounds over all margins after which none was off
	Off       float64 // how far a margin's cell was off at the end, at most
	Converged bool
}

// A MarginError says that no table above 0 only where the start is has the margins.
type MarginError struct {
	Margin, Cell int // of the margins given, and its cell; Cell is -1 where the totals of this one and the first differ
	text         string
}

func (e *MarginError) Error() string { return e.text }

// Proportional is iterative proportional fitting: it multiplies the cells of a start, at least 0, by factors of the cells of each margin in
// turn until all margins are met, or till the sweeps are at an end, which Converged tells. What is 0 stays so. Margins may disagree in what
// they share; then there is no such table, and it does not converge.
//
// Errors: numbers that are no finite ones of at least 0, slices of other lengths, *MarginError where totals differ by more than the
// tolerance, or where a cell above 0 of a margin has no cell of the start; a context that ends.
func Proportional(ctx context.Context, shape tabular.Shape, start []float64, margins []Margin, o Options) (*Adjusted, error) {
	o = o.withDefaults()
	if len(start) != shape.Cells() {
		return nil, fmt.Errorf("there are %d numbers to start with, of a table of %d cells", len(start), shape.Cells())
	}
	total, err := check(shape, start, margins, o.Tolerance)
	if err != nil {
		return nil, err
	}
	b := newBlocks(shape)
	parts := make([]*projection, len(margins))
	for k, m := range margins {
		parts[k] = b.projection(m)
	}
	x := b.support(start, parts)
	constraints := make([]constraint, len(parts))
	for k, p := range parts {
		if cell := p.missing(x); cell >= 0 {
			at := tabular.Codes(shape.Of(margins[k].Variables), cell, make([]int, len(margins[k].Variables)))
			return nil, &MarginError{k, cell, fmt.Sprintf("margin %d is to have %v in its cell %v, where all cells are 0", k, p.want[cell], at)}
		}
		constraints[k] = p
	}
	a, err := sweep(ctx, constraints, x, total, int64(len(x)*len(margins)), o)
	if err != nil {
		return nil, err
	}
	a.Values = make([]float64, len(start))
	b.each(func(cell, k int) { a.Values[cell] = x[k] })
	return a, nil
}

// check finds what is wrong with numbers, and gives their total.
func check(shape tabular.Shape, start []float64, margins []Margin, tolerance float64) (float64, error) {
	sum := func(list []float64, what string) (float64, error) {
		s := 0.0
		for i, x := range list {
			if !(x >= 0) || math.IsInf(x, 1) {
				return 0, fmt.Errorf("cell %d of %s is %v: it must be at least 0, and finite", i, what, x)
			}
			s += x
		}
		return s, nil
	}
	total, err := sum(start, "the start")
	if err != nil {
		return 0, err
	}
	for k, m := range margins {
		for j, v := range m.Variables {
			if v < 0 || v >= len(shape) || j > 0 && v <= m.Variables[j-1] {
				return 0, fmt.Errorf("margin %d is over %v, and not over positions among %d in ascending order", k, m.Variables, len(shape))
			}
		}
		if n := shape.Of(m.Variables).Cells(); n != len(m.Want) {
			return 0, fmt.Errorf("margin %d has %d numbers, of %d cells", k, len(m.Want), n)
		}
		s, err := sum(m.Want, fmt.Sprintf("margin %d", k))
		switch {
		case err != nil:
			return 0, err
		case k == 0:
			total = s
		case math.Abs(s-total) > max(tolerance, 1e-12)*max(1, total):
			return 0, &MarginError{k, -1, fmt.Sprintf("margin %d adds up to %v, and the first one to %v: they must have one total", k, s, total)}
		}
	}
	return total, nil
}

// A constraint is met by scaling; it tells how far it was off before.
type constraint interface{ scale(x []float64) float64 }

// sweep goes round the constraints; work is that of a round.
func sweep(ctx context.Context, constraints []constraint, x []float64, total float64, work int64, o Options) (*Adjusted, error) {
	a := &Adjusted{}
	limit := o.Tolerance * max(1, total)
	most := min(int64(o.Sweeps), max(leastSweeps, o.Work/(work+1)))
	for ; ; a.Sweeps++ {
		a.Off = 0
		for _, c := range constraints {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			a.Off = max(a.Off, c.scale(x))
		}
		if a.Off <= limit {
			a.Converged = true
			return a, nil
		}
		if int64(a.Sweeps) == most {
			return a, nil
		}
	}
}

// blocks part the variables into first and last ones, so that the cell of a margin that a cell is in is a sum of two table entries; and
// keep the cells above 0, block by block.
type blocks struct {
	shape  tabular.Shape
	split  int // first variable of the last ones
	outer  int // combinations of the first ones
	inner  int
	starts []int   // of the cells of each block, and the end
	inside []int32 // places of the cells in their blocks
}

func newBlocks(shape tabular.Shape) *blocks {
	b := &blocks{shape: shape, split: len(shape), outer: shape.Cells(), inner: 1}
	for b.split > 0 && b.inner < b.outer {
		b.split--
		b.inner *= shape[b.split]
		b.outer = shape[:b.split].Cells()
	}
	return b
}

// A projection is how cells fall into those of a margin.
type projection struct {
	*blocks
	first, last []int32 // cell of the margin, by block and by place in it
	want, sum   []float64
}

func (b *blocks) projection(m Margin) *projection {
	steps := make([]int, len(b.shape))
	for k, step := range b.shape.Of(m.Variables).Steps() {
		steps[m.Variables[k]] = step
	}
	places := func(shape tabular.Shape, steps []int) []int32 {
		list, codes := make([]int32, shape.Cells()), make([]int, len(shape))
		for cell := range list {
			for v, c := range tabular.Codes(shape, cell, codes) {
				list[cell] += int32(c * steps[v])
			}
		}
		return list
	}
	return &projection{b, places(b.shape[:b.split], steps[:b.split]), places(b.shape[b.split:], steps[b.split:]), m.Want, make([]float64, len(m.Want))}
}

// support keeps the cells of a start above 0 whose margins all are to be.
func (b *blocks) support(start []float64, margins []*projection) []float64 {
	var x []float64
	b.starts = append(b.starts, 0)
	for block := range b.outer {
		for place := range b.inner {
			value := start[block*b.inner+place]
			for _, p := range margins {
				if p.want[p.first[block]+p.last[place]] == 0 {
					value = 0
					break
				}
			}
			if value > 0 {
				b.inside, x = append(b.inside, int32(place)), append(x, value)
			}
		}
		b.starts = append(b.starts, len(x))
	}
	return x
}

// each gives the cells that are kept, and their positions.
func (b *blocks) each(yield func(cell, k int)) {
	for block := range b.outer {
		for k := b.starts[block]; k < b.starts[block+1]; k++ {
			yield(block*b.inner+int(b.inside[k]), k)
		}
	}
}

// add sums the cells.
func (p *projection) add(x []float64) {
	clear(p.sum)
	for block, first := range p.first {
		for k := p.starts[block]; k < p.starts[block+1]; k++ {
			p.sum[first+p.last[p.inside[k]]] += x[k]
		}
	}
}

// missing is a cell of the margin above 0 without any cell, -1 if there is none.
func (p *projection) missing(x []float64) int {
	p.add(x)
	for j, want := range p.want {
		if want > 0 && p.sum[j] == 0 {
			return j
		}
	}
	return -1
}

func (p *projection) scale(x []float64) float64 {
	p.add(x)
	worst := 0.0
	for j, want := range p.want {
		worst = max(worst, math.Abs(p.sum[j]-want))
		if p.sum[j] > 0 {
			p.sum[j] = want / p.sum[j]
		}
	}
	for block, first := range p.first {
		for k := p.starts[block]; k < p.starts[block+1]; k++ {
			x[k] *= p.sum[first+p.last[p.inside[k]]]
		}
	}
	return worst
}
