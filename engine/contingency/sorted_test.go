package contingency

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Keys are in order after any number of digits.
func TestSortKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for bits := uint(1); bits <= 64; bits++ {
		for _, n := range []int{1, 2, 100, 5000} {
			keys := make([]uint64, n)
			for i := range keys {
				if keys[i] = r.Uint64() >> (64 - bits); r.IntN(3) == 0 {
					keys[i] &= 0xff
				}
			}
			want := slices.Sorted(slices.Values(keys))
			require.Equal(t, want, sortKeys(keys, make([]uint64, n), bits), "%d keys of %d bits", n, bits)
		}
	}
}

// many are columns of which most rows have a key of their own, from a domain that grows on the way.
func many(r *rand.Rand, rows int, wide uint32) []Column {
	cols := make([]Column, 3)
	for v := range cols {
		codes, index := make([]uint32, wide), make([]int32, rows)
		for i := range codes {
			codes[i] = uint32(i + 1)
		}
		for i := range index {
			index[i] = int32(r.IntN(int(wide)))
		}
		cols[v] = Column{Codes: codes, Index: index}
	}
	return cols
}

// A counter that has put keys aside and sorted them counts what a map counts: through layouts that grow, batches with multiplicities, spills, and
// whatever the number of counters.
func TestSortedCounters(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	before := sortedKeys
	defer func() { sortedKeys = before }()
	sortedKeys = 1 << 15
	for _, c := range []struct {
		name     string
		batches  []uint32 // categories of each batch
		rows     int
		times    int // every so many batches with multiplicities; 0: never
		spill    int // after every so many batches; 0: never
		counters int
	}{
		{"plain", slices.Repeat([]uint32{500}, 12), 30_000, 0, 0, 1},
		{"two counters", slices.Repeat([]uint32{500}, 12), 30_000, 0, 0, 2},
		{"many runs", slices.Repeat([]uint32{300}, 40), 20_000, 0, 0, 1},
		{"growing", []uint32{300, 300, 300, 300, 900, 900, 900, 5000, 5000, 5000}, 80_000, 0, 0, 1},
		{"multiplicities", slices.Repeat([]uint32{400}, 12), 40_000, 5, 0, 1},
		{"spilled", slices.Repeat([]uint32{500}, 30), 30_000, 0, 8, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(len(c.batches)), 9))
			store := NewStore(context.Background(), t.TempDir())
			defer store.Close()
			counters := make([]*Counter, c.counters)
			for i := range counters {
				counters[i] = NewCounter(3, 0)
			}
			want, records, everSorted := map[[3]uint32]int64{}, int64(0), false
			for b, wide := range c.batches {
				cols := many(r, c.rows, wide)
				var times []int64
				if c.times > 0 && b%c.times == c.times-1 {
					times = make([]int64, c.rows)
					for i := range times {
						times[i] = int64(i % 3)
					}
				}
				for i := range c.rows {
					n := int64(1)
					if times != nil {
						n = times[i]
					}
					if n > 0 {
						want[[3]uint32{cols[0].Codes[cols[0].Index[i]], cols[1].Codes[cols[1].Index[i]], cols[2].Codes[cols[2].Index[i]]}] += n
						records += n
					}
				}
				counter := counters[b%len(counters)]
				require.NoError(t, counter.Add(c.rows, cols, times, nil))
				everSorted = everSorted || counter.sorted != nil
				if c.spill > 0 && b%c.spill == c.spill-1 {
					require.NoError(t, counter.Spill(store))
				}
			}
			require.True(t, everSorted, "the case does not try what it is for")
			widest := slices.Max(c.batches)
			variables, final := make([]Variable, 3), make([][]uint32, 3)
			for v := range variables {
				variables[v] = Variable{Name: string(rune('A' + v)), Categories: make([]string, widest)}
				final[v] = make([]uint32, widest+1)
				final[v][0] = widest
				for k := uint32(1); k <= widest; k++ {
					final[v][k] = widest - k // not in the order of provisional codes
				}
			}
			table, err := Merge(context.Background(), variables, final, 2, 0, store, counters...)
			require.NoError(t, err)
			require.Equal(t, records, table.Records())
			require.Equal(t, len(want), table.Classes())
			for i := range table.Classes() {
				key := [3]uint32{widest - table.Code(i, 0), widest - table.Code(i, 1), widest - table.Code(i, 2)}
				if want[key] != table.Count(i) {
					require.Equal(t, want[key], table.Count(i), "class %d", i)
				}
			}
		})
	}
}
