package parquetfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

// The files of other writers have the values of the table that they were made from, in every encoding, also when rows were taken out.
func TestMatrixOfOtherWriters(t *testing.T) {
	b, err := os.ReadFile("testdata/matrix_values.jsonl")
	require.NoError(t, err)
	paths, err := filepath.Glob("testdata/matrix_*.parquet")
	require.NoError(t, err)
	require.Len(t, paths, 6)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := openSource(t, path)
			require.NoError(t, s.Verify(t.Context(), 1, nil))
			out := filepath.Join(t.TempDir(), "out.parquet")
			annotate(t, s, []string{out}, writeCase{keep: func(row int64) bool { return row%3 == 1 }})
			o := openSource(t, out)
			lines := strings.Split(strings.TrimSpace(string(b)), "\n")
			require.Len(t, lines, s.Schema().NumFields())
			for _, line := range lines {
				var c struct {
					Column string
					Values []string
				}
				require.NoError(t, json.Unmarshal([]byte(line), &c))
				var kept []string
				for i, text := range c.Values {
					if i%3 == 1 {
						kept = append(kept, text)
					}
				}
				fields, _ := s.Schema().FieldsByName(c.Column)
				for _, coded := range []bool{false, true} {
					if coded && !operators.HasEquality(fields[0].Type) {
						continue
					}
					want := operators.Want{Name: c.Column, Coded: coded}
					require.Equal(t, c.Values, withoutZone(columnTexts(t, s, want, 7)), c.Column)
					require.Equal(t, kept, withoutZone(columnTexts(t, o, want, 7)), c.Column)
				}
			}
		})
	}
}

// withoutZone writes times as ISO 8601, without the Z that this version of Arrow prints after times that have no zone.
func withoutZone(texts []string) []string {
	for i, text := range texts {
		if len(text) > 10 && text[4] == '-' && text[7] == '-' {
			texts[i] = strings.Replace(strings.TrimSuffix(text, "Z"), " ", "T", 1)
		}
	}
	return texts
}
