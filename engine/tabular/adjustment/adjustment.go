// Package adjustment changes the values of tables before they are published, where package protection hides them: noise and rounding of
// each cell by itself, noise of margins that the interior is fitted to, and the least changes that move every cell that discloses far enough
// while the table still adds up, and intervals in the place of values.
//
//	draws := adjustment.ByName(key, name)                       // chance depends on a secret and on the cell, or on its people
//	p, err := adjustment.Perturb(system, counts, kernel, draws) // each cell by itself: totals differ from the sums of their parts
//	p, err = adjustment.PerturbParts(system, counts, kernel, draws)
//	c, err := adjustment.Control(ctx, table, needs, adjustment.Controls{})
//	w, err := adjustment.Intervals(ctx, table, needs, adjustment.Options{Cost: ones, Draws: draws, Spread: 1})
//
// Everything is by cell number of a tabular.System; values are whole numbers of some unit.
//
// Sources: Miller 2005, Statistical disclosure control: applications in healthcare (noise, multiplicative noise, Barnardisation); Dandekar &
// Cox 2002 and Castro 2006 on controlled tabular adjustment; Fischetti & Salazar-González 2003, 2005 on partial cell suppression.
package adjustment

import (
	"encoding/binary"
	"fmt"
	"slices"

	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
)

// Draws are numbers in [0, 1) for each cell, several of which have nothing to do with each other. They depend on nothing but a secret and
// what the cell is.
type Draws func(cell int32, draw int) float64

// ByName draws by what cells are called, as tabular.Identity has it. A name need be good only until the next is asked for.
func ByName(key perturb.Key, name func(cell int32) []byte) Draws {
	return func(cell int32, draw int) float64 {
		if draw == 0 {
			return perturb.Uniform(key, name(cell))
		}
		return perturb.Uniform(key, fmt.Appendf(slices.Clone(name(cell)), "\x02draw %d", draw))
	}
}

// ByPeople draws by the keys of cells, the sums of those of their records: the same people have the same draws in every cell and table.
func ByPeople(key perturb.Key, cells []uint64) Draws {
	return func(cell int32, draw int) float64 {
		if draw == 0 {
			return perturb.UniformOf(key, cells[cell])
		}
		return perturb.Uniform(key, fmt.Appendf(binary.LittleEndian.AppendUint64([]byte("people\x00"), cells[cell]), "\x02draw %d", draw))
	}
}

// A CellError says what is wrong with one cell.
type CellError struct {
	Cell int32
	Text string
}

func (e *CellError) Error() string { return fmt.Sprintf("cell %d %s", e.Cell, e.Text) }

func cellError(cell int32, format string, args ...any) error {
	return &CellError{cell, fmt.Sprintf(format, args...)}
}

// checkCells finds values that are not one for each cell, and equations of cells that are not there.
func checkCells(s *tabular.System, values int) error {
	if values != s.Cells {
		return fmt.Errorf("there are %d values, of %d cells", values, s.Cells)
	}
	for i := range s.Equations {
		bad := int32(-1)
		s.Equations[i].Each(func(cell int32, _ int64) {
			if cell < 0 || int(cell) >= s.Cells {
				bad = cell
			}
		})
		if bad != -1 {
			return fmt.Errorf("equation %d has a cell %d, of %d", i, bad, s.Cells)
		}
	}
	return nil
}

// addUp gives every total the sum of its parts, by the first of its equations. Errors: totals that are their own parts, sums that are no
// whole numbers of 64 bits.
func addUp(s *tabular.System, values []int64) error {
	splits := s.Splits()
	waits := make([]int, len(s.Equations)) // parts that are not known, of equations that are the first of their totals
	of := s.Of()
	var ready []int32
	for cell, list := range splits {
		if len(list) == 0 {
			ready = append(ready, int32(cell))
			continue
		}
		e := list[0]
		if waits[e] = len(s.Equations[e].Parts); waits[e] == 0 {
			values[cell] = 0
			ready = append(ready, int32(cell))
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		for _, e := range of[ready[done]] {
			total := s.Equations[e].Total
			if splits[total][0] != e || total == ready[done] {
				continue
			}
			if waits[e]--; waits[e] > 0 {
				continue
			}
			sum := int64(0)
			for _, part := range s.Equations[e].Parts {
				x := values[part]
				if sum+x < sum != (x < 0) {
					return cellError(total, "has a sum beyond whole numbers of 64 bits")
				}
				sum += x
			}
			values[total] = sum
			ready = append(ready, total)
		}
	}
	if done < s.Cells {
		for cell, list := range splits {
			if len(list) > 0 && waits[list[0]] > 0 {
				return cellError(int32(cell), "is a total that cannot be added up: it is a part of its own parts")
			}
		}
	}
	return nil
}
