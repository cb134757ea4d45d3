package contingency

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// A skewedFile has independent skewed columns, as census files have: category c of n is drawn with density falling as
// its square root, so that common keys and unique ones both occur.
type skewedFile struct {
	variables []Variable
	final     [][]uint32
	columns   []Column
	rows      int
}

func makeSkewed(rows int, cardinalities ...int) skewedFile {
	f := skewedFile{variables: makeVariables(cardinalities), rows: rows}
	r := rand.New(rand.NewPCG(42, 42))
	for _, n := range cardinalities {
		final, codes := []uint32{uint32(n)}, []uint32{}
		for c := range n {
			final = append(final, uint32(c))
			codes = append(codes, uint32(c+1))
		}
		index := make([]int32, rows)
		for i := range index {
			u := r.Float64()
			index[i] = int32(float64(n) * math.Pow(u, 2.5))
		}
		f.final = append(f.final, final)
		f.columns = append(f.columns, Column{Index: index, Codes: codes})
	}
	return f
}

// part is the batch of rows from to to.
func (f skewedFile) part(from, to int) []Column {
	cols := make([]Column, len(f.columns))
	for v, c := range f.columns {
		cols[v] = Column{Index: c.Index[from:to], Codes: c.Codes}
	}
	return cols
}

const batchRows = 1 << 16

func (f skewedFile) count(b *testing.B, workers int) *Table {
	counters := make([]*Counter, workers)
	var group sync.WaitGroup
	for w := range counters {
		counters[w] = NewCounter(len(f.variables), 0)
		group.Go(func() {
			for from := w * batchRows; from < f.rows; from += workers * batchRows {
				to := min(from+batchRows, f.rows)
				if err := counters[w].Add(to-from, f.part(from, to), nil, nil); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	t, err := Merge(context.Background(), f.variables, f.final, workers, 0, nil, counters...)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

var shapes = map[string][]int{
	"census8": {36, 2, 100, 6, 10, 8, 400, 90},
	"small5":  {91, 2, 7, 17, 5},
	"wide":    {1000000, 1000000, 100000, 100000, 3},
}

func BenchmarkCount(b *testing.B) {
	for name, cards := range shapes {
		f := makeSkewed(1000000, cards...)
		for workers := 1; workers <= 2; workers++ {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f.count(b, workers)
				}
				b.ReportMetric(float64(f.rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	for name, cards := range shapes {
		f := makeSkewed(1000000, cards...)
		t := f.count(b, 2)
		cols := f.part(0, f.rows)
		for v := range cols {
			cols[v].Codes = f.final[v][1:]
		}
		class := make([]int64, f.rows)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := t.Lookup(f.rows, cols, class); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(f.rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkMargin(b *testing.B) {
	f := makeSkewed(1000000, shapes["census8"]...)
	t := f.count(b, 2)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.Margin(context.Background(), 6, 2); err != nil {
			b.Fatal(err)
		}
	}
}
