package schemas

import (
	"bytes"
	"encoding/json"
	"maps"
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
	schema := compile(t, SpecSchema())
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
			_, err := Decode(name, text)
			require.NoError(t, err)
			assert.NoError(t, schema.Validate(asJSON(t, text)))
		})
	}
}

// What the decoder refuses the schema refuses too, except for what compares one value with another.
func TestSchemaRefusesInvalidSpecs(t *testing.T) {
	// The first two compare the operators with the rest of the spec, the others have no JSON form.
	onlyDecoded := []string{"key_missing.yaml", "limits_unmeasured.yaml", "limits_unmeasured_sap.yaml", "syntax.yaml", "fraction_nan.yaml"}
	schema := compile(t, SpecSchema())
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

// The decoder's fields are those of the schema, name by name.
func TestSchemaKnowsTheDecodersFields(t *testing.T) {
	var document struct {
		Properties map[string]any
		Defs       map[string]json.RawMessage `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(SpecSchema(), &document))
	properties := func(def string) []string {
		var d struct {
			Properties map[string]any
			AnyOf      []struct{ Properties map[string]any } `json:"anyOf"`
		}
		require.NoError(t, json.Unmarshal(document.Defs[def], &d), def)
		for _, alternative := range d.AnyOf {
			if d.Properties == nil {
				d.Properties = alternative.Properties
			}
		}
		return slices.Sorted(maps.Keys(d.Properties))
	}
	names := func(fields []field) []string {
		var list []string
		for _, f := range fields {
			list = append(list, f.name)
		}
		slices.Sort(list)
		return list
	}
	version := int64(0)
	assert.Equal(t, names(specFields(&Spec{}, &version)), slices.Sorted(maps.Keys(document.Properties)))
	for def, fields := range map[string][]field{
		"source": sourceFields(&Source{}), "sampling": samplingFields(&Sampling{}), "key": keyFields(&Key{}), "key_variable": keyVariableFields(&KeyVariable{}),
		"operator": operatorFields(&Operator{}), "recode": recodeFields(&Recode{}), "select": selectFields(&Select{}), "range": conditionFields(&Condition{}),
		"suda": sudaFields(&Suda{}), "frequency": frequencyFields(&FrequencyOperator{}), "mc3": mc3Fields(&MC3{}), "sap": sapFields(&SAP{}), "release": releaseFields(&Release{}), "margin": marginFields(&Margin{Perturb: &Perturbation{}}), "tabulate": tabulateFields(&Tabulate{}), "perturb": perturbationFields(&Perturbation{}), "sink": sinkFields(&Sink{}),
	} {
		assert.Equal(t, names(fields), properties(def), def)
	}
	assert.Equal(t, slices.Sorted(slices.Values(LimitNames)), properties("limits"))
	for def, words := range map[string][]string{"format": Formats, "missing": MissingPolicies} {
		var d struct{ Enum []string }
		require.NoError(t, json.Unmarshal(document.Defs[def], &d))
		assert.Equal(t, words, d.Enum, def)
	}
}

func summary() *Summary {
	dis, n, category := 0.04, 2815500.0, "18"
	key := &KeySummary{Variables: []VariableSummary{{Name: "AGE", Categories: 51, Missing: 3, Policy: MissingCategory, MissingCodes: []string{"NA"}}}, Classes: 51, SampleUniques: 2, Doubles: 0.5}
	suda := &SudaSummary{Score: ScoreLattice, MaxSize: 1, Complete: true, Threshold: 1, Records: 28155, Fraction: pointer(0.01), DIS: &dis, MSUs: 2, MSUsBySize: []int64{2},
		FileScore: 3.5, FileIS: 7, Variables: []Blame{{"AGE", 3.5, 100}}, Categories: []CategoryBlame{{"AGE", &category, 2, 57.1, 57.1}, {"AGE", nil, 1.5, 42.9, 42.9}}}
	half := pointer(0.5)
	mc3 := &MC3Summary{Records: 28155, Fraction: 0.01, PopulationSize: n, Search: "exact", SearchReason: "6 key variables", Estimator: "gamma", PriorPrecision: 1, DIS: half, PU: half,
		PUSE: half, PUSU: half, CMUM: half, CMUMDrawn: &MC3Drawn{0.01, 0.4, 0.6}, CMSU: half, PopulationUnique: half, CorrectMatches: half, Reidentified: half, ReidentifiedPart: half, SD: &MC3Deviations{1, 2, 3},
		Models: []ModelSummary{{"[AGE SEX]", [][2]string{{"AGE", "SEX"}}, -10, 1}}, EdgeProbabilities: []EdgeProbability{{[2]string{"AGE", "SEX"}, 1, nil}},
		Variables: []RelativeRisk{{"AGE", half, half, 3}}, Categories: []CategoryRisk{{"AGE", nil, half, half, half, nil, 3}}, Calibration: []CalibrationBin{{3, 0.5, 0.5, 2}},
		Sensitivity: []Sensitivity{{1, "[AGE SEX]", 1, half, half, half, half}}, Baselines: []Baseline{{"pitman", half, half, nil, nil, "why"}},
		Diagnostics: MC3Diagnostics{Margins: 3, Graphs: 2, Proposals: 100, AcceptanceRate: half, ESS: half, RHat: pointer(1.01), Unseen: half, LogTotal: half, Enumerated: true,
			Draws: 10, Steps: 1, Edges: []EdgeDiagnostics{{[2]string{"AGE", "SEX"}, half, half}}, WorstEdge: &WorstEdge{[2]string{"AGE", "SEX"}, half, half, 0.5, 0.5}, Returns: pointer(int64(3)), Temperatures: []float64{1, 0.5}, SwapRates: []float64{0.5}, Trace: [][]float64{{-1, -2}}, EmptyCells: "summed"}}
	sap := &SAPSummary{Known: []int64{1}, Tables: 3, Records: 5, Cells: 4, By: []string{"AREA"}, Variables: key.Variables, Scheme: "exact", BaseTable: "same", Total: "none", Margins: []SAPMargin{{[]string{"AGE"}, "exact"}}, Exact: true,
		Distribution: []SAPDistribution{{1, 1, make([]int64, 10), 2, 0.5, 1}}, SmallestKnown: []SmallestKnown{{nil, 1}, {pointer(int64(2)), 2}}, Threshold: 0.5,
		Riskiest: []SAPTable{{[]string{"12"}, 5, []float64{0.5}}}}
	one := pointer(int64(1))
	anonymity := &KAnonymitySummary{Records: 5, K: 3, Smallest: one, Violations: 1, ViolationPercent: 20, Combinations: 3, CombinationsSizes: []CombinationsSize{{1, 2}}}
	diversity := &LDiversitySummary{Records: 5, L: 2, C: 2, Sensitive: []SensitiveSummary{{"HEALTH", 1, MissingIgnore, one, half, one, 1, 2, 3}}}
	individual := &IndividualSummary{Records: 5, Fraction: half, PopulationSize: &n, Estimator: "exact", Greatest: half, Reidentified: 1, ReidentifiedPercent: 20, Household: &HouseholdSummary{3, 1, 2, 40}}
	return &Summary{SchemaVersion: Version, Input: []string{"a<b>.parquet"}, Rows: 28155, Key: key, Sampling: SamplingSummary{Fraction: pointer(0.01), PopulationSize: &n},
		Operators: map[string]any{"suda": suda, "mc3": mc3, "sap": sap, "tabulate": &TabulateSummary{Variables: key.Variables},
			"kanonymity": anonymity, "ldiversity": diversity, "individual": individual}, Seed: 1, Warnings: []string{}, Run: &RunSummary{ElapsedSeconds: 1, PeakMemoryBytes: 2, Workers: 2, MemoryLimit: 3, Host: "h"}}
}

func TestSummaryFitsItsSchema(t *testing.T) {
	schema := compile(t, SummarySchema())
	text, err := summary().MarshalIndent()
	require.NoError(t, err)
	assert.NoError(t, schema.Validate(asJSON(t, text)))
	assert.NotContains(t, string(text), "doubles\":0.5", "it is indented")

	empty, err := (&Summary{SchemaVersion: 1, Input: []string{}, Operators: map[string]any{}, Warnings: []string{}}).MarshalIndent()
	require.NoError(t, err)
	assert.NoError(t, schema.Validate(asJSON(t, empty)))
	assert.Error(t, schema.Validate(asJSON(t, bytes.Replace(text, []byte(`"rows"`), []byte(`"row"`), 1))))
}

// Every field of the summary's types is in its schema, and the other way round.
func TestSummarySchemaKnowsTheFields(t *testing.T) {
	schema := string(SummarySchema())
	types := []any{Summary{}, KeySummary{}, VariableSummary{}, SamplingSummary{}, LimitSummary{}, RunSummary{}, SudaSummary{}, Blame{}, CategoryBlame{},
		MC3Summary{}, MC3Deviations{}, MC3Drawn{}, ModelSummary{}, EdgeProbability{}, EdgeDiagnostics{}, WorstEdge{}, RelativeRisk{}, CategoryRisk{}, CalibrationBin{}, Sensitivity{}, Baseline{}, MC3Diagnostics{}, SAPSummary{}, SAPDistribution{}, SmallestKnown{}, SAPTable{}, TabulateSummary{},
		KAnonymitySummary{}, CombinationsSize{}, LDiversitySummary{}, SensitiveSummary{}, IndividualSummary{}, HouseholdSummary{}}
	known := map[string]bool{}
	for _, x := range types {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(x)) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
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
	require.NoError(t, json.Unmarshal(SummarySchema(), &document))
	walk(document)
}

// Whoever gets an output gets nothing of what is not in it.
func TestReleased(t *testing.T) {
	s := summary()
	s.Input, s.Warnings = []string{"/secret/place/people.parquet"}, []string{"a row 17 of /secret/place"}
	s.Operators["mc3"].(*MC3Summary).ModelFrom = "/secret/place/model.json"
	s.Limits = []LimitSummary{{Limit: "dis", Value: 0.04, Allowed: 1, Records: 28155}}
	spec := &Spec{Source: Source{Path: []string{"/secret/place/people.parquet"}}, Key: &Key{Variables: []KeyVariable{{Name: "AGE"}}}, Sink: Sink{Path: "/secret/out"}, Summary: "/secret/s",
		Sampling: &Sampling{Fraction: 0.01}, Operators: []Operator{{Suda: &Suda{}}, {MC3: &MC3{ModelOut: "/secret/m"}}, {Tabulate: &Tabulate{Path: "/secret/t.csv"}}}}
	shown := map[string]bool{}
	for name := range s.Operators {
		shown[name] = true
	}
	text := func(v View) string {
		v.Rows, v.Sampling, v.Spec = 7, spec.Sampling, spec
		r, err := s.Released(v)
		require.NoError(t, err)
		footer, err := r.Footer()
		require.NoError(t, err)
		assert.NotContains(t, string(footer), "secret")
		assert.NotContains(t, string(footer), "row 17")
		assert.Contains(t, string(footer), `"rows":7`)
		assert.NoError(t, compile(t, SummarySchema()).Validate(asJSON(t, footer)))
		return string(footer)
	}
	whole := text(View{Whole: true, Shown: shown})
	for _, has := range []string{`"input":["people.parquet"]`, `"category":"18"`, `"limit":"dis"`, `"spec":{"version":1`, `"sample_uniques":2`} {
		assert.Contains(t, whole, has)
	}
	shown["suda"] = false
	some := text(View{Whole: true, Shown: shown})
	assert.NotContains(t, some, `"category":"18"`)
	assert.NotContains(t, some, `"key":{"variables"`)
	assert.Contains(t, some, `"mc3":{`)
	none := text(View{Shown: map[string]bool{"suda": true, "mc3": true}})
	assert.Equal(t, `{"schema_version":1,"input":["people.parquet"],"rows":7,"sampling":{"fraction":0.01,"population_size":null},"operators":{},"seed":1,"warnings":[]}`, none)
}

func TestFooter(t *testing.T) {
	s := summary()
	for range 50 {
		s.Warnings = append(s.Warnings, `a "warning" <with> marks`)
	}
	s.Operators["suda"].(*SudaSummary).MSUsBySize = make([]int64, 30)
	footer, err := s.Footer()
	require.NoError(t, err)
	assert.NotContains(t, string(footer), "\n")
	var back Summary
	require.NoError(t, json.Unmarshal(footer, &back))
	assert.Nil(t, back.Run)
	assert.NotNil(t, s.Run, "the document itself keeps it")
	assert.Len(t, back.Warnings, 20)
	assert.Equal(t, `a "warning" <with> marks`, back.Warnings[19])
	assert.Equal(t, []string{"a<b>.parquet"}, back.Input)
	assert.Len(t, back.Operators["suda"].(map[string]any)["msus_by_size"], 20)
	assert.Equal(t, s.Key, back.Key)
	assert.NoError(t, compile(t, SummarySchema()).Validate(asJSON(t, footer)))
}
