package uniques

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"microrisk/engine/contingency"
)

// skewed makes a table of independent columns; code c of a column of n categories has a probability near 1/(c+1). It
// resembles a census: the eight cardinalities are those of region, sex, age, marital status, household, education, occupation and industry.
func skewed(b testing.TB, rows int, cards ...int) *contingency.Table {
	r := rand.New(rand.NewPCG(42, uint64(rows)))
	codes := make([][]uint32, len(cards))
	for v, n := range cards {
		codes[v] = make([]uint32, rows)
		for i := range rows {
			codes[v][i] = uint32(math.Pow(float64(n+1), r.Float64())) - 1
		}
	}
	return tableOf(b, codes, cards)
}

// even makes a table of independent columns of equally likely categories.
func even(b testing.TB, rows int, cards ...int) *contingency.Table {
	r := rand.New(rand.NewPCG(42, uint64(rows)))
	codes := make([][]uint32, len(cards))
	for v, n := range cards {
		codes[v] = make([]uint32, rows)
		for i := range rows {
			codes[v][i] = uint32(r.IntN(n))
		}
	}
	return tableOf(b, codes, cards)
}

func tableOf(b testing.TB, codes [][]uint32, cards []int) *contingency.Table {
	variables := make([]contingency.Variable, len(cards))
	for v, n := range cards {
		variables[v] = contingency.Variable{Name: fmt.Sprint("v", v), Categories: make([]string, n)}
	}
	counts := make([]int64, len(codes[0]))
	for i := range counts {
		counts[i] = 1
	}
	t, err := contingency.New(variables, codes, counts)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

var census8 = []int{36, 2, 100, 6, 10, 8, 400, 90}

// BenchmarkSearch searches to full depth with contributions. "plain" is the upward search without covers, the design that lost.
func BenchmarkSearch(b *testing.B) {
	binary := make([]int, 16)
	for v := range binary {
		binary[v] = 2
	}
	for _, c := range []struct {
		name  string
		table func() *contingency.Table
	}{
		{"census8/200k", func() *contingency.Table { return skewed(b, 200_000, census8...) }},
		{"census8/1m", func() *contingency.Table { return skewed(b, 1_000_000, census8...) }},
		{"census12/100k", func() *contingency.Table { return skewed(b, 100_000, append([]int{5, 9, 15, 43}, census8...)...) }},
		{"codes50000/100k", func() *contingency.Table { return even(b, 100_000, 50_000, 5, 9, 12) }},
		{"binary16/20k", func() *contingency.Table { return even(b, 20_000, binary...) }},
	} {
		var table *contingency.Table
		for _, way := range []struct {
			name string
			o    Options
		}{
			{"chosen", Options{}},
			{"plain", Options{direction: upwards, covers: math.MaxInt}},
		} {
			b.Run(c.name+"/"+way.name, func(b *testing.B) {
				if table == nil {
					table = c.table()
				}
				o := way.o
				o.Contributions = true
				b.ReportAllocs()
				b.ResetTimer()
				var r *Result
				for range b.N {
					var err error
					if r, err = Search(context.Background(), table, o); err != nil {
						b.Fatal(err)
					}
				}
				var msus int64
				for _, n := range r.BySize {
					msus += n
				}
				b.ReportMetric(float64(msus), "MSUs")
				b.ReportMetric(float64(r.Visits), "visits")
			})
		}
	}
}

// BenchmarkCountSet counts one set of a key in the three ways there are.
func BenchmarkCountSet(b *testing.B) {
	table := skewed(b, 200_000, census8...)
	var o Options
	if err := o.normalise(table); err != nil {
		b.Fatal(err)
	}
	p, err := newProblem(table, &o)
	if err != nil {
		b.Fatal(err)
	}
	e := newEvaluator(p)
	e.many = p.many
	out := make([]uint64, len(p.base))
	for _, set := range []struct {
		name string
		bits uint64
	}{{"region,age", 0b101}, {"region,age,occupation", 0b1000101}, {"age,marital,household,occupation,industry", 0b11011100}} {
		e.mask = p.masks(set.bits, nil)
		for _, way := range []struct {
			name  string
			count func()
		}{
			{"small", func() { e.countSmall(p.n, e.smallKey(e.mask[0].bits), out) }},
			{"parts", func() { e.countParts(p.n, out) }},
			{"exact", func() { e.rest = appendClear(e.rest[:0], e.known); e.resolve(out) }},
		} {
			if way.name == "small" && e.smallKey(e.mask[0].bits) > smallMost {
				continue
			}
			b.Run(set.name+"/"+way.name, func(b *testing.B) {
				for range b.N {
					copy(out, p.base)
					copy(e.known, p.base)
					way.count()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.n), "ns/class")
			})
		}
	}
}
