package command

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a command reads it never writes: every command has its outputs compared with its inputs.
func TestNoCommandWritesWhatItReads(t *testing.T) {
	folder(t)
	text, err := os.ReadFile("people.csv")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir("ev", 0o700))
	require.NoError(t, os.WriteFile("table.csv", []byte("sex,count\nm,1\n"), 0o600))
	require.NoError(t, os.WriteFile("recodes.yaml", []byte("{}"), 0o600))
	require.NoError(t, os.Link("people.csv", "ev/evaluation.json"))
	spec := "version: 1\nsource: {path: people.csv}\nkey: {variables: [age]}\noperators: [{frequency: {}}]\nsummary: spec.yaml\n"
	require.NoError(t, os.WriteFile("spec.yaml", []byte(spec), 0o600))
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"assess":        {[]string{"assess", "people.csv", "--key", key, "--out", "o.csv", "--summary", "people.csv"}, "is the input people.csv"},
		"run":           {[]string{"run", "spec.yaml"}, "is the spec spec.yaml"},
		"tabulate":      {[]string{"tabulate", "people.csv", "--cells", "sex", "--out", "./people.csv"}, "is the input people.csv"},
		"evaluate":      {[]string{"evaluate", "people.csv", "--key", key, "--fraction", "0.5", "--out", "ev"}, "is the population people.csv"},
		"attack":        {[]string{"attack", "--sample", "people.csv", "--fraction", "0.5", "--key", key, "--out", "people.csv"}, "is the input people.csv"},
		"attack, model": {[]string{"attack", "--sample", "people.csv", "--fraction", "0.5", "--key", key, "--model-out", "people.csv"}, "is the input people.csv"},
		"link":          {[]string{"link", "people.csv", "table.csv", "--population-size", "100", "--out", "table.csv"}, "is the input table.csv"},
		"link, its recode": {
			[]string{"link", "people.csv", "table.csv", "--population-size", "100", "--recode-a", "recodes.yaml", "--pairs", "recodes.yaml"}, "recodes.yaml",
		},
		"bounds": {[]string{"bounds", "table.csv", "--out", "table.csv"}, "is the input table.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			r := microrisk(t, c.args...)
			require.NotEqual(t, ExitDone, r.status)
			require.Contains(t, r.err, c.want)
			after, err := os.ReadFile("people.csv")
			require.NoError(t, err)
			require.Equal(t, string(text), string(after))
		})
	}
}
