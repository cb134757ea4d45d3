package program

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"
)

// drawModel makes a small model with bounds, ranges and redundant rows.
func drawModel(t *rapid.T, integer bool) *Model {
	m := &Model{Maximise: rapid.Bool().Draw(t, "maximise")}
	n := rapid.IntRange(1, 5).Draw(t, "columns")
	for range n {
		low := rapid.IntRange(-3, 3).Draw(t, "low")
		high := low + rapid.IntRange(0, 4).Draw(t, "width")
		m.AddColumn("", float64(low), float64(high), float64(rapid.IntRange(-5, 5).Draw(t, "cost")), integer)
	}
	for range rapid.IntRange(0, 5).Draw(t, "rows") {
		r := Row{Low: math.Inf(-1), High: Infinity}
		for j := range n {
			if v := rapid.IntRange(-2, 3).Draw(t, "value"); v != 0 {
				r.Terms = append(r.Terms, Term{j, float64(v)})
			}
		}
		base := float64(rapid.IntRange(-6, 6).Draw(t, "base"))
		switch rapid.IntRange(0, 3).Draw(t, "sense") {
		case 0:
			r.Low, r.High = base, base
		case 1:
			r.Low = base
		case 2:
			r.High = base
		default:
			r.Low, r.High = base, base+float64(rapid.IntRange(0, 5).Draw(t, "range"))
		}
		m.Rows = append(m.Rows, r)
		if rapid.IntRange(0, 3).Draw(t, "again") == 0 {
			m.Rows = append(m.Rows, r)
		}
	}
	return m
}

// bruteForce is the best objective over whole numbers.
func bruteForce(m *Model) (best float64, ok bool) {
	x := make([]float64, len(m.Columns))
	var fill func(j int)
	fill = func(j int) {
		if j == len(x) {
			if m.Violation(x) > 1e-9 {
				return
			}
			v := m.Value(x)
			if !ok || m.Maximise && v > best || !m.Maximise && v < best {
				best, ok = v, true
			}
			return
		}
		for v := m.Columns[j].Low; v <= m.Columns[j].High; v++ {
			x[j] = v
			fill(j + 1)
		}
	}
	fill(0)
	return best, ok
}

func TestIntegerAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, true)
		want, ok := bruteForce(m)
		s, err := Embedded{}.Solve(context.Background(), m)
		require.NoError(t, err)
		if !ok {
			require.Equal(t, Infeasible, s.Status)
			return
		}
		require.Equal(t, Optimal, s.Status)
		require.Equal(t, want, s.Objective)
		require.Zero(t, m.Violation(s.X))
		require.Zero(t, s.Gap())
	})
}

// standard writes a model as min c x, A x = b, x >= 0, with slack columns.
func standard(m *Model) (c []float64, a *mat.Dense, b []float64) {
	type line struct {
		terms []Term
		value float64
	}
	var lines []line
	n := len(m.Columns)
	add := func(terms []Term, value, slack float64) {
		terms = append([]Term(nil), terms...)
		for _, t := range terms {
			value -= t.Value * m.Columns[t.Column].Low
		}
		lines = append(lines, line{append(terms, Term{n, slack}), value})
		n++
	}
	for j, col := range m.Columns {
		add([]Term{{j, 1}}, col.High, 1)
		c = append(c, col.Cost)
	}
	for _, r := range m.Rows {
		if !math.IsInf(r.High, 1) {
			add(r.Terms, r.High, 1)
		}
		if !math.IsInf(r.Low, -1) {
			add(r.Terms, r.Low, -1)
		}
	}
	for len(c) < n {
		c = append(c, 0)
	}
	if m.Maximise {
		for j := range c {
			c[j] = -c[j]
		}
	}
	a, b = mat.NewDense(len(lines), n, nil), make([]float64, len(lines))
	for i, l := range lines {
		b[i] = l.value
		for _, t := range l.terms {
			a.Set(i, t.Column, t.Value)
		}
	}
	return c, a, b
}

// With a slack in each row none is redundant, so that gonum's simplex can be the oracle.
func TestLinearAgainstGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, false)
		c, a, b := standard(m)
		offset := 0.0
		for _, col := range m.Columns {
			offset += col.Cost * col.Low
		}
		want, _, err := lp.Simplex(c, a, b, 1e-10, nil)
		s, err2 := Embedded{}.Solve(context.Background(), m)
		require.NoError(t, err2)
		if err == lp.ErrInfeasible {
			require.Equal(t, Infeasible, s.Status)
			return
		}
		if err != nil {
			t.Skip("the oracle failed: ", err)
		}
		if m.Maximise {
			want = -want
		}
		require.Equal(t, Optimal, s.Status)
		require.InDelta(t, want+offset, s.Objective, 1e-7)
		require.LessOrEqual(t, m.Violation(s.X), 1e-7)
		checkDuals(t, m, s)
	})
}

// checkDuals looks for complementary slackness, the signs of duals, and c = A'y + d.
func checkDuals(t require.TestingT, m *Model, s *Solution) {
	left := make([]float64, len(m.Columns))
	side := func(x, low, high, dual float64) {
		if m.Maximise {
			dual = -dual
		}
		if dual > 1e-7 {
			require.InDelta(t, low, x, 1e-6)
		}
		if dual < -1e-7 {
			require.InDelta(t, high, x, 1e-6)
		}
	}
	for i, r := range m.Rows {
		sum := 0.0
		for _, term := range r.Terms {
			left[term.Column] += s.Duals[i] * term.Value
			sum += term.Value * s.X[term.Column]
		}
		side(sum, r.Low, r.High, s.Duals[i])
	}
	for j, c := range m.Columns {
		require.InDelta(t, c.Cost, left[j]+s.Reduced[j], 1e-7)
		side(s.X[j], c.Low, c.High, s.Reduced[j])
	}
}

// After changes of bounds and costs the simplex method goes on from where it was, and comes to what a fresh start comes to.
func TestWarmStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, false)
		s, err := NewSimplex(m)
		require.NoError(t, err)
		for range 4 {
			got, err := s.Solve(context.Background(), 10000)
			require.NoError(t, err)
			fresh, err := Embedded{}.Solve(context.Background(), m)
			require.NoError(t, err)
			require.Equal(t, fresh.Status, got)
			if got == Optimal {
				require.InDelta(t, fresh.Objective, s.Objective(), 1e-7)
				again, err := Embedded{Start: s.Basis()}.Solve(context.Background(), m)
				require.NoError(t, err)
				require.LessOrEqual(t, again.Pivots, 1)
			}
			j := rapid.IntRange(0, len(m.Columns)-1).Draw(t, "column")
			c := &m.Columns[j]
			c.Cost = float64(rapid.IntRange(-5, 5).Draw(t, "new cost"))
			c.High = c.Low + float64(rapid.IntRange(0, 5).Draw(t, "new width"))
			s.SetCost(j, c.Cost)
			s.SetBounds(j, c.Low, c.High)
		}
	})
}

// Examples by name: free variables, no bounds, redundant rows, cycling.
func TestExamples(t *testing.T) {
	ctx := context.Background()
	free := &Model{}
	free.AddColumn("x", math.Inf(-1), Infinity, 1, false)
	s, err := Embedded{}.Solve(ctx, free)
	require.NoError(t, err)
	require.Equal(t, Unbounded, s.Status)
	free.AddRow("r", -7, Infinity, Term{0, 2})
	s, err = Embedded{}.Solve(ctx, free)
	require.NoError(t, err)
	require.Equal(t, Optimal, s.Status)
	require.Equal(t, -3.5, s.Objective)
	require.Equal(t, []float64{0.5}, s.Duals)

	beale := &Model{} // the example that cycles under the largest coefficient rule
	for _, c := range []float64{-0.75, 150, -0.02, 6} {
		beale.AddColumn("", 0, Infinity, c, false)
	}
	beale.AddRow("", math.Inf(-1), 0, Term{0, 0.25}, Term{1, -60}, Term{2, -0.04}, Term{3, 9})
	beale.AddRow("", math.Inf(-1), 0, Term{0, 0.5}, Term{1, -90}, Term{2, -0.02}, Term{3, 3})
	beale.AddRow("", math.Inf(-1), 1, Term{2, 1})
	s, err = Embedded{}.Solve(ctx, beale)
	require.NoError(t, err)
	require.Equal(t, Optimal, s.Status)
	require.InDelta(t, -0.05, s.Objective, 1e-12)

	stopped, err := Embedded{Nodes: 1}.Solve(ctx, knapsack(30))
	require.NoError(t, err)
	require.Equal(t, Stopped, stopped.Status)
	require.Greater(t, stopped.Gap(), 0.0)
	done, err := Embedded{}.Solve(ctx, knapsack(30))
	require.NoError(t, err)
	require.Equal(t, Optimal, done.Status)
	require.GreaterOrEqual(t, stopped.Bound, done.Objective)
	beaten, err := Embedded{Bounded: true, Cutoff: done.Objective}.Solve(ctx, knapsack(30))
	require.NoError(t, err)
	require.Equal(t, Infeasible, beaten.Status)
}

// knapsack is a small integer program that takes branching.
func knapsack(n int) *Model {
	m := &Model{Maximise: true}
	r := Row{Low: math.Inf(-1), High: float64(7 * n)}
	for j := range n {
		m.AddColumn("", 0, 1, float64(13+j*17%11), true)
		r.Terms = append(r.Terms, Term{j, float64(11 + j*7%13)})
	}
	m.Rows = append(m.Rows, r)
	return m
}

// transport is a table of k by k cells with margins and a redundant total.
func transport(k int) *Model {
	m := &Model{Maximise: true}
	for j := range k * k {
		m.AddColumn("", 0, 50, float64(j*7919%31), false)
	}
	for side := range 2 {
		for i := range k {
			r := Row{Low: float64(5 * k), High: float64(5 * k)}
			for j := range k {
				c := i*k + j
				if side == 1 {
					c = j*k + i
				}
				r.Terms = append(r.Terms, Term{c, 1})
			}
			m.Rows = append(m.Rows, r)
		}
	}
	all := Row{Low: float64(5 * k * k), High: float64(5 * k * k)}
	for c := range k * k {
		all.Terms = append(all.Terms, Term{c, 1})
	}
	m.Rows = append(m.Rows, all)
	return m
}

func TestModelErrors(t *testing.T) {
	nan := math.NaN()
	for want, m := range map[string]*Model{
		"column 0 () has the cost NaN":        {Columns: []Column{{Cost: nan}}},
		"column 0 () has the bounds NaN":      {Columns: []Column{{Low: nan}}},
		"row 0 () has a column 1, of 1":       {Columns: []Column{{}}, Rows: []Row{{Terms: []Term{{1, 1}}}}},
		"row 0 () has column 0 twice":         {Columns: []Column{{}}, Rows: []Row{{Terms: []Term{{0, 1}, {0, 1}}}}},
		"row 0 () has the coefficient +Inf":   {Columns: []Column{{}}, Rows: []Row{{Terms: []Term{{0, Infinity}}}}},
		"row 0 () has the range +Inf to +Inf": {Rows: []Row{{Low: Infinity, High: Infinity}}},
	} {
		_, err := Embedded{}.Solve(context.Background(), m)
		require.ErrorContains(t, err, want)
	}
	crossed := &Model{Columns: []Column{{Low: 2, High: 1}}}
	s, err := Embedded{}.Solve(context.Background(), crossed)
	require.NoError(t, err)
	require.Equal(t, Infeasible, s.Status)
}

func BenchmarkTransport(b *testing.B) {
	for _, k := range []int{10, 30} {
		b.Run(map[int]string{10: "10x10", 30: "30x30"}[k], func(b *testing.B) {
			m := transport(k)
			for b.Loop() {
				s, err := Embedded{}.Solve(context.Background(), m)
				if err != nil || s.Status != Optimal {
					b.Fatal(err, s)
				}
			}
		})
	}
}

func BenchmarkKnapsack(b *testing.B) {
	m := knapsack(30)
	for b.Loop() {
		if _, err := (Embedded{}).Solve(context.Background(), m); err != nil {
			b.Fatal(err)
		}
	}
}
