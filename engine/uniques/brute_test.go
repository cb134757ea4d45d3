package uniques

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"microrisk/engine/contingency"
)

// A file holds records of codes for tests; code cards[v] on variable v is a missing value.
type file struct {
	cards []int
	rows  [][]uint32
}

func (f file) table(t testing.TB) *contingency.Table {
	variables := make([]contingency.Variable, len(f.cards))
	codes := make([][]uint32, len(f.cards))
	for v, n := range f.cards {
		variables[v].Name = fmt.Sprint("v", v)
		variables[v].Categories = make([]string, n)
		codes[v] = make([]uint32, len(f.rows))
		for i, row := range f.rows {
			codes[v][i] = row[v]
		}
	}
	table, err := contingency.New(variables, codes, slices.Repeat([]int64{1}, len(f.rows)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// classes is the class of every record.
func (f file) classes(t testing.TB, table *contingency.Table) []int64 {
	cols := make([]contingency.Column, len(f.cards))
	for v := range cols {
		for i, row := range f.rows {
			cols[v].Index = append(cols[v].Index, int32(i))
			cols[v].Codes = append(cols[v].Codes, row[v])
		}
	}
	class := make([]int64, len(f.rows))
	if err := table.Lookup(len(f.rows), cols, class); err != nil {
		t.Fatal(err)
	}
	return class
}

func (f file) missing(i, v int) bool { return f.rows[i][v] == uint32(f.cards[v]) }

func (f file) dropped(o Options, i int) bool {
	for v := range f.cards {
		if o.policy(v) == Drop && f.missing(i, v) {
			return true
		}
	}
	return false
}

// matches tells whether record j looks like record i on a set of variables.
func (f file) matches(o Options, i, j int, set uint64, whole bool) bool {
	for ; set != 0; set &= set - 1 {
		v := bits.TrailingZeros64(set)
		switch policy := o.policy(v); {
		case policy == Wildcard && (f.missing(i, v) || f.missing(j, v)):
		case policy == Ignore && !whole && (f.missing(i, v) || f.missing(j, v)):
			return false
		case f.rows[i][v] != f.rows[j][v]:
			return false
		}
	}
	return true
}

// unsafe tells whether record i is unique on a set (matched by at most k records).
func (f file) unsafe(o Options, i int, set uint64) bool {
	for rest := set; rest != 0; rest &= rest - 1 {
		v := bits.TrailingZeros64(rest)
		if p := o.policy(v); f.missing(i, v) && (p == Wildcard || p == Ignore) {
			return false
		}
	}
	return f.count(o, i, set, false) <= max(1, o.Threshold)
}

func (f file) count(o Options, i int, set uint64, whole bool) (n int64) {
	for j := range f.rows {
		if !f.dropped(o, j) && (i == j || f.matches(o, i, j, set, whole)) {
			n++
		}
	}
	return n
}

// msus finds the minimal sample uniques of record i from the definition.
func (f file) msus(o Options, i int) []uint64 {
	if f.dropped(o, i) {
		return nil
	}
	limit := o.MaxSize
	if limit == 0 {
		limit = len(f.cards)
	}
	var found []uint64
	sets := make([]uint64, 1<<len(f.cards))
	for s := range sets {
		sets[s] = uint64(s)
	}
	slices.SortFunc(sets, compareSets)
	for _, s := range sets {
		if bits.OnesCount64(s) > limit {
			break
		}
		if !slices.ContainsFunc(found, func(m uint64) bool { return m&s == m }) && f.unsafe(o, i, s) {
			found = append(found, s)
		}
	}
	return found
}

func close12(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b))
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// checkAgainstBrute compares a result with the definitions, record by record.
func checkAgainstBrute(t fataler, f file, class []int64, r *Result, o Options) {
	k := len(f.cards)
	limit := o.MaxSize
	if limit == 0 || limit > k {
		limit = k
	}
	w := weightsBySize(o.Score, k, limit)
	var uniques, records int64
	var doubles, fileScore, fileIS float64
	variables := make([]float64, k)
	categories := make([][]float64, k)
	for v := range categories {
		categories[v] = make([]float64, f.cards[v]+1)
	}
	whole := uint64(1)<<k - 1
	for i := range f.rows {
		c := class[i]
		want := f.msus(o, i)
		var score, is float64
		with := make([]float64, k)
		for _, m := range want {
			s := bits.OnesCount64(m)
			score += w[s]
			is += factorial(k - s)
			for v := range k {
				if m>>v&1 == 1 {
					with[v] += w[s]
					variables[v] += w[s]
					categories[v][f.rows[i][v]] += w[s]
				}
			}
		}
		fileScore += score
		fileIS += is
		var frequency int64
		if !f.dropped(o, i) {
			records++
			frequency = f.count(o, i, whole, true)
			if frequency == 1 {
				uniques++
			}
			if frequency == 2 {
				doubles += .5
			}
		}
		if r.Frequency[c] != frequency {
			t.Fatalf("record %d %v: frequency %d, want %d", i, f.rows[i], r.Frequency[c], frequency)
		}
		if r.Score[c] != r.Score[c] || !close12(r.Score[c], score) || !close12(r.IS[c], is) || int(r.Count[c]) != len(want) {
			t.Fatalf("record %d %v: score %v IS %v count %d, want %v %v %d (%b)", i, f.rows[i], r.Score[c], r.IS[c], r.Count[c], score, is, len(want), want)
		}
		smallest := 0
		if len(want) > 0 {
			smallest = bits.OnesCount64(want[0])
		}
		if int(r.MinSize[c]) != smallest {
			t.Fatalf("record %d: smallest size %d, want %d", i, r.MinSize[c], smallest)
		}
		if o.MSUs {
			if got := r.MSUs(int(c), nil); !slices.Equal(got, want) {
				t.Fatalf("record %d: MSUs %b, want %b", i, got, want)
			}
		}
		for v := range k {
			if o.Contributions && !close12(r.Share[v][c], 100*with[v]/score) {
				t.Fatalf("record %d: share of variable %d is %v, want %v", i, v, r.Share[v][c], 100*with[v]/score)
			}
		}
	}
	if r.Records != records || r.Uniques != uniques || r.Doubles != doubles || !close12(r.FileScore, fileScore) || !close12(r.FileIS, fileIS) {
		t.Fatalf(
			"file: records %d uniques %d doubles %v score %v IS %v, want %d %d %v %v %v",
			r.Records,
			r.Uniques,
			r.Doubles,
			r.FileScore,
			r.FileIS,
			records,
			uniques,
			doubles,
			fileScore,
			fileIS,
		)
	}
	for v := range k {
		if !close12(r.Variables[v], variables[v]) {
			t.Fatalf("contribution of variable %d is %v, want %v", v, r.Variables[v], variables[v])
		}
		for c, want := range categories[v] {
			if !close12(r.Categories[v][c], want) {
				t.Fatalf("contribution of category %d of variable %d is %v, want %v", c, v, r.Categories[v][c], want)
			}
		}
	}
}
