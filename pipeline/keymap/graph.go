package keymap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/keymap"
	"microrisk/pipeline/figures"
	"microrisk/pipeline/keymap/repository"
)

// MostDrawn is how many nodes a graph is drawn with; of larger ones candidates of a target are.
const MostDrawn = 200

// PartitionGraph draws the categories of a variable, large ones at the top; those of a form, if one is named, are marked.
func (e *Environment) PartitionGraph(v *Variable, form string) (*figures.Graph, error) {
	var selected []string
	if form != "" {
		f := e.Form(form)
		if f == nil {
			return nil, e.Unknown(repository.Forms, form)
		}
		x, holds := f.Instance(v.Name)
		if !holds {
			return nil, fmt.Errorf("form %q has no variable %q", form, v.Name)
		}
		selected = x.Categories
	}
	d, _, err := v.Drawing()
	if err != nil {
		return nil, err
	}
	if len(d.Nodes) > MostDrawn {
		return nil, fmt.Errorf("%q has %d categories, more than the %d that can be drawn and read", v.Name, len(d.Nodes), MostDrawn)
	}
	at := make(map[string]int, len(d.Nodes))
	for i, id := range d.Nodes {
		at[id] = i
	}
	g := &figures.Graph{Title: v.Name}
	for _, x := range d.Edges {
		g.Edges = append(g.Edges, [2]int{at[x[0]], at[x[1]]})
	}
	depth := make([]int, len(d.Nodes)) // below the node, by the longest way
	for range d.Nodes {
		for _, x := range g.Edges {
			depth[x[0]] = max(depth[x[0]], depth[x[1]]+1)
		}
	}
	deepest := slices.Max(append(depth, 0))
	for i, id := range d.Nodes {
		kind := figures.Plain
		if slices.Contains(selected, id) {
			kind = figures.Selected
		}
		g.Nodes = append(g.Nodes, figures.GraphNode{Name: v.Label(id), Layer: deepest - depth[i], Kind: kind})
	}
	if form != "" {
		g.Note = "orange: the categories of " + form
	}
	return g, nil
}

// HarmonizationGraph draws the codes of a variable, coarse ones at the top. target, if it is a form that has the variable, leaves those that it
// can be compared by; a graph of more than MostDrawn nodes is not drawn without.
func (v *Variable) HarmonizationGraph(ctx context.Context, target string) (*figures.Graph, error) {
	nodes := v.Closure
	note := "blue: some form has it; yellow: made by merging; coarse at the top"
	if own, holds := v.Forms[target]; holds {
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(p keymap.Partition) bool { return !own.Refines(p) })
	}
	if len(nodes) > MostDrawn {
		own, holds := v.Forms[target]
		if !holds {
			return nil, fmt.Errorf("%q has %d harmonizations, more than the %d that can be drawn and read: --target FORM draws the candidates of one form",
				v.Name, len(nodes), MostDrawn)
		}
		nodes = candidatesOf(v, own)
		if len(nodes) > MostDrawn {
			return nil, fmt.Errorf("%q has %d harmonizations with %s, more than the %d that can be drawn and read", v.Name, len(nodes), target, MostDrawn)
		}
		note = "only harmonizations of the target with one form are drawn, others are left out; " + note
	}
	if len(v.Closure) > keymap.MaxDrawn && len(nodes) == len(v.Closure) {
		return nil, fmt.Errorf("%q has %d harmonizations, a graph is made of at most %d", v.Name, len(v.Closure), keymap.MaxDrawn)
	}
	h, err := keymap.Harmonizations(ctx, nodes)
	if err != nil {
		return nil, err
	}
	g := &figures.Graph{Title: v.Name, Note: note}
	var sizes []int
	for _, p := range h.Nodes {
		sizes = append(sizes, p.Size())
	}
	levels := slices.Compact(slices.Clone(sizes)) // ascending already
	for i, p := range h.Nodes {
		layer, _ := slices.BinarySearch(levels, sizes[i])
		n := figures.GraphNode{Name: v.Codes[p], Layer: layer, Kind: figures.Generated, Hint: v.hint(p)}
		if v.observed[p] {
			n.Kind = figures.Observed
		}
		g.Nodes = append(g.Nodes, n)
		for _, c := range h.Children[i] {
			g.Edges = append(g.Edges, [2]int{i, c})
		}
	}
	return g, nil
}

// candidatesOf are the harmonizations of a target with single forms.
func candidatesOf(v *Variable, own keymap.Partition) []keymap.Partition {
	nodes := []keymap.Partition{own}
	for _, p := range v.Observed {
		if h := keymap.Join(own, p); !slices.Contains(nodes, h) {
			nodes = append(nodes, h)
		}
	}
	return nodes
}

// hint is the categories of a code in a few lines.
func (v *Variable) hint(p keymap.Partition) string {
	if p == keymap.Any {
		return "the value is written in"
	}
	var lines []string
	for _, b := range v.Blocks(p) {
		lines = append(lines, b.Label)
	}
	if len(lines) > 20 {
		lines = append(lines[:20], fmt.Sprintf("and %d more", len(lines)-20))
	}
	return strings.Join(lines, "\n")
}
