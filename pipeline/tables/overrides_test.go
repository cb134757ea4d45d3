package tables_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// What is said by hand is of the cell that is named: a category called Total where totals are called otherwise, a missing value where
// there is no code.
func TestOverridesFindTheirCell(t *testing.T) {
	const records = "r,s\nTotal,x\nTotal,y\nb,x\nb,y\n"
	const missing = "r,s\n,x\n,y\nb,x\nb,y\n"
	for name, c := range map[string]struct{ records, total, overrides, refused string }{
		"renamed total": {records, "ALL", "r,s,set\nTotal,x,unsafe\n", ""},
		"missing":       {missing, "Total", "r,s,set\n,x,unsafe\n", ""},
		"never missing": {records, "ALL", "r,s,set\n,x,unsafe\n", "there is no code of r, and it is never missing"},
		"no total":      {records, "ALL", "r,s,set\nALLE,x,unsafe\n", `r has no category "ALLE"`},
	} {
		dir := t.TempDir()
		source, said := filepath.Join(dir, "in.csv"), filepath.Join(dir, "said.csv")
		require.NoError(t, os.WriteFile(source, []byte(repeated(c.records)), 0o666))
		require.NoError(t, os.WriteFile(said, []byte(c.overrides), 0o666))
		config := &protect.Config{
			Table: variables("r", "s"), Total: c.total, Overrides: said, Rules: []protect.Rule{{Rule: "min", N: new(1)}},
			Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "internal"),
		}
		_, err := run(t, source, config)
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused, name)
			continue
		}
		require.NoError(t, err, name)
		for cell, figures := range internal(t, config.Inside, 2) {
			want := cell == "Total|x" && c.total == "ALL" || cell == "|x" && c.total == "Total"
			require.Equal(t, want, figures["status"] == "unsafe_manual", "%s %s %v", name, cell, figures)
		}
	}
}

// repeated has each record four times.
func repeated(text string) string {
	header, rows, _ := strings.Cut(text, "\n")
	return header + "\n" + strings.Repeat(rows, 4)
}

// A table of too many cells for its memory is refused before it is made: totals over many variables are many more than the records.
func TestTooManyCells(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "in.csv")
	text, names := "", []string{}
	for v := range 20 {
		names = append(names, string(rune('a'+v)))
		text += names[v] + map[bool]string{true: "\n", false: ","}[v == 19]
	}
	text += "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n"
	require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Operators: []schemas.Operator{{Config: &protect.Config{
		Table: variables(names...), Rules: []protect.Rule{{Rule: "min"}}, Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "internal"),
	}}}}
	_, err := pipeline.Run(background, spec, session.Options{Memory: 64 << 20})
	require.ErrorContains(t, err, "a table of up to 1.05e+06 cells, totals among them, needs about")
	require.NoDirExists(t, filepath.Join(dir, "internal"))
}

// A cell that is to be hidden by hand is hidden, or the table is refused: no method publishes something of it.
func TestHiddenByHandIsHiddenOrRefused(t *testing.T) {
	for _, method := range protect.Methods {
		dir := t.TempDir()
		source, said := filepath.Join(dir, "in.csv"), filepath.Join(dir, "said.csv")
		require.NoError(t, os.WriteFile(source, []byte(repeated(repeated("r,s\na,x\na,y\nb,x\nb,y\n"))), 0o666))
		require.NoError(t, os.WriteFile(said, []byte("r,s,set\na,x,hidden\n"), 0o666))
		config := &protect.Config{
			Table: variables("r", "s"), Overrides: said, Rules: []protect.Rule{{Rule: "min", N: new(1)}}, Method: method,
			Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "internal"),
		}
		switch method {
		case "rounding":
			config.Base = 3
		case "perturbation":
			config.Perturb = &schemas.Perturbation{Scheme: "random", Base: 3}
		case "multiplicative":
			config.SD = new(0.1)
		}
		_, err := run(t, source, config)
		if err != nil {
			require.ErrorContains(t, err, "[a, x] is to be hidden by hand", method)
			require.NoFileExists(t, config.Out)
			continue
		}
		text, err := os.ReadFile(config.Out)
		require.NoError(t, err)
		require.Contains(t, string(text), "\na,x,,x", method)
	}
}

// A public file in the internal folder is refused, also by a link.
func TestPublicFileByALinkIntoTheInternalFolder(t *testing.T) {
	dir := t.TempDir()
	inside, link := filepath.Join(dir, "internal"), filepath.Join(dir, "link")
	require.NoError(t, os.Mkdir(inside, 0o777))
	if err := os.Symlink(inside, link); err != nil {
		t.Skip(err)
	}
	source := filepath.Join(dir, "in.csv")
	require.NoError(t, os.WriteFile(source, []byte(repeated("r,s\na,x\na,y\nb,x\nb,y\n")), 0o666))
	config := &protect.Config{
		Table: variables("r", "s"), Rules: []protect.Rule{{Rule: "min", N: new(1)}}, Out: filepath.Join(link, "public.csv"), Inside: inside,
	}
	_, err := run(t, source, config)
	require.ErrorContains(t, err, "lies in the folder")
	list, err := os.ReadDir(inside)
	require.NoError(t, err)
	require.Empty(t, list)
}
