package redesign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/redesign"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"

	_ "microrisk/operators/builtin"
)

const diseases = "age,disease,n\n0-16,No,72\n0-16,Yes,12\n17-24,No,75\n17-24,Yes,3\n25-35,No,89\n25-35,Yes,1\n"

func variables(names ...string) []schemas.KeyVariable {
	var list []schemas.KeyVariable
	for _, n := range names {
		list = append(list, schemas.KeyVariable{Name: n})
	}
	return list
}

func put(t require.TestingT, dir, name, text string) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func ready(path string) tables.Source {
	return tables.Source{Path: path, Columns: &protect.Columns{Count: "n"}}
}

func records(path string) tables.Source {
	return tables.Source{Records: &schemas.Spec{Source: schemas.Source{Path: []string{path}}}}
}

// The code of merged categories names all of them while there is room, and then as many as there is room for.
func TestLabels(t *testing.T) {
	for categories, want := range map[int]string{
		5: "occupation 1+occupation 2+occupation 3+occupation 4+occupation 5",
		40: "occupation 1+occupation 2+occupation 3+occupation 4+occupation 5+occupation 6+occupation 7+occupation 8+occupation 9+occupation 10+occupation 11+" +
			"occupation 12+occupation 13+occupation 14+occupation 15 and 25 more",
	} {
		tree := tabular.NewTree("job")
		var group []int32
		for i := range categories {
			group = append(group, int32(tree.Add(tabular.Of(fmt.Sprintf("occupation %d", i+1)), 0)))
		}
		r := &redesigning{Spec: &Spec{}, variables: []variable{{Variable: redesign.Variable{Tree: tree}}}}
		require.Equal(t, want, r.label(0, group))
	}
	require.Equal(t, "a + b", Recode{Variable: "x", Code: "a+b", Of: []string{"a", "b"}}.All())
	require.Equal(t, "young (of a, b)", Recode{Variable: "x", Code: "young", Of: []string{"a", "b"}}.All())
}

// Merges of a variable with very many categories are not listed, but refused.
func TestTooManyMerges(t *testing.T) {
	dir := t.TempDir()
	text := "id,n\n"
	for i := range 2000 {
		text += fmt.Sprintf("k%d,1\n", i)
	}
	s := Spec{Source: ready(put(t, dir, "in.csv", text)), Config: protect.Config{Table: variables("id"), Rules: []protect.Rule{{Rule: "min", N: new(4)}}}}
	_, err := Run(context.Background(), s, session.Options{})
	require.ErrorContains(t, err, "id has 2,000 categories")
	require.True(t, session.IsSpec(err))
	many := new(TooManyError)
	require.ErrorAs(t, err, &many)
	require.Equal(t, "id", many.Variable)
}

// TV-N1 from a file to recodes.
func TestTVN1(t *testing.T) {
	dir := t.TempDir()
	s := Spec{Source: ready(put(t, dir, "in.csv", diseases)), Out: filepath.Join(dir, "out"), JSON: filepath.Join(dir, "out.json"),
		Config: protect.Config{Table: variables("age", "disease"), Rules: []protect.Rule{{Rule: "min", N: new(4)}}}}
	o, err := Run(context.Background(), s, session.Options{})
	require.NoError(t, err)
	require.Equal(t, []Variable{{"age", 3, byNeighbours}, {"disease", 2, byNone}}, o.Variables)
	require.Equal(t, 2, o.Unsafe)
	require.True(t, o.Monotone)
	require.Len(t, o.Candidates, 2)
	require.Equal(t, Recode{"age", "17-35", []string{"17-24", "25-35"}}, o.Candidates[0].Recode)
	require.Zero(t, o.Candidates[0].Unsafe)
	require.Equal(t, 1, o.Candidates[1].Unsafe)
	require.Len(t, o.Redesigns, 1)
	x := o.Redesigns[0]
	require.Equal(t, []Recode{o.Candidates[0].Recode}, x.Recodes)
	require.Equal(t, int64(168), x.Loss.Contributors)
	require.Equal(t, int64(336), x.Loss.WithTotals.Contributors)
	text, err := os.ReadFile(filepath.Join(dir, "out", "1", "age.grc"))
	require.NoError(t, err)
	require.Equal(t, "17-35:17-24,25-35\n", string(text))
	require.FileExists(t, s.JSON)

	s.Config.Rules = []protect.Rule{{Rule: "min", N: new(5)}}
	s.Out, s.JSON = "", ""
	o, err = Run(context.Background(), s, session.Options{})
	require.NoError(t, err)
	require.Empty(t, o.Redesigns)
	require.True(t, o.Whole)
	require.Equal(t, 1, o.Fewest.Unsafe)
}

// A holding in two cells that become one is one contributor of it, so that merging them does not help.
func TestHoldings(t *testing.T) {
	dir := t.TempDir()
	text := "act,reg,firm,v\n"
	for i, act := range []string{"a", "b", "c", "d"} {
		for _, reg := range []string{"x", "y"} {
			for k := range 4 {
				firm := fmt.Sprint(act, reg, k)
				if act == "a" || act == "b" {
					firm = fmt.Sprint("ab", reg, k%2) // two holdings have all of a and b
				}
				text += fmt.Sprintf("%s,%s,%s,%d\n", act, reg, firm, 10+i+k)
			}
		}
	}
	s := Spec{Source: records(put(t, dir, "in.csv", text)), Out: filepath.Join(dir, "out"), Best: 10,
		Config: protect.Config{Table: variables("act", "reg"), Contributor: "firm", Response: "v", Rules: []protect.Rule{{Rule: "min"}}}}
	o, err := Run(context.Background(), s, session.Options{})
	require.NoError(t, err)
	for _, c := range o.Candidates {
		if c.Code == "a+b" {
			require.Equal(t, 2, c.Unsafe) // the two regions
		}
	}
	require.NotEmpty(t, o.Redesigns)
	for _, x := range o.Redesigns {
		for _, m := range x.Recodes {
			require.True(t, slices.Contains(m.Of, "c") || slices.Contains(m.Of, "d"), m)
		}
		require.NotEqual(t, "a+b", x.Recodes[0].Code)
	}
	// The rows of a table do not tell who is in several cells.
	require.Equal(t, "out/1/act.grc", filepath.ToSlash(strings.TrimPrefix(o.Redesigns[0].Files["act"], dir+string(filepath.Separator))))
}

// What is said of variables that cannot be.
func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	in := put(t, dir, "in.csv", diseases)
	groups := put(t, dir, "g.grc", "old: 17-24, 99\n")
	hierarchy := put(t, dir, "h.hrc", "young\n@0-16\n@17-24\nold\n@25-35\n")
	for says, change := range map[string]func(s *Spec){
		`age has no code "17-23"; did you mean 17-24?`:      func(s *Spec) { s.Pins = []string{"age=17-23"} },
		`the variable "agee" is unknown; did you mean age?`: func(s *Spec) { s.Pins = []string{"agee"} },
		`the variable "sex" is unknown`:                     func(s *Spec) { s.Ordered = []string{"sex"} },
		`has fewer than two codes; write such as`:           func(s *Spec) { s.Ordered = []string{"age=a"} },
		`the order of disease does not have "Yes"`:          func(s *Spec) { s.Ordered = []string{"disease=No|Perhaps"}; s.Ordered[0] = "disease=No|No" },
		`disease has no code "Perhaps"`:                     func(s *Spec) { s.Ordered = []string{"disease=No|Perhaps"} },
		`g.grc:1: "99" is no code`:                          func(s *Spec) { s.Groups = map[string]string{"age": groups} },
		`the groups none.grc cannot be read`:                func(s *Spec) { s.Groups = map[string]string{"age": "none.grc"} },
		`age has a hierarchy, and what is below a code`:     func(s *Spec) { s.Config.Hierarchies, s.Ordered = map[string]string{"age": hierarchy}, []string{"age"} },
		`age has groups and an order: say one`:              func(s *Spec) { s.Groups, s.Ordered = map[string]string{"age": groups}, []string{"age"} },
		`what a table says of its cells`:                    func(s *Spec) { s.Source.Columns.Status = "n" },
		`loss "cost" is unknown`:                            func(s *Spec) { s.Loss = "cost" },
		`two limits, seconds and nodes`:                     func(s *Spec) { s.Nodes, s.Seconds = new(1), new(1.0) },
		"in.csv":                                            func(s *Spec) { s.JSON = in },
		"no rule says which cells disclose":                 func(s *Spec) { s.Config.Rules = nil },
	} {
		s := Spec{Source: ready(in), Config: protect.Config{Table: variables("age", "disease"), Rules: []protect.Rule{{Rule: "min", N: new(4)}}}}
		change(&s)
		_, err := Run(context.Background(), s, session.Options{})
		if strings.Contains(says, "does not have") {
			require.ErrorContains(t, err, `the order of disease has "No" twice`)
			continue
		}
		require.ErrorContains(t, err, says)
		require.True(t, session.IsSpec(err), says)
	}
}

// Labels of merged bands.
func TestBands(t *testing.T) {
	for want, of := range map[string][2]string{"17-35": {"17-24", "25-35"}, "75+": {"75-84", "85+"}, "[17,35)": {"[17,25)", "[25,35)"}, "<10": {"<5", "5-9"},
		"10-12": {"10", "12"}, "80+": {"80", "90 and more"}, "[60,inf)": {"[60,80)", "[80,inf)"}} {
		require.Equal(t, want, band(of[0], of[1]))
	}
}

// Whatever design: the cells that are found unsafe in the table as it is are those of the table that its recodes make; of records, of ready-made
// tables with totals, below codes of hierarchies, with codes that have commas and quotes.
func TestJudges(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(folder, "")
		require.NoError(t, err)
		codes := []string{`a`, `b, c`, `"d"`, `e "f", g`, `5-9`}
		text := "x,y,h,v\n"
		for _, c := range codes {
			for _, y := range []string{"n1", "n2", "s1", "s2", "w"} {
				for range rapid.IntRange(0, 4).Draw(t, "records") {
					quoted := `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
					text += fmt.Sprintf(
						"%s,%s,%s,%d\n",
						quoted,
						y,
						rapid.SampledFrom([]string{"p", "q", "r", "s"}).Draw(t, "holder"),
						rapid.IntRange(0, 9).Draw(t, "v"),
					)
				}
			}
		}
		if strings.Count(text, "\n") < 3 {
			return
		}
		s := Spec{Source: records(put(t, dir, "in.csv", text)), Config: protect.Config{Table: variables("x", "y"),
			Hierarchies: map[string]string{"y": put(t, dir, "h.hrc", "north\n@n1\n@n2\nother\n@south\n@@s1\n@@s2\n@w\n")}}}
		s.Config.Rules = []protect.Rule{{Rule: "min"}}
		if rapid.Bool().Draw(t, "response") {
			s.Config.Response, s.Config.Rules = "v", []protect.Rule{{Rule: "p%", P: new(30.0)}, {Rule: "dominance", N: new(1), K: new(60.0)}}
		}
		if rapid.Bool().Draw(t, "held") {
			s.Config.Contributor = "h"
		}
		if rapid.Bool().Draw(t, "ordered") {
			s.Ordered = []string{"x"}
		}
		schemas.Complete(s.Fields())
		r := &redesigning{Spec: &s, ctx: context.Background()}
		r.table, _, err = s.Source.Read(context.Background(), &s.Config, session.Options{})
		require.NoError(t, err)
		require.NoError(t, r.prepare())
		rules, _ := s.Config.CellRules()
		cells := redesign.Cells(r.table.Grid, r.table.Cells, 2, func(c *detection.Cell) bool { return detection.Judge(c, rules).Status.Primary() })
		d := r.problem.Same()
		flat := false
		for range rapid.IntRange(0, 5).Draw(t, "moves") {
			v := rapid.IntRange(0, 1).Draw(t, "variable")
			moves := r.problem.Moves(d, v, -1)
			if len(moves) == 0 {
				continue
			}
			if next, ok := r.problem.Apply(d, rapid.SampledFrom(moves).Draw(t, "move")); ok {
				d, flat = next, flat || v == 0
			}
		}
		made, err := r.made(d)
		require.NoError(t, err)
		if s.Config.Contributor != "" && flat {
			require.True(t, r.again)
			return
		}
		quick, err := cells(d)
		require.NoError(t, err)
		require.Equal(t, made.Cells, quick.Cells)
		require.ElementsMatch(t, made.Unsafe, quick.Unsafe)
	})
}
