package fitting

import (
	"math/bits"
	"slices"

	"microrisk/engine/graph"
)

// mostElimination is how many steps are taken to find a rank: some seconds.
const mostElimination = 2_000_000_000

// mostEntries is the largest matrix of independent rows.
const mostEntries = 20_000_000

// df is the number of cells with a mean less the rank of the model over them.
func (m Model) df(t *Table, means []float64, margins []Margin) int {
	cells := 0
	omitted := false
	for i, e := range means {
		if e > 0 {
			cells++
		}
		omitted = omitted || t.omitted(i)
	}
	most, exact := m.mostRank(t, margins)
	if !omitted && exact {
		return cells - most
	}
	rank := m.rank(t, means, margins, min(most, cells))
	if rank < 0 {
		return UnknownDF
	}
	return cells - rank
}

// mostRank is a rank that is never passed: with all cells there it is the number of parameters; exact tells that it is the rank over all
// cells in no margin of 0. That is so without such margins, and for decomposable models, by the cells of cliques and separators above 0.
func (m Model) mostRank(t *Table, margins []Margin) (most int, exact bool) {
	closure := map[graph.Set]bool{0: true}
	full := true
	for _, p := range margins {
		full = full && !slices.Contains(p.Want, 0)
	}
	for _, s := range m {
		for sub := s; sub != 0; sub = (sub - 1) & s {
			closure[sub] = true
		}
	}
	for s := range closure {
		parameters := 1
		for v := range s.Vertices() {
			parameters *= t.Shape[v] - 1
		}
		most += parameters
	}
	if full {
		return most, true
	}
	g := graph.New(len(t.Shape))
	used := graph.Set(0)
	for _, s := range m {
		used |= s
		for v := range s.Vertices() {
			for w := range s.Vertices() {
				if v < w {
					g.Connect(v, w)
				}
			}
		}
	}
	unused := len(t.Shape) - used.Len()
	if !g.Decomposable() || len(g.Cliques()) != len(m)+unused {
		return most, false
	}
	rank := 0
	for _, p := range margins {
		rank += positive(p.Want)
	}
	for _, s := range g.Separators() {
		if s == 0 && unused > 0 {
			unused--
			continue
		}
		rank -= positive(t.sums(slices.Collect(s.Vertices())))
	}
	return rank, true
}

func positive(list []float64) int {
	n := 0
	for _, x := range list {
		if x > 0 {
			n++
		}
	}
	return n
}

// rank is that of the matrix whose rows are the cells with a mean, and whose columns are the cells of margins, in whole numbers modulo a
// large prime; -1 if it takes too much work. It is known to be at most so much.
func (m Model) rank(t *Table, means []float64, margins []Margin, most int) int {
	b := newBlocks(t.Shape)
	var parts []*projection
	var from []int
	columns := 0
	for _, p := range margins {
		parts, from = append(parts, b.projection(p)), append(from, columns)
		columns += len(p.Want)
	}
	if most > 0 && columns > mostEntries/most {
		return -1
	}
	e := elimination{rows: make([][]uint64, columns), row: make([]uint64, columns), left: mostElimination}
	rank := 0
	for block := range b.outer {
		for place := range b.inner {
			if means[block*b.inner+place] == 0 {
				continue
			}
			if rank == most {
				return rank
			}
			clear(e.row)
			for k, p := range parts {
				e.row[from[k]+int(p.first[block]+p.last[place])] = 1
			}
			switch e.add() {
			case 1:
				rank++
			case -1:
				return -1
			}
		}
	}
	return rank
}

// prime is 2^61 - 1.
const prime = 1<<61 - 1

func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	sum := low&prime + (low>>61 | high<<3)
	if sum >= prime {
		sum -= prime
	}
	return sum
}

func inverse(a uint64) uint64 {
	result := uint64(1)
	for e := uint64(prime - 2); e > 0; e >>= 1 {
		if e&1 != 0 {
			result = times(result, a)
		}
		a = times(a, a)
	}
	return result
}

// An elimination keeps rows that are independent, by the column of their first entry, which is 1.
type elimination struct {
	rows [][]uint64
	row  []uint64 // the present one
	left int
}

// add takes the present row: 1 if it is independent of those before, 0 if not, -1 if the work is at its end.
func (e *elimination) add() int {
	e.left -= len(e.row)
	for c := range e.row {
		if e.row[c] == 0 {
			continue
		}
		if e.left -= len(e.row) - c; e.left < 0 {
			return -1
		}
		factor := e.row[c]
		pivot := e.rows[c]
		if pivot == nil {
			factor = inverse(factor)
			kept := make([]uint64, len(e.row))
			for j := c; j < len(e.row); j++ {
				kept[j] = times(e.row[j], factor)
			}
			e.rows[c] = kept
			return 1
		}
		factor = prime - factor
		for j := c; j < len(e.row); j++ {
			if pivot[j] != 0 {
				sum := e.row[j] + times(pivot[j], factor)
				if sum >= prime {
					sum -= prime
				}
				e.row[j] = sum
			}
		}
	}
	return 0
}
