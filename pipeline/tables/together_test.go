package tables_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/audit"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

// releases are tables of records that are protected one by one.
type releases struct {
	t   *testing.T
	dir string
}

func (r releases) path(name string) string { return filepath.Join(r.dir, name) }

func (r releases) write(name, text string) string {
	require.NoError(r.t, os.WriteFile(r.path(name), []byte(text), 0o666))
	return r.path(name)
}

// protect protects a table of a file by the usual rule, and is where it is.
func (r releases) protect(source, name string, c protect.Config) tables.With {
	c.Rules = []protect.Rule{{Rule: "min"}}
	if protect.Looks(c.Method, "solver") {
		c.Solver = "embedded"
	}
	c.Out, c.Inside = r.path(name+".csv"), r.path(name+" internal")
	_, err := run(r.t, source, &c)
	require.NoError(r.t, err)
	return tables.With{Public: c.Out, Truth: c.Inside}
}

func (r releases) audit(of tables.With, parts string, with ...tables.With) (*audit.Together, error) {
	_, together, err := tables.RunAuditWith(background, tables.AuditSpec{Public: of.Public, Truth: of.Truth, With: with, Parts: parts}, session.Options{})
	return together, err
}

// Two tables that are safe one by one are not together, and are if they are protected together.
func TestLinkedTablesTogetherAndAlone(t *testing.T) {
	r := releases{t, t.TempDir()}
	source := r.write(
		"in.csv",
		"A,B,C\n"+strings.ReplaceAll("N,y,q N,z,p N,x,q N,y,q S,x,r S,y,q S,x,p S,z,q S,x,q E,z,q E,y,q E,y,r E,y,q E,x,r", " ", "\n")+"\n",
	)
	b := r.protect(source, "b", protect.Config{Table: variables("A", "B")})
	c := r.protect(source, "c", protect.Config{Table: variables("A", "C")})
	for _, x := range []tables.With{b, c} {
		alone, err := tables.RunAudit(background, tables.AuditSpec{Public: x.Public, Truth: x.Truth}, session.Options{})
		require.NoError(t, err)
		require.NoError(t, alone.Passed())
	}
	together, err := r.audit(b, "", c)
	require.NoError(t, err)
	require.ErrorContains(t, together.Passed(), "the tables together are not safe")
	linked := r.protect(source, "linked", protect.Config{Table: variables("A", "B", "C"), Linked: [][]string{{"A", "B"}, {"A", "C"}}})
	both, err := tables.RunAudit(background, tables.AuditSpec{Public: linked.Public, Truth: linked.Truth}, session.Options{})
	require.NoError(t, err)
	require.NoError(t, both.Passed())
	// The joint audit of the linked tables, as two files.
	var files []tables.With
	for i, name := range []string{"B", "C"} {
		text := "A," + name + ",value\n"
		for key, figures := range read(t, linked.Public, 3) {
			codes := strings.Split(key, "|")
			if codes[2-i] == "Total" {
				text += codes[0] + "," + codes[1+i] + "," + figures["value"] + "\n"
			}
		}
		public := r.write("only "+name+".csv", text)
		alone := r.protect(source, "alone "+name, protect.Config{Table: variables("A", name)})
		files = append(files, tables.With{Public: public, Truth: alone.Truth})
	}
	together, err = r.audit(files[0], "", files[1])
	require.NoError(t, err)
	require.NoError(t, together.Passed())
}

func ages(area string, counts map[int]int, band func(age int) string) string {
	text := ""
	for age := range 12 {
		text += strings.Repeat(area+","+band(age)+"\n", counts[age])
	}
	return text
}

// Ages from 0 to 4 in one table and from 0 to 3 in another give those of 4 away.
func TestTablesThatDifferByASmallGroup(t *testing.T) {
	r := releases{t, t.TempDir()}
	bands := map[string]int{"five": 5, "four": 4}
	parts := "table,variable,code,finest\n"
	made := make(map[string]tables.With)
	for name, to := range bands {
		text := "AREA,AGE\n"
		band := func(age int) string { return map[bool]string{true: "young", false: "old"}[age < to] }
		for _, area := range []string{"N", "S"} {
			counts := make(map[int]int)
			for age := range 12 {
				counts[age] = 5
			}
			if area == "N" {
				counts[4] = 2
			}
			text += ages(area, counts, band)
		}
		made[name] = r.protect(r.write(name+" in.csv", text), name, protect.Config{Table: variables("AREA", "AGE")})
		for age := range 12 {
			parts += fmt.Sprintf("%s,AGE,%s,%d\n", made[name].Public, band(age), age)
		}
	}
	path := r.write("parts.csv", parts)
	together, err := r.audit(made["five"], path, made["four"])
	require.NoError(t, err)
	require.Len(t, together.Groups, 1)
	require.Equal(t, int64(2), together.Groups[0].Value)
	require.ErrorContains(t, together.Passed(), "[AREA=N, AGE=young] of "+made["five"].Public+" (22) less [AREA=N, AGE=young] of "+made["four"].Public+
		" (20) is 2, which are those of AGE 4")
	whole, err := r.audit(made["five"], path, tables.With{Public: made["four"].Public})
	require.NoError(t, err)
	require.Len(t, whole.Groups, 1, "a table that shows all its values needs no internal folder")
	unsaid, err := r.audit(made["five"], "", made["four"])
	require.ErrorContains(t, err, "they are of different people", "the same words for other ages")
	require.Nil(t, unsaid)

	for text, says := range map[string]string{
		"table,variable,code\n":                                                "has no column \"finest\"",
		"table,variable,code,finest\nother,AGE,young,1\n":                      "names the table \"other\", which is none of",
		"table,variable,code,finest\n" + made["five"].Public + ",AGE,young,\n": "this one has no finest",
	} {
		_, err := r.audit(made["five"], r.write("bad.csv", text), made["four"])
		require.ErrorContains(t, err, says)
		require.True(t, session.IsSpec(err))
	}
}

// Who is of other people, or of something else, cannot be judged together.
func TestTablesThatContradictEachOther(t *testing.T) {
	r := releases{t, t.TempDir()}
	rows := func(n int) string { return "A,B,Y\n" + strings.Repeat("x,p,1\nx,q,1\ny,p,1\ny,q,1\n", n) }
	one := r.protect(r.write("1.csv", rows(5)), "one", protect.Config{Table: variables("A", "B")})
	two := r.protect(r.write("2.csv", rows(6)), "two", protect.Config{Table: variables("A", "B")})
	_, err := r.audit(one, "", two)
	require.ErrorContains(t, err, "has 20 in the cell [A=Total, B=Total], and "+two.Public+" has 24 there: they are of different people")
	sums := r.protect(r.path("1.csv"), "sums", protect.Config{Table: variables("A"), Response: "Y"})
	_, err = r.audit(one, "", sums)
	require.ErrorContains(t, err, "is of counts with 0 decimals, and "+sums.Public+" of Y with 0: tables that are judged together are of the same thing")
}

// A table whose categories were merged tells what is hidden where they are not: its log says what was merged, without any parts.
func TestMergedCategoriesAreKnownFromLogs(t *testing.T) {
	r := releases{t, t.TempDir()}
	text := "AREA,AGE\n"
	for _, area := range []string{"N", "S", "W"} {
		for age, n := range []int{9, 8, 7, 6, 5} {
			if area == "N" && age == 4 {
				n = 2
			}
			text += strings.Repeat(fmt.Sprintf("%s,%d\n", area, age), n)
		}
	}
	source := r.write("in.csv", text)
	merged := r.protect(source, "merged", protect.Config{Table: variables("AREA", "AGE"), Recodes: map[string]string{"AGE": r.write("ages.grc", "ends:0,4\n")}})
	whole := r.protect(source, "whole", protect.Config{Table: variables("AREA", "AGE")})
	require.Empty(t, read(t, whole.Public, 2)["N|4"]["value"])
	alone, err := tables.RunAudit(background, tables.AuditSpec{Public: whole.Public, Truth: whole.Truth}, session.Options{})
	require.NoError(t, err)
	require.NoError(t, alone.Passed())
	together, err := r.audit(whole, "", merged)
	require.NoError(t, err)
	require.NotEmpty(t, read(t, whole.Public, 2)["N|0"]["value"], "what is left of the merged one is 4")
	require.ErrorContains(t, together.Passed(), "anybody knows [N, 4] exactly")
	require.Empty(t, together.Warnings, "what was merged is known")
	said, err := r.audit(whole, r.write("parts.csv", fmt.Sprintf("table,variable,code,finest\n%[1]s,AGE,ends,0\n%[1]s,AGE,ends,4\n", merged.Public)), merged)
	require.NoError(t, err)
	require.Equal(t, said.Passed(), together.Passed())
}

// What tabulate makes is read as it is: its counts, with totals; without these it is told how to have them.
func TestTogetherWithTabulated(t *testing.T) {
	r := releases{t, t.TempDir()}
	rows := strings.ReplaceAll("N,y N,y N,y N,x S,x S,x S,x S,y S,y S,y N,x N,x E,x E,y E,y E,y E,x", " ", "\n") + "\n"
	a := r.protect(r.write("in.csv", "A,B\n"+rows), "a", protect.Config{Table: variables("A", "B")})
	tabulated := func(name, column, text string) tables.With {
		return tables.With{Public: r.write(name, "A,B,"+column+"\n"+text)}
	}
	const inside = "N,y,3\nN,x,3\nS,x,3\nS,y,3\nE,x,2\nE,y,3\n"
	const totals = "Total,Total,17\nTotal,x,8\nTotal,y,9\nN,Total,6\nS,Total,6\nE,Total,5\n"
	for _, column := range []string{"count", "value", "published"} {
		together, err := r.audit(a, "", tabulated(column+".csv", column, totals+inside))
		require.NoError(t, err, column)
		require.ErrorContains(t, together.Passed(), "anybody knows [E, x] exactly", column)
	}
	_, err := r.audit(a, "", tabulated("inside.csv", "count", inside))
	require.ErrorContains(t, err, "a table is read with its totals (tabulate --margins)")
	_, err = r.audit(a, "", tabulated("other.csv", "n", totals+inside))
	require.ErrorContains(t, err, "has no column published, value, count beside those of its variables")
}
