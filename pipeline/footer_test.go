package pipeline

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/parquetfile"
	"microrisk/schemas"
)

// What a selection or a list of columns takes out is nowhere in the output.
func TestOutputHasNothingOfWhatWasTakenOut(t *testing.T) {
	inFolder(t, map[string]string{"people.csv": "id,sex,job\n1,m,baker\n2,m,baker\n3,f,baker\n4,f,baker\n5,m,astronaut\n"})
	spec := assess("people.csv", "all.parquet")
	spec.Key = keyOf("sex", "job")
	_, err := Run(t.Context(), spec, Options{})
	require.NoError(t, err)
	require.Contains(t, footerOf(t, "all.parquet"), "astronaut")
	least := "0.4"
	for name, c := range map[string]struct {
		rows    []schemas.Condition
		columns []string
	}{
		"rows":    {rows: []schemas.Condition{{Column: "suda_score", Max: &least}}},
		"columns": {columns: []string{"id", "sex", "suda_score"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, output := range []string{"some.parquet", "some.arrow", "some.csv"} {
				spec := assess("all.parquet", output)
				spec.Key = keyOf("sex", "job")
				spec.Operators = []schemas.Operator{{Suda: &schemas.Suda{Replace: true, Contributions: true, MSUs: true}}, {Select: &schemas.Select{Rows: c.rows, Columns: c.columns}}}
				_, err := Run(t.Context(), spec, Options{})
				require.NoError(t, err)
				raw, err := os.ReadFile(output)
				require.NoError(t, err)
				require.NotContains(t, string(raw), "astronaut", output)
			}
		})
	}
	spec.Sink.Footer, spec.Sink.Path = schemas.FooterNone, "none.parquet"
	_, err = Run(t.Context(), spec, Options{})
	require.NoError(t, err)
	require.Empty(t, footerOf(t, "none.parquet"))
}

// footerOf is the summary in a Parquet file's metadata.
func footerOf(t *testing.T, path string) string {
	t.Helper()
	s, err := parquetfile.NewSource(t.Context(), []string{path}, parquetfile.Options{})
	require.NoError(t, err)
	defer s.Close()
	return s.KeyValue(0, schemas.MetadataKey)
}
