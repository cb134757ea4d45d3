package operators

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

var people = []string{"x 1", "x 1", "x 2", "y 2", "y 1", "x 1", "_ 1", "y 3"}

func fixedModel(graph, estimator string) schemas.MC3 {
	return schemas.MC3{Search: "fixed", Graph: graph, Estimator: estimator, Missing: schemas.MissingDrop}
}

func mc3Rows(t *testing.T, c schemas.MC3, s schemas.Sampling, o Options, rows []string, model *schemas.Model) ([]string, *Report, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return table(t, mem, lines(t, mem, 3, "A B", rows...), o, MC3{Key: key("A", "B"), Shared: true, Sampling: &s, Config: c, Model: model})
}

// value is a number of an output row.
func value(t *testing.T, row string, column int) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.Fields(row)[column], 64)
	require.NoError(t, err, row)
	return v
}

// Independence with maximum-likelihood proportions can be computed by hand (Smith 2011, chapter 7).
func TestMC3ByHand(t *testing.T) {
	out, report, err := mc3Rows(t, fixedModel("independence", "poisson"), schemas.Sampling{Fraction: 0.1}, Options{}, people, nil)
	require.NoError(t, err)
	require.Equal(t, "A B sample_frequency mc3_correct_match mc3_population_unique mc3_expected_frequency", out[0])
	require.Equal(t, "_ 1 _ _ _ _", out[7], "a record that is dropped")
	lambda := 63.0 * 4 / 7 * 2 / 7 // x 2: four of seven have x, two have 2
	require.Equal(t, "1", strings.Fields(out[3])[2])
	require.InDelta(t, (1-math.Exp(-lambda))/lambda, value(t, out[3], 3), 1e-14)
	require.InDelta(t, math.Exp(-lambda), value(t, out[3], 4), 1e-14)
	require.InDelta(t, 1+lambda, value(t, out[3], 5), 1e-12)
	require.Equal(t, 0.0, value(t, out[1], 4), "a double is no population unique")
	s := report.Operators[0].Summary.(*schemas.MC3Summary)
	require.EqualValues(t, 7, s.Records)
	require.EqualValues(t, 70, s.PopulationSize)
	require.EqualValues(t, 4, s.KeySummary.SampleUniques)
	require.Equal(t, "[A][B]", s.Models[0].Cliques)
	require.Equal(t, "summed", s.Diagnostics.EmptyCells)
	require.InDelta(t, *s.CMSU*4, *s.CorrectMatches, 1e-12)
	require.Equal(t, "mc3_correct_match", report.Rankings[0].Column)
	var records int64
	for _, b := range s.Calibration {
		records += b.Records
	}
	require.EqualValues(t, 4, records)
}

// A sample that is the population leaves nothing to estimate.
func TestMC3OfThePopulation(t *testing.T) {
	for _, estimator := range schemas.Estimators {
		c := schemas.MC3{Estimator: estimator, Missing: schemas.MissingCategory}
		out, report, err := mc3Rows(t, c, schemas.Sampling{PopulationSize: 8}, Options{}, people, nil)
		require.NoError(t, err)
		require.Equal(t, "x 1 3 0.3333333333333333 0 3", out[1], estimator)
		require.Equal(t, "_ 1 1 1 1 1", out[7], estimator)
		s := report.Operators[0].Summary.(*schemas.MC3Summary)
		require.InDelta(t, 1, *s.PUSU, 1e-12)
		require.InDelta(t, 1, *s.CMUM, 1e-12)
		require.InDelta(t, 5.0/8, *s.PU, 1e-12)
		require.InDelta(t, 6, *s.Reidentified, 1e-12, "six keys, a correct match each")
	}
}

// Values do not depend on workers, batches or the order of rows.
func TestMC3IsTheSameForAllWays(t *testing.T) {
	for _, c := range []schemas.MC3{{}, {Search: "mc3", Iterations: pointerTo(2000)}, {Search: "anneal"}, {Search: "occam"}, {Estimator: "montecarlo", PosteriorDraws: pointerTo(20)}} {
		c.Missing = schemas.MissingCategory
		want, first, err := mc3Rows(t, c, schemas.Sampling{Fraction: 0.01}, Options{Workers: 1, Seed: 7}, people, nil)
		require.NoError(t, err)
		again, second, err := mc3Rows(t, c, schemas.Sampling{Fraction: 0.01}, Options{Workers: 3, Batch: 1, Seed: 7}, people, nil)
		require.NoError(t, err)
		require.Equal(t, want, again)
		require.Equal(t, first.Operators[0].Expects.Cells, second.Operators[0].Expects.Cells)
		first.Operators[0].Expects, second.Operators[0].Expects = nil, nil // they know the number of workers
		require.Equal(t, first.Operators, second.Operators)
	}
}

func pointerTo[T any](v T) *T { return &v }

// A model that was saved gives the same values without a fit, also for another file.
func TestMC3UsesASavedModel(t *testing.T) {
	c := schemas.MC3{Missing: schemas.MissingCategory, PriorPrecision: []float64{2}}
	sampling := schemas.Sampling{PopulationSize: 100}
	want, report, err := mc3Rows(t, c, sampling, Options{}, people, nil)
	require.NoError(t, err)
	text, err := report.Operators[0].Model.Marshal()
	require.NoError(t, err)
	model, err := schemas.DecodeModel("model.json", text)
	require.NoError(t, err)
	c = schemas.MC3{Missing: schemas.MissingCategory, ModelIn: "model.json"}
	got, _, err := mc3Rows(t, c, sampling, Options{}, people, model)
	require.NoError(t, err)
	require.Equal(t, want, got)

	part, _, err := mc3Rows(t, c, sampling, Options{}, []string{"y 3"}, model)
	require.NoError(t, err)
	require.Equal(t, "y 3 1", strings.Join(strings.Fields(part[1])[:3], " "))
	_, _, err = mc3Rows(t, c, sampling, Options{}, []string{"y 3", "z 1"}, model)
	require.ErrorContains(t, err, `does not know the category "z" of A`)
	_, _, err = mc3Rows(t, c, sampling, Options{}, []string{"y _"}, model)
	require.ErrorContains(t, err, "all have a value of B")
	model.Variables[0].Name = "C"
	_, _, err = mc3Rows(t, c, sampling, Options{}, people, model)
	require.ErrorContains(t, err, "has the key [C B], this one is [A B]")
}

func TestMC3SummaryHasWhatWasAsked(t *testing.T) {
	c := schemas.MC3{Missing: schemas.MissingCategory, Baselines: true, RelativeRisk: true, Ordinal: []string{"B"}, PriorPrecision: []float64{1, 50}}
	_, report, err := mc3Rows(t, c, schemas.Sampling{Fraction: 0.2}, Options{}, people, nil)
	require.NoError(t, err)
	s := report.Operators[0].Summary.(*schemas.MC3Summary)
	require.Len(t, s.Variables, 2)
	require.NotEmpty(t, s.Categories)
	require.Len(t, s.Sensitivity, 2)
	require.NotEmpty(t, s.Baselines)
	require.Equal(t, "exact", s.Search)
	require.NotEmpty(t, s.SearchReason)
	require.Len(t, s.EdgeProbabilities, 1)
}

func TestMC3Refuses(t *testing.T) {
	source := lines(t, memory.DefaultAllocator, 3, "A B", people...)
	for name, c := range map[string]struct {
		m    MC3
		want string
	}{
		"no sampling":    {MC3{Key: key("A", "B")}, "nothing is said of the size of the population"},
		"wildcard":       {MC3{Key: key("A"), Sampling: &schemas.Sampling{Fraction: 1}, Config: schemas.MC3{Missing: "wildcard"}}, "which mc3 does not know"},
		"unknown search": {MC3{Key: key("A"), Sampling: &schemas.Sampling{Fraction: 1}, Config: schemas.MC3{Search: "guess"}}, `no search "guess"`},
		"unknown name":   {MC3{Key: key("A", "B"), Sampling: &schemas.Sampling{Fraction: 1}, Config: fixedModel("[A C]", "")}, `"C"`},
		"no column":      {MC3{Key: key("A", "BB"), Sampling: &schemas.Sampling{Fraction: 1}}, "did you mean"},
	} {
		_, err := c.m.Bind(source.Schema())
		require.ErrorContains(t, err, c.want, name)
	}
	_, _, err := mc3Rows(t, schemas.MC3{}, schemas.Sampling{PopulationSize: 7}, Options{}, people, nil)
	require.ErrorContains(t, err, "less than the 8 records")
	none, report, err := mc3Rows(t, schemas.MC3{}, schemas.Sampling{PopulationSize: 7}, Options{}, nil, nil)
	require.NoError(t, err)
	require.Len(t, none, 1)
	require.Nil(t, report.Operators[0].Summary.(*schemas.MC3Summary).PUSU)
	_, _, err = mc3Rows(t, schemas.MC3{}, schemas.Sampling{PopulationSize: 70}, Options{Memory: 10}, people, nil)
	require.ErrorContains(t, err, "of memory, the limit is")
}
