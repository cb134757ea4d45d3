package recoding

import (
	"math"
	"slices"
)

// A Class of a release: its records, and how often each sensitive value is among them.
type Class struct {
	Records int64
	Values  []Share // none where the lattice has no sensitive values
}

// A Share is a sensitive value of a class.
type Share struct {
	Value   uint32
	Records int64
}

// An Outcome is what the release of a node is like.
type Outcome struct {
	Node       Node
	Records    int64   // kept
	Suppressed int64   // records of classes that are not safe
	Classes    int64   // kept
	Uniques    int64   // kept classes of one record
	Doubles    int64   // kept classes of two
	Squares    float64 // sum of the squared sizes of kept classes
	Inverse    float64 // sum of 1/f over the records of kept classes: the classes
	Largest    int64   // records of the largest kept class

	kept [][]int64 // what shown told
	safe func(Class) bool
}

// Outcome is what the release of a node is like if classes that are not safe are suppressed; a nil safe keeps all.
func (l *Lattice) Outcome(n Node, safe func(Class) bool) (*Outcome, error) {
	t, err := l.table(n)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Node: slices.Clone(n), safe: safe}
	l.classes(t, func(_ []uint64, c Class) bool {
		f := c.Records
		if safe != nil && !safe(c) {
			o.Suppressed += f
			return true
		}
		o.Records += f
		o.Classes++
		o.Squares += float64(f) * float64(f)
		o.Largest = max(o.Largest, f)
		switch f {
		case 1:
			o.Uniques++
		case 2:
			o.Doubles++
		}
		return true
	})
	o.Inverse = float64(o.Classes)
	return o, nil
}

// shown are the records of each group that are kept, by variable; nil where none is suppressed.
func (l *Lattice) shown(o *Outcome) [][]int64 {
	if o.Suppressed == 0 || o.kept != nil {
		return o.kept
	}
	t, err := l.table(o.Node)
	if err != nil { // it was made for the outcome
		return nil
	}
	for v, level := range o.Node {
		o.kept = append(o.kept, slices.Clone(l.sums[v][level]))
	}
	l.classes(t, func(key []uint64, c Class) bool {
		if !o.safe(c) {
			for v := range o.Node {
				f := l.fields[v]
				o.kept[v][key[f.word]>>f.shift&f.mask] -= c.Records
			}
		}
		return true
	})
	return o.kept
}

// eachRow goes through the classes of a table without sensitive values.
func (l *Lattice) eachRow(t *table, take func(key []uint64, c Class) bool) {
	for i, f := range t.counts {
		if !take(t.keys[i*l.words:(i+1)*l.words], Class{Records: f}) {
			return
		}
	}
}

// eachClass goes through the classes of a table whose rows differ by sensitive values, too; take must not keep the values.
func (l *Lattice) eachClass(t *table, take func(key []uint64, c Class) bool) {
	f := l.fields[len(l.Variables)]
	rows := len(t.counts)
	m := newMerger(l.words, rows)
	of := make([]int32, rows) // class of each row
	key := make([]uint64, l.words)
	for i, n := range t.counts {
		copy(key, t.keys[i*l.words:])
		key[f.word] &^= f.mask << f.shift
		of[i] = m.add(key, n)
	}
	from := make([]int32, len(m.counts)+1)
	for _, c := range of {
		from[c+1]++
	}
	for c := range m.counts {
		from[c+1] += from[c]
	}
	shares := make([]Share, rows)
	next := slices.Clone(from)
	for i, c := range of {
		shares[next[c]] = Share{uint32(t.keys[i*l.words+f.word] >> f.shift & f.mask), t.counts[i]}
		next[c]++
	}
	for c, n := range m.counts {
		values := shares[from[c]:from[c+1]]
		slices.SortFunc(values, func(a, b Share) int { return int(a.Value) - int(b.Value) })
		if !take(m.keys[c*l.words:(c+1)*l.words], Class{n, values}) {
			return
		}
	}
}

// Each goes through the kept classes of an outcome: the group of each variable, which must not be kept, and the records.
func (l *Lattice) Each(o *Outcome, take func(groups []uint32, records int64)) error {
	return l.Until(o, func(groups []uint32, records int64) bool {
		take(groups, records)
		return true
	})
}

// Until is Each, as long as take wants more.
func (l *Lattice) Until(o *Outcome, take func(groups []uint32, records int64) bool) error {
	t, err := l.table(o.Node)
	if err != nil {
		return err
	}
	groups := make([]uint32, len(l.Variables))
	l.classes(t, func(key []uint64, c Class) bool {
		if o.safe != nil && !o.safe(c) {
			return true
		}
		l.groups(key, groups)
		return take(groups, c.Records)
	})
	return nil
}

// groups are those of a packed key.
func (l *Lattice) groups(key []uint64, to []uint32) {
	for v := range to {
		f := l.fields[v]
		to[v] = uint32(key[f.word] >> f.shift & f.mask)
	}
}

// classes goes through the classes of a table, until take has enough.
func (l *Lattice) classes(t *table, take func(key []uint64, c Class) bool) {
	if l.levels > 0 {
		l.eachClass(t, take)
		return
	}
	l.eachRow(t, take)
}

// Unsafe are the classes of a node that are not safe: the group of each variable.
func (l *Lattice) Unsafe(n Node, safe func(Class) bool) (classes [][]uint32, err error) {
	t, err := l.table(n)
	if err != nil || safe == nil {
		return nil, err
	}
	l.classes(t, func(key []uint64, c Class) bool {
		if !safe(c) {
			groups := make([]uint32, len(n))
			l.groups(key, groups)
			classes = append(classes, groups)
		}
		return true
	})
	slices.SortFunc(classes, slices.Compare[[]uint32])
	return classes, nil
}

// xlog2 is x log2(x/y), 0 for no x.
func xlog2(x, y int64) float64 {
	if x == 0 {
		return 0
	}
	return float64(x) * math.Log2(float64(x)/float64(y))
}
