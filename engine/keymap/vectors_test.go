package keymap

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vectors are worked examples of the method: TV-1 to TV-9 of its description, of which the literature has the relations and codes.
func vectors(t testing.TB, key string, to any) {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &all))
	require.NoError(t, json.Unmarshal(all[key], to))
}

// drawing of edges, with nodes in order of appearance, and those that no edge names.
func drawing(edges [][2]string, more ...string) Drawing {
	d := Drawing{Edges: edges}
	for _, e := range edges {
		for _, id := range e {
			if !slices.Contains(d.Nodes, id) {
				d.Nodes = append(d.Nodes, id)
			}
		}
	}
	d.Nodes = append(d.Nodes, more...)
	return d
}

func graphOf(t testing.TB, d Drawing) *Graph {
	t.Helper()
	g, err := NewGraph(d)
	require.NoError(t, err)
	return g
}

func partitionOf(t testing.TB, g *Graph, categories ...string) Partition {
	t.Helper()
	p, err := g.Partition(categories)
	require.NoError(t, err)
	return p
}

// ofBlocks is the partition by blocks of sinks.
func ofBlocks(t testing.TB, g *Graph, blocks [][]string) Partition {
	labels := make([]int, len(g.Sinks()))
	for b, block := range blocks {
		for _, id := range block {
			labels[slices.Index(g.Sinks(), id)] = b
		}
	}
	p, err := NewPartition(labels)
	require.NoError(t, err)
	return p
}

func TestPlaceOfResidence(t *testing.T) { // TV-1
	var v struct {
		A         [][2]string `json:"graph_A_edges"`
		B         [][2]string `json:"graph_B_edges"`
		Valid     [][]string  `json:"valid_categorizations"`
		Harmonize []struct {
			In        [][]string   `json:"in"`
			Out       []string     `json:"out"`
			InBlocks  [][][]string `json:"in_blocks"`
			OutBlocks [][]string   `json:"out_blocks"`
		}
	}
	vectors(t, "place_of_residence", &v)
	for _, edges := range [][][2]string{v.A, v.B} {
		g := graphOf(t, drawing(edges))
		var valid [][]string
		ids := g.Drawing().Nodes
		for set := 1; set < 1<<len(ids); set++ {
			var c []string
			for i, id := range ids {
				if set>>i&1 == 1 {
					c = append(c, id)
				}
			}
			if g.Check(c) == nil {
				slices.Sort(c)
				valid = append(valid, c)
			}
		}
		for i := range v.Valid {
			slices.Sort(v.Valid[i])
		}
		require.ElementsMatch(t, v.Valid, valid)
		require.True(t, g.Inside("Britain", "UK"))
		require.False(t, g.Inside("UK", "Britain"))
		require.True(t, g.Compatible("UK", "non Britain"))
		require.False(t, g.Compatible("Britain", "non Britain"))
		wrong := g.Check([]string{"UK", "Britain"})
		require.Equal(t, []string{"non UK"}, wrong.Unreached)
		var twice []string
		for _, r := range wrong.Repeated {
			twice = append(twice, r.Sink)
			require.Equal(t, []string{"UK", "Britain"}, r.By)
		}
		require.ElementsMatch(t, []string{"England", "Scotland", "Wales"}, twice)
		require.ElementsMatch(t, []string{"Northern Ireland", "non UK"}, g.Check([]string{"England", "Scotland", "Wales"}).Unreached)
		require.Equal(t, [][]string{{"England", "Scotland", "Wales"}, {"Northern Ireland"}, {"non UK"}},
			g.BlockNames(partitionOf(t, g, "Britain", "Northern Ireland", "non UK")))
		for _, h := range v.Harmonize {
			var in []Partition
			for _, c := range h.In {
				in = append(in, partitionOf(t, g, c...))
			}
			for _, b := range h.InBlocks {
				in = append(in, ofBlocks(t, g, b))
			}
			want := ofBlocks(t, g, h.OutBlocks)
			if h.Out != nil {
				want = partitionOf(t, g, h.Out...)
			}
			require.Equal(t, want, Harmonize(in...))
		}
		require.True(t, partitionOf(t, g, "Britain", "Northern Ireland", "non UK").Refines(partitionOf(t, g, "UK", "non UK")))
	}
	// Drawn a category at a time it is graph B.
	d := Drawing{Nodes: []string{"England", "Scotland", "Wales", "non Britain"}}
	for _, a := range []Addition{
		{ID: "Britain", Whole: []string{"England", "Scotland", "Wales"}},
		{ID: "UK", Whole: []string{"England", "Scotland", "Wales"}, Split: []Split{{"non Britain", "Northern Ireland", "non UK"}}},
	} {
		more, existing, err := d.Add(a)
		require.NoError(t, err)
		require.Empty(t, existing)
		require.NoError(t, CheckEdit(d, more))
		d = more
	}
	require.ElementsMatch(t, v.B, d.Edges)
	same, existing, err := d.Add(Addition{ID: "abroad", Whole: []string{"non UK"}})
	require.NoError(t, err)
	require.Equal(t, "non UK", existing)
	require.Equal(t, d, same)
}

func TestCountryOfResidence(t *testing.T) { // TV-2
	var v struct {
		Edges [][2]string
		Codes map[string][][]string
		Forms [][]any
		Graph [][2]string `json:"graph_edges"`
	}
	vectors(t, "country_of_residence", &v)
	g := graphOf(t, drawing(v.Edges))
	first := Drawing{Nodes: []string{"England", "Scotland", "Wales", "Not Britain"}} // Other was renamed
	require.NoError(t, CheckEdit(first, g.Drawing()))
	require.ErrorContains(t, CheckEdit(Drawing{Nodes: first.Nodes[:3]}, g.Drawing()), "do not cover")
	var observed []Partition
	forms := make(map[string]Partition)
	kind := make(map[string]string)
	for _, f := range v.Forms {
		var c []string
		for _, id := range f[1].([]any) {
			c = append(c, id.(string))
		}
		p := partitionOf(t, g, c...)
		forms[f[0].(string)], kind[f[0].(string)] = p, f[2].(string)
		observed = append(observed, p)
	}
	codes, graph := codesOf(t, g, observed)
	for code, blocks := range v.Codes {
		require.Equal(t, code, codes[ofBlocks(t, g, blocks)])
	}
	require.ElementsMatch(t, v.Graph, edgesOf(graph, codes))
	for match, want := range map[string]string{"": "C4.001", "On-line": "C2.002"} {
		q := Query{Target: forms["Survey X"], Observed: func(p Partition) bool { return slices.Contains(observed, p) }, Limits: Limits{Nodes: MaxNodes}}
		for name, p := range forms {
			if name != "Survey X" && (match == "" || kind[name] == match) {
				q.Match = append(q.Match, Observation{p, 1})
			}
		}
		nodes, err := q.Nodes(context.Background())
		require.NoError(t, err)
		require.Equal(t, want, codes[nodes[Best(nodes, 1)].Partition])
	}
}

// codesOf names the closure of what was observed, and draws it.
func codesOf(t testing.TB, g *Graph, observed []Partition) (map[Partition]string, *HarmonizationGraph) {
	t.Helper()
	closure, err := Closure(context.Background(), "X", observed, Limits{Nodes: MaxNodes})
	require.NoError(t, err)
	var generated []Partition
	for _, p := range closure {
		if !slices.Contains(observed, p) {
			generated = append(generated, p)
		}
	}
	graph, err := Harmonizations(context.Background(), closure)
	require.NoError(t, err)
	return g.Codes(nil, observed, generated), graph
}

func edgesOf(h *HarmonizationGraph, codes map[Partition]string) [][2]string {
	var edges [][2]string
	for v, children := range h.Children {
		for _, w := range children {
			edges = append(edges, [2]string{codes[h.Nodes[v]], codes[h.Nodes[w]]})
		}
	}
	return edges
}

func bandsOf(cuts []float64) []Band {
	var bands []Band
	lo := 0.0
	for _, c := range append(slices.Clone(cuts), math.Inf(1)) {
		bands = append(bands, Band{lo, c})
		lo = c
	}
	return bands
}

func ids(bands []Band) []string {
	var names []string
	for _, b := range bands {
		names = append(names, b.ID())
	}
	return names
}

func TestAgeSimple(t *testing.T) { // TV-3
	var v struct {
		Edges [][2]string
		In    [][]string
		Sinks []string
		Valid [][]string
	}
	vectors(t, "age_simple", &v)
	inf := math.Inf(1)
	bands := []Band{{0, 18}, {18, inf}, {0, 16}, {16, 21}, {21, inf}}
	d, _, err := Intervals(bands, nil)
	require.NoError(t, err)
	require.ElementsMatch(t, v.Edges, d.Edges)
	require.Len(t, d.Nodes, 7)
	byOne, extents := Drawing{Nodes: []string{"0-18", "18-inf"}}, map[string]Band{"0-18": {0, 18}, "18-inf": {18, inf}}
	for _, b := range bands {
		byOne, _, err = byOne.AddBand(b, extents)
		require.NoError(t, err)
	}
	require.ElementsMatch(t, v.Edges, byOne.Edges)
	g := graphOf(t, d)
	require.ElementsMatch(t, v.Sinks, g.Sinks())
	for _, c := range v.Valid {
		require.Nil(t, g.Check(c))
	}
	require.Equal(t, 1, Join(partitionOf(t, g, v.In[0]...), partitionOf(t, g, v.In[1]...)).Size())
	require.NoError(t, g.Runs(v.Sinks))
	odd := graphOf(t, drawing([][2]string{{"x", "0-18"}, {"x", "21-inf"}}, "18-21"))
	require.ErrorContains(t, odd.Runs([]string{"0-18", "18-21", "21-inf"}), "category x is no run")
	// A band strictly inside one leaves two pieces.
	extents = map[string]Band{}
	whole, _, err := Drawing{}.AddBand(Band{0, inf}, extents)
	require.NoError(t, err)
	parts, _, err := whole.AddBand(Band{20, 30}, extents)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"0-20", "20-30", "30-inf"}, graphOf(t, parts).Sinks())
	require.NoError(t, CheckEdit(whole, parts))
}

type age struct {
	Cap        int64                  `json:"auc_cap_for_C0"`
	Areas      map[string][2]int64    `json:"auc_discrete_by_target"`
	Boundaries map[string][]float64   `json:"boundaries"`
	ByN        map[string]ageAnswer   `json:"by_N"`
	Counts     map[string]int         `json:"counts"`
	Graph      [][2]string            `json:"graph_edges"`
	ByTarget   map[string][][3]any    `json:"profile_by_target"`
	Untargeted [][3]any               `json:"profile_untargeted"`
	Sinks      int                    `json:"sinks"`
	Support    map[string]int         `json:"support"`
	ByP        map[string]string      `json:"target_C45.001_by_p"`
	partitions map[string]Partition   // by code of an observed one
	graph      *Graph                 //
	codes      map[Partition]string   //
	drawn      *HarmonizationGraph    //
	nodes      func(Partition) []Node //
}

type ageAnswer struct {
	Best       *string
	Candidates []string
}

func ages(t testing.TB) *age {
	v := new(age)
	vectors(t, "age_191", v)
	var bands []Band
	for _, cuts := range v.Boundaries {
		bands = append(bands, bandsOf(cuts)...)
	}
	d, _, err := Intervals(bands, nil)
	require.NoError(t, err)
	v.graph = graphOf(t, d)
	v.partitions = map[string]Partition{AnyCode: Any}
	observed := []Partition{Any}
	for _, code := range []string{"C2.001", "C7.001", "C9.001", "C45.001"} {
		v.partitions[code] = partitionOf(t, v.graph, ids(bandsOf(v.Boundaries[code]))...)
		observed = append(observed, v.partitions[code])
	}
	v.codes, v.drawn = codesOf(t, v.graph, observed)
	v.nodes = func(target Partition) []Node {
		q := Query{Variable: "Age", Target: target, Observed: func(p Partition) bool { return slices.Contains(observed, p) }, Limits: Limits{Nodes: MaxNodes}}
		for code, n := range v.Counts {
			q.Match = append(q.Match, Observation{v.partitions[code], n})
		}
		nodes, err := q.Nodes(context.Background())
		require.NoError(t, err)
		return nodes
	}
	return v
}

func TestAge191(t *testing.T) { // TV-4
	v := ages(t)
	require.Len(t, v.graph.Sinks(), v.Sinks)
	require.ElementsMatch(t, v.Graph, edgesOf(v.drawn, v.codes))
	nodes := v.nodes(Any)
	require.Len(t, nodes, len(v.Support))
	for _, x := range nodes {
		require.Equal(t, v.Support[v.codes[x.Partition]], x.Support, v.codes[x.Partition])
	}
	for text, want := range v.ByN {
		var n int
		require.NoError(t, json.Unmarshal([]byte(text), &n))
		best := Best(nodes, n)
		var candidates []string
		for _, c := range Candidates(nodes, n) {
			candidates = append(candidates, v.codes[nodes[c].Partition])
		}
		require.ElementsMatch(t, want.Candidates, candidates, text)
		if want.Best == nil {
			require.Negative(t, best)
		} else {
			require.Equal(t, *want.Best, v.codes[nodes[best].Partition], text)
		}
	}
	profile := func(nodes []Node) [][3]any {
		var runs [][3]any
		for _, r := range Profile(nodes) {
			runs = append(runs, [3]any{v.codes[nodes[r.Node].Partition], float64(r.From), float64(r.To)})
		}
		return runs
	}
	require.Equal(t, v.Untargeted, profile(nodes))
	for code, want := range v.ByTarget {
		nodes := v.nodes(v.partitions[code])
		require.Equal(t, want, profile(nodes), code)
		area, capped := Area(nodes, Profile(nodes), 104, Sizes{Levels: int(v.Cap)})
		require.Zero(t, area.Cmp(big.NewRat(v.Areas[code][0], v.Areas[code][1])), "%s: %v", code, area)
		require.Equal(t, code == AnyCode, capped)
	}
	nodes = v.nodes(v.partitions["C45.001"])
	var projected []string
	for _, x := range nodes {
		projected = append(projected, v.codes[x.Partition])
	}
	require.ElementsMatch(t, strings.Fields("C45.001 H7.001 H4.001 H3.001 C2.001 H1.001"), projected)
	for text, want := range v.ByP {
		p, err := ParsePrevalence(text)
		require.NoError(t, err)
		n, q := Required(104, p)
		require.True(t, Enough(104, q))
		require.Equal(t, want, v.codes[nodes[Best(nodes, n)].Partition], text)
	}
}

func TestDegenerateBands(t *testing.T) { // TV-5
	var v struct {
		A        []float64 `json:"a_bounds"`
		B        []float64 `json:"b_bounds"`
		Size     int       `json:"harmonization_size"`
		Sinks    int
		Overlaps []string `json:"overlaps_of_2-4"`
	}
	vectors(t, "degenerate_bands", &v)
	a, b := bandsOf(v.A), bandsOf(v.B)
	d, _, err := Intervals(append(slices.Clone(a), b...), nil)
	require.NoError(t, err)
	g := graphOf(t, d)
	require.Len(t, g.Sinks(), v.Sinks)
	p, q := partitionOf(t, g, ids(a)...), partitionOf(t, g, ids(b)...)
	require.Equal(t, 41, p.Size())
	require.Equal(t, 41, q.Size())
	require.Equal(t, v.Size, Join(p, q).Size())
	o := Overlaps(p, q)
	require.Len(t, o.Pairs, 81)
	require.Equal(t, 1681, o.All)
	block := func(g *Graph, p Partition, id string) int { return p.Block(int(g.Reach(id)[0])) }
	var partners []int
	for _, id := range v.Overlaps {
		partners = append(partners, block(g, q, id))
	}
	require.ElementsMatch(t, partners, o.Partners[0][block(g, p, "2-4")])
	// C2.001 against C7.001 of TV-4.
	ages := ages(t)
	c2, c7 := ages.partitions["C2.001"], ages.partitions["C7.001"]
	o = Overlaps(c2, c7)
	for _, b := range bandsOf(ages.Boundaries["C2.001"]) {
		require.Equal(t, b.Lo == 0, o.Inside[0][block(ages.graph, c2, b.ID())], b.ID())
	}
	for _, b := range bandsOf(ages.Boundaries["C7.001"]) {
		require.Equal(t, b.Lo > 0, o.Inside[1][block(ages.graph, c7, b.ID())], b.ID())
	}
	require.Equal(t, 1, Join(ages.partitions["C2.001"], ages.partitions["C7.001"]).Size())
}

func TestGeneralHealth(t *testing.T) { // TV-6
	var v struct {
		C3       []string `json:"C3.001"`
		C4       []string `json:"C4.001"`
		Reading1 struct {
			Edges [][2]string `json:"graph_edges"`
			Size  int         `json:"harmonization_size"`
			Sinks []string
		}
		Reading2 struct {
			Edges         [][2]string
			Harmonization string
		}
	}
	vectors(t, "general_health", &v)
	// Reading 1: the good side is crossed, the bad side is the same.
	g := graphOf(t, Drawing{Nodes: v.Reading1.Sinks})
	of := func(part func(string) string) Partition {
		names := map[string]int{}
		labels := make([]int, 0)
		for _, sink := range g.Sinks() {
			name := part(sink)
			if _, ok := names[name]; !ok {
				names[name] = len(names)
			}
			labels = append(labels, names[name])
		}
		p, err := NewPartition(labels)
		require.NoError(t, err)
		return p
	}
	c3 := of(func(s string) string { before, _, _ := strings.Cut(s, "&"); return before })
	c4 := of(func(s string) string { _, after, _ := strings.Cut(s, "&"); return after })
	require.Equal(t, len(v.C3), c3.Size())
	require.Equal(t, len(v.C4), c4.Size())
	require.Equal(t, v.Reading1.Size, Join(c3, c4).Size())
	codes, graph := codesOf(t, g, []Partition{c3, c4})
	require.ElementsMatch(t, v.Reading1.Edges, edgesOf(graph, codes))
	// Reading 2: one refines the other.
	g = graphOf(t, drawing(v.Reading2.Edges))
	c3, c4 = partitionOf(t, g, v.C3...), partitionOf(t, g, v.C4...)
	codes, _ = codesOf(t, g, []Partition{c3, c4})
	require.Equal(t, v.Reading2.Harmonization, codes[Join(c3, c4)])
	// The answers as they are, without a graph between them, do not cover the variable.
	g = graphOf(t, Drawing{Nodes: append(slices.Clone(v.C3), v.C4...)})
	require.ElementsMatch(t, v.C4, g.Check(v.C3).Unreached)
}

// worst are n categorizations whose harmonizations are all different: a bound for every non-empty subset of them, which is theirs that are in it.
func worst(n int) []Partition {
	k := 1 << n // sinks: one more than bounds
	all := make([]Partition, n)
	for i := range all {
		b := make([]byte, 0, 2*k)
		block := 0
		for s := range k {
			if s > 0 && s>>i&1 == 1 {
				block++
			}
			b = append(b, byte(block>>8), byte(block))
		}
		all[i] = Partition(b)
	}
	return all
}

func TestWorstCase(t *testing.T) { // TV-8
	var v []struct{ N, Nodes, Edges, Joins int }
	vectors(t, "worst_case", &v)
	require.NotEmpty(t, v)
	for _, w := range v {
		closure, err := Closure(context.Background(), "X", worst(w.N), Limits{Nodes: MaxNodes})
		require.NoError(t, err)
		require.Len(t, closure, w.Nodes)
		h, err := Harmonizations(context.Background(), closure)
		require.NoError(t, err)
		require.Equal(t, w.Edges, h.Edges())
	}
	_, err := Closure(context.Background(), "Age", worst(10), Limits{Nodes: 1000})
	require.EqualError(
		t,
		err,
		"Age: its 10 categorizations of 1024 smallest categories have more than 1000 harmonizations: match fewer forms at once, or allow more (max_nodes)",
	)
	_, err = NewPartition(make([]int, 1<<20))
	require.EqualError(t, err, "1048576 smallest categories, at most 65536 can be told apart: draw the variable with fewer")
}

func TestEdits(t *testing.T) { // TV-9
	var v []struct {
		Accept   bool
		Old, New struct {
			Nodes []string
			Edges [][2]string
		}
	}
	vectors(t, "edits", &v)
	require.NotEmpty(t, v)
	for _, e := range v {
		err := CheckEdit(Drawing{e.Old.Nodes, e.Old.Edges}, Drawing{e.New.Nodes, e.New.Edges})
		require.Equal(t, e.Accept, err == nil, "%v: %v", e.New, err)
	}
}

func TestThresholds(t *testing.T) { // TV-9
	var v []struct {
		E, N int
		S    *int
		P    string
		Null *bool
	}
	vectors(t, "thresholds", &v)
	require.NotEmpty(t, v)
	for _, x := range v {
		p, err := ParsePrevalence(x.P)
		require.NoError(t, err)
		n, q := Required(x.E, p)
		require.Equal(t, x.N, n, x.P)
		if x.Null != nil {
			require.Equal(t, *x.Null, !Enough(*x.S, q))
		}
	}
	for _, text := range []string{"", "-0.1", "1.01", "0.", ".5", "1e-1", "2", "0,5", "NaN"} {
		_, err := ParsePrevalence(text)
		require.Error(t, err, text)
	}
}

func TestStrictAndLenient(t *testing.T) { // TV-9
	var v struct {
		Forms    map[string][][]string
		Together int        `json:"lenient_harmonization"`
		Sizes    []int      `json:"lenient_sizes"`
		Messages [][]string // form, form, what
	}
	vectors(t, "strict_lenient", &v)
	d := Drawing{Nodes: strings.Fields("GB-fixed NI-fixed NI-home home none")}
	var instances []Instance
	for _, name := range []string{"A", "B"} {
		x := Instance{Form: name}
		for _, sinks := range v.Forms[name] {
			if len(sinks) == 1 {
				x.Categories = append(x.Categories, sinks[0])
				continue
			}
			id := strings.Join(sinks, "+")
			d.Nodes = append(d.Nodes, id)
			for _, s := range sinks {
				d.Edges = append(d.Edges, [2]string{id, s})
			}
			x.Categories = append(x.Categories, id)
		}
		instances = append(instances, x)
	}
	g := graphOf(t, d)
	a, b := g.Lenient(instances[0].Categories), g.Lenient(instances[1].Categories)
	require.Equal(t, v.Sizes, []int{a.Size(), b.Size()})
	require.Equal(t, v.Together, Join(a, b).Size())
	require.Equal(t, []Inconsistency{{[2]string{"B", "B"}, true, []string{"NI-home"}}}, g.Inconsistencies(instances, false))
	all := g.Inconsistencies(instances, true)
	require.Len(t, all, len(v.Messages))
	require.Equal(t, Inconsistency{[2]string{"A", "B"}, false, []string{"NI-home"}}, all[1])
}

func TestSharedKeySets(t *testing.T) { // TV-9
	var v struct {
		Forms  map[string][]string
		Out    [][2][]string
		Target []string
	}
	vectors(t, "shared_key_sets", &v)
	var forms []string
	for name := range v.Forms {
		forms = append(forms, name)
	}
	slices.Sort(forms)
	slices.Sort(v.Target)
	held := make([][]int, len(forms))
	for i, name := range forms {
		for _, x := range v.Forms[name] {
			if at := slices.Index(v.Target, x); at >= 0 {
				held[i] = append(held[i], at)
			}
		}
	}
	keys, err := SharedKeys(held, len(v.Target), 1)
	require.NoError(t, err)
	var out [][2][]string
	for _, k := range keys {
		var x [2][]string
		for _, i := range k.Variables {
			x[0] = append(x[0], v.Target[i])
		}
		for _, i := range k.Forms {
			x[1] = append(x[1], forms[i])
		}
		out = append(out, x)
	}
	require.ElementsMatch(t, v.Out, out)
}
