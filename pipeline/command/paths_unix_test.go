//go:build unix

package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesWithLineBreaks(t *testing.T) {
	folder(t)
	r := microrisk(t, "inspect", "no\nsuch.csv")
	require.Equal(t, "microrisk: \"no\\nsuch.csv\" does not exist\n", r.err)
	require.NoError(t, os.Mkdir("data", 0o700))
	require.NoError(t, os.WriteFile("data/a\nb.csv", []byte("a\n1\n"), 0o600))
	r = microrisk(t, "inspect", "data")
	require.Contains(t, r.err, `cannot read "data/a\nb.csv"`)
	require.Equal(t, 1, strings.Count(r.err, "\n"))
}

func TestLongNames(t *testing.T) {
	folder(t)
	name := strings.Repeat("n", 255-len(".parquet")) + ".parquet"
	r := microrisk(t, "assess", "people.csv", "--key", key, "--out", name, "--summary", strings.Repeat("s", 255))
	require.Equal(t, ExitDone, r.status, r.err)
	require.FileExists(t, name)
}

// Outputs are as open as what they replace, or as their input at most; until they are whole nobody else reads them.
func TestModesOfOutputs(t *testing.T) {
	folder(t)
	require.NoError(t, os.Chmod("people.csv", 0o640))
	require.NoError(t, os.WriteFile("old.json", nil, 0o600))
	require.NoError(t, os.Chmod("old.json", 0o644))
	for _, ending := range []string{"csv", "parquet", "arrow"} {
		r := microrisk(
			t,
			"assess",
			"people.csv",
			"--key",
			key,
			"--fraction",
			"0.5",
			"--measures",
			"mc3",
			"--out",
			"new/out."+ending,
			"--summary",
			"old.json",
			"--model-out",
			"model.json",
		)
		require.Equal(t, ExitDone, r.status, r.err)
		for name, want := range map[string]os.FileMode{"new/out." + ending: 0o640, "old.json": 0o644, "model.json": 0o640} {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&^want, "%s has mode %v", name, info.Mode())
		}
	}
}
