package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// On the sample data all searches but those that are known to get stuck end at the best model, and the table is complete.
func TestCompare(t *testing.T) {
	ctx := context.Background()
	table, err := count(ctx, "../data/cps1988.parquet", []string{"education", "ethnicity", "smsa", "region", "parttime"})
	require.NoError(t, err)
	require.EqualValues(t, 28155, table.Records())
	s, err := draw(table, 0.05, 1)
	require.NoError(t, err)
	require.EqualValues(t, 1408, s.table.Records())
	for i, f := range s.truth {
		require.GreaterOrEqual(t, f, s.table.Count(i), "the population has at least the sample")
	}
	rows, err := s.compare(ctx, 1, 20_000)
	require.NoError(t, err)
	require.Len(t, rows, 9)
	for _, r := range rows {
		switch r.name {
		case "mc3, 4 chains, 12 temperatures", "anneal", "occam", "exact":
			require.InDelta(t, 0, r.gap, 1e-9, r.name)
		}
	}
	var b strings.Builder
	s.print(&b, rows)
	require.Equal(t, 15, strings.Count(b.String(), "\n"))
	_, err = count(ctx, "../data/cps1988.parquet", []string{"wage_"})
	require.ErrorContains(t, err, `no column "wage_"`)
}
