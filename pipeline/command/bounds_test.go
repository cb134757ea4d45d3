package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rounded is the worked example of margins rounded to base 3, in one file with the table that they are of.
const rounded = `row,column,value
Total,Total,12
Total,D,9
Total,E,6
Total,F,0
A,Total,3
A,D,0
A,E,3
A,F,0
B,Total,3
B,D,3
B,E,0
B,F,0
C,Total,6
C,D,3
C,E,3
C,F,0
`

// Of the four zeros of the worked example three come back, by every method that takes it.
func TestBoundsCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.csv", []byte(rounded), 0o600))
	for _, method := range []string{"auto", "shuttle", "sharp"} {
		r := microrisk(t, "bounds", "t.csv", "--scheme", "conventional", "--base", "3", "--method", method, "--deadline", "1m", "--out", "b.csv")
		require.Equal(t, ExitDone, r.status, r.err)
		require.Empty(t, r.err)
		require.Regexp(t, `cells +9  row x column\n +known exactly +3  33\.3 % of the cells\n +known to be empty +3\n +mean width +0\.6667`, r.out)
		require.Equal(t, method == "shuttle", strings.Contains(r.out, "perhaps not the tightest"), method)
		text, err := os.ReadFile("b.csv")
		require.NoError(t, err)
		require.Equal(
			t,
			"row,column,lower,upper,exact\nA,D,0,1,false\nA,E,2,3,false\nA,F,0,0,true\nB,D,3,4,false\nB,E,0,1,false\nB,F,0,0,true\nC,D,3,4,false\nC,E,2,3,false\n"+
				"C,F,0,0,true\n",
			string(text),
		)
	}
	require.Equal(t, result{}, microrisk(t, "bounds", "t.csv", "--scheme", "conventional", "--base", "3", "--quiet"))
	require.FileExists(t, "bounds.parquet")
}

// Exact margins of their own files; a file without variables is the grand total.
func TestBoundsCommandExact(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.csv": "A,published\n1,4\n2,5\n10,0\n", "b.csv": "B,count\nx,3\ny,6\n", "n.csv": "count\n9\n"} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	r := microrisk(t, "bounds", "a.csv", "b.csv", "n.csv", "--out", "out.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	text, err := os.ReadFile("out.csv")
	require.NoError(t, err)
	require.Equal(t, "A,B,lower,upper,exact\n1,x,0,3,false\n1,y,1,4,false\n2,x,0,3,false\n2,y,2,5,false\n10,x,0,0,true\n10,y,0,0,true\n", string(text))
}

// Whatever is wrong, it is said in one line, and the output that was there before stays as it was.
func TestBoundsCommandWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"a.csv": "A,count\nu,4\nv,5\n", "b.csv": "B,count\nx,3\ny,7\n", "same.csv": "A,count\nu,4\nv,6\n", "three.csv": "A,count\nu,3\nv,6\n",
		"none.csv": "A,n\nu,4\n", "negative.csv": "A,count\nu,-4\n", "null.csv": "A,count\nu,\nv,1\n", "part.csv": "A,count\nu,1.5\n",
		"twice.csv": "A,count\nu,1\nu,1\n", "many.csv": "A,B,count\n" + diagonal(1100), "out.csv": "as it was\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for name, c := range map[string]struct {
		args   string
		status int
		text   string
	}{
		"infeasible":     {"a.csv b.csv", ExitFailed, "margins b.csv [B] and a.csv [A] disagree"},
		"files disagree": {"a.csv same.csv", ExitFailed, "margins same.csv [A] and a.csv [A] disagree"},
		"no counts":      {"none.csv", ExitWrong, "none.csv has no column of counts; name it published, value or count"},
		"negative":       {"negative.csv", ExitWrong, "negative.csv: the count of [A = u] is no whole number of at least 0"},
		"no number":      {"part.csv", ExitWrong, "part.csv: the count of [A = u] is no whole number of at least 0"},
		"twice":          {"twice.csv", ExitWrong, "twice.csv has [A = u] twice"},
		"too many":       {"many.csv", ExitWrong, "more than 1048576 combinations"},
		"base 0":         {"a.csv --scheme random --base 0", ExitWrong, "--base is 0"},
		"no base":        {"a.csv --scheme random", ExitWrong, "base is 0; random rounding needs a base from 2"},
		"even base":      {"a.csv --scheme conventional --base 4", ExitWrong, "the base 4 is even; say what"},
		"odd tie":        {"a.csv --scheme conventional --base 3 --tie up", ExitWrong, "the base 3 is odd, there is no tie"},
		"no probability": {"a.csv --scheme barnard", ExitWrong, "barnard has no probability"},
		"base of none":   {"a.csv --base 3", ExitWrong, "base belongs to scheme conventional, random or small"},
		"not rounded": {
			"three.csv a.csv --scheme conventional --base 3", ExitWrong, "a.csv: conventional rounding to base 3 never publishes a count of 4, as of [A = u]",
		},
		"scheme":   {"a.csv --scheme guess", ExitWrong, "guess"},
		"method":   {"a.csv --method guess", ExitWrong, `there is no method "guess"`},
		"no table": {"", ExitWrong, "name the released tables"},
		"no file":  {"gone.csv", ExitFailed, "gone.csv does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			r := microrisk(t, append([]string{"bounds", "--out", "out.csv"}, strings.Fields(c.args)...)...)
			require.Equal(t, c.status, r.status, r.err)
			require.Contains(t, r.err, c.text)
			require.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
			require.Empty(t, r.out)
			text, err := os.ReadFile("out.csv")
			require.NoError(t, err)
			require.Equal(t, "as it was\n", string(text))
		})
	}
	r := microrisk(t, "bounds", "a.csv", "--out", "./a.csv")
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, "the output ./a.csv is the input a.csv")
}

// diagonal has n rows, of n categories of each of two variables.
func diagonal(n int) string {
	var b strings.Builder
	for i := range n {
		name := strings.Repeat("i", i%33) + strings.Repeat("j", i/33)
		b.WriteString("c" + name + ",d" + name + ",1\n")
	}
	return b.String()
}

// printed is the spec that --print-spec writes for a command line, in the file spec.yaml.
func printed(t *testing.T, args ...string) {
	t.Helper()
	r := microrisk(t, append(args, "--print-spec")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.NoError(t, os.WriteFile("spec.yaml", []byte(r.out), 0o600))
	again := microrisk(t, args[0], "--spec", "spec.yaml", "--print-spec")
	require.Equal(t, r, again)
}

// A spec that is printed does what the flags do, and flags beside it take the place of what it says.
func TestBoundsBySpec(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.csv", []byte(rounded), 0o600))
	require.NoError(t, os.WriteFile("u.csv", []byte("row,count\nA,3\nB,3\nC,6\n"), 0o600))
	flags := []string{
		"bounds",
		"t.csv",
		"--scheme",
		"conventional",
		"--base",
		"3",
		"--method",
		"shuttle",
		"--deadline",
		"1m",
		"--suppressed",
		"x,..",
		"--perturbed",
		"u.csv=random:base=3",
		"--levels",
		"column=D|E|F",
		"--count",
		"--most",
		"3",
		"--out",
		"b.csv",
	}
	printed(t, flags...)
	byFlags := microrisk(t, flags...)
	require.Equal(t, ExitDone, byFlags.status, byFlags.err)
	want, err := os.ReadFile("b.csv")
	require.NoError(t, err)
	require.NoError(t, os.Remove("b.csv"))
	bySpec := microrisk(t, "bounds", "--spec", "spec.yaml")
	require.Equal(t, byFlags.out, bySpec.out)
	got, err := os.ReadFile("b.csv")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))

	r := microrisk(t, "bounds", "--spec", "spec.yaml", "u.csv", "--out", "c.csv", "--print-spec")
	require.Regexp(t, `(?s)^version: 1\ntables: \[u.csv\]|tables: u.csv\n.*out: c.csv\n`, r.out)
	r = microrisk(t, "bounds", "--spec", "spec.yaml", "--out", "spec.yaml", "--quiet")
	require.Equal(t, ExitWrong, r.status, r.err)
	r = microrisk(t, "bounds", "t.csv", "--scheme", "conventional", "--print-spec")
	require.Equal(t, ExitWrong, r.status)
	require.Regexp(t, "^# not valid yet: base is 0", r.out)
	require.NoError(t, os.WriteFile("bad.yaml", []byte("version: 1\ntables: t.csv\nout: b.csv\nmethod: best\n"), 0o600))
	require.Equal(
		t,
		result{ExitWrong, "", "microrisk: bad.yaml:4:1: there is no method \"best\"; it is one of auto, shuttle, sharp, frechet\n"},
		microrisk(t, "bounds", "--spec", "bad.yaml"),
	)
}
