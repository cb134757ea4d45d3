package command

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const recoded = `version: 1
source: {path: people.csv}
sampling: {fraction: 0.1}
key: {variables: [sex, region]}
operators:
  - recode: {sex: {map: {F: M, M: F}, replace: true}}
  - mc3: {search: fixed, graph: independence}
  - suda
sink: {path: out.parquet}
limits: {max_correct_match: 0.001}
`

// A file whose columns were replaced is explained by what it has: its recodes are not made again.
func TestExplainOfReplacedColumns(t *testing.T) {
	folder(t)
	require.NoError(t, os.WriteFile("s.yaml", []byte(recoded), 0o600))
	r := microrisk(t, "run", "s.yaml")
	require.Equal(t, ExitLimit, r.status, r.err)
	require.Contains(t, r.err, "max_correct_match")
	of := microrisk(t, "explain", "out.parquet", "--row", "0")
	require.Equal(t, ExitDone, of.status, of.err)
	again := microrisk(t, "explain", "out.parquet", "--row", "0", "--key", "sex,region", "--fraction", "0.1")
	require.Equal(t, ExitDone, again.status, again.err)
	first := microrisk(t, "explain", "people.csv", "--row", "0", "--key", "sex,region")
	require.Equal(t, ExitDone, first.status, first.err)
	line := func(out string) string {
		for _, l := range strings.Split(out, "\n") {
			if len(l) > 5 && l[:5] == "  sex" {
				return l
			}
		}
		return ""
	}
	require.Equal(t, line(again.out), line(of.out))
	require.NotEqual(t, line(first.out), line(of.out))
}

// Who assesses bands and writes the exact values is told so.
func TestFiguresOfBandsThatAreNotReleased(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", "age,sex", "--band", "age=10", "--out", "r.parquet")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, r.err, "the figures are of age as recoded, and the output has what is in the input")
	r = microrisk(t, "assess", "people.csv", "--measures", "sap", "--cells", "age,sex", "--band", "age=10", "--known", "1", "--out", "t.csv")
	require.Contains(t, r.err, "the figures are of age as recoded")
	const spec = "\ufeffversion: 1\nsource: {path: people.csv}\nkey: {variables: [sex, AGEB]}\noperators:\n" +
		"  - recode: {AGEB: {from: age, width: 10, keep: %s}}\n  - suda\n%ssink: {path: s.csv}\n"
	for want, text := range map[bool]string{true: fmt.Sprintf(spec, "true", ""), false: fmt.Sprintf(spec, "false", "  - select: {columns: [sex, suda_score]}\n")} {
		require.NoError(t, os.WriteFile("s.yaml", []byte(text), 0o600))
		r = microrisk(t, "run", "s.yaml")
		require.Equal(t, ExitDone, r.status, r.err)
		require.Equal(t, want, strings.Contains(r.err, "as recoded"), r.err)
	}
	require.NoError(t, os.WriteFile("recodes.yaml", []byte("age: {width: 10, replace: true}\n"), 0o600))
	r = microrisk(t, "assess", "people.csv", "--key", "age,sex", "--recode", "@recodes.yaml", "--out", "r.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	require.NotContains(t, r.err, "as recoded")
	text, err := os.ReadFile("r.csv")
	require.NoError(t, err)
	require.Contains(t, string(text), "-") // bands
}

func TestLimitWithASpace(t *testing.T) {
	folder(t)
	r := microrisk(t, "assess", "people.csv", "--key", "age,sex", "--limit", "sample_uniques", "5", "--out", "r.csv")
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, "--limit sample_uniques: write sample_uniques=VALUE, without a space")
}
