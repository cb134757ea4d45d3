package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/pipeline/command"
	"microrisk/schemas"
)

//go:embed rare.yaml
var example string

// data is the folder of the sample data, before any test changes folders.
var data, _ = filepath.Abs("../data")

// run is the program with a spec over the sample data.
func run(t *testing.T, change ...string) (status int, out, log string) {
	t.Helper()
	t.Chdir(t.TempDir())
	change = append(change, "examples/data", filepath.ToSlash(data))
	require.NoError(t, os.WriteFile("spec.yaml", []byte(strings.NewReplacer(change...).Replace(example)), 0o600))
	var o, e bytes.Buffer
	status = command.Run(t.Context(), []string{"microrisk", "run", "spec.yaml"}, command.Streams{In: strings.NewReader(""), Out: &o, Err: &e})
	return status, o.String(), e.String()
}

// An operator of another module stands in a spec: it is decoded, run and summed up, its limit judged, its line told.
func TestOperatorOfAnotherModule(t *testing.T) {
	status, out, log := run(t)
	require.Equal(t, command.ExitDone, status, log)
	require.Contains(t, out, "rare keys  1,671  limit 5,000; 5.9 % of the records")
	text, err := os.ReadFile("rare.json")
	require.NoError(t, err)
	var s struct {
		Operators struct{ Rare Summary }
		Limits    []schemas.LimitSummary
	}
	require.NoError(t, json.Unmarshal(text, &s))
	require.EqualValues(t, 1671, s.Operators.Rare.Rare)
	require.Equal(t, []schemas.LimitSummary{{Limit: limit, Operator: name, Value: 1671, Allowed: 5000, Records: 28155}}, s.Limits)
	require.Contains(t, string(schemas.SpecSchema()), `"rare_records"`, "editors know it too")
}

func TestLimitOfAnotherModuleIsBreached(t *testing.T) {
	status, _, log := run(t, "rare_records: 5000", "rare_records: 1000")
	require.Equal(t, command.ExitLimit, status)
	require.Contains(t, log, "limit breached: rare_records of rare is 1671, at most 1000 is allowed")
}

func TestSpecIsChecked(t *testing.T) {
	for change, want := range map[string]string{
		"belov: 1":                   `rare has no field "belov"; did you mean below?`,
		"below: 101":                 "below is 101; it must be above 0 and at most 100",
		"below: 1, missing: ignore":  "rare takes missing values as a category or drops them",
		"below: 1, missing: nothing": `missing policy "nothing" is unknown`,
		"prefix: suda":               "two operators write columns with the prefix suda; give one of them another, such as prefix: suda2",
	} {
		status, _, log := run(t, "below: 0.5", change)
		require.Equal(t, command.ExitWrong, status, change)
		require.Contains(t, log, want)
	}
}
