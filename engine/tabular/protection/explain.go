package protection

import "fmt"

// An InfeasibleError says that no pattern is safe: even with all cells hidden that may be, Cell does not get what it needs. Equation, where
// it is not -1, is one in which the others do not allow it: they can move Cell by Reach only, where it needs Need, for anybody outside
// (Holder 0) or for a holder who knows his own cells. It would help to free a margin or a protected cell there, to need less, or to merge
// categories.
type InfeasibleError struct {
	Cell        int32
	Equation    int
	Above       bool // what is missing is above the value, else below or in width
	Need, Reach int64
	Holder      int64
}

func (e *InfeasibleError) Error() string {
	where := ""
	if e.Equation >= 0 {
		where = fmt.Sprintf(" of equation %d", e.Equation)
	}
	who := ""
	if e.Holder != 0 {
		who = fmt.Sprintf(" for the holder %d", e.Holder)
	}
	return fmt.Sprintf("cell %d cannot be protected%s: its interval has to be %d units wide on one side, and the other cells%s that may be "+
		"hidden allow %d; let a margin be hidden, lower the level, or merge categories", e.Cell, who, e.Need, where, e.Reach)
}

// explain says why a need cannot be had with all cells hidden.
func (s *search) explain(f Finding) error {
	n := f.Need
	if f.Holder != 0 && s.o.Insider == InsiderExact {
		n = Need{Cell: n.Cell, Sliding: 1}
	}
	x := s.Values[n.Cell]
	worst := &InfeasibleError{Cell: n.Cell, Equation: -1, Holder: f.Holder}
	switch {
	case f.High < x+n.Upper:
		worst.Above, worst.Need, worst.Reach = true, n.Upper, f.High-x
	case f.Low > x-n.Lower:
		worst.Need, worst.Reach = n.Lower, x-f.Low
	default:
		worst.Need, worst.Reach = n.Sliding, f.High-f.Low
	}
	for e := range s.System.Equations {
		above, below := s.allows(n.Cell, e, f.Holder)
		if above < 0 {
			continue
		}
		switch {
		case above < n.Upper:
			return &InfeasibleError{n.Cell, e, true, n.Upper, above, f.Holder}
		case below < n.Lower:
			return &InfeasibleError{n.Cell, e, false, n.Lower, below, f.Holder}
		case above < n.Sliding && below < n.Sliding && above+below < n.Sliding:
			return &InfeasibleError{n.Cell, e, false, n.Sliding, above + below, f.Holder}
		}
	}
	return worst
}

// allows is how far the other cells of an equation can move a cell up and down; -1 if it is not in it.
func (s *search) allows(cell int32, e int, holder int64) (above, below int64) {
	own := int64(0)
	s.System.Equations[e].Each(func(c int32, sign int64) {
		if c == cell {
			own = sign
		}
	})
	if own == 0 {
		return -1, -1
	}
	s.System.Equations[e].Each(func(c int32, sign int64) {
		if c == cell || !s.free[c] || holder != 0 && s.sole(c) == holder {
			return
		}
		up, down := s.up[c], s.down[c]
		if sign == own { // it has to go the other way
			up, down = down, up
		}
		above, below = plus(above, up), plus(below, down)
	})
	return above, below
}

// plus is a sum without an end where one of the two has none.
func plus(a, b int64) int64 {
	if a > infinite-b {
		return infinite
	}
	return a + b
}
