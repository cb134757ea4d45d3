package contingency

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// drawSpillable is drawMicrodata, or a file in which a few keys have most of the rows.
func drawSpillable(t *rapid.T) microdata {
	m := drawMicrodata(t)
	if rapid.Bool().Draw(t, "as drawn") {
		return m
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "more"), 1))
	few := rapid.IntRange(1, 50).Draw(t, "keys")
	for i := range m.rows {
		if i >= few && r.IntN(10) > 0 {
			m.rows[i] = m.rows[r.IntN(few)]
		}
	}
	return m
}

// within counts m with spills and merges it with little memory, of which as little as least a worker is taken.
func (m microdata) within(t *rapid.T, s *Store, memory, least int64, times, sums bool) *Table {
	often := rapid.IntRange(0, 3).Draw(t, "spills")
	final, counters, err := m.counters(
		rapid.IntRange(1, 30).Draw(t, "batches"),
		rapid.IntRange(1, 3).Draw(t, "counters"),
		times,
		sums,
		func(c *Counter) error {
			if rapid.IntRange(0, 3).Draw(t, "spill") >= often {
				return nil
			}
			return c.Spill(s)
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	table, err := merge(context.Background(), m.variables, final, rapid.IntRange(1, 3).Draw(t, "workers"), memory, least, s, counters)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestSpillAgainstMap(t *testing.T) {
	dir := t.TempDir()
	onDisk := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawSpillable(t)
		s := NewStore(context.Background(), dir)
		defer s.Close()
		times, sums := rapid.Bool().Draw(t, "times"), rapid.Bool().Draw(t, "sums")
		memory := rapid.SampledFrom([]int64{0, 1, 3000, 20000, 100000, 1 << 20}).Draw(t, "memory")
		table := m.within(t, s, memory, rapid.Int64Range(0, 1<<16).Draw(t, "least"), times, sums)
		want, err := m.count(3, 2, 2, times, sums)
		if err != nil {
			t.Fatal(err)
		}
		need := tableBytes(int64(want.classes), &want.layout, len(want.sums), want.counts64 != nil) + indexBytes(int64(want.classes), &want.layout)
		if table.OnDisk() != (memory > 0 && need > memory) {
			t.Fatalf("on disk: %v, with %d bytes for a table of %d", table.OnDisk(), memory, need)
		}
		keys, counts, totals := m.truth(times)
		checkTable(t, table, keys, counts, totals)
		lookupAll(t, table, keys)
		checkMargin(t, m, table, counts, totals)
		if table.OnDisk() {
			onDisk++
			compareTables(t, table, want)
		} else if !slices.Equal(table.keys, want.keys) || !slices.Equal(table.counts32, want.counts32) || !slices.EqualFunc(table.sums, want.sums, slices.Equal[[]fixed]) {
			t.Fatal("not the same table in memory")
		}
		if err := table.Err(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Fatalf("%s is left", left[0].Name())
		}
	})
	if onDisk == 0 {
		t.Error("no table was on disk")
	}
}

// spillable is a file of 20000 rows with hardly any key twice.
func spillable() microdata {
	m := microdata{variables: makeVariables([]int{300, 300, 300})}
	r := rand.New(rand.NewPCG(9, 9))
	for range 20000 {
		m.rows = append(m.rows, []uint32{uint32(r.IntN(301)), uint32(r.IntN(301)), uint32(r.IntN(301))})
		m.times, m.values = append(m.times, 1), append(m.values, 1)
	}
	return m
}

// spilledTable is a table on disk of 20000 rows.
func spilledTable(t *testing.T, s *Store) *Table {
	m := spillable()
	final, counters, err := m.counters(10, 2, false, true, func(c *Counter) error { return c.Spill(s) })
	if err != nil {
		t.Fatal(err)
	}
	table, err := Merge(context.Background(), m.variables, final, 2, 1, s, counters...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestStoreErrors(t *testing.T) {
	m := spillable()
	dir := t.TempDir()
	spillTo := func(s *Store) error {
		_, _, err := m.counters(3, 1, false, false, func(c *Counter) error { return c.Spill(s) })
		return err
	}
	t.Run("no folder", func(t *testing.T) {
		missing := filepath.Join(dir, "no", "such")
		err := spillTo(NewStore(context.Background(), missing))
		if err == nil || err.Error() != "writing temporary data to "+missing+": no such file or directory" || !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		s := NewStore(context.Background(), dir)
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error("closing an empty store:", err)
			}
		}
		if err := spillTo(s); !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	t.Run("disk full", func(t *testing.T) {
		for _, size := range []int64{0, 100000, 400000, 700000, 1000000, 1500000} {
			s := NewStore(context.Background(), dir)
			full := &fullDisk{}
			full.left.Store(size)
			s.open = func() (randomFile, error) {
				f, _, err := s.openFile()
				return &fullFile{f, full}, err
			}
			err := fullRun(m, s)
			if err == nil || err.Error() != "writing temporary data to "+dir+": the disk is full" || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%d bytes: %v", size, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("no store", func(t *testing.T) {
		final, counters, err := m.counters(3, 2, false, false, func(*Counter) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Merge(context.Background(), m.variables, final, 2, 100, nil, counters...); err == nil {
			t.Error("no error")
		}
	})
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// fullRun spills, merges and recodes.
func fullRun(m microdata, s *Store) error {
	final, counters, err := m.counters(4, 2, false, false, func(c *Counter) error { return c.Spill(s) })
	if err != nil {
		return err
	}
	table, err := merge(context.Background(), m.variables, final, 2, 1, 1<<14, s, counters)
	if err != nil {
		return err
	}
	if table.Records() != int64(len(m.rows)) {
		return errors.New("records are lost")
	}
	for range 10 {
		if table, err = table.Recode(m.variables, make([][]uint32, 3)); err != nil {
			return err
		}
	}
	return nil
}

type fullDisk struct{ left atomic.Int64 }

type fullFile struct {
	randomFile
	disk *fullDisk
}

func (f *fullFile) WriteAt(p []byte, at int64) (int, error) {
	if f.disk.left.Add(-int64(len(p))) < 0 {
		return 0, &os.PathError{Op: "write", Path: "somewhere", Err: syscall.ENOSPC}
	}
	return f.randomFile.WriteAt(p, at)
}

func TestMergeStops(t *testing.T) {
	s := NewStore(context.Background(), t.TempDir())
	defer s.Close()
	m := spillable()
	final, counters, err := m.counters(10, 2, false, false, func(c *Counter) error { return c.Spill(s) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Merge(ctx, m.variables, final, 2, 1, s, counters...); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestMergeStaysWithin counts everything that a merge of 6 MB of entries allocates in 2 MB, garbage included.
func TestMergeStaysWithin(t *testing.T) {
	s := NewStore(context.Background(), t.TempDir())
	defer s.Close()
	f := makeSkewed(400000, 36, 2, 100, 6, 10, 8, 400, 90)
	counters := []*Counter{NewCounter(8, 0), NewCounter(8, 0)}
	for from := 0; from < f.rows; from += 50000 {
		c := counters[from/50000%2]
		if err := errors.Join(c.Add(50000, f.part(from, from+50000), nil, nil), c.Spill(s)); err != nil {
			t.Fatal(err)
		}
	}
	const memory = 2 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	table, err := merge(context.Background(), f.variables, f.final, 2, memory, 0, s, counters)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > memory || !table.OnDisk() {
		t.Errorf("%d bytes allocated for %d", used, memory)
	}
	want, err := New(f.variables, codesOf(table), countsOf(table))
	if err != nil {
		t.Fatal(err)
	}
	if want.Classes() != table.Classes() || want.Records() != int64(f.rows) {
		t.Errorf("%d classes of %d records, want %d", table.Classes(), want.Records(), want.Classes())
	}
}

func codesOf(t *Table) [][]uint32 {
	codes := make([][]uint32, len(t.Variables))
	for v := range codes {
		codes[v] = make([]uint32, t.Classes())
		t.Codes(v, 0, codes[v])
	}
	return codes
}

func countsOf(t *Table) []int64 {
	counts := make([]int64, t.Classes())
	for i := range counts {
		counts[i] = t.Count(i)
	}
	return counts
}

// TestManySpills has more entries than partitions can take at once, so that ranges are split again and equal keys added up early.
func TestManySpills(t *testing.T) {
	for name, spread := range map[string]int{"one key": 1, "few keys": 30, "many keys": 70000} {
		t.Run(name, func(t *testing.T) {
			s := NewStore(context.Background(), t.TempDir())
			defer s.Close()
			m := microdata{variables: makeVariables([]int{70000, 3})}
			r := rand.New(rand.NewPCG(6, 6))
			for range 60000 {
				m.rows = append(m.rows, []uint32{uint32(r.IntN(spread)), uint32(r.IntN(min(3, spread)))})
				m.times, m.values = append(m.times, 1), append(m.values, 0.5)
			}
			final, counters, err := m.counters(300, 2, false, true, func(c *Counter) error { return c.Spill(s) })
			if err != nil {
				t.Fatal(err)
			}
			table, err := merge(context.Background(), m.variables, final, 2, 1, 1, s, counters)
			if err != nil {
				t.Fatal(err)
			}
			keys, counts, sums := m.truth(false)
			checkTable(t, table, keys, counts, sums)
			lookupAll(t, table, keys)
			if table.Bytes() > 1<<20 {
				t.Errorf("%d bytes held", table.Bytes())
			}
		})
	}
}
