package uniques

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A number of a worked case is written exactly and as a decimal of 12 digits.
type number struct{ Value float64 }

type workedCase struct {
	N1     int64
	N2     number
	DIS    number
	Record []struct {
		Row       int
		Frequency int64
		MSUs      [][]string
		Score     number   `json:"suda_score"`
		Limited   *number  `json:"suda_score_limited"`
		IS        float64  `json:"is"`
		DISIS     *float64 `json:"dis_is"`
	} `json:"records"`
	File struct {
		Score number  `json:"suda_score"`
		IS    float64 `json:"is"`
	}
	Variables []struct {
		Variable string
		Score    number `json:"suda_score"`
	}
	Categories []struct {
		Variable, Value string
		Score           number `json:"suda_score"`
	}
}

type workedParams struct {
	Keys     []string `json:"key_variables"`
	Fraction string   `json:"sampling_fraction"`
	Policy   string   `json:"missing_policy"`
	Missing  []string `json:"missing_codes"`
	Max      *int     `json:"max_msu_size"`
}

// TestWorkedCases runs cases whose results were worked out in exact fractions.
func TestWorkedCases(t *testing.T) {
	dirs, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(dirs) != 5 {
		t.Fatalf("%d worked cases in testdata, want 5 (%v)", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) { runWorkedCase(t, dir) })
	}
}

func readJSON(t *testing.T, path string, to any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readLabels codes the key columns of a case: categories in order, missing last.
func readLabels(t *testing.T, path string, p workedParams) (f file, labels [][]string) {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	f.rows = make([][]uint32, len(lines)-1)
	for _, name := range p.Keys {
		column := slices.Index(lines[0], name)
		var categories []string
		for _, line := range lines[1:] {
			if !slices.Contains(p.Missing, line[column]) {
				categories = append(categories, line[column])
			}
		}
		slices.Sort(categories)
		categories = slices.Compact(categories)
		for i, line := range lines[1:] {
			code := slices.Index(categories, line[column])
			if code < 0 {
				code = len(categories)
			}
			f.rows[i] = append(f.rows[i], uint32(code))
		}
		f.cards = append(f.cards, len(categories))
		labels = append(labels, append(categories, "")) // missing by its code
	}
	return f, labels
}

func runWorkedCase(t *testing.T, dir string) {
	var p workedParams
	var want workedCase
	readJSON(t, filepath.Join(dir, "params.json"), &p)
	readJSON(t, filepath.Join(dir, "expected.json"), &want)
	f, labels := readLabels(t, filepath.Join(dir, "data.csv"), p)
	o := Options{MSUs: true, Contributions: true}
	if p.Max != nil {
		o.MaxSize = *p.Max
	}
	if p.Policy == "wildcard" {
		o.Policies = slices.Repeat([]Policy{Wildcard}, len(f.cards))
	}
	table := f.table(t)
	class := f.classes(t, table)
	r := search(t, table, o)
	o.Score = LatticeLimited
	limited := search(t, table, o)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-11*max(1, math.Abs(b)) }
	fraction := map[string]float64{"1/20": .05, "1/10": .1, "1/100": .01}[p.Fraction]
	dis := DIS(fraction, r.Uniques, r.Doubles)
	if r.Uniques != want.N1 || r.Doubles != want.N2.Value || !near(dis, want.DIS.Value) {
		t.Errorf("n1 %d n2 %v DIS %v, want %d %v %v", r.Uniques, r.Doubles, dis, want.N1, want.N2.Value, want.DIS.Value)
	}
	disIS, err := DISIS(context.Background(), r, table.Count, len(f.cards), dis)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want.Record {
		c := class[w.Row]
		var sets []uint64
		for _, msu := range w.MSUs {
			var set uint64
			for _, name := range msu {
				set |= 1 << slices.Index(p.Keys, name)
			}
			sets = append(sets, set)
		}
		if got := r.MSUs(int(c), nil); !slices.Equal(got, sets) {
			t.Errorf("row %d: MSUs %b, want %b", w.Row, got, sets)
		}
		if r.Frequency[c] != w.Frequency || !near(r.Score[c], w.Score.Value) || r.IS[c] != w.IS {
			t.Errorf("row %d: frequency %d score %v IS %v, want %d %v %v", w.Row, r.Frequency[c], r.Score[c], r.IS[c], w.Frequency, w.Score.Value, w.IS)
		}
		if w.Limited != nil && !near(limited.Score[c], w.Limited.Value) {
			t.Errorf("row %d: limited score %v, want %v", w.Row, limited.Score[c], w.Limited.Value)
		}
		if w.DISIS == nil != math.IsNaN(disIS[c]) || w.DISIS != nil && !near(disIS[c], *w.DISIS) {
			t.Errorf("row %d: DIS-IS %v", w.Row, disIS[c])
		}
	}
	if !near(r.FileScore, want.File.Score.Value) || r.FileIS != want.File.IS {
		t.Errorf("file: score %v IS %v, want %v %v", r.FileScore, r.FileIS, want.File.Score.Value, want.File.IS)
	}
	for _, w := range want.Variables {
		if got := r.Variables[slices.Index(p.Keys, w.Variable)]; !near(got, w.Score.Value) {
			t.Errorf("%s: contribution %v, want %v", w.Variable, got, w.Score.Value)
		}
	}
	for _, w := range want.Categories {
		v := slices.Index(p.Keys, w.Variable)
		code := slices.Index(labels[v], w.Value)
		if code < 0 {
			code = f.cards[v]
		}
		if got := r.Categories[v][code]; !near(got, w.Score.Value) {
			t.Errorf("%s = %q: contribution %v, want %v", w.Variable, w.Value, got, w.Score.Value)
		}
	}
}
