package tables_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bounds/margins"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// Three variables of two categories: with a and b, and b and c, the bounds of each cell come of Fréchet's formula.
func TestMargins(t *testing.T) {
	folder := t.TempDir()
	counts := filepath.Join(folder, "counts.csv")
	require.NoError(t, os.WriteFile(counts, []byte("a,b,c,n\n0,0,0,2\n0,0,1,9\n0,1,0,8\n0,1,1,7\n1,0,0,9\n1,0,1,6\n1,1,0,5\n1,1,1,9\n"), 0o666))
	s := tables.MarginsSpec{
		Source: tables.Source{Path: counts, Columns: &protect.Columns{Count: "n"}},
		Table:  variables("a", "b", "c"),
		From:   1,
		To:     2,
		Width:  8,
		Out:    filepath.Join(folder, "sets.csv"),
	}
	found, err := tables.Margins(background, s, session.Options{})
	require.NoError(t, err)
	require.Equal(t, 1, found.Small)
	require.True(t, found.Complete)
	var formulas []string
	for i := range found.Sets {
		formulas = append(formulas, found.Formula(i))
		require.LessOrEqual(t, found.Kept(i), 1.)
	}
	// The cell of 2 has 11 in a*b, 10 in a*c and 11 in b*c, of 26, 26 and 24 in a, b and c: it is from 0 to 10 or 11 with any two.
	require.ElementsMatch(t, []string{"a*c + b*c", "a*b + b*c", "a*b + a*c"}, formulas)
	require.True(t, slices.IsSortedFunc(found.Sets, func(a, b margins.Set) int { return cmp.Compare(a.Deviance, b.Deviance) }))
	require.Len(t, read(t, s.Out, 1), len(found.Sets))
	require.Contains(t, found.Verified(), "not the only cell with a count from 1 to 2")

	s.Width, s.Out = 12, "" // too wide for any two of them
	narrower, err := tables.Margins(background, s, session.Options{})
	require.NoError(t, err)
	for i := range narrower.Sets {
		require.NotContains(t, formulas, narrower.Formula(i))
	}

	// Records say the same.
	records := filepath.Join(folder, "records.csv")
	text := "a,b,c\n"
	for row, n := range map[string]int{"0,0,0": 2, "0,0,1": 9, "0,1,0": 8, "0,1,1": 7, "1,0,0": 9, "1,0,1": 6, "1,1,0": 5, "1,1,1": 9} {
		for range n {
			text += row + "\n"
		}
	}
	require.NoError(t, os.WriteFile(records, []byte(text), 0o666))
	s.Width, s.Source = 8, tables.Source{Records: &schemas.Spec{Source: schemas.Source{Path: []string{records}}}}
	counted, err := tables.Margins(background, s, session.Options{})
	require.NoError(t, err)
	require.Equal(t, found.Frontier, counted.Frontier)

	for _, c := range []struct {
		change func(*tables.MarginsSpec)
		says   string
	}{
		{func(s *tables.MarginsSpec) { s.Width = 0 }, "it must be at least 1"},
		{func(s *tables.MarginsSpec) { s.From = 3 }, "small counts go from 3 to 2"},
		{func(s *tables.MarginsSpec) { s.Table = variables("a", "d") }, "d"},
		{func(s *tables.MarginsSpec) { s.Out = "sets.txt" }, "cannot tell the format"},
		{func(s *tables.MarginsSpec) { s.Out = records + ".csv"; s.Table = nil }, "variables"},
	} {
		x := s
		c.change(&x)
		_, err := tables.Margins(background, x, session.Options{})
		require.ErrorContains(t, err, c.says)
		require.True(t, session.IsSpec(err), err)
	}
}
