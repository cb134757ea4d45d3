package contingency

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawTable is a table in memory or on disk.
func drawTable(t *rapid.T, s *Store) *Table {
	m := drawSpillable(t)
	times, sums := rapid.Bool().Draw(t, "times"), rapid.Bool().Draw(t, "sums")
	if rapid.Bool().Draw(t, "on disk") {
		return m.within(t, s, 1, 1<<14, times, sums)
	}
	table, err := m.count(3, 2, 2, times, sums)
	require.NoError(t, err)
	return table
}

func TestKeep(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore(context.Background(), dir)
		defer s.Close()
		table := drawTable(t, s)
		drop := rapid.SliceOfN(rapid.Bool(), len(table.Variables), len(table.Variables)).Draw(t, "drop")
		k := table.Keep(drop)
		want := Kept{}
		missing := make([]int64, len(drop))
		for i := range table.Classes() {
			kept := true
			for v := range drop {
				if table.Code(i, v) == table.Variables[v].Missing() {
					missing[v] += table.Count(i)
					kept = kept && !drop[v]
				}
			}
			require.Equal(t, kept, k.Has(i))
			if !kept {
				require.Zero(t, k.Count(i))
				continue
			}
			require.Equal(t, table.Count(i), k.Count(i))
			want.count(table.Count(i))
		}
		require.Equal(t, []int64{want.Classes, want.Records, want.Uniques, want.Doubles}, []int64{k.Classes, k.Records, k.Uniques, k.Doubles})
		require.Equal(t, want.Classes == int64(table.Classes()), k.All())
		for v := range missing {
			require.Equal(t, missing[v], table.MissingRecords(v))
		}
		of, err := k.Table()
		require.NoError(t, err)
		at := 0
		for i := range table.Classes() {
			if !k.Has(i) {
				continue
			}
			requireClass(t, table, i, of, at)
			at++
		}
		require.Equal(t, at, of.Classes())
		require.Equal(t, k.Records, of.Records())
		require.True(t, table.Keep(nil).All())
		require.NoError(t, table.Err())
	})
}

func requireClass(t require.TestingT, a *Table, i int, b *Table, j int) {
	for v := range a.Variables {
		require.Equal(t, a.Code(i, v), b.Code(j, v))
	}
	require.Equal(t, a.Count(i), b.Count(j))
	for s := range a.Sums() {
		require.Equal(t, a.Sum(i, s), b.Sum(j, s))
	}
}
