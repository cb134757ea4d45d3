package specfile_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/attribution"
	_ "microrisk/operators/builtin"
	"microrisk/operators/frequency"
	"microrisk/operators/individual"
	"microrisk/operators/kanonymity"
	"microrisk/operators/known"
	"microrisk/operators/ldiversity"
	"microrisk/operators/mc3"
	"microrisk/operators/recode"
	"microrisk/operators/sap"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
	"microrisk/operators/tabulate"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

func pointer[T any](v T) *T { return &v }

// full is a spec that says everything there is to say; testdata/full.yaml is its text.
func full() *schemas.Spec {
	return &schemas.Spec{
		AllowEmpty: true,
		ID:         "PERSON",
		Source:     schemas.Source{Path: []string{"part1.csv", "part2.csv"}, Format: "csv", Types: map[string]string{"PLZ": "string"}, Delimiter: ";"},
		Sampling:   &schemas.Sampling{Fraction: 0.01},
		Key: &schemas.Key{
			Variables: []schemas.KeyVariable{
				{Name: "AGE5"}, {Name: "SEX"}, {Name: "2019"},
				{Name: "MSTATUS", Missing: schemas.MissingWildcard, MissingCodes: []string{"-9", ""}},
				{Name: "TENURE", Levels: []string{"01", "NO", "1e3", "true", "rent"}},
			},
			Missing: schemas.MissingDrop, MissingCodes: []string{"", "NA", "-9"},
		},
		Operators: []schemas.Operator{
			{Config: &recode.Config{
				{Name: "AGE5", From: "AGE", Width: 5, Origin: 1},
				{Name: "SEX", Replace: true, Keep: pointer(false), Map: map[string]string{"1": "m", "2": "f", "9": ""}, Other: pointer("")},
				{Name: "AREA", From: "PLZ", Truncate: 2},
				{Name: "INCOME4", From: "INCOME", Cuts: []float64{-0.5, 0, 20000}, Keep: pointer(false)},
				{Name: "HH", From: "HHSIZE", Bottom: pointer(1.0), Top: pointer(6.0)},
			}},
			{Config: &selection.Config{Rows: []selection.Condition{
				{Column: "part", Values: []string{"train"}}, {Column: "AGE", Min: pointer("16"), Max: pointer("64")}, {Column: "ZONE", Values: []string{"007"}},
			}, Columns: []string{"AGE", "SEX"}, KeepRows: true}},
			{Config: &suda.Config{
				MeasureOptions: schemas.MeasureOptions{
					Replace: true, By: []string{"ZONE", "SEX"}, Domains: "domains.csv",
				}, Contributions: true, MSUs: true, Force: true, Score: suda.ScoreFactorial, MaxSize: 4, Threshold: 2,
			}},
			{
				Config: &suda.Config{
					MeasureOptions: schemas.MeasureOptions{
						Prefix:  "small",
						Missing: schemas.MissingIgnore,
						Key:     &schemas.Key{Variables: []schemas.KeyVariable{{Name: "SEX"}, {Name: "AREA"}}},
					},
				},
			},
			{
				Config: &frequency.Config{
					MeasureOptions: schemas.MeasureOptions{
						Prefix:  "coarse",
						Missing: schemas.MissingWildcard,
						Replace: true,
						Key:     &schemas.Key{Variables: []schemas.KeyVariable{{Name: "AREA"}}},
					},
				},
			},
			{Config: &frequency.Config{}},
			{
				Config: &kanonymity.Config{
					MeasureOptions: schemas.MeasureOptions{
						Prefix:  "few",
						Replace: true,
						Missing: schemas.MissingIgnore,
						Key:     &schemas.Key{Variables: []schemas.KeyVariable{{Name: "SEX"}, {Name: "AREA"}}},
					}, K: 5, Combinations: 2, Force: true,
				},
			},
			{Config: &kanonymity.Config{}},
			{
				Config: &ldiversity.Config{
					MeasureOptions: schemas.MeasureOptions{
						Prefix:  "diverse",
						Replace: true,
						Missing: schemas.MissingDrop,
					}, Sensitive: []schemas.KeyVariable{{Name: "HEALTH"}, {Name: "INCOME4", Missing: schemas.MissingCategory, MissingCodes: []string{"-1"}}}, L: 3, C: 0.5,
				},
			},
			{Config: &attribution.Config{
				MeasureOptions: schemas.MeasureOptions{Prefix: "learnt", Missing: schemas.MissingDrop, Replace: true},
				Sensitive:      []schemas.KeyVariable{{Name: "HEALTH"}, {Name: "INCOME4", Missing: schemas.MissingCategory}},
				Match:          "MATCHED", Smoothing: pointer(2.5), Thresholds: []float64{0.25, 0.75},
				Values: attribution.ValuesModel, Model: mc3.Config{Search: "fixed", Graph: "saturated", PriorPrecision: []float64{2}},
			}},
			{Config: &individual.Config{
				MeasureOptions: schemas.MeasureOptions{Prefix: "bf", Missing: schemas.MissingCategory, Replace: true, By: []string{"ZONE"}}, Household: "HID", Estimator: "approximate",
			}},
			{
				Config: &mc3.Config{
					MeasureOptions: schemas.MeasureOptions{
						Prefix:  "bayes",
						Missing: schemas.MissingDrop,
						Replace: true,
					}, PriorPrecision: []float64{1, 0.02, 50}, Search: "mc3", Weights: "visits", EdgePenalty: 0.5, BurnIn: pointer(0), Iterations: pointer(20000), Thinning: pointer(20), Chains: pointer(2), Temperatures: pointer(1), Moves: "clique", Estimator: "montecarlo", PosteriorDraws: pointer(500), CellDraws: pointer(1000), Baselines: true, RelativeRisk: true, Ordinal: []string{"AGE5"}, ModelOut: "model.json",
				},
			},
			{Config: &mc3.Config{
				MeasureOptions: schemas.MeasureOptions{
					Prefix:  "window",
					Missing: schemas.MissingCategory,
				}, Search: "occam", Window: pointer(0.05), Directions: "both", Razor: true,
			}},
			{Config: &mc3.Config{
				MeasureOptions: schemas.MeasureOptions{Prefix: "cooled", Missing: schemas.MissingCategory}, Search: "anneal", Schedule: "thesis", Restarts: pointer(3),
			}},
			{
				Config: &mc3.Config{
					MeasureOptions: schemas.MeasureOptions{
						Prefix:  "said",
						Missing: schemas.MissingCategory,
					}, Search: "fixed", Graph: "[AGE5 SEX]", PriorPrecision: []float64{2}, Estimator: "poisson", SetMatch: true,
				},
			},
			{Config: &mc3.Config{MeasureOptions: schemas.MeasureOptions{Prefix: "drawn", Missing: schemas.MissingCategory}, Search: "exact", Draws: pointer(100)}},
			{
				Config: &sap.Config{
					Prefix:  "attribution",
					By:      []schemas.KeyVariable{{Name: "AREA"}, {Name: "ZONE", Levels: []string{"1", "2"}}},
					Cells:   []schemas.KeyVariable{{Name: "SEX"}, {Name: "HEALTH", Levels: []string{"good", "bad"}, MissingCodes: []string{"9"}}},
					Missing: schemas.MissingDrop,
					Release: sap.Release{
						Perturbation: schemas.Perturbation{Scheme: "conventional", Base: 4, Tie: "even"},
						BaseTable:    "exact",
						Total:        "same",
						Margins: []sap.Margin{
							{Variables: []string{"SEX"}},
							{Variables: []string{"HEALTH"}, Perturb: &schemas.Perturbation{Scheme: "random", Base: 3, Probability: pointer(0.75)}},
						},
					},
					Known: []int64{
						2,
						5,
						10,
					},
					Impossible: []map[string]string{{"SEX": "m", "HEALTH": "good"}, {"SEX": "1"}},
					Threshold:  pointer(0.9),
					Tables:     "tables.parquet",
					Replace:    true,
				},
			},
			{
				Config: &sap.Config{
					Prefix: "a1",
					Cells:  []schemas.KeyVariable{{Name: "SEX"}},
					Known:  []int64{1},
					Release: sap.Release{
						Perturbation: schemas.Perturbation{
							Scheme: "matrix",
							Matrix: [][]schemas.Outcome{{{Count: 0, Probability: 1}}, {{Count: 0, Probability: 0.5}, {Count: 2, Probability: 0.5}}},
							Secret: "key.bin",
						},
					},
				},
			},
			{
				Config: &sap.Config{
					Prefix:  "a2",
					By:      []schemas.KeyVariable{{Name: "AREA"}},
					Cells:   []schemas.KeyVariable{{Name: "SEX"}},
					Known:   []int64{1},
					Release: sap.Release{Perturbation: schemas.Perturbation{Scheme: "small", Last: 7, Value: 4, Base: 5}, Published: "out.parquet"},
				},
			},
			{
				Config: &sap.Config{
					Prefix:  "a3",
					Cells:   []schemas.KeyVariable{{Name: "SEX"}},
					Known:   []int64{1},
					Release: sap.Release{Perturbation: schemas.Perturbation{Scheme: "random", Base: 3, Probability: pointer(0.75)}},
				},
			},
			{Config: &tabulate.Config{Cells: []schemas.KeyVariable{{Name: "SEX"}, {Name: "AREA"}}, Margins: true, Empty: true, Missing: schemas.MissingDrop,
				Perturb: &schemas.Perturbation{Scheme: "barnard", Probability: pointer(0.6)}, Path: "table.csv"}},
			{Config: &mc3.Config{
				MeasureOptions: schemas.MeasureOptions{
					Prefix: "saved",
					Key:    &schemas.Key{Variables: []schemas.KeyVariable{{Name: "SEX"}, {Name: "AREA"}}},
				}, ModelIn: "model.json", Known: []known.Table{
					{Path: []string{"a.csv", "b.csv"}, Count: "n", Absent: "hidden", Suppressed: []string{"<5"}, Totals: []string{"all"},
						Scheme: schemas.Perturbation{Scheme: "conventional", Base: 3}},
					{Path: []string{"c.parquet"}},
				},
			}},
		},
		Sink:    schemas.Sink{Path: "risk", Format: "parquet", Compression: "snappy"},
		Summary: "risk.json",
		Limits:  map[string]schemas.Limit{"sample_uniques": {Max: 1000}, "dis": {Max: 0.05, Of: schemas.LimitModelled}},
	}
}

func TestDecodeReadsEverything(t *testing.T) {
	text, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	spec, err := specfile.Decode("full.yaml", text)
	require.NoError(t, err)
	assert.Equal(t, full(), spec)
}

func TestDecodeReadsJSON(t *testing.T) {
	spec, err := specfile.Decode("spec.json", []byte(`{"version": 1, "source": {"path": "a.parquet"}, "key": {"variables": ["A", "B"]},
		"operators": [{"suda": {"max_size": 2}}]}`))
	require.NoError(t, err)
	assert.Equal(t, []schemas.KeyVariable{{Name: "A"}, {Name: "B"}}, spec.Key.Variables)
	assert.Equal(t, 2, spec.Operators[0].Config.(*suda.Config).MaxSize)
}

// A spec that is written and read again is the same spec, and writing it again gives the same text.
func TestYAMLIsReadBack(t *testing.T) {
	for name, spec := range map[string]*schemas.Spec{
		"full": full(),
		"small": {
			Source:    schemas.Source{Path: []string{"a b.parquet"}},
			Key:       &schemas.Key{Variables: []schemas.KeyVariable{{Name: "yes"}, {Name: "a: b"}, {Name: "#"}, {Name: "1.0"}}},
			Operators: []schemas.Operator{{Config: &suda.Config{}}},
		},
		"table": {
			Source: schemas.Source{Table: "t.parquet", Count: "N"}, Key: &schemas.Key{Variables: []schemas.KeyVariable{{Name: "A"}}},
			Sampling: &schemas.Sampling{PopulationSize: 12345678901}, Operators: []schemas.Operator{{Config: &suda.Config{}}},
		},
		"text": {Source: schemas.Source{Path: []string{"x.csv"}}, Sampling: &schemas.Sampling{Weight: "W"}, Operators: []schemas.Operator{
			{
				Config: &selection.Config{Rows: []selection.Condition{{Column: "A", Values: []string{"null", "~", " x", "\"q\"", "two\n" +
					"lines", "tab\t", "ü", "-", "{", "a #b", "0x1F", "1_000"}}}},
			},
			{Config: &suda.Config{MeasureOptions: schemas.MeasureOptions{Key: &schemas.Key{Variables: []schemas.KeyVariable{{Name: "A"}}}}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			text := spec.YAML()
			again, err := specfile.Decode("again.yaml", text)
			require.NoError(t, err, "%s", text)
			assert.Equal(t, spec, again, "%s", text)
			assert.Equal(t, string(text), string(again.YAML()))
			for line := range strings.Lines(string(text)) {
				assert.LessOrEqual(t, len(line), 160, "a line is too long to be read: %s", line)
			}
		})
	}
}

func TestYAMLGolden(t *testing.T) {
	want, err := os.ReadFile("testdata/full.golden.yaml")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile("testdata/full.golden.yaml", full().YAML(), 0o644))
		return
	}
	require.NoError(t, err)
	assert.Equal(t, string(want), string(full().YAML()))
}

func TestValidateWithoutText(t *testing.T) {
	valid := func() *schemas.Spec {
		return &schemas.Spec{
			Source:    schemas.Source{Path: []string{"a.parquet"}},
			Key:       &schemas.Key{Variables: []schemas.KeyVariable{{Name: "A"}}},
			Operators: []schemas.Operator{{Config: &suda.Config{}}},
		}
	}
	require.NoError(t, valid().Validate())
	many := func(n int) []schemas.KeyVariable {
		list := make([]schemas.KeyVariable, n)
		for i := range list {
			list[i].Name = strings.Repeat("v", i+1)
		}
		return list
	}
	for name, c := range map[string]struct {
		change func(s *schemas.Spec)
		want   string
	}{
		"fraction not a number": {
			func(s *schemas.Spec) { s.Sampling = &schemas.Sampling{Fraction: math.NaN()} }, "the sampling fraction is NaN; it must be above 0 and at most 1",
		},
		"fraction negative": {
			func(s *schemas.Spec) { s.Sampling = &schemas.Sampling{Fraction: -0.1} }, "the sampling fraction is -0.1; it must be above 0 and at most 1",
		},
		"empty sampling": {
			func(s *schemas.Spec) { s.Sampling = &schemas.Sampling{} }, "sampling says nothing; give one of fraction, population_size and weight",
		},
		"empty key": {
			func(s *schemas.Spec) { s.Key.Variables = nil }, "the key has no variables; name the columns by which a record could be recognised",
		},
		"64 variables": {func(s *schemas.Spec) { s.Key.Variables = many(64) }, ""},
		"65 variables": {func(s *schemas.Spec) { s.Key.Variables = many(65) }, "the key has 65 variables; at most 64 can be counted"},
		"28 variables with DIS": {
			func(s *schemas.Spec) { s.Key.Variables, s.Sampling = many(28), &schemas.Sampling{Fraction: 1} },
			"DIS-IS is defined for up to 27 key variables and the key has 28; take fewer, or leave sampling out",
		},
		"no operator":    {func(s *schemas.Spec) { s.Operators = nil }, "there are no operators; say what to do, for example: operators: [suda]"},
		"empty operator": {func(s *schemas.Spec) { s.Operators = []schemas.Operator{{}} }, "an operator is empty; name one of {operators}"},
		"no source":      {func(s *schemas.Spec) { s.Source = schemas.Source{} }, "there is no source; say what to read: source: {path: FILE}"},
		"width not finite": {func(s *schemas.Spec) {
			s.Operators = append(s.Operators, schemas.Operator{Config: &recode.Config{{Name: "B", From: "A", Width: math.Inf(1)}}})
		}, "width is +Inf; it must be above 0"},
		"limit not a number": {func(s *schemas.Spec) { s.Limits = map[string]schemas.Limit{"dis": {Max: math.NaN()}} }, "the limit dis is NaN; it must be 0 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := valid()
			c.change(s)
			err := s.Validate()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var wrong *schemas.SpecError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, c.want, withoutLists(err.Error()))
		})
	}
}

func TestNearest(t *testing.T) {
	known := []string{"AGE", "SEX", "EDUCATION", "suda"}
	for name, want := range map[string]string{"age": "AGE", "SXE": "SEX", "EDUCATON": "EDUCATION", "sudda": "suda", "income": "", "": ""} {
		assert.Equal(t, want, schemas.Nearest(name, known), name)
	}
}
