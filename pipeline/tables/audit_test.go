package tables_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/audit"
	"microrisk/operators/protect"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// tried runs the operator audit on a public table.
func tried(public string, a *audit.Config, sink string) (*audit.Summary, error) {
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{public}}, Operators: []schemas.Operator{{Config: a}}, Sink: schemas.Sink{Path: sink}}
	o, err := pipeline.Run(background, spec, session.Options{})
	if err != nil {
		return nil, err
	}
	return o.Summary.Operators["audit"].(*audit.Summary), nil
}

// The operator finds what the verb finds, by whatever method a table was protected; and a run of a table that is not safe fails, with nothing
// written.
func TestAuditOperator(t *testing.T) {
	for name, c := range map[string]protect.Config{
		"optimal": {Margins: "all"}, "parquet": {Margins: "all"}, "rounding": {Method: "rounding", Base: 5}, "sums": {Response: "v", Decimals: 2, Margins: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			source := filepath.Join(dir, "table.csv")
			require.NoError(t, os.WriteFile(source, []byte(baseTable), 0o666))
			c.Table, c.Rules = variables("v1", "v2"), []protect.Rule{{Rule: "min", N: new(5)}}
			c.Out, c.Inside = filepath.Join(dir, "public.csv"), filepath.Join(dir, "inside")
			columns := &protect.Columns{Count: "n"}
			if name == "parquet" {
				c.Out = filepath.Join(dir, "public.parquet")
			}
			if name == "sums" {
				columns.Value = "n"
			}
			_, err := tables.Protect(background, source, &c, columns, session.Options{})
			require.NoError(t, err)
			verbAndOperator(t, c.Out, c.Inside, name != "rounding")
		})
	}
}

// verbAndOperator audits a public file by the verb and by the operator, which must say the same, and gives where the cells are.
func verbAndOperator(t *testing.T, public, inside string, all bool) string {
	t.Helper()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "verb.csv"), filepath.Join(dir, "operator.csv")
	a, err := tables.RunAudit(background, tables.AuditSpec{Public: public, Truth: inside, Out: first, All: all}, session.Options{})
	require.NoError(t, err)
	require.NoError(t, a.Passed())
	s, err := tried(public, &audit.Config{Truth: inside, Out: second, All: all}, "")
	require.NoError(t, err)
	require.Equal(t, a.Summary(), s)
	require.Positive(t, s.Unsafe)
	require.Equal(t, s.Unsafe, s.Enough)
	want, err := os.ReadFile(first)
	require.NoError(t, err)
	got, err := os.ReadFile(second)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	return first
}

func TestAuditOperatorRefuses(t *testing.T) {
	dir := t.TempDir()
	source, inside := filepath.Join(dir, "table.csv"), filepath.Join(dir, "inside")
	require.NoError(t, os.WriteFile(source, []byte(baseTable), 0o666))
	c := &protect.Config{
		Table:   variables("v1", "v2"),
		Rules:   []protect.Rule{{Rule: "min", N: new(5)}},
		Margins: "all",
		Out:     filepath.Join(dir, "public.csv"),
		Inside:  inside,
	}
	_, err := tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
	require.NoError(t, err)
	public, err := os.ReadFile(c.Out)
	require.NoError(t, err)
	for name, x := range map[string]struct{ from, to, says string }{
		"one cell less is hidden": {"A,H,,x", "A,H,18,", "the table is not safe: anybody knows"},
		"another value":           {"A,H,,x", "A,H,19,", "1 published values are not the true ones"},
		"both":                    {"A,G,37", "A,G,36", "1 published values are not the true ones"},
		"a cell twice":            {"A,H,,x", "A,H,,x\nA,H,,x", "has the cell [A, H] twice"},
		"a value and a symbol":    {"A,H,,x", "A,H,,x\nA,H,18,", "has the cell [A, H] twice"},
		"no cell":                 {"A,H,,x\n", "", "does not have the cell [A, H], which is not empty"},
		"another category":        {"A,H,,x", "A,X,,x", "has the cell [A, X], whose v2 is no category of the true table"},
		"no number":               {"A,G,37", "A,G,many", "the published value: \"many\" is no number"},
		"other variables":         {"v1,v2", "v1,v3", `there is no column "v2"`},
		"no values":               {"value", "valid", "no column of counts"},
	} {
		t.Run(name, func(t *testing.T) {
			path, out, sink := filepath.Join(dir, "changed.csv"), filepath.Join(dir, "found.csv"), filepath.Join(dir, "sink.csv")
			require.True(t, bytes.Contains(public, []byte(x.from)), x.from)
			require.NoError(t, os.WriteFile(path, bytes.Replace(public, []byte(x.from), []byte(x.to), 1), 0o666))
			_, err := tried(path, &audit.Config{Truth: inside, Out: out}, sink)
			require.ErrorContains(t, err, x.says)
			require.NoFileExists(t, out)
			require.NoFileExists(t, sink)
		})
	}
	for says, a := range map[string]*audit.Config{
		"does not say what is true":            {},
		"log.json cannot be read":              {Truth: dir},
		"findings of all cells are for a file": {Truth: inside, All: true},
		`insider "some" is unknown`:            {Truth: inside, Insider: "some"},
		"is the internal table":                {Truth: inside, Out: filepath.Join(inside, "cells.parquet")},
	} {
		_, err := tried(c.Out, a, "")
		require.ErrorContains(t, err, says)
	}
	_, err = tried(c.Out, &audit.Config{Truth: inside, Base: new(5)}, "")
	require.ErrorContains(t, err, "made by the method optimal, and a base is of rounding: leave it out (base)")
	_, err = tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: inside, Config: protect.Config{Base: 5}}, session.Options{})
	require.ErrorContains(t, err, "made by the method optimal, and a base is of rounding")
	require.True(t, session.IsSpec(err))
	_, err = tried(c.Out, &audit.Config{Truth: inside, Sliding: new(100)}, "")
	require.ErrorContains(t, err, "the table is not safe", "what is asked goes before what the log says")
	// What an output has of it says nothing of the truth.
	sink := filepath.Join(dir, "again.parquet")
	_, err = tried(c.Out, &audit.Config{Truth: inside}, sink)
	require.NoError(t, err)
	text, err := os.ReadFile(sink)
	require.NoError(t, err)
	require.NotContains(t, string(text), "unsafe")
	require.NotContains(t, string(text), "inside")
}

// The summary has what the terminal shows.
func TestAuditSummary(t *testing.T) {
	text, err := json.Marshal(&audit.Summary{Cells: 1, Rounded: 2, Hidden: 3, Components: 4, Largest: 5, Unsafe: 6, Enough: 7, Under: 8, Exact: 9})
	require.NoError(t, err)
	require.JSONEq(
		t,
		`{"cells":1,"rounded":2,"hidden":3,"components":4,"largest_component":5,"unsafe":6,"protected":7,"known_too_well":8,"known_exactly":9}`,
		string(text),
	)
}
