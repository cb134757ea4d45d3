package arrowfile

import (
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

// firstRows are the rows of a source, as text.
func firstRows(t *testing.T, s operators.Source) ([][]string, error) {
	t.Helper()
	parts, err := s.Parts(t.Context())
	require.NoError(t, err)
	var want []operators.Want
	for _, f := range s.Schema().Fields() {
		want = append(want, operators.Want{Name: f.Name})
	}
	var rows [][]string
	for _, p := range parts {
		r, err := p.Read(t.Context(), memory.DefaultAllocator, want, 0)
		require.NoError(t, err)
		for r.Next() {
			for i := range int(r.Record().NumRows()) {
				var row []string
				for _, c := range r.Record().Columns() {
					if c.IsNull(i) {
						row = append(row, "null")
					} else {
						row = append(row, operators.Text(c, i))
					}
				}
				rows = append(rows, row)
			}
		}
		if err := r.Err(); err != nil {
			return nil, err
		}
		r.Release()
	}
	return rows, nil
}

func TestFilesOfOtherWriters(t *testing.T) {
	s, err := Open(t.Context(), []string{"testdata/20_polars_text.arrow"}, Options{})
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, arrow.STRING, s.Schema().Field(0).Type.ID())
	rows, err := firstRows(t, s)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"n", "1"}, {"s", "2"}, {"n", "1"}, {"e", "3"}, {"null", "3"}}, rows)

	broken, err := Open(t.Context(), []string{"testdata/32_dictionary_64GiB.arrow"}, Options{})
	require.NoError(t, err)
	defer broken.Close()
	_, err = firstRows(t, broken)
	require.ErrorContains(t, err, "fewer buffers than its schema needs")

	first := [][]string{{"x", "0"}, {"y", "1"}, {"x", "0"}, {"z", "1"}}
	for name, want := range map[string][][]string{
		"21_dictionary_replaced.arrows": append(first[:4:4], [][]string{{"z", "0"}, {"w", "1"}, {"w", "0"}, {"x", "1"}}...),
		"22_no_end_marker.arrows":       first,
	} {
		f, err := os.Open("testdata/" + name)
		require.NoError(t, err)
		s, err := NewStreamSource(t.Context(), f, StreamOptions{})
		require.NoError(t, err)
		rows, err := firstRows(t, s)
		require.NoError(t, err)
		require.Equal(t, want, rows)
		require.NoError(t, s.Close())
		require.NoError(t, f.Close())
	}
}
