package figures

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
)

// A Graph is a drawing of nodes in layers, with edges from upper ones to lower ones.
type Graph struct {
	Title string
	Note  string // below the title
	Nodes []GraphNode
	Edges [][2]int // nodes: the upper one, the lower one
}

// A GraphNode is a box with a text.
type GraphNode struct {
	Name  string
	Layer int      // from 0, at the top
	Kind  NodeKind //
	Hint  string   // shown when the pointer rests on it, "" for none
	x     float64  // of its middle
}

// A NodeKind is how a node is drawn.
type NodeKind int

// Kinds of nodes.
const (
	Plain     NodeKind = iota // white
	Observed                  // a blue ellipse
	Generated                 // a yellow box
	Selected                  // an orange box
)

// Looks of nodes: fill and shape, in SVG and in DOT.
var looks = []struct{ fill, shape string }{{"#ffffff", "box"}, {"#cfe3f5", "ellipse"}, {"#fbf0c0", "box"}, {"#f5b872", "box"}}

const (
	nodeHeight = 26
	layerGap   = 46
	nodeGap    = 16
	nodePad    = 12
	nodeText   = 11
	graphTitle = 15
)

// DOT is the graph as Graphviz reads it.
func (g *Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=11, style=filled];\n")
	if g.Title != "" {
		fmt.Fprintf(&b, "  label=%s;\n  labelloc=t;\n", dotText(g.Title))
	}
	for i, n := range g.Nodes {
		look := looks[n.Kind]
		fmt.Fprintf(&b, "  n%d [label=%s, shape=%s, fillcolor=\"%s\"];\n", i, dotText(n.Name), look.shape, look.fill)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  n%d -> n%d;\n", e[0], e[1])
	}
	b.WriteString("}\n")
	return b.String()
}

func dotText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(text) + `"`
}

// SVG is the graph drawn: layers one below the other, nodes near to what they are joined to.
func (g *Graph) SVG() string {
	widths := make([]float64, len(g.Nodes))
	names := make([]string, len(g.Nodes))
	for i, n := range g.Nodes {
		names[i] = within(oneLine(n.Name), nodeText, 220)
		widths[i] = textWidth(names[i], nodeText) + 2*nodePad
		if n.Kind == Observed {
			widths[i] += nodePad
		}
	}
	layers := g.layers()
	width := g.place(layers, widths)
	top := float64(16)
	if g.Title != "" {
		top += 22
	}
	if g.Note != "" {
		top += 18
	}
	width = max(width, textWidth(g.Title, graphTitle), textWidth(g.Note, nodeText)) + 32
	height := top + float64(len(layers))*(nodeHeight+layerGap) - layerGap + 20
	y := func(layer int) float64 { return top + float64(layer)*(nodeHeight+layerGap) + nodeHeight/2 }
	var b strings.Builder
	fmt.Fprintf(
		&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="Liberation Sans, Helvetica, Arial, sans-serif" font-size="%d" role="img">`+"\n",
		width,
		height,
		width,
		height,
		nodeText,
	)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", html.EscapeString(oneLine(g.Title)))
	line := float64(22)
	if g.Title != "" {
		fmt.Fprintf(&b, "<text x=\"16\" y=\"%.0f\" font-size=\"15\" fill=\"#202020\">%s</text>\n", line, html.EscapeString(oneLine(g.Title)))
		line += 18
	}
	if g.Note != "" {
		fmt.Fprintf(&b, "<text x=\"16\" y=\"%.0f\" fill=\"#555555\">%s</text>\n", line, html.EscapeString(oneLine(g.Note)))
	}
	for _, e := range g.Edges {
		from, to := g.Nodes[e[0]], g.Nodes[e[1]]
		fmt.Fprintf(&b, "<path d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\" fill=\"none\" stroke=\"#8a8a8a\"/>\n",
			16+from.x, y(from.Layer)+nodeHeight/2, 16+from.x, y(from.Layer)+nodeHeight/2+layerGap/2,
			16+to.x, y(to.Layer)-nodeHeight/2-layerGap/2, 16+to.x, y(to.Layer)-nodeHeight/2)
	}
	for i, n := range g.Nodes {
		look := looks[n.Kind]
		b.WriteString("<g>")
		if n.Hint != "" || names[i] != n.Name {
			fmt.Fprintf(&b, "<title>%s</title>", html.EscapeString(strings.TrimSpace(n.Name+"\n"+n.Hint)))
		}
		x, mid := 16+n.x, y(n.Layer)
		if look.shape == "ellipse" {
			fmt.Fprintf(
				&b,
				"<ellipse cx=\"%.1f\" cy=\"%.1f\" rx=\"%.1f\" ry=\"%d\" fill=\"%s\" stroke=\"#444444\"/>",
				x,
				mid,
				widths[i]/2,
				nodeHeight/2,
				look.fill,
			)
		} else {
			fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"3\" fill=\"%s\" stroke=\"#444444\"/>",
				x-widths[i]/2, mid-nodeHeight/2, widths[i], nodeHeight, look.fill)
		}
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#202020\">%s</text></g>\n", x, mid+4, html.EscapeString(names[i]))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// layers are the nodes of each layer, in an order in which few edges cross: each node goes to the middle of what it is joined to, downwards
// and upwards in turn.
func (g *Graph) layers() [][]int {
	var layers [][]int
	for i, n := range g.Nodes {
		for len(layers) <= n.Layer {
			layers = append(layers, nil)
		}
		layers[n.Layer] = append(layers[n.Layer], i)
	}
	above, below := g.neighbours()
	at := make([]float64, len(g.Nodes))
	number := func(layer []int) {
		for i, v := range layer {
			at[v] = (float64(i) + 0.5) / float64(len(layer))
		}
	}
	for _, layer := range layers {
		number(layer)
	}
	settle := func(layer []int, joined [][]int) {
		wish := make(map[int]float64, len(layer))
		for _, v := range layer {
			wish[v] = mean(joined[v], at, at[v])
		}
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(wish[a], wish[b]) })
		number(layer)
	}
	for range 12 {
		for _, layer := range layers[min(1, len(layers)):] {
			settle(layer, above)
		}
		for i := len(layers) - 2; i >= 0; i-- {
			settle(layers[i], below)
		}
	}
	return layers
}

func (g *Graph) neighbours() (above, below [][]int) {
	above, below = make([][]int, len(g.Nodes)), make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		below[e[0]] = append(below[e[0]], e[1])
		above[e[1]] = append(above[e[1]], e[0])
	}
	return above, below
}

func mean(of []int, at []float64, none float64) float64 {
	if len(of) == 0 {
		return none
	}
	sum := 0.0
	for _, v := range of {
		sum += at[v]
	}
	return sum / float64(len(of))
}

// place gives nodes their places along layers, and is the width of all: nodes go as near to the middle of what they are joined to as those
// beside them let them.
func (g *Graph) place(layers [][]int, widths []float64) float64 {
	above, below := g.neighbours()
	at := make([]float64, len(g.Nodes))
	for _, layer := range layers {
		x := float64(0)
		for _, v := range layer {
			at[v] = float64(x + widths[v]/2)
			x += widths[v] + nodeGap
		}
		for _, v := range layer {
			at[v] -= float64(x-nodeGap) / 2
		}
	}
	apart := func(a, b int) float64 { return float64(widths[a]+widths[b])/2 + nodeGap }
	for round := range 30 {
		for _, layer := range layers {
			wish := make([]float64, len(layer))
			for i, v := range layer {
				joined := above[v]
				if round%2 == 1 {
					joined = below[v]
				}
				wish[i] = mean(joined, at, at[v])
			}
			// From the left no node is nearer than it may be, from the right neither; the middle of the two is so as well.
			left, right := slices.Clone(wish), slices.Clone(wish)
			for i := 1; i < len(layer); i++ {
				left[i] = max(left[i], left[i-1]+apart(layer[i-1], layer[i]))
			}
			for i := len(layer) - 2; i >= 0; i-- {
				right[i] = min(right[i], right[i+1]-apart(layer[i], layer[i+1]))
			}
			for i, v := range layer {
				at[v] = (left[i] + right[i]) / 2
			}
		}
	}
	low, high := 0.0, 0.0
	for i := range g.Nodes {
		low, high = min(low, at[i]-float64(widths[i])/2), max(high, at[i]+float64(widths[i])/2)
	}
	for i := range g.Nodes {
		g.Nodes[i].x = float64(at[i] - low)
	}
	return float64(high - low)
}
