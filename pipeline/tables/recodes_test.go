package tables_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

// diseases is T-DIS of Miller 2005.
const diseases = "age,disease,n\n0-16,No,72\n0-16,Yes,12\n17-24,No,75\n17-24,Yes,3\n25-35,No,89\n25-35,Yes,1\n"

// recordsOf are the records of a table of two variables.
func recordsOf(table string) string {
	text := "age,disease\n"
	for line := range strings.Lines(strings.SplitN(table, "\n", 2)[1]) {
		var n int
		f := strings.Split(strings.TrimSpace(line), ",")
		fmt.Sscan(f[2], &n)
		text += strings.Repeat(f[0]+","+f[1]+"\n", n)
	}
	return text
}

// TV-N1: two age bands of T-DIS become one, of records as of a table, whatever totals that has.
func TestRecodesOfTVN1(t *testing.T) {
	const ages = "0-16,Total,84\n17-24,Total,78\n25-35,Total,90\n"
	for name, text := range map[string]string{
		"records": "", "table": diseases, "totals": diseases + ages + "Total,No,236\nTotal,Yes,16\nTotal,Total,252\n",
		"some totals": diseases + "Total,Total,252\n", "a total of one part": diseases + "17-24,Total,78\n",
	} {
		for n, unsafe := range map[int]int{4: 0, 5: 1} {
			dir := t.TempDir()
			source, recodes := filepath.Join(dir, "in.csv"), filepath.Join(dir, "age.grc")
			require.NoError(t, os.WriteFile(recodes, []byte("17-35: 17-24, 25-35\n"), 0o666))
			c := &protect.Config{Table: variables("age", "disease"), Recodes: map[string]string{"age": recodes}, Rules: []protect.Rule{{Rule: "min", N: &n}},
				Margins: "none", Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
			var s *protect.Summary
			var err error
			if text == "" {
				require.NoError(t, os.WriteFile(source, []byte(recordsOf(diseases)), 0o666))
				s, err = run(t, source, c)
			} else {
				require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
				s, err = tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
			}
			require.NoError(t, err, name)
			require.Equal(t, unsafe, s.Unsafe, name)
			require.Equal(t, int64(252), s.Records, name)
			cells := internal(t, c.Inside, 2)
			require.Len(t, cells, 9)
			for key, want := range map[string]string{"0-16|No": "72", "0-16|Yes": "12", "0-16|Total": "84", "17-35|No": "164", "17-35|Yes": "4", "17-35|Total": "168",
				"Total|No": "236", "Total|Yes": "16", "Total|Total": "252"} {
				require.Equal(t, want, cells[key]["value"], "%s %s", name, key)
				require.Equal(t, n == 5 && key == "17-35|Yes", strings.HasPrefix(cells[key]["status"], "unsafe"), key)
			}
			require.Contains(t, read(t, c.Out, 2), "17-35|No")
			log, err := os.ReadFile(filepath.Join(c.Inside, "log.json"))
			require.NoError(t, err)
			require.Contains(t, string(bytes.Join(bytes.Fields(log), nil)), `"recodes":[{"variable":"age","code":"17-35","of":["17-24","25-35"]}]`)
			audited(t, c)
		}
	}
}

// Records that are recoded are those that have the new codes: contributors of several cells that become one count once.
func TestRecodedRecords(t *testing.T) {
	newCode := map[string]string{"2": "low", "9": "low", "10": "low", "11": "11", "12": "top", "100": "top"}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(rt, err)
		old, recoded := "code,sex,v,h\n", "code,sex,v,h\n"
		for code, to := range newCode { // all are there
			old, recoded = old+code+",f,5,x\n", recoded+to+",f,5,x\n"
		}
		for range rapid.IntRange(0, 20).Draw(rt, "records") {
			code := rapid.SampledFrom([]string{"2", "9", "10", "11", "12", "100"}).Draw(rt, "code")
			rest := "," + rapid.SampledFrom([]string{"f", "m"}).Draw(rt, "sex") + "," + fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "v")) + "," +
				rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "h") + "\n"
			old, recoded = old+code+rest, recoded+newCode[code]+rest
		}
		hierarchy := rapid.Bool().Draw(rt, "hierarchy")
		held := rapid.Bool().Draw(rt, "held")
		made := func(name, text string, recodes map[string]string) map[string]map[string]string {
			source, inside := filepath.Join(dir, name+".csv"), filepath.Join(dir, name)
			require.NoError(rt, os.WriteFile(source, []byte(text), 0o666))
			c := &protect.Config{
				Table:     variables("code", "sex"),
				Recodes:   recodes,
				Response:  "v",
				Rules:     []protect.Rule{{Rule: "p%"}},
				Method:    "none",
				Sliding:   new(1),
				Overrides: filepath.Join(dir, "safe.csv"),
				Out:       filepath.Join(dir, name+"-public.csv"),
				Inside:    inside,
			}
			if hierarchy {
				c.Hierarchies = map[string]string{"code": filepath.Join(dir, "h.hrc")}
			}
			if held {
				c.Contributor = "h"
			}
			var safe strings.Builder // nothing is hidden
			safe.WriteString("code,sex,set\n")
			for _, code := range []string{"low", "11", "top", "Total"} {
				for _, sex := range []string{"f", "m", "Total"} {
					if sex != "m" || strings.Contains(text, ",m,") {
						fmt.Fprintf(&safe, "%s,%s,safe\n", code, sex)
					}
				}
			}
			if hierarchy {
				safe.WriteString("all,f,safe\nall,Total,safe\n")
				if strings.Contains(text, ",m,") {
					safe.WriteString("all,m,safe\n")
				}
			}
			require.NoError(rt, os.WriteFile(filepath.Join(dir, "safe.csv"), []byte(safe.String()), 0o666))
			_, err := run(rt, source, c)
			require.NoError(rt, err)
			cells := internal(rt, inside, 2)
			for _, figures := range cells { // whom a number stands for depends on the order of the records
				if figures["sole_contributor"] != "" {
					figures["sole_contributor"] = "one"
				}
			}
			return cells
		}
		require.NoError(rt, os.WriteFile(filepath.Join(dir, "h.hrc"), []byte("all\n@low\n@11\ntop\n"), 0o666))
		require.NoError(rt, os.WriteFile(filepath.Join(dir, "code.grc"), []byte("low: -10\ntop:12-\n"), 0o666))
		require.Equal(rt, made("recoded", recoded, nil), made("old", old, map[string]string{"code": filepath.Join(dir, "code.grc")}))
	})
}

// Of a ready-made table the largest contributions become sorted lists, and it is said that a contributor may count several times.
func TestRecodedTables(t *testing.T) {
	dir := t.TempDir()
	source, recodes := filepath.Join(dir, "in.csv"), filepath.Join(dir, "r.grc")
	require.NoError(t, os.WriteFile(recodes, []byte("ab:a,b\n"), 0o666))
	const table = "r,s,n,v,m1,m2\na,x,3,10,7,2\nb,x,4,20,9,8\nc,x,9,50,9,8\na,y,5,30,9,9\nc,y,9,60,9,8\nTotal,Total,30,170,9,9\n"
	columns := protect.Columns{Count: "n", Value: "v", Max: "m1", Second: "m2"}
	config := func() *protect.Config {
		return &protect.Config{Table: variables("r", "s"), Recodes: map[string]string{"r": recodes}, Rules: []protect.Rule{{Rule: "p%", P: new(1.0)}},
			Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
	}
	require.NoError(t, os.WriteFile(source, []byte(table), 0o666))
	var log bytes.Buffer
	_, err := tables.Protect(background, source, config(), &columns, session.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	require.Contains(t, log.String(), "a contributor who is in several of them counts several times")
	cells := internal(t, filepath.Join(dir, "inside"), 2)
	require.Equal(
		t,
		"7 30 9 8",
		strings.Join([]string{cells["ab|x"]["contributors"], cells["ab|x"]["value"], cells["ab|x"]["top_1"], cells["ab|x"]["top_2"]}, " "),
	)
	require.Equal(
		t,
		"5 30 9 9",
		strings.Join([]string{cells["ab|y"]["contributors"], cells["ab|y"]["value"], cells["ab|y"]["top_1"], cells["ab|y"]["top_2"]}, " "),
	)
	require.Equal(
		t,
		"12 60 9 9",
		strings.Join([]string{cells["ab|Total"]["contributors"], cells["ab|Total"]["value"], cells["ab|Total"]["top_1"], cells["ab|Total"]["top_2"]}, " "),
	)
	for name, x := range map[string]struct{ table, recodes, says string }{
		"unknown code":      {table, "ab:a,z\n", `r.grc:1: "z" is no code`},
		"overlap":           {table, "ab:a,b\nbc:b,c\n", `r.grc:2: "b" becomes "bc", and has a new code in line 1`},
		"a code that stays": {table, "c:a,b\n", `the new code "c" is a code that stays`},
		"the total":         {table, "Total:a,b\n", `the new code "Total", which names the total`},
		"twice":             {table + "a,x,3,10,7,2\n", "ab:a,b\n", "has the cell [a, x] twice"},
		"totals":            {strings.Replace(table, "170", "171", 1), "ab:a,b\n", "[Total, Total] is 171, and its parts add up to 170"},
		"a merged total":    {table + "a,Total,8,41,9,9\nb,Total,4,20,9,8\n", "ab:a,b\n", "[ab, Total] is 61, and its parts add up to 60"},
	} {
		require.NoError(t, os.WriteFile(source, []byte(x.table), 0o666))
		require.NoError(t, os.WriteFile(recodes, []byte(x.recodes), 0o666))
		c := config()
		c.Out = filepath.Join(dir, "no.csv")
		_, err := tables.Protect(background, source, c, &columns, session.Options{})
		require.ErrorContains(t, err, x.says, name)
		require.NoFileExists(t, c.Out)
		if name == "twice" || strings.Contains(name, "total") && name != "the total" {
			continue
		}
		require.NoError(t, os.WriteFile(source, []byte(strings.ReplaceAll(recordsOf(diseases), "0-16", "a")+"b,No\nc,No\n"), 0o666))
		c = config()
		c.Table, c.Recodes, c.Rules = variables("age", "disease"), map[string]string{"age": recodes}, []protect.Rule{{Rule: "min"}}
		_, err = run(t, source, c)
		require.ErrorContains(t, err, x.says, name)
	}
	c := config()
	c.Recodes = map[string]string{"q": recodes}
	_, err = tables.Protect(background, source, c, &columns, session.Options{})
	require.ErrorContains(t, err, "q has recodes, and is no variable of the table")
	columns.Status = "s"
	_, err = tables.Protect(background, source, config(), &columns, session.Options{})
	require.ErrorContains(t, err, "is not of those that recodes make of them")
}

// A recode to a code of the hierarchy tells nothing apart below it: of records, and of tables with and without their totals.
func TestRecodesOfHierarchies(t *testing.T) {
	const with = "reg,sex,n\nn1,f,5\nn1,m,1\nn2,f,4\nn2,m,7\ns1,f,6\ns1,m,8\nnorth,f,9\nnorth,m,8\nnorth,Total,17\nTotal,Total,31\n"
	var part strings.Builder // without totals, and records
	var list strings.Builder
	list.WriteString("reg,sex\n")
	for line := range strings.Lines(with) {
		if strings.Contains(line, "Total") || strings.Contains(line, "north") {
			continue
		}
		part.WriteString(line)
		var n int
		f := strings.Split(strings.TrimSpace(line), ",")
		fmt.Sscan(f[2], &n)
		list.WriteString(strings.Repeat(f[0]+","+f[1]+"\n", n))
	}
	for name, x := range map[string]struct{ text, recodes, says string }{
		"records":        {list.String(), "north:n1,n2\n", ""},
		"table":          {part.String(), "north:n1,n2\n", ""},
		"totals":         {with, "north:n1,n2\n", ""},
		"too few":        {with, "north:n1\n", `r.grc makes "north" of "n1", and the hierarchy of reg has that code above "n1", "n2"`},
		"others":         {list.String(), "north:n1,n2,s1\n", `r.grc makes "north" of "n1", "n2", "s1", and the hierarchy of reg has that code above`},
		"too few, again": {list.String(), "north:n2\n", "make it of all of these"},
	} {
		dir := t.TempDir()
		path := func(name, text string) string {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
			return filepath.Join(dir, name)
		}
		c := &protect.Config{Table: variables("reg", "sex"), Recodes: map[string]string{"reg": path("r.grc", x.recodes)}, Method: "none",
			Hierarchies: map[string]string{"reg": path("h.hrc", "north\n@n1\n@n2\nsouth\n@s1\n")}, Rules: []protect.Rule{{Rule: "min"}},
			Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
		source := path("in.csv", x.text)
		var err error
		if strings.HasPrefix(x.text, "reg,sex,n") {
			_, err = tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
		} else {
			_, err = run(t, source, c)
		}
		if x.says != "" {
			require.ErrorContains(t, err, x.says, name)
			require.NoFileExists(t, c.Out)
			continue
		}
		require.NoError(t, err, name)
		cells := read(t, c.Out, 2)
		require.Len(t, cells, 12, name)
		require.Equal(t, "9", cells["north|f"]["value"])
		require.Equal(t, "17", cells["north|Total"]["value"])
		require.Equal(t, "6", cells["s1|f"]["value"])
		require.NotContains(t, cells, "n1|m")
		// The internal table has its hierarchy, and can be made coarser too.
		require.NoError(t, os.WriteFile(filepath.Join(dir, "r.grc"), []byte("south:s1\n"), 0o666))
		again := *c
		again.Hierarchies, again.Recodes, again.Out, again.Inside = nil, map[string]string{
			"reg": filepath.Join(dir, "r.grc"),
		}, filepath.Join(
			dir,
			"2.csv",
		), filepath.Join(
			dir,
			"2",
		)
		_, err = tables.Protect(background, filepath.Join(dir, "inside", "cells.parquet"), &again, &protect.Columns{}, session.Options{})
		require.NoError(t, err, name)
		require.Len(t, read(t, again.Out, 2), 9, name)
	}
}
