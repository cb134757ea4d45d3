// Package tabular has what tables are made of when they are published: variables with their categories and hierarchies, the margins over
// some of them, what was published of each cell, and what a cell is called, by readers and by the noise that it gets.
//
//	shape := tabular.Shape{2, 3}             // two variables, of two and of three categories
//	cell := tabular.Cell(shape, []int{1, 2}) // 5: cells are numbered row-major, the first variable slowest
//
// Source: Hundepool et al. 2012, Statistical Disclosure Control, chapter 4 (what a table is and how its margins and hierarchies hang
// together).
package tabular

import (
	"cmp"
	"fmt"
	"slices"

	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
)

// A Measure is what the cells of a table have.
type Measure uint8

const (
	Counts     Measure = iota // people, or other units
	Magnitudes                // sums of a variable over them
)

// A Variable is a dimension of tables.
type Variable struct {
	Name       string
	Categories []Category
	Hierarchy  Hierarchy // of its categories; nil for none
	Merged     []Group   // categories that stand for several others in some margins, which a hierarchy need not have
}

// A Table is what is known to be published of one base table: some margins, over some of its variables each.
type Table struct {
	Variables []Variable
	Margins   []*Margin
}

// A Margin is a table over some variables, as it was published.
type Margin struct {
	Name      string
	Variables []int // positions, ascending; none is the grand total
	Measure   Measure
	Kernel    perturb.Kernel // by which its counts were perturbed; nil of magnitudes
	*Figures                 // of its cells, by the categories of these variables
}

// Check finds what is wrong with the structure of a table: a name or category twice, a hierarchy that is none, a margin whose variables
// are not positions in ascending order, a category that the variable does not have, magnitudes that are perturbed as counts are.
func (t *Table) Check() error {
	names := map[string]bool{}
	known := make([]map[Category]bool, len(t.Variables))
	for v, variable := range t.Variables {
		if names[variable.Name] {
			return fmt.Errorf("two variables have the name %q", variable.Name)
		}
		names[variable.Name] = true
		known[v] = map[Category]bool{Total: true}
		for _, c := range variable.Categories {
			if known[v][c] {
				return fmt.Errorf("the variable %s has the category %s twice", variable.Name, c)
			}
			known[v][c] = true
		}
		if err := variable.Hierarchy.Check(variable.Categories); err != nil {
			return fmt.Errorf("the variable %s: %w", variable.Name, err)
		}
		for _, g := range append(variable.Hierarchy[:len(variable.Hierarchy):len(variable.Hierarchy)], variable.Merged...) {
			known[v][Of(g.Label)] = true
		}
	}
	for _, m := range t.Margins {
		if err := m.check(known); err != nil {
			return fmt.Errorf("the margin %s: %w", m.Name, err)
		}
	}
	return nil
}

func (m *Margin) check(known []map[Category]bool) error {
	for k, v := range m.Variables {
		if v < 0 || v >= len(known) || k > 0 && v <= m.Variables[k-1] {
			return fmt.Errorf("its variables are %v, and not positions among %d in ascending order", m.Variables, len(known))
		}
	}
	if m.Figures.Variables() != len(m.Variables) {
		return fmt.Errorf("its figures are of %d variables, it is of %d", m.Figures.Variables(), len(m.Variables))
	}
	for k, v := range m.Variables {
		for _, c := range m.Categories(k) {
			if !known[v][c] {
				return fmt.Errorf("it has the category %s, which variable %d does not have", c, v)
			}
		}
	}
	if m.Measure == Magnitudes && m.Kernel != nil && m.Kernel != perturb.None() {
		return fmt.Errorf("magnitudes are not perturbed by %s, which is for counts", m.Kernel.Name())
	}
	return nil
}

// Bounds are the least and the largest figure that is possible in each cell of all combinations of categories, a list a variable of the
// margin, row-major; a cell without a figure has 0, as if that was published. The error names the first cell whose count is never
// published.
func (m *Margin) Bounds(categories [][]Category) (low, high []int64, err error) {
	shape := make(Shape, len(categories))
	for k, list := range categories {
		shape[k] = len(list)
	}
	low, high = make([]int64, shape.Cells()), make([]int64, shape.Cells())
	codes, cell := make([]int, len(shape)), make([]Category, len(shape))
	for i := range low {
		for k, c := range Codes(shape, i, codes) {
			cell[k] = categories[k][c]
		}
		f, _ := m.Find(cell)
		var ok bool
		if low[i], high[i], ok = f.Bounds(m.Kernel); !ok {
			return nil, nil, &NeverError{slices.Clone(cell), f.Low}
		}
	}
	return low, high, nil
}

// A NeverError says that a count is never published.
type NeverError struct {
	Cell  []Category
	Count int64
}

func (e *NeverError) Error() string { return fmt.Sprintf("a count of %d is never published", e.Count) }

// Full tells whether the margin has a figure for all combinations of its categories, cells of 0 among them.
func (m *Margin) Full() bool {
	cells := 1.0
	for k := range m.Variables {
		cells *= float64(len(m.Categories(k)))
	}
	for i := range m.Len() {
		if f := m.Figure(i); f.Known == Exactly && f.Low == 0 {
			return cells == float64(m.Len())
		}
	}
	return false
}

// A Category is a value that a variable has in a cell, that it has none, or that the cell is a total over all of them.
type Category struct {
	Label string
	Kind  Kind
}

// A Kind of category.
type Kind uint8

const (
	Value Kind = iota
	KindMissing
	KindTotal
)

// TotalCode stands for a total in files of tables.
const TotalCode = "Total"

// The categories that are no value.
var (
	Missing = Category{Kind: KindMissing}
	Total   = Category{Kind: KindTotal}
)

// Of is the category of a value.
func Of(label string) Category { return Category{Label: label} }

// CategoryOf is the category of a code of a counted variable.
func CategoryOf(v *contingency.Variable, code uint32) Category {
	if label, ok := v.Category(code); ok {
		return Of(label)
	}
	return Missing
}

// code names a category in the identities of cells: what noise depends on, so it never changes. No value is the byte 1.
func (c Category) code() string {
	switch c.Kind {
	case KindMissing:
		return "\x01"
	case KindTotal:
		return TotalCode
	}
	return c.Label
}

// String names a category in messages.
func (c Category) String() string {
	if c.Kind == KindMissing {
		return "missing"
	}
	return c.code()
}

// Compare orders categories by the bytes of their texts, where a missing value comes before all that begin with a printed character.
func (c Category) Compare(d Category) int {
	return cmp.Or(cmp.Compare(c.code(), d.code()), cmp.Compare(c.Kind, d.Kind))
}
