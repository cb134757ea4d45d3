package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The summary and the columns of the CPS file with effects of cells, without a fit by a saved model, and where nothing is known of effects.
func TestEffectsOfCells(t *testing.T) {
	cps, err := filepath.Abs("../../examples/data/cps1988.parquet")
	require.NoError(t, err)
	folder(t)
	key := "education,ethnicity,smsa,region,parttime"
	read := func(name string) (s struct {
		Operators struct {
			MC3 struct {
				PUSU    float64 `json:"pu_su"`
				Effects *struct {
					Sigma       float64
					SE          *float64
					Unknown     string
					Factor      float64
					Frequencies []struct {
						Records           int64
						Observed          int64
						Expected, Without float64
					}
				}
				DIS  float64 `json:"dis"`
				CMUM float64 `json:"cm_um"`
			}
		}
	}) {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &s))
		return s
	}
	assess := func(file, name string, more ...string) result {
		return microrisk(
			t,
			append([]string{"assess", file, "--measures", "mc3", "--fraction", ".02", "--out", name + ".csv", "--summary", name + ".json"}, more...)...)
	}
	r := assess(cps, "with", "--key", key, "--model-out", "model.json")
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "effects of cells")
	with := read("with.json").Operators.MC3
	require.Greater(t, with.Effects.Sigma, 0.0)
	require.InDelta(t, 1, with.Effects.Factor, 0)
	require.Len(t, with.Effects.Frequencies, 6)
	observed, expected := int64(0), 0.0
	for _, f := range with.Effects.Frequencies {
		observed, expected = observed+f.Observed, expected+f.Expected
	}
	require.InEpsilon(t, float64(observed), expected, 1e-9)

	require.Zero(t, assess(cps, "read", "--key", key, "--effects", "lognormal", "--model-in", "model.json").status)
	again := read("read.json").Operators.MC3
	require.InEpsilon(t, with.Effects.Sigma, again.Effects.Sigma, 1e-12)
	require.Nil(t, again.Effects.SE)
	one, err := os.ReadFile("with.csv")
	require.NoError(t, err)
	other, err := os.ReadFile("read.csv")
	require.NoError(t, err)
	require.Equal(t, string(one), string(other))

	require.Zero(t, assess(cps, "none", "--key", key, "--effects", "none", "--model-out", "plain.json").status)
	none := read("none.json").Operators.MC3
	require.Nil(t, none.Effects)
	require.NotEqual(t, none.PUSU, with.PUSU)
	r = assess(cps, "x", "--key", key, "--effects", "lognormal", "--model-in", "plain.json")
	require.NotZero(t, r.status)
	require.Contains(t, r.err, "was saved without effects of cells")

	require.Zero(t, assess(cps, "anchored", "--key", key, "--anchor", "dis").status)
	anchored := read("anchored.json").Operators.MC3
	require.InDelta(t, anchored.DIS, anchored.CMUM, 1e-5)

	var unique strings.Builder
	unique.WriteString("a,b\n")
	for i := range 40 {
		fmt.Fprintf(&unique, "%d,%d\n", i, i%3)
	}
	require.NoError(t, os.WriteFile("ids.csv", []byte(unique.String()), 0o666))
	r = assess("ids.csv", "unique", "--key", "a,b", "--effects", "lognormal")
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.err, "nothing is known of effects of cells (no key has 2 to 6 records)")
	require.Zero(t, read("unique.json").Operators.MC3.Effects.Sigma)
	refused(t, map[string]string{
		"assess people.csv --key age --fraction .1 --measures mc3 --effects lognormal --estimator exact": "--estimator exact is of models without effects",
		"assess people.csv --key age --fraction .1 --measures mc3 --effects normal":                      "lognormal",
	}, 2)
}
