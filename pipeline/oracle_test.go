package pipeline_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// The oracle below is written from the definitions (spec/suda.md, README)
// alone: all subsets of the key variables, all pairs of records, no search.

type oracleVariable struct {
	name   string
	policy string
	number bool     // values are integers
	codes  []string // missing besides null
}

// A cell is a value as text; nil is null.
type microdata struct {
	variables []oracleVariable
	rows      [][]*string
}

// value is a cell with missing codes taken for missing.
func (m *microdata) value(row, v int) *string {
	if x := m.rows[row][v]; x != nil && !slices.Contains(m.variables[v].codes, *x) {
		return x
	}
	return nil
}

func same(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// full says whether two records count as equal on v when whole keys are compared.
func (m *microdata) full(a, b, v int) bool {
	x, y := m.value(a, v), m.value(b, v)
	if m.variables[v].policy == schemas.MissingWildcard && (x == nil || y == nil) {
		return true
	}
	return same(x, y)
}

// searched says whether they match on v in the search.
func (m *microdata) searched(a, b, v int) bool {
	if m.variables[v].policy == schemas.MissingIgnore && (m.value(a, v) == nil || m.value(b, v) == nil) {
		return false
	}
	return m.full(a, b, v)
}

type oracleOptions struct {
	score     string
	maxSize   int
	threshold int
	fraction  float64 // 0: unknown
	people    int64   // population size, 0: unknown
}

type oracleRecord struct {
	dropped   bool
	f         int
	msus      []uint
	score, is float64
	disIS     *float64
	share     []*float64
}

type oracleResult struct {
	records    []oracleRecord
	counted    int
	classes    int
	uniques    int
	doubles    float64
	special    int
	dis        *float64
	fileScore  float64
	fileIS     float64
	bySize     []int64
	variables  []float64
	categories []map[string]float64 // by variable, then category; missing has the name "\x00"
	observed   []int
	missing    []int
}

func binomial(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	b := 1.0
	for i := 1; i <= k; i++ {
		b = b * float64(n-k+i) / float64(i)
	}
	return math.Round(b)
}

func factorial(n int) float64 {
	f := 1.0
	for i := 2; i <= n; i++ {
		f *= float64(i)
	}
	return f
}

func weightOf(o oracleOptions, k, s int) float64 {
	limit := k
	if o.maxSize > 0 && o.maxSize < k {
		limit = o.maxSize
	}
	switch o.score {
	case suda.ScoreFactorial:
		return factorial(k - s)
	case suda.ScoreLatticeLimited:
		sum := 0.0
		for i := 1; i <= limit-s; i++ {
			sum += binomial(k-s, i)
		}
		return sum / binomial(k, s)
	case suda.ScoreElliotLimited:
		product := 1.0
		for i := s; i <= min(limit, k-1); i++ {
			product *= float64(k - i)
		}
		return product
	}
	return (math.Pow(2, float64(k-s)) - 1) / binomial(k, s)
}

func oracle(m *microdata, o oracleOptions) *oracleResult {
	k, n := len(m.variables), len(m.rows)
	r := &oracleResult{records: make([]oracleRecord, n), variables: make([]float64, k), bySize: make([]int64, k+1),
		observed: make([]int, k), missing: make([]int, k), categories: make([]map[string]float64, k)}
	var counted []int
	for i := range m.rows {
		for v, variable := range m.variables {
			if variable.policy == schemas.MissingDrop && m.value(i, v) == nil {
				r.records[i].dropped = true
			}
		}
		if !r.records[i].dropped {
			counted = append(counted, i)
		}
	}
	r.counted = len(counted)

	for v := range m.variables {
		r.categories[v] = map[string]float64{}
		seen := map[string]bool{}
		for i := range m.rows { // a table knows no policy: dropped records show here what was missing
			if x := m.value(i, v); x != nil {
				seen[*x] = true
			} else {
				r.missing[v]++
			}
		}
		r.observed[v] = len(seen)
	}
	classes := map[string]bool{}
	twos := 0
	for _, a := range counted {
		text := ""
		for v := range m.variables {
			if x := m.value(a, v); x == nil {
				text += "null;"
			} else {
				text += strconv.Quote(*x) + ";"
			}
		}
		classes[text] = true
		for _, b := range counted {
			equal := true
			for v := range m.variables {
				equal = equal && m.full(a, b, v)
			}
			if equal {
				r.records[a].f++
			}
		}
		switch r.records[a].f {
		case 1:
			r.uniques++
		case 2:
			twos++
		}
	}
	r.classes, r.doubles = len(classes), float64(twos)/2

	deepest := k
	if o.maxSize > 0 && o.maxSize < k {
		deepest = o.maxSize
	}
	for _, a := range counted {
		rec := &r.records[a]
		if rec.f > o.threshold {
			continue
		}
		unsafe := make([]bool, 1<<k)
		for s := uint(0); s < 1<<k; s++ {
			complete := true
			for v := range m.variables {
				if s>>v&1 == 1 && m.variables[v].policy == schemas.MissingIgnore && m.value(a, v) == nil {
					complete = false
				}
			}
			if !complete {
				continue
			}
			sharing := 0
			for _, b := range counted {
				match := true
				for v := range m.variables {
					if s>>v&1 == 1 && a != b && !m.searched(a, b, v) {
						match = false
					}
				}
				if match {
					sharing++
				}
			}
			unsafe[s] = sharing <= o.threshold
		}
		for s := uint(0); s < 1<<k; s++ {
			minimal := unsafe[s] && bits.OnesCount(s) <= deepest
			for t := uint(0); t < s && minimal; t++ {
				if t&s == t && unsafe[t] {
					minimal = false
				}
			}
			if minimal {
				rec.msus = append(rec.msus, s)
			}
		}
		special := false
		parts := make([]float64, k)
		for _, s := range rec.msus {
			size := bits.OnesCount(s)
			special = special || size < k
			r.bySize[size]++
			w := weightOf(o, k, size)
			rec.score += w
			rec.is += factorial(k - size)
			for v := range m.variables {
				if s>>v&1 == 1 {
					parts[v] += w
					r.variables[v] += w
					name := "\x00"
					if x := m.value(a, v); x != nil {
						name = *x
					}
					r.categories[v][name] += w
				}
			}
		}
		if special {
			r.special++
		}
		r.fileScore += rec.score
		r.fileIS += rec.is
		if rec.score > 0 {
			rec.share = make([]*float64, k)
			for v := range parts {
				share := 100 * parts[v] / rec.score
				rec.share[v] = &share
			}
		}
	}

	pi := o.fraction
	if o.people > 0 {
		pi = float64(r.counted) / float64(o.people) // of the records that are not dropped
	}
	if pi > 0 && o.threshold == 1 {
		n1, n2 := float64(r.uniques), r.doubles
		d := 0.0
		switch {
		case n1 == 0:
		case n2 == 0:
			d = 1
		default:
			d = pi * n1 / (pi*n1 + 2*(1-pi)*n2)
		}
		r.dis = &d
		q := 1 + float64(8-k)/20
		u, sum := 0.0, 0.0
		for _, rec := range r.records {
			if len(rec.msus) > 0 {
				u++
				sum += math.Pow(rec.is, -q)
			}
		}
		for i := range r.records {
			if rec := &r.records[i]; len(rec.msus) > 0 {
				w := math.Pow(rec.is, -q) / sum
				x := 1 / (1 + w*(u/d-u))
				rec.disIS = &x
			}
		}
	}
	return r
}

// random microdata; the text that goes into the CSV file is in rows.
func drawMicrodata(t *rapid.T) *microdata {
	m := &microdata{}
	k, n := rapid.IntRange(1, 6).Draw(t, "k"), rapid.IntRange(0, 40).Draw(t, "n")
	numbers := []string{"-7", "0", "3", "10", "200", "9007199254740993"}
	words := []string{"a", "Z", "é", "x,y", "q\"q", "NA", "b b"}
	m.rows = make([][]*string, n)
	for v := range k {
		x := oracleVariable{name: []string{"A", "b.c", "Ü", "d e", "f,g", "h\"i"}[v], number: rapid.Bool().Draw(t, "number")}
		x.policy = rapid.SampledFrom(schemas.MissingPolicies).Draw(t, "policy")
		pool := words
		if x.number {
			pool = numbers
		}
		kind := rapid.IntRange(0, 7).Draw(t, "kind")
		size := rapid.IntRange(1, len(pool)).Draw(t, "categories")
		rare := rapid.IntRange(0, 4).Draw(t, "missing")
		of := 0
		if v > 0 {
			of = rapid.IntRange(0, v-1).Draw(t, "copy of")
		}
		for i := range n {
			var cell *string
			switch {
			case kind == 0: // constant
				cell = &pool[0]
			case kind <= 2 && v > 0: // says the same as another column
				if y := m.rows[i][of]; y != nil {
					p := slices.Index(append(slices.Clone(numbers), words...), *y)
					p = p % max(len(numbers), len(words))
					if p < len(numbers) && slices.Contains(words, *y) {
						p = slices.Index(words, *y)
					}
					cell = &pool[p%len(pool)]
				}
			default:
				cell = &pool[rapid.IntRange(0, size-1).Draw(t, "cell")]
			}
			if rare > 0 && rapid.IntRange(0, 2*rare).Draw(t, "null") == 0 {
				cell = nil
			}
			m.rows[i] = append(m.rows[i], cell)
		}
		switch rapid.IntRange(0, 3).Draw(t, "codes") {
		case 1:
			x.codes = []string{pool[len(pool)-1], "99", "N/A"}
		case 2:
			x.codes = []string{pool[0], pool[2%len(pool)]}
		}
		m.variables = append(m.variables, x)
	}
	return m
}

func (m *microdata) write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	header := []string{"nr"}
	for _, v := range m.variables {
		header = append(header, v.name)
	}
	w.Write(header)
	for i, row := range m.rows {
		line := []string{strconv.Itoa(i)}
		for _, x := range row {
			if x == nil {
				line = append(line, "")
			} else {
				line = append(line, *x)
			}
		}
		w.Write(line)
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// readOutput gives the columns of an output as text, nil for null, doubles
// with all their digits, sets of MSUs as JSON.
func readOutput(path string) (names []string, rows [][]*string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if strings.HasSuffix(path, ".csv") {
		lines, err := csv.NewReader(f).ReadAll()
		if err != nil {
			return nil, nil, err
		}
		for _, line := range lines[1:] {
			row := make([]*string, len(line))
			for i := range line {
				if line[i] != "" {
					row[i] = &line[i]
				}
			}
			rows = append(rows, row)
		}
		return lines[0], rows, nil
	}
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	file, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		return nil, nil, err
	}
	first := map[int]int{} // leaf to column
	nullable := map[int]int{}
	leaf := 0
	for c, field := range file.Schema().Fields() {
		names = append(names, field.Name())
		if field.Optional() {
			nullable[c] = 1
		}
		first[leaf] = c
		leaf++ // every column here has one leaf
	}
	for _, group := range file.RowGroups() {
		reader := group.Rows()
		buffer := make([]parquet.Row, 16)
		for {
			n, err := reader.ReadRows(buffer)
			for _, source := range buffer[:n] {
				row := make([]*string, len(names))
				source.Range(func(column int, values []parquet.Value) bool {
					c := first[column]
					if field := file.Schema().Fields()[c]; !field.Leaf() {
						row[c] = setsText(values)
					} else if !values[0].IsNull() {
						text := values[0].String()
						if values[0].Kind() == parquet.Double {
							text = strconv.FormatFloat(values[0].Double(), 'g', -1, 64)
						}
						row[c] = &text
					}
					return true
				})
				rows = append(rows, row)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, nil, err
			}
		}
		reader.Close()
	}
	return names, rows, nil
}

// setsText assembles a list<list<string>> of the three-level form with
// optional lists and elements: 0 null, 1 no sets, 3 an empty set, 5 a name.
func setsText(values []parquet.Value) *string {
	if values[0].DefinitionLevel() == 0 {
		return nil
	}
	sets := [][]string{}
	for _, v := range values {
		if v.DefinitionLevel() == 1 {
			break
		}
		if v.RepetitionLevel() < 2 {
			sets = append(sets, []string{})
		}
		if !v.IsNull() {
			sets[len(sets)-1] = append(sets[len(sets)-1], v.String())
		}
	}
	text, _ := json.Marshal(sets)
	s := string(text)
	return &s
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b))
}

func TestOracle(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) { checkOracle(t, dir) })
}

func checkOracle(t *rapid.T, dir string) {
	m := drawMicrodata(t)
	k := len(m.variables)
	o := oracleOptions{score: rapid.SampledFrom(suda.Scores).Draw(t, "score"), threshold: 1}
	if rapid.IntRange(0, 2).Draw(t, "limited") == 0 {
		o.maxSize = rapid.IntRange(1, k+1).Draw(t, "max_size")
	}
	if rapid.IntRange(0, 2).Draw(t, "threshold?") == 0 {
		o.threshold = rapid.IntRange(1, 5).Draw(t, "threshold")
	}
	var sampling *schemas.Sampling
	switch rapid.IntRange(0, 3).Draw(t, "sampling") {
	case 0:
		o.fraction = rapid.SampledFrom([]float64{0.01, 0.3, 1}).Draw(t, "fraction")
		sampling = &schemas.Sampling{Fraction: o.fraction}
	case 1:
		o.people = int64(len(m.rows) + rapid.IntRange(1, 500).Draw(t, "others"))
		sampling = &schemas.Sampling{PopulationSize: o.people}
	}
	want := oracle(m, o)

	input := filepath.Join(dir, "in.csv")
	output := filepath.Join(dir, "out."+rapid.SampledFrom([]string{"csv", "parquet"}).Draw(t, "format"))
	if err := m.write(input); err != nil {
		t.Fatal(err)
	}
	key := &schemas.Key{}
	names := []string{}
	types := map[string]string{}
	for _, v := range m.variables {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: v.name, Missing: v.policy, MissingCodes: v.codes})
		names = append(names, v.name)
		if !v.number {
			types[v.name] = "string"
		} else {
			types[v.name] = "int64"
		}
	}
	scored := suda.Config{Score: o.score, MaxSize: o.maxSize, Contributions: true, MSUs: true}
	if o.threshold > 1 {
		scored.Threshold = int64(o.threshold)
	}
	spec := &schemas.Spec{
		Source: schemas.Source{Path: []string{input}, Types: types}, Sampling: sampling, Key: key,
		Operators: []schemas.Operator{{Config: &scored}},
		Sink:      schemas.Sink{Path: output},
	}
	options := session.Options{Workers: rapid.IntRange(0, 3).Draw(t, "workers"), Batch: rapid.IntRange(0, 9).Draw(t, "batch")}
	outcome, err := pipeline.Run(context.Background(), spec, options)
	if err != nil {
		t.Fatalf("run: %v\n%s", err, spec.YAML())
	}
	got, rows, err := readOutput(output)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	fail := func(row int, format string, arguments ...any) {
		text, _ := os.ReadFile(input)
		t.Fatalf("row %d: %s\n%s\n%s", row, fmt.Sprintf(format, arguments...), spec.YAML(), text)
	}

	columns := append([]string{"nr"}, names...)
	for _, c := range scored.Columns(true, names) {
		columns = append(columns, c.Name)
	}
	if !slices.Equal(got, columns) {
		fail(-1, "columns %q, want %q", got, columns)
	}
	if len(rows) != len(m.rows) || outcome.Written != int64(len(rows)) {
		fail(-1, "%d rows", len(rows))
	}
	for i, rec := range want.records {
		at := func(name string) *string { return rows[i][slices.Index(columns, name)] }
		text := func(name string, want *string) {
			if !same(at(name), want) {
				fail(i, "%s is %s, want %s", name, show(at(name)), show(want))
			}
		}
		number := func(name string, want *float64) {
			x := at(name)
			if x != nil && want != nil {
				if y, err := strconv.ParseFloat(*x, 64); err == nil && near(y, *want) {
					return
				}
			}
			if x == nil && want == nil {
				return
			}
			w := "null"
			if want != nil {
				w = strconv.FormatFloat(*want, 'g', -1, 64)
			}
			fail(i, "%s is %s, want %s", name, show(x), w)
		}
		float := func(x float64) *float64 { return &x }
		integer := func(x int) *string { s := strconv.Itoa(x); return &s }

		text("nr", integer(i))
		for v, name := range names {
			text(name, m.rows[i][v])
		}
		if rec.dropped {
			for _, name := range columns[1+k:] {
				text(name, nil)
			}
			continue
		}
		text(schemas.Frequency, integer(rec.f))
		number("suda_score", float(rec.score))
		number("suda_is", float(rec.is))
		number("suda_dis_is", rec.disIS)
		text("suda_msu_count", integer(len(rec.msus)))
		sets := [][]string{}
		sort.SliceStable(rec.msus, func(a, b int) bool { // by size, then key order
			x, y := rec.msus[a], rec.msus[b]
			if bits.OnesCount(x) != bits.OnesCount(y) {
				return bits.OnesCount(x) < bits.OnesCount(y)
			}
			return bits.Reverse(x) > bits.Reverse(y)
		})
		smallest := k + 1
		for _, s := range rec.msus {
			set := []string{}
			for v, name := range names {
				if s>>v&1 == 1 {
					set = append(set, name)
				}
			}
			sets = append(sets, set)
			smallest = min(smallest, len(set))
		}
		if len(rec.msus) > 0 {
			text("suda_msu_min_size", integer(smallest))
		} else {
			text("suda_msu_min_size", nil)
		}
		list, _ := json.Marshal(sets)
		if x := at("suda_msus"); x == nil || *x != string(list) {
			fail(i, "suda_msus is %s, want %s", show(x), list)
		}
		for v, name := range names {
			if rec.share == nil {
				number(suda.ShareColumn("suda", name), nil)
			} else {
				number(suda.ShareColumn("suda", name), rec.share[v])
			}
		}
	}
	compareSummary(t, fail, m, o, want, outcome.Summary)
}

func show(x *string) string {
	if x == nil {
		return "null"
	}
	return *x
}

func compareSummary(t *rapid.T, fail func(int, string, ...any), m *microdata, o oracleOptions, want *oracleResult, s *schemas.Summary) {
	k := len(m.variables)
	text, err := json.Marshal(s.Operators["suda"])
	require.NoError(t, err)
	var scored suda.Summary
	require.NoError(t, json.Unmarshal(text, &scored))
	check := func(what string, got, want float64) {
		if !near(got, want) {
			fail(-1, "%s is %v, want %v", what, got, want)
		}
	}
	check("rows", float64(s.Rows), float64(len(m.rows)))
	check("classes", float64(s.Key.Classes), float64(want.classes))
	check("sample uniques", float64(s.Key.SampleUniques), float64(want.uniques))
	check("doubles", s.Key.Doubles, want.doubles)
	check("records", float64(scored.Records), float64(want.counted))
	check("file score", scored.FileScore, want.fileScore)
	check("file IS", scored.FileIS, want.fileIS)
	if o.threshold == 1 {
		check("special uniques", float64(scored.SpecialUniques), float64(want.special))
	}
	if (scored.DIS == nil) != (want.dis == nil) && want.counted > 0 { // of no records there is no sampling fraction
		fail(-1, "dis is %v, want %v", scored.DIS, want.dis)
	}
	if scored.DIS != nil && want.dis != nil {
		check("dis", *scored.DIS, *want.dis)
	}
	var total int64
	for size, n := range want.bySize {
		total += n
		if size > 0 && size <= len(scored.MSUsBySize) {
			check(fmt.Sprint("MSUs of size ", size), float64(scored.MSUsBySize[size-1]), float64(n))
		} else if size > len(scored.MSUsBySize) && n > 0 {
			fail(-1, "no MSUs of size %d, want %d", size, n)
		}
	}
	check("MSUs", float64(scored.MSUs), float64(total))
	for v, variable := range s.Key.Variables {
		check("categories of "+variable.Name, float64(variable.Categories), float64(want.observed[v]))
		check("missing of "+variable.Name, float64(variable.Missing), float64(want.missing[v]))
		if variable.Policy != m.variables[v].policy {
			fail(-1, "policy of %s is %s", variable.Name, variable.Policy)
		}
	}
	percent := func(part, whole float64) float64 {
		if whole == 0 {
			return 0
		}
		return 100 * part / whole
	}
	require.Len(t, scored.Variables, k)
	for v, blame := range scored.Variables {
		check("score of "+blame.Name, blame.Score, want.variables[v])
		check("share of "+blame.Name, blame.Share, percent(want.variables[v], want.fileScore))
	}
	at := 0
	for v, variable := range m.variables {
		var values []string
		for x, score := range want.categories[v] {
			if score > 0 {
				values = append(values, x)
			}
		}
		sort.Slice(values, func(a, b int) bool {
			if values[a] == "\x00" || values[b] == "\x00" {
				return values[b] == "\x00" && values[a] != "\x00" // missing last
			}
			if variable.number {
				x, _ := strconv.ParseInt(values[a], 10, 64)
				y, _ := strconv.ParseInt(values[b], 10, 64)
				return x < y
			}
			return values[a] < values[b]
		})
		for _, x := range values {
			if at >= len(scored.Categories) {
				fail(-1, "%d categories", at)
			}
			c := scored.Categories[at]
			at++
			if c.Variable != variable.name || (c.Category == nil) != (x == "\x00") || c.Category != nil && *c.Category != x {
				fail(-1, "category %d is %s %s, want %s %q", at-1, c.Variable, show(c.Category), variable.name, x)
			}
			score := want.categories[v][x]
			check("score of "+x, c.Score, score)
			check("share of "+x, c.Share, percent(score, want.fileScore))
			check("share within of "+x, c.ShareWithin, percent(score, want.variables[v]))
		}
	}
	if at != len(scored.Categories) {
		fail(-1, "%d categories, want %d", len(scored.Categories), at)
	}
}
