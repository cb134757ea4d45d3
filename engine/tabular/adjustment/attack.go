package adjustment

import (
	"context"
	"math"
	"slices"

	"microrisk/engine/program"
	"microrisk/engine/tabular/protection"
)

// A try is what one attacker tries: how far a cell can be above its value, or below, or both together.
type try struct {
	need         protection.Need
	holder       int64 // 0 for somebody outside
	above, below bool
}

// amount is what he must be able to reach, in units.
func (a try) amount() int64 {
	switch {
	case a.above && a.below:
		return a.need.Sliding
	case a.above:
		return a.need.Upper
	}
	return a.need.Lower
}

// tries are the ones on a need.
func tries(need protection.Need, holder int64) []try {
	var list []try
	if need.Upper > 0 {
		list = append(list, try{need, holder, true, false})
	}
	if need.Lower > 0 {
		list = append(list, try{need, holder, false, true})
	}
	if need.Sliding > need.Lower+need.Upper {
		list = append(list, try{need, holder, true, true})
	}
	return list
}

// newAttacker is the attackers' program: a column for each cell that may be open, what it is above its value, and the equations.
func (w *widening) newAttacker() error {
	m := &program.Model{Maximise: true}
	for range w.cells {
		m.AddColumn("", 0, 0, 0, false)
	}
	for e := range w.System.Equations {
		var terms []program.Term
		w.System.Equations[e].Each(func(cell int32, sign int64) {
			if at := w.place[cell]; at >= 0 {
				terms = append(terms, program.Term{Column: int(at), Value: float64(sign)})
			}
		})
		m.AddRow("", 0, 0, terms...)
	}
	var err error
	w.attacker, err = program.NewSimplex(m)
	return err
}

// short is by how much, relative to 1 or the amount, a try must fall short to count.
const short = 1e-6

// separate lets an attacker try ends, below and above by place, and is the row that he asks for; nil if he is content. First all cells may move
// a little, so that his duals tell what opening more of them would do.
func (w *widening) separate(a try, ends []float64) (*program.Row, error) {
	want := float64(a.amount()) / w.step
	for _, little := range []float64{want / 256, 0} {
		row := program.Row{Low: want, High: program.Infinity}
		sum, reached := make([]float64, 2*len(w.cells)), 0.0
		for _, up := range []bool{true, false} {
			if up && !a.above || !up && !a.below {
				continue
			}
			moved, duals, err := w.reach(a, up, ends, little)
			if err != nil {
				return nil, err
			}
			reached += moved
			w.add(sum, a, up, duals)
		}
		if little == 0 && reached >= want-short*max(1, want) {
			return nil, nil
		}
		has := 0.0
		for column, v := range sum {
			if v > 1e-9 {
				row.Terms = append(row.Terms, program.Term{Column: column, Value: v})
				has += v * ends[column]
			}
		}
		if has < want-short*max(1, want) {
			return &row, nil
		}
	}
	return nil, nil
}

// reach is how far a cell can move for an attacker, and the duals of the equations.
func (w *widening) reach(a try, up bool, ends []float64, little float64) (float64, []float64, error) {
	n, k := len(w.cells), int(w.place[a.need.Cell])
	for j, cell := range w.cells {
		low, high := max(ends[j], min(little, w.down[j])), max(ends[n+j], min(little, w.up[j]))
		switch {
		case j == k && up:
			low = 0
		case j == k:
			high = 0
		case a.holder != 0 && w.Sole[cell] == a.holder:
			low, high = 0, 0
		}
		w.attacker.SetBounds(j, -low, high)
	}
	cost := 1.0
	if !up {
		cost = -1
	}
	w.attacker.SetCost(k, cost)
	defer w.attacker.SetCost(k, 0)
	status, err := w.attacker.Solve(w.ctx, program.DefaultPivots)
	switch {
	case err != nil:
		return 0, nil, err
	case w.ctx.Err() != nil:
		return 0, nil, w.ctx.Err()
	case status != program.Optimal:
		return 0, nil, program.ErrNumerical
	}
	duals, _ := w.attacker.Duals()
	return w.attacker.Objective(), duals, nil
}

// add adds what each end gives an attacker at most, by any duals of the equations: with d = the cell's own direction less the duals' sum over
// its equations, no table has more than the sum of d times the upper ends where d is above 0, and of -d times the lower ones elsewhere.
func (w *widening) add(sum []float64, a try, up bool, duals []float64) {
	n, k := len(w.cells), int(w.place[a.need.Cell])
	d := make([]float64, n)
	for e, g := range duals {
		if g = snapped(g); g != 0 {
			w.System.Equations[e].Each(func(cell int32, sign int64) {
				if at := w.place[cell]; at >= 0 {
					d[at] -= g * float64(sign)
				}
			})
		}
	}
	if up {
		d[k]++
	} else {
		d[k]--
	}
	for j, v := range d {
		switch {
		case a.holder != 0 && j != k && w.Sole[w.cells[j]] == a.holder:
		case v > 0 && (j != k || up):
			sum[n+j] += v
		case v < 0 && (j != k || !up):
			sum[j] -= v
		}
	}
}

// snapped is a dual without its rounding error: any will do for rows that are right, but neat ones make neat rows.
func snapped(v float64) float64 {
	if r := math.Round(v*2520) / 2520; math.Abs(v-r) < 1e-7 {
		return r
	}
	return v
}

// equationRows are what every equation with a cell that needs width asks for by itself.
func (w *widening) equationRows(a try) {
	duals := make([]float64, len(w.System.Equations))
	for e := range w.System.Equations {
		own := 0.0
		w.System.Equations[e].Each(func(cell int32, sign int64) {
			if cell == a.need.Cell {
				own = float64(sign)
			}
		})
		if own == 0 {
			continue
		}
		sum := make([]float64, 2*len(w.cells))
		if a.above {
			duals[e] = own
			w.add(sum, a, true, duals)
		}
		if a.below {
			duals[e] = -own
			w.add(sum, a, false, duals)
		}
		duals[e] = 0
		row := program.Row{Low: float64(a.amount()) / w.step, High: program.Infinity}
		for column, v := range sum {
			if v > 0 {
				row.Terms = append(row.Terms, program.Term{Column: column, Value: v})
			}
		}
		w.rows = append(w.rows, row)
	}
}

// ask lets attackers try ends, and adds their rows: is how many.
func (w *widening) ask(ctx context.Context, list []try, ends []float64) (int, error) {
	before := len(w.rows)
	for _, a := range list {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		row, err := w.separate(a, ends)
		if err != nil {
			return 0, err
		}
		if row != nil && !slices.ContainsFunc(w.rows[before:], func(r program.Row) bool { return slices.Equal(r.Terms, row.Terms) && r.Low == row.Low }) {
			w.rows = append(w.rows, *row)
		}
	}
	return len(w.rows) - before, nil
}
