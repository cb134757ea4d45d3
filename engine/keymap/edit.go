package keymap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Addition is a new category of a nominal variable, told by its overlaps with the smallest ones, since nothing else is known of it.
type Addition struct {
	ID     string
	Whole  []string // smallest categories that lie in it
	Split  []Split  // those of which a part does
	Inside string   // the one that it lies in, if it is a part of one alone
	Rest   string   // the new category of what else that one has
}

// A Split is a smallest category of which a part lies in a new one.
type Split struct{ Sink, In, Out string }

// Add draws a category into a graph, by new nodes and by edges out of smallest categories and out of the new one alone. If a category of
// the same sinks is there already, existing names it and nothing is drawn. An empty graph begins with the category as all of the variable.
func (d Drawing) Add(a Addition) (more Drawing, existing string, err error) {
	if len(d.Nodes) == 0 {
		if a.Whole != nil || a.Split != nil || a.Inside != "" {
			return d, "", fmt.Errorf("category %s: the variable has no categories yet that it could overlap with", a.ID)
		}
		return Drawing{Nodes: []string{a.ID}}, "", nil
	}
	g, err := NewGraph(d)
	if err != nil {
		return d, "", err
	}
	if g.Has(a.ID) {
		return d, "", fmt.Errorf("category %s is there already", a.ID)
	}
	named := slices.Clone(a.Whole)
	if a.Inside != "" {
		if a.Whole != nil || a.Split != nil {
			return d, "", fmt.Errorf("category %s: what lies inside one category has no others in it", a.ID)
		}
		named = append(named, a.Inside)
	}
	for _, s := range a.Split {
		named = append(named, s.Sink)
	}
	if len(named) == 0 {
		return d, "", fmt.Errorf("category %s: nothing is said of what it has in common with the smallest categories, %s", a.ID, some(g.Sinks()))
	}
	sinks := g.Sinks()
	for i, id := range named {
		switch {
		case !slices.Contains(sinks, id):
			return d, "", fmt.Errorf("category %s: %s is no smallest category: they are %s", a.ID, id, some(sinks))
		case slices.Contains(named[:i], id):
			return d, "", fmt.Errorf("category %s: %s is named twice", a.ID, id)
		}
	}
	if len(a.Split) == 0 && a.Inside == "" {
		var reach []int32
		for _, id := range a.Whole {
			reach = append(reach, g.Reach(id)...)
		}
		slices.Sort(reach)
		if same := g.Of(reach); same != nil {
			return d, same[0], nil
		}
	}
	more = Drawing{Nodes: slices.Clone(d.Nodes), Edges: slices.Clone(d.Edges)}
	node := func(id string, parents ...string) error {
		if id == "" || slices.Contains(more.Nodes, id) {
			return fmt.Errorf("category %s: a new category is called %q, which is empty or taken", a.ID, id)
		}
		more.Nodes = append(more.Nodes, id)
		for _, p := range parents {
			more.Edges = append(more.Edges, [2]string{p, id})
		}
		return nil
	}
	if a.Inside != "" {
		if err := node(a.ID, a.Inside); err != nil {
			return d, "", err
		}
		if err := node(a.Rest, a.Inside); err != nil {
			return d, "", err
		}
		return more, "", nil
	}
	if err := node(a.ID); err != nil {
		return d, "", err
	}
	for _, id := range a.Whole {
		more.Edges = append(more.Edges, [2]string{a.ID, id})
	}
	for _, s := range a.Split {
		if err := node(s.In, a.ID, s.Sink); err != nil {
			return d, "", err
		}
		if err := node(s.Out, s.Sink); err != nil {
			return d, "", err
		}
	}
	return more, "", nil
}

// AddBand draws a band into the graph of an interval variable, whose nodes have the extents given; it adds those of new nodes to them. What
// a band leaves of a smallest one on both of its sides are two pieces.
func (d Drawing) AddBand(b Band, extents map[string]Band) (more Drawing, existing string, err error) {
	if err := b.check(); err != nil {
		return d, "", err
	}
	for id, x := range extents {
		if x == b {
			return d, id, nil
		}
	}
	more = Drawing{Nodes: slices.Clone(d.Nodes), Edges: slices.Clone(d.Edges)}
	node := func(x Band, parents ...string) string {
		id := x.ID()
		if !slices.Contains(more.Nodes, id) {
			more.Nodes = append(more.Nodes, id)
			extents[id] = x
		}
		for _, p := range parents {
			more.Edges = append(more.Edges, [2]string{p, id})
		}
		return id
	}
	if len(d.Nodes) == 0 {
		node(b)
		return more, "", nil
	}
	g, err := NewGraph(d)
	if err != nil {
		return d, "", err
	}
	sinks := g.Sinks()
	slices.SortFunc(sinks, func(a, b string) int { return cmp.Compare(extents[a].Lo, extents[b].Lo) })
	sinks = slices.DeleteFunc(sinks, func(id string) bool { return extents[id].Hi <= b.Lo || b.Hi <= extents[id].Lo })
	reached := b.Lo
	for _, id := range sinks {
		if extents[id].Lo <= reached {
			reached = extents[id].Hi
		}
	}
	if reached < b.Hi || len(sinks) == 0 {
		return d, "", fmt.Errorf("band %s lies outside of what the smallest bands cover", b.ID())
	}
	if x := extents[sinks[0]]; len(sinks) == 1 && x.Lo <= b.Lo && b.Hi <= x.Hi {
		node(b, sinks[0])
		pieces(x, b, func(piece Band) { node(piece, sinks[0]) })
		return more, "", nil
	}
	v := node(b)
	for _, id := range sinks {
		x := extents[id]
		if b.Lo <= x.Lo && x.Hi <= b.Hi {
			more.Edges = append(more.Edges, [2]string{v, id})
			continue
		}
		node(Band{max(x.Lo, b.Lo), min(x.Hi, b.Hi)}, v, id)
		pieces(x, b, func(piece Band) { node(piece, id) })
	}
	return more, "", nil
}

// pieces are what band b leaves of x.
func pieces(x, b Band, give func(Band)) {
	if x.Lo < b.Lo {
		give(Band{x.Lo, b.Lo})
	}
	if b.Hi < x.Hi {
		give(Band{b.Hi, x.Hi})
	}
}

// CheckEdit tells whether a changed graph still admits every categorization that the old one did: nothing left, no old category that had
// parts got another, the new graph is valid, and the old smallest categories are a categorization of it. Names are as they are in the new
// graph: renaming is no edit. All reasons are given.
func CheckEdit(old, edited Drawing) error {
	var why []string
	for _, id := range old.Nodes {
		if !slices.Contains(edited.Nodes, id) {
			why = append(why, fmt.Sprintf("category %s is gone", id))
		}
	}
	parts := make(map[string]bool)
	had := make(map[[2]string]bool, len(old.Edges))
	for _, e := range old.Edges {
		parts[e[0]], had[e] = true, true
		if !slices.Contains(edited.Edges, e) {
			why = append(why, fmt.Sprintf("edge %s > %s is gone", e[0], e[1]))
		}
	}
	for _, e := range edited.Edges {
		if !had[e] && parts[e[0]] {
			why = append(why, fmt.Sprintf("category %s, which had parts already, gets another, %s", e[0], e[1]))
		}
	}
	g, err := NewGraph(edited)
	if err != nil {
		why = append(why, err.Error())
	} else if why == nil && len(old.Nodes) > 0 {
		var sinks []string
		for _, id := range old.Nodes {
			if !parts[id] {
				sinks = append(sinks, id)
			}
		}
		if wrong := g.Check(sinks); wrong != nil {
			why = append(why, "the smallest categories of before are no categorization any more: "+wrong.Error())
		}
	}
	if why != nil {
		return fmt.Errorf("categorizations of before would not hold any more: %s", strings.Join(why, "; "))
	}
	return nil
}
