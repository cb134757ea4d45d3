package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// intruder has a population, two samples of it, and a released table.
func intruder(t *testing.T) {
	t.Chdir(t.TempDir())
	population := strings.Repeat("m,1,a\n", 12) + strings.Repeat("f,1,b\n", 9) + strings.Repeat("f,2,a\n", 4) + "m,2,a\nm,2,b\nm,3,a\nf,3,b\n"
	for name, text := range map[string]string{
		"p.csv":  "S,A,H\n" + population,
		"a.csv":  "S,A\n" + strings.Repeat("m,1\n", 4) + "f,1\nf,1\nf,2\nm,2\nf,3\n",
		"b.csv":  "S,A,H\n" + strings.Repeat("m,1,a\n", 3) + "f,2,a\nm,3,a\nf,3,b\n",
		"t.csv":  "S,A,value\nm,1,12\nf,1,9\nf,2,3\nm,2,3\nm,3,0\nf,3,3\n",
		"c2.csv": "S,A\nm,1\nf,3\n",
		"c.csv":  "S,A\n1,1\n2,3\n",
		"r.yaml": "S: {replace: true, map: {1: m, 2: f}}\n",
		"s.yaml": "version: 1\nsource: {path: p.csv}\nsampling: {fraction: 0.3}\nkey: {variables: [S, A, H]}\noperators: [suda]\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

func TestAttackCommand(t *testing.T) {
	intruder(t)
	r := microrisk(t, "attack", "--sample", "a.csv", "--population", "p.csv", "--key", "S,A", "--cost", "9", "--out", "attacks.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "9 records of a population of 29")
	require.Regexp(t, `4 sample uniques \(CM\|SU\) +s to p +3 `, r.out)
	require.Contains(t, r.out, "as many classes as the cost allows")
	for _, line := range strings.Split(r.out, "\n") {
		require.LessOrEqual(t, len([]rune(line)), 84, line)
	}
	r = microrisk(t, "attack", "--sample", "a.csv", "--fraction", "0.3", "--key", "S,A")
	require.Equal(t, ExitDone, r.status, r.err)
	require.NotContains(t, r.out, "is known")
	refused(t, map[string]string{
		"attack --key S,A":                                   "name the sample",
		"attack a.csv --key S,A":                             "a.csv is neither the sample nor the population",
		"attack --sample a.csv --key S,A":                    "nothing is said of the population",
		"attack --sample a.csv --population p.csv":           "name the key variables",
		"attack --sample p.csv --population a.csv --key S,A": "the sample has 29 records, the population 9",
		"attack --sample a.csv --population p.csv --key S,A --known-only --search exact": "--known-only fits none",
		"attack --sample a.csv --population p.csv --key S,A --frequency 0":               "--frequency is 0",
		"attack --sample a.csv --population p.csv --key S,A --cost 0.1":                  "--cost is 0.1",
		"attack --sample a.csv --population p.csv --key S,A --fraction 0.1":              "leave the sampling fraction",
		"attack --sample a.csv --population p.csv --key S,A --missing wildcard":          "category or drops",
	}, ExitWrong, ExitFailed)
}

// sameBySpec runs a command line and the spec that it prints, which do the same; out are the files written.
func sameBySpec(t *testing.T, args []string, out ...string) {
	t.Helper()
	printed(t, args...)
	byFlags := microrisk(t, args...)
	require.Equal(t, ExitDone, byFlags.status, byFlags.err)
	var want []string
	for _, name := range out {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.Remove(name))
		want = append(want, string(text))
	}
	bySpec := microrisk(t, args[0], "--spec", "spec.yaml")
	require.Equal(t, ExitDone, bySpec.status, bySpec.err)
	require.Equal(t, byFlags.out, bySpec.out)
	for i, name := range out {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, want[i], string(text), name)
	}
}

func TestAttackBySpec(t *testing.T) {
	intruder(t)
	sameBySpec(
		t,
		strings.Fields("attack --sample a.csv --population p.csv --key S,A --cost 9 --classes c2.csv --ranking expected --search exact --out o.csv"),
		"o.csv",
	)
	sameBySpec(t, strings.Fields("attack --sample a.csv --population p.csv --key S,A --band A=2 --known-only --missing drop --out o.csv"), "o.csv")
	sameBySpec(t, strings.Fields("attack --sample a.csv --fraction 0.3 --key S,A --select S=m,f --frequency 3 --error S=0.1 --error A=0 --out o.csv"), "o.csv")
	refused(t, map[string]string{
		"attack --spec spec.yaml --key S":                                         "--key is said by the spec; leave it out",
		"attack --sample a.csv --fraction 0.3 --key S,A --error A=1":              `--error is "A=1"; the rate must be at least 0 and below 1`,
		"attack --sample a.csv --fraction 0.3 --key S,A --error A":                `--error is "A"; it is VARIABLE=RATE`,
		"attack --sample a.csv --fraction 0.3 --key S,A --error B=.1":             `no key variable "B"`,
		"attack --sample a.csv --fraction 0.3 --key S,A --error A=.1 --error A=0": "the error rate of A is said twice",
		"attack --spec spec.yaml --cost 0":                                        "--cost is 0; it must be at least 1 person",
		"attack --spec spec.yaml --population p.csv":                              "spec.yaml:3:1: the file of the population says how large it is",
		"attack --spec spec.yaml --out spec.yaml":                                 "spec.yaml",
	}, ExitWrong)
}

func TestLinkBySpec(t *testing.T) {
	intruder(t)
	sameBySpec(t, strings.Fields("link a.csv b.csv c.csv --key A --model --search exact --prior-precision 3 --posterior 4 --population-size 40 --out l.arrow"), "l.arrow")
	sameBySpec(t, strings.Fields("link a.csv b.csv --key A --prior flat --population-size 40 --out l.csv"), "l.csv")
	sameBySpec(
		t,
		strings.Fields(
			"link a.csv b.csv --key S,A --population p.csv --table t.csv --scheme random --base 3 --bounds tight --convolve --levels A=1|2|3 --out l.csv --pairs "+
				"q.csv --most-pairs 99",
		),
		"l.csv",
		"q.csv",
	)
	sameBySpec(
		t,
		strings.Fields("link a.csv c.csv --key S,A --band A=2 --population-size 29 --recode-b r.yaml --missing drop --missing-codes x,9 --out l.csv"),
		"l.csv",
	)
	r := microrisk(t, "link", "--spec", "spec.yaml", "--population-size", "30", "--print-spec")
	require.Contains(t, r.out, "population_size: 30\n")
	require.Contains(t, r.out, "recode_b: {S: {map: {\"1\": m, \"2\": f}, replace: true}}\n")
	refused(t, map[string]string{
		"link --spec spec.yaml a.csv":                                          "two samples are linked or more, not 1",
		"link --spec spec.yaml --population p.csv":                             "spec.yaml:8:1: the file of the population says how large it is",
		"link a.csv b.csv --population-size 29 --recode-b r.yaml --out r.yaml": "r.yaml",
	}, ExitWrong)
}

func TestLinkCommand(t *testing.T) {
	intruder(t)
	r := microrisk(
		t,
		"link",
		"--population",
		"p.csv",
		"--table",
		"t.csv",
		"--scheme",
		"random",
		"--base",
		"3",
		"--out",
		"links.csv",
		"--pairs",
		"pairs.csv",
		"a.csv",
		"b.csv",
	)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Regexp(t, `unique matches +2`, r.out)
	require.Contains(t, r.out, "linked by S, A")
	require.FileExists(t, "pairs.csv")
	r = microrisk(t, "link", "--population-size", "29", "--recode-b", "r.yaml", "--out", "links.csv", "a.csv", "c.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Regexp(t, `unique matches +1`, r.out)
	refused(t, map[string]string{
		"link --population-size 9 a.csv":                                       "two samples are linked or more, not 1",
		"link a.csv b.csv":                                                     "Give its size (--population-size), or its file (--population)",
		"link --population-size x a.csv b.csv":                                 `--population-size is "x"`,
		"link --population-size 29 --key Q a.csv b.csv":                        `no column "Q"`,
		"link --population-size 29 --missing ignore a.csv b.csv":               "category or drop",
		"link --population-size 29 --recode-a nope.yaml a.csv b.csv":           "cannot read the recodes nope.yaml",
		"link --population-size 29 --recode-a a.csv a.csv b.csv":               "a.csv",
		"link --population-size 29 --pairs p2.csv --most-pairs 0 a.csv b.csv":  "--most-pairs is 0",
		"link --population-size 29 --scheme random a.csv b.csv":                "there are none",
		"link --population-size 29 --prior uniform a.csv b.csv":                `there is no prior "uniform"; it is model or flat`,
		"link --population-size 29 --prior flat --search exact a.csv b.csv":    "the flat prior is of no model",
		"link --population-size 29 --prior flat --model a.csv b.csv":           "leave one of them out",
		"link --population-size 29 --posterior 5 --out l.csv a.csv b.csv":      "l.csv is CSV, which has no lists",
		"link --population-size 29 --errors guess a.csv b.csv":                 `error rates are not "guess"; they are learnt`,
		"link --population-size 29 --error S=2 a.csv b.csv":                    `--error is "S=2"; the rate must be at least 0 and below 1`,
		"link --population-size 29 --error Q=.1 --model a.csv b.csv":           `there is no "Q"`,
		"link --population-size 29 --key S,A --error Q=.1 a.csv b.csv":         `no key variable "Q"`,
		"link --population-size 29 --error S=.1 --errors learn a.csv b.csv":    "given (--error) or learnt (--errors learn)",
		"link --population-size 29 --key S,A --error S=.1,A=.2 a.csv b.csv":    "each rate is said by itself",
		"link --population-size 29 --error S=.1 --prior flat a.csv b.csv":      "leave the flat prior out",
		"link --population-size 29 --error S=.1 --bounds tight a.csv b.csv":    "take naive ones",
		"link --population-size 29 --error S=.1 a.csv b.csv c.csv":             "two by two",
		"link --population-size 29 --error S=.1 a.csv b.csv":                   "take it all the same (--prior model)",
		"link --population p.csv --error S=.1 a.csv b.csv":                     "say how large the population is (--population-size)",
		"link --population-size 29 --differ 2 a.csv b.csv":                     "give rates (--error), or have them learnt (--errors learn)",
		"link --population-size 29 --errors learn --differ 4 a.csv b.csv":      "--differ is 4; it must be from 1 to 3",
		"link --population-size 29 --error S=.1 --exact t.csv a.csv b.csv":     "leave them or the errors out",
		"link --population-size 29 --errors learn --model --key A a.csv b.csv": "one alone",
		"link --population-size 29 --posterior x a.csv b.csv":                  "--posterior is \"x\"",
		"link --population-size 29 --prior-precision 1,3 a.csv b.csv":          "one prior precision",
		"link --population-size 29 --iterations 50 a.csv b.csv":                "--iterations belongs to --search mc3; add that",
	}, ExitWrong, ExitFailed)
}

func TestEvaluateBySpec(t *testing.T) {
	intruder(t)
	outputs := []string{"ev/evaluation.json", "ev/plots.parquet"}
	sameBySpec(t, strings.Fields("evaluate p.csv --key S,A,H --band A=2 --fraction 0.3,0.5..0.6:0.1 --repetitions 2 --measures suda,individual,kanonymity "+
		"--score factorial --max-size 2 --risk-estimator approximate --scores suda_score,individual_risk --top 5,9 --bins 3 --pictures svg --out ev"), outputs...)
	sameBySpec(t, strings.Fields("evaluate s.yaml --fraction 0.3 --repetitions 2 --stratify H --pictures svg --out ev"), outputs...)
	text, err := os.ReadFile("spec.yaml")
	require.NoError(t, err)
	require.NotContains(t, string(text), "sampling:")
	r := microrisk(t, "evaluate", "--spec", "spec.yaml", "--fraction", "0.4", "--print-spec")
	require.Contains(t, r.out, "fractions: 0.4\n")
	r = microrisk(t, "evaluate", "p.csv", "--key", "S,A", "--print-spec")
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.out, "# not valid yet: name the sampling fraction: --fraction 0.01\n")
	require.Contains(t, r.out, "key: {variables: [S, A]}\n")
	refused(t, map[string]string{
		"evaluate --spec spec.yaml p.csv":                 "--spec says what is judged, p.csv too",
		"evaluate --spec spec.yaml --key S,A":             "--key is said by the spec",
		"evaluate --spec spec.yaml --search exact":        "--search is said by the spec",
		"evaluate --spec spec.yaml --household H":         "spec.yaml:1:1: samples are stratified or of whole households",
		"evaluate --spec spec.yaml --out p.csv":           "p.csv is a file; an evaluation is written to a folder",
		"evaluate --spec s.yaml":                          `s.yaml:`,
		"evaluate p.csv --key S,A --fraction 0.3 --out=":  "--out is empty",
		"evaluate p.csv --key S,A --fraction 0.3 --msus":  "msus",
		"evaluate p.csv --key S,A --fraction .1 --bins 0": "--bins is 0; it must be at least 1",
	}, ExitWrong)
}

func TestEvaluateCommand(t *testing.T) {
	intruder(t)
	r := microrisk(
		t,
		"evaluate",
		"--key",
		"S,A,H",
		"--fraction",
		"0.3,0.5..0.7:0.1",
		"--repetitions",
		"2",
		"--measures",
		"suda,individual,kanonymity",
		"--pictures",
		"svg",
		"p.csv",
	)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "and 1 fraction more")
	require.FileExists(t, "evaluation/strategies.svg")
	require.FileExists(t, "evaluation/calibration-match-0.6.svg")
	r = microrisk(t, "evaluate", "--fraction", "0.3", "--repetitions", "1", "--out", "spec", "--pictures", "png", "s.yaml")
	require.Equal(t, ExitDone, r.status, r.err)
	require.FileExists(t, "spec/calibration-match-0.3.png")
	r = microrisk(t, "evaluate", "--fraction", "0.3", "--repetitions", "1", "--out", "none", "--pictures", "none", "s.yaml")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Equal(t, []string{"evaluation.json", "plots.parquet"}, listed(t, "none"))
	require.Equal(t, ExitDone, microrisk(t, "assess", "p.csv", "--key", "S,A", "--fraction", "0.3", "--out", "annotated.csv").status)
	r = microrisk(t, "evaluate", "--key", "S,A,H", "--fraction", "0.3", "--repetitions", "1", "--measures", "suda", "--out", "again", "annotated.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	refused(t, map[string]string{
		"evaluate --key S,A p.csv":                                               "--fraction 0.01",
		"evaluate --key S,A --fraction 1 p.csv":                                  "above 0 and below 1",
		"evaluate --key S,A --fraction 0.1..0.9 p.csv":                           "no range",
		"evaluate --key S,A --fraction 0.1 --repetitions 0 p.csv":                "--repetitions is 0",
		"evaluate --key S,A --fraction 0.1 --measures sap p.csv":                 `"sap" cannot be judged`,
		"evaluate --key S,A --fraction 0.1 --measures suda --search exact p.csv": "--search belongs to mc3",
		"evaluate --fraction 0.1 --key S s.yaml":                                 "--key is said by the spec",
		"evaluate --key S,A --fraction 0.1 --top x p.csv":                        `--top is "x"`,
		"evaluate --key S,A --fraction 0.1 --scores nope p.csv":                  `no operator writes a score "nope"`,
	}, ExitWrong, ExitFailed)
}

// listed are the files of a folder, by name.
func listed(t *testing.T, folder string) []string {
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
