package keymap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"
)

// This file has the definitions of the method, done by brute force on small cases: partitions are sets of sets, harmonizing is a transitive
// closure, graphs and answers are enumerated. Nothing here uses the package but to hand it a case.

// A family is a partition as sets of sinks; nil is arbitrary precision.
type family [][]int

func (f family) labels(k int) []int {
	labels := make([]int, k)
	for b, block := range f {
		for _, s := range block {
			labels[s] = b
		}
	}
	return labels
}

// classes are the sets of points that are alike: of a relation that is reflexive, symmetric and closed here.
func classes(k int, alike func(i, j int) bool) family {
	same := make([][]bool, k)
	for i := range same {
		same[i] = make([]bool, k)
		for j := range same[i] {
			same[i][j] = i == j || alike(i, j) || alike(j, i)
		}
	}
	for m := range k {
		for i := range k {
			for j := range k {
				same[i][j] = same[i][j] || same[i][m] && same[m][j]
			}
		}
	}
	f := family{}
	for i := range k {
		if slices.Contains(same[i][:i], true) {
			continue
		}
		var block []int
		for j := range k {
			if same[i][j] {
				block = append(block, j)
			}
		}
		f = append(f, block)
	}
	return f
}

func together(f family, i, j int) bool {
	return slices.ContainsFunc(f, func(b []int) bool { return slices.Contains(b, i) && slices.Contains(b, j) })
}

// joined is the finest partition that all refine.
func joined(k int, fs ...family) family {
	fs = slices.DeleteFunc(slices.Clone(fs), func(f family) bool { return f == nil })
	if len(fs) == 0 {
		return nil
	}
	return classes(k, func(i, j int) bool {
		return slices.ContainsFunc(fs, func(f family) bool { return together(f, i, j) })
	})
}

func finer(a, b family) bool { // or the same
	if a == nil || b == nil {
		return a == nil
	}
	for _, x := range a {
		if !slices.ContainsFunc(b, func(y []int) bool { return subset(x, y) }) {
			return false
		}
	}
	return true
}

func subset[T comparable](x, y []T) bool {
	return !slices.ContainsFunc(x, func(s T) bool { return !slices.Contains(y, s) })
}

func (f family) key() string {
	if f == nil {
		return "any"
	}
	return fmt.Sprint([][]int(f)) // as classes orders it
}

func (f family) size() int {
	if f == nil {
		return Unbounded
	}
	return len(f)
}

// partition hands a family to the package.
func (f family) partition(t *rapid.T, k int) Partition {
	if f == nil {
		return Any
	}
	p, err := NewPartition(f.labels(k))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func partitions(t *rapid.T, k int, fs []family) []Partition {
	ps := make([]Partition, len(fs))
	for i, f := range fs {
		ps[i] = f.partition(t, k)
	}
	return ps
}

// familyOf reads a partition by the block of each sink.
func familyOf(p Partition, k int) family {
	if p == Any {
		return nil
	}
	return classes(k, func(i, j int) bool { return p.Block(i) == p.Block(j) })
}

// combinations are the subsets of n of m things, all sizes for n < 0 but none.
func combinations(m, n int) [][]int {
	var all [][]int
	for bits := 1; bits < 1<<m; bits++ {
		var set []int
		for i := range m {
			if bits>>i&1 == 1 {
				set = append(set, i)
			}
		}
		if n < 0 || len(set) == n {
			all = append(all, set)
		}
	}
	return all
}

// harmonizations are H(with, T) for the subsets T of n (all non-empty ones for n < 0), by key.
func harmonizations(k int, with family, fs []family, n int) map[string]family {
	all := make(map[string]family)
	for _, set := range combinations(len(fs), n) {
		members := []family{with} // arbitrary precision adds nothing
		for _, i := range set {
			members = append(members, fs[i])
		}
		h := joined(k, members...)
		all[h.key()] = h
	}
	return all
}

// edgesBetween are the pairs of a coarser and a finer one with nothing strictly between.
func edgesBetween(nodes map[string]family) [][2]string {
	var edges [][2]string
	above := func(v, w family) bool { return finer(w, v) && !finer(v, w) }
	for kv, v := range nodes {
		for kw, w := range nodes {
			between := func(x family) bool { return above(v, x) && above(x, w) }
			if above(v, w) && !slices.ContainsFunc(slices.Collect(maps.Values(nodes)), between) {
				edges = append(edges, [2]string{kv, kw})
			}
		}
	}
	return edges
}

// finest are those that no other one strictly refines.
func finest(of map[string]family) []family {
	var least []family
	for _, v := range of {
		if !slices.ContainsFunc(slices.Collect(maps.Values(of)), func(w family) bool { return finer(w, v) && !finer(v, w) }) {
			least = append(least, v)
		}
	}
	return least
}

// supportOf is how many of the forms harmonize to v, which the target refines.
func supportOf(v family, forms []family) int {
	n := 0
	for _, f := range forms {
		if finer(f, v) {
			n++
		}
	}
	return n
}

// A situation is a variable of k sinks with the categorizations of the target and of the forms of a match set that hold it.
type situation struct {
	k        int
	target   family
	forms    []family
	lacking  int             // forms of the match set that do not hold it
	observed map[string]bool // by key: on some form
}

func drawFamily(t *rapid.T, k int) family {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return nil
	case 1, 2, 3, 4: // bands: what is merged follows one another
		cuts := rapid.SliceOfN(rapid.IntRange(0, 2), k, k).Draw(t, "cuts")
		return classes(k, func(i, j int) bool { return j == i+1 && cuts[j] > 0 })
	}
	labels := rapid.SliceOfN(rapid.IntRange(0, k-1), k, k).Draw(t, "labels")
	return classes(k, func(i, j int) bool { return labels[i] == labels[j] })
}

func drawFamilies(t *rapid.T, k, least, most int) []family {
	fs := make([]family, rapid.IntRange(least, most).Draw(t, "families"))
	for i := range fs {
		if i > 0 && rapid.IntRange(0, 4).Draw(t, "again") == 0 {
			fs[i] = fs[rapid.IntRange(0, i-1).Draw(t, "of")]
			continue
		}
		fs[i] = drawFamily(t, k)
	}
	return fs
}

func drawSituation(t *rapid.T) situation {
	s := situation{k: rapid.IntRange(1, 6).Draw(t, "k"), observed: make(map[string]bool)}
	s.target = drawFamily(t, s.k)
	s.forms = drawFamilies(t, s.k, 0, 6)
	s.lacking = rapid.IntRange(0, 3).Draw(t, "lacking")
	for _, f := range append(s.forms, s.target) {
		if rapid.IntRange(0, 7).Draw(t, "observed") > 0 {
			s.observed[f.key()] = true
		}
	}
	return s
}

// query asks the package, forms in an order of its own and counts in parts.
func (s situation) query(t *rapid.T) Query {
	q := Query{Variable: "X", Target: s.target.partition(t, s.k), Limits: Limits{Nodes: MaxNodes}}
	q.Observed = func(p Partition) bool { return s.observed[familyOf(p, s.k).key()] }
	for _, f := range rapid.Permutation(s.forms).Draw(t, "order") {
		p := f.partition(t, s.k)
		at := slices.IndexFunc(q.Match, func(o Observation) bool { return o.Partition == p })
		if at >= 0 && rapid.Bool().Draw(t, "counted") {
			q.Match[at].Forms++
			continue
		}
		q.Match = append(q.Match, Observation{p, 1})
	}
	return q
}

// compare is the order of answers.
func (s situation) compare(a, b family) int {
	observed := func(f family) int {
		if s.observed[f.key()] {
			return 0
		}
		return 1
	}
	canonical := func(f family) string { // numbers of blocks as they appear
		var text []byte
		if f == nil {
			return "*"
		}
		for i := range s.k {
			text = append(text, byte(slices.IndexFunc(f, func(b []int) bool { return slices.Contains(b, i) })))
		}
		return string(text)
	}
	return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(supportOf(b, s.forms), supportOf(a, s.forms)),
		cmp.Compare(observed(a), observed(b)), cmp.Compare(canonical(a), canonical(b)))
}

// best is f(N), by enumeration: the categories of the largest harmonization of the target and N forms, 0 if there are no N.
func (s situation) best(n int) int {
	most := 0
	for _, h := range harmonizations(s.k, s.target, s.forms, n) {
		most = max(most, h.size())
	}
	return most
}
