package references_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"microrisk/engine/recoding"
)

// folder has the references, which are not part of the repository.
func folder(t testing.TB) string {
	data := os.Getenv("MICRORISK_DATA")
	if data == "" {
		t.Skip("MICRORISK_DATA is not set")
	}
	return filepath.Join(data, "protect")
}

func readCSV(t testing.TB, path string, comma rune) [][]string {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = comma, true
	rows, err := r.ReadAll()
	require.NoError(t, err)
	return rows
}

// A book has the values of a column and their levels, those of its hierarchy first.
type book struct {
	code   map[string]uint32
	levels []recoding.Level
}

func hierarchyOf(t testing.TB, path string) *book {
	rows := readCSV(t, path, ';')
	b := &book{code: map[string]uint32{}}
	for l := range rows[0] {
		groups := map[string]uint32{}
		level := recoding.Level{}
		for i, row := range rows {
			if l == 0 {
				b.code[row[0]] = uint32(i)
			}
			g, seen := groups[row[l]]
			if !seen {
				g = uint32(len(groups))
				groups[row[l]] = g
				level.Names = append(level.Names, row[l])
			}
			level.Group = append(level.Group, g)
		}
		b.levels = append(b.levels, level)
	}
	return b
}

// columnsOf reads text columns of a Parquet file.
func columnsOf(t testing.TB, path string, names []string) [][]string {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	file, err := parquet.OpenFile(f, info.Size())
	require.NoError(t, err)
	out := make([][]string, len(names))
	for v, name := range names {
		column, ok := file.Schema().Lookup(name)
		require.True(t, ok, name)
		for _, group := range file.RowGroups() {
			pages := group.ColumnChunks()[column.ColumnIndex].Pages()
			for {
				page, err := pages.ReadPage()
				if err != nil {
					break
				}
				values := make([]parquet.Value, page.NumValues())
				n, _ := page.Values().ReadValues(values)
				for _, x := range values[:n] {
					out[v] = append(out[v], x.Clone().String())
				}
			}
			pages.Close()
		}
	}
	return out
}

// A file has the classes of a population with hierarchies.
type file struct {
	variables []recoding.Variable
	codes     [][]uint32
	counts    []int64
	sensitive []uint32
	secrets   *book
	all       []float64 // shares of the sensitive values
}

// fileOf reads a file; the name of the sensitive variable may be empty.
func fileOf(t testing.TB, data, prefix, hierarchy, sensitive string, names []string) *file {
	f := &file{}
	all := names
	if sensitive != "" {
		all = append(slices.Clone(names), sensitive)
	}
	columns := columnsOf(t, data, all)
	var books []*book
	for _, name := range all {
		b := hierarchyOf(t, filepath.Join(hierarchy, prefix+name+".csv"))
		books = append(books, b)
		if name != sensitive {
			f.variables = append(f.variables, recoding.Variable{Name: name, Levels: b.levels, Weight: 1, Most: len(b.levels) - 1})
		} else {
			f.secrets = b
		}
	}
	f.codes = make([][]uint32, len(names))
	at := map[string]int{}
	var key strings.Builder
	for i := range columns[0] {
		key.Reset()
		for v := range columns {
			key.WriteString(columns[v][i])
			key.WriteByte(0)
		}
		c, seen := at[key.String()]
		if !seen {
			c = len(f.counts)
			at[key.String()] = c
			f.counts = append(f.counts, 0)
			for v := range columns {
				text := columns[v][i]
				if text == "<null>" {
					text = ""
				}
				code, known := books[v].code[text]
				require.True(t, known, "%s: %q", all[v], columns[v][i])
				if v < len(names) {
					f.codes[v] = append(f.codes[v], code)
				} else {
					f.sensitive = append(f.sensitive, code)
				}
			}
		}
		f.counts[c]++
	}
	if f.secrets != nil {
		f.all = make([]float64, len(f.secrets.code))
		for i, s := range f.sensitive {
			f.all[s] += float64(f.counts[i]) / float64(len(columns[0]))
		}
	}
	return f
}

func (f *file) lattice(t testing.TB) *recoding.Lattice {
	var l *recoding.Lattice
	var err error
	if f.secrets == nil {
		l, err = recoding.New(f.variables, f.codes, f.counts)
	} else {
		l, err = recoding.NewSensitive(f.variables, f.codes, f.counts, f.sensitive, len(f.secrets.code))
	}
	require.NoError(t, err)
	return l
}

var adultKeys = []string{"sex", "age", "race", "marital_status", "education", "native_country", "workclass", "occupation", "salary_class"}

func adult(t testing.TB, sensitive bool) *file {
	at := folder(t)
	if !sensitive {
		return fileOf(t, filepath.Join(at, "arx_adult.parquet"), "adult_hierarchy_", at, "", adultKeys)
	}
	keys := slices.DeleteFunc(slices.Clone(adultKeys), func(name string) bool { return name == "occupation" })
	return fileOf(t, filepath.Join(at, "arx_adult.parquet"), "adult_hierarchy_", at, "occupation", keys)
}

// near is t-closeness: the earth mover's distance of a class from the file, between values that are equally far apart, or as far as the height of the
// group that joins them (Li, Li & Venkatasubramanian 2007).
func (f *file) near(equal bool, most float64) recoding.Rule {
	height := len(f.secrets.levels) - 1
	return recoding.Rule{Name: "t", Rising: true, Safe: func(c recoding.Class) bool {
		extra := make([]float64, len(f.all))
		for i, p := range f.all {
			extra[i] = -p
		}
		for _, s := range c.Values {
			extra[s.Value] += float64(s.Records) / float64(c.Records)
		}
		sum := 0.0
		if equal {
			for _, x := range extra {
				sum += math.Abs(x) / 2
			}
			return sum <= most+1e-12
		}
		above, below := make([]float64, len(f.all)), make([]float64, len(f.all))
		groups := make([]float64, len(f.all))
		for l := 1; l <= height; l++ {
			clear(above)
			clear(below)
			clear(groups)
			for code, g := range f.secrets.levels[l-1].Group {
				groups[g] += extra[code]
			}
			for code, g := range f.secrets.levels[l-1].Group {
				to := f.secrets.levels[l].Group[code]
				if x := groups[g]; x > 0 {
					above[to] += x
				} else {
					below[to] -= x
				}
				groups[g] = 0
			}
			for g, x := range above {
				sum += float64(l) / float64(height) * min(x, below[g])
			}
		}
		return sum <= most+1e-12
	}}
}

// ruleOf reads a criterion.
func (f *file) ruleOf(t testing.TB, text string) (recoding.Rule, bool) {
	var rules []recoding.Rule
	for _, part := range strings.Split(text, " and ") {
		var k int64
		var x float64
		var c float64
		var l int
		switch {
		case scan(part, "k-anonymity k=%d", &k):
			rules = append(rules, recoding.K(k))
		case scan(part, "recursive (c,l)-diversity c=%g l=%d", &c, &l):
			rules = append(rules, recoding.Recursive(c, l))
		case scan(part, "t-closeness, hierarchical distance t=%g", &x):
			rules = append(rules, f.near(false, x))
		case scan(part, "t-closeness, equal distance t=%g", &x):
			rules = append(rules, f.near(true, x))
		case scan(part, "entropy l-diversity (Shannon) l=%g", &x):
			rules = append(rules, recoding.EntropyOf(x))
		default:
			return recoding.Rule{}, false
		}
	}
	return recoding.All(rules...), true
}

func scan(text, format string, to ...any) bool {
	n, err := fmt.Sscanf(text, format, to...)
	return err == nil && n == len(to)
}

func lossOf(t testing.TB, metric, aggregate, tilt string) recoding.Loss {
	switch {
	case strings.HasPrefix(metric, "loss"):
		g := recoding.Granularity{Way: recoding.Geometric}
		if strings.HasPrefix(aggregate, "rank") || strings.Contains(metric, "descending vector") {
			g.Way = recoding.Rank
		}
		if tilt != "" {
			x, err := strconv.ParseFloat(tilt, 64)
			require.NoError(t, err)
			g.Tilt = x - .5
		}
		return g
	case metric == "non-uniform entropy with suppression":
		return recoding.Entropy{}
	case strings.HasPrefix(metric, "non-uniform entropy"):
		return recoding.Entropy{Kept: true}
	case metric == "DM*":
		return recoding.Discernibility{All: true}
	case metric == "DM":
		return recoding.Discernibility{}
	case metric == "AECS":
		return recoding.ClassSize{}
	case metric == "height":
		return recoding.Height{}
	case strings.HasPrefix(metric, "precision"):
		return recoding.Precision{}
	}
	return nil
}

func numbers(t testing.TB, text string) []float64 {
	var list []float64
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ;[],", r) }) {
		x, err := strconv.ParseFloat(part, 64)
		require.NoError(t, err, text)
		list = append(list, x)
	}
	return list
}

// The optima that ARX's tests expect are found, and those of its heuristics are beaten.
func TestOptimaOfAdult(t *testing.T) {
	files := map[bool]*file{false: adult(t, false), true: adult(t, true)}
	rows := readCSV(t, filepath.Join(folder(t), "arx_adult.csv"), ',')
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	seen, beaten := 0, 0
	for _, row := range rows[1:] {
		col := func(name string) string { return row[at[name]] }
		f := files[col("sensitive") != ""]
		rule, ok := f.ruleOf(t, col("criterion"))
		loss := lossOf(t, col("metric"), col("aggregate"), col("gs_factor"))
		if !ok || loss == nil {
			continue
		}
		if strings.Contains(col("note"), "adds hierarchical t-closeness") && !strings.Contains(col("criterion"), "t-closeness") {
			rule = recoding.All(rule, f.near(false, .2))
		}
		weighted := *f
		weighted.variables = slices.Clone(f.variables)
		if col("weights") != "" {
			for v := range weighted.variables {
				weighted.variables[v].Weight = 0
				for i, part := range strings.Split(col("weights"), " ") {
					if part == strings.ReplaceAll(weighted.variables[v].Name, "_", "-") {
						next := strings.Split(col("weights"), " ")[i+1]
						a, b, ok := strings.Cut(next, "/")
						x, err := strconv.ParseFloat(a, 64)
						require.NoError(t, err)
						if ok {
							y, err := strconv.ParseFloat(b, 64)
							require.NoError(t, err)
							x /= y
						}
						weighted.variables[v].Weight = x
					}
				}
			}
		}
		l := weighted.lattice(t)
		limit := numbers(t, col("suppression_limit"))[0]
		found, err := l.Search(t.Context(), recoding.Options{Rule: rule, Suppressed: int64(math.Floor(limit * float64(l.Records))), Loss: loss})
		require.NoError(t, err)
		name := col("source") + " " + col("case")
		if strings.Contains(col("status"), "no feasible") {
			require.Empty(t, found.Best, name)
			seen++
			continue
		}
		require.NotEmpty(t, found.Best, name)
		require.True(t, found.Proven)
		want := numbers(t, col("own_optimum"))
		got := found.Best[0].Loss
		require.Len(t, got, len(want), name)
		for i := range want {
			tolerance := 1e-9 * math.Max(1, math.Abs(want[i]))
			require.InDelta(t, want[i], got[i], tolerance, "%s %s: %v at %v, want %s at %s", name, col("criterion"), got, found.Best[0].Node,
				col("own_optimum"), col("own_levels"))
		}
		if strings.Contains(col("status"), "not the optimum") {
			require.Less(t, got[0], numbers(t, col("expected_loss"))[0])
			beaten++
		}
		seen++
	}
	t.Log(seen, "rows,", beaten, "beaten")
	require.Greater(t, seen, 100)
}

// The losses that ARX's tests expect at given nodes.
func TestLossesOfAdult(t *testing.T) {
	f := adult(t, true)
	rows := readCSV(t, filepath.Join(folder(t), "arx_adult_nodes.csv"), ',')
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	l := f.lattice(t)
	seen := 0
	for _, row := range rows[1:] {
		col := func(name string) string { return row[at[name]] }
		if col("status") != "reproduced" {
			continue
		}
		rule, ok := f.ruleOf(t, col("criterion"))
		require.True(t, ok)
		loss := lossOf(t, col("metric"), "", "")
		require.NotNil(t, loss, col("metric"))
		var n recoding.Node
		for _, v := range f.variables {
			x, err := strconv.Atoi(col("level_" + v.Name))
			require.NoError(t, err)
			n = append(n, uint8(x))
		}
		o, err := l.Outcome(n, rule.Safe)
		require.NoError(t, err)
		if col("metric") == "precision, generalisation only" {
			o, err = l.Outcome(n, nil)
			require.NoError(t, err)
		}
		want, got := numbers(t, col("expected")), loss.Of(l, o)
		require.Len(t, got, len(want))
		for i := range want {
			require.InDelta(t, want[i], got[i], 1e-9*math.Max(1, math.Abs(want[i])), "%s %s at %v", col("criterion"), col("metric"), n)
		}
		seen++
	}
	t.Log(seen, "losses")
	require.Greater(t, seen, 250)
}

// The optima of brute force over both lattices.
func TestOptimaOfLattices(t *testing.T) {
	at := folder(t)
	var lattices [2]*recoding.Lattice
	for _, row := range readCSV(t, filepath.Join(at, "lattice_optima.csv"), ',')[1:] {
		which := 0
		if strings.HasPrefix(row[0], "census") {
			which = 1
		}
		if lattices[which] == nil {
			if which == 0 {
				lattices[0] = adult(t, false).lattice(t)
			} else {
				_, names, _ := strings.Cut(row[0], "(")
				names, _, _ = strings.Cut(names, ")")
				lattices[1] = fileOf(t, filepath.Join(filepath.Dir(at), "micro", "census_1m.parquet"), "census_hierarchy_", at, "",
					strings.Fields(names)).lattice(t)
			}
		}
		l := lattices[which]
		k, err := strconv.ParseInt(row[1], 10, 64)
		require.NoError(t, err)
		var loss recoding.Loss
		switch row[3] {
		case "non-uniform entropy bits, generalisation only":
			loss = recoding.Entropy{Kept: true}
		case "non-uniform entropy bits, with suppression":
			loss = recoding.Entropy{}
		case "granularity, geometric, with suppression":
			loss = recoding.Granularity{}
		default:
			t.Fatal(row[3])
		}
		limit := numbers(t, row[2])[0]
		found, err := l.Search(t.Context(), recoding.Options{Rule: recoding.K(k), Suppressed: int64(math.Floor(limit * float64(l.Records))), Loss: loss})
		require.NoError(t, err)
		want := numbers(t, row[5])[0]
		require.InDelta(t, want, found.Best[0].Loss[0], 1e-9*math.Max(1, want), row)
		t.Logf("%.6s k=%d %.2f %.30s: %d checks of %.0f (%s, %s)", row[0], k, limit, row[3], found.Checked, found.Nodes, row[8], row[9])
		if row[7] == "1" {
			require.Equal(t, row[6], found.Best[0].Node.String())
		}
	}
}

// The whole lattice of the adult file, and single optima.
func BenchmarkAdult(b *testing.B) {
	f := adult(b, false)
	b.Run("all nodes", func(b *testing.B) {
		for range b.N {
			l := f.lattice(b)
			nodes := 0
			every(f.variables, func(n recoding.Node) {
				_, err := l.Outcome(n, recoding.K(5).Safe)
				require.NoError(b, err)
				nodes++
			})
			require.Equal(b, 12960, nodes)
		}
	})
	for _, loss := range []recoding.Loss{recoding.Entropy{}, recoding.Granularity{}} {
		for _, share := range []float64{0, .04} {
			b.Run(fmt.Sprintf("%s %g", loss.Name(), share), func(b *testing.B) {
				for range b.N {
					l := f.lattice(b)
					found, err := l.Search(b.Context(), recoding.Options{Rule: recoding.K(5), Loss: loss, Suppressed: int64(share * float64(l.Records))})
					require.NoError(b, err)
					require.True(b, found.Proven)
				}
			})
		}
	}
}

// The nodes of both lattices that are free, and the least loss among them.
func TestNoMSUOfLattices(t *testing.T) {
	at := folder(t)
	census := []string{"age", "sex", "race", "marital_status", "education", "class_of_worker", "major_occupation", "birth_country_self"}
	files := []*file{adult(t, false), fileOf(t, filepath.Join(filepath.Dir(at), "micro", "census_1m.parquet"), "census_hierarchy_", at, "", census)}
	want := [2][4]struct {
		nodes int
		bits  float64
		node  string
	}{
		{2: {308, 319039.38031, "0 1 1 1 2 2 2 1 1"}, 3: {150, 379417.346057, "1 1 1 1 3 2 2 1 1"}},
		{2: {2992, 4828877.34663, "1 0 0 0 2 1 1 1"}, 3: {793, 8583326.20528, "0 0 1 2 3 2 1 3"}},
	}
	for i, f := range files {
		l := f.lattice(t)
		for size := 2; size <= 3; size++ {
			rule, err := l.NoMSU(size)
			require.NoError(t, err)
			nodes := 0
			every(f.variables, func(n recoding.Node) {
				if rule.Node(n) {
					nodes++
				}
			})
			found, err := l.Search(t.Context(), recoding.Options{Rule: rule, Loss: recoding.Entropy{}})
			require.NoError(t, err)
			t.Log(i, size, nodes, found.Best[0].Node, found.Checked)
			require.Equal(t, want[i][size].nodes, nodes)
			require.InEpsilon(t, want[i][size].bits, found.Best[0].Loss[0], 1e-9)
			require.Equal(t, want[i][size].node, found.Best[0].Node.String())
		}
	}
}

// every goes through all nodes.
func every(variables []recoding.Variable, take func(n recoding.Node)) {
	n := make(recoding.Node, len(variables))
	var from func(v int)
	from = func(v int) {
		if v == len(variables) {
			take(slices.Clone(n))
			return
		}
		for l := variables[v].Least; l <= variables[v].Most; l++ {
			n[v] = uint8(l)
			from(v + 1)
		}
	}
	from(0)
}
