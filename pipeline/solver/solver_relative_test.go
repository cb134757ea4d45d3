//go:build unix

package solver

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/program"
)

// The program is run in the folder of its files, wherever the temporary folder is named from.
func TestSolverInARelativeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("temp", 0o700))
	path, err := filepath.Abs("cbc")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\ntest -f \"$1\" && echo found > \"$4\"\n"), 0o700))
	var got string
	s := &Process{kind: "cbc", path: path, tempDir: "temp", read: func(r io.Reader, _ *program.Model) (*program.Solution, error) {
		b, err := io.ReadAll(r)
		got = string(b)
		return &program.Solution{}, err
	}}
	m := &program.Model{}
	m.AddColumn("x", 0, 1, 1, true)
	_, err = s.Solve(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, "found\n", got)
	left, err := os.ReadDir("temp")
	require.NoError(t, err)
	require.Empty(t, left)
}
