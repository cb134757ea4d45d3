package uniques

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"microrisk/engine/contingency"
)

// A reference is a worked table of the literature or of a tool's bug reports with published scores.
type reference struct {
	name        string
	rows        [][]uint32
	factorial   []float64 // sdcMicro's original_scores
	lattice     []float64
	variables   []float64 // contribution to the file's factorial score, percent
	disFraction float64
	dis         []float64 // DIS-IS of the records with a score
}

var references = []reference{
	{
		name:      "book", // Templ, Statistical Disclosure Control for Microdata: age, gender, income, education
		rows:      [][]uint32{{1, 2, 2, 1}, {1, 2, 2, 1}, {1, 2, 1, 1}, {1, 2, 1, 1}, {1, 1, 1, 3}, {1, 1, 1, 1}, {1, 1, 1, 2}, {2, 2, 1, 3}},
		factorial: []float64{0, 0, 0, 0, 4, 2, 6, 8}, lattice: []float64{0, 0, 0, 0, 1, .5, 1.75, 2.25},
		variables: []float64{40, 30, 0, 70}, disFraction: .01, dis: []float64{.010859, .004756, .017545, .024601},
	}, {
		name: "guideline", // sdcMicro guidelines: Residence, Gender, Education, Labor
		rows: [][]uint32{{2, 1, 5, 1}, {2, 1, 5, 1}, {2, 1, 3, 2}, {2, 2, 4, 1}, {1, 1, 4, 3}, {2, 2, 4, 1}, {2, 1, 2, 2}, {2, 2, 1, 3},
			{2, 1, 5, 2}, {2, 1, 5, 2}},
		factorial: []float64{0, 0, 6, 0, 12, 0, 6, 10, 0, 0}, lattice: []float64{0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0},
		variables: []float64{23.5294117647059, 17.6470588235294, 64.7058823529412, 23.5294117647059}, disFraction: .01,
		dis: []float64{.004987, .011383, .004987, .009167},
	}, {
		name:      "issue275",
		rows:      [][]uint32{{2, 0, 0}, {1, 3, 6}, {1, 0, 0}},
		factorial: []float64{2, 4, 2}, lattice: []float64{1, 2, 2. / 3},
		variables: []float64{50, 37.5, 37.5}, disFraction: .01, dis: []float64{1, 1, 1},
	}, {
		name:      "issue356",
		rows:      [][]uint32{{1, 1, 1}, {2, 1, 2}, {1, 2, 2}, {3, 3, 3}, {2, 2, 3}, {1, 1, 1}, {2, 3, 2}},
		factorial: []float64{0, 2, 3, 3, 3, 0, 2}, lattice: []float64{0, 2. / 3, 1, 4. / 3, 1, 0, 2. / 3},
		variables: []float64{61.5384615384615, 69.2307692307692, 53.8461538461538}, disFraction: .01,
		dis: []float64{.018866, .030932, .030932, .030932, .018866},
	}, {
		name: "francdat",
		rows: [][]uint32{{1, 2, 5, 1}, {1, 2, 1, 1}, {1, 2, 1, 1}, {3, 3, 1, 5}, {4, 3, 1, 4}, {4, 3, 1, 1}, {6, 2, 1, 5}, {1, 2, 5, 1}},

		factorial: []float64{0, 0, 0, 8, 6, 4, 8, 0}, lattice: []float64{0, 0, 0, 2.25, 1.75, 1, 2.25, 0},
		variables: []float64{53.8461538461538, 23.0769230769231, 0, 53.8461538461538}, disFraction: .01,
		dis: []float64{.014213, .010106, .006237, .014213},
	},
}

// fileOf makes a test file of plain codes; the missing code is one above the largest.
func fileOf(rows [][]uint32) file {
	f := file{rows: rows, cards: make([]int, len(rows[0]))}
	for _, row := range rows {
		for v, c := range row {
			f.cards[v] = max(f.cards[v], int(c)+1)
		}
	}
	return f
}

func search(t testing.TB, table *contingency.Table, o Options) *Result {
	t.Helper()
	r, err := Search(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReferences(t *testing.T) {
	for _, ref := range references {
		t.Run(ref.name, func(t *testing.T) {
			f := fileOf(ref.rows)
			table := f.table(t)
			class := f.classes(t, table)
			r := search(t, table, Options{Score: Factorial, Contributions: true, MSUs: true})
			lattice := search(t, table, Options{})
			dis := DIS(ref.disFraction, r.Uniques, r.Doubles)
			disIS, err := DISIS(context.Background(), r, table.Count, len(f.cards), dis)
			if err != nil {
				t.Fatal(err)
			}
			scored := 0
			for i, c := range class {
				if !close12(r.Score[c], ref.factorial[i]) || !close12(r.IS[c], ref.factorial[i]) || !close12(lattice.Score[c], ref.lattice[i]) {
					t.Errorf("record %d: scores %v %v, want %v %v", i, r.Score[c], lattice.Score[c], ref.factorial[i], ref.lattice[i])
				}
				switch {
				case ref.factorial[i] == 0:
					if !math.IsNaN(disIS[c]) {
						t.Errorf("record %d: DIS-IS %v without an MSU", i, disIS[c])
					}
				default:
					if math.Abs(disIS[c]-ref.dis[scored]) > 1e-4*ref.dis[scored] {
						t.Errorf("record %d: DIS-IS %v, want %v", i, disIS[c], ref.dis[scored])
					}
					scored++
				}
			}
			for v, want := range ref.variables {
				if got := 100 * r.Variables[v] / r.FileScore; math.Abs(got-want) > 1e-12*100 {
					t.Errorf("variable %d: contribution %v%%, want %v%%", v, got, want)
				}
			}
			checkAgainstBrute(t, f, class, r, Options{Score: Factorial, Contributions: true, MSUs: true})
		})
	}
}

// TestFuzzedTables compares with 200 random tables, half of them with perfectly correlated variables; scores and contributions are those
// of a brute force (half of the peer's contributions are wrong).
func TestFuzzedTables(t *testing.T) {
	in, err := os.Open("testdata/fuzz_msu.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	d := json.NewDecoder(in)
	tables := 0
	for d.More() {
		var c struct {
			ID      int
			Rows    [][]uint32
			MSUs    [][][]int
			Score   []float64
			Contrib [][]float64
		}
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		tables++
		f := fileOf(c.Rows)
		table := f.table(t)
		r := search(t, table, Options{Score: Factorial, Contributions: true, MSUs: true})
		for i, k := range f.classes(t, table) {
			var want []uint64
			for _, msu := range c.MSUs[i] {
				var set uint64
				for _, v := range msu {
					set |= 1 << v
				}
				want = append(want, set)
			}
			slices.SortFunc(want, compareSets)
			if got := r.MSUs(int(k), nil); !slices.Equal(got, want) {
				t.Fatalf("table %d record %d: MSUs %b, want %b", c.ID, i, got, want)
			}
			if !close12(r.Score[k], c.Score[i]) {
				t.Fatalf("table %d record %d: score %v, want %v", c.ID, i, r.Score[k], c.Score[i])
			}
			for v, share := range c.Contrib[i] {
				if c.Score[i] > 0 && !close12(r.Share[v][k], 100*share) {
					t.Fatalf("table %d record %d variable %d: share %v%%, want %v", c.ID, i, v, r.Share[v][k], share)
				}
			}
		}
	}
	if tables != 200 {
		t.Errorf("%d tables, want 200", tables)
	}
}

const sdcmicro = "../../../shared/data/sdcmicro"

// readCSV reads a file of numbers below its header; a cell that is none is -1.
func readCSV(t *testing.T, path string) [][]float64 {
	t.Helper()
	in, err := os.Open(path)
	if os.IsNotExist(err) {
		t.Skipf("reference data %s is not there", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for _, line := range lines[1:] {
		row := make([]float64, len(line))
		for i, cell := range line {
			if row[i], err = strconv.ParseFloat(cell, 64); err != nil {
				row[i] = -1
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// TestSDCMicro compares with the scores, DIS-SUDA values (a C float) and contributions of sdcMicro and a brute force on its test data.
func TestSDCMicro(t *testing.T) {
	for _, name := range []string{"testdata2_5", "testdata2_5_na", "testdata2_7", "testdata_7", "testdata_8"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(sdcmicro, name)
			var rows [][]uint32
			for _, line := range readCSV(t, filepath.Join(dir, "input.csv")) {
				row := make([]uint32, len(line))
				for v, x := range line {
					row[v] = uint32(x + 1) // a missing cell is 0, made last below
				}
				rows = append(rows, row)
			}
			f := fileOf(rows)
			for _, row := range rows {
				for v := range row {
					if row[v] == 0 {
						row[v] = uint32(f.cards[v])
					}
				}
			}
			table := f.table(t)
			class := f.classes(t, table)
			policies := slices.Repeat([]Policy{Ignore}, len(f.cards))
			for file, score := range map[string]Score{"suda2_elliot.csv": Factorial, "suda2_ihsn.csv": Lattice} {
				r := search(t, table, Options{Score: score, Contributions: true, Policies: policies})
				brute := readCSV(t, filepath.Join(dir, "brute_msu.csv"))
				contributions := len(brute[0]) - len(f.cards)
				for i, line := range readCSV(t, filepath.Join(dir, file)) {
					c := class[i]
					if !close12(r.Score[c], line[0]) {
						t.Fatalf("%s record %d: score %v, want %v", file, i, r.Score[c], line[0])
					}
					for v := range f.cards {
						if want := 100 * brute[i][contributions+v]; score == Factorial && line[0] > 0 && math.Abs(r.Share[v][c]-want) > 1e-9 {
							t.Fatalf("record %d: share of variable %d is %v%%, want %v%%", i, v, r.Share[v][c], want)
						}
					}
				}
				if score == Factorial {
					compareDIS(t, filepath.Join(dir, file), r, table, class, len(f.cards))
				}
			}
		})
	}
}

func compareDIS(t *testing.T, path string, r *Result, table *contingency.Table, class []int64, variables int) {
	disIS, err := DISIS(context.Background(), r, table.Count, variables, DIS(.01, r.Uniques, r.Doubles))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range readCSV(t, path) {
		got := disIS[class[i]]
		if math.IsNaN(got) {
			got = 0
		}
		if math.Abs(got-line[1]) > 1e-4*max(line[1], 1e-3) {
			t.Fatalf("record %d: DIS-IS %v, want %v", i, got, line[1])
		}
	}
}
