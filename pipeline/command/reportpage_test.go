package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/pipeline/page/pagetest"
)

const assessed = "assess people.csv --key age,sex,region --fraction 0.1 --out r.csv"

func TestReportOfAssess(t *testing.T) {
	folder(t)
	r := microrisk(t, append(strings.Fields(assessed), "--report", "report.html")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "page written to report.html")
	text, err := os.ReadFile("report.html")
	require.NoError(t, err)
	pagetest.HTML(t, text)
	require.Contains(t, string(text), "No limit was set: the page cannot say whether this may be released.")
	require.NotContains(t, string(text), "Riskiest records")
	// A profile brings the measure that its limits are for, and is a gate.
	r = microrisk(t, append(strings.Fields(assessed), "--report", "report.md", "--profile", "public-use", "--quiet", "--confidential")...)
	require.Equal(t, ExitLimit, r.status, r.err)
	require.Contains(t, r.err, "max_correct_match")
	text, err = os.ReadFile("report.md")
	require.NoError(t, err)
	require.Contains(t, string(text), "**No: the limit that was set is not met.**")
	require.Contains(t, string(text), "it is no law")
	require.Contains(t, string(text), "## Riskiest records")
	r = microrisk(t, append(strings.Fields(assessed), "--profile", "public-use", "--limit", "max_correct_match=1")...)
	require.Equal(t, ExitDone, r.status, r.err)
}

func TestReportOfRun(t *testing.T) {
	folder(t)
	r := microrisk(t, append(strings.Fields(assessed), "--profile", "scientific-use", "--print-spec")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "profile: scientific-use")
	require.NotContains(t, r.out, "limits:", "it is read when the spec runs")
	require.NoError(t, os.WriteFile("s.yaml", []byte(r.out), 0o600))
	r = microrisk(t, "run", "s.yaml", "--report", "r.html", "--report-for", "publication")
	require.Equal(t, ExitLimit, r.status, r.err)
	text, err := os.ReadFile("r.html")
	require.NoError(t, err)
	pagetest.HTML(t, text)
	require.Contains(t, string(text), "For publication")
	r = microrisk(t, "validate", "s.yaml")
	require.Equal(t, ExitDone, r.status, r.err)
	r = microrisk(t, "run", "s.yaml", "--profile", "public-us")
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, "did you mean public-use?")
}

func TestReportRefuses(t *testing.T) {
	folder(t)
	for flags, want := range map[string]string{
		"--report-for office":                "add --report",
		"--confidential":                     "add --report",
		"--report report.pdf":                ".html or .md",
		"--report r.html --report-for press": "office or publication",
		"--report r.html --report-for publication --confidential": "leave one of them out",
		"--report r.html --print-spec":                            "leave one of them out",
		"--report r.csv":                                          ".html or .md",
		"--profile office":                                        "is unknown",
		"--profile public-use --measures suda":                    "max_correct_match",
		"--report people.md --summary people.md":                  "people.md",
		"--profile=":                                              "no name",
	} {
		r := microrisk(t, append(strings.Fields(assessed), strings.Fields(flags)...)...)
		require.Equal(t, ExitWrong, r.status, flags+r.err)
		require.Contains(t, r.err, want, flags)
		require.NoFileExists(t, "r.csv", flags)
	}
	require.NoError(t, os.WriteFile("notes.md", []byte("my notes\n"), 0o600))
	r := microrisk(t, append(strings.Fields(assessed), "--report", "notes.md")...)
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, "notes.md exists and is no page")
}

func TestReportOfProtect(t *testing.T) {
	folder(t)
	protect := "protect people.csv --key age,sex,region --target k=2 --out r.csv"
	r := microrisk(t, append(strings.Fields(protect), "--report", "p.html")...)
	require.Contains(t, []int{ExitDone, ExitLimit}, r.status, r.err)
	require.Contains(t, r.out, "page written to p.html")
	text, err := os.ReadFile("p.html")
	require.NoError(t, err)
	pagetest.HTML(t, text)
	require.NoError(t, os.Remove("r.csv"))
	r = microrisk(t, append(strings.Fields(protect), "--report", "r.csv")...)
	require.Equal(t, ExitWrong, r.status)
	require.NoError(t, os.WriteFile("p.html", []byte("mine"), 0o600))
	r = microrisk(t, append(strings.Fields(protect), "--report", "p.html")...)
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, "is no page")
	require.NoFileExists(t, "r.csv", "it is told before anything is done")
}

func TestReportOfEvaluate(t *testing.T) {
	folder(t)
	evaluate := "evaluate people.csv --key age,sex --fraction 0.5 --repetitions 2 --measures suda --out e"
	r := microrisk(t, append(strings.Fields(evaluate), "--report", "e.html")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.out, "page written to e.html")
	text, err := os.ReadFile("e.html")
	require.NoError(t, err)
	pagetest.HTML(t, text)
	r = microrisk(t, append(strings.Fields(evaluate), "--report", "people.md")...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.NoError(t, os.Link("people.csv", "link.html"))
	r = microrisk(t, append(strings.Fields(evaluate), "--report", "link.html")...)
	require.Equal(t, ExitWrong, r.status, "the population is not written over")
}

func TestReportOfCompare(t *testing.T) {
	folder(t)
	compare := "compare people.csv people.csv --key age,sex,region --fraction 0.1"
	r := microrisk(t, append(strings.Fields(compare), "--report", "c.html", "--confidential", "--limit", "sample_uniques=0")...)
	require.Equal(t, ExitLimit, r.status, r.err)
	text, err := os.ReadFile("c.html")
	require.NoError(t, err)
	pagetest.HTML(t, text)
	require.Contains(t, string(text), "the second file does not meet 1 of 1 limit.")
	require.Contains(t, string(text), "must not leave the office")
	r = microrisk(t, append(strings.Fields(compare), "--report", "c.md")...)
	require.Equal(t, ExitDone, r.status, r.err)
	text, err = os.ReadFile("c.md")
	require.NoError(t, err)
	require.Contains(t, string(text), "No limit was set")
	require.NotContains(t, string(text), "%!")
	require.NoError(t, os.Link("people.csv", "link.html"))
	r = microrisk(t, append(strings.Fields(compare), "--report", "link.html")...)
	require.Equal(t, ExitWrong, r.status)
	r = microrisk(t, append(strings.Fields(compare), "--report", "c.md", "--report-for", "publication")...)
	require.Equal(t, ExitWrong, r.status, "a comparison tells of a file that is not released")
}

func TestReportOfTables(t *testing.T) {
	folder(t)
	protect := "table protect people.csv --table sex,region --rule min:n=2 --public p.csv --internal inside"
	r := microrisk(t, append(strings.Fields(protect), "--report", "t.html")...)
	require.Equal(t, ExitDone, r.status, r.err)
	text, err := os.ReadFile("t.html")
	require.NoError(t, err)
	pagetest.HTML(t, text)
	require.Contains(t, string(text), "Yes, by the rules that were set")
	require.Contains(t, string(text), "minimum frequency 2")
	r = microrisk(t, append(strings.Fields(protect), "--report", "t.md", "--report-for", "publication")...)
	require.Equal(t, ExitDone, r.status, r.err)
	text, err = os.ReadFile("t.md")
	require.NoError(t, err)
	require.NotContains(t, string(text), "minimum", "rules help who wants to undo the protection")
	require.NotContains(t, string(text), "inside")
	require.NotContains(t, string(text), "nsafe cells:")
	r = microrisk(t, "tabulate", "people.csv", "--cells", "sex,region", "--out", "t.csv", "--report", "c.html")
	require.Equal(t, ExitDone, r.status, r.err)
	text, err = os.ReadFile("c.html")
	require.NoError(t, err)
	pagetest.HTML(t, text)
	require.Contains(t, string(text), "cannot say whether this table may be published")
	require.Contains(t, string(text), "Counts are true")
	// A ready-made table.
	ready := "table protect t.csv --table sex,region --count count --rule min:n=2 --internal in2"
	r = microrisk(t, append(strings.Fields(ready), "--public", "q.csv", "--report", "q.html")...)
	require.Equal(t, ExitDone, r.status, r.err)
	text, err = os.ReadFile("q.html")
	require.NoError(t, err)
	pagetest.HTML(t, text)
	r = microrisk(t, append(strings.Fields(ready), "--public", "q.md", "--report", "q.md")...)
	require.Equal(t, ExitWrong, r.status)
}
