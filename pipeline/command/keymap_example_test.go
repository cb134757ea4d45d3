package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// printedCommands are the commands of this program that stand in a document in a block of shell.
func printedCommands(t *testing.T, document string) (commands [][]string) {
	t.Helper()
	return printedUnder(t, document, "")
}

// printedUnder are those of the first block after a heading.
func printedUnder(t *testing.T, document, heading string) (commands [][]string) {
	t.Helper()
	_, rest, found := strings.Cut(string(read(t, document)), heading)
	require.True(t, found)
	_, rest, _ = strings.Cut(rest, "```sh\n")
	block, _, ended := strings.Cut(rest, "```")
	require.True(t, ended)
	for line := range strings.Lines(block) {
		args, ours := strings.CutPrefix(strings.TrimSpace(line), "go run . ")
		require.True(t, ours, line)
		var words []string
		for i, part := range strings.Split(args, `"`) {
			if i%2 == 1 {
				words = append(words, part)
			} else {
				words = append(words, strings.Fields(part)...)
			}
		}
		commands = append(commands, words)
	}
	return commands
}

// The example leads from forms to a key to an annotated file, by the commands as they are printed, and leaves nothing that git would take.
func TestKeymapExample(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for _, folder := range []string{"examples/keymap", "examples/data"} {
		require.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(root, folder))))
	}
	commands := printedCommands(t, filepath.Join(root, "examples/README.md"))
	require.Len(t, commands, 3)
	var out []string
	for _, args := range commands {
		got := microrisk(t, args...)
		require.Zero(t, got.status, got.err)
		out = append(out, got.out)
	}
	require.Contains(t, out[0], "6 variables make a key of up to 1,512 values")
	require.Contains(t, out[0], "Age              C7.001           7")
	require.Contains(t, out[0], "Economic status  C2.001           2")
	require.True(t, strings.HasPrefix(out[1], out[0]))
	require.Contains(t, out[1], "microrisk run key.yaml\n")
	require.Contains(t, out[2], "sample uniques             159  1.1 % of the records\n")
	ignored := strings.Split(string(read(t, filepath.Join(root, ".gitignore"))), "\n")
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		name := e.Name()
		require.True(t, name == "examples" || containsPattern(ignored, name), "%s is left", name)
	}
	require.FileExists(t, "eusilc_synth.risk.parquet")
	got := microrisk(t, "inspect", "eusilc_synth.risk.parquet")
	require.Contains(t, got.out, "14,827 rows")
	require.Contains(t, got.out, "Age_key")
}

// So does the way from nothing, in the reference.
func TestKeymapFromNothing(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.CopyFS("examples/data", os.DirFS(filepath.Join(root, "examples/data"))))
	commands := printedCommands(t, filepath.Join(root, "pipeline/README.md"))
	require.Len(t, commands, 12)
	var out []string
	for _, args := range commands {
		got := microrisk(t, args...)
		require.Zero(t, got.status, got.err)
		out = append(out, got.out)
	}
	require.Contains(t, out[2], "northeast")
	require.Contains(t, out[8], "5 variables make a key of up to 448 values")
	require.FileExists(t, "build/keys.html")
	require.FileExists(t, "cps1988.risk.parquet")
}

func containsPattern(patterns []string, name string) bool {
	for _, p := range patterns {
		if is, err := filepath.Match(strings.TrimPrefix(p, "/"), name); err == nil && is {
			return true
		}
	}
	return false
}
