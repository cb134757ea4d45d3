package pipeline

import (
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators/parquetfile"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// What a selection or a list of columns takes out is nowhere in the output.
func TestOutputHasNothingOfWhatWasTakenOut(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": "id,sex,job\n1,m,baker\n2,m,baker\n3,f,baker\n4,f,baker\n5,m,astronaut\n"})
	spec := assess("people.csv", "all.parquet")
	spec.Key = keyOf("sex", "job")
	_, err := Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	require.Contains(t, footerOf(t, "all.parquet"), "astronaut")
	least := "0.4"
	for name, c := range map[string]struct {
		rows    []selection.Condition
		columns []string
	}{
		"rows":    {rows: []selection.Condition{{Column: "suda_score", Max: &least}}},
		"columns": {columns: []string{"id", "sex", "suda_score"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, output := range []string{"some.parquet", "some.arrow", "some.csv"} {
				spec := assess("all.parquet", output)
				spec.Key = keyOf("sex", "job")
				spec.Operators = []schemas.Operator{
					{Config: &suda.Config{MeasureOptions: schemas.MeasureOptions{Replace: true}, Contributions: true, MSUs: true}},
					{Config: &selection.Config{Rows: c.rows, Columns: c.columns}},
				}
				_, err := Run(t.Context(), spec, session.Options{})
				require.NoError(t, err)
				raw, err := os.ReadFile(output)
				require.NoError(t, err)
				require.NotContains(t, string(raw), "astronaut", output)
			}
		})
	}
	spec.Sink.Footer, spec.Sink.Path = schemas.FooterNone, "none.parquet"
	_, err = Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	require.Empty(t, footerOf(t, "none.parquet"))
}

// A dictionary would hold the values of rows that were taken out.
func TestDictionariesOfWhatWasTakenOut(t *testing.T) {
	t.Chdir(t.TempDir())
	schema := arrow.NewSchema(
		[]arrow.Field{
			{Name: "id", Type: arrow.PrimitiveTypes.Int64},
			{Name: "job", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
		},
		nil,
	)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, job := range []string{"baker", "baker", "astronaut", "cook"} {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		require.NoError(t, b.Field(1).(*array.BinaryDictionaryBuilder).AppendString(job))
	}
	r := b.NewRecord()
	defer r.Release()
	f, err := os.Create("in.arrow")
	require.NoError(t, err)
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	require.NoError(t, err)
	require.NoError(t, w.Write(r))
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	for _, output := range []string{"out.arrow", "out.parquet", "out.csv"} {
		spec := assess("in.arrow", output)
		spec.Key = keyOf("job")
		spec.Operators = append(
			[]schemas.Operator{{Config: &selection.Config{Rows: []selection.Condition{{Column: "id", Values: []string{"0", "1", "3"}}}}}},
			spec.Operators...)
		o, err := Run(t.Context(), spec, session.Options{})
		require.NoError(t, err)
		require.EqualValues(t, 3, o.Written)
		raw, err := os.ReadFile(output)
		require.NoError(t, err)
		require.NotContains(t, string(raw), "astronaut", output)
		require.Contains(t, string(raw), "baker", output)
	}
}

// Outputs of several inputs may be released apart: none tells of the others.
func TestFootersOfSeveralOutputs(t *testing.T) {
	inFolder(t, map[string]string{"east.csv": "reg,d\nEAST,flu\nEAST,RAREDISEASE\n", "west.csv": "reg,d\nWEST,flu\nWEST,flu\n"})
	spec := &schemas.Spec{
		Source:    schemas.Source{Path: []string{"east.csv", "west.csv"}},
		Key:       keyOf("reg", "d"),
		Operators: []schemas.Operator{{Config: &suda.Config{}}},
		Sink:      schemas.Sink{Path: "out", Format: "parquet"},
	}
	_, err := Run(t.Context(), spec, session.Options{})
	require.NoError(t, err)
	text := footerOf(t, "out/west.parquet")
	require.NotContains(t, text, "RAREDISEASE")
	require.NotContains(t, text, "east")
	require.NotContains(t, text, "rows")
	_, err = AnnotatedSpec(t.Context(), "out/west.parquet")
	require.ErrorContains(t, err, "one of several outputs")
}

// A file that is read twice would count its people twice.
func TestHardLinksAreOneInput(t *testing.T) {
	inFolder(t, map[string]string{"a.csv": "age,sex,area\n1,m,x\n"})
	require.NoError(t, os.Link("a.csv", "b.csv"))
	spec := assess("a.csv", "out.csv")
	spec.Source.Path = []string{"a.csv", "b.csv"}
	_, err := Run(t.Context(), spec, session.Options{})
	require.ErrorContains(t, err, "a.csv and b.csv are the same file; each input is read once")
}

// footerOf is the summary in a Parquet file's metadata.
func footerOf(t *testing.T, path string) string {
	t.Helper()
	s, err := parquetfile.Open(t.Context(), []string{path}, parquetfile.Options{})
	require.NoError(t, err)
	defer s.Close()
	return s.KeyValue(0, schemas.MetadataKey)
}
