package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/parquetfile"
)

func TestRowsDoNotDependOnChunks(t *testing.T) {
	for name, variables := range shapes {
		g, again := newGenerator(variables, 1), newGenerator(variables, 1)
		a, b := make([]int32, len(variables)), make([]int32, len(variables))
		for row := uint64(1000); row > 0; row-- {
			g.row(row, a)
			again.row(row, b)
			require.Equal(t, a, b)
			for v, c := range a {
				require.Less(t, int(c), variables[v].size, name)
				require.GreaterOrEqual(t, c, int32(0), name)
			}
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.parquet")
	require.NoError(t, generate(context.Background(), newSource(newGenerator(shapes["census"], 1), 5, partRows+10), path))
	s, err := parquetfile.Open(t.Context(), []string{path}, parquetfile.Options{})
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, int64(partRows+10), s.Rows())
	parts, err := s.Parts(t.Context())
	require.NoError(t, err)
	r, err := parts[0].Read(t.Context(), memory.DefaultAllocator, []operators.Want{{Name: "age", Coded: true}, {Name: "age"}, {Name: "weight"}}, 0)
	require.NoError(t, err)
	defer r.Release()
	require.True(t, r.Next())
	codes := make([]int32, 12)
	newGenerator(shapes["census"], 1).row(5, codes)
	for c := range 2 {
		require.Equal(t, number(int(codes[0])), operators.Text(r.Record().Column(c), 0))
	}
}
