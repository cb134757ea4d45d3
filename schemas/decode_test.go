package schemas

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pointer[T any](v T) *T { return &v }

// full is a spec that says everything there is to say; testdata/full.yaml is its text.
func full() *Spec {
	return &Spec{
		AllowEmpty: true,
		ID:         "PERSON",
		Source:     Source{Path: []string{"part1.csv", "part2.csv"}, Format: "csv", Types: map[string]string{"PLZ": "string"}, Delimiter: ";"},
		Sampling:   &Sampling{Fraction: 0.01},
		Key: &Key{
			Variables: []KeyVariable{
				{Name: "AGE5"}, {Name: "SEX"}, {Name: "2019"},
				{Name: "MSTATUS", Missing: MissingWildcard, MissingCodes: []string{"-9", ""}},
				{Name: "TENURE", Levels: []string{"01", "NO", "1e3", "true", "rent"}},
			},
			Missing: MissingDrop, MissingCodes: []string{"", "NA", "-9"},
		},
		Operators: []Operator{
			{Recode: []Recode{
				{Name: "AGE5", From: "AGE", Width: 5, Origin: 1},
				{Name: "SEX", Replace: true, Keep: pointer(false), Map: map[string]string{"1": "m", "2": "f", "9": ""}, Other: pointer("")},
				{Name: "AREA", From: "PLZ", Truncate: 2},
				{Name: "INCOME4", From: "INCOME", Cuts: []float64{-0.5, 0, 20000}, Keep: pointer(false)},
				{Name: "HH", From: "HHSIZE", Bottom: pointer(1.0), Top: pointer(6.0)},
			}},
			{Select: &Select{Rows: []Condition{
				{Column: "part", Values: []string{"train"}}, {Column: "AGE", Min: pointer("16"), Max: pointer("64")}, {Column: "ZONE", Values: []string{"007"}},
			}, Columns: []string{"AGE", "SEX"}, KeepRows: true}},
			{Suda: &Suda{Contributions: true, MSUs: true, Force: true, Replace: true, Score: ScoreFactorial, MaxSize: 4, Threshold: 2}},
			{Suda: &Suda{Prefix: "small", Missing: MissingIgnore, Key: &Key{Variables: []KeyVariable{{Name: "SEX"}, {Name: "AREA"}}}}},
			{Frequency: &FrequencyOperator{Prefix: "coarse", Missing: MissingWildcard, Replace: true, Key: &Key{Variables: []KeyVariable{{Name: "AREA"}}}}},
			{Frequency: &FrequencyOperator{}},
			{KAnonymity: &KAnonymity{Prefix: "few", K: 5, Combinations: 2, Force: true, Replace: true, Missing: MissingIgnore, Key: &Key{Variables: []KeyVariable{{Name: "SEX"}, {Name: "AREA"}}}}},
			{KAnonymity: &KAnonymity{}},
			{LDiversity: &LDiversity{Prefix: "diverse", Sensitive: []KeyVariable{{Name: "HEALTH"}, {Name: "INCOME4", Missing: MissingCategory, MissingCodes: []string{"-1"}}}, L: 3, C: 0.5, Replace: true, Missing: MissingDrop}},
			{Individual: &Individual{Prefix: "bf", Household: "HID", Estimator: "approximate", Missing: MissingCategory, Replace: true}},
			{MC3: &MC3{Prefix: "bayes", Missing: MissingDrop, PriorPrecision: []float64{1, 0.02, 50}, Search: "mc3", Weights: "visits", EdgePenalty: 0.5,
				BurnIn: pointer(0), Iterations: pointer(20000), Thinning: pointer(20), Chains: pointer(2), Temperatures: pointer(1), Moves: "clique",
				Estimator: "montecarlo", PosteriorDraws: pointer(500), CellDraws: pointer(1000), Baselines: true, RelativeRisk: true,
				Ordinal: []string{"AGE5"}, ModelOut: "model.json", Replace: true}},
			{MC3: &MC3{Prefix: "window", Missing: MissingCategory, Search: "occam", Window: pointer(0.05), Directions: "both", Razor: true}},
			{MC3: &MC3{Prefix: "cooled", Missing: MissingCategory, Search: "anneal", Schedule: "thesis", Restarts: pointer(3)}},
			{MC3: &MC3{Prefix: "said", Missing: MissingCategory, Search: "fixed", Graph: "[AGE5 SEX]", PriorPrecision: []float64{2}, Estimator: "poisson", SetMatch: true}},
			{MC3: &MC3{Prefix: "drawn", Missing: MissingCategory, Search: "exact", Draws: pointer(100)}},
			{SAP: &SAP{Prefix: "attribution", By: []KeyVariable{{Name: "AREA"}, {Name: "ZONE", Levels: []string{"1", "2"}}}, Cells: []KeyVariable{{Name: "SEX"}, {Name: "HEALTH", Levels: []string{"good", "bad"}, MissingCodes: []string{"9"}}},
				Missing: MissingDrop, Release: Release{Perturbation: Perturbation{Scheme: "conventional", Base: 4, Tie: "even"}, BaseTable: "exact", Total: "same", Margins: []Margin{{Variables: []string{"SEX"}}, {[]string{"HEALTH"}, &Perturbation{Scheme: "random", Base: 3, Probability: pointer(0.75)}}}},
				Known: []int64{2, 5, 10}, Impossible: []map[string]string{{"SEX": "m", "HEALTH": "good"}, {"SEX": "1"}}, Threshold: pointer(0.9), Tables: "tables.parquet", Replace: true}},
			{SAP: &SAP{Prefix: "a1", Cells: []KeyVariable{{Name: "SEX"}}, Known: []int64{1}, Release: Release{Perturbation: Perturbation{Scheme: "matrix", Matrix: [][]Outcome{{{0, 1}}, {{0, 0.5}, {2, 0.5}}}, Secret: "key.bin"}}}},
			{SAP: &SAP{Prefix: "a2", By: []KeyVariable{{Name: "AREA"}}, Cells: []KeyVariable{{Name: "SEX"}}, Known: []int64{1}, Release: Release{Perturbation: Perturbation{Scheme: "small", Last: 7, Value: 4, Base: 5}, Published: "out.parquet"}}},
			{SAP: &SAP{Prefix: "a3", Cells: []KeyVariable{{Name: "SEX"}}, Known: []int64{1}, Release: Release{Perturbation: Perturbation{Scheme: "random", Base: 3, Probability: pointer(0.75)}}}},
			{Tabulate: &Tabulate{Cells: []KeyVariable{{Name: "SEX"}, {Name: "AREA"}}, Margins: true, Empty: true, Missing: MissingDrop,
				Perturb: &Perturbation{Scheme: "barnard", Probability: pointer(0.6)}, Path: "table.csv"}},
			{MC3: &MC3{Prefix: "saved", Key: &Key{Variables: []KeyVariable{{Name: "SEX"}, {Name: "AREA"}}}, ModelIn: "model.json"}},
		},
		Sink:    Sink{Path: "risk", Format: "parquet", Compression: "snappy"},
		Summary: "risk.json",
		Limits:  map[string]Limit{"sample_uniques": {Max: 1000}, "dis": {Max: 0.05, Of: LimitModelled}},
	}
}

func TestDecodeReadsEverything(t *testing.T) {
	text, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	spec, err := Decode("full.yaml", text)
	require.NoError(t, err)
	assert.Equal(t, full(), spec)
}

func TestDecodeReadsJSON(t *testing.T) {
	spec, err := Decode("spec.json", []byte(`{"version": 1, "source": {"path": "a.parquet"}, "key": {"variables": ["A", "B"]},
		"operators": [{"suda": {"max_size": 2}}]}`))
	require.NoError(t, err)
	assert.Equal(t, []KeyVariable{{Name: "A"}, {Name: "B"}}, spec.Key.Variables)
	assert.Equal(t, 2, spec.Operators[0].Suda.MaxSize)
}

// A spec that is written and read again is the same spec, and writing it again gives the same text.
func TestYAMLIsReadBack(t *testing.T) {
	for name, spec := range map[string]*Spec{
		"full":  full(),
		"small": {Source: Source{Path: []string{"a b.parquet"}}, Key: &Key{Variables: []KeyVariable{{Name: "yes"}, {Name: "a: b"}, {Name: "#"}, {Name: "1.0"}}}, Operators: []Operator{{Suda: &Suda{}}}},
		"table": {Source: Source{Table: "t.parquet", Count: "N"}, Key: &Key{Variables: []KeyVariable{{Name: "A"}}}, Sampling: &Sampling{PopulationSize: 12345678901}, Operators: []Operator{{Suda: &Suda{}}}},
		"text": {Source: Source{Path: []string{"x.csv"}}, Sampling: &Sampling{Weight: "W"}, Operators: []Operator{
			{Select: &Select{Rows: []Condition{{Column: "A", Values: []string{"null", "~", " x", "\"q\"", "two\nlines", "tab\t", "ü", "-", "{", "a #b", "0x1F", "1_000"}}}}},
			{Suda: &Suda{Key: &Key{Variables: []KeyVariable{{Name: "A"}}}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			text := spec.YAML()
			again, err := Decode("again.yaml", text)
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
	valid := func() *Spec {
		return &Spec{Source: Source{Path: []string{"a.parquet"}}, Key: &Key{Variables: []KeyVariable{{Name: "A"}}}, Operators: []Operator{{Suda: &Suda{}}}}
	}
	require.NoError(t, valid().Validate())
	many := func(n int) []KeyVariable {
		list := make([]KeyVariable, n)
		for i := range list {
			list[i].Name = strings.Repeat("v", i+1)
		}
		return list
	}
	for name, c := range map[string]struct {
		change func(s *Spec)
		want   string
	}{
		"fraction not a number": {func(s *Spec) { s.Sampling = &Sampling{Fraction: math.NaN()} }, "the sampling fraction is NaN; it must be above 0 and at most 1"},
		"fraction negative":     {func(s *Spec) { s.Sampling = &Sampling{Fraction: -0.1} }, "the sampling fraction is -0.1; it must be above 0 and at most 1"},
		"empty sampling":        {func(s *Spec) { s.Sampling = &Sampling{} }, "sampling says nothing; give one of fraction, population_size and weight"},
		"empty key":             {func(s *Spec) { s.Key.Variables = nil }, "the key has no variables; name the columns by which a record could be recognised"},
		"64 variables":          {func(s *Spec) { s.Key.Variables = many(64) }, ""},
		"65 variables":          {func(s *Spec) { s.Key.Variables = many(65) }, "the key has 65 variables; at most 64 can be counted"},
		"28 variables with DIS": {func(s *Spec) { s.Key.Variables, s.Sampling = many(28), &Sampling{Fraction: 1} }, "DIS-IS is defined for up to 27 key variables and the key has 28; take fewer, or leave sampling out"},
		"no operator":           {func(s *Spec) { s.Operators = nil }, "there are no operators; say what to do, for example: operators: [suda]"},
		"empty operator":        {func(s *Spec) { s.Operators = []Operator{{}} }, "an operator is empty; name one of recode, select, suda, frequency, mc3, sap, tabulate, kanonymity, ldiversity, individual"},
		"no source":             {func(s *Spec) { s.Source = Source{} }, "there is no source; say what to read: source: {path: FILE}"},
		"width not finite": {func(s *Spec) {
			s.Operators = append(s.Operators, Operator{Recode: []Recode{{Name: "B", From: "A", Width: math.Inf(1)}}})
		}, "width is +Inf; it must be above 0"},
		"limit not a number": {func(s *Spec) { s.Limits = map[string]Limit{"dis": {Max: math.NaN()}} }, "the limit dis is NaN; it must be 0 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := valid()
			c.change(s)
			err := s.Validate()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var wrong *SpecError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, c.want, err.Error())
		})
	}
}

func TestNearest(t *testing.T) {
	known := []string{"AGE", "SEX", "EDUCATION", "suda"}
	for name, want := range map[string]string{"age": "AGE", "SXE": "SEX", "EDUCATON": "EDUCATION", "sudda": "suda", "income": "", "": ""} {
		assert.Equal(t, want, Nearest(name, known), name)
	}
}
