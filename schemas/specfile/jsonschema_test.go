package specfile_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/attribution"
	"microrisk/operators/audit"
	"microrisk/operators/individual"
	"microrisk/operators/kanonymity"
	"microrisk/operators/known"
	"microrisk/operators/ldiversity"
	"microrisk/operators/mc3"
	"microrisk/operators/protect"
	"microrisk/operators/protectrecords"
	"microrisk/operators/sap"
	"microrisk/operators/suda"
	"microrisk/operators/tabulate"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", document))
	schema, err := c.Compile("schema.json")
	require.NoError(t, err)
	return schema
}

// asJSON is a YAML text as the values of JSON, which is how an editor looks at it.
func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	converted, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(converted))
	require.NoError(t, err)
	return value
}

func TestSchemaTakesValidSpecs(t *testing.T) {
	schema := compile(t, schemas.SpecSchema())
	text, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	for name, text := range map[string][]byte{
		"full":    text,
		"written": full().YAML(),
		"small":   []byte("version: 1\nsource: {path: a.parquet}\nkey: {variables: [A]}\noperators: [suda]\n"),
		"bare":    []byte("version: 1\nsource: {path: [a.parquet, b.parquet]}\nkey: {variables: [{name: A}]}\noperators:\n  - suda:\n"),
		"table":   []byte("version: 1\nsource: {table: t.parquet, count: N}\nkey: {variables: [A]}\noperators: [suda]\nsampling: {population_size: 100}\n"),
		"weight":  []byte("version: 1\nsource: {path: '-'}\nsampling: {weight: W}\noperators: [{suda: {key: {variables: [A]}}}]\n"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := specfile.Decode(name, text)
			require.NoError(t, err)
			assert.NoError(t, schema.Validate(asJSON(t, text)))
		})
	}
}

// What the decoder refuses the schema refuses too, except for what compares one value with another.
func TestSchemaRefusesInvalidSpecs(t *testing.T) {
	// The first two compare the operators with the rest of the spec, the others have no JSON form.
	onlyDecoded := []string{"key_missing.yaml", "limits_unmeasured.yaml", "limits_unmeasured_sap.yaml", "syntax.yaml", "fraction_nan.yaml"}
	schema := compile(t, schemas.SpecSchema())
	paths, err := filepath.Glob("testdata/invalid/*.yaml")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		name := filepath.Base(path)
		if slices.Contains(onlyDecoded, name) {
			continue
		}
		assert.Error(t, schema.Validate(asJSON(t, text)), name)
	}
}

func summary() *schemas.Summary {
	dis, n, category := 0.04, 2815500.0, "18"
	key := &schemas.KeySummary{
		Variables:     []schemas.VariableSummary{{Name: "AGE", Categories: 51, Missing: 3, Policy: schemas.MissingCategory, MissingCodes: []string{"NA"}}},
		Classes:       51,
		SampleUniques: 2,
		Doubles:       0.5,
	}
	suda := &suda.Summary{
		Score:           suda.ScoreLattice,
		MaxSize:         1,
		Complete:        true,
		Threshold:       1,
		MeasuredRecords: schemas.MeasuredRecords{Records: 28155},
		Fraction:        pointer(0.01),
		DIS:             &dis,
		MSUs:            2,
		MSUsBySize:      []int64{2},
		FileScore:       3.5,
		FileIS:          7,
		Variables:       []suda.Blame{{Name: "AGE", Score: 3.5, Share: 100}},
		Categories: []suda.CategoryBlame{
			{Variable: "AGE", Category: &category, Score: 2, Share: 57.1, ShareWithin: 57.1},
			{Variable: "AGE", Category: nil, Score: 1.5, Share: 42.9, ShareWithin: 42.9},
		},
	}
	half := pointer(0.5)
	mc3 := &mc3.Summary{
		MeasuredRecords:  schemas.MeasuredRecords{Records: 28155},
		Fraction:         0.01,
		PopulationSize:   n,
		Search:           "exact",
		SearchReason:     "6 key variables",
		Estimator:        "gamma",
		PriorPrecision:   1,
		DIS:              half,
		PU:               half,
		PUSE:             half,
		PUSU:             half,
		CMUM:             half,
		CMUMDrawn:        &mc3.Drawn{SE: 0.01, Lower: 0.4, Upper: 0.6},
		CMSU:             half,
		PopulationUnique: half,
		CorrectMatches:   half,
		Reidentified:     half,
		ReidentifiedPart: half,
		Intervals:        []mc3.Interval{{Measure: mc3.LimitPU, SE: 0.1, Lower: 0.4, Upper: 0.6}},
		Halves: &mc3.Halves{Halves: 2, Uniques: 7, PUSU: mc3.Foretold{Estimate: 0.5, Observed: 0.4, SE: 0.1}, CMSU: mc3.Foretold{Estimate: 0.6, Observed: 0.5, SE: 0.1},
			Bins: []mc3.HalfBin{{Records: 7, Estimate: 0.6, Observed: 0.5}}},
		SD: &mc3.Deviations{PopulationUniques: 1, CorrectMatches: 2, Reidentifications: 3},
		Models: []mc3.ModelSummary{
			{Cliques: "[AGE SEX]", Edges: [][2]string{{"AGE", "SEX"}}, LogLikelihood: -10, Weight: 1},
		},
		EdgeProbabilities: []mc3.EdgeProbability{{Edge: [2]string{"AGE", "SEX"}, Probability: 1, SE: nil}},
		Variables: []mc3.RelativeRisk{
			{Name: "AGE", Theta: half, Tau2: half, SampleUniques: 3},
		},
		Categories: []mc3.CategoryRisk{
			{Variable: "AGE", Category: nil, CollapseTheta: half, CollapseTau2: half, SuppressTheta: half, SuppressTau2: nil, SuppressedUnique: 3},
		},
		Calibration: []mc3.CalibrationBin{{Records: 3, CorrectMatch: 0.5, PopulationUnique: 0.5, ExpectedFrequency: 2}},
		Sensitivity: []mc3.Sensitivity{
			{PriorPrecision: 1, Best: "[AGE SEX]", BestWeight: 1, PU: half, PUSU: half, CMUM: half, CMSU: half},
		},
		Baselines: []mc3.Baseline{{Name: "pitman", PU: half, PUSU: half, CMUM: nil, CMSU: nil, Note: "why"}},
		Diagnostics: mc3.Diagnostics{
			Margins:        3,
			Graphs:         2,
			Proposals:      100,
			AcceptanceRate: half,
			ESS:            half,
			RHat:           pointer(1.01),
			Unseen:         half,
			LogTotal:       half,
			Enumerated:     true,
			Draws:          10,
			Steps:          1,
			Edges:          []mc3.EdgeDiagnostics{{Edge: [2]string{"AGE", "SEX"}, RHat: half, ESS: half}},
			WorstEdge:      &mc3.WorstEdge{Edge: [2]string{"AGE", "SEX"}, RHat: half, ESS: half, SE: 0.5, Gap: 0.5},
			Returns:        pointer(int64(3)),
			Temperatures:   []float64{1, 0.5},
			SwapRates:      []float64{0.5},
			Trace:          [][]float64{{-1, -2}},
			EmptyCells:     "summed",
		},
	}
	sap := &sap.Summary{
		Known:           []int64{1},
		Tables:          3,
		MeasuredRecords: schemas.MeasuredRecords{Records: 5},
		Cells:           4,
		By:              []string{"AREA"},
		Variables:       key.Variables,
		Scheme:          "exact",
		BaseTable:       "same",
		Total:           "none",
		Margins:         []sap.MarginSummary{{Variables: []string{"AGE"}, Scheme: "exact"}},
		Exact:           true,
		Distribution: []sap.Distribution{
			{Known: 1, Zero: 1, Bands: make([]int64, 10), One: 2, Mean: 0.5, Greatest: 1},
		},
		SmallestKnown: []sap.SmallestKnown{{Known: nil, Tables: 1}, {Known: pointer(int64(2)), Tables: 2}},
		Threshold:     0.5,
		Riskiest:      []sap.TableSummary{{By: []string{"12"}, People: 5, SAP: []float64{0.5}}},
	}
	one := pointer(int64(1))
	anonymity := &kanonymity.Summary{
		MeasuredKey: schemas.MeasuredKey{Divided: &schemas.DomainSummary{By: []string{"ZONE"}, Count: 2, Rows: []schemas.DomainRow{
			{Values: []*string{nil}, Records: 5, Dropped: 1, Uniques: 2, Doubles: 0.5, Figures: map[string]*float64{"violations": half, "none": nil}},
		}}},
		MeasuredRecords:   schemas.MeasuredRecords{Records: 5},
		K:                 3,
		Smallest:          one,
		Violations:        1,
		ViolationPercent:  20,
		Combinations:      3,
		CombinationsSizes: []kanonymity.CombinationsSize{{Size: 1, Records: 2}},
	}
	diversity := &ldiversity.Summary{
		MeasuredRecords: schemas.MeasuredRecords{Records: 5},
		L:               2,
		C:               2,
		Sensitive: []ldiversity.SensitiveSummary{
			{
				Name:           "HEALTH",
				Missing:        1,
				Policy:         schemas.MissingIgnore,
				LeastDistinct:  one,
				LeastEntropy:   half,
				LeastRecursive: one,
				BelowDistinct:  1,
				BelowEntropy:   2,
				BelowRecursive: 3,
			},
		},
	}
	individual := &individual.Summary{
		MeasuredRecords:     schemas.MeasuredRecords{Records: 5},
		Fraction:            half,
		PopulationSize:      &n,
		Estimator:           "exact",
		Greatest:            half,
		Reidentified:        1,
		ReidentifiedPercent: 20,
		Household:           &individual.HouseholdSummary{Households: 3, Missing: 1, Reidentified: 2, Percent: 40},
	}
	learnt := &attribution.Summary{
		MeasuredRecords: schemas.MeasuredRecords{Records: 5},
		Fraction:        half,
		PopulationSize:  &n,
		Match:           attribution.MatchColumn,
		MatchFrom:       "mc3_correct_match",
		Values:          attribution.ValuesModel,
		Smoothing:       1,
		Sensitive: []attribution.SensitiveSummary{{Name: "HEALTH", Missing: 1, Policy: schemas.MissingIgnore, Expected: 1.5, Mean: half, Prior: half,
			Gain: pointer(-0.25), Greatest: half, Models: 3, Thresholds: []attribution.Threshold{{Above: 0.5, Records: 2}}}},
	}
	return &schemas.Summary{
		SchemaVersion: schemas.Version,
		Input:         []string{"a<b>.parquet"},
		Rows:          28155,
		Key:           key,
		Sampling:      schemas.SamplingSummary{Fraction: pointer(0.01), PopulationSize: &n},
		Operators: map[string]any{
			"suda":        suda,
			"mc3":         mc3,
			"sap":         sap,
			"tabulate":    &tabulate.Summary{Variables: key.Variables},
			"audit":       &audit.Summary{},
			"protect":     &protect.Summary{Method: "optimal", Audit: "pass"},
			"kanonymity":  anonymity,
			"ldiversity":  diversity,
			"individual":  individual,
			"attribution": learnt,
		},
		Seed:     1,
		Warnings: []string{},
		Run:      &schemas.RunSummary{ElapsedSeconds: 1, PeakMemoryBytes: 2, Workers: 2, MemoryLimit: 3, Host: "h"},
	}
}

func TestSummaryFitsItsSchema(t *testing.T) {
	schema := compile(t, schemas.SummarySchema())
	text, err := summary().MarshalIndent()
	require.NoError(t, err)
	assert.NoError(t, schema.Validate(asJSON(t, text)))
	assert.NotContains(t, string(text), "doubles\":0.5", "it is indented")

	empty, err := (&schemas.Summary{SchemaVersion: 1, Input: []string{}, Operators: map[string]any{}, Warnings: []string{}}).MarshalIndent()
	require.NoError(t, err)
	assert.NoError(t, schema.Validate(asJSON(t, empty)))
	assert.Error(t, schema.Validate(asJSON(t, bytes.Replace(text, []byte(`"rows"`), []byte(`"row"`), 1))))
}

// Every field of the summary's types is in its schema, and the other way round.
func TestSummarySchemaKnowsTheFields(t *testing.T) {
	schema := string(schemas.SummarySchema())
	types := []any{
		schemas.Summary{},
		schemas.KeySummary{},
		schemas.DomainSummary{},
		schemas.DomainRow{},
		schemas.VariableSummary{},
		schemas.SamplingSummary{},
		schemas.LimitSummary{},
		schemas.RunSummary{},
		suda.Summary{},
		suda.Blame{},
		suda.CategoryBlame{},
		mc3.Summary{},
		mc3.EffectsSummary{},
		mc3.FrequencyRow{},
		mc3.Deviations{},
		mc3.Drawn{},
		mc3.Interval{},
		mc3.Halves{},
		mc3.Foretold{},
		mc3.HalfBin{},
		mc3.ModelSummary{},
		mc3.EdgeProbability{},
		mc3.EdgeDiagnostics{},
		mc3.WorstEdge{},
		mc3.RelativeRisk{},
		mc3.CategoryRisk{},
		mc3.CalibrationBin{},
		mc3.Sensitivity{},
		mc3.Baseline{},
		mc3.Diagnostics{},
		sap.Summary{},
		sap.Distribution{},
		sap.SmallestKnown{},
		sap.TableSummary{},
		protect.Summary{},
		protectrecords.Summary{},
		protectrecords.Variable{},
		protectrecords.Measures{},
		protectrecords.Release{},
		protectrecords.Level{},
		protectrecords.Recounted{},
		audit.Summary{},
		tabulate.Summary{},
		kanonymity.Summary{},
		kanonymity.CombinationsSize{},
		ldiversity.Summary{},
		ldiversity.SensitiveSummary{},
		known.Summary{},
		individual.Summary{},
		individual.HouseholdSummary{},
		attribution.Summary{},
		attribution.SensitiveSummary{},
		attribution.Threshold{},
	}
	known := map[string]bool{}
	for _, x := range types {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(x)) {
			if f.Anonymous || !f.IsExported() {
				continue // its fields follow, or no document has it
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				continue // no document has it
			}
			known[name] = true
			assert.Contains(t, schema, `"`+name+`": `, "%T.%s", x, f.Name)
		}
	}
	var walk func(v any)
	walk = func(v any) {
		m, ok := v.(map[string]any)
		if !ok {
			if list, ok := v.([]any); ok {
				for _, x := range list {
					walk(x)
				}
			}
			return
		}
		if p, ok := m["properties"].(map[string]any); ok {
			for name, property := range p {
				assert.True(t, known[name], "the schema has %s, no type has", name)
				assert.NotEmpty(t, property.(map[string]any)["description"], "%s is not described", name)
			}
		}
		for _, x := range m {
			walk(x)
		}
	}
	var document any
	require.NoError(t, json.Unmarshal(schemas.SummarySchema(), &document))
	walk(document)
}

// Whoever gets an output gets nothing of what is not in it.
func TestReleased(t *testing.T) {
	s := summary()
	s.Input, s.Warnings = []string{"/secret/place/people.parquet"}, []string{"a row 17 of /secret/place"}
	s.Operators["mc3"].(*mc3.Summary).ModelFrom = "/secret/place/model.json"
	s.Limits = []schemas.LimitSummary{{Limit: "dis", Value: 0.04, Allowed: 1, Records: 28155}}
	spec := &schemas.Spec{
		Source:  schemas.Source{Path: []string{"/secret/place/people.parquet"}},
		Key:     &schemas.Key{Variables: []schemas.KeyVariable{{Name: "AGE"}}},
		Sink:    schemas.Sink{Path: "/secret/out"},
		Summary: "/secret/s",
		Sampling: &schemas.Sampling{
			Fraction: 0.01,
		},
		Operators: []schemas.Operator{
			{Config: &suda.Config{}},
			{Config: &mc3.Config{ModelOut: "/secret/m"}},
			{Config: &tabulate.Config{Path: "/secret/t.csv"}},
		},
	}
	shown := map[string]bool{}
	for name := range s.Operators {
		shown[name] = true
	}
	text := func(v schemas.View) string {
		v.Rows, v.Sampling, v.Spec = 7, spec.Sampling, spec
		r, err := s.Released(v)
		require.NoError(t, err)
		footer, err := r.Footer()
		require.NoError(t, err)
		assert.NotContains(t, string(footer), "secret")
		assert.NotContains(t, string(footer), "row 17")
		assert.Contains(t, string(footer), `"rows":7`)
		assert.NoError(t, compile(t, schemas.SummarySchema()).Validate(asJSON(t, footer)))
		return string(footer)
	}
	whole := text(schemas.View{Whole: true, Shown: shown})
	for _, has := range []string{`"input":["people.parquet"]`, `"category":"18"`, `"limit":"dis"`, `"spec":{"version":1`, `"sample_uniques":2`} {
		assert.Contains(t, whole, has)
	}
	shown["suda"] = false
	some := text(schemas.View{Whole: true, Shown: shown})
	assert.NotContains(t, some, `"category":"18"`)
	assert.NotContains(t, some, `"key":{"variables"`)
	assert.Contains(t, some, `"mc3":{`)
	none := text(schemas.View{Shown: map[string]bool{"suda": true, "mc3": true}})
	assert.Equal(
		t,
		`{"schema_version":1,"input":["people.parquet"],"rows":7,"sampling":{"fraction":0.01,"population_size":null},"operators":{},"seed":1,"warnings":[]}`,
		none,
	)
}

func TestFooter(t *testing.T) {
	s := summary()
	for range 50 {
		s.Warnings = append(s.Warnings, `a "warning" <with> marks`)
	}
	s.Operators["suda"].(*suda.Summary).MSUsBySize = make([]int64, 30)
	footer, err := s.Footer()
	require.NoError(t, err)
	assert.NotContains(t, string(footer), "\n")
	var back schemas.Summary
	require.NoError(t, json.Unmarshal(footer, &back))
	assert.Nil(t, back.Run)
	assert.NotNil(t, s.Run, "the document itself keeps it")
	assert.Len(t, back.Warnings, 20)
	assert.Equal(t, `a "warning" <with> marks`, back.Warnings[19])
	assert.Equal(t, []string{"a<b>.parquet"}, back.Input)
	assert.Len(t, back.Operators["suda"].(map[string]any)["msus_by_size"], 20)
	assert.Equal(t, s.Key, back.Key)
	assert.NoError(t, compile(t, schemas.SummarySchema()).Validate(asJSON(t, footer)))
}
