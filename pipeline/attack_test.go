package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	strategy "microrisk/engine/attack"
	"microrisk/pipeline/attack"
	"microrisk/pipeline/divergence"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

func attackOf(names ...string) attack.Spec {
	key := &schemas.Key{MissingCodes: []string{""}}
	for _, n := range names {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: n})
	}
	return attack.Spec{Sample: &schemas.Spec{Source: schemas.Source{Path: []string{"sample.csv"}}, Key: key}, Population: []string{"population.csv"}}
}

// The shared cases, from file to file.
func TestAttackCases(t *testing.T) {
	cases, err := filepath.Abs("../engine/attack/testdata")
	require.NoError(t, err)
	dirs, err := filepath.Glob(filepath.Join(cases, "attack-*"))
	require.NoError(t, err)
	require.Len(t, dirs, 5)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var params struct {
				R   int64
				Key []string `json:"key_variables"`
			}
			type number struct{ Value float64 }
			var want struct {
				Strategies map[string]struct {
					Correct number `json:"pr_cm"`
					Cost    number `json:"cost_without"`
				}
			}
			for name, to := range map[string]any{"params.json": &params, "expected.json": &want} {
				text, err := os.ReadFile(filepath.Join(dir, name))
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(text, to))
			}
			t.Chdir(t.TempDir())
			for _, name := range []string{"sample.csv", "population.csv"} {
				text, err := os.ReadFile(filepath.Join(dir, name))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(name, text, 0o600))
			}
			s := attackOf(params.Key...)
			s.Frequency, s.Out = params.R, "attacks.csv"
			o, err := attack.Run(t.Context(), s, session.Options{})
			require.NoError(t, err)
			for _, row := range o.Strategies {
				w := want.Strategies[strconv.Itoa(row.Strategy.Number)]
				assert.InDelta(t, w.Correct.Value, row.Known.Correct, 1e-9)
				assert.InDelta(t, w.Cost.Value, row.Known.CostWithout, 1e-9*(1+w.Cost.Value))
			}
			// What is estimated of all sample uniques are the file-level measures of the model.
			if o.Expected.SampleUniques > 0 {
				assert.InDelta(t, o.Expected.CMSU, o.Strategies[3].Estimated.Correct, 1e-12)
				assert.InDelta(t, o.Expected.CMUM, o.Strategies[4].Estimated.Correct, 1e-12)
			}
			last := o.Frontier[len(o.Frontier)-2:]
			assert.InDelta(t, o.Strategies[2].Known.Correct, last[0].Known.Correct, 1e-12, "all classes of the sample")
			assert.InDelta(t, o.Strategies[2].Estimated.CostWith, last[0].Estimated.CostWith, 1e-9)
			assert.InDelta(t, o.Strategies[0].Known.Correct, last[1].Known.Correct, 1e-12)
			lines := strings.Split(strings.TrimSpace(read(t, "attacks.csv")), "\n")
			assert.Len(t, lines, 1+2*(7+len(o.Frontier)))

			s.KnownOnly = true
			known, err := attack.Run(t.Context(), s, session.Options{})
			require.NoError(t, err)
			assert.Nil(t, known.Expected)
			for i, row := range known.Strategies {
				assert.Equal(t, o.Strategies[i].Known, row.Known)
			}
			s.KnownOnly, s.Population = false, nil
			s.Sample.Sampling = &schemas.Sampling{PopulationSize: o.Known.People}
			alone, err := attack.Run(t.Context(), s, session.Options{Workers: 1})
			require.NoError(t, err)
			assert.Nil(t, alone.Known)
			for i, row := range alone.Frontier {
				assert.Equal(t, o.Frontier[i].Estimated, row.Estimated)
			}
		})
	}
}

// What is considered at a cost is what the expected frequencies say.
func TestAttackAtACost(t *testing.T) {
	inFolder(t, map[string]string{
		"population.csv": "A,B\n" + strings.Repeat("a,x\n", 30) + strings.Repeat("a,y\n", 12) + "b,x\nb,y\nc,y\nc,y\n",
		"sample.csv":     "A,B\n" + strings.Repeat("a,x\n", 8) + strings.Repeat("a,y\n", 3) + "b,y\nc,y\n",
	})
	s := attackOf("A", "B")
	s.Cost, s.Ranking = 5, "expected"
	o, err := attack.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	first := o.Affordable[0]
	assert.Equal(t, strategy.PopulationToSample, first.Strategy.Direction)
	assert.LessOrEqual(t, o.People/first.People, 5.0)
	s.Cost = o.People/first.People - 1e-6 // just too dear for as many
	more, err := attack.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	assert.Equal(t, first.Classes+1, more.Affordable[0].Classes)
}

func TestAttackRefuses(t *testing.T) {
	population := "A,B\na,x\na,x\nb,y\nb,x\n"
	for name, c := range map[string]struct {
		sample string
		change func(s *attack.Spec)
		want   string
		spec   bool
	}{
		"larger":      {"A,B\na,x\na,x\nb,y\nb,x\nb,x\n", nil, "the sample has 5 records, the population 4", false},
		"too many":    {"A,B\nb,y\nb,y\n", nil, "more records than the population people, such as A = b, B = y", false},
		"unknown":     {"A,B\nc,y\na,y\na,x\n", nil, "2 of the sample's 3 key combinations are not in the population, such as A = a, B = y", false},
		"no column":   {"A,C\na,x\n", nil, `sample: key: there is no column "B"`, true},
		"population?": {"A,B\na,x\n", func(s *attack.Spec) { s.Population = nil }, "nothing is said of the population", true},
		"both":        {"A,B\na,x\n", func(s *attack.Spec) { s.Sample.Sampling = &schemas.Sampling{Fraction: .5} }, "leave the sampling fraction", true},
		"frequency":   {"A,B\na,x\n", func(s *attack.Spec) { s.Frequency = -1 }, "at least 1", true},
		"ranking":     {"A,B\na,x\n", func(s *attack.Spec) { s.Ranking = "f" }, "match or expected", true},
		"cost":        {"A,B\na,x\n", func(s *attack.Spec) { s.Cost = .5 }, "it must be at least 1 person", true},
		"wildcard":    {"A,B\na,x\n", func(s *attack.Spec) { s.Sample.Key.Missing = "wildcard" }, "missing: category or drop", true},
		"output":      {"A,B\na,x\n", func(s *attack.Spec) { s.Out = "x.txt" }, "cannot tell the format", true},
		"over input":  {"A,B\na,x\n", func(s *attack.Spec) { s.Out = "population.csv" }, "population.csv", true},
		"stdin":       {"A,B\na,x\n", func(s *attack.Spec) { s.Sample.Source.Path, s.Population = []string{"-"}, []string{"-"} }, "can only be read once", true},
		"no key":      {"A,B\na,x\n", func(s *attack.Spec) { s.Sample.Key = nil }, "needs key variables", true},
		"nothing": {"A,B\na,x\n", func(s *attack.Spec) {
			s.KnownOnly, s.Population, s.Sample.Sampling = true, nil, &schemas.Sampling{Fraction: .1}
		}, "nothing to tell", true},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, map[string]string{"sample.csv": c.sample, "population.csv": population})
			s := attackOf("A", "B")
			s.Out = "out.csv"
			if c.change != nil {
				c.change(&s)
			}
			_, err := attack.Run(t.Context(), s, session.Options{})
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, c.spec, session.IsSpec(err))
			assert.NoFileExists(t, "out.csv")
		})
	}
}

// A sample without records is no error: it has nothing to attack.
func TestAttackOfNobody(t *testing.T) {
	inFolder(t, map[string]string{"sample.csv": "A,B\n", "population.csv": "A,B\na,x\nb,y\n"})
	o, err := attack.Run(t.Context(), attackOf("A", "B"), session.Options{})
	require.NoError(t, err)
	assert.NotEmpty(t, o.Warnings)
	for _, row := range o.Strategies {
		assert.Equal(t, 0.0, row.Known.Correct)
	}
}

// With drop, records that are left out were sampled from people who are left out too: the fraction is that of all.
func TestAttackOfDropped(t *testing.T) {
	inFolder(t, map[string]string{
		"population.csv": "A,B\n" + strings.Repeat("a,x\n", 30) + strings.Repeat("a,\n", 10),
		"sample.csv":     "A,B\n" + strings.Repeat("a,x\n", 15) + strings.Repeat("a,\n", 5),
	})
	s := attackOf("A", "B")
	s.Sample.Key.Missing = schemas.MissingDrop
	o, err := attack.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 15, o.Records)
	assert.Equal(t, 30.0, o.People)
	assert.InDelta(t, 30, o.Strategies[2].Estimated.CostWith*o.Frontier[0].People, 1e-9, "one class of all kept people")
	assert.Equal(t, 1.0, o.Strategies[2].Estimated.CostWith)
}

// Chosen classes are attacked by themselves: those that a strategy would consider give its figures, known and estimated.
func TestAttackOnChosenClasses(t *testing.T) {
	population, sample, uniques := "A,B\n", "A,B\n", "A,B\n"
	for i := range 60 {
		row := fmt.Sprintf("%d,%d\n", i%7, i%4)
		population += row
		if i%5 == 0 {
			sample += row
		}
	}
	inFolder(t, map[string]string{"p.csv": population, "s.csv": sample})
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{"s.csv"}}, Key: keyOf("A", "B")}
	whole, err := attack.Run(t.Context(), attack.Spec{Sample: spec, Population: []string{"p.csv"}}, session.Options{})
	require.NoError(t, err)
	seen := map[string]int{}
	for line := range strings.Lines(sample[4:]) {
		seen[line]++
	}
	for line, n := range seen {
		if n == 1 {
			uniques += line
		}
	}
	require.NoError(t, os.WriteFile("u.csv", []byte(uniques), 0o666))
	o, err := attack.Run(t.Context(), attack.Spec{Sample: spec, Population: []string{"p.csv"}, Classes: []string{"u.csv"}, Out: "a.csv"}, session.Options{})
	require.NoError(t, err)
	require.Len(t, o.Chosen, 2)
	for _, row := range o.Chosen {
		for _, s := range whole.Strategies {
			if s.Strategy.Considers != "sample uniques" || s.Strategy.Direction != row.Strategy.Direction {
				continue
			}
			require.Equal(t, *s.Known, *row.Known)
			require.InDelta(t, s.Estimated.Correct, row.Estimated.Correct, 1e-12)
			require.InDelta(t, s.Estimated.CostWith, row.Estimated.CostWith, 1e-9)
		}
	}
	require.Contains(t, read(t, "a.csv"), "chosen,chosen,")
	require.NoError(t, os.WriteFile("u.csv", []byte("A,B\n99,1\n"), 0o666))
	_, err = attack.Run(t.Context(), attack.Spec{Sample: spec, Population: []string{"p.csv"}, Classes: []string{"u.csv"}}, session.Options{})
	require.ErrorContains(t, err, "population has no record with A = 99, B = 1")
	require.NoError(t, os.WriteFile("u.csv", []byte("A,B\n"), 0o666))
	_, err = attack.Run(t.Context(), attack.Spec{Sample: spec, Population: []string{"p.csv"}, Classes: []string{"u.csv"}}, session.Options{})
	require.ErrorContains(t, err, "chosen classes: u.csv has no rows: give one row for each class to attack")
}

// Errors of values, from files: those of rate 0 change nothing, others are as the engine has them.
func TestAttackWithErrors(t *testing.T) {
	inFolder(t, map[string]string{"sample.csv": "S,A\nm,1\nm,2\nf,2\n", "population.csv": "S,A\nm,1\nm,2\nm,2\nf,2\nf,2\nf,2\n"})
	s := attackOf("S", "A")
	s.KnownOnly = true
	want, err := attack.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	rates := []float64{0, 0, .1, .2}
	s.Errors = []divergence.Rate{{Name: "S", Rate: &rates[0]}, {Name: "A", Rate: &rates[1]}}
	same, err := attack.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	require.Equal(t, want, same)
	s.Errors = []divergence.Rate{{Name: "S", Rate: &rates[2]}, {Name: "A", Rate: &rates[3]}}
	o, err := attack.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	require.InDelta(t, .72, o.Agree, 1e-12)
	classes := []strategy.Class{{Sample: 1, Population: 3}, {Sample: 1, Population: 1}, {Sample: 1, Population: 2}}
	for i, each := range strategy.Strategies(2) {
		got := o.Strategies[i].Known
		require.InDelta(t, each.ResultWithErrors(classes, .72).Correct, got.Correct, 1e-12)
		require.InDelta(t, each.ResultWithErrors(classes, .72).CostWith, got.CostWith, 1e-9)
	}
}
