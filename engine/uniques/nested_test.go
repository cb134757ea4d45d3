package uniques

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"microrisk/engine/budget"
)

// TestNestedIsBrute compares the nested search with the definition, on small files.
func TestNestedIsBrute(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFile(rt, 8)
		o := drawOptions(rt, len(f.cards))
		o.direction, o.lattice = nested, rapid.SampledFrom([]int{0, 1, 3, 10}).Draw(rt, "lattice")
		table := f.table(t)
		r, err := Search(context.Background(), table, o)
		if err != nil {
			rt.Fatal(err)
		}
		checkAgainstBrute(rt, f, f.classes(t, table), r, o)
	})
}

// TestNestedIsUpwards compares the nested search with the upward one on files that are large enough for blocks within blocks.
func TestNestedIsUpwards(t *testing.T) {
	skew := func(rows int, cards ...int) file {
		f := randomFile(rows, cards...)
		for _, row := range f.rows {
			for v := range row {
				row[v] = row[v] * (row[v] + 1) / uint32(cards[v]+1)
				row[v] %= uint32(cards[v] + 1)
			}
		}
		return f
	}
	part := 1
	if testing.Short() {
		part = 10
	}
	for name, f := range map[string]file{
		"even":       randomFile(20000/part, 3, 50, 7, 40, 2, 5),
		"skewed":     skew(30000/part, 3, 50, 7, 90, 4, 9),
		"many keys":  skew(6000/part, 3, 5, 7, 9, 4, 9, 2, 2, 3, 3, 4, 5),
		"a constant": skew(6000/part, 1, 5, 700, 9, 4, 9),
		"few values": randomFile(20000/part, 2, 3, 2, 3, 2, 3, 2, 3),
	} {
		t.Run(name, func(t *testing.T) {
			table := f.table(t)
			for _, o := range []Options{
				{}, {Threshold: 3}, {MaxSize: 3, Score: LatticeLimited}, {Threshold: 2, MaxSize: 4},
				{Policies: slices.Repeat([]Policy{Ignore}, len(f.cards)), Threshold: 2}, {Policies: slices.Repeat([]Policy{Drop, Ignore}, len(f.cards)/2)},
			} {
				o.Contributions, o.MSUs, o.direction = true, true, upwards
				want := search(t, table, o)
				o.direction = nested
				for _, o.Workers = range []int{1, 3} {
					o.lattice = 100 * (o.Workers - 1) // 0 for the usual
					got := search(t, table, o)
					if !sameBits(want, got) {
						t.Errorf("%+v: another result: %v MSUs by size, upwards %v", o, got.BySize, want.BySize)
					}
				}
			}
		})
	}
}

// TestNestedKeepsMemory has limits under which the nested search gives up and another takes its place, or that are refused.
func TestNestedKeepsMemory(t *testing.T) {
	table := randomFile(3000, 30, 5, 20, 7, 9).table(t)
	for _, lists := range []bool{false, true} {
		want := search(t, table, Options{MSUs: lists, direction: upwards})
		done := 0
		for memory := int64(1 << 12); memory <= 1<<26; memory += memory / 4 {
			got, err := Search(context.Background(), table, Options{MSUs: lists, direction: nested, Memory: memory, Workers: 2})
			var short *budget.MemoryError
			switch {
			case errors.As(err, &short):
				if done > 0 {
					t.Errorf("%d bytes are refused, though less was enough", memory)
				}
			case err != nil:
				t.Fatal(err)
			default:
				done++
				if !sameBits(want, got) {
					t.Errorf("%d bytes: another result", memory)
				}
			}
		}
		if done == 0 {
			t.Error("all is refused")
		}
	}
}

func TestNestedStops(t *testing.T) {
	table := randomFile(60000, 90, 7, 5, 7, 6, 9, 8, 7, 4, 3, 3, 3).table(t)
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err := Search(ctx, table, Options{Workers: 2, direction: nested, Progress: func(done, total int64) {
		if calls++; calls == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
	last := int64(0)
	search(t, randomFile(2000, 2, 3, 4, 5, 2).table(t), Options{Workers: 3, direction: nested, Progress: func(done, total int64) {
		if done < last || done > total || total != 31 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}})
	if last != 31 {
		t.Errorf("ended at %d", last)
	}
}
