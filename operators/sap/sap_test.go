package sap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/engine/attribution"
	"microrisk/engine/perturb"
	"microrisk/operators"
	"microrisk/operators/operatortest"
	"microrisk/schemas"
)

func sapOf(p schemas.Perturbation, total string) Config {
	return Config{
		By:      operatortest.Variables("A"),
		Cells:   operatortest.Variables("S", "H"),
		Release: Release{Perturbation: p, Total: total},
		Known:   []int64{0, 1, 3},
	}
}

func sapRows(t *testing.T, s Operator, o operators.Options, rows ...string) ([]string, *operators.Report, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return operatortest.Table(t, mem, operatortest.Lines(t, mem, 3, "A S H", rows...), o, s)
}

// Exact tables: an empty cell can be seen by everybody; a cell of one is emptied by who knows that one.
func TestSAPOfExactTables(t *testing.T) {
	out, report, err := sapRows(t, Operator{Config: sapOf(schemas.Perturbation{}, "")}, operators.Options{},
		"north m good", "north m bad", "north f good", "north f bad", "north f bad", "south m good", "south m bad", "_ m good", "north _ good")
	require.NoError(t, err)
	require.Equal(t, "A S H sap_0 sap_1 sap_3 sap_cell_0 sap_cell_1 sap_cell_3 sap_target_0 sap_target_1 sap_target_3", out[0])
	// A missing value is a category: tables of 3 x 2 cells, so that every table has empty ones that can be seen.
	require.True(t, strings.HasPrefix(out[1], "north m good 1 1 1 0 0.16666666666666666 0.5 1 1 1"), out[1])
	require.Equal(t, "_ m good _ _ _ _ _ _ _ _ _", out[8])
	s := report.Operators[0].Summary.(*Summary)
	require.EqualValues(t, 2, s.Tables)
	require.EqualValues(t, 6, s.Cells)
	require.EqualValues(t, 8, s.Records)
	require.EqualValues(t, 2, s.Distribution[0].One)
	require.EqualValues(t, 1, s.SmallTables, "the south has two people")

	config := sapOf(schemas.Perturbation{}, "")
	config.Missing = schemas.MissingDrop
	out, report, err = sapRows(
		t,
		Operator{Config: config},
		operators.Options{},
		"north m good",
		"north m bad",
		"north f good",
		"north f bad",
		"north f bad",
		"south _ good",
		"north _ good",
	)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out[1], "north m good 0 0.6 1 0 0.2 0.6 0 0.5 1"), out[1])
	require.Equal(t, "south _ good _ _ _ _ _ _ _ _ _", out[6])
	require.EqualValues(t, 1, report.Operators[0].Summary.(*Summary).EmptyTables, "an area without people is a table all the same")
	r := report.Operators[0].Fitted.(operators.Tabled).Tables(memory.DefaultAllocator)
	defer r.Release()
	require.Equal(t, []int64{5, 0}, fieldOf[*array.Int64](r, "people").Int64Values())
	require.EqualValues(t, 1, fieldOf[*array.Int64](r, "smallest_known").Value(0), "SAP(1) is .6")
	require.Equal(t, "south", fieldOf[*array.String](r, "A").Value(1))
}

func fieldOf[A arrow.Array](r arrow.Record, name string) A {
	return r.Column(r.Schema().FieldIndices(name)[0]).(A)
}

// Declared levels make tables of nobody, and cells that nobody is in.
func TestSAPOfDeclaredLevels(t *testing.T) {
	config := sapOf(schemas.Perturbation{Scheme: "conventional", Base: 3}, "same")
	config.By[0].Levels = []string{"north", "south", "west"}
	config.Cells[0].Levels = []string{"f", "m", "x"}
	config.Impossible = []map[string]string{{"S": "x"}}
	_, report, err := sapRows(t, Operator{Config: config}, operators.Options{AllowEmpty: true}, "west m good", "west m good", "north f bad")
	require.NoError(t, err)
	s := report.Operators[0].Summary.(*Summary)
	require.EqualValues(t, 3, s.Tables)
	require.EqualValues(t, 6, s.Cells)
	require.EqualValues(t, 1, s.EmptyTables)
}

// Every record has what the engine says of its table.
func TestSAPAgainstTheEngine(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var rows []string
	counts := map[string]map[string]int64{}
	for range 400 {
		area, cell := fmt.Sprintf("a%d", r.IntN(12)), fmt.Sprintf("%d h%d", r.IntN(2), r.IntN(3))
		rows = append(rows, area+" "+cell)
		if counts[area] == nil {
			counts[area] = map[string]int64{}
		}
		counts[area][cell]++
	}
	for name, p := range map[string]schemas.Perturbation{"conventional": {Scheme: "conventional", Base: 5}, "random": {Scheme: "random", Base: 3},
		"barnard": {Scheme: "barnard", Probability: pointerTo(0.6)}, "small": {Scheme: "small", Last: 7, Value: 4, Base: 5}} {
		secret := []byte("a secret of sixteen bytes or more")
		config := sapOf(p, "same")
		out, _, err := sapRows(t, Operator{Config: config, Secret: secret}, operators.Options{}, rows...)
		require.NoError(t, err)
		again, _, err := sapRows(t, Operator{Config: config, Secret: secret}, operators.Options{Workers: 3, Batch: 7}, rows...)
		require.NoError(t, err)
		require.Equal(t, out, again, "workers and batches do not matter")
		k, err := operators.Kernel(&p)
		require.NoError(t, err)
		identity := func(area, cell string) []byte {
			if cell == "" {
				return []byte("A=" + area + "\x00")
			}
			s, h, _ := strings.Cut(cell, " ")
			return []byte("A=" + area + "\x00H=" + h + "\x00S=" + s + "\x00")
		}
		draw := func(c int64, id []byte) (low, high int64) {
			low, high, ok := k.Bounds(perturb.Draw(k, c, perturb.Uniform(perturb.KeyOf(secret), id)))
			require.True(t, ok)
			return low, high
		}
		for i, row := range rows {
			area, own, _ := strings.Cut(row, " ")
			table := &attribution.Table{}
			at, people := 0, int64(0)
			for j, cell := range []string{"0 h0", "0 h1", "0 h2", "1 h0", "1 h1", "1 h2"} {
				c := counts[area][cell]
				people += c
				low, high := draw(c, identity(area, cell))
				table.Counts, table.Lower, table.Upper = append(table.Counts, c), append(table.Lower, low), append(table.Upper, high)
				if cell == own {
					at = j
				}
			}
			_, table.TotalUpper = draw(people, identity(area, ""))
			of, err := table.Check()
			require.NoError(t, err)
			sap, err := of.SAP(t.Context(), config.Known)
			require.NoError(t, err)
			cell, err := of.Cell(at, config.Known)
			require.NoError(t, err)
			target, err := of.Targets(t.Context(), []int{at}, config.Known)
			require.NoError(t, err)
			for k := range config.Known {
				require.InDelta(t, sap[k], operatortest.Value(t, out[i+1], 3+k), 1e-12, name)
				require.InDelta(t, cell[k], operatortest.Value(t, out[i+1], 6+k), 1e-12, name)
				require.InDelta(t, target[k][0], operatortest.Value(t, out[i+1], 9+k), 1e-12, name)
			}
		}
	}
}

// Counts that were really published are taken as they are.
func TestSAPOfPublishedCounts(t *testing.T) {
	rows := []string{"north m good", "north m good", "north f bad"}
	published := func(lines_ ...string) (*operators.Published, error) {
		return operators.ReadPublished(
			t.Context(),
			"released",
			operatortest.Lines(t, memory.DefaultAllocator, 2, "A S H count", lines_...),
			[]string{"A", "S", "H"},
		)
	}
	_, err := published("north m good 3", "north m bad 0", "north f good abc", "north f bad 0")
	require.ErrorContains(t, err, `released: the count of [north, f, good] is "abc"; it must be a whole number`)
	p, err := published("north m good 3", "north m bad 0", "north f good 0", "north f bad 0", "north Total Total 3")
	require.NoError(t, err, "whole numbers as text are numbers")
	config := sapOf(schemas.Perturbation{Scheme: "random", Base: 3}, "same")
	out, _, err := sapRows(t, Operator{Config: config, Published: p}, operators.Options{}, rows...)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out[1], "north m good 0 0 0"), out[1])
	p, err = published("north m good 9", "north m bad 0", "north f good 0", "north f bad 0", "north Total Total 3")
	require.NoError(t, err)
	_, _, err = sapRows(t, Operator{Config: config, Published: p}, operators.Options{}, rows...)
	require.ErrorContains(
		t,
		err,
		"table [north]: the count of [S=m, H=good] is 2, which cannot have been published as 9 by unbiased random rounding to base 3, as released says",
	)
}

func TestSAPRefuses(t *testing.T) {
	source := operatortest.Lines(t, memory.DefaultAllocator, 3, "A S H", "north m good")
	for want, change := range map[string]func(*Config){
		"did you mean":                func(s *Config) { s.By = operatortest.Variables("AA") },
		"the base is 0":               func(s *Config) { s.Release.Scheme = "random" },
		"scheme \"guess\" is unknown": func(s *Config) { s.Release.Scheme = "guess" },
		"numbers of people":           func(s *Config) { s.Known = nil },
	} {
		config := sapOf(schemas.Perturbation{}, "")
		change(&config)
		_, err := Operator{Config: config}.Bind(source.Schema())
		require.ErrorContains(t, err, want)
	}
	config := sapOf(schemas.Perturbation{}, "")
	config.Impossible = []map[string]string{{"S": "q"}}
	_, _, err := sapRows(t, Operator{Config: config}, operators.Options{}, "north m good")
	require.ErrorContains(t, err, `"q", which is no category of S`)
	none, _, err := sapRows(t, Operator{Config: sapOf(schemas.Perturbation{}, "")}, operators.Options{})
	require.NoError(t, err)
	require.Len(t, none, 1)
}

// With margins, the table of the shared cases: sex and street, all rounded to base 3.
func TestSAPWithMargins(t *testing.T) {
	config := Config{Cells: operatortest.Variables("S", "H"), Known: []int64{0, 1, 12}, Release: Release{
		Perturbation: schemas.Perturbation{
			Scheme: "conventional",
			Base:   3,
		}, Total: "same", Margins: []Margin{{Variables: []string{"S"}}, {Variables: []string{"H"}}}}}
	out, report, err := sapRows(t, Operator{Config: config}, operators.Options{}, marginRows...)
	require.NoError(t, err)
	require.Equal(t, "A S H sap_0 sap_1 sap_12 sap_cell_0 sap_cell_1 sap_cell_12", out[0])
	s := report.Operators[0].Summary.(*Summary)
	require.True(t, s.Exact)
	require.False(t, s.LowerBound)
	require.EqualValues(t, 0, operatortest.Value(t, out[1], 3))
	require.InDelta(t, 1.0/6, operatortest.Value(t, out[1], 4), 1e-12)
	require.EqualValues(t, 1, operatortest.Value(t, out[1], 5))
	for _, margin := range [][]string{{"S", "Q"}, {"Q"}} {
		config.Release.Margins = []Margin{{Variables: margin}}
		_, _, err = sapRows(t, Operator{Config: config}, operators.Options{}, marginRows...)
		require.ErrorContains(t, err, "not among cells")
	}
}

// A woman in good and a man in bad health: their margins alone tell nothing to who knows neither, and everything to who knows one.
func TestSAPOfMarginsAlone(t *testing.T) {
	exact := &schemas.Perturbation{Scheme: "none"}
	release := Release{Perturbation: schemas.Perturbation{Scheme: "conventional", Base: 5}, BaseTable: "none",
		Margins: []Margin{{Variables: []string{"S"}, Perturb: exact}, {Variables: []string{"H"}, Perturb: exact}}}
	for _, c := range []struct {
		name  string
		alter func(*Release)
		want  [2]float64 // SAP(0), SAP(1)
	}{
		{"margins exactly", func(*Release) {}, [2]float64{0, 1}},
		{"one margin rounded", func(r *Release) { r.Margins[1].Perturb = nil }, [2]float64{0, 1}},
		{"both rounded", func(r *Release) { r.Margins[0].Perturb, r.Margins[1].Perturb = nil, nil }, [2]float64{0, 0}},
		{"the table too", func(r *Release) { r.BaseTable = "exact" }, [2]float64{1, 1}},
		{"the total alone", func(r *Release) { r.Margins, r.Total = nil, "exact" }, [2]float64{0, 0}},
	} {
		config := Config{Cells: operatortest.Variables("S", "H"), Known: []int64{0, 1}, Release: release}
		config.Release.Margins = slices.Clone(release.Margins)
		c.alter(&config.Release)
		out, report, err := sapRows(t, Operator{Config: config}, operators.Options{}, "x F good", "x M bad")
		require.NoError(t, err, c.name)
		require.Equal(t, "A S H sap_0 sap_1 sap_cell_0 sap_cell_1", out[0], c.name)
		require.EqualValues(t, c.want[0], operatortest.Value(t, out[1], 3), c.name)
		require.EqualValues(t, c.want[1], operatortest.Value(t, out[1], 4), c.name)
		require.Len(t, report.Operators[0].Summary.(*Summary).Margins, len(config.Release.Margins), c.name)
	}
}

var marginRows = []string{"x F h0", "x F h0", "x F h2", "x M h0", "x M h1", "x M h1", "x M h1", "x M h1", "x M h1", "x M h1", "x M h2", "x M h2"}

func pointerTo[T any](v T) *T { return &v }
