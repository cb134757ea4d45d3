package known

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/engine/bounds/classes"
	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/operatortest"
	"microrisk/schemas"
)

// tables binds tables of text, by path: the header and the rows, blanks between.
func tables(t *testing.T, key schemas.Key, list []Table, files map[string][]string) (*Tables, error) {
	t.Helper()
	documents := map[string]any{}
	for path, lines := range files {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		t.Cleanup(func() { mem.AssertSize(t, 0) })
		read, err := readerOf(path)(context.Background(), operatortest.Lines(t, mem, 2, lines[0], lines[1:]...), 0)
		require.NoError(t, err)
		documents[path] = read
	}
	return Bind(list, documents, operators.Key{Key: key, Who: "mc3"})
}

// An asking operator bounds the classes of its key.
type asking struct {
	key      schemas.Key
	tables   *Tables
	drop     []bool
	sampling schemas.Sampling
	said     []string // classes with their bounds
	warned   []string
	summary  *Summary
}

func (a *asking) Fit(ctx context.Context, all []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	env.Warn = func(format string, args ...any) { a.warned = append(a.warned, fmt.Sprintf(format, args...)) }
	b, err := a.tables.Bounds(ctx, all[0], a.drop, &a.sampling, env)
	if err != nil {
		return nil, err
	}
	a.summary = b.Summary
	for i := range all[0].Classes() {
		words := []string{}
		for v, variable := range all[0].Variables {
			word := "_"
			if c := all[0].Code(i, v); c < variable.Missing() {
				word = variable.Categories[c]
			}
			words = append(words, word)
		}
		a.said = append(a.said, strings.Join(words, " ")+": "+classes.Span(b.Low[i], b.High[i]))
	}
	return &operators.ByClass{}, nil
}

func (a *asking) Bind(in *arrow.Schema) (*operators.Plan, error) {
	request, err := operators.Key{Key: a.key, Who: "mc3"}.Request(in)
	return &operators.Plan{Name: "mc3", Tables: []contingency.Request{request}, Fit: a.Fit}, err
}

// ask bounds the classes of some rows.
func ask(t *testing.T, a *asking, rows ...string) error {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	if a.drop == nil {
		a.drop = make([]bool, 2)
	}
	_, _, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 3, "A B", rows...), operators.Options{}, a)
	return err
}

var (
	key     = operatortest.Key("A", "B")
	records = []string{"x 1", "x 2", "y 1", "y 1", "y 2"}
)

// One table is said in several ways, and means the same.
func TestWaysToSayTables(t *testing.T) {
	for name, c := range map[string]struct {
		list  []Table
		files map[string][]string
		want  []string
	}{
		"both margins": {[]Table{{Path: []string{"a"}}, {Path: []string{"b"}}}, map[string][]string{
			"a": {"A count", "x 2", "y 9"}, "b": {"count B", "9 1", "2 2"}}, []string{"x 1: 1", "x 2: 1", "y 1: 8", "y 2: 1"}},
		"totals in one file": {[]Table{{Path: []string{"a"}}}, map[string][]string{
			"a": {"A B count", "x Total 2", "y Total 9", "Total 1 9", "Total 2 2", "Total Total 11"}}, []string{"x 1: 1", "x 2: 1", "y 1: 8", "y 2: 1"}},
		"a table in parts": {[]Table{{Path: []string{"a", "b"}, Count: "n", Totals: []string{"-"}}}, map[string][]string{
			"a": {"A n", "x 2"}, "b": {"A n", "y 9", "- 11"}}, []string{"x 1: 1", "x 2: 1", "y 1: 2 to 8", "y 2: 1 to 7"}},
		"rounded": {[]Table{{Path: []string{"a"}, Scheme: schemas.Perturbation{Scheme: "conventional", Base: 3}}}, map[string][]string{
			"a": {"A value", "x 3", "y 9"}}, []string{"x 1: 1 to 3", "x 2: 1 to 3", "y 1: 2 to 9", "y 2: 1 to 8"}},
		"rounded to 0 and left out": {[]Table{{Path: []string{"a"}, Scheme: schemas.Perturbation{Scheme: "conventional", Base: 5}}}, map[string][]string{
			"a": {"A value", "y 10"}}, []string{"x 1: 1", "x 2: 1", "y 1: 2 to 11", "y 2: 1 to 10"}},
		"hidden within a total": {[]Table{{Path: []string{"a"}, Suppressed: []string{"<4"}}}, map[string][]string{
			"a": {"A count", "x <4", "y _", "Total 11"}}, []string{"x 1: 1 to 2", "x 2: 1 to 2", "y 1: 2 to 8", "y 2: 1 to 7"}},
		"rows of hidden cells left out": {[]Table{{Path: []string{"a"}, Absent: AbsentHidden}}, map[string][]string{
			"a": {"A count", "y 9"}}, []string{"x 1: at least 1", "x 2: at least 1", "y 1: 2 to 8", "y 2: 1 to 7"}},
		"intervals": {[]Table{{Path: []string{"a"}}}, map[string][]string{
			"a": {"A lower upper exact", "x 1 3 f", "y 5 _ f"}}, []string{"x 1: 1 to 2", "x 2: 1 to 2", "y 1: at least 2", "y 2: at least 1"}},
		"categories that no record has": {[]Table{{Path: []string{"a"}}}, map[string][]string{
			"a": {"A B count", "x 1 4", "x 2 1", "x 3 7", "y 1 2", "y 2 5", "z 9 9"}}, []string{"x 1: 4", "x 2: 1", "y 1: 2", "y 2: 5"}},
	} {
		bound, err := tables(t, key, c.list, c.files)
		require.NoError(t, err, name)
		a := &asking{key: key, tables: bound, sampling: schemas.Sampling{Fraction: .5}}
		require.NoError(t, ask(t, a, records...), name)
		require.Equal(t, c.want, a.said, name)
		require.Equal(t, len(bound.margins), a.summary.Tables, name)
	}
}

// Missing values are a category of tables too, and records without a value may be left out.
func TestMissingValues(t *testing.T) {
	files := map[string][]string{"a": {"A count", "x 3", "_ 2"}}
	bound, err := tables(t, key, []Table{{Path: []string{"a"}}}, files)
	require.NoError(t, err)
	a := &asking{key: key, tables: bound, sampling: schemas.Sampling{PopulationSize: 5}}
	require.NoError(t, ask(t, a, "x 1", "_ 1"))
	require.Equal(t, []string{"x 1: 1 to 3", "_ 1: 1 to 2"}, a.said)
	coded := schemas.Key{Variables: key.Variables, MissingCodes: []string{"9"}}
	bound, err = tables(t, coded, []Table{{Path: []string{"a"}}}, map[string][]string{"a": {"A count", "x 3", "9 2"}})
	require.NoError(t, err)
	a = &asking{key: key, tables: bound, sampling: schemas.Sampling{PopulationSize: 5}}
	require.NoError(t, ask(t, a, "x 1", "_ 1"))
	require.Equal(t, []string{"x 1: 1 to 3", "_ 1: 1 to 2"}, a.said)
	a = &asking{key: key, tables: bound, sampling: schemas.Sampling{PopulationSize: 3}, drop: []bool{true, false}}
	require.NoError(t, ask(t, a, "x 1", "_ 1"), "3 people have a value")
	require.Equal(t, []string{"x 1: 1 to 3", "_ 1: 0"}, a.said)
	bound, err = tables(t, key, []Table{{Path: []string{"a"}}}, map[string][]string{"a": {"A count", "x 3"}})
	require.NoError(t, err)
	a = &asking{key: key, tables: bound, sampling: schemas.Sampling{Fraction: .5}}
	require.ErrorContains(t, ask(t, a, "x 1", "_ 1"), "a has 0 people in [A = missing], and the sample 1 records")
}

// What is wrong with a file is told before records are read.
func TestWrongTables(t *testing.T) {
	for says, c := range map[string]struct {
		table Table
		lines []string
	}{
		`a has the column C, which is no variable of the key (A, B)`:               {Table{}, []string{"A C count", "x 1 2"}},
		`a has the column a, which is no variable of the key (A, B); did you mean`: {Table{}, []string{"a count", "x 2"}},
		`a has no column of counts`:                                                {Table{}, []string{"A B", "x 1"}},
		`a has no column n of counts`:                                              {Table{Count: "n"}, []string{"A count", "x 1"}},
		`a has the columns value and count`:                                        {Table{}, []string{"A value count", "x 1 1"}},
		`the count of [A = x] is -1; it must be a whole number`:                    {Table{}, []string{"A count", "x -1"}},
		`the count of [A = x] is 1.5; it must be`:                                  {Table{}, []string{"A count", "x 1.5"}},
		`the count of [A = x] is "c"; it must be`:                                  {Table{}, []string{"A count", "x c"}},
		`a has [A = x] twice`:                                                      {Table{}, []string{"A count", "x 1", "x 2"}},
		`a has the total twice`:                                                    {Table{}, []string{"A count", "Total 1", "Total 2"}},
		`a has no rows`:                                                            {Table{}, []string{"A count"}},
		`a has A = "total": if that is all of them, say so (totals)`:               {Table{}, []string{"A count", "total 2"}},
		`the count of [A = x] is 4, which conventional rounding to base 3 never`:   {Table{Scheme: schemas.Perturbation{Scheme: "conventional", Base: 3}}, []string{"A count", "x 4"}},
		`leave scheme out`:                                                         {Table{Scheme: schemas.Perturbation{Scheme: "noise"}}, []string{"A lower upper", "x 4 5"}},
		`the count of [A = x] has an upper end of 3, and a lower one of 4`:         {Table{}, []string{"A lower upper", "x 4 3"}},
		`the count of [A = x] has a lower end that is null`:                        {Table{}, []string{"A lower upper", "x _ 3"}},
	} {
		c.table.Path = []string{"a"}
		_, err := tables(t, key, []Table{c.table}, map[string][]string{"a": c.lines})
		require.ErrorContains(t, err, says)
	}
	levels := schemas.Key{Variables: []schemas.KeyVariable{{Name: "A", Levels: []string{"x", "y"}}}}
	_, err := tables(t, levels, []Table{{Path: []string{"a"}}}, map[string][]string{"a": {"A count", "z 1"}})
	require.ErrorContains(t, err, `a has A = "z", which is not among its levels (x, y)`)
	_, err = tables(t, key, []Table{{Path: []string{"a"}}}, nil)
	require.ErrorContains(t, err, "was not read")
}

// Tables that contradict the sample, each other or the declared population are errors that name the cell.
func TestContradictions(t *testing.T) {
	for says, c := range map[string]struct {
		files      map[string][]string
		population int64
	}{
		"mc3: a has 2 people in [A = y], and the sample 3 records":       {map[string][]string{"a": {"A count", "x 5", "y 2"}}, 0},
		"mc3: a has 0 people in [A = y, B = 2], and the sample 1 record": {map[string][]string{"a": {"A B count", "x 1 5", "x 2 1", "y 1 5"}}, 0},
		"mc3: a contradicts itself: of the total one of its tables has 11 people, another 12 people; if counts": {
			map[string][]string{"a": {"A B count", "x Total 5", "y Total 7", "Total 1 9", "Total 2 2"}}, 0},
		"of the total b has 11 people, a 12 people":                     {map[string][]string{"a": {"A count", "x 5", "y 7"}, "b": {"B count", "1 5", "2 6"}}, 0},
		"of the total the declared population size has 13 people, a 12": {map[string][]string{"a": {"A count", "x 5", "y 7"}}, 13},
		"of [A = x] b has 5 people, a 4 people":                         {map[string][]string{"a": {"A B count", "x 1 2", "x 2 2", "y 1 5", "y 2 3"}, "b": {"A count", "x 5", "y 7"}}, 0},
	} {
		var list []Table
		for _, path := range []string{"a", "b"} {
			if c.files[path] != nil {
				list = append(list, Table{Path: []string{path}})
			}
		}
		bound, err := tables(t, key, list, c.files)
		require.NoError(t, err)
		a := &asking{key: key, tables: bound, sampling: schemas.Sampling{Fraction: .5, PopulationSize: c.population}}
		if c.population > 0 {
			a.sampling.Fraction = 0
		}
		err = ask(t, a, records...)
		require.ErrorContains(t, err, says)
		var contradiction *schemas.ContradictionError
		require.ErrorAs(t, err, &contradiction)
		require.Equal(t, FieldName, contradiction.Said)
	}
	bound, err := tables(t, key, []Table{{Path: []string{"a"}}}, map[string][]string{"a": {"A count", "x 500", "y 700"}})
	require.NoError(t, err)
	a := &asking{key: key, tables: bound, sampling: schemas.Sampling{Fraction: .5}}
	require.NoError(t, ask(t, a, records...))
	require.Equal(t, []string{"mc3: a has 1200 people, and the sample stands for 10: see whether it is of this population"}, a.warned)
}

// What a flag says.
func TestFlag(t *testing.T) {
	var list []Table
	require.NoError(t, Field(&list).Flag.Set([]string{"a.csv", "b=c.parquet", "d.csv=conventional:base=3"}))
	require.Equal(t, []Table{{Path: []string{"a.csv"}}, {Path: []string{"b=c.parquet"}},
		{Path: []string{"d.csv"}, Scheme: schemas.Perturbation{Scheme: "conventional", Base: 3}}}, list)
	require.Error(t, Field(&list).Flag.Set([]string{"a.csv=roundling:base=3"}))
}
