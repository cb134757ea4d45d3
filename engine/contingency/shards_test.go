package contingency

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Shards of tables that were counted apart, added up shard by shard, are the table of all.
func TestShards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawSpillable(t)
		for v := range m.variables {
			m.variables[v].Order = ByNumber
		}
		sums := rapid.Bool().Draw(t, "sums")
		n := rapid.IntRange(1, 5).Draw(t, "shards")
		rows := make([][]int, 3)
		for r := range m.rows {
			rows[r%3] = append(rows[r%3], r)
		}
		var list []*Table
		for i := range rows {
			list = append(list, m.part(t, rows[i], sums))
		}
		want, err := Combine(context.Background(), 1, 0, nil, list...)
		require.NoError(t, err)
		whole := make([]bool, len(m.variables))
		for v := range whole {
			whole[v] = true
		}
		of := make([][]*Table, n)
		for _, table := range list {
			shards, err := table.Shards(context.Background(), n, whole)
			require.NoError(t, err)
			for s, shard := range shards {
				of[s] = append(of[s], shard)
			}
		}
		var all []*Table
		classes := 0
		for _, shards := range of {
			sum, err := Combine(context.Background(), 1, 0, nil, shards...)
			require.NoError(t, err)
			all = append(all, sum)
			classes += sum.Classes()
		}
		got, err := Combine(context.Background(), 1, 0, nil, all...)
		require.NoError(t, err)
		assert.Equal(t, want.Classes(), classes, "no class is in two shards")
		assert.Equal(t, encoded(t, want), encoded(t, got))
	})
}
