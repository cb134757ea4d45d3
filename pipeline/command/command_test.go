package command

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v2"
	"go.uber.org/goleak"

	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A result is what a command line did.
type result struct {
	status   int
	out, err string
}

func microrisk(t *testing.T, args ...string) result {
	t.Helper()
	return piped(t, nil, args...)
}

func piped(t *testing.T, in []byte, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	status := Run(t.Context(), append([]string{"microrisk"}, args...), Streams{In: bytes.NewReader(in), Out: &out, Err: &errs})
	return result{status, out.String(), errs.String()}
}

// folder is a fresh current folder with people.csv.
func folder(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("testdata/people.csv")
	require.NoError(t, err)
	golden, err := filepath.Abs("testdata")
	require.NoError(t, err)
	t.Setenv("MICRORISK_TESTDATA", golden)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("people.csv", text, 0o666))
}

// refused runs command lines that end with one of some statuses, and say what each should.
func refused(t *testing.T, says map[string]string, statuses ...int) {
	t.Helper()
	for args, want := range says {
		r := microrisk(t, strings.Fields(args)...)
		require.Contains(t, statuses, r.status, args)
		require.Contains(t, r.err, want, args)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(os.Getenv("MICRORISK_TESTDATA"), name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

const key = "age,sex,region,job"

func TestAssessTable(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", key, "--fraction", "0.1", "--out", "risk.csv", "--contributions", "--msus=false")
	require.Equal(t, ExitDone, r.status, r.err)
	golden(t, "assess.txt", r.out)
	for line := range strings.Lines(r.out) {
		require.LessOrEqual(t, len([]rune(line)), screen+1)
	}
	text, err := os.ReadFile("risk.csv")
	require.NoError(t, err)
	golden(t, "risk.csv", string(text))
}

func TestAssessDefaults(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", key)
	require.Equal(t, ExitDone, r.status, r.err)
	require.FileExists(t, "people.risk.csv")
	require.Contains(t, r.err, "nothing is said of the sampling")
	require.Contains(t, r.out, "needs the sampling fraction")

	r = microrisk(t, "assess", "people.csv", "--key", key, "--quiet")
	require.Equal(t, ExitDone, r.status)
	require.Empty(t, r.out)
	require.Equal(t, 1, strings.Count(r.err, "\n"), "warnings stay: %s", r.err)
	require.Contains(t, r.err, "give --fraction, --population-size or --weight")
	r = microrisk(t, "assess", "people.csv", "--key", key, "--quiet", "--no-warnings")
	require.Equal(t, result{status: ExitDone}, r)
}

func TestFlagsAnywhere(t *testing.T) {
	folder(t)
	for _, args := range [][]string{
		{"--workers", "1", "--quiet", "assess", "--key", key, "--out", "a.csv", "people.csv"},
		{"assess", "people.csv", "--workers=1", "--key=" + key, "--quiet", "--out", "b.csv"},
		{"assess", "--quiet", "people.csv", "-k", "age,sex", "-k", "region,job", "-o", "c.csv"},
		{"assess", "--quiet", "-k", key, "-o", "d.csv", "--memory", "64MiB", "--", "people.csv"},
	} {
		r := microrisk(t, args...)
		require.Equal(t, ExitDone, r.status, "%v: %s", args, r.err)
	}
	a, err := os.ReadFile("a.csv")
	require.NoError(t, err)
	for _, name := range []string{"b.csv", "c.csv", "d.csv"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, string(a), string(b))
	}
}

func TestPrintSpec(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", key, "--weight", "id", "--measures", "suda", "--missing", "drop", "--missing-codes", ",NA",
		"--select", "part=train", "--select", "age=30..", "--band", "age=5", "--max-size", "3", "--limit", "sample_uniques=4",
		"--limit", "dis=0.5", "--out", "risk.arrow", "--summary", "risk.json", "--keep-rows", "--print-spec")
	require.Equal(t, ExitDone, r.status, r.err)
	golden(t, "spec.yaml", r.out)
	require.NoFileExists(t, "risk.arrow")
	spec, err := specfile.Decode("spec.yaml", []byte(r.out))
	require.NoError(t, err)
	require.Equal(t, r.out, string(spec.YAML()))

	require.NoError(t, os.WriteFile("spec.yaml", []byte(r.out), 0o666))
	r = microrisk(t, "run", "spec.yaml")
	require.Equal(t, ExitLimit, r.status, r.err)
	require.Contains(t, r.err, "microrisk: limit breached: sample_uniques is ")
	require.FileExists(t, "risk.arrow")
	text, err := os.ReadFile("risk.json")
	require.NoError(t, err)
	var summary schemas.Summary
	require.NoError(t, json.Unmarshal(text, &summary))
	require.EqualValues(t, 12, summary.Rows)
	require.NotNil(t, summary.Run)
	require.Equal(t, "id", summary.Sampling.Weight)

	r = microrisk(t, "validate", "spec.yaml")
	require.Equal(t, ExitDone, r.status, r.err)
	golden(t, "validate.txt", r.out)
}

func TestInspect(t *testing.T) {
	folder(t)
	r := microrisk(t, "inspect", "people.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	golden(t, "inspect.txt", r.out)
	r = microrisk(t, "inspect", "people.csv", "--key", key, "--select", "part=train")
	require.Equal(t, ExitDone, r.status, r.err)
	golden(t, "inspect_key.txt", r.out)
}

func TestInspectValues(t *testing.T) {
	folder(t)
	r := microrisk(t, "inspect", "people.csv", "--values", "job,part", "--missing-codes", "clerk")
	require.Equal(t, ExitDone, r.status, r.err)
	golden(t, "inspect_values.txt", r.out)

	var text strings.Builder
	text.WriteString("n,x\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d,%g\n%d,\n", i, 0.5+float64(i), i/30)
	}
	text.WriteString(",7.5\n")
	require.NoError(t, os.WriteFile("many.csv", []byte(text.String()), 0o666))
	r = microrisk(t, "inspect", "many.csv", "--values", "n", "--quiet")
	require.Equal(t, ExitDone, r.status, r.err)
	require.True(t, strings.HasPrefix(r.out, "many.csv: 121 rows\n\n  records  n\n       31  0\n       31  1\n        1  2\n"), r.out)
	require.True(t, strings.HasSuffix(r.out, "        1  49\n       10  (10 more categories)\n        1  (missing)\n"), r.out)
	r = microrisk(t, "inspect", "many.csv", "--missing-codes", "1.5,1", "--quiet")
	require.Equal(t, ExitDone, r.status, r.err)
	golden(t, "inspect_floating.txt", r.out)
}

// What people read of a run is there for both ways to run, where the data is not.
func TestRunShowsTheTable(t *testing.T) {
	folder(t)
	flags := []string{"assess", "people.csv", "--key", key, "--fraction", "0.1", "--out", "risk.csv"}
	assess := microrisk(t, flags...)
	require.Equal(t, ExitDone, assess.status, assess.err)
	spec := microrisk(t, append(flags, "--print-spec")...).out
	require.NoError(t, os.WriteFile("spec.yaml", []byte(spec), 0o666))
	r := microrisk(t, "run", "spec.yaml")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Equal(t, assess.out, r.out)
	require.Contains(t, r.err, "msg=written output=risk.csv")
	require.Equal(t, result{}, microrisk(t, "run", "spec.yaml", "--quiet"))
	require.NoError(t, os.WriteFile("stream.yaml", []byte(strings.ReplaceAll(spec, "risk.csv", "-")), 0o666))
	r = microrisk(t, "run", "stream.yaml")
	require.Equal(t, ExitDone, r.status, r.err)
	require.NotContains(t, r.out+r.err, "riskiest")
}

// All names that the data does not have are reported, each where the spec has it.
func TestUnknownColumnsOfASpec(t *testing.T) {
	folder(t)
	require.NoError(t, os.WriteFile("bad.yaml", []byte(`version: 1
source: {table: people.csv, count: sex}
sampling: {weight: wgt}
key:
  variables: [age, jobb, {name: regon}, JOB]
operators:
  - recode:
      JOB: {from: jb, map: {nurse: n}}
      sex: {map: {F: f}, replace: true}
  - select: {rows: {prt: [train]}, columns: [age, ages]}
  - suda: {key: {variables: [sex, suda_score]}}
  - frequency
sink: {path: risk.csv}
`), 0o666))
	want := `microrisk: bad.yaml:2:29: the table's count "sex" is of type string; it must be a column of whole numbers
microrisk: bad.yaml:3:12: the weight: there is no column "wgt"
microrisk: bad.yaml:5:20: frequency: there is no column "jobb"; did you mean "job"?
microrisk: bad.yaml:5:27: frequency: there is no column "regon"; did you mean "region"?
microrisk: bad.yaml:8:13: recode JOB: there is no column "jb"; did you mean "job"?
microrisk: bad.yaml:10:21: select: there is no column "prt"; did you mean "part"?
microrisk: bad.yaml:10:51: select: there is no column "ages"; did you mean "age"?
microrisk: bad.yaml:11:35: suda: there is no column "suda_score"
`
	for _, command := range []string{"validate", "run"} {
		r := microrisk(t, command, "bad.yaml", "--quiet")
		require.Equal(t, result{ExitWrong, "", want}, r)
	}
	require.NoError(t, os.WriteFile("good.yaml", []byte(`version: 1
source: {table: people.csv, count: id}
key: {variables: [age, job]}
operators:
  - recode: {job: {map: {nurse: n}, replace: true}}
  - frequency
sink: {path: risk.csv}
`), 0o666))
	r := microrisk(t, "validate", "good.yaml")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "adds\n  sample_frequency  int64\nreplaces\n  job  string\n")
	require.Equal(t, ExitDone, microrisk(t, "run", "good.yaml", "--quiet").status)
}

func TestExplain(t *testing.T) {
	folder(t)
	for name, args := range map[string][]string{
		"explain_unique.txt":   {"--row", "5"},
		"explain_shared.txt":   {"--row", "0"},
		"explain_wildcard.txt": {"--row", "10", "--missing", "wildcard"},
		"explain_dropped.txt":  {"--row", "10", "--missing", "drop"},
	} {
		r := microrisk(t, append([]string{"explain", "people.csv", "--key", key}, args...)...)
		require.Equal(t, ExitDone, r.status, r.err)
		golden(t, name, r.out)
	}
}

func TestStreams(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", key, "--out", "-", "--quiet")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Equal(t, ExitDone, microrisk(t, "assess", "people.csv", "--key", key, "--out", "people.arrow", "--quiet").status)
	again := piped(t, []byte(r.out), "assess", "-", "--key", key, "--replace", "--out", "again.csv", "--quiet")
	require.Equal(t, ExitDone, again.status, again.err)
	require.Equal(t, ExitDone, microrisk(t, "assess", "people.csv", "--key", key, "--out", "once.csv", "--quiet").status)
	one, err := os.ReadFile("once.csv")
	require.NoError(t, err)
	two, err := os.ReadFile("again.csv")
	require.NoError(t, err)
	require.Equal(t, string(one), string(two))

	broken := piped(t, []byte(r.out)[:len(r.out)/2], "assess", "-", "--key", key, "--out", "broken.csv", "--quiet")
	require.Equal(t, ExitFailed, broken.status)
	require.NoFileExists(t, "broken.csv")
}

func TestFolders(t *testing.T) {
	folder(t)
	text, err := os.ReadFile("people.csv")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll("in/year=2020", 0o777))
	require.NoError(t, os.MkdirAll("out", 0o777))
	require.NoError(t, os.WriteFile("in/a.csv", text, 0o666))
	require.NoError(t, os.WriteFile("in/year=2020/b.csv", text, 0o666))
	r := microrisk(t, "assess", "in", "--key", key, "--out", "out")
	require.Equal(t, ExitDone, r.status, r.err)
	require.FileExists(t, "out/a.csv")
	require.FileExists(t, "out/year=2020/b.csv")

	require.NoError(t, os.MkdirAll("in/year=2021/piece=1", 0o777))
	require.NoError(t, os.WriteFile("in/year=2021/piece=1/b.csv", text, 0o666))
	require.NoError(t, os.Mkdir("tidy", 0o777))
	r = microrisk(t, "assess", "in", "--key", key, "--out", "tidy", "--population-size", "3")
	require.Equal(t, ExitFailed, r.status, r.err)
	left, err := os.ReadDir("tidy")
	require.NoError(t, err)
	require.Empty(t, left)
	for range 2 {
		r = microrisk(t, "assess", "in", "--key", key, "--out", "tidy")
		require.Equal(t, ExitDone, r.status, r.err)
		for _, name := range []string{"a.csv", "year=2020/b.csv", "year=2021/piece=1/b.csv"} {
			require.FileExists(t, "tidy/"+name)
		}
	}
	r = microrisk(t, "assess", "in", "--key", "age,year", "--out", "out")
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, "in/year=2020/b.csv is in a folder named year=..., in/a.csv is not")
}

func TestInterrupted(t *testing.T) {
	folder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	status := Run(ctx, []string{"microrisk", "assess", "people.csv", "--key", key, "--out", "risk.csv", "--quiet"}, Streams{Out: &out, Err: &errs})
	require.Equal(t, ExitFailed, status)
	require.Equal(t, "microrisk: interrupted\n", errs.String())
	require.NoFileExists(t, "risk.csv")
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestWrong(t *testing.T) {
	folder(t)
	require.NoError(t, os.Mkdir("empty", 0o777))
	require.NoError(t, os.WriteFile("bad.yaml", []byte("version: 1\nsource: {path: people.csv}\nkey: {variables: [age, age]}\noperators: [sudo]\n"), 0o666))
	with := func(args ...string) []string {
		return append([]string{"assess", "people.csv", "--key", key, "--out", "x.csv", "--quiet"}, args...)
	}
	for name, c := range map[string]struct {
		args   []string
		status int
		text   string // of standard error, in part
	}{
		"command":         {[]string{"asess"}, ExitWrong, `there is no command "asess"; did you mean assess?`},
		"flag":            {with("--sumary", "x"), ExitWrong, "there is no flag --sumary; did you mean --summary?"},
		"flag value":      {with("--summary"), ExitWrong, "the flag --summary needs a value"},
		"no number":       {with("--max-size", "many"), ExitWrong, `--max-size is "many"; it must be a whole number`},
		"no file":         {[]string{"assess", "--key", key}, ExitWrong, "name a file to read"},
		"no key":          {[]string{"assess", "people.csv"}, ExitWrong, "name the key variables"},
		"missing file":    {[]string{"assess", "peple.csv", "--key", key}, ExitFailed, "peple.csv does not exist; did you mean people.csv?"},
		"empty folder":    {[]string{"assess", "empty", "--key", key, "--out", "x.csv"}, ExitFailed, "the folder empty has no data files"},
		"unknown column":  {[]string{"assess", "people.csv", "--key", "agee", "--quiet"}, ExitWrong, `did you mean "age"?`},
		"named twice":     {[]string{"assess", "people.csv", "--key", "age,age"}, ExitWrong, "key variable age is named twice"},
		"fraction 0":      {with("--fraction", "0"), ExitWrong, `--fraction is "0"`},
		"fraction 1.5":    {with("--fraction", "1.5"), ExitWrong, `--fraction is "1.5"`},
		"fraction 0.02%":  {with("--fraction", "0.02%"), ExitWrong, "such as 0.0002"},
		"fraction NaN":    {with("--fraction", "NaN"), ExitWrong, `--fraction is "NaN"`},
		"two samplings":   {with("--fraction", "0.1", "--weight", "id"), ExitWrong, "give one of --fraction, --population-size and --weight"},
		"small":           {with("--population-size", "5"), ExitFailed, "population size 5"},
		"output is input": {[]string{"assess", "people.csv", "--key", key, "--out", "./people.csv"}, ExitWrong, "the output ./people.csv is the input people.csv"},
		"output folder":   {[]string{"assess", "people.csv", "--key", key, "--out", "people.csv/x.csv"}, ExitWrong, "the folder people.csv is a file"},
		"remote": {
			[]string{"assess", "s3://bucket/people.parquet", "--key", key, "--out", "x.csv"}, ExitWrong, "this program was built without object stores",
		},
		"twice":          {[]string{"assess", "people.csv", "./people.csv", "--key", key, "--out", "empty"}, ExitWrong, "are the same file"},
		"planned":        {with("--measures", "tau"), ExitWrong, "tau is not part of this version"},
		"limit":          {with("--limit", "dsi=1"), ExitWrong, `limit "dsi" is unknown; did you mean dis?`},
		"size":           {with("--memory", "lots"), ExitWrong, `"lots" is no size`},
		"policy":         {with("--missing", "wildcrd"), ExitWrong, "did you mean wildcard?"},
		"DIS, threshold": {with("--limit", "dis=0.1", "--threshold", "2", "--fraction", "0.1"), ExitWrong, "there is no DIS with a threshold above 1"},
		"range":          {with("--select", "age=a..b"), ExitWrong, "\"a\" is no number; \"b\" is no number\n"},
		"weight":         {with("--weight", "nosuch"), ExitWrong, "the weight: there is no column \"nosuch\""},
		"small limit": {
			[]string{"assess", "people.csv", "--key", key, "--fraction", "0.1", "--limit", "dis=0.00001", "--out", "-", "--quiet"}, ExitLimit,
			"is 0.181818, at most 0.00001 is allowed",
		},
		"several outputs": {[]string{"assess", "people.csv", "b.csv", "--key", key}, ExitWrong, "--out FILE for one of all if their columns are identical"},
		"no key, missing": {[]string{"inspect", "people.csv", "--missing", "drop"}, ExitWrong, "there is no --key"},
		"no key, band":    {[]string{"inspect", "people.csv", "--band", "age=5"}, ExitWrong, "there is no --key"},
		"values and key":  {[]string{"inspect", "people.csv", "--values", "age", "--key", "age"}, ExitWrong, "give one of them"},
		"values of none":  {[]string{"inspect", "people.csv", "--values", "agee"}, ExitWrong, "there is no column \"agee\"; did you mean \"age\"?"},
		"no row":          {[]string{"explain", "people.csv", "--key", key, "--row", "12"}, ExitWrong, "there is no row 12; people.csv has 12 rows"},
		"spec": {
			[]string{"validate", "bad.yaml"}, ExitWrong, "microrisk: bad.yaml:3:24: key variable age is named twice; each counts once\nmicrorisk: bad.yaml:4:13:",
		},
		"no spec": {[]string{"run", "none.yaml"}, ExitFailed, "cannot read the spec none.yaml: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			r := microrisk(t, c.args...)
			require.Equal(t, c.status, r.status, r.err)
			require.Contains(t, r.err, c.text)
			require.True(t, strings.HasPrefix(r.err, "microrisk: ") || strings.HasPrefix(r.err, "time="), r.err)
			require.True(t, r.out == "" || c.status == ExitLimit, r.out)
			require.NoFileExists(t, "x.csv")
		})
	}
}

// A search that would take too long ends with what can be done about it.
func TestLongSearch(t *testing.T) {
	folder(t)
	var text strings.Builder
	var names []string
	for v := range 40 {
		names = append(names, fmt.Sprint("v", v))
	}
	text.WriteString(strings.Join(names, ",") + "\n")
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		for v := range 40 {
			fmt.Fprintf(&text, "%d%s", random.IntN(2), map[bool]string{true: "\n", false: ","}[v == 39])
		}
	}
	require.NoError(t, os.WriteFile("wide.csv", []byte(text.String()), 0o666))
	r := microrisk(t, "assess", "wide.csv", "--key", strings.Join(names, ","), "--out", "x.csv", "--quiet")
	require.Equal(t, ExitFailed, r.status)
	require.Regexp(
		t,
		`^microrisk: the search would take about [0-9,]+ (days|hours): with at most \d variables a set \(--max-size \d, in a spec max_size: \d\) .*--force .*\n$`,
		r.err,
	)
	require.NoFileExists(t, "x.csv")
}

func TestNoStreamToTheScreen(t *testing.T) {
	folder(t)
	var out, errs bytes.Buffer
	status := Run(t.Context(), []string{"microrisk", "assess", "people.csv", "--key", key, "--out", "-"}, Streams{Out: &out, Err: &errs, Screen: true})
	require.Equal(t, ExitWrong, status)
	require.Contains(t, errs.String(), "standard output is a terminal")
	require.Empty(t, out.String())
}

func TestJSONLog(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", "agee", "--log-format", "json")
	require.Equal(t, ExitWrong, r.status)
	for line := range strings.Lines(r.err) {
		require.True(t, json.Valid([]byte(line)), line)
	}
}

// The help of every command fits the screen.
func TestHelp(t *testing.T) {
	asked := [][]string{{}, {"--help"}, {"help"}, {"run", "-h"}, {"help", "assess"}}
	var walk func(before []string, list []*cli.Command)
	walk = func(before []string, list []*cli.Command) {
		for _, c := range list {
			if c.Name != "help" {
				call := append(slices.Clone(before), c.Name)
				asked = append(asked, append(slices.Clone(call), "--help"))
				walk(call, c.Subcommands)
			}
		}
	}
	walk(nil, (&console{}).app().Commands)
	for _, args := range asked {
		r := microrisk(t, args...)
		require.Equal(t, ExitDone, r.status, args)
		require.NotEmpty(t, r.out)
		for line := range strings.Lines(r.out) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), screen, "%v: %s", args, line)
		}
	}
	require.Contains(t, microrisk(t, "version").out, "microrisk ")
	require.Equal(t, microrisk(t, "version"), microrisk(t, "--version"))
}

// Messages speak of flags to who typed flags, and say what was probably meant.
func TestHints(t *testing.T) {
	folder(t)
	require.NoError(t, os.WriteFile("bare", []byte("a,b\n1,2\n"), 0o666))
	for want, args := range map[string][]string{
		"there is no flag --output; did you mean --out?":                                            {"assess", "people.csv", "--key", "age", "--output", "x.csv"},
		"there is no flag --population; did you mean --population-size?":                            {"assess", "people.csv", "--key", "age", "--population", "100"},
		"for the column of sampling weights say --weight id":                                        {"assess", "people.csv", "--key", "age", "--weights", "id"},
		"there is no file sex, region; key variables are separated by commas: --key age,sex,region": {"assess", "people.csv", "--key", "age", "sex", "region"},
		"run takes a spec, and people.csv is data: microrisk assess people.csv":                     {"run", "people.csv"},
		"or say --format parquet, arrow or csv":                                                     {"assess", "bare", "--key", "a", "--out", "x.csv"},
		"mc3 needs the size of the population: add --fraction, --population-size or --weight":       {"assess", "people.csv", "--key", "age", "--measures", "mc3"},
		"a figure of kanonymity; add kanonymity to --measures": {
			"assess", "people.csv", "--key", "age", "--limit", "kanonymity_violations=0",
		},
		"allow it with --allow-empty":                       {"assess", "people.csv", "--key", "age", "--select", "sex=male"},
		`there is no command "asses"; did you mean assess?`: {"asses"},
	} {
		r := microrisk(t, args...)
		require.Equal(t, ExitWrong, r.status, r.err)
		require.Contains(t, r.err, want)
	}
	r := microrisk(t, "assess", "bare", "--key", "a", "--format", "csv", "--out", "x.csv", "--quiet")
	require.Equal(t, ExitDone, r.status, r.err)
}

// JSON logs are JSON throughout, with fields.
func TestJSONLogs(t *testing.T) {
	folder(t)
	lines := func(args ...string) (list []map[string]any) {
		r := microrisk(t, append(args, "--log-format", "json")...)
		for line := range strings.Lines(r.err) {
			var m map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &m), line)
			list = append(list, m)
		}
		require.NotEmpty(t, list)
		return list
	}
	last := func(list []map[string]any) map[string]any { return list[len(list)-1] }
	m := last(lines("assess", "people.csv", "--key", key, "--limit", "sample_uniques=0", "--out", "-"))
	require.Equal(t, "sample_uniques", m["limit"])
	require.EqualValues(t, 0, m["allowed"])
	require.Greater(t, m["value"], 0.0)
	require.NoError(
		t,
		os.WriteFile("bad.yaml", []byte("version: 1\nsource: {path: people.csv}\nkey: {variables: [age]}\noperators: [sdua]\nsink: {path: x.csv}\n"), 0o666),
	)
	m = last(lines("run", "bad.yaml"))
	require.Equal(t, "bad.yaml", m["file"])
	require.EqualValues(t, 4, m["line"])
	require.Contains(t, last(lines("assess", "people.csv", "--kye", "age"))["msg"], "did you mean --key?")
}

// inspect, explain and tabulate take a spec for what they read.
func TestSpecsAsSources(t *testing.T) {
	folder(t)
	require.NoError(t, os.WriteFile("s.yaml", []byte(`version: 1
source: {path: people.csv}
key: {variables: [AGE10, sex]}
operators:
  - recode: {AGE10: {from: age, width: 10, keep: false}}
  - select: {rows: {sex: [M]}}
  - suda: {}
sink: {path: risk.csv}
`), 0o666))
	r := microrisk(t, "inspect", "s.yaml")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "without AGE10")
	require.Contains(t, r.out, "chosen")
	r = microrisk(t, "inspect", "s.yaml", "--values", "AGE10")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "40-49")
	r = microrisk(t, "explain", "s.yaml", "--row", "5")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "age = 47")
	r = microrisk(t, "tabulate", "s.yaml", "--cells", "AGE10", "--out", "t.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	text, err := os.ReadFile("t.csv")
	require.NoError(t, err)
	require.Contains(t, string(text), "40-49,")
	r = microrisk(t, "inspect", "s.yaml", "--select", "sex=F")
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, "--select and the spec s.yaml both say what is read")
}

// A column without a name can be a key variable.
func TestEmptyName(t *testing.T) {
	path, err := filepath.Abs("../../operators/parquetfile/testdata/07_name_empty.parquet")
	require.NoError(t, err)
	folder(t)
	r := microrisk(t, "inspect", path, "--key", `region,""`)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "all variables              4               2")
	r = microrisk(t, "inspect", path, "--key", "region,")
	require.Contains(t, r.err, "has an empty name between its commas")
}

// A value that no row has is an error in every verb that chooses rows.
func TestSelectOfNothing(t *testing.T) {
	folder(t)
	k := []string{"--key", "age,sex"}
	for verb, args := range map[string][]string{
		"assess":   {"people.csv", "--key", "age,sex"},
		"inspect":  {"people.csv"},
		"explain":  append([]string{"people.csv", "--row", "0"}, k...),
		"tabulate": {"people.csv", "--cells", "age"},
		"attack":   append([]string{"--sample", "people.csv", "--population", "people.csv"}, k...),
		"evaluate": append([]string{"people.csv", "--fraction", "0.5", "--measures", "suda", "--out", "ev"}, k...),
		"count":    append([]string{"people.csv"}, k...),
	} {
		t.Run(verb, func(t *testing.T) {
			for _, value := range []string{"sex=male", "age=900.."} {
				r := microrisk(t, append(append([]string{verb}, args...), "--select", value)...)
				require.Equal(t, ExitWrong, r.status, "%s %s", r.out, r.err)
				require.Contains(t, r.err, "--allow-empty")
			}
		})
	}
	r := microrisk(t, "assess", "people.csv", "--key", "age,sex", "--select", "sex=male", "--allow-empty", "--limit", "sample_uniques=5")
	require.Equal(t, ExitLimit, r.status, r.err)
	require.Contains(t, r.err, "sample_uniques is a figure of no records")
	r = microrisk(t, "assess", "people.csv", "--key", "age,sex", "--workers", "2147483647")
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, "it must be from 0 (all cores) to 4096")
}

// Help is help wherever it stands; a threshold above 1 is not explained by minimal sample uniques.
func TestHelpAndThreshold(t *testing.T) {
	folder(t)
	r := microrisk(t, "tabulate", "people.csv", "--help")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "--cells")
	require.NoError(
		t,
		os.WriteFile(
			"s.yaml",
			[]byte("version: 1\nsource: {path: people.csv}\nkey: {variables: [age, sex]}\noperators: [{suda: {threshold: 2}}]\nsink: {path: x.csv}\n"),
			0o666,
		),
	)
	r = microrisk(t, "explain", "s.yaml", "--row", "0")
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, "with a threshold of 2")
}
