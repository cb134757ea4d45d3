package program

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// small is a model with every kind of row and bound.
func small() *Model {
	m := &Model{Maximise: true}
	m.AddColumn("a b", 0, 4, 1, true)
	m.AddColumn("", math.Inf(-1), Infinity, 0, false)
	m.AddColumn("", 2, 2, -1.5, false)
	m.AddColumn("", math.Inf(-1), 7, 0, false)
	m.AddRow("", 1, 1, Term{0, 1}, Term{1, -1})
	m.AddRow("", math.Inf(-1), 9, Term{0, 2}, Term{2, 0.5})
	m.AddRow("", -1, 3, Term{1, 1})
	m.AddRow("", math.Inf(-1), Infinity, Term{3, 1})
	return m
}

func TestWriteMPS(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteMPS(&b, small()))
	require.Equal(t, `NAME microrisk FREE
ROWS
 N cost
 E r0
 L r1
 G r2
 N r3
COLUMNS
 marker 'MARKER' 'INTORG'
 x0 cost -1
 x0 r0 1
 x0 r1 2
 marker 'MARKER' 'INTEND'
 x1 cost 0
 x1 r0 -1
 x1 r2 1
 x2 cost 1.5
 x2 r1 0.5
 x3 cost 0
 x3 r3 1
RHS
 rhs r0 1
 rhs r1 9
 rhs r2 -1
RANGES
 rng r2 4
BOUNDS
 LO bnd x0 0
 UP bnd x0 4
 FR bnd x1
 FX bnd x2 2
 MI bnd x3
 UP bnd x3 7
ENDATA
`, b.String())
}

// pair is max x0 + x1, whole numbers from 0 to 3, with x0 + x1 <= 4.
func pair() *Model {
	m := &Model{Maximise: true}
	m.AddColumn("", 0, 3, 1, true)
	m.AddColumn("", 0, 3, 1, true)
	m.AddRow("", math.Inf(-1), 4, Term{0, 1}, Term{1, 1})
	return m
}

func TestReadCBC(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		status Status
		x      []float64
		err    string
	}{
		"columns not listed are 0":    {"Optimal - objective value -3.00000000\n      0 x0       3.0000000001      -1\n", Optimal, []float64{3, 0}, ""},
		"stopped with a solution":     {"Stopped on time - objective value -2\n 0 x0 1 0\n 1 x1 1 0\n", Stopped, []float64{1, 1}, ""},
		"values of the relaxation":    {"Stopped on time (no integer solution - continuous used) - objective value -3.5\n 0 x0 1.5 0\n", Stopped, nil, ""},
		"infeasible with values":      {"Infeasible - objective value 0\n** 0 x0 7 0\n", Infeasible, nil, ""},
		"integer infeasible":          {"Integer infeasible - objective value 0\n", Infeasible, nil, ""},
		"within the gap is no proof":  {"Optimal (within gap tolerance) - objective value -2\n 0 x0 2 0\n", Stopped, []float64{2, 0}, ""},
		"an empty file":               {"", 0, nil, "is empty"},
		"no status":                   {"hello\n", 0, nil, "no status of cbc"},
		"another model":               {"Optimal - objective value 1\n 0 x9 1 0\n", 0, nil, "belongs to another model"},
		"a solution that is not one":  {"Optimal - objective value -6\n 0 x0 3 0\n 1 x1 3 0\n", 0, nil, "violates the model by 2"},
		"fractions are found out too": {"Optimal - objective value -6\n 0 x0 nan 0\n", 0, nil, "not a number"},
	} {
		s, err := ReadCBC(strings.NewReader(c.text), pair())
		if c.err != "" {
			require.ErrorContains(t, err, c.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.status, s.Status, name)
		require.Equal(t, c.x, s.X, name)
	}
}

func TestReadGLPSOL(t *testing.T) {
	whole := "c Problem:    microrisk\nc Status:     INTEGER OPTIMAL\nc\ns mip 2 2 o -4\ni 1 -4\ni 2 4\nj 1 3\nj 2 1\ne o f\n"
	s, err := ReadGLPSOL(strings.NewReader(whole), pair())
	require.NoError(t, err)
	require.Equal(t, Optimal, s.Status)
	require.Equal(t, []float64{3, 1}, s.X)
	require.Equal(t, 4.0, s.Objective)
	linear := pair()
	linear.Columns[0].Integer, linear.Columns[1].Integer = false, false
	basis := "s bas 1 2 f f -4\ni 1 u 4 -1\nj 1 b 3 0\nj 2 b 1 0\ne o f\n"
	s, err = ReadGLPSOL(strings.NewReader(basis), linear)
	require.NoError(t, err)
	require.Equal(t, Optimal, s.Status)
	require.Equal(t, []float64{1}, s.Duals)
	s, err = ReadGLPSOL(strings.NewReader(basis), pair()) // the relaxation of an integer program is no solution
	require.NoError(t, err)
	require.Equal(t, Stopped, s.Status)
	require.Nil(t, s.X)
	s, err = ReadGLPSOL(strings.NewReader("s mip 1 2 n 0\ne o f\n"), pair())
	require.NoError(t, err)
	require.Equal(t, Infeasible, s.Status)
	for text, want := range map[string]string{
		"":                                   "not complete",
		strings.TrimSuffix(whole, "e o f\n"): "not complete",
		"s mip 5 2 o 0\n":                    "another model",
		"j 1 2\n":                            "before the status",
		"s mip 1 2 o -4\nj 7 1\n":            "not the number of one of 2",
	} {
		_, err = ReadGLPSOL(strings.NewReader(text), pair())
		require.ErrorContains(t, err, want)
	}
}

func FuzzReadCBC(f *testing.F) {
	f.Add("Optimal - objective value -3\n 0 x0 3 -1\n")
	f.Add("Infeasible - objective value 0\n** 0 x0 7 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		m := pair()
		if s, err := ReadCBC(strings.NewReader(text), m); err == nil && s.X != nil {
			require.LessOrEqual(t, m.Violation(s.X), trusted)
		}
	})
}

func FuzzReadGLPSOL(f *testing.F) {
	f.Add("s mip 2 2 o -4\ni 1 -4\ni 2 4\nj 1 3\nj 2 1\ne o f\n")
	f.Add("s bas 1 2 f f -4\ni 1 u 4 -1\nj 1 b 3 0\nj 2 b 1 0\ne o f\n")
	f.Fuzz(func(t *testing.T, text string) {
		m := pair()
		if s, err := ReadGLPSOL(strings.NewReader(text), m); err == nil && s.X != nil {
			require.LessOrEqual(t, m.Violation(s.X), trusted)
		}
	})
}
