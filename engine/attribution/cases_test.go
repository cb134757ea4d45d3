package attribution

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/perturb"
)

type fraction struct{ Value float64 }

func (f *fraction) UnmarshalJSON(b []byte) error {
	var exact struct{ Value float64 }
	if err := json.Unmarshal(b, &exact); err == nil {
		f.Value = exact.Value
		return nil
	}
	return json.Unmarshal(b, &f.Value)
}

type expectation struct {
	N        int64
	Lower    []int64 `json:"trivial_lower"`
	Upper    []int64 `json:"trivial_upper"`
	Relevant []bool
	SAP      []fraction
	Expected []fraction `json:"expected_recovered_zeros"`
	Cells    *struct {
		N      int64
		Values []fraction
	} `json:"cell_probabilities"`
}

type scheme struct {
	Type string
	Base int64
	P    string
}

func (s scheme) kernel(t *testing.T) perturb.Kernel {
	var k perturb.Kernel
	var err error
	switch s.Type {
	case "exact":
		return perturb.None()
	case "conventional":
		k, err = perturb.Conventional(s.Base, "")
	case "random":
		k, err = perturb.Random(s.Base)
	case "barnard":
		k, err = perturb.Barnard(0.5) // bounds do not depend on p
	default:
		t.Fatalf("unknown scheme %q", s.Type)
	}
	require.NoError(t, err)
	return k
}

// readCase reads a case of testdata; nil for a release of several margins.
func readCase(t *testing.T, dir string) (*Table, expectation) {
	var params struct {
		Scheme *scheme
		Total  *struct {
			Published int64
			Scheme    scheme
		}
	}
	var want expectation
	for name, to := range map[string]any{"params.json": &params, "expected.json": &want} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, to))
	}
	if params.Scheme == nil {
		return nil, want
	}
	f, err := os.Open(filepath.Join(dir, "table.csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	k := params.Scheme.kernel(t)
	table := &Table{TotalUpper: NoTotal}
	for _, row := range rows[1:] {
		c, err := strconv.ParseInt(row[len(row)-2], 10, 64)
		require.NoError(t, err)
		j, err := strconv.ParseInt(row[len(row)-1], 10, 64)
		require.NoError(t, err)
		low, high, ok := k.Bounds(j)
		require.True(t, ok)
		table.Counts, table.Lower, table.Upper = append(table.Counts, c), append(table.Lower, low), append(table.Upper, high)
	}
	if params.Total != nil {
		_, table.TotalUpper, _ = params.Total.Scheme.kernel(t).Bounds(params.Total.Published)
	}
	return table, want
}

// The cases of testdata: exact and perturbed tables with or without a total.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/expected.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			table, want := readCase(t, filepath.Dir(path))
			if table == nil {
				t.Skip("a release of several margins: the tests of releases have it")
			}
			n := upTo(want.N)
			of, err := table.Check()
			require.NoError(t, err)
			sap, err := of.SAP(t.Context(), n)
			require.NoError(t, err)
			expected, err := of.Expected(t.Context(), n)
			require.NoError(t, err)
			for k := range n {
				require.InDelta(t, want.SAP[k].Value, sap[k], 1e-11, "SAP(%d)", k)
				if want.Expected != nil {
					require.InDelta(t, want.Expected[k].Value, expected[k], 1e-10, "expected zeros, n = %d", k)
				}
			}
			for i, r := range want.Relevant {
				require.Equal(t, r, table.Relevant(i))
			}
			require.Equal(t, want.Lower, table.Lower)
			require.Equal(t, want.Upper, table.Upper)
			if want.Cells != nil {
				for i, p := range want.Cells.Values {
					got, err := of.Cell(i, []int64{want.Cells.N})
					require.NoError(t, err)
					require.InDelta(t, p.Value, got[0], 1e-11)
				}
			}
		})
	}
}

// The examples of the literature and of its corrections, by name.
func TestWorkedExamples(t *testing.T) {
	random5 := func(total int64, cells ...[2]int64) *Table { // true, published
		k := made(perturb.Random(5))
		table := &Table{TotalUpper: total}
		for _, c := range cells {
			low, high, _ := k.Bounds(c[1])
			table.Counts, table.Lower, table.Upper = append(table.Counts, c[0]), append(table.Lower, low), append(table.Upper, high)
		}
		return table
	}
	for name, c := range map[string]struct {
		table *Table
		want  map[int64]float64
	}{
		"two cells published as 5 and 5, total as 0": {random5(4, [2]int64{3, 5}, [2]int64{1, 5}), map[int64]float64{0: 0, 2: 0, 3: 1.0 / 4, 4: 1}},
		"all counts equal their lower bounds: four ones": {
			random5(4, [2]int64{1, 5}, [2]int64{1, 5}, [2]int64{1, 5}, [2]int64{1, 5}), map[int64]float64{0: 0, 1: 1, 4: 1},
		},
		"corollary 2 is wrong: 2, 2, 1": {random5(5, [2]int64{2, 5}, [2]int64{2, 5}, [2]int64{1, 5}), map[int64]float64{3: 0, 4: 1.0 / 5, 5: 1}},
		"SAP(1) can be above 0 with base 5: 3, 3, 1, 0": {
			&Table{Counts: []int64{3, 3, 1, 0}, Lower: []int64{3, 3, 0, 0}, Upper: []int64{7, 7, 2, 2}, TotalUpper: 7}, map[int64]float64{0: 0, 1: 1.0 / 7},
		},
		"an exact table with an empty cell": {
			&Table{Counts: []int64{0, 9}, Lower: []int64{0, 9}, Upper: []int64{0, 9}, TotalUpper: NoTotal}, map[int64]float64{0: 1, 5: 1},
		},
		"exactly a tenth: five people, two in one cell": {
			&Table{Counts: []int64{2, 3}, Lower: []int64{2, 0}, Upper: []int64{2, 9}, TotalUpper: NoTotal}, map[int64]float64{2: 0.1},
		},
		"beyond N the last one holds": {
			&Table{Counts: []int64{2, 3}, Lower: []int64{2, 0}, Upper: []int64{2, 9}, TotalUpper: NoTotal}, map[int64]float64{5: 1, 99: 1},
		},
		"an impossible combination tells nothing": {
			&Table{Counts: []int64{0, 3}, Lower: []int64{0, 3}, Upper: []int64{0, 9}, TotalUpper: NoTotal, Impossible: []bool{true, false}},
			map[int64]float64{0: 0, 3: 0},
		},
		"nobody in the table, and the zeros can be seen": {
			&Table{Counts: []int64{0, 0}, Lower: []int64{0, 0}, Upper: []int64{0, 0}, TotalUpper: NoTotal}, map[int64]float64{0: 1, 3: 1},
		},
		"nobody in the table, and rounding hides the zero": {
			&Table{Counts: []int64{0, 0}, Lower: []int64{0, 0}, Upper: []int64{2, 2}, TotalUpper: NoTotal}, map[int64]float64{0: 0, 3: 0},
		},
	} {
		for n, want := range c.want {
			got, err := sapOf(t.Context(), c.table, []int64{n})
			require.NoError(t, err, name)
			require.InDelta(t, want, got[0], 1e-15, "%s: SAP(%d)", name, n)
		}
	}
}

func TestRefusals(t *testing.T) {
	good := &Table{Counts: []int64{1}, Lower: []int64{0}, Upper: []int64{2}, TotalUpper: NoTotal}
	of, err := good.Check()
	require.NoError(t, err)
	_, err = of.SAP(t.Context(), []int64{-1})
	require.ErrorContains(t, err, "-1 people cannot be known")
	_, _, err = of.Smallest(t.Context(), 0, 1e9)
	require.ErrorContains(t, err, "the threshold is 0")
	_, err = of.Targets(t.Context(), []int{1}, nil)
	require.ErrorContains(t, err, "nobody in cell 1")
	for want, table := range map[string]*Table{
		"a count of -1":                 {Counts: []int64{-1}, Lower: []int64{-1}, Upper: []int64{0}, TotalUpper: NoTotal},
		"not within its bounds 2 and 3": {Counts: []int64{1}, Lower: []int64{2}, Upper: []int64{3}, TotalUpper: NoTotal},
		"1 counts, 0 lower":             {Counts: []int64{1}, TotalUpper: NoTotal},
		"more than the total's":         {Counts: []int64{1, 2}, Lower: []int64{0, 0}, Upper: []int64{5, 5}, TotalUpper: 2},
		"is impossible":                 {Counts: []int64{1}, Lower: []int64{0}, Upper: []int64{5}, TotalUpper: NoTotal, Impossible: []bool{true}},
	} {
		_, err := sapOf(t.Context(), table, []int64{1})
		require.ErrorContains(t, err, want)
	}
}
