package contingency

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// countWithin counts with two counters that spill when they pass a quarter of memory, and merges in half of it.
func (f skewedFile) countWithin(b *testing.B, memory int64, s *Store) *Table {
	const workers = 2
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
				if memory > 0 && counters[w].Bytes() > memory/2/workers {
					if err := counters[w].Spill(s); err != nil {
						b.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	t, err := Merge(context.Background(), f.variables, f.final, workers, memory/2, s, counters...)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// BenchmarkSpill counts four million rows, nearly all of them unique, in less and less memory.
func BenchmarkSpill(b *testing.B) {
	f := makeSkewed(4000000, 36, 2, 100, 6, 10, 8, 400, 90)
	for _, mb := range []int64{0, 128, 64, 32, 16} {
		b.Run(fmt.Sprintf("memory=%dMB", mb), func(b *testing.B) {
			b.ReportAllocs()
			var spilled int64
			for b.Loop() {
				s := NewStore(context.Background(), b.TempDir())
				f.countWithin(b, mb<<20, s)
				spilled = s.Bytes()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(spilled)/1e6, "MB-spilled")
		})
	}
}

// BenchmarkResolve looks blocks of rows up in a table of two million classes on disk.
func BenchmarkResolve(b *testing.B) {
	f := makeSkewed(4000000, 36, 2, 100, 6, 10, 8, 400, 90)
	s := NewStore(context.Background(), b.TempDir())
	defer s.Close()
	t := f.countWithin(b, 16<<20, s)
	if !t.OnDisk() {
		b.Fatal("the table is in memory")
	}
	for v := range f.columns {
		f.columns[v].Codes = f.final[v][1:]
	}
	for _, rows := range []int{1000, 100000, 1000000, 4000000} {
		b.Run(fmt.Sprintf("rows=%d/classes=%d", rows, t.Classes()), func(b *testing.B) {
			b.ReportAllocs()
			block := t.NewBlock()
			class, count := make([]int64, rows), make([]int64, rows)
			for b.Loop() {
				for from := 0; from < rows; from += batchRows {
					to := min(from+batchRows, rows)
					if err := block.Add(to-from, f.part(from, to)); err != nil {
						b.Fatal(err)
					}
				}
				if err := block.Resolve(class, count); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
