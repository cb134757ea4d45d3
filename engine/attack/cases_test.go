package attack

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type number struct{ Value float64 }

type figures struct {
	Correct           number `json:"pr_cm"`
	CostWith          number `json:"cost_with"`
	CostWithout       number `json:"cost_without"`
	EfficiencyWith    number `json:"efficiency_with"`
	EfficiencyWithout number `json:"efficiency_without"`
}

func (f figures) assert(t *testing.T, r Result) {
	t.Helper()
	for _, c := range []struct {
		want number
		got  float64
		name string
	}{{f.Correct, r.Correct, "correct"}, {f.CostWith, r.CostWith, "cost with"}, {f.CostWithout, r.CostWithout, "cost without"},
		{f.EfficiencyWith, r.EfficiencyWith, "efficiency with"}, {f.EfficiencyWithout, r.EfficiencyWithout, "efficiency without"}} {
		if c.want.Value == 0 {
			assert.Zero(t, c.got, c.name)
			continue
		}
		assert.InEpsilon(t, c.want.Value, c.got, 1e-9, c.name)
	}
}

// keys are the rows of a file without its column unit.
func keys(t *testing.T, path string) []string {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	skip := 0
	if rows[0][0] == "unit" {
		skip = 1
	}
	var list []string
	for _, row := range rows[1:] {
		list = append(list, strings.Join(row[skip:], "|"))
	}
	return list
}

// The shared cases: known populations, a missing value being a category.
func TestCases(t *testing.T) {
	dirs, err := filepath.Glob("testdata/attack-*")
	require.NoError(t, err)
	require.Len(t, dirs, 5)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var params struct {
				R      int64
				Chosen [][]*string `json:"chosen_cells"`
			}
			var want struct {
				N                 int64  `json:"N"`
				Records           int64  `json:"n"`
				PopulationClasses int64  `json:"population_cells"`
				SampleClasses     int64  `json:"sample_cells"`
				PopulationUniques int64  `json:"population_uniques"`
				SampleUniques     int64  `json:"sample_uniques"`
				PU                number `json:"pu"`
				PUSU              number `json:"pu_su"`
				CMUM              number `json:"cm_um"`
				CMSU              number `json:"cm_su"`
				Strategies        map[string]figures
				Forward           figures `json:"chosen_cells_population_to_sample"`
				Back              figures `json:"chosen_cells_sample_to_population"`
			}
			for name, to := range map[string]any{"params.json": &params, "expected.json": &want} {
				text, err := os.ReadFile(filepath.Join(dir, name))
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(text, to))
			}
			counts := map[string]*Class{}
			var order []string
			for _, key := range keys(t, filepath.Join(dir, "population.csv")) {
				if counts[key] == nil {
					counts[key] = &Class{}
					order = append(order, key)
				}
				counts[key].Population++
			}
			for _, key := range keys(t, filepath.Join(dir, "sample.csv")) {
				require.NotNil(t, counts[key])
				counts[key].Sample++
			}
			var classes []Class
			for _, key := range order {
				classes = append(classes, *counts[key])
			}

			f := Measure(classes)
			assert.Equal(t, want.N, f.People)
			assert.Equal(t, want.Records, f.Records)
			assert.Equal(t, want.PopulationClasses, f.PopulationClasses)
			assert.Equal(t, want.SampleClasses, f.SampleClasses)
			assert.Equal(t, want.PopulationUniques, f.PopulationUniques)
			assert.Equal(t, want.SampleUniques, f.SampleUniques)
			for _, m := range [][2]float64{{want.PU.Value, f.PU}, {want.PUSU.Value, f.PUSU}, {want.CMUM.Value, f.CMUM}, {want.CMSU.Value, f.CMSU}} {
				assert.InDelta(t, m[0], m[1], 1e-12)
			}

			require.Len(t, want.Strategies, 7)
			for _, s := range Strategies(params.R) {
				t.Run(strconv.Itoa(s.Number), func(t *testing.T) { want.Strategies[strconv.Itoa(s.Number)].assert(t, s.Result(classes)) })
			}
			var chosen []string
			for _, cell := range params.Chosen {
				texts := make([]string, len(cell))
				for v, text := range cell {
					if text != nil {
						texts[v] = *text
					}
				}
				chosen = append(chosen, strings.Join(texts, "|"))
			}
			consider := func(i int) bool { return slices.Contains(chosen, order[i]) }
			want.Forward.assert(t, Attack(classes, PopulationToSample, consider))
			want.Back.assert(t, Attack(classes, SampleToPopulation, consider))
		})
	}
}
