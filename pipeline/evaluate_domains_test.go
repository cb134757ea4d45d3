package pipeline

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	judging "microrisk/engine/evaluate"
	"microrisk/operators/mc3"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// What is said of a domain is true of the sample uniques of its records, counted by hand.
func TestEvaluateDomains(t *testing.T) {
	rows := drawPopulation(400)
	for i, r := range rows {
		if i%17 == 0 {
			r[3] = ""
		}
	}
	inFolder(t, map[string]string{"p.csv": populationText(rows)})
	people, domains := map[string]int{}, map[string][4]float64{}
	for _, r := range rows {
		people[strings.Join(r[:3], ",")]++
	}
	for n := range 3 {
		selector, err := judging.NewSelector([]int64{400}, judging.Design{Fraction: .2}, 5, uint64(n))
		require.NoError(t, err)
		var sample [][]string
		counts := map[string]int{}
		for _, r := range rows {
			if selector.Take(0) {
				sample = append(sample, r)
				counts[strings.Join(r[:3], ",")]++
			}
		}
		for _, r := range sample {
			d, k := domains[r[3]], strings.Join(r[:3], ",")
			d[0]++
			if counts[k] == 1 {
				d[1]++
				d[3] += 1 / float64(people[k])
				if people[k] == 1 {
					d[2]++
				}
			}
			domains[r[3]] = d
		}
	}
	run := func(o session.Options) *evaluate.Evaluation {
		s := evaluationOf(schemas.Operator{Config: &suda.Config{}}, schemas.Operator{Config: &mc3.Config{}})
		s.By, s.Out, o.Seed = []string{"R"}, "out", 5
		e, err := evaluate.Run(t.Context(), s, o)
		require.NoError(t, err)
		return e
	}
	e := run(session.Options{Workers: 2})
	f := e.Fractions[0]
	require.Len(t, f.Domains, len(domains))
	estimate, uniques := 0.0, 0.0
	for _, d := range f.Domains {
		name := ""
		if d.Values[0] != nil {
			name = *d.Values[0]
		}
		want := domains[name]
		require.InDelta(t, want[0]/3, d.Records, 1e-9, name)
		require.InDelta(t, want[1]/3, d.SampleUniques, 1e-9, name)
		require.InDelta(t, want[2]/3, d.PopulationUniques, 1e-9, name)
		for _, s := range d.Scores {
			switch s.Name {
			case "mc3_correct_match":
				require.InDelta(t, want[3]/3, *s.Truth.Mean, 1e-9)
				require.InDelta(t, *s.Estimate.Mean-*s.Truth.Mean, *s.Bias.Mean, 1e-9)
				estimate += *s.Estimate.Mean
			case "mc3_population_unique":
				require.InDelta(t, want[2]/3, *s.Truth.Mean, 1e-9)
			case "suda_score":
				require.Nil(t, s.Truth.Mean)
				require.NotNil(t, s.AUC.Mean)
			}
		}
		uniques += d.SampleUniques
	}
	require.InDelta(t, f.SampleUniques, uniques, 1e-9)
	whole := 0.0
	for _, sample := range e.Samples {
		for _, x := range sample.Estimates {
			if x.Measure == "cm_su" {
				whole += x.Value * float64(sample.Truth.SampleUniques) / 3
			}
		}
	}
	require.InDelta(t, whole, estimate, 1e-9, "CM|SU of the file is what all domains have together")
	first, err := os.ReadFile("out/domains.parquet")
	require.NoError(t, err)
	document, err := os.ReadFile("out/evaluation.json")
	require.NoError(t, err)
	require.Equal(t, f, run(session.Options{Workers: 1}).Fractions[0])
	again, err := os.ReadFile("out/domains.parquet")
	require.NoError(t, err)
	require.Equal(t, first, again)
	other, err := os.ReadFile("out/evaluation.json")
	require.NoError(t, err)
	require.Equal(t, string(document), string(other))
}

func TestEvaluateDomainsWithStrataAndChoices(t *testing.T) {
	inFolder(t, map[string]string{"p.csv": populationText(drawPopulation(400))})
	s := evaluationOf(schemas.Operator{Config: &selection.Config{Rows: []selection.Condition{{Column: "R", Values: []string{"a", "b"}}}}},
		schemas.Operator{Config: &suda.Config{}})
	s.By, s.Stratify = []string{"R", "B"}, "R"
	e, err := evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	require.Len(t, e.Fractions[0].Domains, 6, "of the rows that are chosen")
	records := 0.0
	for _, d := range e.Fractions[0].Domains {
		records += d.Records
	}
	require.InDelta(t, e.Fractions[0].Records, records, 1e-9)
}

func TestEvaluateDomainsRefused(t *testing.T) {
	rows := drawPopulation(1500)
	inFolder(t, map[string]string{"p.csv": populationText(rows)})
	refused := func(why string, by []string, c mc3.Config) {
		s := evaluationOf(schemas.Operator{Config: &c})
		s.By = by
		_, err := evaluate.Run(t.Context(), s, session.Options{})
		require.ErrorContains(t, err, why)
	}
	refused("by is an empty list", []string{}, mc3.Config{})
	refused(`"r"; did you mean "R"?`, []string{"r"}, mc3.Config{})
	refused("score is the name of a column", []string{"score"}, mc3.Config{})
	refused("put the columns of by into the key", nil, mc3.Config{MeasureOptions: schemas.MeasureOptions{By: []string{"R"}}, Fit: mc3.FitEach})
	for i, r := range rows {
		r[4] = strings.Repeat("h", i%40) + r[3] + strings.Repeat("i", i/40)
	}
	inFolder(t, map[string]string{"p.csv": populationText(rows)})
	refused("at most 1000 are judged", []string{"H"}, mc3.Config{})

	s := evaluationOf(schemas.Operator{Config: &mc3.Config{MeasureOptions: schemas.MeasureOptions{By: []string{"B"}}, Fit: mc3.FitEach}})
	_, err := evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err, "domains that the key tells apart")
}
