package tabular

// A Shape is the number of categories of each variable of a table whose cells are numbered row-major, the first variable slowest. A
// table of no variables has one cell.
type Shape []int

// Cells is the number of cells. It must fit an int: see [Shape.Within].
func (s Shape) Cells() int {
	cells := 1
	for _, n := range s {
		cells *= n
	}
	return cells
}

// Within tells whether the variables, one after another, never make more than most cells.
func (s Shape) Within(most int) bool {
	cells := 1
	for _, n := range s {
		if n > 0 && cells > most/n {
			return false
		}
		cells *= n
	}
	return true
}

// Cell is the number of the cell with some codes.
func Cell[C int | int32 | uint32](s Shape, codes []C) int {
	cell := 0
	for v, n := range s {
		cell = cell*n + int(codes[v])
	}
	return cell
}

// Codes writes the codes of a cell to a slice as long as the shape, and gives it back.
func Codes[C int | int32 | uint32](s Shape, cell int, to []C) []C {
	for v := len(s) - 1; v >= 0; v-- {
		to[v] = C(cell % s[v])
		cell /= s[v]
	}
	return to
}

// Of is the shape of the margin over some variables.
func (s Shape) Of(variables []int) Shape {
	of := make(Shape, len(variables))
	for k, v := range variables {
		of[k] = s[v]
	}
	return of
}

// Steps are what the number of a cell grows by when the code of a variable does by one.
func (s Shape) Steps() []int {
	steps := make([]int, len(s))
	step := 1
	for v := len(s) - 1; v >= 0; v-- {
		steps[v] = step
		step *= s[v]
	}
	return steps
}

// Into gives, for each cell, the cell of the margin over some variables that it is in.
func (s Shape) Into(variables []int) []int {
	steps := make([]int, len(s))
	for k, step := range s.Of(variables).Steps() {
		steps[variables[k]] = step
	}
	into := make([]int, s.Cells())
	codes := make([]int, len(s))
	for cell := range into {
		for v, c := range Codes(s, cell, codes) {
			into[cell] += c * steps[v]
		}
	}
	return into
}
