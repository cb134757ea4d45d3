package figures

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// A Network is a drawing of an undirected graph: nodes on a circle, and edges as wide as they are probable.
type Network struct {
	Title, Note string
	Nodes       []string
	Edges       []NetworkEdge
}

// A NetworkEdge joins two nodes.
type NetworkEdge struct {
	Nodes       [2]int
	Probability float64 // 0 to 1
	Aside       bool    // it is not of the graph itself, but of others: thin and dashed
}

// Sizes of a network.
const (
	networkRadius = 190
	networkDot    = 5
	networkName   = 170 // room for a name
	widestEdge    = 5
)

// DOT is the network as Graphviz reads it.
func (n *Network) DOT() string {
	var b strings.Builder
	b.WriteString("graph {\n  layout=circo;\n  node [fontname=\"Helvetica\", fontsize=11, shape=box, style=\"filled,rounded\", fillcolor=\"#cfe3f5\"];\n")
	if n.Title != "" {
		fmt.Fprintf(&b, "  label=%s;\n  labelloc=t;\n", dotText(n.Title))
	}
	for i, name := range n.Nodes {
		fmt.Fprintf(&b, "  n%d [label=%s];\n", i, dotText(name))
	}
	for _, e := range n.Edges {
		look := ""
		if e.Aside {
			look = ", style=dashed, color=\"#8a8a8a\""
		}
		fmt.Fprintf(&b, "  n%d -- n%d [penwidth=%.1f, tooltip=\"%.3f\"%s];\n", e.Nodes[0], e.Nodes[1], e.width(), e.Probability, look)
	}
	b.WriteString("}\n")
	return b.String()
}

func (e NetworkEdge) width() float64 { return max(0.6, widestEdge*e.Probability) }

// SVG is the network drawn; the text of an edge, where the pointer rests on it, has its probability.
func (n *Network) SVG() string {
	const side = 2 * (networkRadius + networkName)
	width, height := float64(side), 2.0*networkRadius+140
	centreX, centreY := width/2, 80.0+networkRadius
	at := func(i int, radius float64) (x, y float64) {
		turn := 2*math.Pi*float64(i)/float64(len(n.Nodes)) - math.Pi/2
		return centreX + radius*math.Cos(turn), centreY + radius*math.Sin(turn)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" `, width, height, width, height)
	fmt.Fprintf(&b, "font-family=\"Liberation Sans, Helvetica, Arial, sans-serif\" font-size=\"%d\" role=\"img\">\n", nodeText)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", escaped(n.Title))
	fmt.Fprintf(&b, "<text x=\"16\" y=\"26\" font-size=\"15\" fill=\"#202020\">%s</text>\n", escaped(n.Title))
	fmt.Fprintf(&b, "<text x=\"16\" y=\"46\" fill=\"#555555\">%s</text>\n", escaped(n.Note))
	edges := slices.Clone(n.Edges)
	slices.SortStableFunc(edges, func(a, b NetworkEdge) int { return cmp.Compare(a.Probability, b.Probability) }) // the widest on top
	for _, e := range edges {
		look := `stroke="#2b6ca3"`
		if e.Aside {
			look = `stroke="#9a9a9a" stroke-dasharray="4 4"`
		}
		x1, y1 := at(e.Nodes[0], networkRadius)
		x2, y2 := at(e.Nodes[1], networkRadius)
		fmt.Fprintf(&b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke-width=\"%.1f\" %s><title>%s - %s: %.3f</title></line>\n",
			x1, y1, x2, y2, e.width(), look, escaped(n.Nodes[e.Nodes[0]]), escaped(n.Nodes[e.Nodes[1]]), e.Probability)
	}
	for i, name := range n.Nodes {
		x, y := at(i, networkRadius)
		fmt.Fprintf(&b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"#cfe3f5\" stroke=\"#444444\"/>", x, y, networkDot)
		tx, ty := at(i, networkRadius+12)
		anchor := "middle"
		switch {
		case tx > centreX+20:
			anchor = "start"
		case tx < centreX-20:
			anchor = "end"
		}
		switch { // text stands on its line
		case ty > centreY+networkRadius/2:
			ty += 6
		case ty < centreY-networkRadius/2:
			ty -= 6
		}
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#202020\"><title>%s</title>%s</text>\n", tx, ty+4, anchor, escaped(name),
			html.EscapeString(within(oneLine(name), nodeText, networkName-20)))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
