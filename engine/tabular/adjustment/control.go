package adjustment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"microrisk/engine/program"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
)

// Controls say how a table is adjusted. Slices are by cell number.
type Controls struct {
	Weight    []int64 // what moving a cell by a unit costs, at least 0; nil for 1
	Down, Up  []int64 // how far each cell may move at most, besides what its bounds allow; nil, or tabular.NoLimit, for no such limit
	Protected []bool  // cells that must not move, such as zeros or a grand total; nil for none
	Solver    program.Solver
	Nodes     int           // most nodes of the embedded solver, where Solver is nil; 0 for its own limit
	Most      time.Duration // that the best table is sought for once there is one; 0 for no such limit
}

// A Controlled table adds up, and every cell that discloses has moved by at least its level.
type Controlled struct {
	Values []int64
	Cost   int64   // the sum of weights times moves
	Bound  float64 // no such table costs less
	// Step is what all moves are multiples of: 1, unless levels are beyond 2^20 units. Bound is 0 if it is larger.
	Step    int64
	Stopped bool // a deadline, or Most, ended the search
}

// Optimal tells whether no such table costs less.
func (c *Controlled) Optimal() bool { return c.Step == 1 && c.Bound > float64(c.Cost)-1+1e-6 }

// Gap is by how much of its cost a cheaper table might be cheaper, 0 to 1.
func (c *Controlled) Gap() float64 {
	return max(0, float64(c.Cost)-c.Bound) / max(1, float64(c.Cost))
}

// An ImpossibleError says that a cell cannot move as far as it has to, up or down, by its own bounds, or by those of others (Others), where
// these have to move too.
type ImpossibleError struct {
	Need     protection.Need
	Down, Up int64 // that its own bounds allow
	Others   bool
}

func (e *ImpossibleError) Error() string {
	text := fmt.Sprintf("cell %d has to move by %d down or by %d up", e.Need.Cell, e.Need.Lower, e.Need.Upper)
	if !e.Others {
		return fmt.Sprintf("%s, where its bounds allow %d and %s; lower the level, or widen its bounds", text, e.Down, unlimited(e.Up))
	}
	return text + ", which the bounds of other cells and what they have to move do not allow; let totals or protected cells move, or lower the level"
}

func unlimited(x int64) string {
	if x == tabular.NoLimit {
		return "any number"
	}
	return fmt.Sprint(x)
}

// Control is controlled tabular adjustment: every cell with a need moves down by at least its Lower or up by at least its Upper, each at least 1, whichever
// is cheaper for all together, other cells move so that all equations hold, and the sum of weights times moves is the least. Sliding is not
// looked at. With a deadline that passes, or Nodes, the best table so far comes with its bound.
//
// What is published is a table like others, and does not tell which cells moved. But nothing is left to chance: who knows the levels and this
// method can look which tables it would have made this one of. A level should not be something that can be guessed from the value.
//
// Errors: those of Check of a table, needs of cells that are not there or protected, *ImpossibleError, a context that was cancelled or that
// ended before there was a table, those of the solver.
func Control(ctx context.Context, t *protection.Table, needs []protection.Need, o Controls) (*Controlled, error) {
	c, err := newControl(t, needs, o)
	if err != nil {
		return nil, err
	}
	var parts []*controlPart
	for _, cells := range t.System.Components(c.move) {
		if p := c.part(cells); len(p.needs) > 0 {
			parts = append(parts, p)
		}
	}
	for _, p := range parts { // first any tables, then good ones
		if err := p.begin(ctx); err != nil {
			return nil, err
		}
	}
	if o.Most > 0 {
		within, cancel := context.WithTimeout(ctx, o.Most)
		defer cancel()
		ctx = within
	}
	out := &Controlled{Values: slices.Clone(t.Values), Step: c.step}
	for _, p := range parts {
		if err := p.solve(ctx); err != nil {
			return nil, err
		}
		for j, cell := range p.cells {
			out.Values[cell] += p.moves[j] * c.step
			out.Cost += c.weight(cell) * abs(p.moves[j]) * c.step
		}
		out.Bound += p.bound
	}
	if c.step > 1 {
		out.Bound = 0
	}
	out.Stopped = ctx.Err() != nil && !out.Optimal()
	if err := c.recheck(out.Values); err != nil {
		return nil, err
	}
	return out, nil
}

func abs(x int64) int64 { return max(x, -x) }

// A control is a run of Control.
type control struct {
	*protection.Table
	Controls
	needs    map[int32]protection.Need
	move     []bool
	down, up []int64 // most of each cell, in units; NoLimit for none
	step     int64
	of       [][]int32
}

// coarse is the largest level, in steps.
const coarse = 1 << 20

func newControl(t *protection.Table, needs []protection.Need, o Controls) (*control, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	n := t.System.Cells
	for name, length := range map[string]int{"weights": len(o.Weight), "limits down": len(o.Down), "limits up": len(o.Up), "protected": len(o.Protected)} {
		if length != n && length != 0 {
			return nil, fmt.Errorf("there are %d %s, of %d cells", length, name, n)
		}
	}
	if broken := t.System.Broken(t.Values, 0); len(broken) > 0 {
		return nil, fmt.Errorf("equation %d does not hold: only tables that add up can be adjusted so that they do", broken[0])
	}
	c := &control{Table: t, Controls: o, needs: make(map[int32]protection.Need), move: make([]bool, n), down: make([]int64, n),
		up: make([]int64, n), step: 1, of: t.System.Of()}
	for cell := range n {
		if w := c.weight(int32(cell)); w < 0 || w > protection.MaxValue {
			return nil, cellError(int32(cell), "has the weight %d: weights are 0 to 2^53", w)
		}
		c.down[cell], c.up[cell] = c.room(cell)
		if c.down[cell] < 0 || c.up[cell] < 0 {
			return nil, cellError(int32(cell), "may move by %d down and by %d up: both are at least 0", c.down[cell], c.up[cell])
		}
		c.move[cell] = c.down[cell] > 0 || c.up[cell] > 0
	}
	for _, need := range needs {
		_, twice := c.needs[need.Cell]
		switch {
		case need.Cell < 0 || int(need.Cell) >= n || twice:
			return nil, cellError(need.Cell, "has two needs, or is none of %d cells", n)
		case min(need.Lower, need.Upper) < 0 || max(need.Lower, need.Upper) > protection.MaxValue:
			return nil, cellError(need.Cell, "has to move by %d down or by %d up: both are 0 to 2^53", need.Lower, need.Upper)
		}
		need.Lower, need.Upper = max(need.Lower, 1), max(need.Upper, 1)
		if need.Lower > c.down[need.Cell] && need.Upper > c.up[need.Cell] {
			return nil, &ImpossibleError{Need: need, Down: c.down[need.Cell], Up: c.up[need.Cell]}
		}
		c.needs[need.Cell] = need
		for max(need.Lower, need.Upper) > coarse*c.step {
			c.step *= 2
		}
	}
	return c, nil
}

// room is how far a cell may move.
func (c *control) room(cell int) (down, up int64) {
	if c.Protected != nil && c.Protected[cell] {
		return 0, 0
	}
	low, high := int64(0), int64(tabular.NoLimit)
	if c.Low != nil {
		low = c.Low[cell]
	}
	if c.High != nil {
		high = c.High[cell]
	}
	down, up = tabular.NoLimit, tabular.NoLimit
	if low != protection.NoLow {
		down = c.Values[cell] - low
	}
	if high != tabular.NoLimit {
		up = high - c.Values[cell]
	}
	if c.Down != nil {
		down = min(down, c.Down[cell])
	}
	if c.Up != nil {
		up = min(up, c.Up[cell])
	}
	return down, up
}

func (c *control) weight(cell int32) int64 {
	if c.Weight == nil {
		return 1
	}
	return c.Weight[cell]
}

// recheck finds what rounding errors of a solver may have broken.
func (c *control) recheck(values []int64) error {
	if len(c.System.Broken(values, 0)) > 0 {
		return program.ErrNumerical
	}
	for cell, x := range values {
		if d := x - c.Values[cell]; d > c.up[cell] || -d > c.down[cell] {
			return program.ErrNumerical
		}
	}
	for cell, need := range c.needs {
		if d := values[cell] - c.Values[cell]; -d < need.Lower && d < need.Upper {
			return program.ErrNumerical
		}
	}
	return nil
}

// steps is a distance in steps, no more than cut.
func (c *control) steps(units, cut int64) float64 {
	return float64(min(units/c.step, cut))
}

// raised is a level in steps.
func (c *control) raised(units int64) float64 { return math.Ceil(float64(units) / float64(c.step)) }

// errFound says that limits passed before there was a table.
var errFound = errors.New("no table was found within the limits of the solver: give it more, or lower levels")
