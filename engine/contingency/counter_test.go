package contingency

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A microdata is a file for tests: rows of final codes with multiplicities and one value to be summed.
type microdata struct {
	variables []Variable
	rows      [][]uint32
	times     []int64
	values    []float64
}

func makeVariables(cardinalities []int) []Variable {
	variables := make([]Variable, len(cardinalities))
	for v, n := range cardinalities {
		variables[v].Name = fmt.Sprint("v", v)
		for c := range n {
			variables[v].Categories = append(variables[v].Categories, fmt.Sprint(c))
		}
	}
	return variables
}

// A fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func drawMicrodata(t *rapid.T) microdata {
	var m microdata
	cards := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 3, 7, 30, 300, 70000}), 0, 9).Draw(t, "cardinalities")
	m.variables = makeVariables(cards)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	n := rapid.IntRange(0, 3000).Draw(t, "rows")
	spread := rapid.IntRange(1, 70000).Draw(t, "spread")
	for range n {
		row := make([]uint32, len(cards))
		for v, c := range cards {
			row[v] = uint32(r.IntN(min(c+1, spread)))
		}
		m.rows = append(m.rows, row)
		m.times = append(m.times, r.Int64N(4))
		m.values = append(m.values, math.Round(r.NormFloat64()*1e6)/64)
	}
	return m
}

// truth counts with a map.
func (m microdata) truth(times bool) (keys [][]uint32, counts map[string]int64, sums map[string]float64) {
	counts, sums = map[string]int64{}, map[string]float64{}
	for i, row := range m.rows {
		many := int64(1)
		if times {
			many = m.times[i]
		}
		if many == 0 {
			continue
		}
		if counts[fmt.Sprint(row)] == 0 {
			keys = append(keys, row)
		}
		counts[fmt.Sprint(row)] += many
		sums[fmt.Sprint(row)] += m.values[i] * float64(many) // exact: small multiples of 1/64
	}
	slices.SortFunc(keys, slices.Compare)
	return keys, counts, sums
}

// count runs m through counters with provisional codes handed out in order of appearance.
func (m microdata) count(batches, counters, workers int, times, sums bool) (*Table, error) {
	final, all, err := m.counters(batches, counters, times, sums, func(*Counter) error { return nil })
	if err != nil {
		return nil, err
	}
	return Merge(context.Background(), m.variables, final, workers, 0, nil, all...)
}

// counters counts m; after is called after each batch.
func (m microdata) counters(batches, counters int, times, sums bool, after func(c *Counter) error) ([][]uint32, []*Counter, error) {
	columns := len(m.variables)
	final := make([][]uint32, columns)
	provisional := make([]map[uint32]uint32, columns)
	for v := range m.variables {
		final[v] = []uint32{m.variables[v].Missing()}
		provisional[v] = map[uint32]uint32{m.variables[v].Missing(): 0}
	}
	nsums := 0
	if sums {
		nsums = 1
	}
	all := make([]*Counter, counters)
	for i := range all {
		all[i] = NewCounter(columns, nsums)
	}
	for b := range batches {
		from, to := b*len(m.rows)/batches, (b+1)*len(m.rows)/batches
		cols := make([]Column, columns)
		for v := range cols {
			c := &cols[v]
			local := map[uint32]int32{}
			for _, row := range m.rows[from:to] {
				p, ok := provisional[v][row[v]]
				if !ok {
					p = uint32(len(final[v]))
					provisional[v][row[v]] = p
					final[v] = append(final[v], row[v])
				}
				i, ok := local[p]
				if !ok {
					i = int32(len(c.Codes))
					local[p] = i
					c.Codes = append(c.Codes, p)
				}
				c.Index = append(c.Index, i)
			}
			if v%2 == 1 { // nulls by bitmap, with an index that must not be looked at
				c.Offset = v
				c.Valid = make([]byte, (to-from+v)/8+1)
				for r, i := range c.Index {
					if c.Codes[i] == 0 {
						c.Index[r] = -5
					} else {
						c.Valid[(r+v)/8] |= 1 << ((r + v) % 8)
					}
				}
			}
		}
		var tm []int64
		if times {
			tm = m.times[from:to]
		}
		var sm [][]float64
		if sums {
			sm = [][]float64{m.values[from:to]}
		}
		if err := all[b%counters].Add(to-from, cols, tm, sm); err != nil {
			return nil, nil, err
		}
		if err := after(all[b%counters]); err != nil {
			return nil, nil, err
		}
	}
	return final, all, nil
}

func checkTable(t fataler, table *Table, keys [][]uint32, counts map[string]int64, sums map[string]float64) {
	if table.Classes() != len(keys) {
		t.Fatalf("%d classes, want %d", table.Classes(), len(keys))
	}
	var records int64
	var total float64
	for i, key := range keys {
		for v, code := range key {
			if table.Code(i, v) != code {
				t.Fatalf("class %d: code of variable %d is %d, want %d", i, v, table.Code(i, v), code)
			}
		}
		name := fmt.Sprint(key)
		if table.Count(i) != counts[name] {
			t.Fatalf("class %d: count %d, want %d", i, table.Count(i), counts[name])
		}
		if table.Sums() == 1 && table.Sum(i, 0) != sums[name] {
			t.Fatalf("class %d: sum %v, want %v", i, table.Sum(i, 0), sums[name])
		}
		records += counts[name]
		total += sums[name]
	}
	if table.Records() != records {
		t.Fatalf("%d records, want %d", table.Records(), records)
	}
	if table.Sums() == 1 && table.SumOver(0, nil) != total {
		t.Fatalf("sum over all is %v, want %v", table.SumOver(0, nil), total)
	}
}

func TestCountAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMicrodata(t)
		times, sums := rapid.Bool().Draw(t, "times"), rapid.Bool().Draw(t, "sums")
		table, err := m.count(
			rapid.IntRange(1, 9).Draw(t, "batches"),
			rapid.IntRange(1, 3).Draw(t, "counters"),
			rapid.IntRange(1, 3).Draw(t, "workers"),
			times,
			sums,
		)
		if err != nil {
			t.Fatal(err)
		}
		keys, counts, totals := m.truth(times)
		checkTable(t, table, keys, counts, totals)
		other, err := m.count(3, 2, 2, times, sums)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(table.keys, other.keys) || !slices.Equal(table.counts32, other.counts32) {
			t.Fatal("the table depends on how rows are split")
		}
		lookupAll(t, table, keys)
		checkMargin(t, m, table, counts, totals)
	})
}

func lookupAll(t fataler, table *Table, keys [][]uint32) {
	rows := len(keys) + 1
	cols := make([]Column, len(table.Variables))
	for v := range cols {
		for i, key := range keys {
			cols[v].Index = append(cols[v].Index, int32(i))
			cols[v].Codes = append(cols[v].Codes, key[v])
		}
		cols[v].Index = append(cols[v].Index, int32(len(keys)))
		cols[v].Codes = append(cols[v].Codes, table.Variables[v].Missing()+1+uint32(v%2)*1e9) // in no class
	}
	class := make([]int64, rows)
	b := table.NewBlock()
	err := b.Add(rows, cols)
	if err == nil {
		err = b.resolve(class, nil)
	}
	if !table.OnDisk() {
		err = table.Lookup(rows, cols, class)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if class[i] != int64(i) {
			t.Fatalf("lookup of class %d gave %d", i, class[i])
		}
	}
	if len(cols) > 0 && class[len(keys)] != -1 {
		t.Fatalf("lookup of a key that is not there gave %d", class[len(keys)])
	}
}

func checkMargin(t *rapid.T, m microdata, table *Table, counts map[string]int64, totals map[string]float64) {
	order := rapid.Permutation(makeRange(len(m.variables))).Draw(t, "order")
	order = order[:rapid.IntRange(0, len(order)).Draw(t, "margin")]
	margin, err := table.Margin(context.Background(), order...)
	if err != nil {
		t.Fatal(err)
	}
	keys := [][]uint32{}
	marginCounts, marginSums := map[string]int64{}, map[string]float64{}
	seen := map[string]bool{}
	for _, row := range m.rows {
		name := fmt.Sprint(row)
		if seen[name] || counts[name] == 0 {
			continue
		}
		seen[name] = true
		part := make([]uint32, len(order))
		for j, v := range order {
			part[j] = row[v]
		}
		if marginCounts[fmt.Sprint(part)] == 0 {
			keys = append(keys, part)
		}
		marginCounts[fmt.Sprint(part)] += counts[name]
		marginSums[fmt.Sprint(part)] += totals[name]
	}
	slices.SortFunc(keys, slices.Compare)
	checkTable(t, margin, keys, marginCounts, marginSums)
}

func makeRange(n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = i
	}
	return r
}

func TestNewAddsEqualKeys(t *testing.T) {
	table, err := New(makeVariables([]int{3, 2}), [][]uint32{{2, 0, 2, 3}, {1, 1, 1, 2}}, []int64{5, 1, math.MaxUint32, 0})
	if err != nil {
		t.Fatal(err)
	}
	if table.Classes() != 2 || table.Count(0) != 1 || table.Count(1) != 5+math.MaxUint32 || table.Records() != 6+math.MaxUint32 {
		t.Errorf("classes %d, counts %d %d", table.Classes(), table.Count(0), table.Count(1))
	}
}

func TestErrors(t *testing.T) {
	one := Column{Index: []int32{0, 1}, Codes: []uint32{1, 2}}
	cases := []struct {
		name  string
		sums  int
		cols  []Column
		times []int64
		vals  [][]float64
	}{
		{"negative multiplicity", 0, []Column{one}, []int64{1, -1}, nil},
		{"records overflow", 0, []Column{one}, []int64{math.MaxInt64, 1}, nil},
		{"not a number", 1, []Column{one}, nil, [][]float64{{1, math.NaN()}}},
		{"infinite", 1, []Column{one}, nil, [][]float64{{1, math.Inf(-1)}}},
		{"sum too large", 1, []Column{one}, nil, [][]float64{{1, 1e300}}},
		{"sum overflow", 1, []Column{{Index: []int32{0, 0}, Codes: []uint32{1}}}, nil, [][]float64{{1.5 * (1 << 94), 1.5 * (1 << 94)}}},
		{"index too large", 0, []Column{{Index: []int32{0, 2}, Codes: []uint32{1, 2}}}, nil, nil},
		{"index negative", 0, []Column{{Index: []int32{0, -1}, Codes: []uint32{1, 2}}}, nil, nil},
		{"column too short", 0, []Column{{Index: []int32{0}, Codes: []uint32{1, 2}}}, nil, nil},
		{"validity too short", 0, []Column{{Index: []int32{0, 1}, Valid: []byte{255}, Offset: 7, Codes: []uint32{1, 2}}}, nil, nil},
		{"too many columns", 0, []Column{one, one}, nil, nil},
		{"sums missing", 1, []Column{one}, nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := NewCounter(1, c.sums).Add(2, c.cols, c.times, c.vals); err == nil {
				t.Error("no error")
			}
		})
	}
	c := NewCounter(1, 0)
	if err := c.Add(2, []Column{one}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(context.Background(), makeVariables([]int{2}), [][]uint32{{2, 0}}, 1, 0, nil, c); err == nil {
		t.Error("merging a provisional code without final code gave no error")
	}
	if _, err := New(makeVariables([]int{2}), [][]uint32{{3}}, []int64{1}); err == nil {
		t.Error("a code beyond missing gave no error")
	}
	if _, err := New(makeVariables(make([]int, 65)), make([][]uint32, 65), nil); err == nil {
		t.Error("65 variables gave no error")
	}
}

func TestSixtyFourWideVariables(t *testing.T) {
	variables := makeVariables(slices.Repeat([]int{200}, 64))
	final := make([][]uint32, 64)
	cols := make([]Column, 64)
	for v := range final {
		final[v] = []uint32{200}
		for p := range 200 {
			final[v] = append(final[v], uint32(199-p))
		}
		cols[v] = Column{Index: []int32{0, 1, 0}, Codes: []uint32{uint32(v + 1), 200}}
	}
	c := NewCounter(64, 0)
	if err := c.Add(3, cols, nil, nil); err != nil {
		t.Fatal(err)
	}
	table, err := Merge(context.Background(), variables, final, 2, 0, nil, c)
	if err != nil {
		t.Fatal(err)
	}
	if table.Classes() != 2 || table.Count(0) != 1 || table.Count(1) != 2 || table.Code(1, 63) != 136 || table.Code(0, 5) != 0 {
		t.Errorf("classes %d, counts %d %d", table.Classes(), table.Count(0), table.Count(1))
	}
}

// TestManyClasses counts enough classes for several buckets, growing tables and keys of one to three words.
func TestManyClasses(t *testing.T) {
	for name, cards := range map[string][]int{
		"one word":    {300, 7, 30, 70000},
		"two words":   {70000, 70000, 70000, 70000, 300},
		"three words": {70000, 70000, 70000, 70000, 70000, 70000, 70000, 70000, 70000, 3, 70000, 70000},
		"skewed":      {1, 70000, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			m := microdata{variables: makeVariables(cards)}
			r := rand.New(rand.NewPCG(8, 8))
			for range 30000 {
				row := make([]uint32, len(cards))
				for v, c := range cards {
					row[v] = uint32(r.IntN(min(c+1, r.IntN(2000)+1)))
				}
				m.rows = append(m.rows, row)
				m.times = append(m.times, r.Int64N(3))
				m.values = append(m.values, float64(r.IntN(1000))/8)
			}
			keys, counts, sums := m.truth(true)
			for workers := 1; workers <= 3; workers++ {
				table, err := m.count(20, workers, workers, true, workers != 2)
				if err != nil {
					t.Fatal(err)
				}
				checkTable(t, table, keys, counts, sums)
				lookupAll(t, table, keys)
				for _, order := range [][]int{{1}, {1, 0}, makeRange(len(cards))} {
					margin, err := table.Margin(context.Background(), order...)
					if err != nil {
						t.Fatal(err)
					}
					if margin.Records() != table.Records() {
						t.Fatalf("margin over %v has %d records", order, margin.Records())
					}
				}
			}
		})
	}
}
