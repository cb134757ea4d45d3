package program

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
)

// ColumnName and RowName are the names that files use: x0, x1, ... and r0, r1, ... by number, so that names of variables can have
// any characters.
func ColumnName(j int) string { return "x" + strconv.Itoa(j) }

// RowName is the name of a row in files.
func RowName(i int) string { return "r" + strconv.Itoa(i) }

// WriteMPS writes a model as a free MPS file, which cbc and glpsol (with --freemps) read. A maximised model is written with its costs'
// signs changed, since not all programs know OBJSENSE: objectives read back have the other sign, columns are the same.
func WriteMPS(w io.Writer, m *Model) error {
	if err := m.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "NAME microrisk FREE\nROWS\n N cost\n")
	for i, r := range m.Rows {
		fmt.Fprintf(b, " %c %s\n", sense(r), RowName(i))
	}
	writeColumns(b, m)
	fmt.Fprintf(b, "RHS\n")
	for i, r := range m.Rows {
		if v := rightHand(r); v != 0 {
			fmt.Fprintf(b, " rhs %s %s\n", RowName(i), number(v))
		}
	}
	fmt.Fprintf(b, "RANGES\n")
	for i, r := range m.Rows {
		if sense(r) == 'G' && !math.IsInf(r.High, 1) {
			fmt.Fprintf(b, " rng %s %s\n", RowName(i), number(r.High-r.Low))
		}
	}
	fmt.Fprintf(b, "BOUNDS\n")
	for j, c := range m.Columns {
		writeBounds(b, ColumnName(j), c)
	}
	fmt.Fprintf(b, "ENDATA\n")
	return b.Flush()
}

func sense(r Row) byte {
	switch {
	case r.Low == r.High:
		return 'E'
	case !math.IsInf(r.Low, -1):
		return 'G'
	case !math.IsInf(r.High, 1):
		return 'L'
	}
	return 'N'
}

func rightHand(r Row) float64 {
	switch sense(r) {
	case 'L':
		return r.High
	case 'N':
		return 0
	}
	return r.Low
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func writeColumns(b *bufio.Writer, m *Model) {
	type entry struct {
		row   int
		value float64
	}
	entries := make([][]entry, len(m.Columns))
	for i, r := range m.Rows {
		for _, t := range r.Terms {
			if t.Value != 0 {
				entries[t.Column] = append(entries[t.Column], entry{i, t.Value})
			}
		}
	}
	fmt.Fprintf(b, "COLUMNS\n")
	integer := false
	marker := func(want bool) {
		if want != integer {
			fmt.Fprintf(b, " marker 'MARKER' '%s'\n", map[bool]string{true: "INTORG", false: "INTEND"}[want])
			integer = want
		}
	}
	for j, c := range m.Columns {
		marker(c.Integer)
		cost := c.Cost
		if m.Maximise {
			cost = 0 - cost
		}
		fmt.Fprintf(b, " %s cost %s\n", ColumnName(j), number(cost)) // also if 0: a column has to appear
		for _, e := range entries[j] {
			fmt.Fprintf(b, " %s %s %s\n", ColumnName(j), RowName(e.row), number(e.value))
		}
	}
	marker(false)
}

// writeBounds says both bounds of each column: what programs take for granted differs, above all for integer columns.
func writeBounds(b *bufio.Writer, name string, c Column) {
	switch low, high := !math.IsInf(c.Low, -1), !math.IsInf(c.High, 1); {
	case low && c.Low == c.High:
		fmt.Fprintf(b, " FX bnd %s %s\n", name, number(c.Low))
	case !low && !high:
		fmt.Fprintf(b, " FR bnd %s\n", name)
	default:
		if low {
			fmt.Fprintf(b, " LO bnd %s %s\n", name, number(c.Low))
		} else {
			fmt.Fprintf(b, " MI bnd %s\n", name)
		}
		if high {
			fmt.Fprintf(b, " UP bnd %s %s\n", name, number(c.High))
		} else {
			fmt.Fprintf(b, " PL bnd %s\n", name)
		}
	}
}
