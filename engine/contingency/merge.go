package contingency

import (
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Merge makes one table of all counters. final[v][p] is the final code of variable v's provisional code p; final[v][0] must be
// variables[v].Missing(). Several provisional codes may have the same final code. The table is the same, to the byte, however
// the rows were split over counters, and whatever the number of workers (goroutines; 0 means GOMAXPROCS). The counters are
// used up.
func Merge(variables []Variable, final [][]uint32, workers int, counters ...*Counter) (*Table, error) {
	l, err := layoutOf(variables)
	if err != nil {
		return nil, err
	}
	if err := checkFinal(variables, final); err != nil {
		return nil, err
	}
	sums := 0
	var records int64
	var jobs []*run
	for i, c := range counters {
		if c.variables != len(variables) {
			return nil, fmt.Errorf("contingency: a counter of %d key variables for a table of %d", c.variables, len(variables))
		}
		if i == 0 {
			sums = c.sums
		}
		if c.sums != sums {
			return nil, fmt.Errorf("contingency: counters with %d and %d sums", sums, c.sums)
		}
		if records > math.MaxInt64-c.records {
			return nil, errRecords
		}
		records += c.records
		jobs = append(jobs, c.release()...)
	}
	shifted := make([][]uint64, len(variables))
	for v := range final {
		shifted[v] = make([]uint64, len(final[v]))
		for p, code := range final[v] {
			shifted[v][p] = uint64(code) << l.fields[v].shift
		}
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var g errgroup.Group
	g.SetLimit(workers)
	slabs := make([][]uint64, len(jobs))
	for i, r := range jobs {
		g.Go(func() (err error) {
			slabs[i], err = r.translate(&l, shifted)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return assemble(variables, l, sums, workers, slabs)
}

func checkFinal(variables []Variable, final [][]uint32) error {
	if len(final) != len(variables) {
		return fmt.Errorf("contingency: final codes of %d variables for a table of %d", len(final), len(variables))
	}
	for v := range final {
		if len(final[v]) > 0 && final[v][0] != variables[v].Missing() {
			return fmt.Errorf("contingency: final code of missing on variable %q is %d, must be %d", variables[v].Name, final[v][0], variables[v].Missing())
		}
		for p, code := range final[v] {
			if code > variables[v].Missing() {
				return fmt.Errorf("contingency: final code %d of provisional code %d on variable %q is beyond its %d categories", code, p, variables[v].Name, len(variables[v].Categories))
			}
		}
	}
	return nil
}

// A run is a piece of a counter's table: slots of words+values words, or, when dense, of values words for keys from first on.
type run struct {
	layout layout
	slots  []uint64
	words  int // 0 when dense
	values int
	first  uint64
}

// release hands a counter's table over in pieces.
func (c *Counter) release() []*run {
	values := 1 + 2*c.sums
	var runs []*run
	if c.dense != nil {
		const piece = 1 << 14
		for at := 0; at < len(c.dense); at += piece * values {
			end := min(at+piece*values, len(c.dense))
			runs = append(runs, &run{layout: c.layout, slots: c.dense[at:end], values: values, first: uint64(at / values)})
		}
	}
	for p := range c.table.part {
		if slots := c.table.part[p].slots; slots != nil {
			runs = append(runs, &run{layout: c.layout, slots: slots, words: c.table.words, values: values})
		}
	}
	*c = Counter{variables: c.variables, sums: c.sums}
	return runs
}

// translate turns the used slots of a run into entries of final keys, in place when they fit.
func (r *run) translate(l *layout, shifted [][]uint64) ([]uint64, error) {
	slot := r.words + r.values
	stride := l.words + r.values
	var out []uint64
	if stride <= slot {
		out = r.slots[:0]
	} else {
		n := 0
		for at := r.words; at < len(r.slots); at += slot {
			if r.slots[at] != 0 {
				n++
			}
		}
		out = make([]uint64, 0, n*stride)
	}
	key := make([]uint64, max(1, r.words))
	for at := 0; at < len(r.slots); at += slot {
		if r.slots[at+r.words] == 0 {
			continue
		}
		if r.words == 0 {
			key[0] = r.first + uint64(at/slot)
		} else {
			copy(key, r.slots[at:at+r.words])
		}
		// Writing never overtakes reading: an entry is no longer than a slot, and the values move first.
		end := len(out) + stride
		out = out[:end]
		copy(out[end-r.values:], r.slots[at+r.words:at+slot])
		entry := out[end-stride : end-r.values]
		clear(entry)
		for v := range l.fields {
			code := r.layout.code(key, v)
			if int(code) >= len(shifted[v]) {
				return nil, fmt.Errorf("contingency: provisional code %d of variable %d has no final code", code, v)
			}
			entry[l.fields[v].word] |= shifted[v][code]
		}
	}
	return out, nil
}
