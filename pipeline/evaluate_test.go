package pipeline

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	judging "microrisk/engine/evaluate"
	"microrisk/operators/individual"
	"microrisk/operators/mc3"
	"microrisk/operators/recode"
	"microrisk/operators/sap"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// drawPopulation makes a population of three key variables, a region and a household.
func drawPopulation(rows int) [][]string {
	r := rand.New(rand.NewPCG(uint64(rows), 12))
	list := make([][]string, rows)
	for i := range list {
		list[i] = []string{fmt.Sprint(int(math.Abs(r.NormFloat64() * 5))), fmt.Sprint(r.IntN(3)), fmt.Sprint(r.IntN(r.IntN(6) + 1)),
			string(rune('a' + r.IntN(4))), fmt.Sprint("h", i/3)}
	}
	return list
}

func populationText(rows [][]string) string {
	text := "A,B,C,R,H\n"
	for _, r := range rows {
		text += strings.Join(r, ",") + "\n"
	}
	return text
}

func evaluationOf(op ...schemas.Operator) evaluate.Spec {
	return evaluate.Spec{Spec: &schemas.Spec{Source: schemas.Source{Path: []string{"p.csv"}},
		Key: &schemas.Key{Variables: []schemas.KeyVariable{{Name: "A"}, {Name: "B"}, {Name: "C"}}}, Operators: op}, Fractions: []float64{.2}, Repetitions: 3}
}

// A sample of the evaluation is assessed by itself, and its scores are judged by all pairs.
func TestEvaluateAgainstAssess(t *testing.T) {
	rows := drawPopulation(400)
	inFolder(t, map[string]string{"p.csv": populationText(rows)})
	s := evaluationOf(schemas.Operator{Config: &suda.Config{}}, schemas.Operator{Config: &mc3.Config{}}, schemas.Operator{Config: &individual.Config{}})
	s.Out = "out"
	e, err := evaluate.Run(t.Context(), s, session.Options{Seed: 5})
	require.NoError(t, err)
	require.Len(t, e.Samples, 3)
	people := map[string]int{}
	for _, r := range rows {
		people[strings.Join(r[:3], ",")]++
	}
	for n, sample := range e.Samples {
		selector, err := judging.NewSelector([]int64{400}, judging.Design{Fraction: .2}, 5, uint64(n))
		require.NoError(t, err)
		text := "A,B,C\n"
		var keys []string
		counts := map[string]int{}
		for _, r := range rows {
			if selector.Take(0) {
				k := strings.Join(r[:3], ",")
				text += k + "\n"
				keys = append(keys, k)
				counts[k]++
			}
		}
		require.Len(t, keys, 80)
		require.NoError(t, os.WriteFile("s.csv", []byte(text), 0o600))
		o, err := Run(
			t.Context(),
			&schemas.Spec{Source: schemas.Source{Path: []string{"s.csv"}}, Key: s.Spec.Key, Sampling: &schemas.Sampling{PopulationSize: 400},
				Operators: s.Spec.Operators, Sink: schemas.Sink{Path: "r.csv"}},
			session.Options{},
		)
		require.NoError(t, err)
		m := o.Summary.Operators["mc3"].(*mc3.Summary)
		for _, x := range sample.Estimates {
			if x.Operator == "mc3" && x.Measure == "cm_su" {
				assert.Equal(t, *m.CMSU, x.Value)
			}
		}
		out := table(t, "r.csv")
		unique, both, sum := 0, 0, 0.0
		for _, k := range keys {
			if counts[k] == 1 {
				unique++
				sum += 1 / float64(people[k])
				if people[k] == 1 {
					both++
				}
			}
		}
		assert.EqualValues(t, unique, sample.Truth.SampleUniques)
		assert.EqualValues(t, both, sample.Truth.UniqueInBoth)
		assert.InDelta(t, sum, sample.Truth.CorrectMatches, 1e-12)
		for k, score := range e.Fractions[0].Scores {
			column := -1
			for c, name := range out[0] {
				if name == score.Name {
					column = c
				}
			}
			require.GreaterOrEqual(t, column, 0, score.Name)
			wins, pairs := 0.0, 0.0
			for i, a := range keys {
				for j, b := range keys {
					if counts[a] != 1 || counts[b] != 1 || people[a] != 1 || people[b] == 1 {
						continue
					}
					x, y := number(t, out[1+i][column]), number(t, out[1+j][column])
					pairs++
					if x > y {
						wins++
					} else if x == y {
						wins += .5
					}
				}
			}
			if pairs == 0 {
				assert.Nil(t, sample.AUC[k])
				continue
			}
			assert.InDelta(t, wins/pairs, *sample.AUC[k], 1e-12, score.Name)
		}
	}
	for _, name := range []string{"evaluation.json", "plots.parquet", "roc-0.2.svg", "logit-rank-0.2.png", "calibration-match-0.2.svg", "calibration-unique-0.2.svg", "match-mc3_correct_match-0.2.png"} {
		assert.FileExists(t, filepath.Join("out", name))
	}
	var document map[string]any
	require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join("out", "evaluation.json"))), &document))
	assert.Contains(t, document, "fractions")
}

func number(t *testing.T, text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return v
}

// The same bytes for any workers, batches, and numbers of samples that fit in memory at once.
func TestEvaluateIsTheSame(t *testing.T) {
	inFolder(t, map[string]string{"p.csv": populationText(drawPopulation(900))})
	s := evaluationOf(schemas.Operator{Config: &suda.Config{}}, schemas.Operator{Config: &mc3.Config{Search: "fixed", Graph: "independence"}})
	s.Fractions = []float64{.1, .3, .5}
	s.Pictures = []string{"svg"}
	s.Out = "one"
	_, err := evaluate.Run(t.Context(), s, session.Options{Workers: 1})
	require.NoError(t, err)
	s.Out = "two"
	_, err = evaluate.Run(t.Context(), s, session.Options{Workers: 3, Batch: 7, Memory: 200_000})
	require.NoError(t, err)
	names, err := os.ReadDir("one")
	require.NoError(t, err)
	require.Greater(t, len(names), 8)
	for _, n := range names {
		assert.Equal(t, read(t, filepath.Join("one", n.Name())), read(t, filepath.Join("two", n.Name())), n.Name())
	}
}

// Strata are drawn each by itself, the smallest one too; households as a whole.
func TestEvaluateDesigns(t *testing.T) {
	rows := drawPopulation(300)
	for i := range rows {
		rows[i][3] = []string{"big", "small"}[min(1, i/280)]
	}
	rows[299][3] = "one"
	inFolder(t, map[string]string{"p.csv": populationText(rows)})
	s := evaluationOf(schemas.Operator{Config: &suda.Config{}})
	s.Stratify = "R"
	e, err := evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	for _, sample := range e.Samples {
		assert.EqualValues(t, 56+4+1, sample.Truth.Records, "a fifth of 280 and of 19, and the stratum of one")
	}
	s.Stratify, s.Household = "", "H"
	e, err = evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	for _, sample := range e.Samples {
		assert.EqualValues(t, 3*20, sample.Truth.Records)
	}
	s.Bernoulli = true
	e, err = evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	assert.Contains(t, e.Design, "Bernoulli")
	for _, sample := range e.Samples {
		assert.Zero(t, sample.Truth.Records%3)
	}
	// Rows that are not chosen are not in the population; recodes are seen by all.
	s = evaluationOf(schemas.Operator{Config: &selection.Config{Rows: []selection.Condition{{Column: "R", Values: []string{"small"}}}}},
		schemas.Operator{Config: &recode.Config{{Name: "A", Replace: true, Width: 3}}}, schemas.Operator{Config: &suda.Config{}})
	e, err = evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 19, e.Rows)
	for _, sample := range e.Samples {
		assert.EqualValues(t, 4, sample.Truth.Records)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *evaluate.Spec)
		want   string
		spec   bool
	}{
		"no fraction": {func(s *evaluate.Spec) { s.Fractions = nil }, "needs a sampling fraction", true},
		"all":         {func(s *evaluate.Spec) { s.Fractions = []float64{1} }, "all of a population is no sample", true},
		"twice":       {func(s *evaluate.Spec) { s.Fractions = []float64{.1, .1} }, "twice", true},
		"sampling":    {func(s *evaluate.Spec) { s.Spec.Sampling = &schemas.Sampling{Fraction: .1} }, "leave sampling out", true},
		"no key":      {func(s *evaluate.Spec) { s.Spec.Key = nil }, "needs key variables", true},
		"nothing":     {func(s *evaluate.Spec) { s.Spec.Operators = nil }, "nothing to judge", true},
		"sap": {func(s *evaluate.Spec) {
			s.Spec.Operators = []schemas.Operator{{Config: &sap.Config{}}}
		}, "sap has no score", true},
		"own key": {func(s *evaluate.Spec) {
			s.Spec.Operators[0].Config.(*suda.Config).Key = &schemas.Key{Variables: []schemas.KeyVariable{{Name: "A"}}}
		}, "a key of its own", true},
		"wildcard":    {func(s *evaluate.Spec) { s.Spec.Key.Missing = "wildcard" }, "category or drop", true},
		"score":       {func(s *evaluate.Spec) { s.Scores = []string{"mc3_correct_match"} }, "no operator writes", true},
		"design":      {func(s *evaluate.Spec) { s.Stratify, s.Household = "R", "H" }, "choose one", true},
		"stratum":     {func(s *evaluate.Spec) { s.Stratify = "Q" }, `no column "Q"`, true},
		"column":      {func(s *evaluate.Spec) { s.Spec.Key.Variables[0].Name = "X" }, `no column "X"`, true},
		"top":         {func(s *evaluate.Spec) { s.Top = []int64{0} }, "at least 1", true},
		"pictures":    {func(s *evaluate.Spec) { s.Pictures = []string{"pdf"} }, "svg and png, or none", true},
		"no pictures": {func(s *evaluate.Spec) { s.Pictures = []string{"svg", "none"} }, "none, or of the other kinds", true},
		"is a file":   {func(s *evaluate.Spec) { s.Out = "p.csv" }, "is a file", true},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, map[string]string{"p.csv": populationText(drawPopulation(40))})
			s := evaluationOf(schemas.Operator{Config: &suda.Config{}})
			s.Out = "out"
			c.change(&s)
			_, err := evaluate.Run(t.Context(), s, session.Options{})
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, c.spec, session.IsSpec(err))
			assert.NoDirExists(t, "out")
		})
	}
	inFolder(t, map[string]string{"empty.csv": "A,B,C,R,H\n"})
	s := evaluationOf(schemas.Operator{Config: &suda.Config{}})
	s.Spec.Source.Path = []string{"empty.csv"}
	_, err := evaluate.Run(t.Context(), s, session.Options{})
	require.ErrorContains(t, err, "no record")
}

// A population without any sample unique, or without any population unique, has nothing to rank: that is no error.
func TestEvaluateWithoutUniques(t *testing.T) {
	inFolder(t, map[string]string{"p.csv": "A,B,C\n" + strings.Repeat("1,1,1\n1,2,2\n", 60)})
	s := evaluationOf(schemas.Operator{Config: &suda.Config{}}, schemas.Operator{Config: &mc3.Config{}})
	s.Out, s.Pictures = "out", []string{"svg"}
	e, err := evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	for _, score := range e.Fractions[0].Scores {
		assert.Nil(t, score.AUC.Mean)
		assert.Nil(t, score.Slope.Mean)
	}
	for _, s := range e.Fractions[0].Strategies[:2] {
		assert.Nil(t, s.Correct.Mean, "0/0 is no chance")
		assert.Zero(t, s.Correct.Samples)
	}
	for _, m := range e.Fractions[0].FileMeasures {
		if m.Measure == "cm_um" {
			assert.Nil(t, m.Bias.Mean)
		}
	}
	assert.FileExists(t, filepath.Join("out", "evaluation.json"))
}

// Figures are over the samples that have them, found by name; samples without a record are left out.
func TestEvaluateOfFewRecords(t *testing.T) {
	inFolder(t, map[string]string{"p.csv": populationText(drawPopulation(40))})
	s := evaluationOf(schemas.Operator{Config: &suda.Config{}}, schemas.Operator{Config: &mc3.Config{}})
	s.Fractions, s.Bernoulli, s.Repetitions = []float64{.03}, true, 40
	e, err := evaluate.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	require.Less(t, len(e.Samples), 40)
	assert.NotEmpty(t, e.Warnings)
	unique := 0
	for _, sample := range e.Samples {
		if sample.Truth.SampleUniques > 0 {
			unique++
		}
	}
	for _, m := range e.Fractions[0].FileMeasures {
		switch m.Measure {
		case "expected_reidentifications":
			assert.Equal(t, len(e.Samples), m.Bias.Samples)
		case "cm_su":
			assert.Equal(t, unique, m.Bias.Samples)
		}
	}
	assert.Equal(t, unique, e.Fractions[0].Strategies[0].Correct.Samples)
}
