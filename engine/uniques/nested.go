package uniques

// A nest is one worker's part of a nested search, with its scratch.
//
// The search goes through views: the distinct keys on all variables, on all but the first, and so on. The sets whose first variable is
// that of a view are looked for in blocks of the view that are equal in it: what is minimal within a block is minimal but for sets that leave
// that variable out, and these are known from the next view. Blocks that are still large are searched in the same way, small ones
// by a lattice.
type nest struct {
	p       *problem
	limit   int // largest size of a set
	most    int // entries of a lattice
	layout  *layout
	stop    func() bool
	lattice lattice
	radix   radix
	frames  []*frame
	next    []uint32
	sets    []uint32 // scratch
	below   listing  // of a block of the outermost level: the sets of the view below
}

// A frame is the scratch of a level of nesting.
type frame struct {
	views []view
	lists []listing // of each view: minimal sets that begin at its first variable or later
	keys  []uint64
	given listing
	child listing
}

func newFrame(variables int) *frame {
	return &frame{views: make([]view, variables+1), lists: make([]listing, variables+1)}
}

// fits tells whether a lattice can search so many entries.
func (n *nest) fits(entries, variables int) bool {
	return entries <= n.most && (entries+63)/64<<variables <= max(latticeWords, 1<<variables)
}

// search finds the minimal sets of the entries of a block, beyond the variables that it is equal in, which are size. from is the first place
// of the others.
func (n *nest) search(depth, from, size int, keys []uint64, weight []uint32, have *known, out *listing) {
	out.reset()
	var records int64
	risky := false
	for _, w := range weight {
		records += int64(w)
		risky = risky || int64(w) <= n.p.k
	}
	variables := n.p.variables - from
	switch {
	case records <= n.p.k:
		for i := range keys {
			if n.sets = have.of(n.p.k, i, n.sets[:0]); !contains(n.sets, 0) {
				out.sets = append(out.sets, 0)
			}
			out.close()
		}
	case !risky || variables == 0 || size >= n.limit || n.stop():
	case n.fits(len(keys), variables):
		n.inLattice(from, size, keys, weight, have, out)
	default:
		n.inViews(depth, from, size, keys, weight, have, out)
	}
}

func contains(sets []uint32, set uint32) bool {
	for _, s := range sets {
		if s == set {
			return true
		}
	}
	return false
}

// inLattice is search for few entries.
func (n *nest) inLattice(from, size int, keys []uint64, weight []uint32, have *known, out *listing) {
	l := &n.lattice
	variables := n.p.variables - from
	l.reset(n.p.k, keys, weight, variables)
	for i := range keys {
		n.sets = have.of(n.p.k, i, n.sets[:0])
		for _, s := range n.sets {
			l.mark(i, s>>from)
		}
	}
	ignores := n.ignore(from)
	l.search(n.layout.part[from:], n.limit-size, n.p.k == 1 && !ignores)
	// Sort what was found by entry.
	out.end = grown(out.end, len(keys))
	out.sets = grown(out.sets, len(l.found))
	next := grown(n.next, len(keys)+1)
	n.next = next
	clear(next)
	for _, f := range l.found {
		next[f>>16+1]++
	}
	for i := range keys {
		next[i+1] += next[i]
		out.end[i] = next[i+1]
	}
	for _, f := range l.found {
		to := &next[f>>16]
		out.sets[*to] = f & 0xffff << from
		*to++
	}
}

// ignore takes entries out of account that miss a variable under Ignore or Wildcard, and tells whether there is such a variable.
func (n *nest) ignore(from int) (some bool) {
	for j := from; j < n.p.variables; j++ {
		code, any := n.ignored(j)
		if !any {
			continue
		}
		some = true
		for i, k := range n.lattice.keys[:n.lattice.n] {
			if k>>n.layout.shift[j]&(n.layout.part[j]>>n.layout.shift[j]) == code {
				n.lattice.mark(i, 1<<(j-from))
			}
		}
	}
	return some
}

// ignored is the code of the variable at a place that is ignored, and whether there is one.
func (n *nest) ignored(place int) (code uint64, any bool) {
	v := n.layout.order[place]
	return uint64(n.p.codes[v] - 1), n.p.ignored[v] != nil || n.p.wild[v] != nil
}

// inViews is search for many entries.
func (n *nest) inViews(depth, from, size int, keys []uint64, weight []uint32, have *known, out *listing) {
	for len(n.frames) <= depth {
		n.frames = append(n.frames, newFrame(n.p.variables))
	}
	f := n.frames[depth]
	given := &f.given
	given.reset()
	for i := range keys {
		given.sets = have.of(n.p.k, i, given.sets)
		given.close()
	}
	last := n.chain(f, view{from: from, keys: keys, weight: weight})
	f.lists[last].reset()
	if v := &f.views[last]; !v.safe && v.from < n.p.variables {
		n.inLattice(v.from, size, v.keys, v.weight, &known{v: v, given: given}, &f.lists[last])
	}
	for i := last - 1; i >= 0; i-- {
		v, lower, lists := &f.views[i], source{list: &f.lists[i+1]}, &f.lists[i]
		if i == 0 {
			lists = out
		}
		lists.reset()
		v.blocks(n.layout, func(a, b int) {
			n.block(depth, f, v, size, given, lower, a, b)
			n.gather(f, v, lower, lists, a, b)
		})
	}
}

// gather adds the sets of the entries of a block to lists: those of the view below, and those that f.child has found in the block.
func (n *nest) gather(f *frame, v *view, lower source, lists *listing, a, b int) {
	first := uint32(1) << v.from
	for x := a; x < b; x++ {
		lists.sets = append(lists.sets, lower.of(v, x)...)
		for _, s := range f.child.of(x - a) {
			lists.sets = append(lists.sets, s|first)
		}
		lists.close()
	}
}

// chain makes views until one is small enough for a lattice, and returns its place.
func (n *nest) chain(f *frame, v view) int {
	f.views[0] = v
	i := 0
	for ; ; i++ {
		v := &f.views[i]
		if i > 0 && (v.safe || v.from == n.p.variables || n.fits(len(v.keys), n.p.variables-v.from)) {
			return i
		}
		n.radix.next(v, &f.views[i+1], n.layout, n.p.k)
	}
}

// block searches a block of a view, entries a to b, into f.child.
func (n *nest) block(depth int, f *frame, v *view, size int, given *listing, lower source, a, b int) {
	f.child.reset()
	if code, any := n.ignored(v.from); any && v.keys[a]&n.layout.part[v.from]>>n.layout.shift[v.from] == code {
		return
	}
	first := uint32(1) << v.from
	if b-a == 1 {
		if int64(v.weight[a]) <= n.p.k && (given == nil || !contains(given.of(v.first(a)), first)) {
			f.child.sets = append(f.child.sets, 0)
		}
		f.child.close()
		return
	}
	f.keys = grown(f.keys, b-a)
	rest := n.layout.from[v.from+1]
	for i, k := range v.keys[a:b] {
		f.keys[i] = k & rest
	}
	n.search(depth+1, v.from+1, size+1, f.keys, v.weight[a:b], &known{v, a, first, given, lower}, &f.child)
}
