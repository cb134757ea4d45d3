package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The report tells what a release cost in a few lines, and names columns that tell what was made coarser, which --drop leaves out.
func TestProtectTellsCosts(t *testing.T) {
	t.Chdir(t.TempDir())
	people := strings.Repeat("20,n,10,1980\n20,n,20,1980\n21,n,30,1979\n21,n,,1979\n30,s,50,1970\n"+
		"30,s,60,1970\n31,s,70,1969\n31,s,81,1969\n32,n,5,1968\n32,n,7,1968\n", 6)
	require.NoError(t, os.WriteFile("in.csv", []byte("age,region,wage,born\n"+people), 0o600))
	flags := "protect in.csv --key age,region --target k=2 --hierarchy age=10 --hierarchy age=levels:1..1 --hierarchy region=fixed --out r.csv --means wage"
	r := microrisk(t, strings.Fields(flags)...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, `  what it cost  categories  cells coarser  hidden  shares moved
  age                5 > 2             60       0         0.0 %
Of all pairs age and region lose most of their relation (Cramer's V 1, now
0.6667); no mean of wage moves.
`)
	require.Contains(t, strings.Join(strings.Fields(r.out), " "), "born stays in the release and tells what was made coarser or hidden of age")
	r = microrisk(t, strings.Fields(flags+" --drop born")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.NotContains(t, r.out, "born stays")
	text, err := os.ReadFile("r.csv")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "age,region,wage\n"))
	r = microrisk(t, "protect", "in.csv", "--key", "age", "--target", "k=2", "--means", "wage")
	require.Equal(t, ExitWrong, r.status)
}

// inRepository puts the test beside copies of the examples, and is the repository.
func inRepository(t *testing.T, files ...string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.CopyFS("examples/data", os.DirFS(filepath.Join(root, "examples/data"))))
	for _, file := range files {
		require.NoError(t, os.WriteFile(file, read(t, filepath.Join(root, file)), 0o600))
	}
	return root
}

// The way from a file to its release runs as it is printed: on the front page, and step by step, with the figures that are told; the spec that is written
// makes the same release.
func TestStoryOfRelease(t *testing.T) {
	root := inRepository(t, "examples/protect.yaml", "examples/education.csv", "examples/release.yaml")
	steps := printedUnder(t, filepath.Join(root, "examples/README.md"), "## From a file to its release")
	require.Len(t, steps, 5)
	var out []string
	var made []byte
	for _, args := range steps {
		if args[0] == "run" {
			made = read(t, "cps1988.release.parquet")
		}
		r := microrisk(t, args...)
		require.Equal(t, ExitDone, r.status, "%v: %s", args, r.err)
		out = append(out, r.out)
	}
	require.Equal(t, made, read(t, "cps1988.release.parquet"))
	require.Contains(t, out[1], "experience = -4")
	protected := strings.Join(strings.Fields(out[2]), " ")
	require.Contains(t, protected, "all recodings were tried that could lose less, 1 of 320")
	require.Contains(t, protected, "5,070 cells are suppressed: 1,636 of education, 2,735 of experience")
	require.Contains(t, protected, "up to 91.5 % (experience 56: 21 records, now 3)")
	require.Contains(t, out[3], "0 of at most 0, kept")
	printed := 0
	for line := range strings.Lines(string(read(t, filepath.Join(root, "README.md")))) {
		if args, is := strings.CutPrefix(line, "    go run . "); is {
			printed++
			r := microrisk(t, strings.Fields(args)...)
			require.Equal(t, ExitDone, r.status, "%s: %s", line, r.err)
		}
	}
	require.Equal(t, 5, printed)
	ignored := strings.Split(string(read(t, filepath.Join(root, ".gitignore"))), "\n")
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, e.Name() == "examples" || containsPattern(ignored, e.Name()), "%s is left", e.Name())
	}
}
