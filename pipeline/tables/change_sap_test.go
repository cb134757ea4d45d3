package tables_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/operators/recode"
	"microrisk/operators/sap"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// The attribution risk that remains of a perturbed table is what sap finds out of its public file.
func TestSAPOfPerturbedTables(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "persons.csv")
	persons(t, source, nil)
	for _, p := range []schemas.Perturbation{{Scheme: "random", Base: 10}, {Scheme: "noise"}, {Scheme: "conventional", Base: 5}, {Scheme: "normal", SD: new(2.), Negative: "reflect"}} {
		c := &protect.Config{Table: variables("area", "age"), Rules: []protect.Rule{{Rule: "min", N: new(1)}}, Method: "perturbation",
			Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside"), SAP: protect.SAP{Area: "area", Known: []int64{3, 40}},
			Changing: protect.Changing{Perturb: &p}}
		_, err := run(t, source, c)
		require.NoError(t, err)
		own := &sap.Config{By: variables("area"), Cells: variables("age"), Known: []int64{3, 40}, Tables: filepath.Join(dir, "tables.csv"),
			Release: sap.Release{Perturbation: p, Total: "same", Published: c.Out}}
		spec := &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Operators: []schemas.Operator{{Config: own}}}
		_, err = pipeline.Run(background, spec, session.Options{})
		require.NoError(t, err)
		want := read(t, own.Tables, 1)
		for area, row := range sapTable(t, c.Inside) {
			for _, n := range own.Known {
				got, err := strconv.ParseFloat(row[fmt.Sprintf("sap_%d_after", n)], 64)
				require.NoError(t, err)
				expected, err := strconv.ParseFloat(want[area][fmt.Sprintf("sap_%d", n)], 64)
				require.NoError(t, err)
				require.InDelta(t, expected, got, 1e-9, "%s, %s, %d known", p.Text(), area, n)
			}
		}
	}
}

// sapTable are the areas of an internal folder.
func sapTable(t *testing.T, folder string) map[string]map[string]string {
	out := filepath.Join(folder, "sap.csv")
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{filepath.Join(folder, "sap.parquet")}}, Sink: schemas.Sink{Path: out},
		Operators: []schemas.Operator{{Config: &recode.Config{{Name: "_", From: "area", Truncate: 1, Keep: new(false)}}}}}
	_, err := pipeline.Run(background, spec, session.Options{})
	require.NoError(t, err)
	return read(t, out, 1)
}
