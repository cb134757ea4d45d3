package keymap

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestGraphsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Drawing
		n := rapid.IntRange(1, 6).Draw(t, "n")
		for i := range n {
			d.Nodes = append(d.Nodes, strconv.Itoa(i))
		}
		upward := rapid.IntRange(0, 3).Draw(t, "upward") == 0
		for range rapid.IntRange(0, 8).Draw(t, "m") {
			i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
			if e := [2]string{strconv.Itoa(i), strconv.Itoa(j)}; (i > j || upward) && !slices.Contains(d.Edges, e) {
				d.Edges = append(d.Edges, e)
			}
		}
		_, err := NewGraph(d)
		require.Equal(t, sound(d), err == nil, "%v: %v", d, err)
	})
}

func TestCategorizationsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSketch(t, 8)
		g := s.graph(t)
		sinks := s.sinks()
		require.Equal(t, sinks, g.Sinks())
		named := func(at []int32) []string {
			names := make([]string, len(at))
			for i, x := range at {
				names[i] = sinks[x]
			}
			return names
		}
		for _, v := range s.Nodes {
			require.True(t, g.Has(v))
			require.Equal(t, s.reach[v], named(g.Reach(v)))
			same := slices.DeleteFunc(slices.Clone(s.Nodes), func(w string) bool { return !slices.Equal(s.reach[v], s.reach[w]) })
			require.ElementsMatch(t, same, g.Of(g.Reach(v)))
			for _, w := range s.Nodes {
				require.Equal(t, subset(s.reach[v], s.reach[w]), g.Inside(v, w))
				meet := slices.ContainsFunc(s.reach[v], func(x string) bool { return slices.Contains(s.reach[w], x) })
				require.Equal(t, meet, g.Compatible(v, w))
			}
		}
		require.False(t, g.Has("absent"))
		require.Nil(t, g.Reach("absent"))
		valid := s.categorizations()
		c := rapid.SampledFrom(valid).Draw(t, "valid")
		if rapid.Bool().Draw(t, "any") {
			c = rapid.SliceOfNDistinct(rapid.SampledFrom(s.Nodes), 1, len(s.Nodes), rapid.ID[string]).Draw(t, "categories")
		}
		checkCategories(t, s, g, c)
		p, err := g.Partition(nil)
		require.NoError(t, err)
		require.Equal(t, Any, p)
	})
}

func checkCategories(t *rapid.T, s sketch, g *Graph, c []string) {
	sinks := s.sinks()
	var unreached []string
	repeated := make(map[string][]string)
	for _, x := range sinks {
		by := slices.DeleteFunc(slices.Clone(c), func(v string) bool { return !slices.Contains(s.reach[v], x) })
		if len(by) == 0 {
			unreached = append(unreached, x)
		} else if len(by) > 1 {
			repeated[x] = by
		}
	}
	wrong := g.Check(c)
	p, err := g.Partition(c)
	require.Equal(t, covers(s.reach, c), wrong == nil)
	require.Equal(t, wrong == nil, err == nil)
	if wrong != nil {
		require.Empty(t, wrong.Unknown)
		require.ElementsMatch(t, unreached, wrong.Unreached)
		require.Len(t, wrong.Repeated, len(repeated))
		for _, r := range wrong.Repeated {
			require.ElementsMatch(t, repeated[r.Sink], r.By)
		}
	} else {
		f := s.family(c)
		require.Equal(t, f.key(), familyOf(p, len(sinks)).key())
		var names [][]string
		for _, block := range f {
			var b []string
			for _, i := range block {
				b = append(b, sinks[i])
			}
			names = append(names, b)
		}
		require.Equal(t, names, g.BlockNames(p))
	}
	require.Equal(t, s.family(c).key(), familyOf(g.Lenient(append([]string{"absent"}, c...)), len(sinks)).key())
	unknown := g.Check(append([]string{"absent"}, c...))
	require.Equal(t, []string{"absent"}, unknown.Unknown)
}

func TestRunsOfAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSketch(t, 8)
		order := rapid.Permutation(s.sinks()).Draw(t, "order")
		runs := true
		for _, v := range s.Nodes {
			var at []int
			for _, x := range s.reach[v] {
				at = append(at, slices.Index(order, x))
			}
			runs = runs && slices.Max(at)-slices.Min(at) == len(at)-1
		}
		require.Equal(t, runs, s.graph(t).Runs(order) == nil)
		require.Error(t, s.graph(t).Runs(order[1:]))
		require.Error(t, s.graph(t).Runs(append(order[1:], "absent")))
	})
}

// What a graph says does not depend on the order in which it is written down.
func TestOrderOfDrawingIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSketch(t, 8)
		other := sketch{Drawing{Nodes: rapid.Permutation(s.Nodes).Draw(t, "again"), Edges: slices.Clone(s.Edges)}, s.reach}
		slices.Reverse(other.Edges)
		g, h := s.graph(t), other.graph(t)
		var observed, known []Partition
		for _, c := range s.categorizations() {
			p, err := g.Partition(c)
			require.NoError(t, err)
			q, err := h.Partition(rapid.Permutation(c).Draw(t, "categories"))
			require.NoError(t, err)
			require.Equal(t, p, q)
			require.Equal(t, g.StableID(p), h.StableID(q))
			known = append(known, p)
			if rapid.Bool().Draw(t, "observed") {
				observed = append(observed, p)
			}
		}
		for i, p := range known {
			for _, q := range known[:i] {
				require.Equal(t, p == q, g.StableID(p) == g.StableID(q))
			}
		}
		if len(observed) == 0 {
			return
		}
		closure := closureOf(t, observed)
		generated := slices.DeleteFunc(slices.Clone(closure), func(p Partition) bool { return slices.Contains(observed, p) })
		codes := g.Codes(nil, observed, generated)
		if len(generated) > 0 {
			generated = rapid.Permutation(generated).Draw(t, "generated")
		}
		require.Equal(t, codes, h.Codes(nil, observed, generated))
		checkCodes(t, codes, observed, generated)
		// Codes stay, whatever comes in whatever order.
		kept := make(map[string]Partition)
		for _, p := range observed {
			if rapid.Bool().Draw(t, "kept") {
				kept[codes[p]] = p
			}
		}
		later := g.Codes(kept, rapid.Permutation(observed).Draw(t, "later"), generated)
		for code, p := range kept {
			require.Equal(t, code, later[p])
		}
		taken := make(map[string]bool)
		for p, code := range later {
			require.False(t, taken[code], code)
			taken[code] = true
			require.Equal(t, p.Size(), CodeSize(code))
			require.Equal(t, p == Any || slices.Contains(observed, p), code[0] == 'C', code)
		}
	})
}

var coded = regexp.MustCompile(`^[CH](0|[1-9][0-9]*)\.[0-9]{3}$`)

// checkCodes counts serials: of what forms have as it appears, of the others in canonical order.
func checkCodes(t *rapid.T, codes map[Partition]string, observed, generated []Partition) {
	generated = slices.Clone(generated)
	slices.Sort(generated)
	want := map[Partition]string{Any: AnyCode}
	for letter, ps := range map[string][]Partition{"C": observed, "H": generated} {
		serial := make(map[int]int)
		for _, p := range ps {
			if _, ok := want[p]; ok {
				continue
			}
			n := p.Size()
			if p == Any {
				n = 0
			}
			serial[n]++
			number := strconv.Itoa(1000 + serial[n])[1:]
			want[p] = letter + strconv.Itoa(n) + "." + number
			require.Regexp(t, coded, want[p])
		}
	}
	require.Equal(t, want, codes)
}

func TestInconsistenciesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSketch(t, 8)
		g := s.graph(t)
		var instances []Instance
		for _, name := range rapid.Permutation([]string{"B", "A", "c", "Ä"}).Draw(t, "names")[:rapid.IntRange(0, 4).Draw(t, "forms")] {
			x := Instance{Form: name}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				x.Categories = rapid.SliceOfNDistinct(rapid.SampledFrom(s.Nodes), 1, 3, rapid.ID[string]).Draw(t, "categories")
			case 1: // arbitrary precision
			default:
				x.Categories = rapid.SampledFrom(s.categorizations()).Draw(t, "valid")
			}
			instances = append(instances, x)
		}
		sorted := slices.Clone(instances)
		slices.SortFunc(sorted, func(a, b Instance) int { return strings.Compare(a.Form, b.Form) })
		count := func(x Instance, sink string) int {
			n := 0
			for _, c := range x.Categories {
				if slices.Contains(s.reach[c], sink) {
					n++
				}
			}
			return n
		}
		want := []Inconsistency{}
		for _, x := range sorted {
			twice := slices.DeleteFunc(s.sinks(), func(sink string) bool { return count(x, sink) < 2 })
			if len(twice) > 0 {
				want = append(want, Inconsistency{[2]string{x.Form, x.Form}, true, twice})
			}
		}
		for i, x := range sorted {
			for _, y := range sorted[i+1:] {
				differ := slices.DeleteFunc(s.sinks(), func(sink string) bool { return count(x, sink) > 0 == (count(y, sink) > 0) })
				if len(x.Categories) > 0 && len(y.Categories) > 0 && len(differ) > 0 {
					want = append(want, Inconsistency{[2]string{x.Form, y.Form}, false, differ})
				}
			}
		}
		require.Equal(t, want, append([]Inconsistency{}, g.Inconsistencies(instances, true)...))
		require.Equal(t, want[:min(1, len(want))], append([]Inconsistency{}, g.Inconsistencies(instances, false)...))
	})
}

// mishap changes a drawing in a way that may be wrong.
func mishap(t *rapid.T, d Drawing) Drawing {
	d = Drawing{slices.Clone(d.Nodes), slices.Clone(d.Edges)}
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0, 1, 2:
			d.Nodes = append(d.Nodes, "new"+strconv.Itoa(len(d.Nodes)))
		case 3:
			if len(d.Edges) > 0 {
				at := rapid.IntRange(0, len(d.Edges)-1).Draw(t, "at")
				d.Edges = slices.Delete(d.Edges, at, at+1)
			}
		case 4:
			last := d.Nodes[len(d.Nodes)-1]
			d.Nodes = d.Nodes[:len(d.Nodes)-1]
			d.Edges = slices.DeleteFunc(d.Edges, func(e [2]string) bool { return e[0] == last || e[1] == last })
			if len(d.Nodes) == 0 {
				d.Nodes = []string{last}
			}
		default:
			e := [2]string{rapid.SampledFrom(d.Nodes).Draw(t, "from"), rapid.SampledFrom(d.Nodes).Draw(t, "to")}
			if e[0] != e[1] && !slices.Contains(d.Edges, e) {
				d.Edges = append(d.Edges, e)
			}
		}
	}
	return d
}

func TestEditsByEnumeration(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		old := drawSketch(t, 6)
		d := mishap(t, old.Drawing)
		safe := subset(old.Nodes, d.Nodes) && subset(old.Edges, d.Edges) && sound(d)
		for _, e := range d.Edges { // nothing new is in a category that had parts
			if !slices.Contains(old.Edges, e) && slices.ContainsFunc(old.Edges, func(f [2]string) bool { return f[0] == e[0] }) {
				safe = false
			}
		}
		if safe {
			reach, _ := walked(d)
			for _, c := range old.categorizations() {
				safe = safe && covers(reach, c)
			}
		}
		err := CheckEdit(old.Drawing, d)
		require.Equal(t, safe, err == nil, "%v to %v: %v", old.Drawing, d, err)
		if safe {
			accepted++
		} else {
			refused++
		}
	})
	require.Positive(t, accepted)
	require.Positive(t, refused)
}

// A category is drawn by the method itself, on the sets of points that categories stand for.
func TestAdditionsKeepTheGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.IntRange(1, 7).Draw(t, "points")
		var d Drawing
		extents := make(map[string][]int) // of nodes
		for step := range rapid.IntRange(1, 5).Draw(t, "steps") {
			in := rapid.SliceOfNDistinct(rapid.IntRange(0, points-1), 1, points, rapid.ID[int]).Draw(t, "in")
			slices.Sort(in)
			if len(d.Nodes) == 0 {
				for i := range points {
					in = append(in[:i:i], i)
				}
			}
			a := Addition{ID: "v" + strconv.Itoa(step)}
			outcome := maps.Clone(extents)
			outcome[a.ID] = in
			reach, _ := walked(d)
			fresh := 0
			name := func(extent []int) string {
				id := a.ID + "part" + strconv.Itoa(fresh)
				fresh++
				outcome[id] = extent
				return id
			}
			want := slices.Clone(d.Edges)
			for _, sink := range (sketch{d, reach}).sinks() {
				within, without := []int{}, []int{}
				for _, x := range extents[sink] {
					if slices.Contains(in, x) {
						within = append(within, x)
					} else {
						without = append(without, x)
					}
				}
				switch {
				case len(within) == 0:
				case len(without) == 0:
					a.Whole = append(a.Whole, sink)
					want = append(want, [2]string{a.ID, sink})
				case len(within) == len(in):
					a.Inside, a.Rest = sink, name(without)
					want = append(want, [2]string{sink, a.ID}, [2]string{sink, a.Rest})
				default:
					split := Split{sink, name(within), name(without)}
					a.Split = append(a.Split, split)
					want = append(want, [2]string{a.ID, split.In}, [2]string{sink, split.In}, [2]string{sink, split.Out})
				}
			}
			more, existing, err := d.Add(a)
			require.NoError(t, err)
			if same := slices.ContainsFunc(slices.Collect(maps.Values(extents)), func(x []int) bool { return slices.Equal(x, in) }); same {
				require.Equal(t, in, extents[existing])
				require.Equal(t, d, more)
				continue
			}
			require.Empty(t, existing)
			require.ElementsMatch(t, want, more.Edges)
			require.ElementsMatch(t, slices.Collect(maps.Keys(outcome)), more.Nodes)
			if len(d.Nodes) > 0 {
				require.NoError(t, CheckEdit(d, more))
			}
			d, extents = more, outcome
			checkExtents(t, d, extents, points)
		}
	})
}

// checkExtents holds a drawing against P1 and P2.
func checkExtents(t *rapid.T, d Drawing, extents map[string][]int, points int) {
	require.True(t, sound(d))
	reach, _ := walked(d)
	times := make([]int, points)
	for v, sinks := range reach {
		var union []int
		for _, s := range sinks {
			union = append(union, extents[s]...)
		}
		slices.Sort(union)
		require.Equal(t, extents[v], union, v)
		if slices.Equal(sinks, []string{v}) {
			for _, x := range union {
				times[x]++
			}
		}
	}
	for _, n := range times {
		require.Equal(t, 1, n)
	}
}

func drawBands(t *rapid.T, most int) []Band {
	var bands []Band
	bounds := []float64{0, 1, 2, 2.5, 4, 7, math.Inf(1)}
	for range rapid.IntRange(1, most).Draw(t, "bands") {
		lo := rapid.IntRange(0, len(bounds)-2).Draw(t, "lo")
		bands = append(bands, Band{bounds[lo], bounds[rapid.IntRange(lo+1, len(bounds)-1).Draw(t, "hi")]})
	}
	return bands
}
