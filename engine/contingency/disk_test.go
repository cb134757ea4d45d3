package contingency

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// compareTables compares every method of a table on disk with the same table in memory.
func compareTables(t *rapid.T, disk, memory *Table) {
	if disk.Classes() != memory.Classes() || disk.Records() != memory.Records() || disk.Sums() != memory.Sums() {
		t.Fatal("not the same size")
	}
	r := rand.New(rand.NewPCG(3, 3))
	for v := range memory.Variables {
		if !slices.Equal(disk.Observed(v), memory.Observed(v)) {
			t.Fatalf("observed codes of variable %d differ", v)
		}
		for range 5 {
			from := r.IntN(memory.classes + 1)
			got, want := make([]uint32, r.IntN(memory.classes-from+1)), make([]uint32, memory.classes)
			disk.Codes(v, from, got)
			memory.Codes(v, from, want[:len(got)])
			if !slices.Equal(got, want[:len(got)]) {
				t.Fatalf("codes of variable %d from class %d differ", v, from)
			}
		}
	}
	odd := func(i int) bool { return i%2 == 1 }
	for s := range memory.Sums() {
		if disk.SumOver(s, odd) != memory.SumOver(s, odd) || disk.SumOver(s, nil) != memory.SumOver(s, nil) {
			t.Fatal("sums over classes differ")
		}
		for i := range memory.Classes() {
			got, exact := disk.SumModulo(i, s)
			if want, is := memory.SumModulo(i, s); got != want || exact != is {
				t.Fatal("sums modulo 2^64 differ")
			}
		}
	}
	compareRecoded(t, disk, memory)
}

// compareRecoded takes unobserved categories out of both tables.
func compareRecoded(t *rapid.T, disk, memory *Table) {
	variables, codes := slices.Clone(memory.Variables), make([][]uint32, len(memory.Variables))
	for v := range variables {
		if v%3 == 2 {
			continue
		}
		used := memory.Observed(v)
		var kept []string
		codes[v] = slices.Repeat([]uint32{1<<32 - 1}, len(used))
		for c, category := range variables[v].Categories {
			if used[c] {
				codes[v][c] = uint32(len(kept))
				kept = append(kept, category)
			}
		}
		codes[v][len(used)-1] = uint32(len(kept))
		variables[v].Categories = kept
	}
	got, err := disk.Recode(variables, codes)
	if err != nil {
		t.Fatal(err)
	}
	want, err := memory.Recode(variables, codes)
	if err != nil {
		t.Fatal(err)
	}
	for v := range variables {
		for i := range want.Classes() {
			if got.Code(i, v) != want.Code(i, v) {
				t.Fatalf("recoded: class %d differs on variable %d", i, v)
			}
		}
	}
	compareLookups(t, got, want)
	compareLookups(t, disk, memory)
}

// compareLookups resolves blocks of rows, some of them in no class, and looks the same rows up in memory.
func compareLookups(t *rapid.T, disk, memory *Table) {
	b := disk.NewBlock()
	r := rand.New(rand.NewPCG(4, 4))
	for range 2 {
		var want []int64
		for range r.IntN(4) {
			rows := r.IntN(400)
			cols := make([]Column, len(memory.Variables))
			for range rows {
				i := 0
				if memory.classes > 0 {
					i = r.IntN(memory.classes)
				}
				for v := range cols {
					code := uint32(r.IntN(int(memory.Variables[v].Missing()) + 2))
					if memory.classes > 0 && r.IntN(30) > 0 {
						code = memory.Code(i, v)
					}
					cols[v].Index = append(cols[v].Index, int32(len(cols[v].Codes)))
					cols[v].Codes = append(cols[v].Codes, code)
				}
			}
			class := make([]int64, rows)
			if err := memory.Lookup(rows, cols, class); err != nil {
				t.Fatal(err)
			}
			want = append(want, class...)
			if err := b.Add(rows, cols); err != nil {
				t.Fatal(err)
			}
		}
		if b.Rows() != len(want) {
			t.Fatalf("%d rows in the block, want %d", b.Rows(), len(want))
		}
		got, count := make([]int64, len(want)), make([]int64, len(want))
		if err := b.Resolve(got, count); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) || b.Rows() != 0 {
			t.Fatal("a block finds other classes than a lookup")
		}
		for r, i := range got {
			if i >= 0 && count[r] != memory.Count(int(i)) || i < 0 && count[r] != 0 {
				t.Fatalf("row %d of class %d: count %d", r, i, count[r])
			}
		}
	}
}

func TestClosedTable(t *testing.T) {
	dir := t.TempDir()
	s := NewStore(context.Background(), dir)
	table := spilledTable(t, s)
	if !table.OnDisk() || s.Bytes() == 0 || table.Bytes() > 1<<16 {
		t.Fatalf("on disk %v, %d bytes written, %d held", table.OnDisk(), s.Bytes(), table.Bytes())
	}
	if left, _ := os.ReadDir(dir); runtime.GOOS == "linux" && len(left) > 0 {
		t.Errorf("%s would be left after a kill", left[0].Name())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	cols := []Column{{Index: []int32{0}, Codes: []uint32{1}}, {Index: []int32{0}, Codes: []uint32{1}}, {Index: []int32{0}, Codes: []uint32{1}}}
	b := table.NewBlock()
	if err := b.Add(1, cols); err != nil {
		t.Fatal(err)
	}
	_, margin := table.Margin(context.Background(), 0)
	_, recode := table.Recode(table.Variables, make([][]uint32, 3))
	if err := table.Lookup(1, cols, make([]int64, 1)); !errors.Is(err, errLookup) {
		t.Errorf("Lookup: %v", err)
	}
	for name, err := range map[string]error{
		"Resolve": b.Resolve(make([]int64, 1), make([]int64, 1)), "Margin": margin, "Recode": recode,
	} {
		if !errors.Is(err, os.ErrClosed) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, read := range map[string]func(t *Table){
		"Count": func(t *Table) { t.Count(5) }, "Code": func(t *Table) { t.Code(5, 1) }, "Sum": func(t *Table) { t.Sum(5, 0) },
		"SumOver": func(t *Table) { t.SumOver(0, nil) }, "Observed": func(t *Table) { t.Observed(0) },
	} {
		fresh := &Table{Variables: table.Variables, layout: table.layout, classes: table.classes, sums: table.sums,
			disk: &disk{keys: table.disk.keys, counts: table.disk.counts, sums: table.disk.sums}}
		read(fresh)
		if !errors.Is(fresh.Err(), os.ErrClosed) {
			t.Errorf("%s: %v", name, fresh.Err())
		}
	}
}

// TestConcurrentReaders reads a table on disk from several goroutines.
func TestConcurrentReaders(t *testing.T) {
	s := NewStore(context.Background(), t.TempDir())
	defer s.Close()
	table := spilledTable(t, s)
	var records [4]int64
	done := make(chan bool)
	for w := range records {
		go func() {
			codes := make([]uint32, table.Classes())
			table.Codes(w%3, 0, codes)
			for i := range table.Classes() {
				records[w] += table.Count((i*(w+1) + w) % table.Classes())
			}
			done <- table.Observed(w % 3)[0]
		}()
	}
	for range records {
		<-done
	}
	if table.Err() != nil || records[0] != table.Records() {
		t.Errorf("%v, %d records", table.Err(), records[0])
	}
}
