package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A profile fills in rules and method; flags go before it; sensitive topics have stricter rules.
func TestTableProfiles(t *testing.T) {
	surveyFolder(t)
	for path, text := range map[string]string{
		"office.yaml": "version: 2\nname: office\nrules: [{rule: min, n: 2}]\nmargins: none\nsensitive: {topics: [betting], rules: [{rule: min, n: 3}]}\n",
		"wrong.yaml":  "version: 1\nname: office\nrules:\n  - {rule: min, n: 2}\n  - {rule: dominence}\n",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	spec := func(flags string) string {
		t.Helper()
		r := microrisk(t, strings.Fields("table protect survey.csv --table region,sex --print-spec "+flags)...)
		require.Zero(t, r.status, r.err)
		return strings.Join(strings.Fields(r.out), " ")
	}
	require.Contains(t, spec("--profile isd"), `rules: [{rule: min, "n": 5}] method: perturbation`)
	require.Contains(t, spec("--profile isd"), "profile: \"isd 1\"")
	require.Contains(t, spec("--profile isd --rule min:n=4 --insider off --method none"), `rules: [{rule: min, "n": 4}] method: none insider: "off"`)
	require.Contains(t, spec("--profile isd --rule min:n=4"), `rules: [{rule: min, "n": 4}] method: perturbation`)
	require.NotContains(t, spec("--profile office.yaml --method rounding"), "margins", "what a policy says is a default, which rounding does not look at")
	changed := spec("--profile isd --method optimal")
	require.Contains(t, changed, "method: optimal")
	require.NotContains(t, changed, "perturb:")
	require.Contains(t, spec("--profile isd --topic suicides"), `rules: [{rule: min, "n": 10}] method: optimal`)
	require.Contains(t, spec("--profile threshold3 --rule min:n=4 --topic suicides"), `rules: [{rule: min, "n": 5}]`)
	require.Contains(t, spec("--topic suicides"), `rules: [{rule: min, "n": 10}]`)
	require.Contains(t, spec("--profile office.yaml --topic betting"), `rules: [{rule: min, "n": 3}]`)
	require.Contains(t, spec("--profile office.yaml --topic diabetes"), `rules: [{rule: min, "n": 2}]`)

	r := microrisk(t, strings.Fields("table protect survey.csv --table region,sex --profile office.yaml --topic diabetes -o public.csv")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.err, `is on no list of sensitive topics`)
	require.Contains(t, string(read(t, "internal/log.json")), `"profile": "office 2"`)
	require.NotContains(t, string(read(t, "public.csv")), "office")
	r = microrisk(
		t,
		strings.Fields("table protect ready.csv --table region,sex --count n --profile office.yaml --topic betting -o ready-public.csv --internal ready")...)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.err, `is sensitive (betting): rules are stricter`)
	for _, name := range []string{"isd", "abs", "census2000", "threshold3", "threshold5", "threshold10"} {
		require.Contains(t, microrisk(t, "table", "profiles").out, name+" 1, since")
		text := microrisk(t, "table", "profiles", name).out
		require.NoError(t, os.WriteFile("own.yaml", []byte(text), 0o666))
		require.Contains(t, microrisk(t, "table", "profiles", "own.yaml").out, name+" 1, since")
	}
	for line := range strings.Lines(microrisk(t, "table", "profiles").out) {
		require.LessOrEqual(t, len([]rune(line)), 81, line)
	}
	const protect = "table protect survey.csv --table region,sex "
	refused(t, map[string]string{
		protect + "--profile wrong.yaml":                 `wrong.yaml:5:6: rule "dominence" is unknown; did you mean dominance?`,
		protect + "--profile threshold4":                 `the profile "threshold4" is unknown; did you mean threshold3?`,
		protect + "--profile none.yaml":                  "the profile none.yaml cannot be read",
		protect + "--profile office.yaml -o office.yaml": "office.yaml",
		protect + "--topic diabetes":                     "say which cells disclose",
		"table profiles isdd":                            "did you mean isd?",
		"table profiles isd abs":                         "takes one name",
	}, 2)
}
