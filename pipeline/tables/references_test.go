package tables_test

import (
	"bytes"
	"encoding/csv"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

// examples are the files of other programs, which are outside the repository.
func examples(t *testing.T) string {
	data := os.Getenv("MICRORISK_DATA")
	if data == "" {
		t.Skip("MICRORISK_DATA names a folder with the examples of other programs")
	}
	return data
}

// audited tries all attackers on a public table.
func audited(t *testing.T, c *protect.Config) {
	t.Helper()
	a, err := tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
	require.NoError(t, err)
	require.Empty(t, a.Report.Failed())
}

// agrees compares cells with those of tau-ARGUS: values to half a unit and rounding errors, and which are unsafe.
func agrees(t *testing.T, c *protect.Config, file string, unsafe int) {
	t.Helper()
	cells, count := internal(t, c.Inside, 2), 0
	for key, w := range read(t, file, 2) {
		got := cells[key]
		if w["status"] == "14" {
			require.Empty(t, got["value"], "%s is empty", key)
			continue
		}
		want, err := strconv.ParseFloat(w["value"], 64)
		require.NoError(t, err)
		value, err := strconv.ParseFloat(got["value"], 64)
		require.NoError(t, err, key)
		require.InDelta(t, want, value, .006, key)
		primary := strings.HasPrefix(got["status"], "unsafe")
		require.Equal(t, w["status"] == "3", primary, key)
		if primary {
			count++
		}
	}
	require.Equal(t, unsafe, count)
}

// TestAgainstArgus has the tables of tau-ARGUS: values and unsafe cells are its own, patterns are safe, and cost no more than its own; optimal
// ones cost what they must.
func TestAgainstArgus(t *testing.T) {
	data := examples(t)
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(data, "tables", "argus_hier_ent_act.csv"))
	require.NoError(t, err)
	activities := filepath.Join(dir, "activities.csv")
	require.NoError(t, os.WriteFile(activities, append(bytes.TrimRight(text, "\n"), "\n00,Total,1\n"...), 0o666))
	enterprises := filepath.Join(data, "tables", "argus_expected_ent_act_product_hypercube.csv")
	products := make(map[string]bool)
	for key := range read(t, enterprises, 2) {
		products[strings.Split(key, "|")[1]] = true
	}
	said := "act,product,set\n"
	for _, p := range slices.Sorted(maps.Keys(products)) {
		said += "00," + p + ",safe\n"
	}
	overrides := filepath.Join(dir, "overrides.csv")
	require.NoError(t, os.WriteFile(overrides, []byte(said), 0o666))
	for name, c := range map[string]struct {
		source, expected string
		config           protect.Config
		unsafe           int
		most             map[string]float64 // by method and cost; equal for optimal
	}{
		"simple": {"argus_testw", filepath.Join(data, "tables", "argus_expected_simple2d.csv"), protect.Config{Table: variables("Size", "Region"), Response: "Var2",
			Hierarchies: map[string]string{"Region": filepath.Join(data, "tables", "argus_hier_testw_region.csv")}, Rules: []protect.Rule{{Rule: "p%", P: new(15.)}}},
			9, map[string]float64{"optimal unity": 4, "optimal value": 521_926, "modular unity": 12, "modular value": 2_524_351, "hypercube unity": 12 * 1.1,
				"hypercube value": 2_524_351 * 1.1, "network unity": 12, "network value": 2_524_351}},
		"enterprises": {"argus_enterprise", enterprises, protect.Config{Table: variables("act", "product"), Response: "turnover", Contributor: "h_id",
			Hierarchies: map[string]string{"act": activities}, Rules: []protect.Rule{{Rule: "p%", P: new(10.)}}, Overrides: overrides},
			283, map[string]float64{"optimal unity": 48, "optimal value": 318_551.58, "modular unity": 74, "modular value": 524_092.87, "hypercube unity": 133 * 1.1,
				"hypercube value": 1_376_576.63 * 1.1, "network unity": 74, "network value": 524_092.87}},
	} {
		for how, most := range c.most {
			t.Run(name+" "+how, func(t *testing.T) {
				method, cost, _ := strings.Cut(how, " ")
				config := c.config
				config.Decimals, config.Insider, config.Margins, config.Method, config.Cost = 2, "off", "none", method, cost
				config.Out, config.Inside = filepath.Join(t.TempDir(), "public.csv"), t.TempDir()
				s, err := run(t, filepath.Join(data, "micro", c.source+".parquet"), &config)
				require.NoError(t, err)
				agrees(t, &config, c.expected, c.unsafe)
				audited(t, &config)
				got := float64(s.Cost)
				if cost == "value" {
					got /= 100
				}
				t.Logf("%d hidden, cost %.2f", s.Hidden, got)
				if method == "optimal" {
					require.True(t, s.Proven)
					require.Equal(t, most, got)
				}
				require.LessOrEqual(t, got, most)
			})
		}
	}
}

// TestReadyTablesOfOffices has ready-made tables: one with statuses and levels, one of levels of activities, one of fractions of contributors
// and of values that may be negative.
func TestReadyTablesOfOffices(t *testing.T) {
	folder := filepath.Join(examples(t), "tables")
	made := func(t *testing.T, file string, c *protect.Config, columns *protect.Columns) *protect.Summary {
		c.Out, c.Inside = filepath.Join(t.TempDir(), "public.csv"), t.TempDir()
		s, err := tables.Protect(background, filepath.Join(folder, file), c, columns, session.Options{})
		require.NoError(t, err)
		audited(t, c)
		return s
	}
	t.Run("batch", func(t *testing.T) {
		c := &protect.Config{Table: variables("region", "gender"), Rules: []protect.Rule{{Rule: "min", N: new(1)}}}
		s := made(t, "argus_batch_ex1_table.csv", c, &protect.Columns{Count: "freq", Status: "status", Lower: "lower_protection", Upper: "upper_protection"})
		require.Equal(t, 1, s.Unsafe)
		require.Equal(t, 4, s.Hidden)
		require.Equal(t, int64(895+569+486), s.Cost)
		require.True(t, s.Proven)
		cells := internal(t, c.Inside, 2)
		require.Equal(t, "unsafe_manual", cells["A|female"]["status"])
		require.Equal(t, "136", cells["A|female"]["lower_required"])
		require.Equal(t, "138", cells["A|female"]["upper_required"])
	})
	t.Run("turnover", func(t *testing.T) {
		for _, method := range []string{"hypercube", "modular", "network", "optimal"} {
			c := &protect.Config{Table: variables("ACTIVITY", "SIZE"), Decimals: 4, Method: method, Cost: "unity",
				Hierarchies: map[string]string{"ACTIVITY": filepath.Join(folder, "insee_activity_corr_table.csv")},
				Rules:       []protect.Rule{{Rule: "min"}, {Rule: "dominance", N: new(1), K: new(85.)}}}
			s := made(t, "insee_turnover_act_size.csv", c, &protect.Columns{Count: "N_OBS", Value: "TOT", Max: "MAX"})
			t.Logf("%s: %d of %d cells hidden, %d of them unsafe", method, s.Hidden, s.Cells, s.Unsafe)
			want := 0
			for _, row := range rows(t, filepath.Join(folder, "insee_turnover_act_size.csv")) {
				n, total, most := number(t, row["N_OBS"]), number(t, row["TOT"]), number(t, row["MAX"])
				if total > 0 && (n < 3 || most > .85*total) { // zeros are never hidden
					want++
				}
			}
			require.Equal(t, want, s.Unsafe)
		}
	})
	t.Run("fractions", func(t *testing.T) {
		c := &protect.Config{Table: variables("A10", "treff", "type_distrib", "cj"), Decimals: 6, Absolute: true, Method: "hypercube", Cost: "unity",
			Rules: []protect.Rule{{Rule: "min"}}}
		s := made(t, "insee_datatest1.csv", c, &protect.Columns{Count: "nb_obs", Value: "pizzas_tot", Max: "pizzas_max"})
		t.Logf("%d of %d cells hidden", s.Hidden, s.Cells)
		cells := internal(t, c.Inside, 4)
		for _, row := range rows(t, filepath.Join(folder, "insee_datatest1.csv")) {
			key := strings.Join([]string{row["A10"], row["treff"], row["type_distrib"], row["cj"]}, "|")
			want := row["is_secret_freq"] == "TRUE" && number(t, row["pizzas_tot"]) != 0 // zeros are never hidden
			require.Equal(t, want, cells[key]["status"] == "unsafe_frequency", key)
			require.InDelta(t, number(t, row["pizzas_tot"]), number(t, cells[key]["value"]), 1e-6)
		}
	})
}

// rows are those of a CSV file, by column.
func rows(t *testing.T, path string) (list []map[string]string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	for _, r := range all[1:] {
		row := make(map[string]string)
		for i, name := range all[0] {
			row[name] = r[i]
		}
		list = append(list, row)
	}
	return list
}

func number(t *testing.T, text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	require.False(t, math.IsNaN(v))
	return v
}
