package pipeline

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/engine/budget"
	"microrisk/operators"
	"microrisk/operators/individual"
	"microrisk/operators/mc3"
	"microrisk/operators/recode"
	"microrisk/operators/sap"
	"microrisk/operators/suda"
	"microrisk/pipeline/attack"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/explain"
	"microrisk/pipeline/inspect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

var survey = []string{"../examples/data/cps1988.parquet"}

func surveySpec() *schemas.Spec {
	return &schemas.Spec{Source: schemas.Source{Path: survey}, Key: keyOf("education", "experience", "ethnicity", "smsa", "region", "parttime")}
}

// Who looks at tables sees the same when these do not fit in memory, or an error: a table on disk lasts no longer than its run.
func TestLookingAtTablesOnDisk(t *testing.T) {
	small := session.Options{Memory: 64 << 10, TempDir: t.TempDir()}
	for _, missing := range []string{"", schemas.MissingDrop} {
		spec := surveySpec()
		spec.Key.Missing = missing
		want, err := explain.Run(t.Context(), spec, explain.Which{Row: 1368}, suda.Config{}, session.Options{})
		require.NoError(t, err)
		require.InDelta(t, 5.166666666666667, want.Score, 1e-12)
		require.Equal(t, [][]int{{1}}, want.MSUs)
		got, err := explain.Run(t.Context(), spec, explain.Which{Row: 1368}, suda.Config{}, small)
		require.NoError(t, err)
		require.Equal(t, want, got)

		whole, err := inspect.Run(t.Context(), spec, inspect.Look{}, session.Options{})
		require.NoError(t, err)
		require.EqualValues(t, 2865, whole.Key.Whole.SampleUniques)
		require.Len(t, whole.Key.Without, 6)
		spilled, err := inspect.Run(t.Context(), spec, inspect.Look{}, small)
		require.NoError(t, err)
		require.Equal(t, whole, spilled)

		classes, records, err := inspect.Count(t.Context(), spec, small)
		require.NoError(t, err)
		require.EqualValues(t, 6362, classes)
		require.EqualValues(t, 28155, records)
	}
	var large *budget.MemoryError
	wild := surveySpec()
	wild.Key.Missing = schemas.MissingWildcard
	_, err := inspect.Run(t.Context(), wild, inspect.Look{}, small)
	require.ErrorAs(t, err, &large)
	judge := surveySpec()
	judge.Operators = []schemas.Operator{{Config: &suda.Config{}}}
	_, err = evaluate.Run(t.Context(), evaluate.Spec{Spec: judge, Fractions: []float64{0.01}, Repetitions: 1, Out: t.TempDir() + "/ev"}, small)
	require.ErrorAs(t, err, &large)
	_, err = attack.Run(t.Context(), attack.Spec{Sample: surveySpec(), Population: survey}, small)
	require.ErrorAs(t, err, &large)
	require.Equal(t, "the table of 6362 key combinations", large.What)
	require.EqualValues(t, 64<<10, large.Limit)
	require.Greater(t, large.Needs, large.Limit)
}

// Records that a missing value drops are in no figure of a key.
func TestInspectKeyOfDropped(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": "a,b\n1,x\n1,x\n2,\n3,\n4,y\n,y\n"})
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{"people.csv"}}, Key: keyOf("a", "b")}
	spec.Key.Missing = schemas.MissingDrop
	i, err := inspect.Run(t.Context(), spec, inspect.Look{}, session.Options{})
	require.NoError(t, err)
	require.Equal(t, inspect.KeyCount{Records: 3, Classes: 2, SampleUniques: 1}, i.Key.Whole)
	require.Equal(t, []inspect.KeyCount{{Without: "a", Records: 4, Classes: 2}, {Without: "b", Records: 5, Classes: 4, SampleUniques: 3}}, i.Key.Without)
}

// The first row of the input that is wrong is named, whichever worker is the first to meet one.
func TestTheFirstWrongRowIsNamed(t *testing.T) {
	text := "age,sex,w\n"
	for range 3000 {
		text += "30,m,1\n"
	}
	inFolder(t, map[string]string{"a.csv": text + "31,m,0\n" + text[10:], "b.csv": "age,sex,w\n1,m,0\n"})
	spec := assess("", "")
	spec.Source.Path, spec.Key, spec.Sampling, spec.Sink = []string{"a.csv", "b.csv"}, keyOf("age", "sex"), &schemas.Sampling{Weight: "w"}, schemas.Sink{}
	for range 20 {
		for _, workers := range []int{1, 2, 4} {
			_, err := Run(t.Context(), spec, session.Options{Workers: workers})
			require.ErrorContains(t, err, `a.csv: row 3000: the weight "w" is 0`)
		}
	}
}

// A limit is no gate for a figure of no records, or of some of them.
func TestLimitsOfPartialFigures(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": "a,b,w\n1,x,2\n1,x,2\n2,,2\n3,,2\n4,y,2\n", "none.csv": "a,b,w\n"})
	run := func(source, missing, of string, limit string) []Breach {
		spec := assess(source, "out.csv")
		spec.Key, spec.Sampling = keyOf("a", "b"), &schemas.Sampling{Fraction: 0.5}
		spec.Source.Types = map[string]string{"a": "int64", "b": "string", "w": "int64"}
		spec.Key.Missing = missing
		spec.Operators = []schemas.Operator{{Config: &suda.Config{}}, {Config: &mc3.Config{}}}
		spec.Limits = map[string]schemas.Limit{limit: {Max: 1e6, Of: of}}
		o, err := Run(t.Context(), spec, session.Options{})
		require.NoError(t, err)
		return o.Breaches
	}
	for _, limit := range []string{schemas.LimitSampleUniques, suda.LimitDIS, suda.LimitMaxScore, schemas.LimitReidentifications, mc3.LimitPUSU} {
		require.Empty(t, run("people.csv", "", "", limit), limit)
		require.Empty(t, run("people.csv", schemas.MissingDrop, schemas.LimitModelled, limit), limit)
		partial := run("people.csv", schemas.MissingDrop, "", limit)
		require.NotEmpty(t, partial, limit)
		require.Contains(t, partial[0].String(), "of 3 records only: 2 more have missing values and were dropped")
		none := run("none.csv", "", schemas.LimitModelled, limit)
		require.NotEmpty(t, none, limit)
		require.Contains(t, none[0].String(), "is a figure of no records")
	}
}

// One list of categories for a variable, wherever it is declared: a zero of a category that nobody has is a zero.
func TestLevelsOfTheKeyHoldForTables(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": "area,health\na,good\na,good\nb,good\n"})
	spec := assess("people.csv", "out.csv")
	spec.Key = keyOf("area", "health")
	spec.Key.Variables[1].Levels = []string{"good", "bad"}
	spec.Operators = []schemas.Operator{
		{Config: &sap.Config{By: []schemas.KeyVariable{{Name: "area"}}, Cells: []schemas.KeyVariable{{Name: "health"}}, Known: []int64{0}}},
	}
	spec.AllowEmpty = true
	o, err := Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	s := o.Summary.Operators["sap"].(*sap.Summary)
	require.EqualValues(t, 2, s.Cells)
	require.EqualValues(t, 1, s.Distribution[0].Mean, "SAP(0)")
	spec.Operators[0].Config.(*sap.Config).Cells[0].Levels = []string{"good", "ill"}
	_, err = Run(t.Context(), spec, session.Options{})
	require.ErrorContains(t, err, "levels of health differ from those at key.variables[1].levels")
}

// A record is explained among all that was counted with it, by a spec or by the annotated file alone, with the nearest values first.
func TestExplainLikeAssess(t *testing.T) {
	inFolder(t, map[string]string{"a.csv": "age,sex\n72,m\n71,m\n30,f\n", "b.csv": "age,sex\n72,f\n73,m\n20,m\n20,m\n"})
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{"a.csv", "b.csv"}}, Key: keyOf("age", "sex"), Sampling: &schemas.Sampling{Fraction: 0.1},
		Operators: []schemas.Operator{{Config: &suda.Config{}}, {Config: &mc3.Config{}}, {Config: &individual.Config{}}}, Sink: schemas.Sink{Path: "all.parquet"}}
	_, err := Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	e, err := explain.Run(t.Context(), spec, explain.Which{Row: 0, Input: "a.csv"}, suda.Config{}, session.Options{})
	require.NoError(t, err)
	require.Equal(t, [][]int{{0, 1}}, e.MSUs, "the other 72 is in another file")
	require.Equal(t, 1, e.Distance)
	var near []string
	for _, n := range e.Near {
		near = append(near, *n.Values[0])
	}
	require.Equal(t, []string{"71", "73", "20", "f"}, near)
	require.Equal(t, []explain.RowAt{{Input: "b.csv", Row: 1}}, e.Near[1].Rows)
	require.Equal(t, []explain.RowAt{{Input: "b.csv", Row: 2}, {Input: "b.csv", Row: 3}}, e.Near[2].Rows)

	from, err := AnnotatedSpec(t.Context(), "all.parquet")
	require.NoError(t, err)
	f, err := explain.Run(t.Context(), from, explain.Which{Row: 0}, suda.Config{}, session.Options{})
	require.NoError(t, err)
	require.Equal(t, e.MSUs, f.MSUs)
	require.Equal(t, e.Risks, f.Risks)
	source, err := session.Open(
		t.Context(),
		schemas.Source{},
		&session.Inputs{Paths: []string{"all.parquet"}, Kind: session.ParquetKind},
		session.Options{}.WithDefaults(),
	)
	require.NoError(t, err)
	defer source.Close()
	want := map[string]float64{}
	for name, x := range columnsAt(t, source, 0, "suda_dis_is", "mc3_correct_match", "mc3_population_unique", "mc3_expected_frequency", "individual_risk") {
		want[name] = x
	}
	require.Len(t, e.Risks, 5)
	for _, r := range e.Risks {
		require.InDelta(t, want[r.Column], *r.Value, 1e-15, r.Column)
	}

	recoded := &schemas.Spec{
		Source:    schemas.Source{Path: []string{"a.csv"}},
		Key:       keyOf("AGE10"),
		Operators: []schemas.Operator{{Config: &recode.Config{{Name: "AGE10", From: "age", Width: 10}}}},
	}
	g, err := explain.Run(t.Context(), recoded, explain.Which{Row: 1}, suda.Config{}, session.Options{})
	require.NoError(t, err)
	require.Equal(t, "70-79", *g.Values[0])
	require.Equal(t, "71", *g.From[0].Value)
	_, err = explain.Run(t.Context(), spec, explain.Which{Row: 0}, suda.Config{}, session.Options{})
	require.ErrorContains(t, err, "2 files are counted together: say which")
	_, err = explain.Run(t.Context(), spec, explain.Which{Row: 3, Input: "a.csv"}, suda.Config{}, session.Options{})
	require.ErrorContains(t, err, "there is no row 3; a.csv has 3 rows")
	_, err = AnnotatedSpec(t.Context(), "../../examples/data/cps1988.parquet")
	require.Error(t, err)
}

// columnsAt are the values of columns of numbers in a row of the first part.
func columnsAt(t *testing.T, s operators.Source, row int, names ...string) map[string]float64 {
	t.Helper()
	parts, err := s.Parts(t.Context())
	require.NoError(t, err)
	var wants []operators.Want
	for _, name := range names {
		wants = append(wants, operators.Want{Name: name})
	}
	r, err := parts[0].Read(t.Context(), memory.DefaultAllocator, wants, 0)
	require.NoError(t, err)
	defer r.Release()
	require.True(t, r.Next())
	values := map[string]float64{}
	for i, name := range names {
		values[name] = r.Record().Column(i).(*array.Float64).Value(row)
	}
	return values
}
