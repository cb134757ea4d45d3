package risk

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// A number of a worked case is a decimal, or written exactly and as a decimal of 12 digits.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	*n = number(math.NaN())
	var x *float64
	if json.Unmarshal(b, &x) == nil {
		if x != nil {
			*n = number(*x)
		}
		return nil
	}
	var both struct{ Value float64 }
	err := json.Unmarshal(b, &both)
	*n = number(both.Value)
	return err
}

type caseCell struct {
	Cell      []*string
	F         int64
	MLE       number `json:"p_mle"`
	Match     number `json:"pr_correct_match"`
	Printed   number `json:"pr_correct_match_as_printed"`
	ExpectedF number `json:"expected_F"`
	Mean, Var number
	Alpha     number
	NoMore    number `json:"p_no_more"`
	Unique    number `json:"p_population_unique"`
	InverseF  number `json:"e_inv_F"`
	Exact     *caseCell
}

type caseFile struct {
	Cells []caseCell
	CMSU  number `json:"e_cm_su"`
	PU    number `json:"e_pu"`
	PUSU  number `json:"e_pu_su"`
	Theta number `json:"e_theta"`
	Exact *caseFile
}

type riskCase struct {
	N         int64
	Unsampled float64
	Smith     []caseCell
	Webb      caseFile `json:"forster_webb"`
	Averaged  *struct {
		Graphs int `json:"n_graphs"`
		Smith  []caseCell
		Webb   caseFile `json:"forster_webb"`
	} `json:"model_averaged"`

	data  *bayes.Data
	graph *graph.Graph
	codes []map[string]uint32
}

func readCase(t testing.TB, dir string) *riskCase {
	t.Helper()
	c := &riskCase{}
	var params struct {
		Variables []struct {
			Name   string
			Levels []*string
		}
		Graph [][2]string
	}
	for name, to := range map[string]any{"params.json": &params, "expected.json": c} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(filepath.Join(dir, "data.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	k := len(params.Variables)
	levels := make([]int, k)
	place := map[string]int{}
	for v, x := range params.Variables {
		place[x.Name] = v
		levels[v] = len(x.Levels)
		c.codes = append(c.codes, map[string]uint32{})
		for i, level := range x.Levels {
			c.codes[v][text(level)] = uint32(i)
		}
	}
	c.graph = graph.New(k)
	for _, e := range params.Graph {
		c.graph.Connect(place[e[0]], place[e[1]])
	}
	var records [][]uint32
	for _, row := range rows[1:] {
		r := make([]uint32, k)
		for v := range r {
			code, ok := c.codes[v][row[slices.Index(rows[0], params.Variables[v].Name)]]
			if !ok {
				t.Fatalf("no level %v", row)
			}
			r[v] = code
		}
		records = append(records, r)
	}
	c.data = tabulate(levels, records)
	return c
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// tabulate counts records.
func tabulate(levels []int, records [][]uint32) *bayes.Data {
	records = slices.Clone(records)
	slices.SortFunc(records, slices.Compare)
	d := &bayes.Data{Levels: levels, Codes: make([][]uint32, len(levels)), Records: int64(len(records))}
	for i, r := range records {
		if i > 0 && slices.Equal(r, records[i-1]) {
			d.Counts[len(d.Counts)-1]++
			continue
		}
		for v, x := range r {
			d.Codes[v] = append(d.Codes[v], x)
		}
		d.Counts = append(d.Counts, 1)
	}
	return d
}

// cell is the number of a case's cell in the data, -1 if it is empty.
func (c *riskCase) cell(x caseCell) int {
	for i := range c.data.Counts {
		same := true
		for v, s := range x.Cell {
			same = same && c.data.Codes[v][i] == c.codes[v][text(s)]
		}
		if same {
			return i
		}
	}
	return -1
}

func near(t *testing.T, what string, got float64, want number, tolerance float64) {
	t.Helper()
	w := float64(want)
	if math.IsNaN(w) && math.IsNaN(got) {
		return
	}
	if !(math.Abs(got-w) <= tolerance*math.Abs(w)+1e-300) {
		t.Errorf("%s: %.13g, want %.13g", what, got, w)
	}
}

func fit(t testing.TB, d *bayes.Data, models ...bayes.Model) *Law {
	t.Helper()
	l, err := NewLaw(context.Background(), d, 1, models, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	return l
}

func measure(t testing.TB, l *Law, d *bayes.Data, o Options) (*Cells, *File) {
	t.Helper()
	c, err := l.Cells(context.Background(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.File(context.Background(), d, c, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, f
}

// TestWorkedCases runs cases that were worked out in exact fractions and many digits.
func TestWorkedCases(t *testing.T) {
	dirs, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(dirs) != 5 {
		t.Fatalf("%d worked cases in testdata, want 5 (%v)", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c := readCase(t, dir)
			if c.data.Records != c.N {
				t.Fatalf("%d records, want %d", c.data.Records, c.N)
			}
			l := fit(t, c.data, bayes.Model{Graph: c.graph, Weight: 1})
			c.compare(t, l, c.Smith, &c.Webb, 1e-9)
			c.compareEmpty(t, l)
			if c.Averaged != nil {
				models := posterior(c.data, 1)
				if len(models) != c.Averaged.Graphs {
					t.Fatalf("%d graphs, want %d", len(models), c.Averaged.Graphs)
				}
				c.compare(t, fit(t, c.data, models...), c.Averaged.Smith, &c.Averaged.Webb, 1e-7)
			}
		})
	}
}

func (c *riskCase) compare(t *testing.T, l *Law, smith []caseCell, webb *caseFile, tolerance float64) {
	o := Options{Unsampled: c.Unsampled, Estimator: Poisson, SetMatch: true}
	cells, _ := measure(t, l, c.data, o)
	for _, x := range smith {
		i := c.cell(x)
		near(t, "poisson E[1/F]", cells.CorrectMatch[i], x.Match, tolerance)
		near(t, "poisson as printed", cells.SetMatch[i], x.Printed, tolerance)
		near(t, "poisson E[F]", cells.ExpectedFrequency[i], x.ExpectedF, tolerance)
	}
	o.Estimator = Gamma
	cells, file := measure(t, l, c.data, o)
	for _, x := range webb.Cells {
		if i := c.cell(x); i >= 0 {
			near(t, "E[1/F]", cells.CorrectMatch[i], x.InverseF, tolerance)
			near(t, "P(F = 1)", cells.PopulationUnique[i], x.Unique, tolerance)
		} else if x.F != 0 {
			t.Error("a cell is missing")
		}
	}
	near(t, "PU", file.PU, webb.PU, tolerance)
	near(t, "PU|SU", file.PUSU, webb.PUSU, tolerance)
	near(t, "theta", file.CMUM, webb.Theta, tolerance)
	if webb.Cells[0].Mean != 0 { // averages do not give it
		near(t, "CM|SU", file.CMSU, webb.CMSU, tolerance)
	}
	if webb.Exact == nil {
		return
	}
	o.Estimator = MonteCarlo
	o.Draws = 4000
	cells, file = measure(t, l, c.data, o)
	for _, x := range webb.Cells {
		if i := c.cell(x); i >= 0 { // a measure in 0..1 of mean m has a variance of at most m(1-m)
			m := float64(x.Exact.Unique)
			assert.InDelta(t, m, cells.PopulationUnique[i], 4*math.Sqrt(m*(1-m)/4000)+1e-12)
			assert.InEpsilon(t, float64(x.Exact.InverseF), cells.CorrectMatch[i], 0.06)
		}
	}
	if n1 := float64(file.SampleUniques); n1 > 0 {
		assert.InDelta(t, float64(webb.Exact.PUSU), file.PUSU, 4*cells.SD.PopulationUniques/n1/math.Sqrt(4000))
		assert.InDelta(t, float64(webb.Exact.CMSU), file.CMSU, 4*cells.SD.CorrectMatches/n1/math.Sqrt(4000))
	}
	o.Estimator = Exact // Poisson given pi, where the case is binomial
	_, file = measure(t, l, c.data, o)
	near(t, "exact PU|SU", file.PUSU, webb.Exact.PUSU, 0.1)
	near(t, "exact PU", file.PU, webb.Exact.PU, 0.03)
	near(t, "exact CM|SU", file.CMSU, webb.Exact.CMSU, 0.02)
}

// compareEmpty looks at moments and probabilities of every cell of the full table.
func (c *riskCase) compareEmpty(t *testing.T, l *Law) {
	p := newPlan(l, false, &Options{})
	b := newBlock(p)
	for _, x := range c.Webb.Cells {
		columns := make([][]uint32, len(l.Levels))
		for v, s := range x.Cell {
			columns[v] = []uint32{c.codes[v][text(s)]}
		}
		b.load(columns, 0, 1)
		mean, spread := b.moments(0)
		near(t, "mean", mean[0], x.Mean, 1e-11)
		near(t, "variance", mean[0]*mean[0]*spread[0], x.Var, 1e-9)
		near(t, "a", 1/spread[0], x.Alpha, 1e-9)
		lam := c.Unsampled * mean[0]
		alone, _ := unique(1/spread[0], lam*spread[0])
		near(t, "P(F - f = 0)", alone, x.NoMore, 1e-9)
		if x.F == 0 {
			near(t, "P(F = 1)", lam*aloneOf(lam, spread[0]), x.Unique, 1e-9)
		}
	}
}

// posterior are all decomposable graphs with their posterior probabilities under a uniform prior.
func posterior(d *bayes.Data, alpha float64) []bayes.Model {
	var models []bayes.Model
	best := math.Inf(-1)
	for g := range func(yield func(*graph.Graph) bool) { graph.EachDecomposable(len(d.Levels), yield) } {
		t := g.JunctionTree()
		score := 0.0
		for i, c := range t.Cliques {
			score += logMarginal(d, c, alpha) - logMarginal(d, t.Separators[i], alpha)
		}
		models = append(models, bayes.Model{Graph: g.Clone(), LogLikelihood: score})
		best = max(best, score)
	}
	sum := 0.0
	for _, m := range models {
		sum += math.Exp(m.LogLikelihood - best)
	}
	for i := range models {
		models[i].Weight = math.Exp(models[i].LogLikelihood-best) / sum
	}
	return models
}

func logMarginal(d *bayes.Data, c graph.Set, alpha float64) float64 {
	if c == 0 {
		return 0
	}
	lambda := alpha / math.Exp(d.LogCells(c))
	gamma := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	sum := gamma(alpha) - gamma(alpha+float64(d.Records))
	for _, n := range newMargin(c, d.Levels, d.Codes, d.Counts).Counts {
		sum += gamma(lambda+float64(n)) - gamma(lambda)
	}
	return sum
}
