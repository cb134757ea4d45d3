package command

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/mc3"
)

// Each figure stands beside the limit that it was compared with, and those without a row of their own are listed.
func TestLimitsInTheTable(t *testing.T) {
	folder(t)
	r := microrisk(
		t,
		"assess",
		"people.csv",
		"--key",
		key,
		"--fraction",
		"0.1",
		"--measures",
		"suda,mc3",
		"--mc3-missing",
		"drop",
		"--effects",
		"none",
		"--limit",
		"sample_uniques=7",
		"--limit",
		"dis=0.5",
		"--limit",
		"pu=1",
		"--limit",
		"max_score=1",
		"--out",
		"r.csv",
		"--quiet=false",
	)
	require.Equal(t, ExitLimit, r.status, r.err)
	flat := strings.Join(strings.Fields(r.out), " ")
	for _, has := range []string{"sample uniques 8 limit 7 BREACHED; 66.7 % of the records", "DIS 0.1818 limit 0.5; chance", "limit 1 BREACHED, of a part of " +
		"the records; PU: of the population",
		"limits sample_uniques of mc3", "max_score of suda 3.5 limit 1 BREACHED", "re-identifications", "of 11 of 12 records"} {
		require.Contains(t, flat, has)
	}
	for line := range strings.Lines(r.out) {
		require.LessOrEqual(t, len([]rune(line)), screen+1, line)
	}
}

// The id and the key values of the riskiest records are for who looks on: no document has the id.
func TestRiskiestRecordsAreNamed(t *testing.T) {
	folder(t)
	args := []string{"assess", "people.csv", "--key", key, "--id", "id", "--out", "r.csv", "--summary", "r.json"}
	r := microrisk(t, args...)
	require.Equal(t, ExitDone, r.status, r.err)
	require.Regexp(t, `row 10 +3\.50\n      id \d+: age = 62, sex = M, region = south, job = \(missing\)\n`, r.out)
	var s map[string]any
	require.NoError(t, json.Unmarshal(read(t, "r.json"), &s))
	require.Equal(t, "id", s["spec"].(map[string]any)["id"])
	spec := microrisk(t, append(args, "--print-spec")...).out
	require.Contains(t, spec, "\nid: id\n")
	require.NoError(t, os.WriteFile("spec.yaml", []byte(spec), 0o666))
	require.Equal(t, r.out, microrisk(t, "run", "spec.yaml").out)
	r = microrisk(t, "assess", "people.csv", "--key", key, "--id", "idd", "--out", "r.csv")
	require.Equal(t, ExitWrong, r.status)
	require.Contains(t, r.err, `id: there is no column "idd"; did you mean "id"?`)
}

// codes is a file in which a code follows from another one, and an id from nothing.
func codes(t *testing.T) {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,town,county,age,weight,job\n")
	for i := range 300 {
		town, job := i*7%12, fmt.Sprint(i%5)
		if i%3 == 0 {
			job = ""
		}
		fmt.Fprintf(&b, "p%d,t%d,c%d,%d,5,%s\n", i, town, town/4, i*i%40, job)
	}
	require.NoError(t, os.WriteFile("codes.csv", []byte(b.String()), 0o666))
}

func TestKeyVariablesThatAreNone(t *testing.T) {
	folder(t)
	codes(t)
	r := microrisk(t, "assess", "codes.csv", "--key", "id,town,county,age,weight", "--weight", "weight", "--measures", "suda,kanonymity", "--out", "r.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	for _, has := range []string{"the key variable id looks like an identifier: 300 categories in 300 records", "the key variable weight is the sampling weight",
		"the key variable county follows from town: each category of town goes with one of county; both"} {
		require.Equal(t, 1, strings.Count(r.err, has), r.err)
	}
	require.NotContains(t, r.err, "town follows")
	require.NotContains(t, r.err, "follows from age")
	require.NotContains(t, r.err, "follows from id")
}

func TestMissingValuesAtTheTop(t *testing.T) {
	folder(t)
	require.NoError(t, os.WriteFile("codes.csv", []byte("town,age,job\na,1,\na,2,\na,1,x\na,2,x\na,1,x\na,2,x\n"), 0o666))
	r := microrisk(t, "assess", "codes.csv", "--key", "town,age,job", "--out", "r.csv")
	require.Equal(t, ExitDone, r.status, r.err)
	require.Contains(t, strings.Join(strings.Fields(r.out), " "), "have missing values, which count as a category here: sets with a missing job make")
	r = microrisk(t, "assess", "codes.csv", "--key", "town,age,job", "--missing", "drop", "--out", "r.csv")
	require.NotContains(t, r.out, "which count as a category")
}

// What --relative-risk and --baselines ask for is printed, and as the summary has it.
func TestRelativeRiskAndBaselinesArePrinted(t *testing.T) {
	folder(t)
	r := microrisk(
		t,
		"assess",
		"people.csv",
		"--key",
		key,
		"--fraction",
		"0.1",
		"--measures",
		"mc3",
		"--relative-risk",
		"--baselines",
		"--out",
		"r.csv",
		"--summary",
		"r.json",
	)
	require.Equal(t, ExitDone, r.status, r.err)
	for _, has := range []string{"without variable", "categories to suppress", "simpler models", "PU|SU", "    (mc3)"} {
		require.Contains(t, r.out, has)
	}
	var s struct {
		Operators struct{ MC3 mc3.Summary }
	}
	require.NoError(t, json.Unmarshal(read(t, "r.json"), &s))
	for _, v := range s.Operators.MC3.Variables {
		require.Regexp(t, "(?m)^    "+v.Name+" +.* "+fmt.Sprint(v.SampleUniques)+"$", r.out)
	}
	for _, b := range s.Operators.MC3.Baselines {
		require.Contains(t, r.out, "    "+b.Name+" ")
	}
}

func TestWrapped(t *testing.T) {
	parts := []string{}
	for i := range 30 {
		parts = append(parts, fmt.Sprintf("[V%d W%d]", i, i))
	}
	text := wrapped("      ", append(parts, strings.Repeat("x", 200)))
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len(line), screen+1)
	}
	require.Equal(t, strings.Join(parts, "")+strings.Repeat("x", 200), strings.NewReplacer("\n", "", "] [", "][", "      ", "").Replace(text))
}
