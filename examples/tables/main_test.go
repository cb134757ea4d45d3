package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMethods(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, makeUp(folder))
	all := list(filepath.Join("..", "data"), folder)
	for i, method := range map[int]string{0: "optimal", 2: "network", 4: "modular"} {
		c := all[i].config
		c.Method, c.Out, c.Inside = method, filepath.Join(folder, "public.csv"), filepath.Join(folder, "internal")
		row, err := try(t.Context(), all[i].source, &c)
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(row, "| pass"), row)
		if i == 0 {
			require.True(t, strings.HasPrefix(row, "100 | 2 | 4 | 11 | 11 |"), row)
		}
	}
}
