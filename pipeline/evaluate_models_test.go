package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/mc3"
	"microrisk/operators/suda"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// The joint table has every key of the population and of the samples, strategies cost what they find, and the models are drawn.
func TestEvaluateShowsModels(t *testing.T) {
	inFolder(t, map[string]string{"p.csv": populationText(drawPopulation(3000))})
	s := evaluationOf(schemas.Operator{Config: &suda.Config{}}, schemas.Operator{Config: &mc3.Config{Search: "mc3"}})
	s.Fractions, s.Repetitions, s.Out = []float64{.2, .3, .5}, 2, "out"
	e, err := evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	of := map[float64][]*evaluate.SampleSummary{}
	for _, x := range e.Samples {
		of[x.Fraction] = append(of[x.Fraction], x)
	}
	for _, f := range e.Fractions {
		var all, uniqueInSample, alone, aloneInBoth, truth float64
		for _, r := range f.Joint {
			all += r.Classes
			if r.Records == 1 {
				uniqueInSample += r.Classes
			}
			if r.People == 1 {
				alone += r.Classes
				if r.Records == 1 {
					aloneInBoth += r.Classes
				}
			}
		}
		for _, x := range of[f.Fraction] {
			truth += float64(x.Truth.UniqueInBoth) / float64(s.Repetitions)
			assert.Nil(t, x.Strategies[5].Cost)
			for _, strategy := range x.Strategies[:5] {
				require.NotNil(t, strategy.Cost, strategy.Name)
			}
			n, n1 := float64(x.Truth.People), float64(x.Truth.SampleUniques)
			people := n1 / x.Truth.CMUM // in the classes of the sample uniques
			assert.InDelta(t, (n+1)/(1+people), *x.Strategies[1].Cost, 1e-9*n)
			assert.InDelta(t, 1, *x.Strategies[3].Cost, 1e-12, "whoever comes first is in some class")
			assert.InDelta(t, float64(x.Truth.SampleClasses)/n, *x.Strategies[3].Correct, 1e-12)
		}
		assert.InDelta(t, float64(e.Classes), all, 1e-9)
		assert.InDelta(t, float64(e.PopulationUniques), alone, 1e-9)
		assert.InDelta(t, f.SampleUniques, uniqueInSample, 1e-9)
		assert.InDelta(t, truth, aloneInBoth, 1e-9)
		for _, m := range f.FileMeasures {
			if m.Operator == "mc3" {
				require.NotNil(t, m.Coverage.Mean, m.Measure)
				inside := 0.0
				for _, x := range of[f.Fraction] {
					for _, y := range x.Estimates {
						if y.Operator == m.Operator && y.Measure == m.Measure && *y.Lower <= *y.Truth && *y.Truth <= *y.Upper {
							inside++
						}
					}
				}
				assert.InDelta(t, inside/float64(s.Repetitions), *m.Coverage.Mean, 1e-12)
			} else {
				assert.Nil(t, m.Coverage.Mean)
			}
		}
	}
	for _, name := range []string{"density-pu_su-0.2.svg", "density-pu-0.3.png", "density-cm_um-0.5.svg", "graph-mc3-0.2.svg", "graph-mc3-0.2.dot",
		"trace-mc3-0.2.svg", "costs.svg"} {
		assert.FileExists(t, filepath.Join("out", name))
	}
	dot, err := os.ReadFile("out/graph-mc3-0.2.dot")
	require.NoError(t, err)
	assert.Contains(t, string(dot), "graph {")
	assert.Contains(t, string(dot), `label="A"`)
}

// DIS beside the strategies is that of the sample.
func TestEvaluateShowsDIS(t *testing.T) {
	inFolder(t, map[string]string{"p.csv": populationText(drawPopulation(400))})
	s := evaluationOf(schemas.Operator{Config: &suda.Config{}})
	s.Repetitions = 3
	e, err := evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	for _, x := range e.Samples {
		var suda float64
		for _, y := range x.Estimates {
			if y.Measure == "cm_um" {
				suda = y.Value
			}
		}
		assert.InDelta(t, suda, *x.Strategies[5].Correct, 1e-12)
		assert.LessOrEqual(t, *x.Strategies[5].Correct, 1.0)
	}
}
