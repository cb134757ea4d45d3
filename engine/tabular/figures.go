package tabular

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"microrisk/engine/perturb"
)

// NoLimit is the largest figure of a cell of which no largest one is known.
const NoLimit = math.MaxInt64

// Known is what is known of a cell.
type Known uint8

const (
	Exactly    Known = iota // the figure that was published
	Within                  // an interval
	Suppressed              // nothing
)

// A Figure is what was published of a cell: Low, which is High too, or an interval, of which High may be NoLimit.
type Figure struct {
	Known     Known
	Low, High int64
}

// Exact is a figure that was published as it is.
func Exact(n int64) Figure { return Figure{Exactly, n, n} }

// Interval is a figure known within bounds.
func Interval(low, high int64) Figure { return Figure{Within, low, high} }

// Hidden is a figure that was not published.
func Hidden() Figure { return Figure{Suppressed, 0, NoLimit} }

// Bounds are the least and the largest true count, where counts were perturbed by a kernel before they were published; intervals hold
// as they are. false: the count is never published.
func (f Figure) Bounds(k perturb.Kernel) (low, high int64, ok bool) {
	if f.Known != Exactly {
		return f.Low, f.High, true
	}
	return k.Bounds(f.Low)
}

// Figures are what was published of cells, by their categories: a row each, in the order in which they were added.
type Figures struct {
	categories [][]Category
	codes      []map[Category]uint32
	rows       []uint32 // codes of the cells, one after another
	figures    []Figure
	index      map[string]int // by codes
	key        []byte
}

// NewFigures has no cell yet, each of which will have so many variables.
func NewFigures(variables int) *Figures {
	f := &Figures{categories: make([][]Category, variables), codes: make([]map[Category]uint32, variables), index: map[string]int{}}
	for v := range f.codes {
		f.codes[v] = map[Category]uint32{}
	}
	return f
}

// Variables is the number of variables.
func (f *Figures) Variables() int { return len(f.categories) }

// Len is the number of cells that have a figure.
func (f *Figures) Len() int { return len(f.figures) }

// Add takes a cell, a category of each variable; false: it has a figure, which stays.
func (f *Figures) Add(cell []Category, figure Figure) bool {
	key := f.key[:0]
	for v, c := range cell {
		code, ok := f.codes[v][c]
		if !ok {
			code = uint32(len(f.categories[v]))
			c.Label = strings.Clone(c.Label)
			f.codes[v][c] = code
			f.categories[v] = append(f.categories[v], c)
		}
		key = binary.BigEndian.AppendUint32(key, code)
	}
	f.key = key
	if _, twice := f.index[string(key)]; twice {
		return false
	}
	f.index[string(key)] = len(f.figures)
	for at := 0; at < len(key); at += 4 {
		f.rows = append(f.rows, binary.BigEndian.Uint32(key[at:]))
	}
	f.figures = append(f.figures, figure)
	return true
}

// Find is the figure of a cell; false, and 0, for one that has none. Several goroutines may call it.
func (f *Figures) Find(cell []Category) (Figure, bool) {
	key := make([]byte, 0, 64)
	for v, c := range cell {
		code, ok := f.codes[v][c]
		if !ok {
			return Figure{}, false
		}
		key = binary.BigEndian.AppendUint32(key, code)
	}
	at, ok := f.index[string(key)]
	if !ok {
		return Figure{}, false
	}
	return f.figures[at], true
}

// Categories are those of a variable that some cell has, in the order in which they were added.
func (f *Figures) Categories(v int) []Category { return f.categories[v] }

// Cell writes the categories of cell i, in the order in which they were added, to a slice as long as there are variables, and gives it
// back.
func (f *Figures) Cell(i int, to []Category) []Category {
	n := len(f.categories)
	for v := range n {
		to[v] = f.categories[v][f.rows[i*n+v]]
	}
	return to
}

// Figure is that of cell i.
func (f *Figures) Figure(i int) Figure { return f.figures[i] }

// Sorted are the cells in the order of their categories, the first variable's first.
func (f *Figures) Sorted() []int {
	order := make([]int, f.Len())
	for i := range order {
		order[i] = i
	}
	a, b := make([]Category, f.Variables()), make([]Category, f.Variables())
	slices.SortFunc(order, func(i, j int) int { return slices.CompareFunc(f.Cell(i, a), f.Cell(j, b), Category.Compare) })
	return order
}

// Words names a cell by its categories.
func Words(cell []Category) string {
	words := make([]string, len(cell))
	for v, c := range cell {
		words[v] = c.String()
	}
	return "[" + strings.Join(words, ", ") + "]"
}
