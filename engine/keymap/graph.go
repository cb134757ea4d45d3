package keymap

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Drawing is a partition graph as it is written down: nodes by name, and edges from a category to a part of it.
type Drawing struct {
	Nodes []string
	Edges [][2]string // the larger category, the smaller one
}

// A Graph is a partition graph that was checked: nothing in it runs in a circle, and the children of a category share no sink.
type Graph struct {
	nodes    []string
	at       map[string]int
	children [][]int32
	sinks    []int32   // nodes, by name
	reach    [][]int32 // positions in sinks, ascending

	once sync.Once
	like map[[2]int32][]int32 // nodes in order, by their first sink and the number of sinks
}

// An EdgeError says which edges of a drawing cannot be, or not together.
type EdgeError struct {
	Edges [][2]string
	says  string
}

func (e *EdgeError) Error() string { return e.says }

// maxReach bounds the sum of the sinks that the categories of a variable reach.
const maxReach = 1 << 27

// NewGraph checks a drawing. It says which rule is broken, and by which categories.
func NewGraph(d Drawing) (*Graph, error) {
	g := &Graph{nodes: slices.Clone(d.Nodes), at: make(map[string]int, len(d.Nodes)), children: make([][]int32, len(d.Nodes))}
	if len(g.nodes) == 0 {
		return nil, fmt.Errorf("no categories")
	}
	for i, id := range g.nodes {
		if _, twice := g.at[id]; twice {
			return nil, fmt.Errorf("category %s stands twice", id)
		}
		g.at[id] = i
	}
	for _, e := range d.Edges {
		from, ok := g.at[e[0]]
		to, ok2 := g.at[e[1]]
		if !ok || !ok2 {
			return nil, &EdgeError{[][2]string{e}, fmt.Sprintf("edge %s > %s: there is no category %s", e[0], e[1], missing(ok, e))}
		}
		if slices.Contains(g.children[from], int32(to)) {
			return nil, &EdgeError{[][2]string{e}, fmt.Sprintf("edge %s > %s stands twice", e[0], e[1])}
		}
		g.children[from] = append(g.children[from], int32(to))
	}
	if err := g.spread(); err != nil {
		return nil, err
	}
	return g, nil
}

func missing(first bool, e [2]string) string {
	if first {
		return e[1]
	}
	return e[0]
}

// spread finds the sinks that every node reaches, smallest categories first.
func (g *Graph) spread() error {
	g.reach = make([][]int32, len(g.nodes))
	parents := make([][]int32, len(g.nodes))
	waits := make([]int, len(g.nodes))
	for v, children := range g.children {
		waits[v] = len(children)
		for _, c := range children {
			parents[c] = append(parents[c], int32(v))
		}
		if len(children) == 0 {
			g.sinks = append(g.sinks, int32(v))
		}
	}
	if len(g.sinks) > MaxSinks {
		return tooManySinks(len(g.sinks))
	}
	slices.SortFunc(g.sinks, func(a, b int32) int { return strings.Compare(g.nodes[a], g.nodes[b]) })
	for s, v := range g.sinks {
		g.reach[v] = []int32{int32(s)}
	}
	ready := slices.Clone(g.sinks)
	owner := make([]int32, len(g.sinks)) // the child through which a sink was reached, beside the node that asked
	asked := make([]int32, len(g.sinks))
	for i := range asked {
		asked[i] = -1
	}
	sum := 0
	for next := 0; next < len(ready); next++ {
		v := ready[next]
		for _, c := range g.children[v] {
			for _, s := range g.reach[c] {
				if asked[s] == v {
					one, other, whole := g.nodes[owner[s]], g.nodes[c], g.nodes[v]
					return &EdgeError{[][2]string{{whole, one}, {whole, other}},
						fmt.Sprintf("the parts %s and %s of %s overlap: both reach %s", one, other, whole, g.nodes[g.sinks[s]])}
				}
				asked[s], owner[s] = v, c
			}
			g.reach[v] = append(g.reach[v], g.reach[c]...)
		}
		slices.Sort(g.reach[v])
		if sum += len(g.reach[v]); sum > maxReach {
			return fmt.Errorf("the graph is too large: its categories reach more than %d smallest ones in sum", maxReach)
		}
		for _, p := range parents[v] {
			if waits[p]--; waits[p] == 0 {
				ready = append(ready, p)
			}
		}
	}
	if len(ready) < len(g.nodes) {
		way := g.circle(waits)
		wrong := EdgeError{nil, "categories are parts of themselves: " + strings.Join(way, " > ")}
		for i := 1; i < len(way); i++ {
			wrong.Edges = append(wrong.Edges, [2]string{way[i-1], way[i]})
		}
		return &wrong
	}
	return nil
}

// circle is a way along edges from a node back to itself, among those that still wait for a child.
func (g *Graph) circle(waits []int) []string {
	v := int32(slices.IndexFunc(waits, func(n int) bool { return n > 0 }))
	var way []int32
	for !slices.Contains(way, v) {
		way = append(way, v)
		v = g.children[v][slices.IndexFunc(g.children[v], func(c int32) bool { return waits[c] > 0 })]
	}
	way = append(way[slices.Index(way, v):], v)
	return g.names(way)
}

func (g *Graph) names(nodes []int32) []string {
	names := make([]string, len(nodes))
	for i, v := range nodes {
		names[i] = g.nodes[v]
	}
	return names
}

// Drawing is the graph as it was drawn.
func (g *Graph) Drawing() Drawing {
	d := Drawing{Nodes: slices.Clone(g.nodes)}
	for v, children := range g.children {
		for _, c := range children {
			d.Edges = append(d.Edges, [2]string{g.nodes[v], g.nodes[c]})
		}
	}
	return d
}

// Has tells whether there is a category of that name.
func (g *Graph) Has(id string) bool { _, ok := g.at[id]; return ok }

// Sinks are the smallest categories by name, whatever the drawing: the positions of a [Partition].
func (g *Graph) Sinks() []string { return g.names(g.sinks) }

// Reach are the positions of the sinks of a category, ascending; it is not to be changed. nil: there is no such category.
func (g *Graph) Reach(id string) []int32 {
	v, ok := g.at[id]
	if !ok {
		return nil
	}
	return g.reach[v]
}

// Of are the categories that reach exactly these sinks, given as ascending positions: one, several that are the same, or none.
func (g *Graph) Of(sinks []int32) []string {
	if len(sinks) == 0 {
		return nil
	}
	g.once.Do(func() {
		g.like = make(map[[2]int32][]int32, len(g.nodes))
		for v, reach := range g.reach {
			key := [2]int32{reach[0], int32(len(reach))}
			g.like[key] = append(g.like[key], int32(v))
		}
	})
	var same []string
	for _, v := range g.like[[2]int32{sinks[0], int32(len(sinks))}] {
		reach := g.reach[v]
		if slices.Equal(reach, sinks) {
			same = append(same, g.nodes[v])
		}
	}
	return same
}

// Inside tells whether category v is a subcategory of w, or the same: whether w reaches all that v does. It does not look at edges.
func (g *Graph) Inside(v, w string) bool {
	a, b := g.Reach(v), g.Reach(w)
	return len(common(a, b)) == len(a)
}

// Compatible tells whether a record in category v may match one in w.
func (g *Graph) Compatible(v, w string) bool { return len(common(g.Reach(v), g.Reach(w))) > 0 }

func common(a, b []int32) []int32 {
	var both []int32
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			both = append(both, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return both
}

// Runs checks the categories of an ordinal variable: each reaches sinks that follow one another in the order.
func (g *Graph) Runs(order []string) error {
	position := make([]int, len(g.sinks))
	for s, v := range g.sinks {
		position[s] = slices.Index(order, g.nodes[v])
		if position[s] < 0 {
			return fmt.Errorf("the order of categories lacks %s", g.nodes[v])
		}
	}
	if len(order) != len(g.sinks) {
		for i, id := range order {
			if v, ok := g.at[id]; !ok || len(g.children[v]) > 0 || slices.Contains(order[:i], id) {
				return fmt.Errorf("the order of categories has %s, which is no smallest category or stands twice", id)
			}
		}
	}
	for v, reach := range g.reach {
		at := make([]int, len(reach))
		for i, s := range reach {
			at[i] = position[s]
		}
		slices.Sort(at)
		if at[len(at)-1]-at[0] >= len(at) {
			return fmt.Errorf("category %s is no run of the ordered categories: it has %s and %s, and not all between", g.nodes[v], order[at[0]],
				order[at[len(at)-1]])
		}
	}
	return nil
}
