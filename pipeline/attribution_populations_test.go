package pipeline

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/attribution"
	"microrisk/operators/selection"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A calibration compares chances that were told with how often what they are of was so.
type calibration struct {
	n, told, true, score float64
	told10, true10       [10]float64 // sums by tenths of the chances
}

func (c *calibration) add(told, right float64) {
	c.n++
	c.told += told
	c.true += right
	at := min(int(told*10), 9)
	c.told10[at] += told
	c.true10[at] += right
	if right > 0 {
		c.score += right * math.Log(told)
	}
	if right < 1 {
		c.score += (1 - right) * math.Log(1-told)
	}
}

// err is the mean difference between both over tenths of the chances.
func (c *calibration) err() (sum float64) {
	for i, told := range c.told10 {
		sum += math.Abs(told-c.true10[i]) / c.n
	}
	return sum
}

// Samples of known populations: an intruder looks for somebody with the key of a record, and takes its value for the person's. What is told of
// it, the chance of a match being known, against how many of the people with the key have the value, by the shares of the classes and by models.
func TestAttributionOfPopulations(t *testing.T) {
	data := os.Getenv("MICRORISK_DATA")
	if data == "" {
		t.Skip("MICRORISK_DATA names a folder with populations")
	}
	rounds, err := strconv.Atoi(os.Getenv("MICRORISK_SAMPLES"))
	if err != nil {
		rounds = 2
	}
	for _, p := range []struct {
		file, key, sensitive string
		fractions            []float64
	}{
		{"census_income_kdd", "age,sex,race,marital_status,education,class_of_worker,major_occupation,birth_country_self",
			"income_class,tax_filer_status,household_summary", []float64{.01, .05}},
		{"adult", "age,workclass,education,marital_status,occupation,race,sex,native_country", "income,relationship,hours_per_week", []float64{.02, .05}},
	} {
		t.Run(p.file, func(t *testing.T) {
			t.Chdir(t.TempDir())
			key := strings.Split(p.key, ",")
			_, err := Run(t.Context(), &schemas.Spec{Source: schemas.Source{Path: []string{filepath.Join(data, "micro", p.file+".parquet")}},
				Sink:      schemas.Sink{Path: "all.csv"},
				Operators: []schemas.Operator{{Config: &selection.Config{Columns: strings.Split(p.key+","+p.sensitive, ",")}}}}, session.Options{})
			require.NoError(t, err)
			rows, err := csv.NewReader(strings.NewReader(read(t, "all.csv"))).ReadAll()
			require.NoError(t, err)
			var errs [2]float64 // of classes and models, in all
			rows = inOrder(rows, strings.Split(p.key+","+p.sensitive, ","))
			for at, s := range strings.Split(p.sensitive, ",") {
				for _, fraction := range p.fractions {
					told := map[string]*calibration{attribution.ValuesClass: {}, attribution.ValuesModel: {}}
					for round := range rounds {
						calibrate(t, rows, key, len(key)+at, fraction, rand.New(rand.NewPCG(uint64(round), 5)), told)
					}
					class, model := told[attribution.ValuesClass], told[attribution.ValuesModel]
					for _, v := range []string{attribution.ValuesClass, attribution.ValuesModel} {
						x := told[v]
						t.Logf("%s %s %g: %s told %.3f, true %.3f, error %.4f, score %.4f, %.0f records", p.file, s, fraction, v,
							x.told/x.n, x.true/x.n, x.err(), x.score/x.n, x.n)
					}
					require.Greater(t, model.score, class.score)
					errs[0], errs[1] = errs[0]+class.err(), errs[1]+model.err()
				}
			}
			require.Less(t, errs[1], errs[0])
		})
	}
}

// inOrder are rows with the columns in the order of names.
func inOrder(rows [][]string, names []string) [][]string {
	out := make([][]string, len(rows))
	for _, name := range names {
		at := slices.Index(rows[0], name)
		for i, row := range rows {
			out[i] = append(out[i], row[at])
		}
	}
	return out
}

// calibrate adds a sample.
func calibrate(t *testing.T, rows [][]string, key []string, s int, fraction float64, r *rand.Rand, told map[string]*calibration) {
	people := map[string]float64{}
	of := func(row []string) (string, string) {
		k := strings.Join(row[:len(key)], "\x00")
		return k, k + "\x00" + row[s]
	}
	for _, row := range rows[1:] {
		k, with := of(row)
		people[k]++
		people[with]++
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	require.NoError(t, w.Write(append(append([]string{}, rows[0][:len(key)]...), "S", "M")))
	var right []float64
	for _, row := range rows[1:] {
		if r.Float64() < fraction {
			k, with := of(row)
			require.NoError(t, w.Write(append(append([]string{}, row[:len(key)]...), row[s], fmt.Sprint(1/people[k]))))
			right = append(right, people[with]/people[k])
		}
	}
	w.Flush()
	require.NoError(t, os.WriteFile("sample.csv", []byte(b.String()), 0o600))
	for values, c := range told {
		var variables []schemas.KeyVariable
		for _, name := range key {
			variables = append(variables, schemas.KeyVariable{Name: name})
		}
		_, err := Run(t.Context(), &schemas.Spec{Source: schemas.Source{Path: []string{"sample.csv"}}, Sink: schemas.Sink{Path: "told.csv"},
			Key: &schemas.Key{Variables: variables}, Sampling: &schemas.Sampling{Fraction: fraction},
			Operators: []schemas.Operator{{Config: &attribution.Config{Sensitive: []schemas.KeyVariable{{Name: "S", Missing: schemas.MissingCategory}}, Match: "M",
				Values: values}}}}, session.Options{})
		require.NoError(t, err)
		out, err := csv.NewReader(strings.NewReader(read(t, "told.csv"))).ReadAll()
		require.NoError(t, err)
		require.Equal(t, "attribution_S", out[0][len(key)+3])
		for i, line := range out[1:] {
			p, err := strconv.ParseFloat(line[len(key)+3], 64)
			require.NoError(t, err)
			c.add(p, right[i])
		}
	}
}
