package tabulate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/operatortest"
	"microrisk/schemas"
)

// noised is the published count of each cell of a table, by its categories, of records "id group other".
func noised(t *testing.T, p schemas.Perturbation, rows []string, margins bool, names ...string) map[string]string {
	t.Helper()
	config := Config{Cells: operatortest.Variables(names...), Margins: margins, Empty: true, Path: "t.csv", Perturb: &p}
	c, err := operators.NewChance(p.People, []byte("a secret of an office"))
	require.NoError(t, err)
	list := []operators.Operator{Operator{Config: config, Chance: c}}
	if keys := c.Keys(Name); keys != nil {
		list = append([]operators.Operator{keys}, list...)
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	source := operatortest.Lines(t, memory.DefaultAllocator, 7, "id G H", rows...)
	_, report, err := operatortest.Table(t, mem, source, operators.Options{Workers: 3}, list...)
	require.NoError(t, err)
	r := report.Operators[len(report.Operators)-1].Fitted.(operators.Tabled).Tables(mem)
	defer r.Release()
	cells := map[string]string{}
	for i := range int(r.NumRows()) {
		var key []string
		for _, c := range r.Columns()[:len(names)] {
			key = append(key, operators.Text(c, i))
		}
		cells[strings.Join(key, " ")] = operators.Text(r.Column(len(names)), i)
	}
	return cells
}

// groups are records of 300 groups of 1 to 9 people, each of which is a category of two variables.
func groups() (rows []string) {
	id := 0
	for g := range 300 {
		for range 1 + g%9 {
			rows = append(rows, fmt.Sprintf("p%d g%d h%d", id, g, (g*7)%300))
			id++
		}
	}
	return rows
}

// The same people get the same noise in every table and as margins of tables; by cells about half of the groups differ, which two tables
// then tell more of than one.
func TestNoiseByPeople(t *testing.T) {
	rows := groups()
	for _, scheme := range []schemas.Perturbation{{Scheme: "random", Base: 5}, {Scheme: "normal", SD: new(2.), Negative: "reflect"}, {Scheme: "noise"}} {
		differ := map[string]int{}
		for _, by := range []string{"cells", "people"} {
			p := scheme
			if p.By = by; by == "people" {
				p.RecordID = "id"
			}
			first, second := noised(t, p, rows, false, "G"), noised(t, p, rows, false, "H")
			both := noised(t, p, rows, true, "G", "H")
			for g := range 300 {
				one, other := first[fmt.Sprint("g", g)], second[fmt.Sprint("h", g*7%300)]
				require.NotEmpty(t, one)
				if one != other {
					differ[by]++
				}
				require.Equal(t, one, both[fmt.Sprintf("g%d Total", g)])
				if by == "people" {
					require.Equal(t, one, both[fmt.Sprintf("Total h%d", g*7%300)])
					require.Equal(t, one, both[fmt.Sprintf("g%d h%d", g, g*7%300)])
				}
			}
		}
		require.Zero(t, differ["people"], scheme.Scheme)
		require.Greater(t, differ["cells"], 60, scheme.Scheme)
		t.Logf("%s by cells: %d of 300 identical groups differ", scheme.Scheme, differ["cells"])
	}
}

// Keys are of people: neither the order of records, nor the batches in which they come, nor who else is in the file changes them.
func TestNoiseByPeopleIsTheirs(t *testing.T) {
	p := schemas.Perturbation{Scheme: "random", Base: 5, People: schemas.People{By: "people", RecordID: "id"}}
	rows := groups()
	want := noised(t, p, rows, false, "G")
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	require.Equal(t, want, noised(t, p, rows, false, "G"))
	require.Equal(t, want, func() map[string]string {
		list := noised(t, p, append(rows, "q1 x h1", "q2 x h2"), false, "G")
		delete(list, "x")
		return list
	}())
}

func TestNoiseByKeys(t *testing.T) {
	for _, x := range []struct {
		kind, json, says string
		id               bool
	}{
		{"int64", `[{"k": 9007199254740992, "G": "a"}, {"k": 0, "G": "b"}]`, "", false},
		{"float64", `[{"k": 12, "G": "a"}, {"k": 3.5, "G": "b"}]`, "the record key k is 3.5: it must be a whole number from 0 to 2^53", false},
		{"int64", `[{"k": 12, "G": "a"}, {"k": -1, "G": "b"}]`, "the record key k is -1", false},
		{"int64", `[{"k": 9007199254741000, "G": "b"}]`, "the record key k is 9007199254741000", false},
		{"int64", `[{"k": null, "G": "b"}]`, "the record key k is", false},
		{"utf8", `[{"k": "1", "G": "b"}]`, "keys are whole numbers from 0 to 2^53", false},
		{"int64", `[{"k": null, "G": "b"}]`, "a record has no k, which tells whose noise it has", true},
		{"float64", `[{"k": 1, "G": "b"}]`, "cannot tell records apart", true},
	} {
		kind := map[string]arrow.DataType{"int64": arrow.PrimitiveTypes.Int64, "float64": arrow.PrimitiveTypes.Float64, "utf8": arrow.BinaryTypes.String}[x.kind]
		people := schemas.People{By: "people", RecordKey: "k"}
		if x.id {
			people = schemas.People{By: "people", RecordID: "k"}
		}
		config := &Config{Cells: operatortest.Variables("G"), Path: "t.csv", Perturb: &schemas.Perturbation{Scheme: "noise", People: people}}
		source := operatortest.Typed(
			t,
			memory.DefaultAllocator,
			[]arrow.Field{{Name: "k", Type: kind, Nullable: true}, {Name: "G", Type: arrow.BinaryTypes.String}},
			x.json,
		)
		_, report, err := operatortest.Table(t, memory.DefaultAllocator, source, operators.Options{}, config.Operators(operators.Setup{})...)
		if x.says != "" {
			require.ErrorContains(t, err, x.says, x.json)
			continue
		}
		require.NoError(t, err)
		require.Len(t, report.Warnings, 1)
	}
}
