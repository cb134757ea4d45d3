package documents_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "microrisk/operators/builtin"
	"microrisk/operators/hierarchy"
	"microrisk/operators/mc3"
	"microrisk/operators/protectrecords"
	"microrisk/operators/recode"
	"microrisk/pipeline/attack"
	"microrisk/pipeline/bounds"
	"microrisk/pipeline/divergence"
	"microrisk/pipeline/documents"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/link"
	"microrisk/pipeline/protect"
	"microrisk/pipeline/released"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

func pointer[T any](v T) *T { return &v }

// full has a spec of each verb in which all is said.
func full() map[string]schemas.Document {
	own := []released.PerturbedTable{
		{Path: "r=3.csv", Scheme: schemas.Perturbation{Scheme: "small", Base: 1, Last: 3, Value: 0}},
		{Path: "b.csv", Scheme: schemas.Perturbation{Scheme: "barnard", Probability: pointer(0.5)}},
	}
	levels := []schemas.KeyVariable{{Name: "1", Levels: []string{"01", "b", "no"}}}
	recodes := []recode.Column{
		{Name: "AGE", Width: 5, Replace: true, Keep: pointer(false)},
		{Name: "S", From: "SEX", Map: map[string]string{"1": "m", "2": ""}, Other: pointer("x")},
	}
	return map[string]schemas.Document{
		"attack": &attack.Spec{
			Errors: []divergence.Rate{{Name: "A", Rate: pointer(.05)}},
			Sample: &schemas.Spec{
				Source:     schemas.Source{Path: []string{"a.csv"}},
				Key:        &schemas.Key{Variables: []schemas.KeyVariable{{Name: "A"}, {Name: "B"}}},
				AllowEmpty: true,
				Sampling: &schemas.Sampling{
					Weight: "W",
				},
				Operators: []schemas.Operator{{Config: (*recode.Config)(&recodes)}},
			},
			Frequency: 3,
			Ranking:   "expected",
			Cost:      2.5,
			Classes:   []string{"c.csv"},
			Out:       "o.csv",
			Model:     mc3.Config{Search: "mc3", Iterations: pointer(1000)},
		},
		"bounds": &bounds.Spec{
			Tables:    []string{"a.csv", "-"},
			Exact:     []string{"b.parquet"},
			Perturbed: own,
			Method:    "sharp",
			Deadline:  90 * time.Second,
			Solver:    "embedded",
			Out:       "out.csv",
			Scheme: schemas.Perturbation{
				Scheme: "matrix",
				Matrix: [][]schemas.Outcome{{{Count: 0, Probability: 1}}, {{Count: 0, Probability: 0.5}, {Count: 2, Probability: 0.5}}},
			},
			Suppressed: []string{
				"x",
				"..",
				"<3",
				"x",
			},
			Totals: []string{"all"},
			Merged: []released.MergedCategory{{Variable: "A", Name: "young", Members: []string{"1", "2"}}},
			Levels: levels,
			Count:  true,
			List:   "list.csv",
			Most:   5,
		},
		"evaluate": &evaluate.Spec{
			Spec: &schemas.Spec{
				Source:     schemas.Source{Path: []string{"p.csv"}},
				Key:        &schemas.Key{Variables: []schemas.KeyVariable{{Name: "A"}, {Name: "B"}}},
				AllowEmpty: true,
				Operators:  []schemas.Operator{{Config: (*recode.Config)(&recodes)}, {Config: &mc3.Config{Search: "mc3"}}},
			},
			Fractions:   []float64{0.01, 0.5},
			Repetitions: 3,
			Bernoulli:   true,
			Stratify:    "R",
			Scores:      []string{"mc3_population_unique", "mc3_expected_frequency"},
			Top:         []int64{5, 10},
			By:          []string{"REGION", "SEX"},
			TopClasses:  7,
			Bins:        4,
			Pictures:    []string{"png"},
			Out:         "folder",
		},
		"link": &link.Spec{
			A:              []string{"a.csv"},
			B:              []string{"b.csv", "c.csv"},
			Further:        []string{"d.csv", "e.csv"},
			Prior:          "model",
			Model:          mc3.Config{Search: "anneal", EdgePenalty: 2},
			Posterior:      pointer(7),
			Key:            &schemas.Key{Variables: []schemas.KeyVariable{{Name: "1"}, {Name: "B", Missing: "drop"}}, MissingCodes: []string{"-9"}},
			Missing:        "drop",
			MissingCodes:   []string{"", "NA"},
			Levels:         levels,
			AllowEmpty:     true,
			Bands:          recodes,
			RecodeA:        recodes,
			RecodeB:        recodes,
			RecodeP:        recodes,
			PopulationSize: 0,
			Population:     []string{"p.csv"},
			Tables: []string{
				"t.csv",
			},
			Exact:     []string{"u.csv"},
			Sampled:   []string{"v.csv"},
			Scheme:    schemas.Perturbation{Scheme: "conventional", Base: 3},
			Perturbed: own,
			Bounds:    "tight",
			Convolve:  true,
			Out:       "l.arrow",
			Pairs:     "q.csv",
			MostPairs: 7,
		},
		"protect": &protect.Spec{
			Spec: &schemas.Spec{
				Source:     schemas.Source{Path: []string{"p.csv"}},
				Key:        &schemas.Key{Variables: []schemas.KeyVariable{{Name: "A"}, {Name: "B"}}},
				Sampling:   &schemas.Sampling{Fraction: 0.1},
				AllowEmpty: true,
				Operators:  []schemas.Operator{{Config: (*recode.Config)(&recodes)}},
			},
			Ask: protectrecords.Ask{Hierarchies: hierarchy.List{{Variable: "A", Widths: []float64{5, 10}, Origin: 2, Top: []float64{92}, Least: 1, Most: pointer(2), Weight: pointer(2.5), Cells: pointer(9)},
				{Variable: "B", File: "b.csv"}},
				Target:       protectrecords.Target{K: 3},
				Suppress:     protectrecords.SuppressCells,
				Fit:          protectrecords.FitOwn,
				Share:        new(0.5),
				Loss:         "spread",
				Checks:       70,
				Alternatives: new(1)},
			Drop:    []string{"C"},
			Means:   []string{"D", "E"},
			Release: "r.yaml",
			Out:     "r.csv",
			JSON:    "r.json",
		},
	}
}

func schemaOf(t *testing.T, v schemas.Verb) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", document))
	schema, err := c.Compile("schema.json")
	require.NoError(t, err)
	return schema
}

func valid(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	converted, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(converted))
	require.NoError(t, err)
	return s.Validate(value)
}

func decode(t *testing.T, name, text string, doc schemas.Document) error {
	t.Helper()
	root, err := specfile.Parse(name, []byte(text))
	require.NoError(t, err)
	_, err = schemas.DecodeDocument(name, root, doc, nil)
	return err
}

// A spec that is written is one that the JSON Schema takes, and read again it is the same.
func TestWrittenSpecsAreRead(t *testing.T) {
	for _, v := range documents.Verbs {
		t.Run(v.Name, func(t *testing.T) {
			spec := full()[v.Name]
			text := schemas.DocumentYAML(spec)
			again := v.New()
			require.NoError(t, decode(t, "again.yaml", string(text), again), "%s", text)
			assert.Equal(t, spec, again, "%s", text)
			assert.NoError(t, valid(t, schemaOf(t, v), text), "%s", text)
			unsaid := []string{"link.population_size", "evaluate.household", "attack.population", "attack.known_only", "link.errors",
				"link.error_rates", "link.differ", "protect.time"} // others that are said exclude them
			for _, f := range spec.Fields().Fields {
				assert.True(t, f.Said() || slices.Contains(unsaid, v.Name+"."+f.Name),
					"the test says nothing of %s", f.Name)
			}
		})
	}
}

// A number that is 0 is not taken for one of which nothing is said, where that means something else.
func TestZeroIsSaid(t *testing.T) {
	walk := func(at string, fields schemas.Table) {
		for _, f := range fields.Fields {
			where := at + "." + f.Name
			if f.Default != nil && f.Range != nil {
				zero := reflect.ValueOf(f.Default).IsZero()
				low := f.Range.Least > 0 || f.Range.Least == 0 && f.Range.Above
				list := reflect.TypeOf(f.Default).Kind() == reflect.Slice
				optional := reflect.TypeOf(f.To).Elem().Kind() == reflect.Pointer
				assert.True(t, zero || low || list || optional, "%s: 0 would become %v", where, f.Default)
			}
		}
	}
	for _, k := range schemas.Kinds() {
		if f, is := k.New().(interface{ Fields() schemas.Table }); is {
			walk(k.Name, f.Fields())
		}
	}
	for _, v := range documents.Verbs {
		walk(v.Name, v.New().Fields())
	}
}

// What is wrong is told with its place, and the JSON Schema refuses it too unless it compares values.
func TestWrongSpecsAreRefusedWithTheirPlaces(t *testing.T) {
	for _, c := range []struct {
		verb, text, want string
		compares         bool
	}{
		{"bounds", "version: 1\ntables: a.csv\nout: b.csv\nmetod: sharp\n", `s.yaml:4:1: the spec has no field "metod"; did you mean method?`, false},
		{"bounds", "tables: a.csv\nout: b.csv\n", "s.yaml:1:1: the spec has no version; its first line should be: version: 1", false},
		{"bounds", "version: 1\ntables: a.csv\nout: b.csv\nmethod: shrap\n", `s.yaml:4:1: there is no method "shrap"; it is one of auto, shuttle, sharp, frechet`, false},
		{"bounds", "version: 1\ntables: a.csv\nout: b.csv\nmost: 0\n", "s.yaml:4:1: most is 0; it must be at least 1", false},
		{"bounds", "version: 1\ntables: a.csv\nout: b.csv\nmost: 3\n", "s.yaml:4:1: most is at least 1, and of count or list", true},
		{"bounds", "version: 1\ntables: a.csv\nout: b.csv\ndeadline: soon\n", `s.yaml:4:1: deadline is "soon"; it must be a time, such as 30s or 5m`, false},
		{
			"bounds", "version: 1\ntables: a.csv\nout: b.csv\nperturb: {scheme: conventional, base: 4}\n",
			"s.yaml:4:1: the base 4 is even; say what a count in the middle of two multiples becomes: tie: up, down or even", true,
		},
		{
			"bounds", "version: 1\nout: b.csv\nperturbed:\n  - {path: a.csv, scheme: random}\n  - {scheme: none}\n",
			"s.yaml:4:5: a.csv: base is 0; random rounding needs a base from 2, such as 3 or 5\ns.yaml:5:5: a perturbed table has no path", false,
		},
		{"bounds", "version: 1\nout: b.csv\n", "s.yaml:1:1: no table is named", true},
		{
			"attack", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\n",
			"s.yaml:1:1: nothing is said of the population: name its file (population), or say how large it is (fraction, population_size or weight)", true,
		},
		{
			"attack", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\npopulation: p.csv\nranking: best\ncost: 0.5\n",
			"s.yaml:5:1: there is no ranking \"best\"; it is match or expected\ns.yaml:6:1: cost is 0.5; it must be at least 1 person", false,
		},
		{
			"attack", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\npopulation: p.csv\noperators: [suda]\n",
			"s.yaml:5:13: an attack chooses and recodes rows, and fits its model itself: leave suda out", true,
		},
		{
			"attack", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\npopulation: p.csv\nmodel: {search: quick}\n",
			"s.yaml:5:9: search \"quick\" is unknown; it is one of exact, mc3, anneal, occam, fixed", false,
		},
		{
			"evaluate", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\noperators: [suda]\nfractions: 1\n",
			"s.yaml:5:1: the sampling fraction is 1; it must be above 0 and below 1: all of a population is no sample", false,
		},
		{
			"evaluate", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\noperators: [suda]\nfractions: [0.1, 0.1]\n",
			"s.yaml:5:18: fractions 0.1 is listed twice", false,
		},
		{
			"evaluate", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\noperators: [suda]\n",
			"s.yaml:1:1: an evaluation needs a sampling fraction, such as 0.01", false,
		},
		{
			"evaluate", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\noperators: [suda]\nfractions: 0.1\nsampling: {fraction: 0.1}\n",
			"s.yaml:6:1: the spec has no field \"sampling\"; known are version, source, key, operators, allow_empty, fractions, repetitions, bernoulli, stratify, " +
				"household, scores, by, top, top_classes, bins, pictures, out",
			false,
		},
		{
			"evaluate",
			"version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\noperators: [suda, sap: {cells: [B], known: [1]}]\nfractions: 0.1\nstratify: R\nhousehold: H\n",
			"s.yaml:4:19: sap has no score of records that the population could confirm: an evaluation judges individual, kanonymity, mc3, suda\n" +
				"s.yaml:7:1: samples are stratified or of whole households; choose one",
			true,
		},
		{
			"evaluate", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\noperators: [suda]\nfractions: 0.1\nscores: [suda_scor]\ntop: 0\n",
			"s.yaml:6:10: no operator writes a score \"suda_scor\"; there are suda_score, suda_is, suda_dis_is, suda_msu_count, suda_msu_min_size\n" +
				"s.yaml:7:1: top is 0; it must be at least 1",
			false,
		},
		{
			"evaluate", "version: 1\nsource: {path: a.csv}\nkey: {variables: [A]}\noperators: [kanonymity]\nfractions: 0.1\npictures: pdf\nrepetitions: 0\n",
			"s.yaml:4:1: the operators have no score to judge: kanonymity needs combinations\n" +
				"s.yaml:6:1: there are no pictures of kind \"pdf\"; they are svg and png, or none\ns.yaml:7:1: repetitions is 0; it must be at least 1",
			false,
		},
		{
			"link", "version: 1\na: a.csv\nb: b.csv\nout: l.csv\n", "s.yaml:1:1: how large is the population? Give its size (population_size), or its file (population)",
			true,
		},
		{
			"link", "version: 1\na: a.csv\nb: b.csv\npopulation_size: 0\nmissing: ignore\n",
			"s.yaml:4:1: population_size is 0; it must be at least 1\ns.yaml:5:1: missing is \"ignore\"; it is category or drop", false,
		},
		{"link", "version: 1\na: a.csv\nb: b.csv\npopulation_size: 9\nmost_pairs: 3\n", "s.yaml:5:1: most_pairs is of pairs, which is not there", true},
		{"link", "version: 1\na: a.csv\nb: b.csv\npopulation_size: 9\nbounds: loose\n", `s.yaml:5:1: there are no bounds "loose"; they are naive or tight`, false},
		{
			"link", "version: 1\na: a.csv\nb: b.csv\npopulation_size: 9\nrecode_b:\n  AGE: {width: -1, replace: true}\n", "s.yaml:6:9: width is -1; it must be above 0",
			false,
		},
	} {
		for _, v := range documents.Verbs {
			if v.Name == c.verb {
				assert.EqualError(t, decode(t, "s.yaml", c.text, v.New()), c.want)
				assert.Equal(t, c.compares, valid(t, schemaOf(t, v), []byte(c.text)) == nil, c.text)
			}
		}
	}
}
