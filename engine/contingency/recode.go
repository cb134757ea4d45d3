package contingency

import (
	"errors"
	"fmt"
	"slices"
)

// Observed tells for each code of variable v, the missing one last, whether a record has it.
func (t *Table) Observed(v int) []bool {
	if t.disk != nil {
		return t.disk.observed(t, v)
	}
	used := make([]bool, t.Variables[v].Missing()+1)
	codes := make([]uint32, min(t.classes, chunkRows))
	for from := 0; from < t.classes; from += len(codes) {
		n := min(len(codes), t.classes-from)
		t.Codes(v, from, codes[:n])
		for _, c := range codes[:n] {
			used[c] = true
		}
	}
	return used
}

// observed is Observed on disk: all variables are read together, once.
func (d *disk) observed(t *Table, v int) []bool {
	d.once.Do(func() {
		used := make([][]bool, len(t.Variables))
		for v := range used {
			used[v] = make([]bool, t.Variables[v].Missing()+1)
		}
		d.used = used
		err := t.scan(scanKeys, func(c *chunk) error {
			for v, f := range t.layout.fields {
				used := used[v]
				for at := f.word; at < len(c.keys); at += t.layout.words {
					used[c.keys[at]>>f.shift&f.mask()] = true
				}
			}
			return nil
		})
		if err != nil {
			d.fail(err)
		}
	})
	return slices.Clone(d.used[v])
}

// Recode is the same table with other codes: code c of variable v becomes codes[v][c] (nil: stays as it is). New codes must keep
// the order of those observed, so that classes keep their order; in memory they are not checked beyond the range of the new variables. A
// table on disk gets a new file of keys in the same store; the old one stays there for the old table.
func (t *Table) Recode(variables []Variable, codes [][]uint32) (*Table, error) {
	l, err := layoutOf(variables)
	if err != nil {
		return nil, err
	}
	if len(variables) != len(t.Variables) || len(codes) != len(variables) {
		return nil, fmt.Errorf("contingency: recoding %d variables of a table of %d", len(variables), len(t.Variables))
	}
	if t.disk != nil {
		return t.recodeOnDisk(variables, l, codes)
	}
	r := &Table{Variables: variables, layout: l, classes: t.classes, records: t.records, workers: t.workers, keys: make([]uint64, t.classes*l.words),
		counts32: t.counts32, counts64: t.counts64, sums: t.sums}
	for v := range variables {
		from, to := t.layout.fields[v], l.fields[v]
		for i := range t.classes {
			c := uint32(t.keys[i*t.layout.words+from.word] >> from.shift & from.mask())
			if codes[v] != nil {
				c = codes[v][c]
			}
			if c > variables[v].Missing() {
				return nil, fmt.Errorf(
					"contingency: code %d of class %d is beyond the %d categories of variable %q",
					c,
					i,
					len(variables[v].Categories),
					variables[v].Name,
				)
			}
			r.keys[i*l.words+to.word] |= uint64(c) << to.shift
		}
	}
	return r, nil
}

func (t *Table) recodeOnDisk(variables []Variable, l layout, codes [][]uint32) (*Table, error) {
	keys, err := t.disk.keys.file.store.column(8 * l.words)
	if err != nil {
		return nil, err
	}
	keys.classes = t.classes
	d := &disk{keys: keys, counts: t.disk.counts, sums: t.disk.sums}
	translator := newTranslator(&t.layout, &l, t.shiftRecoded(variables, &l, codes))
	var out []uint64
	last := make([]uint64, l.words)
	err = t.scan(scanKeys, func(c *chunk) error {
		if out == nil { // the first chunk is the largest
			out = make([]uint64, c.n*l.words)
		}
		for i := range c.n {
			old, key := c.keys[i*t.layout.words:(i+1)*t.layout.words], out[i*l.words:(i+1)*l.words]
			if err := translator.key(old, key); err != nil {
				return fmt.Errorf("contingency: recoding class %d: %w", c.from+i, err)
			}
			if c.from+i > 0 && slices.Compare(last, key) >= 0 {
				return fmt.Errorf("contingency: recoding class %d: the new codes do not keep the order of classes", c.from+i)
			}
			if (c.from+i)%fenceClasses == 0 {
				d.fences = append(d.fences, key...)
			}
			copy(last, key)
		}
		return keys.append(bytesOf(out[:c.n*l.words]))
	})
	if err != nil {
		return nil, errors.Join(err, keys.file.drop())
	}
	return &Table{Variables: variables, layout: l, classes: t.classes, records: t.records, workers: t.workers, sums: t.sums, disk: d}, nil
}

// shiftRecoded is the new codes in their place, noCode for those out of range.
func (t *Table) shiftRecoded(variables []Variable, l *layout, codes [][]uint32) [][]uint64 {
	shifted := make([][]uint64, len(variables))
	for v := range variables {
		shifted[v] = make([]uint64, t.Variables[v].Missing()+1)
		for c := range shifted[v] {
			code := uint32(c)
			if codes[v] != nil {
				code = codes[v][c]
			}
			shifted[v][c] = noCode
			if code <= variables[v].Missing() {
				shifted[v][c] = uint64(code) << l.fields[v].shift
			}
		}
	}
	return shifted
}
