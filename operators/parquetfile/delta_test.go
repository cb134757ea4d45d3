package parquetfile

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

// The file is DuckDB 1.5's: COPY (SELECT CASE WHEN i%7=0 THEN NULL ELSE (4294967295-i*1000)::UINTEGER END AS wide,
// [(4294967295-i)::UINTEGER, NULL] AS list FROM range(1500) r(i)) TO ... (PARQUET_VERSION v2, COMPRESSION zstd).
func TestDeltaEncodedUnsignedNumbersBeyondInt32(t *testing.T) {
	s := openSource(t, "testdata/duckdb_uint32_delta.parquet")
	require.NoError(t, s.Verify(t.Context(), 1, nil))
	text := func(row int) string {
		if row%7 == 0 {
			return "<null>"
		}
		return fmt.Sprint(4294967295 - row*1000)
	}
	for _, coded := range []bool{false, true} {
		got := columnTexts(t, s, operators.Want{Name: "wide", Coded: coded}, 100)
		require.Len(t, got, 1500)
		for row := range got {
			require.Equal(t, text(row), got[row])
		}
	}
	out := filepath.Join(t.TempDir(), "out.parquet")
	annotate(t, s, []string{out}, writeCase{keep: func(row int64) bool { return row%2 == 1 }})
	o := openSource(t, out)
	require.NoError(t, o.Verify(t.Context(), 1, nil))
	got := columnTexts(t, o, operators.Want{Name: "wide"}, 0)
	require.Len(t, got, 750)
	for i := range got {
		require.Equal(t, text(2*i+1), got[i])
	}
}
