package advise

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

	"microrisk/engine/tabular/detection"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"

	_ "microrisk/operators/builtin"
)

// The form goes by the size and the structure of the table (Miller 2005, 3.6).
func TestHiding(t *testing.T) {
	for want, x := range map[string]struct {
		cells  int
		levels []int
		linked bool
	}{
		"optimal hypercube optimal hypercube": {100, []int{1, 1}, false},
		"network hypercube network hypercube": {5000, []int{2, 1}, false},
		"modular hypercube modular hypercube": {5000, []int{2, 2}, false},
		"hypercube hypercube":                 {5000, []int{1, 1, 1}, false},
	} {
		a := &advising{Spec: &Spec{Seconds: 2}, out: &Outcome{Cells: x.cells}}
		a.Config.Margins = "grand"
		for i, l := range x.levels {
			a.out.Variables = append(a.out.Variables, Variable{Name: fmt.Sprint(i), Levels: l})
		}
		var names []string
		for _, w := range a.hiding() {
			names = append(names, w.method)
		}
		require.Equal(t, want, strings.Join(names, " "))
		a.Config.Margins = "none"
		require.Len(t, a.hiding(), len(names)/2)
	}
}

// The base of rounding is one of the usual ones, at least the threshold; of weighted counts as many as these stand for.
func TestBase(t *testing.T) {
	for n, want := range map[int]int64{2: 3, 3: 3, 4: 5, 5: 5, 10: 10, 20: 20} {
		a := &advising{Spec: &Spec{Config: protect.Config{Rules: []protect.Rule{{Rule: "min", N: &n}}}}}
		require.Equal(t, want, a.base())
	}
	a := &advising{Spec: &Spec{Config: protect.Config{Weight: "w"}}, table: &protect.Table{Values: []int64{40_000}, Cells: []detection.Cell{{Records: 1000}}}}
	require.Equal(t, int64(200), a.base()) // 3 of 40 each
}

// What is advised for any table, whatever is wanted, does what it says.
func TestAdvised(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(folder, "in.csv")
		text := "a,b,n\n"
		for i := range rapid.IntRange(2, 4).Draw(t, "rows") {
			for k := range rapid.IntRange(2, 4).Draw(t, "columns") {
				text += fmt.Sprintf("a%d,b%d,%d\n", i, k, rapid.SampledFrom([]int{0, 1, 2, 3, 5, 8, 20}).Draw(t, "count"))
			}
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		s := Spec{Source: tables.Source{Path: path, Columns: &protect.Columns{Count: "n"}}, Config: protect.Config{
			Table: []schemas.KeyVariable{
				{Name: "a"},
				{Name: "b"},
			}}, Users: rapid.SampledFrom([]string{"", "press", "policy", "modelling"}).Draw(t, "users"), Seconds: 2}
		s.Additive = rapid.Bool().Draw(t, "additive")
		o, err := Run(context.Background(), s, session.Options{})
		if err != nil {
			require.ErrorContains(t, err, "no method that was tried makes the table safe")
			return
		}
		require.Equal(t, "frequency", o.Type)
		require.Equal(t, o.Unsafe > 0, len(o.Tried) > 0)
		if o.Unsafe > 0 {
			require.True(t, o.Tried[len(o.Tried)-1].Passed)
			require.Contains(t, strings.Join(o.Arguments, " "), "--method "+o.Tried[len(o.Tried)-1].Method)
			if s.Users == "" || s.Users == "policy" {
				require.Zero(t, o.Changed)
			}
		}
	})
}

// A run that is stopped stops.
func TestStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.csv")
	require.NoError(t, os.WriteFile(path, []byte("a,b,n\nx,y,1\nx,z,5\nw,y,7\nw,z,9\n"), 0o666))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Run(ctx, Spec{Source: tables.Source{Path: path, Columns: &protect.Columns{Count: "n"}}, Config: protect.Config{
		Table: []schemas.KeyVariable{{Name: "a"}, {Name: "b"}}}}, session.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// Where a variable has too many categories for merges to be tried, advice goes on without them.
func TestManyCategories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.csv")
	text := "id,n\n"
	for i := range 3000 {
		text += fmt.Sprintf("k%d,%d\n", i, 1+i%7)
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	o, err := Run(context.Background(), Spec{Source: tables.Source{Path: path, Columns: &protect.Columns{Count: "n"}}, Config: protect.Config{
		Table: []schemas.KeyVariable{{Name: "id"}}}, Users: "modelling"}, session.Options{})
	require.NoError(t, err)
	require.Nil(t, o.Redesign)
	at := slices.IndexFunc(o.Steps, func(s Step) bool { return s.Chosen == "no merges were tried" })
	require.GreaterOrEqual(t, at, 0)
	require.Contains(t, o.Steps[at].Because, "id has too many categories")
}

// Categories that have an order are merged with their neighbours alone.
func TestOrdered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.csv")
	require.NoError(t, os.WriteFile(path, []byte("edu,sex,n\nlow,f,2\nlow,m,2\nmid,f,30\nmid,m,30\nhigh,f,30\nhigh,m,30\ntop,f,2\ntop,m,2\n"), 0o666))
	for ordered, want := range map[string]string{"": "low+top", "edu=low|mid|high|top": "low+mid high+top"} {
		s := Spec{Source: tables.Source{Path: path, Columns: &protect.Columns{Count: "n"}}, Pins: []string{"sex"}, Config: protect.Config{
			Table: []schemas.KeyVariable{{Name: "edu"}, {Name: "sex"}}}}
		if ordered != "" {
			s.Ordered = []string{ordered}
		}
		var told [][]string
		s.Command = func(verb string, arguments []string) []string {
			told = append(told, append([]string{verb}, arguments...))
			return told[len(told)-1]
		}
		o, err := Run(context.Background(), s, session.Options{})
		require.NoError(t, err)
		require.NotNil(t, o.Redesign)
		var made []string
		for _, r := range o.Redesign.Recodes {
			made = append(made, r.Code)
		}
		require.Equal(t, want, strings.Join(made, " "))
		require.Equal(t, ordered != "", slices.Contains(o.Merging[0], "--ordered"))
		require.Contains(t, o.Merging[1], "edu="+filepath.Join("recodes", "1", "edu.grc"))
	}
	s := Spec{Source: tables.Source{Path: path, Columns: &protect.Columns{Count: "n"}}, Ordered: []string{"edu=low|mid"}, Config: protect.Config{
		Table: []schemas.KeyVariable{{Name: "edu"}, {Name: "sex"}}}}
	_, err := Run(context.Background(), s, session.Options{})
	require.ErrorContains(t, err, `the order of edu does not have "high", which the table has`)
	require.True(t, session.IsSpec(err))
	s.Ordered = []string{"ed"}
	_, err = Run(context.Background(), s, session.Options{})
	require.ErrorContains(t, err, `the variable "ed" is unknown; did you mean edu?`)
}
