package mc3_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/individual"
	"microrisk/operators/known"
	"microrisk/operators/mc3"
	"microrisk/operators/operatortest"
	"microrisk/schemas"
)

// documents are those of a known table, as they are read.
func documents(t *testing.T, lines ...string) ([]known.Table, map[string]any) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	list := []known.Table{{Path: []string{"a"}}}
	read, err := known.Files(list)[0].Open(context.Background(), operatortest.Lines(t, mem, 2, lines[0], lines[1:]...), 0)
	require.NoError(t, err)
	return list, map[string]any{"a": read}
}

var published = []string{"A B count", "x Total 40", "y Total 29", "_ Total 1", "Total 1 50", "Total 2 17", "Total 3 3", "y 3 1", "y 1 _", "x 3 2", "_ 1 1"}

func knownRows(t *testing.T, c mc3.Config, o operators.Options, batch int, rows []string) ([]string, *operators.Report, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	var read map[string]any
	lines := slices.Clone(published)
	if c.Known == nil {
		lines = append(lines, "x 1 32", "x 2 6", "y 2 11", "_ 2 0") // the whole table
	}
	c.Known, read = documents(t, lines...)
	c.Known[0].Absent = known.AbsentHidden
	return operatortest.Table(t, mem, operatortest.Lines(t, mem, batch, "A B", rows...), o,
		mc3.Operator{Key: operatortest.Key("A", "B"), Sampling: &schemas.Sampling{PopulationSize: 70}, Config: c, Documents: read})
}

// Probabilities within bounds are ratios of sums over a Poisson law: of y 2, of which the margins leave 1 to 17.
func TestKnownTablesByHand(t *testing.T) {
	c := fixedModel("independence", "poisson")
	c.Missing = schemas.MissingCategory
	read := []string{"A B count", "Total 2 5"}
	list, documents := documents(t, read...)
	c.Known = list
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	rows := []string{"x 1", "x 1", "x 2", "y 2", "y 1", "x 1"}
	_, _, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 4, "A B", rows...), operators.Options{},
		mc3.Operator{Key: operatortest.Key("A", "B"), Sampling: &schemas.Sampling{Fraction: .1}, Config: c, Documents: documents})
	require.ErrorContains(t, err, "a has 0 people in [B = 1], and the sample 4 records")
	c.Known[0].Absent = known.AbsentHidden
	out, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 4, "A B", rows...), operators.Options{},
		mc3.Operator{Key: operatortest.Key("A", "B"), Sampling: &schemas.Sampling{Fraction: .1}, Config: c, Documents: documents})
	require.NoError(t, err)
	lambda := 54.0 * 2 / 6 * 2 / 6 // y 2, of which there are 1 to 4, as x 2 has one of 5
	term, mass, match, size := 1.0, 0.0, 0.0, 0.0
	for k := range 4 {
		if k > 0 {
			term *= lambda / float64(k)
		}
		mass += term
		match += term / float64(k+1)
		size += term * float64(k+1)
	}
	require.InDelta(t, match/mass, operatortest.Value(t, out[4], 3), 1e-12)
	require.InDelta(t, 1/mass, operatortest.Value(t, out[4], 4), 1e-12)
	require.InDelta(t, size/mass, operatortest.Value(t, out[4], 5), 1e-12)
	require.InDelta(t, 1+54.0*2/6*4/6, operatortest.Value(t, out[5], 5), 1e-12, "y 1, of which nothing is known")
	s := report.Operators[0].Summary.(*mc3.Summary)
	require.Equal(t, known.Summary{Tables: 1, Cells: 1, Above: 2, Narrowed: 2}, *s.Known)
	sum := 0.0
	for _, row := range []int{3, 4, 5} {
		sum += operatortest.Value(t, out[row], 4)
	}
	require.InDelta(t, sum/3, *s.PUSU, 1e-12)
	require.InDelta(t, sum/6, *s.PU, 1e-12, "the population uniques of the sample over its records")
	require.Equal(t, "scaled", s.Diagnostics.EmptyCells)
}

// Where the whole table is known, nothing is left to models; and what is known is the same for all ways to read the records.
func TestKnownTables(t *testing.T) {
	rows := []string{"x 1", "x 1", "x 2", "y 2", "y 1", "x 1", "_ 1", "y 3", "y 1"}
	for _, c := range []mc3.Config{{}, {Estimator: "poisson"}, {Effects: mc3.EffectsLognormal}, {Effects: mc3.EffectsLognormal, Anchor: "dis"}, {PriorPrecision: []float64{1, 30}}} {
		c.Missing = schemas.MissingCategory
		out, report, err := knownRows(t, c, operators.Options{}, 3, rows)
		require.NoError(t, err)
		require.Equal(t, "x 1 3 0.03125 0 32", out[1])
		require.Equal(t, "x 2 1 0.16666666666666666 0 6", out[3])
		require.Equal(t, "_ 1 1 1 1 1", out[7])
		require.Equal(t, "y 3 1 1 1 1", out[8])
		s := report.Operators[0].Summary.(*mc3.Summary)
		require.EqualValues(t, 5, s.Known.Exact, "y 1 is hidden: 17 at most")
		require.EqualValues(t, 2, s.Known.Alone)
		require.InDelta(t, .5, *s.PUSU, 1e-12)
		require.Nil(t, s.Intervals)

		c.Known = []known.Table{} // some cells alone
		want, first, err := knownRows(t, c, operators.Options{Workers: 1, Seed: 7}, 3, rows)
		require.NoError(t, err)
		require.Equal(t, "y 3 1 1 1 1", want[8])
		again, second, err := knownRows(t, c, operators.Options{Workers: 3, Batch: 1, Seed: 7}, 1, rows)
		require.NoError(t, err)
		require.Equal(t, want, again)
		first.Operators[0].Fitted, second.Operators[0].Fitted = nil, nil
		require.Equal(t, first.Operators, second.Operators)
		back := slices.Clone(rows)
		slices.Reverse(back)
		reversed, _, err := knownRows(t, c, operators.Options{}, 3, back)
		require.NoError(t, err)
		slices.Reverse(reversed[1:])
		require.Equal(t, want, reversed)
	}
	_, report, err := knownRows(t, mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: schemas.MissingCategory}}, operators.Options{}, 3, rows)
	require.NoError(t, err)
	_, err = report.Operators[0].Fitted.(mc3.Expecting).Expectation().Attack(context.Background())
	require.ErrorContains(t, err, "attacks do not look at known tables")
}

// The individual risk is that of a negative binomial number within its bounds.
func TestKnownTablesOfIndividual(t *testing.T) {
	list, documents := documents(t, "A B count", "Total 2 5", "x Total 9", "y Total 3", "Total 1 7")
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	rows := []string{"x 1", "x 1", "x 2", "y 2", "y 1", "x 1"}
	out, report, err := operatortest.Table(
		t,
		mem,
		operatortest.Lines(t, mem, 4, "A B", rows...),
		operators.Options{},
		individual.Operator{
			Key:       operatortest.Key("A", "B"),
			Sampling:  &schemas.Sampling{Fraction: .25},
			Config:    individual.Config{Known: list},
			Documents: documents,
		},
	)
	require.NoError(t, err)
	s := report.Operators[0].Summary.(*individual.Summary)
	within := func(f, low, high int) float64 { // successes f, probability 1/4
		mass, match := 0.0, 0.0
		for n := low; n <= high; n++ {
			a, _ := math.Lgamma(float64(n))
			b, _ := math.Lgamma(float64(f))
			c, _ := math.Lgamma(float64(n - f + 1))
			p := math.Exp(a - b - c + float64(n-f)*math.Log(.75))
			mass += p
			match += p / float64(n)
		}
		return match / mass
	}
	// y has 3 people, of whom 1 or 2 have 2; 2 has 5, so that x has 3 or 4 of them, and 1 has 7.
	require.InDelta(t, within(1, 1, 2), operatortest.Value(t, out[4], 3), 1e-12, "y 2")
	require.InDelta(t, within(1, 1, 2), operatortest.Value(t, out[5], 3), 1e-12, "y 1")
	require.InDelta(t, within(1, 3, 4), operatortest.Value(t, out[3], 3), 1e-12, "x 2")
	require.InDelta(t, within(3, 5, 6), operatortest.Value(t, out[1], 3), 1e-12, "x 1")
	require.EqualValues(t, 2, s.Known.Below)
	require.EqualValues(t, 1, s.Known.Others)
}
