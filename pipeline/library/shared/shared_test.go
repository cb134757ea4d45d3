//go:build cgo && (linux || darwin)

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The library is called by a program in C and by the Python module, with arrays that are made by hand.
func TestLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("the library is built, which takes a minute or two")
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	folder := t.TempDir()
	library := filepath.Join(folder, "libmicrorisk.so")
	run := func(dir string, env []string, name string, args ...string) {
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, name, args...)
		c.Dir, c.Env = dir, append(os.Environ(), env...)
		text, err := c.CombinedOutput()
		require.NoError(t, err, "%s %v:\n%s", name, args, text)
	}
	run("", []string{"CGO_ENABLED=1"}, "go", "build", "-buildmode=c-shared", "-o", library, ".")
	t.Run("from C", func(t *testing.T) {
		program := filepath.Join(folder, "call")
		run("", nil, cc, "-Wall", "-Wextra", "-Werror", "-o", program, filepath.Join("testdata", "call.c"), "-ldl", "-lpthread")
		run("", nil, program, library)
	})
	t.Run("from Python", func(t *testing.T) {
		python, err := exec.LookPath("python3")
		if err != nil {
			t.Skip("there is no Python")
		}
		env := []string{"MICRORISK_LIBRARY=" + library, "PYTHONDONTWRITEBYTECODE=1"}
		run(filepath.Join("..", "python"), env, python, "-m", "unittest", "-q")

		// The notebook runs as its first cell says, in a root that has what it reads.
		root, err := filepath.Abs(filepath.Join("..", "..", ".."))
		require.NoError(t, err)
		run(root, nil, "go", "build", "-o", filepath.Join(folder, "microrisk"), ".")
		for _, name := range []string{"examples", "pipeline"} {
			require.NoError(t, os.Symlink(filepath.Join(root, name), filepath.Join(folder, name)))
		}
		run(folder, nil, filepath.Join(folder, "microrisk"), "run", "examples/csv.yaml")
		run(folder, env, python, "pipeline/library/python/notebook.py", "examples/in_process.ipynb")
	})
}
