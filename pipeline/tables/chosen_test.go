package tables_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/operators/selection"
	"microrisk/operators/tabulate"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A response that is missing is no error in a record that is not chosen, and is found in its row in one that is.
func TestResponsesOfChosenRecords(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "records.csv")
	require.NoError(t, os.WriteFile(source, []byte("a,v\nx,1\nx,2\ny,\nx,3\n"), 0o666))
	for _, chosen := range []bool{true, false} {
		c := &protect.Config{Table: variables("a"), Response: "v", Rules: []protect.Rule{{Rule: "min", N: new(2)}}, Method: "none",
			Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
		spec := &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Operators: []schemas.Operator{{Config: c}}}
		if chosen {
			rows := &selection.Config{Rows: []selection.Condition{{Column: "a", Values: []string{"x"}}}}
			spec.Operators = append([]schemas.Operator{{Config: rows}}, spec.Operators...)
		}
		_, err := pipeline.Run(background, spec, session.Options{})
		if !chosen {
			require.ErrorContains(t, err, "row 2: a record has no value of v")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, map[string]map[string]string{"Total": {"value": "6", "symbol": ""}, "x": {"value": "6", "symbol": ""}}, read(t, c.Out, 1))
	}
}

// Nor is an identity, where noise goes by people.
func TestIdentitiesOfChosenRecords(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "records.csv")
	require.NoError(t, os.WriteFile(source, []byte("a,id\nx,p1\nx,p2\ny,\nx,p3\n"), 0o666))
	for _, chosen := range []bool{true, false} {
		c := &tabulate.Config{Cells: variables("a"), Path: filepath.Join(dir, "table.csv"),
			Perturb: &schemas.Perturbation{Scheme: "random", Base: 3, People: schemas.People{By: "people", RecordID: "id"}}}
		spec := &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Operators: []schemas.Operator{{Config: c}}}
		if chosen {
			rows := &selection.Config{Rows: []selection.Condition{{Column: "a", Values: []string{"x"}}}}
			spec.Operators = append([]schemas.Operator{{Config: rows}}, spec.Operators...)
		}
		_, err := pipeline.Run(background, spec, session.Options{})
		if !chosen {
			require.ErrorContains(t, err, "row 2: a record has no id, which tells whose noise it has")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, map[string]map[string]string{"x": {"value": "3"}}, read(t, c.Path, 1))
	}
}
