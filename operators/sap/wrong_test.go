package sap

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/operatortest"
	"microrisk/operators/tabulate"
	"microrisk/schemas"
)

// released reads published counts of the areas A and the cells S x H.
func released(t *testing.T, header string, rows ...string) (*operators.Published, error) {
	t.Helper()
	return operators.ReadPublished(t.Context(), "released.csv", operatortest.Lines(t, memory.DefaultAllocator, 2, header, rows...), []string{"A", "S", "H"})
}

func TestPublishedFilesThatAreWrong(t *testing.T) {
	for want, c := range map[string]struct {
		header string
		rows   []string
	}{
		"released.csv has the columns published and count: which has the counts?": {"A S H published count", []string{"north m good 3 2"}},
		"released.csv has no column of counts":                                    {"A S H n", []string{"north m good 3"}},
		`the count of [north, f, bad] is "abc"; it must be a whole number`:        {"A S H count", []string{"north m good 3", "north f bad abc"}},
		`the count of [north, f, bad] is "-1"`:                                    {"A S H count", []string{"north m good 3", "north f bad -1"}},
		"the count of [north, f, bad] is null":                                    {"A S H count", []string{"north m good 3", "north f bad _"}},
		"released.csv has [north, m, good] twice":                                 {"A S H count", []string{"north m good 3", "north m good 3"}},
		"columns besides the variables of the tables and the counts: edu, age":    {"A S edu H age count", []string{"north m a good 1 3", "north m b good 1 3"}},
		`released.csv: there is no column "H"`:                                    {"A S count", []string{"north m 3"}},
	} {
		_, err := released(t, c.header, c.rows...)
		require.ErrorContains(t, err, want)
	}
	_, err := released(t, "A S edu H count", "north m a good 3")
	require.NoError(t, err, "further columns do no harm as long as rows can be told apart")
}

func TestPublishedCountsThatCannotBe(t *testing.T) {
	rows := []string{"north m good", "north m good", "north f bad", "south m bad"}
	all := []string{"north m good 2", "north f bad 1", "south m bad 1"}
	with := func(total string, scheme schemas.Perturbation, published ...string) (*operators.Report, error) {
		p, err := released(t, "A S H count", published...)
		require.NoError(t, err)
		_, report, err := sapRows(t, Operator{Config: sapOf(scheme, total), Published: p}, operators.Options{Workers: 1}, rows...)
		return report, err
	}
	exact, random := schemas.Perturbation{}, schemas.Perturbation{Scheme: "random", Base: 3}
	report, err := with("", exact, all...)
	require.NoError(t, err)
	require.Len(t, report.Warnings, 1)
	require.Contains(t, report.Warnings[0], "1 table has fewer than 3 people")
	for want, c := range map[string]struct {
		total  string
		scheme schemas.Perturbation
		rows   []string
	}{
		"table [north]: the count of [S=m, H=good] is 2, which cannot have been published as 5 without perturbation, as released.csv says": {
			"", exact, []string{"north m good 5", "north f bad 1"},
		},
		"is 2, which cannot have been published as 6 by unbiased random rounding to base 3, as released.csv says": {
			"", random, []string{"north m good 6"},
		},
		"released.csv has no row for [north, f, bad]; absent rows are read as 0, and the count of [S=f, H=bad] is 1": {
			"", exact, []string{"north m good 2"},
		},
		"released.csv has no row for [north, Total, Total]; absent rows are read as 0, and the total is 3; write the margins to the file too": {"same", exact, all},
		"released.csv has a count of 1 in the row [north, x, bad], and no record has the category x of S: declare levels": {
			"", exact, append([]string{"north x bad 1"}, all...),
		},
		"released.csv has a count of 2 in the row [west, m, good], and no record has the category west of A": {
			"", exact, append([]string{"west m good 2"}, all...),
		},
		"released.csv has a count of 1 in the row [north, missing, bad], and no record has the category missing of S": {
			"", exact, append([]string{"north _ bad 1"}, all...),
		},
	} {
		_, err := with(c.total, c.scheme, c.rows...)
		require.ErrorContains(t, err, want)
	}
	report, err = with("", exact, append([]string{"north x bad 0", "west Total Total 0", "Total m good 9", "Total Total Total 9", "_ m good 4"}, all...)...)
	require.NoError(t, err, "other margins, and records in no table, do no harm")
	require.Len(t, report.Warnings, 2)
	require.Contains(t, strings.Join(report.Warnings, "\n"), "2 rows of 0 of released.csv are of categories or tables that the data does not have")
}

// A combination of two variables of by that the data does not have is no table, though its categories are known.
func TestPublishedCountsOfNoTable(t *testing.T) {
	config := Config{By: operatortest.Variables("A", "S"), Cells: operatortest.Variables("H"), Known: []int64{1}}
	p, err := released(t, "A S H count", "north m good 1", "south f good 1", "north f good 1")
	require.NoError(t, err)
	_, _, err = sapRows(t, Operator{Config: config, Published: p}, operators.Options{}, "north m good", "south f good")
	require.ErrorContains(t, err, "in the row [north, f, good], and there is no table [north, f] in the data")
}

func TestMarginsThatAreNotPublished(t *testing.T) {
	config := sapOf(schemas.Perturbation{}, "")
	config.Release.Margins = []Margin{{Variables: []string{"S"}}}
	p, err := released(t, "A S H count", "north m good 2", "north m bad 1")
	require.NoError(t, err)
	_, _, err = sapRows(t, Operator{Config: config, Published: p}, operators.Options{}, "north m good", "north m good", "north m bad")
	require.ErrorContains(
		t,
		err,
		"released.csv has no row for [north, m, Total]; absent rows are read as 0, and the count of [m, Total] in the margin [S] is 3; write the margins",
	)
}

// A category that is named as totals are would share their noise.
func TestSAPRefusesTotals(t *testing.T) {
	for _, row := range []string{"north Total good", "Total m good"} {
		_, _, err := sapRows(
			t,
			Operator{Config: sapOf(schemas.Perturbation{Scheme: "random", Base: 3}, "same"), Secret: []byte("0123456789abcdef")},
			operators.Options{},
			"north m good",
			row,
		)
		require.ErrorContains(t, err, `has the category "Total", which names totals`)
	}
	config := sapOf(schemas.Perturbation{}, "")
	config.Cells[0].Levels = []string{"m", "Total"}
	_, _, err := sapRows(t, Operator{Config: config}, operators.Options{AllowEmpty: true}, "north m good")
	require.ErrorContains(t, err, `S has the category "Total"`)
}

func TestNamesOfFilesOfTables(t *testing.T) {
	source := operatortest.Lines(t, memory.DefaultAllocator, 1, "people sap_1 S", "1 2 3")
	for _, name := range []string{"people", "sap_1"} {
		config := Config{By: operatortest.Variables(name), Cells: operatortest.Variables("S"), Known: []int64{1}}
		_, err := Operator{Config: config}.Bind(source.Schema())
		require.NoError(t, err)
		config.Tables = "t.csv"
		_, err = Operator{Config: config}.Bind(source.Schema())
		require.ErrorContains(t, err, name+" is the name of a column of the file of tables")
	}
	for _, name := range schemas.CountColumns {
		_, err := tabulate.Operator{
			Config: tabulate.Config{Cells: operatortest.Variables(name), Path: "t.csv"},
		}.Bind(
			operatortest.Lines(t, memory.DefaultAllocator, 1, name, "1").Schema(),
		)
		require.ErrorContains(t, err, name+" is a name of the column of counts")
	}
}

// The columns of the file of tables are those that the schema tells.
func TestColumnsOfFilesOfTables(t *testing.T) {
	config := sapOf(schemas.Perturbation{}, "")
	_, report, err := sapRows(t, Operator{Config: config}, operators.Options{}, "north m good")
	require.NoError(t, err)
	r := report.Operators[0].Fitted.(operators.Tabled).Tables(memory.DefaultAllocator)
	defer r.Release()
	var names []string
	for _, f := range r.Schema().Fields()[1:] {
		names = append(names, f.Name)
	}
	require.Equal(t, config.TableColumns(), names)
}

// What is wrongly called impossible is an error of the spec, in words.
func TestImpossibleCombinations(t *testing.T) {
	for want, impossible := range map[string]map[string]string{
		"table [north]: [S=m, H=good] is among the impossible combinations, and the data has 2 of it": {"S": "m"},
		`the impossible combination [S=x, H=bad] has "x", which is no category of S`:                  {"H": "bad", "S": "x"},
		"the impossible combination [S=m, Q=1, R=2] has a variable that is not among cells":           {"R": "2", "S": "m", "Q": "1"},
	} {
		config := sapOf(schemas.Perturbation{}, "")
		config.Impossible = []map[string]string{impossible}
		_, _, err := sapRows(t, Operator{Config: config}, operators.Options{}, "north m good", "north m good", "north f bad")
		require.ErrorContains(t, err, want)
		var spec *schemas.SpecError
		require.True(t, errors.As(err, &spec), want)
	}
}

// Records without a value of by are counted in one warning.
func TestRecordsInNoTable(t *testing.T) {
	rows := []string{"north m good", "_ m good", "_ m good", "_ f bad"}
	for _, levels := range [][]string{nil, {"north", "south"}} {
		config := sapOf(schemas.Perturbation{Scheme: "conventional", Base: 3}, "")
		config.By[0].Levels, config.Known = levels, []int64{0}
		_, report, err := sapRows(t, Operator{Config: config}, operators.Options{AllowEmpty: true}, rows...)
		require.NoError(t, err)
		require.Equal(t, []string{"sap: 3 records have no value of A: they are in no table"}, report.Warnings)
		require.EqualValues(t, 1, report.Operators[0].Summary.(*Summary).Records)
	}
}

// Tables of declared levels are counted before there is room for them.
func TestTooManyDeclaredTables(t *testing.T) {
	var levels []string
	for i := range 3000 {
		levels = append(levels, fmt.Sprint(i))
	}
	config := Config{By: operatortest.Variables("A", "S"), Cells: operatortest.Variables("H"), Known: []int64{1}}
	config.By[0].Levels, config.By[1].Levels = levels, levels
	_, _, err := sapRows(t, Operator{Config: config}, operators.Options{Memory: 64 << 20, AllowEmpty: true}, "1 1 x")
	require.ErrorContains(t, err, "a table of each of the 9000000 combinations of the levels of by needs about")
}

// The riskiest tables are those whose people are few enough to be known, by name.
func TestRiskiestTables(t *testing.T) {
	rows := []string{"a m x", "a m x", "a f y", "b m x", "b m x", "b m x", "b f y", "b f y", "c m x", "c f y", "d _ x"}
	config := Config{By: operatortest.Variables("A"), Cells: operatortest.Variables("S"), Missing: schemas.MissingDrop, Known: []int64{2, 1}}
	_, report, err := sapRows(t, Operator{Config: config}, operators.Options{}, rows...)
	require.NoError(t, err)
	s := report.Operators[0].Summary.(*Summary)
	require.Len(t, s.Riskiest, 3, "nobody is at risk in a table of nobody")
	require.Equal(t, TableSummary{By: []string{"c"}, People: 2, SAP: []float64{1, 1}}, s.Riskiest[0])
	require.Equal(t, []string{"a"}, s.Riskiest[1].By)
	require.Equal(t, []string{"b"}, s.Riskiest[2].By)
	require.EqualValues(t, 1, s.Greatest())
}

// The smallest number of people known is found with margins too.
func TestSmallestKnownWithMargins(t *testing.T) {
	config := Config{By: operatortest.Variables("A"), Cells: operatortest.Variables("S", "H"), Known: []int64{1}, Threshold: pointerTo(0.15), Release: Release{
		Perturbation: schemas.Perturbation{
			Scheme: "conventional",
			Base:   3,
		}, Total: "same", Margins: []Margin{{Variables: []string{"S"}}, {Variables: []string{"H"}}}}}
	_, report, err := sapRows(t, Operator{Config: config}, operators.Options{}, marginRows...)
	require.NoError(t, err)
	r := report.Operators[0].Fitted.(operators.Tabled).Tables(memory.DefaultAllocator)
	defer r.Release()
	require.EqualValues(t, 1, fieldOf[*array.Int64](r, "smallest_known").Value(0), "SAP(0) is 0, SAP(1) is 1/6")
	s := report.Operators[0].Summary.(*Summary)
	require.Len(t, s.SmallestKnown, 1)
	require.EqualValues(t, 1, *s.SmallestKnown[0].Known)
}
