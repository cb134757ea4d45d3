package adjustment

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"microrisk/engine/program"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
)

// pattern takes over the audited intervals of a pattern, or as much of them as a level or two, if that is safe.
func (w *widening) pattern() error {
	hidden := slices.Clone(w.o.Start)
	largest := int64(1)
	for _, need := range w.needs {
		hidden[need.Cell] = true
		largest = max(largest, need.Lower, need.Upper, need.Sliding)
	}
	var cells []int32
	for cell, is := range hidden {
		if is {
			cells = append(cells, int32(cell))
		}
	}
	list, err := protection.Intervals(w.ctx, w.Table, hidden, cells)
	if err != nil {
		return err
	}
	for _, most := range []int64{largest, 2 * largest, 4 * largest, math.MaxInt64} {
		low, high := slices.Clone(w.Values), slices.Clone(w.Values)
		for i, cell := range cells {
			x := w.Values[cell]
			if most == math.MaxInt64 && (list[i].Low == protection.NoLow || list[i].High == tabular.NoLimit) {
				return nil // an interval without an end has no cost
			}
			low[cell], high[cell] = list[i].Low, list[i].High
			if most < math.MaxInt64 {
				low[cell], high[cell] = max(list[i].Low, x-most), min(list[i].High, x+most)
			}
		}
		if failed, err := w.consider(low, high); err != nil || len(failed) == 0 {
			return err
		}
	}
	return nil
}

// mostAudits is how many audits trim may take.
const mostAudits = 4000

// trim makes the ends of the best intervals as near as the audit allows, one after another, the dearest first: those of a rounded solution
// are too far where many were fractions.
func (w *widening) trim() error {
	if w.best == nil || w.bound*w.step > float64(w.best.Loss)-1+1e-6 {
		return nil
	}
	order := slices.Clone(w.cells)
	gain := func(cell int32) int64 { return w.o.Cost[cell] * (w.best.High[cell] - w.best.Low[cell]) }
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(gain(b), gain(a)) })
	audits := 0
	for _, cell := range order {
		for _, side := range []int64{-1, 1} {
			end := func() int64 { return max(w.best.High[cell]*side, w.best.Low[cell]*side) } // outwards
			size := end() - w.Values[cell]*side
			if size == 0 || w.o.Cost[cell] == 0 {
				continue
			}
			var err error
			sort.Search(int(min(size, math.MaxInt32)), func(k int) bool { // the nearest end that is safe
				if audits++; err != nil || audits > mostAudits {
					return true
				}
				low, high := slices.Clone(w.best.Low), slices.Clone(w.best.High)
				if x := w.Values[cell]; side < 0 {
					low[cell] = x - int64(k)
				} else {
					high[cell] = x + int64(k)
				}
				var failed []protection.Finding
				failed, err = w.consider(low, high)
				return err == nil && len(failed) == 0
			})
			if err != nil || audits > mostAudits {
				return err
			}
		}
	}
	return nil
}

// extra is a draw of whole units from 0 to Spread times a width.
func (w *widening) extra(cell int32, draw int, width int64) int64 {
	most := math.Ceil(w.o.Spread * float64(width))
	return int64(min(w.o.Draws(cell, draw)*(most+1), most))
}

// raised is a need with more to both sides, by draws.
func (w *widening) raised(need protection.Need) protection.Need {
	down, up := w.room(need.Cell)
	width := max(need.Lower+need.Upper, need.Sliding)
	need.Lower = min(need.Lower+w.extra(need.Cell, 1, width), down)
	need.Upper = min(need.Upper+w.extra(need.Cell, 2, width), up)
	return need
}

// scatter widens the ends that are the value itself, by draws: who takes an end for the value must not be right either. Wider intervals are
// as safe.
func (w *widening) scatter() error {
	c := w.best
	common := int64(math.MaxInt64) // the least width that a need has: an interval may be narrower
	for _, need := range w.needs {
		common = min(common, max(need.Lower+need.Upper, need.Sliding))
	}
	for cell, open := range c.Open {
		x := w.Values[cell]
		if !open || c.Low[cell] < x && c.High[cell] > x {
			continue
		}
		down, up := w.room(int32(cell))
		width := c.High[cell] - c.Low[cell]
		if c.Low[cell] == x {
			c.Low[cell] -= min(down, w.extra(int32(cell), 3, max(width, common)))
		} else {
			c.High[cell] += min(up, w.extra(int32(cell), 4, max(width, common)))
		}
		c.Loss += w.o.Cost[cell] * (c.High[cell] - c.Low[cell] - width)
	}
	r, err := w.audit(c)
	if err == nil && len(r.Failed()) > 0 {
		err = program.ErrNumerical
	}
	c.Report = r
	return err
}
