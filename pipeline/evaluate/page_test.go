package evaluate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/page"
	"microrisk/pipeline/page/pagetest"
)

func TestPage(t *testing.T) {
	figure := func(mean, se float64) evaluate.MeanFigure {
		return evaluate.MeanFigure{Mean: &mean, SE: &se, Samples: 10}
	}
	e := &evaluate.Evaluation{
		Input:             []string{"/secret/people.csv"},
		Key:               []string{"A", "B"},
		Rows:              1000,
		PopulationUniques: 7,
		Repetitions:       10,
		Design:            "simple random",
		Fractions: []evaluate.FractionSummary{{Fraction: 0.1, Records: 100, SampleUniques: 20,
			Scores: []evaluate.ScoreSummary{
				{Name: "one", AUC: figure(0.7, 0.01), Slope: figure(1, 0.1)},
				{Name: "two", AUC: figure(0.8, 0.01), Slope: figure(2, 0.1)},
			},
			Comparisons: []evaluate.ScorePair{{First: "one", Second: "two", AUC: figure(-0.1, 0.01)}},
			FileMeasures: []evaluate.MeasureSummary{
				{Operator: "mc3", Measure: "pu", Estimate: figure(0.01, 0.001), Truth: figure(0.007, 0), Bias: figure(0.003, 0.001)},
				{Operator: "mc3", Measure: "cm_um", Estimate: figure(0.1, 0.01), Truth: figure(0.2, 0.01), Bias: figure(-0.1, 0.01)},
			},
			Strategies: []evaluate.StrategyMean{{Name: "all", Correct: figure(0.1, 0.01)}},
		}},
	}
	shown := func(reader string) string {
		p := e.Page(reader, "microrisk")
		text, err := p.HTML()
		require.NoError(t, err)
		pagetest.HTML(t, text)
		both := string(text) + string(p.Markdown())
		require.NotContains(t, both, "%!")
		return both
	}
	office := shown(page.Office)
	require.Contains(t, office, "two (AUC 0.800 ± 0.010), ahead of one by 0.100")
	require.Contains(t, office, "too low")
	require.Contains(t, office, "too high")
	public := shown(page.Publication)
	require.Contains(t, public, "fewer than 10")
	require.NotContains(t, public, "0.007", "the number of population uniques does not follow from their share")
	require.NotContains(t, public, "secret")
	require.NotContains(t, public, "0.7 %")
	e.Fractions[0].Comparisons[0].AUC = figure(-0.1, 0.09)
	require.Contains(t, shown(page.Office), "one may be as good")
	e.Fractions[0].Scores = nil
	require.Contains(t, shown(page.Office), "No score could be compared")
}
