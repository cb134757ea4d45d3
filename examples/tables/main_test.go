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

// Every method is tried as the comparison does.
func TestEveryMethod(t *testing.T) {
	folder := t.TempDir()
	first := list(filepath.Join("..", "data"), folder)[0]
	for _, method := range methods {
		c, can := first.by(method, 60, folder)
		require.True(t, can, method)
		row, err := try(t.Context(), first.source, &c)
		require.NoError(t, err, method)
		require.True(t, strings.HasSuffix(row, "| pass"), row)
	}
}
