package contingency

import (
	"context"
	"fmt"
	"math"
)

// A builder makes a table of classes that come in their order: in memory, or in the files of a store.
type builder struct {
	t       *Table
	most    uint64
	counts  []int64
	writer  *classWriter // nil in memory
	merger  *merger
	entries []uint64 // not yet written
	room    []uint64
}

// builderEntries is the number of classes written to a store at a time.
const builderEntries = 4096

func newBuilder(variables []Variable, l layout, sums, workers int) *builder {
	return &builder{t: &Table{Variables: variables, layout: l, workers: workers, sums: make([][]fixed, sums)}}
}

// within has the table go to a store if so many classes of so many records, with their index, may not fit in memory bytes (0: no
// limit).
func (b *builder) within(ctx context.Context, classes, records, memory int64, s *Store) error {
	needs := tableBytes(classes, &b.t.layout, len(b.t.sums), records > math.MaxUint32) + indexBytes(classes, &b.t.layout)
	if memory <= 0 || needs <= memory {
		return nil
	}
	if s == nil {
		return fmt.Errorf("contingency: a table that may not fit in %d bytes needs a store", memory)
	}
	b.merger = &merger{
		ctx:       ctx,
		variables: b.t.Variables,
		layout:    b.t.layout,
		sums:      len(b.t.sums),
		workers:   b.t.workers,
		memory:    memory,
		store:     s,
		records:   records,
	}
	var err error
	b.writer, err = newClassWriter(b.merger)
	return err
}

// add takes the next class: key, count, sums. Its key must be above the last one.
func (b *builder) add(entry []uint64) error {
	t, w := b.t, b.t.layout.words
	n := int64(entry[w])
	if n <= 0 || t.records > math.MaxInt64-n {
		return errRecords
	}
	t.records += n
	b.most = max(b.most, entry[w])
	t.classes++
	if b.writer != nil {
		b.entries = append(b.entries, entry...)
		if len(b.entries) == builderEntries*len(entry) {
			return b.flush()
		}
		return nil
	}
	t.keys = append(t.keys, entry[:w]...)
	b.counts = append(b.counts, n)
	for s := range t.sums {
		t.sums[s] = append(t.sums[s], fixed{entry[w+1+2*s], entry[w+2+2*s]})
	}
	return nil
}

func (b *builder) flush() error {
	if len(b.room) < len(b.entries) {
		b.room = make([]uint64, len(b.entries))
	}
	err := b.writer.append(b.entries, b.room[:len(b.entries)])
	b.entries = b.entries[:0]
	return err
}

// table is what was added.
func (b *builder) table() (*Table, error) {
	t := b.t
	if b.writer != nil {
		if err := b.flush(); err != nil {
			return nil, err
		}
		b.merger.records = t.records
		return b.writer.table(b.merger)
	}
	if b.most > math.MaxUint32 {
		t.counts64 = b.counts
		return t, nil
	}
	t.counts32 = make([]uint32, len(b.counts))
	for i, n := range b.counts {
		t.counts32[i] = uint32(n)
	}
	return t, nil
}
