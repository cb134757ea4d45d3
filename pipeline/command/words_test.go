package command

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who typed flags is told of flags, who wrote a spec of its fields; neither is changed where a file or a value has such words.
func TestAdviceInWords(t *testing.T) {
	folder(t)
	require.NoError(t, os.WriteFile("float.csv", []byte("x,replace: true\n1.5,a\n2.25,b\n"), 0o666))
	require.NoError(t, os.WriteFile("had.csv", []byte("x,suda_score\na,1\nb,2\n"), 0o666))
	require.NoError(t, os.WriteFile("weights.csv", []byte("x,w\na,1\nb,0\n"), 0o666))
	require.NoError(t, os.WriteFile("notes.txt", []byte("a\n"), 0o666))
	assess := func(args ...string) []string {
		return append([]string{"assess", "--out", "out.csv", "--quiet"}, args...)
	}
	for name, c := range map[string]struct {
		args        []string
		spec        string
		flags, says string
	}{
		"a float": {assess("float.csv", "--key", "x"), "source: {path: float.csv}\nkey: {variables: [x]}\noperators: [suda]\n",
			"band them, such as --band COLUMN=5", "band them with recode (width or cuts)"},
		"no size of the population": {assess("people.csv", "--key", "age", "--measures", "mc3"), "source: {path: people.csv}\nkey: {variables: [age]}\n" +
			"operators: [mc3]\n",
			"mc3 needs the size of the population: add --fraction, --population-size or --weight", "add sampling with fraction, population_size or weight"},
		"a policy": {assess("people.csv", "--key", "age", "--missing", "wildcard", "--measures", "mc3", "--fraction", "0.1"),
			"source: {path: people.csv}\nsampling: {fraction: 0.1}\nkey: {variables: [age], missing: wildcard}\noperators: [mc3]\n",
			"by --NAME-missing (such as --mc3-missing) or by --missing", "missing: category or missing: drop"},
		"a limit of another measure": {assess("people.csv", "--key", "age", "--limit", "pu=1"),
			"source: {path: people.csv}\nkey: {variables: [age]}\noperators: [suda]\nlimits: {pu: 1}\n", "add mc3 to --measures", "add mc3 to operators"},
		"a limit of no sampling": {assess("people.csv", "--key", "age", "--limit", "dis=1"),
			"source: {path: people.csv}\nkey: {variables: [age]}\noperators: [suda]\nlimits: {dis: 1}\n",
			"(--fraction, --population-size or --weight)", "say how the records were drawn (sampling)"},
		"a weight of 0": {assess("weights.csv", "--key", "x", "--weight", "w"),
			"source: {path: weights.csv}\nsampling: {weight: w}\nkey: {variables: [x]}\noperators: [suda]\n",
			"(--select), or say --zero-weight drop, with the weight w", "(select), or say weight: {column: w, zero: drop}"},
		"no rows": {assess("people.csv", "--key", "age", "--select", "sex=Q"),
			"source: {path: people.csv}\nkey: {variables: [age]}\noperators: [select: {rows: {sex: [Q]}}, suda]\n",
			"if that is meant, allow it with --allow-empty", "allow it (allow_empty: true in a spec, --allow-empty)"},
		"no known ending": {assess("notes.txt", "--key", "a"), "source: {path: notes.txt}\nkey: {variables: [a]}\noperators: [suda]\n",
			"or say --format parquet, arrow or csv", "or say source: {format: ...}"},
		"an operator that does not fit": {assess("people.csv", "--key", key, "--memory", "1KiB"), "", "limit --max-size, use fewer", ""},
		"a warning": {
			[]string{"assess", "people.csv", "--key", "age", "--out", "out.csv"},
			"source: {path: people.csv}\nkey: {variables: [age]}\noperators: [suda]\nsink: {path: s.csv}\n", "is null: give --fraction, --population-size or --weight",
			"is null: give sampling (fraction, population_size or weight)",
		},
		"a coarse estimator": {[]string{"assess", "people.csv", "--key", "age", "--measures", "mc3", "--fraction", "0.0001", "--out", "out.csv"},
			"source: {path: people.csv}\nsampling: {fraction: 0.0001}\nkey: {variables: [age]}\noperators: [mc3]\nsink: {path: s.csv}\n",
			"take --estimator exact", "take estimator: exact"},
		"columns that are there": {[]string{"assess", "had.csv", "--key", "x", "--out", "out.csv"},
			"source: {path: had.csv}\nkey: {variables: [x]}\noperators: [suda]\nsink: {path: s.csv}\n", "(say --replace to replace them)", "choose another prefix " +
				"or name, or say replace: true"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, microrisk(t, c.args...).err, c.flags)
			if c.spec == "" {
				return
			}
			require.NoError(t, os.WriteFile("spec.yaml", []byte("version: 1\n"+c.spec), 0o666))
			require.Contains(t, microrisk(t, "run", "spec.yaml").err, c.says)
		})
	}
}

// JSON logs have the fields of typed errors.
func TestFieldsOfErrors(t *testing.T) {
	folder(t)
	for name, content := range map[string]string{"latin.csv": "a,b\n1,x\n2,\xe9\n", "row.csv": "b,count\n0,1\n1,2\n", "column.csv": "a,count\nu,3\nv,4\n",
		"short.csv": "a,b\n1\n"} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o666))
	}
	require.NoError(t, os.WriteFile("types.csv", []byte("a,b\n1,2\nx,3\n"), 0o666))
	require.NoError(t, os.WriteFile("weights.csv", []byte("x,w\na,1\nb,-1\n"), 0o666))
	require.NoError(
		t,
		os.WriteFile(
			"levels.yaml",
			[]byte("version: 1\nsource: {path: people.csv}\nkey: {variables: [age, {name: sex, levels: [m]}]}\noperators: [suda]\n"),
			0o666,
		),
	)
	require.NoError(
		t,
		os.WriteFile("types.yaml", []byte("version: 1\nsource: {path: types.csv, types: {a: int64}}\nkey: {variables: [a]}\noperators: [suda]\n"), 0o666),
	)
	assess := func(args ...string) []string {
		return append([]string{"assess", "--out", "out.csv", "--quiet"}, args...)
	}
	for name, c := range map[string]struct {
		args []string
		want map[string]any
	}{
		"memory":       {assess("people.csv", "--key", key, "--memory", "1KiB"), map[string]any{"error": "memory", "operator": "suda", "limit_bytes": 1024.0}},
		"a row":        {assess("weights.csv", "--key", "x", "--weight", "w"), map[string]any{"error": "input", "file": "weights.csv", "row": 1.0, "column": "w"}},
		"a line":       {[]string{"run", "types.yaml"}, map[string]any{"error": "input", "file": "types.csv", "line": 3.0, "column": "a"}},
		"a text":       {assess("latin.csv", "--key", "a"), map[string]any{"error": "input", "file": "latin.csv", "line": 3.0, "column": "b"}},
		"a short line": {assess("short.csv", "--key", "a"), map[string]any{"error": "input", "file": "short.csv", "line": 2.0}},
		"a table": {[]string{"inspect", "people.csv", "--key", key, "--missing", "wildcard", "--memory", "1KiB"},
			map[string]any{"error": "memory", "limit_bytes": 1024.0}},
		"margins": {[]string{"bounds", "row.csv", "column.csv", "--out", "cells.csv"},
			map[string]any{"error": "contradiction", "said": "published"}},
		"no file": {assess("none.csv", "--key", "x"), map[string]any{}},
		"levels":  {[]string{"run", "levels.yaml"}, map[string]any{"error": "contradiction", "said": "levels", "column": "sex", "file": "people.csv"}},
		"population": {
			assess("people.csv", "--key", "age", "--population-size", "1"), map[string]any{"error": "contradiction", "said": "population_size", "operator": "suda"},
		},
		"values sought": {assess("people.csv", "--key", "age", "--select", "sex=Q"), map[string]any{"error": "contradiction", "said": "select sex"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := microrisk(t, append(c.args, "--log-format", "json")...)
			require.NotEqual(t, ExitDone, r.status)
			var got map[string]any
			lines := strings.Split(strings.TrimSpace(r.err), "\n")
			require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &got))
			for field, want := range c.want {
				require.Equal(t, want, got[field], "%s of %v", field, got)
			}
		})
	}
}
