package figures

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A Dots is a diagram of points, of few enough to look at each: by two numbers, or by a number and a name. Its colours follow those of the
// page that it is in, so that it can be looked at on dark ones too.
type Dots struct {
	Title, Description string   // what readers that cannot see it are told
	X, Y               string   // axis titles, with units
	LogX, LogY         bool     // a value of 0 has a place of its own, before the axis begins
	Rows               []string // names of the places on the vertical axis, from the top; nil: Y of a dot is a number
	Series             []DotSeries
}

// A DotSeries is dots of one kind.
type DotSeries struct {
	Name   string // in the legend
	Joined bool   // by a line, in their order
	Dots   []Dot
}

// A Dot is a point; one with a value that is missing (NaN) is left out.
type Dot struct {
	X, Y      float64 // Y is the number of the row, if there are rows
	Low, High float64 // an interval around X; 0 and 0 for none
	Name      string  // beside it, "" for none
	Hint      string  // shown when the pointer rests on it
}

// Sizes of dots in pixels.
const (
	dotsWidth  = 860
	dotsHeight = 380 // without rows
	dotsRow    = 20
	dotsText   = 12
	dotRadius  = 4.6
)

// dotColours are those of the palette, in variables that a page can set; the black is that of the text.
var dotColours = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7a5195", "#8a8a8a"}

// SVG is the diagram; id tells it apart from others of its page.
func (d *Dots) SVG(id string) string {
	b := &dotsDrawing{Dots: d}
	b.place()
	fmt.Fprintf(&b.out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" width="%d" role="img" aria-labelledby="%s-t %s-d" font-size="%d">`+"\n",
		dotsWidth, b.height, dotsWidth, id, id, dotsText)
	fmt.Fprintf(&b.out, "<title id=\"%s-t\">%s</title>\n<desc id=\"%s-d\">%s</desc>\n", id, escaped(d.Title), id, escaped(d.Description))
	b.legend()
	b.axes()
	for k := range d.Series {
		b.series(k)
	}
	b.out.WriteString("</svg>\n")
	return b.out.String()
}

func escaped(text string) string { return html.EscapeString(oneLine(text)) }

// A dotsDrawing is a diagram at work.
type dotsDrawing struct {
	*Dots
	out                      strings.Builder
	left, right, top, bottom float64 // of the diagram's own rectangle
	height                   float64
	x, y                     dotAxis
	taken                    [][4]float64 // rectangles of what stands there: left, top, right, bottom
}

func (b *dotsDrawing) wide(text string) float64 { return textWidth(text, dotsText) }

// place finds where everything goes.
func (b *dotsDrawing) place() {
	b.left, b.right = 64, dotsWidth-16
	for _, name := range b.Rows {
		b.left = max(b.left, min(b.wide(oneLine(name))+20, 250))
	}
	b.top = 12 + 22*float64(len(b.keys()))
	b.bottom = b.top + dotsHeight - 60
	if b.Rows != nil {
		b.bottom = b.top + dotsRow*float64(len(b.Rows)) + 8
	}
	b.height = b.bottom + 46
	b.x = newDotAxis(b.LogX, b.left, b.right, b.values(func(p Dot) []float64 { return []float64{p.X, p.Low, p.High} }))
	b.y = newDotAxis(b.LogY, b.bottom, b.top, b.values(func(p Dot) []float64 { return []float64{p.Y} }))
}

// values are those of all dots.
func (b *dotsDrawing) values(of func(Dot) []float64) []float64 {
	var list []float64
	for _, s := range b.Series {
		for _, p := range s.Dots {
			if !math.IsNaN(p.X) && !math.IsNaN(p.Y) {
				list = append(list, of(p)[0])
				for _, v := range of(p)[1:] {
					if p.Low != 0 || p.High != 0 {
						list = append(list, v)
					}
				}
			}
		}
	}
	return list
}

// keys are the lines of the legend: the series on each.
func (b *dotsDrawing) keys() [][]int {
	var lines [][]int
	at := math.Inf(1)
	for k, s := range b.Series {
		if s.Name == "" {
			continue
		}
		wide := b.wide(oneLine(s.Name)) + 34
		if at+wide > dotsWidth-24 {
			lines, at = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], k)
		at += wide
	}
	return lines
}

func (b *dotsDrawing) legend() {
	for line, list := range b.keys() {
		x, y := 16.0, 16+22*float64(line)
		for _, k := range list {
			b.mark(k, x, y, "")
			fmt.Fprintf(&b.out, "<text class=\"ink\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x+11, y+4, escaped(b.Series[k].Name))
			x += b.wide(oneLine(b.Series[k].Name)) + 34
		}
	}
}

// axes draws what the dots stand on.
func (b *dotsDrawing) axes() {
	line := func(class string, x1, y1, x2, y2 float64) {
		fmt.Fprintf(&b.out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class, x1, y1, x2, y2)
	}
	text := func(class, anchor string, x, y float64, words string) {
		fmt.Fprintf(&b.out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, anchor, x, y, escaped(words))
	}
	for _, t := range b.x.ticks() {
		line("rule", b.x.at(t), b.top, b.x.at(t), b.bottom)
		text("soft", "middle", b.x.at(t), b.bottom+17, b.x.name(t))
	}
	text("ink", "middle", (b.left+b.right)/2, b.bottom+37, b.X)
	if b.Rows != nil {
		for i, name := range b.Rows {
			y := b.row(float64(i))
			line("rule", b.left, y, b.right, y)
			text("ink", "end", b.left-10, y+4, within(oneLine(name), dotsText, b.left-20))
		}
		return
	}
	for _, t := range b.y.ticks() {
		line("rule", b.left, b.y.at(t), b.right, b.y.at(t))
		text("soft", "end", b.left-8, b.y.at(t)+4, b.y.name(t))
	}
	fmt.Fprintf(&b.out, "<text class=\"ink\" text-anchor=\"middle\" transform=\"translate(14 %.1f) rotate(-90)\">%s</text>\n", (b.top+b.bottom)/2, escaped(b.Y))
}

// row is the height of a row's middle.
func (b *dotsDrawing) row(i float64) float64 { return b.top + dotsRow*(i+0.5) + 4 }

// series draws one.
func (b *dotsDrawing) series(k int) {
	s := b.Series[k]
	type spot struct {
		x, y float64
		dot  Dot
	}
	var spots []spot
	path := ""
	for _, p := range s.Dots {
		if math.IsNaN(p.X) || math.IsNaN(p.Y) {
			continue
		}
		y := b.y.at(p.Y)
		if b.Rows != nil {
			y = b.row(p.Y)
		}
		spots = append(spots, spot{b.x.at(p.X), y, p})
		path += fmt.Sprintf("%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[path == ""], b.x.at(p.X), y)
	}
	if s.Joined && len(spots) > 1 {
		fmt.Fprintf(&b.out, "<path class=\"join\" style=\"stroke:%s\" d=\"%s\"/>\n", dotColour(k), path)
	}
	for _, p := range spots {
		if p.dot.Low != 0 || p.dot.High != 0 {
			low, high := b.x.at(p.dot.Low), b.x.at(p.dot.High)
			fmt.Fprintf(&b.out, "<path class=\"bar\" style=\"stroke:%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", dotColour(k), low, p.y, high, p.y)
			b.taken = append(b.taken, [4]float64{low, p.y - 2, high, p.y + 2})
		}
		b.mark(k, p.x, p.y, p.dot.Hint)
		b.taken = append(b.taken, [4]float64{p.x - 5, p.y - 5, p.x + 5, p.y + 5})
	}
	for _, p := range spots {
		b.name(p.x, p.y, p.dot.Name)
	}
}

// name writes what a dot is called where nothing stands yet; nowhere if there is no such place, as its hint has it too.
func (b *dotsDrawing) name(x, y float64, text string) {
	if text == "" {
		return
	}
	wide := b.wide(oneLine(text)) * 0.85
	for _, at := range [][2]float64{{x + 7, y + 4}, {x - 7 - wide, y + 4}, {x - wide/2, y - 8}, {x - wide/2, y + 17}} {
		box := [4]float64{at[0], at[1] - 9, at[0] + wide, at[1] + 2}
		free := box[0] > b.left && box[2] < dotsWidth-2 && box[1] > b.top-10 && box[3] < b.bottom
		for _, r := range b.taken {
			free = free && (box[2] < r[0] || r[2] < box[0] || box[3] < r[1] || r[3] < box[1])
		}
		if free {
			b.taken = append(b.taken, box)
			fmt.Fprintf(&b.out, "<text class=\"soft\" font-size=\"10\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", at[0], at[1], escaped(text))
			return
		}
	}
}

func dotColour(k int) string {
	return fmt.Sprintf("var(--s%d,%s)", k%len(dotColours), dotColours[k%len(dotColours)])
}

// dotShapes are the outlines of markers around 0, in units of the radius; the first is a circle.
var dotShapes = []string{"", "M-.85 -.85H.85V.85H-.85Z", "M0 -1.15L1.05 .8H-1.05Z", "M0 -1.2L1.2 0L0 1.2L-1.2 0Z", "M0 1.15L1.05 -.8H-1.05Z",
	"M-.35 -1.1H.35V-.35H1.1V.35H.35V1.1H-.35V.35H-1.1V-.35H-.35Z"}

// mark draws a marker of a series.
func (b *dotsDrawing) mark(k int, x, y float64, hint string) {
	title := ""
	if hint != "" {
		title = "<title>" + escaped(hint) + "</title>"
	}
	if shape := dotShapes[k%len(dotShapes)]; shape != "" {
		fmt.Fprintf(&b.out, "<path class=\"dot\" style=\"fill:%s\" transform=\"translate(%.1f %.1f) scale(%.1f)\" d=\"%s\">%s</path>\n",
			dotColour(k), x, y, dotRadius, shape, title)
		return
	}
	fmt.Fprintf(&b.out, "<circle class=\"dot\" style=\"fill:%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">%s</circle>\n", dotColour(k), x, y, dotRadius, title)
}
