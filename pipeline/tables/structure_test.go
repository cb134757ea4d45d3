package tables_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/protect"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

const structured = `{"version":1,"kind":"cells","variables":[{"name":"r","total":"All","parents":{"north":"All","n1":"north","n2":"north","south":"All","s\"1":"south"}},` +
	`{"name":"s","total":"All","parents":{"f":"All","m":"All"}}],"response":"v","decimals":1}`

// structuredTable protects records, and gives the config.
func structuredTable(t *testing.T) *protect.Config {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"in.csv": "r,s,v,w\nn1,f,10.5,1\nn1,f,3,1\nn1,m,8,1\nn1,m,2.5,1\nn2,f,1,1\nn2,f,1,1\nn2,m,90,1\nn2,m,4,1\n\"s\"\"1\",f,7,1\n\"s\"\"1\",f,6,1\n\"s\"\"1\",m,5,1\n" +
			"\"s\"\"1\",m,9,1\n,m,3,1\n,m,4,1\n,f,5,1\n,f,2,1\n",
		"h.csv": "code,parent\nnorth,\nn1,north\nn2,north\nsouth,All\n\"s\"\"1\",south\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	c := &protect.Config{Table: variables("r", "s"), Total: "All", Hierarchies: map[string]string{"r": filepath.Join(dir, "h.csv")}, Response: "v", Decimals: 1,
		Rules: []protect.Rule{{Rule: "p%"}}, Insider: "off", Out: filepath.Join(dir, "public.parquet"), Inside: filepath.Join(dir, "inside")}
	_, err := run(t, filepath.Join(dir, "in.csv"), c)
	require.NoError(t, err)
	return c
}

// The metadata of the internal table have its structure, those of what can be published a version and nothing else.
func TestStructuresOfFiles(t *testing.T) {
	c := structuredTable(t)
	cells := filepath.Join(c.Inside, "cells.parquet")
	for path, want := range map[string]string{cells: structured, c.Out: `{"version":1}`} {
		text, err := session.MetadataOf(background, path, tablefile.StructureKey)
		require.NoError(t, err)
		require.Equal(t, want, text)
	}
	public, err := os.ReadFile(c.Out)
	require.NoError(t, err)
	for _, word := range []string{"kind", "parents", "decimals", "variables", "p%"} {
		require.NotContains(t, string(public), word)
	}
	s, err := tables.StructureOf(background, c.Out)
	require.NoError(t, err)
	require.Nil(t, s)
}

// An internal table is protected, and taken as the truth, without a word on its structure; what is said goes before it.
func TestStructuresAreTaken(t *testing.T) {
	c := structuredTable(t)
	cells, dir := filepath.Join(c.Inside, "cells.parquet"), t.TempDir()
	again := func(change func(*protect.Config)) (*protect.Config, error) {
		a := &protect.Config{Rules: c.Rules, Insider: "off", Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
		change(a)
		_, err := tables.Protect(background, cells, a, &protect.Columns{}, session.Options{})
		return a, err
	}
	a, err := again(func(*protect.Config) {})
	require.NoError(t, err)
	want, got := internal(t, c.Inside, 2), internal(t, a.Inside, 2)
	require.Len(t, got, len(want))
	hidden := 0
	for key, w := range want {
		for _, column := range []string{"value", "contributors", "top_1", "top_2", "status", "published", "audit"} {
			require.Equal(t, w[column], got[key][column], "%s of %s", column, key)
		}
		if w["published"] == "" {
			hidden++
		}
	}
	require.Positive(t, hidden)
	first, err := tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
	require.NoError(t, err)
	second, err := tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: cells, Config: protect.Config{Insider: "off"}}, session.Options{})
	require.NoError(t, err)
	require.NoError(t, second.Passed())
	require.Equal(t, first.Summary(), second.Summary())
	require.Equal(t, first.Report.Findings, second.Report.Findings)
	a, err = again(func(a *protect.Config) { a.Decimals = 2 })
	require.NoError(t, err)
	require.Equal(t, "13.50", internal(t, a.Inside, 2)["n1|f"]["value"], "what is said goes before")
	for says, change := range map[string]func(*protect.Config){
		"does not have the code": func(a *protect.Config) { a.Hierarchies = map[string]string{"s": filepath.Join(dir, "h.hrc")} },
		`there is no column "q"`: func(a *protect.Config) { a.Table = variables("r", "q") },
		"[All, All]":             func(a *protect.Config) { a.Total = "Total" },
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "h.hrc"), []byte("all\n@f\n"), 0o666))
		_, err := again(change)
		require.ErrorContains(t, err, says)
	}
}

// A footed table is one with other metadata.
type footed struct{ text string }

func (f footed) Footer() map[string]string { return map[string]string{tablefile.StructureKey: f.text} }

func (f footed) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: 2}
	c.Texts("r", func(row int) string { return []string{"a", "b"}[row] })
	c.Wholes("contributors", func(int) int64 { return 9 })
	c.Wholes("value", func(int) int64 { return 9 })
	return c.Record()
}

// Metadata that are broken, or of another program's version, are told; nothing is written.
func TestBrokenStructures(t *testing.T) {
	dir := t.TempDir()
	for text, says := range map[string]string{
		`{"version":2,"kind":"cells"}`: "its microrisk_table is of version 2, and 1 is known",
		`{`:                            "its microrisk_table cannot be read",
		`{"version":1,"kind":"cells","variables":[{"name":"r","total":"T","parents":{"a":"b","b":"a"}}]}`: `row 1: "a" is below itself`,
		`{"version":1,"kind":"cells","variables":[{"name":"r","total":"T","parents":{"a":"x","b":"T"}}]}`: `the parent "x" of "a" has no row`,
		`{"version":1,"kind":"cells","variables":[{"name":"r","total":"T","parents":{"b":"T"}}]}`:         `does not have the code "a"`,
		`{"version":1,"kind":"cells","variables":[{"name":"r","total":"T","parents":["b"]}]}`:             "no object of codes",
		`{"version":1,"kind":"cells","variables":[{"name":"r","total":"T","parents":{"a":1}}]}`:           "cannot be read",
		`{"version":1,"kind":"cells","variables":[{"name":"r","total":"T"},{"name":"s","total":"U"}]}`:    "several names of totals",
		`{"version":1,"kind":"cells","variables":[{"name":"q","total":"T","parents":{"a":"T"}}]}`:         `there is no column "q"`,
		`{"version":1,"kind":"cells","variables":[{"name":"r","total":"T"}],"decimals":40}`:               "has 40 decimals",
		`{"version":1,"kind":"cells"}`: "name the variables of the table",
		`{"version":1,"kind":"cells","variables":[{"name":"r","total":"T","parents":{"a":"T","b":"T"}}]} junk`: "cannot be read",
	} {
		path := filepath.Join(dir, "t.parquet")
		require.NoError(t, session.WriteRecord(background, path, footed{text}, session.Options{}, nil))
		c := &protect.Config{Rules: []protect.Rule{{Rule: "min"}}, Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
		_, err := tables.Protect(background, path, c, &protect.Columns{}, session.Options{})
		require.ErrorContains(t, err, says, text)
		require.True(t, session.IsSpec(err), text)
		require.NoFileExists(t, c.Out)
	}
}

// What is published of an internal table is what is published of its records: abs looks at these, a minimum at contributors.
func TestInternalTablesHaveTheirRecords(t *testing.T) {
	dir := t.TempDir()
	source, text := filepath.Join(dir, "in.csv"), "r,s,who\n"
	for cell, who := range map[string]int{"a,f": 6, "a,m": 4, "b,f": 2, "b,m": 5} { // two records of each
		for i := range who {
			text += fmt.Sprintf("%s,%s%d\n%[1]s,%[2]s%[3]d\n", cell, cell[:1]+cell[2:], i)
		}
	}
	require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
	c := &protect.Config{Table: variables("r", "s"), Contributor: "who", Method: "abs", Rules: []protect.Rule{{Rule: "min", N: new(2)}},
		Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
	_, err := run(t, source, c)
	require.NoError(t, err)
	want := internal(t, c.Inside, 2)
	require.Equal(t, "4", want["b|f"]["count"])
	require.Equal(t, "2", want["b|f"]["contributors"])
	require.Equal(t, "0", want["b|f"]["published"], "4 records are not hidden")
	a := &protect.Config{Method: "abs", Rules: c.Rules, Out: filepath.Join(dir, "again.csv"), Inside: filepath.Join(dir, "again")}
	_, err = tables.Protect(background, filepath.Join(c.Inside, "cells.parquet"), a, &protect.Columns{}, session.Options{})
	require.NoError(t, err)
	got := internal(t, a.Inside, 2)
	for key, w := range want {
		for _, column := range []string{"count", "contributors", "value", "published"} {
			require.Equal(t, w[column], got[key][column], "%s of %s", column, key)
		}
	}
}

// Who is alone in a cell is known when an internal table is protected again, also where its columns are named, and where cells become one.
func TestInternalTablesHaveTheirOnlyContributors(t *testing.T) {
	dir := t.TempDir()
	source, text := filepath.Join(dir, "in.csv"), "r,s\n"
	for r, row := range [][]int{{5, 1, 7, 3}, {1, 6, 2, 9}, {8, 3, 1, 4}, {6, 9, 5, 1}} {
		for s, n := range row {
			text += strings.Repeat(fmt.Sprintf("%c,%c\n", 'a'+r, 'e'+s), n)
		}
	}
	require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
	made := func(name, insider string) *protect.Config {
		return &protect.Config{Table: variables("r", "s"), Method: "optimal", Solver: "embedded", Insider: insider, Rules: []protect.Rule{{Rule: "min", N: new(3)}},
			Out: filepath.Join(dir, name+".csv"), Inside: filepath.Join(dir, name)}
	}
	hidden := func(c *protect.Config) (list []string) {
		for key, cell := range read(t, c.Out, 2) {
			if cell["value"] == "" {
				list = append(list, key)
			}
		}
		slices.Sort(list)
		return list
	}
	first, off := made("first", ""), made("off", "off")
	for _, c := range []*protect.Config{first, off} {
		_, err := run(t, source, c)
		require.NoError(t, err)
	}
	cells, want := filepath.Join(first.Inside, "cells.parquet"), hidden(first)
	require.NotEmpty(t, want)
	require.NotEqual(t, hidden(off), want, "insiders have something to find")
	for name, columns := range map[string]protect.Columns{"again": {}, "named": {Count: "contributors"}} {
		c := made(name, "")
		_, err := tables.Protect(background, cells, c, &columns, session.Options{})
		require.NoError(t, err)
		require.Equal(t, want, hidden(c), name)
		for key, cell := range internal(t, first.Inside, 2) {
			require.Equal(t, cell["sole_contributor"], internal(t, c.Inside, 2)[key]["sole_contributor"], key)
		}
	}
	recodes := filepath.Join(dir, "r.grc")
	require.NoError(t, os.WriteFile(recodes, []byte("ab:a,b\ncd:c,d\n"), 0o666))
	merged, again := made("merged", ""), made("merged again", "")
	merged.Recodes, again.Recodes = map[string]string{"r": recodes}, map[string]string{"r": recodes}
	_, err := run(t, source, merged)
	require.NoError(t, err)
	_, err = tables.Protect(background, cells, again, &protect.Columns{}, session.Options{})
	require.NoError(t, err)
	for key, cell := range internal(t, merged.Inside, 2) {
		got := internal(t, again.Inside, 2)[key]
		require.Equal(t, cell["sole_contributor"] == "", got["sole_contributor"] == "", key)
	}
	require.Equal(t, hidden(merged), hidden(again))
}
