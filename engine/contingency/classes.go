package contingency

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A classWriter appends sorted classes to the files of a table.
type classWriter struct {
	disk    *disk
	words   int
	sums    int
	classes int
	records int64
	most    uint64 // largest count
}

// newClassWriter makes the files of a table. Counts have 4 bytes where no class can have more records.
func newClassWriter(m *merger) (*classWriter, error) {
	w := &classWriter{disk: &disk{}, words: m.layout.words, sums: m.sums}
	width := 4
	if m.records > math.MaxUint32 {
		width = 8
	}
	var err error
	if w.disk.keys, err = m.store.column(8 * w.words); err != nil {
		return nil, err
	}
	if w.disk.counts, err = m.store.column(width); err != nil {
		return nil, err
	}
	if w.sums > 0 {
		w.disk.sums, err = m.store.column(16 * w.sums)
	}
	return w, err
}

func (s *Store) column(width int) (*column, error) {
	f, err := s.create()
	if err != nil {
		return nil, err
	}
	return &column{file: f, width: width}, nil
}

func (c *column) append(p []byte) error { return c.file.write(p, c.file.reserve(len(p))) }

// append writes classes through room, which is as long as entries.
func (w *classWriter) append(entries, room []uint64) error {
	stride := w.words + 1 + 2*w.sums
	n := len(entries) / stride
	if n == 0 {
		return nil
	}
	keys, counts, sums := room[:n*w.words], room[n*w.words:n*(w.words+1)], room[n*(w.words+1):n*stride]
	narrow := bytesOf(counts)[:n*w.disk.counts.width]
	for i := range n {
		entry := entries[i*stride : (i+1)*stride]
		copy(keys[i*w.words:], entry[:w.words])
		count := entry[w.words]
		w.records += int64(count)
		w.most = max(w.most, count)
		if w.disk.counts.width == 4 {
			binary.NativeEndian.PutUint32(narrow[4*i:], uint32(count))
		} else {
			counts[i] = count
		}
		copy(sums[i*2*w.sums:], entry[w.words+1:])
		if (w.classes+i)%fenceClasses == 0 {
			w.disk.fences = append(w.disk.fences, entry[:w.words]...)
		}
	}
	w.classes += n
	if err := w.disk.keys.append(bytesOf(keys)); err != nil {
		return err
	}
	if err := w.disk.counts.append(narrow); err != nil {
		return err
	}
	if w.sums > 0 {
		return w.disk.sums.append(bytesOf(sums))
	}
	return nil
}

// table is the table of what was written, in memory if it and its index fit.
func (w *classWriter) table(m *merger) (*Table, error) {
	if w.records != m.records {
		return nil, fmt.Errorf("contingency: %d records came back from %s, %d were counted", w.records, m.store.dir, m.records)
	}
	d := w.disk
	d.keys.classes, d.counts.classes = w.classes, w.classes
	if d.sums != nil {
		d.sums.classes = w.classes
	}
	t := &Table{Variables: m.variables, layout: m.layout, classes: w.classes, records: w.records, workers: m.workers, sums: make([][]fixed, w.sums), disk: d}
	bytes := tableBytes(int64(w.classes), &m.layout, w.sums, w.most > math.MaxUint32) + indexBytes(int64(w.classes), &m.layout)
	if m.memory > 0 && bytes > m.memory {
		return t, nil
	}
	return t.load(w.most > math.MaxUint32)
}

// load brings a table from disk to memory and drops its files.
func (t *Table) load(wide bool) (*Table, error) {
	r := &Table{Variables: t.Variables, layout: t.layout, classes: t.classes, records: t.records, workers: t.workers, sums: make([][]fixed, len(t.sums))}
	r.keys = make([]uint64, t.classes*t.layout.words)
	if wide {
		r.counts64 = make([]int64, t.classes)
	} else {
		r.counts32 = make([]uint32, t.classes)
	}
	for s := range r.sums {
		r.sums[s] = make([]fixed, t.classes)
	}
	if err := t.disk.keys.read(bytesOf(r.keys), 0); err != nil {
		return nil, err
	}
	err := t.scan(scanCounts|scanSums, func(c *chunk) error {
		for i := range c.n {
			if wide {
				r.counts64[c.from+i] = c.count(i)
			} else {
				r.counts32[c.from+i] = uint32(c.count(i))
			}
			for s := range r.sums {
				r.sums[s][c.from+i] = c.sum(i, s)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, t.disk.drop()
}

func (d *disk) drop() error {
	for _, c := range []*column{d.keys, d.counts, d.sums} {
		if c == nil {
			continue
		}
		if err := c.file.drop(); err != nil {
			return err
		}
	}
	return nil
}

// tableBytes is what a table in memory holds.
func tableBytes(classes int64, l *layout, sums int, wide bool) int64 {
	bytes := int64(8*l.words + 4 + 16*sums)
	if wide {
		bytes += 4
	}
	return classes * bytes
}
