package program

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// trusted is the largest violation, after rounding, that a result file's solution may have.
const trusted = 1e-4

// ReadCBC reads the file that cbc writes for "solve solu FILE" of a model written by WriteMPS. What counts is the file's first
// line, not how the program exited: stopped early it may exit as if all were well, and the values below may be those of the
// relaxation, which are no solution. Columns that are not listed are 0. Whole numbers are rounded and everything is checked again;
// the objective is the model's at these values.
//
// Errors: an empty or broken file, columns that are not the model's, a solution that violates the model.
func ReadCBC(r io.Reader, m *Model) (*Solution, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("the result file is empty: the solver found no solution, or did not run")
	}
	status, usable, err := cbcStatus(lines.Text())
	if err != nil {
		return nil, err
	}
	s := &Solution{Status: status, Bound: m.worstBound()}
	if !usable {
		return s, nil
	}
	x := make([]float64, len(m.Columns))
	for line := 2; lines.Scan(); line++ {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "**"))
		if len(fields) == 0 {
			continue
		}
		if len(fields) < 3 {
			return nil, fmt.Errorf("line %d of the result file is %q: a number, a name and a value were expected", line, lines.Text())
		}
		if fields[1] != "" && fields[1][0] == 'r' { // rows, if all was printed
			continue
		}
		j, err := numbered(fields[1], 'x', len(x))
		if err == nil {
			x[j], err = finite(fields[2])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the result file: %w", line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return s, s.accept(m, x)
}

// cbcStatus reads the first line; usable tells whether the values below are a solution.
func cbcStatus(line string) (status Status, usable bool, err error) {
	text := strings.ToLower(line)
	switch {
	case strings.Contains(text, "no integer solution") || strings.Contains(text, "continuous used"):
		return Stopped, false, nil
	case strings.HasPrefix(text, "optimal") && strings.Contains(text, "gap"):
		return Stopped, true, nil
	case strings.HasPrefix(text, "optimal"):
		return Optimal, true, nil
	case strings.Contains(text, "infeasible"):
		return Infeasible, false, nil
	case strings.HasPrefix(text, "unbounded"):
		return Unbounded, false, nil
	case strings.HasPrefix(text, "stopped"):
		return Stopped, true, nil
	}
	return 0, false, fmt.Errorf("the result file begins with %q, which is no status of cbc", line)
}

// worstBound is the bound that says nothing.
func (m *Model) worstBound() float64 {
	if m.Maximise {
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// accept takes over a solution.
func (s *Solution) accept(m *Model, x []float64) error {
	for j, c := range m.Columns {
		if c.Integer {
			x[j] = math.Round(x[j])
		}
	}
	if v := m.Violation(x); v > trusted {
		return fmt.Errorf("the result file's solution violates the model by %v", v)
	}
	s.X, s.Objective = x, m.Value(x)
	if s.Status == Optimal {
		s.Bound = s.Objective
	}
	return nil
}

// numbered is the number in a name as RowName and ColumnName make them.
func numbered(name string, letter byte, n int) (int, error) {
	if len(name) > 1 && name[0] == letter {
		if j, err := strconv.Atoi(name[1:]); err == nil && j >= 0 && j < n {
			return j, nil
		}
	}
	return 0, fmt.Errorf("%q is not the name of one of %d: the file belongs to another model", name, n)
}

func finite(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}

// ReadGLPSOL reads the file that glpsol --freemps --write makes (of version 4.58 or later) of a model written by WriteMPS. A basic
// solution has the duals of rows and columns too. Errors are those of ReadCBC, and a file without its end.
func ReadGLPSOL(r io.Reader, m *Model) (*Solution, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	f := glpsol{m: m, x: make([]float64, len(m.Columns))}
	for line := 1; lines.Scan(); line++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || fields[0] == "c" {
			continue
		}
		if fields[0] == "e" {
			f.ended = true
			break
		}
		if err := f.line(fields); err != nil {
			return nil, fmt.Errorf("line %d of the result file: %w", line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if f.s == nil || !f.ended {
		return nil, fmt.Errorf("the result file is not complete")
	}
	if !f.usable {
		return f.s, nil
	}
	return f.s, f.s.accept(m, f.x)
}

// glpsol is a result file as far as it was read.
type glpsol struct {
	m             *Model
	s             *Solution
	x             []float64
	basic, usable bool
	extra         int // 1 if the costs are a row, the first one
	ended         bool
}

func (f *glpsol) line(fields []string) error {
	switch {
	case fields[0] == "s" && f.s == nil:
		return f.status(fields)
	case f.s == nil:
		return fmt.Errorf("%q before the status", fields[0])
	case fields[0] != "i" && fields[0] != "j":
		return fmt.Errorf("%q is no kind of line", fields[0])
	}
	at, want, n := 2, 3, len(f.m.Columns)
	if f.basic {
		at, want = 3, 5
	}
	if fields[0] == "i" {
		n = len(f.m.Rows) + f.extra
	}
	if len(fields) < want {
		return fmt.Errorf("%d fields, %d were expected", len(fields), want)
	}
	k, err := strconv.Atoi(fields[1])
	if err != nil || k < 1 || k > n {
		return fmt.Errorf("%q is not the number of one of %d", fields[1], n)
	}
	value, err := finite(fields[at])
	if err != nil {
		return err
	}
	dual := 0.0
	if f.basic {
		if dual, err = finite(fields[4]); err != nil {
			return err
		}
		if f.m.Maximise { // the file's costs have the other sign
			dual = 0 - dual
		}
	}
	switch k--; {
	case fields[0] == "j":
		f.x[k] = value
		if f.basic {
			f.s.Reduced[k] = dual
		}
	case f.basic && k >= f.extra:
		f.s.Duals[k-f.extra] = dual
	}
	return nil
}

// status reads the line "s bas ROWS COLUMNS PRIMAL DUAL OBJECTIVE" or "s mip ROWS COLUMNS STATUS OBJECTIVE".
func (f *glpsol) status(fields []string) error {
	if len(fields) < 6 {
		return fmt.Errorf("%d fields in the status, at least 6 were expected", len(fields))
	}
	rows, err := strconv.Atoi(fields[2])
	columns, err2 := strconv.Atoi(fields[3])
	f.extra = rows - len(f.m.Rows)
	if err != nil || err2 != nil || columns != len(f.m.Columns) || f.extra < 0 || f.extra > 1 {
		return fmt.Errorf("a solution of %s rows and %s columns: the file belongs to another model", fields[2], fields[3])
	}
	f.s = &Solution{Status: Stopped, Bound: f.m.worstBound()}
	switch fields[1] {
	case "mip":
		switch fields[4] {
		case "o":
			f.s.Status, f.usable = Optimal, true
		case "f":
			f.usable = true
		case "n":
			f.s.Status = Infeasible
		}
	case "bas":
		f.basic = true
		f.s.Duals, f.s.Reduced = make([]float64, len(f.m.Rows)), make([]float64, columns)
		switch fields[4] + fields[5] {
		case "ff":
			f.s.Status, f.usable = Optimal, true
		case "fn":
			f.s.Status = Unbounded
		default:
			f.usable = fields[4] == "f"
			if fields[4] == "n" {
				f.s.Status = Infeasible
			}
		}
		if f.m.integer() { // the relaxation: no solution
			f.usable = false
			if f.s.Status == Optimal || f.s.Status == Unbounded {
				f.s.Status = Stopped
			}
		}
	default:
		return fmt.Errorf("%q is no kind of solution", fields[1])
	}
	return nil
}

func (m *Model) integer() bool {
	for _, c := range m.Columns {
		if c.Integer {
			return true
		}
	}
	return false
}
