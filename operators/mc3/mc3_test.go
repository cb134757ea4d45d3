package mc3_test

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/operators/operatortest"
	"microrisk/schemas"
)

var people = []string{"x 1", "x 1", "x 2", "y 2", "y 1", "x 1", "_ 1", "y 3"}

func fixedModel(graph, estimator string) mc3.Config {
	return mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: schemas.MissingDrop}, Search: "fixed", Graph: graph, Estimator: estimator}
}

func mc3Rows(t *testing.T, c mc3.Config, s schemas.Sampling, o operators.Options, rows []string, model *mc3.Model) ([]string, *operators.Report, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return operatortest.Table(
		t,
		mem,
		operatortest.Lines(t, mem, 3, "A B", rows...),
		o,
		mc3.Operator{Key: operatortest.Key("A", "B"), Sampling: &s, Config: c, Model: model},
	)
}

// Independence with maximum-likelihood proportions can be computed by hand (Smith 2011, chapter 7).
func TestMC3ByHand(t *testing.T) {
	out, report, err := mc3Rows(t, fixedModel("independence", "poisson"), schemas.Sampling{Fraction: 0.1}, operators.Options{}, people, nil)
	require.NoError(t, err)
	require.Equal(t, "A B sample_frequency mc3_correct_match mc3_population_unique mc3_expected_frequency", out[0])
	require.Equal(t, "_ 1 _ _ _ _", out[7], "a record that is dropped")
	lambda := 63.0 * 4 / 7 * 2 / 7 // x 2: four of seven have x, two have 2
	require.Equal(t, "1", strings.Fields(out[3])[2])
	require.InDelta(t, (1-math.Exp(-lambda))/lambda, operatortest.Value(t, out[3], 3), 1e-14)
	require.InDelta(t, math.Exp(-lambda), operatortest.Value(t, out[3], 4), 1e-14)
	require.InDelta(t, 1+lambda, operatortest.Value(t, out[3], 5), 1e-12)
	require.Equal(t, 0.0, operatortest.Value(t, out[1], 4), "a double is no population unique")
	s := report.Operators[0].Summary.(*mc3.Summary)
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
	for _, estimator := range mc3.Estimators {
		c := mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: schemas.MissingCategory}, Estimator: estimator}
		out, report, err := mc3Rows(t, c, schemas.Sampling{PopulationSize: 8}, operators.Options{}, people, nil)
		require.NoError(t, err)
		require.Equal(t, "x 1 3 0.3333333333333333 0 3", out[1], estimator)
		require.Equal(t, "_ 1 1 1 1 1", out[7], estimator)
		s := report.Operators[0].Summary.(*mc3.Summary)
		require.InDelta(t, 1, *s.PUSU, 1e-12)
		require.InDelta(t, 1, *s.CMUM, 1e-12)
		require.InDelta(t, 5.0/8, *s.PU, 1e-12)
		require.InDelta(t, 6, *s.Reidentified, 1e-12, "six keys, a correct match each")
	}
}

// Values do not depend on workers, batches or the order of rows.
func TestMC3IsTheSameForAllWays(t *testing.T) {
	for _, c := range []mc3.Config{{}, {Search: "mc3", Iterations: pointerTo(2000)}, {Search: "anneal"}, {Search: "occam"}, {Estimator: "montecarlo", PosteriorDraws: pointerTo(20)}} {
		c.Missing = schemas.MissingCategory
		want, first, err := mc3Rows(t, c, schemas.Sampling{Fraction: 0.01}, operators.Options{Workers: 1, Seed: 7}, people, nil)
		require.NoError(t, err)
		again, second, err := mc3Rows(t, c, schemas.Sampling{Fraction: 0.01}, operators.Options{Workers: 3, Batch: 1, Seed: 7}, people, nil)
		require.NoError(t, err)
		require.Equal(t, want, again)
		require.Equal(t, first.Operators[0].Fitted.(mc3.Expecting).Expectation().Cells, second.Operators[0].Fitted.(mc3.Expecting).Expectation().Cells)
		first.Operators[0].Fitted, second.Operators[0].Fitted = nil, nil // they know the number of workers
		require.Equal(t, first.Operators, second.Operators)
	}
}

func pointerTo[T any](v T) *T { return &v }

// A model that was saved gives the same values without a fit, also for another file.
func TestMC3UsesASavedModel(t *testing.T) {
	c := mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: schemas.MissingCategory}, PriorPrecision: []float64{2}}
	sampling := schemas.Sampling{PopulationSize: 100}
	want, report, err := mc3Rows(t, c, sampling, operators.Options{}, people, nil)
	require.NoError(t, err)
	text, err := report.Operators[0].Fitted.(mc3.Modelled).Model().Marshal()
	require.NoError(t, err)
	model, err := mc3.DecodeModel("model.json", text)
	require.NoError(t, err)
	c = mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: schemas.MissingCategory}, ModelIn: "model.json"}
	got, _, err := mc3Rows(t, c, sampling, operators.Options{}, people, model)
	require.NoError(t, err)
	require.Equal(t, want, got)

	part, _, err := mc3Rows(t, c, sampling, operators.Options{}, []string{"y 3"}, model)
	require.NoError(t, err)
	require.Equal(t, "y 3 1", strings.Join(strings.Fields(part[1])[:3], " "))
	_, _, err = mc3Rows(t, c, sampling, operators.Options{}, []string{"y 3", "z 1"}, model)
	require.ErrorContains(t, err, `does not know the category "z" of A`)
	_, _, err = mc3Rows(t, c, sampling, operators.Options{}, []string{"y _"}, model)
	require.ErrorContains(t, err, "all have a value of B")
	model.Variables[0].Name = "C"
	_, _, err = mc3Rows(t, c, sampling, operators.Options{}, people, model)
	require.ErrorContains(t, err, "has the key [C B], this one is [A B]")
}

func TestMC3SummaryHasWhatWasAsked(t *testing.T) {
	c := mc3.Config{
		MeasureOptions: schemas.MeasureOptions{
			Missing: schemas.MissingCategory,
		}, Baselines: true, RelativeRisk: true, Ordinal: []string{"B"}, PriorPrecision: []float64{1, 50},
	}
	_, report, err := mc3Rows(t, c, schemas.Sampling{Fraction: 0.2}, operators.Options{}, people, nil)
	require.NoError(t, err)
	s := report.Operators[0].Summary.(*mc3.Summary)
	require.Len(t, s.Variables, 2)
	require.NotEmpty(t, s.Categories)
	require.Len(t, s.Sensitivity, 2)
	require.NotEmpty(t, s.Baselines)
	require.Equal(t, "exact", s.Search)
	require.NotEmpty(t, s.SearchReason)
	require.Len(t, s.EdgeProbabilities, 1)
}

func TestMC3Refuses(t *testing.T) {
	source := operatortest.Lines(t, memory.DefaultAllocator, 3, "A B", people...)
	for name, c := range map[string]struct {
		m    mc3.Operator
		want string
	}{
		"no sampling": {mc3.Operator{Key: operatortest.Key("A", "B")}, "nothing is said of the size of the population"},
		"wildcard": {mc3.Operator{Key: operatortest.Key("A"), Sampling: &schemas.Sampling{Fraction: 1}, Config: mc3.Config{
			MeasureOptions: schemas.MeasureOptions{Missing: "wildcard"},
		}}, "which mc3 does not know"},
		"unknown search": {mc3.Operator{Key: operatortest.Key("A"), Sampling: &schemas.Sampling{Fraction: 1}, Config: mc3.Config{Search: "guess"}}, `search "guess" is unknown`},
		"unknown name":   {mc3.Operator{Key: operatortest.Key("A", "B"), Sampling: &schemas.Sampling{Fraction: 1}, Config: fixedModel("[A C]", "")}, `"C"`},
		"no column":      {mc3.Operator{Key: operatortest.Key("A", "BB"), Sampling: &schemas.Sampling{Fraction: 1}}, "did you mean"},
	} {
		_, err := c.m.Bind(source.Schema())
		require.ErrorContains(t, err, c.want, name)
	}
	_, _, err := mc3Rows(t, mc3.Config{}, schemas.Sampling{PopulationSize: 7}, operators.Options{}, people, nil)
	require.ErrorContains(t, err, "less than the 8 records")
	none, report, err := mc3Rows(t, mc3.Config{}, schemas.Sampling{PopulationSize: 7}, operators.Options{}, nil, nil)
	require.NoError(t, err)
	require.Len(t, none, 1)
	require.Nil(t, report.Operators[0].Summary.(*mc3.Summary).PUSU)
	_, _, err = mc3Rows(t, mc3.Config{}, schemas.Sampling{PopulationSize: 70}, operators.Options{Memory: 10}, people, nil)
	require.ErrorContains(t, err, "of memory, the limit is")
}
