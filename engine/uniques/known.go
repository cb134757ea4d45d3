package uniques

// A listing has sets for each of some entries, one after the other: those of entry i are sets[end[i-1]:end[i]].
type listing struct {
	end  []uint32
	sets []uint32
}

func (l *listing) reset() { l.end, l.sets = l.end[:0], l.sets[:0] }

// of is the sets of one entry.
func (l *listing) of(i int) []uint32 {
	if i >= len(l.end) { // no entry has any
		return nil
	}
	from := uint32(0)
	if i > 0 {
		from = l.end[i-1]
	}
	return l.sets[from:l.end[i]]
}

// close ends the sets of an entry.
func (l *listing) close() { l.end = append(l.end, uint32(len(l.sets))) }

// A source has the minimal sets of the view below for the entries of a view; none in the zero value.
type source struct {
	list *listing // by entry of the view below or, if own says so, by entry of the view from a block's first on
	own  bool
	from int
}

// of is the sets of the entry that an entry of the view above stands for.
func (s *source) of(above *view, x int) []uint32 {
	switch {
	case s.list == nil:
		return nil
	case s.own:
		return s.list.of(x - s.from)
	}
	return s.list.of(int(above.up[x]))
}

// A known has what is known of some entries before they are searched: sets that are minimal, or too large to be.
type known struct {
	v     *view
	a     int      // entry of v that is number 0 here
	first uint32   // the variable that the block is equal in, 0 where the entries are no block
	given *listing // what the first view was given; may be nil
	lower source   // of the view below v
}

// of appends what is known of an entry.
func (o *known) of(k int64, i int, to []uint32) []uint32 {
	x := o.a + i
	if int64(o.v.weight[x]) > k {
		return to
	}
	if o.given != nil {
		before := uint32(1)<<o.v.from - 1
		for _, s := range o.given.of(o.v.first(x)) {
			if s&before == 0 {
				to = append(to, s&^o.first)
			}
		}
	}
	return append(to, o.lower.of(o.v, x)...)
}

// first is the entry of the first view that an entry stands for.
func (v *view) first(x int) int {
	if v.origin == nil {
		return x
	}
	return int(v.origin[x])
}
