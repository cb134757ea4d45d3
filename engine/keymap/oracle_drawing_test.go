package keymap

import (
	"slices"
	"strconv"

	"pgregory.net/rapid"
)

// A sketch is a drawing with the sets of points that its nodes stand for.
type sketch struct {
	Drawing
	reach map[string][]string // sinks, ascending; by walking
}

// walked follows edges from every node; ok is false if one comes back.
func walked(d Drawing) (reach map[string][]string, ok bool) {
	reach, ok = make(map[string][]string), true
	for _, v := range d.Nodes {
		seen := map[string]bool{v: true}
		for todo := []string{v}; len(todo) > 0; {
			x := todo[0]
			todo = todo[1:]
			sink := true
			for _, e := range d.Edges {
				if e[0] != x {
					continue
				}
				sink = false
				if e[1] == v {
					ok = false
				}
				if !seen[e[1]] {
					seen[e[1]] = true
					todo = append(todo, e[1])
				}
			}
			if sink {
				reach[v] = append(reach[v], x)
			}
		}
		slices.Sort(reach[v])
	}
	return reach, ok
}

// sound tells whether a drawing keeps the definition: no circle, and children without a common sink.
func sound(d Drawing) bool {
	reach, ok := walked(d)
	if !ok {
		return false
	}
	for i, e := range d.Edges {
		for _, f := range d.Edges[:i] {
			if e[0] == f[0] && slices.ContainsFunc(reach[e[1]], func(s string) bool { return slices.Contains(reach[f[1]], s) }) {
				return false
			}
		}
	}
	return true
}

// covers tells whether every sink is reached from exactly one of the categories.
func covers(reach map[string][]string, categories []string) bool {
	for _, sinks := range reach {
		if len(sinks) != 1 || reach[sinks[0]] == nil {
			continue
		}
		n := 0
		for _, c := range categories {
			if slices.Contains(reach[c], sinks[0]) {
				n++
			}
		}
		if n != 1 {
			return false
		}
	}
	return true
}

// drawSketch makes a sound graph: each new category is of some that share no sink. Nodes stand in any order.
func drawSketch(t *rapid.T, most int) sketch {
	var d Drawing
	for i := range rapid.IntRange(1, min(5, most)).Draw(t, "sinks") {
		d.Nodes = append(d.Nodes, "s"+strconv.Itoa(i))
	}
	reach, _ := walked(d)
	for i := range rapid.IntRange(0, most-len(d.Nodes)).Draw(t, "larger") {
		v := "v" + strconv.Itoa(i)
		var sinks []string
		for _, w := range rapid.Permutation(d.Nodes).Draw(t, "children") {
			if rapid.Bool().Draw(t, "child") && !slices.ContainsFunc(reach[w], func(s string) bool { return slices.Contains(sinks, s) }) {
				d.Edges = append(d.Edges, [2]string{v, w})
				sinks = append(sinks, reach[w]...)
			}
		}
		d.Nodes = append(d.Nodes, v)
		reach, _ = walked(d)
	}
	d.Nodes = rapid.Permutation(d.Nodes).Draw(t, "nodes")
	if len(d.Edges) > 0 {
		d.Edges = rapid.Permutation(d.Edges).Draw(t, "edges")
	}
	return sketch{d, reach}
}

func (s sketch) sinks() []string {
	var sinks []string
	for v := range s.reach {
		if slices.Equal(s.reach[v], []string{v}) {
			sinks = append(sinks, v)
		}
	}
	slices.Sort(sinks)
	return sinks
}

// graph hands it to the package.
func (s sketch) graph(t *rapid.T) *Graph {
	g, err := NewGraph(s.Drawing)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// categorizations are all sets of nodes that cover the sinks once.
func (s sketch) categorizations() [][]string {
	var all [][]string
	for _, set := range combinations(len(s.Nodes), -1) {
		var c []string
		for _, i := range set {
			c = append(c, s.Nodes[i])
		}
		if covers(s.reach, c) {
			all = append(all, c)
		}
	}
	return all
}

// family is that of a categorization, by positions of sinks.
func (s sketch) family(categories []string) family {
	sinks := s.sinks()
	return classes(len(sinks), func(i, j int) bool {
		return slices.ContainsFunc(categories, func(c string) bool {
			return slices.Contains(s.reach[c], sinks[i]) && slices.Contains(s.reach[c], sinks[j])
		})
	})
}
