//go:build !nofigures

package figures

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Where a legend can be asked to go.
var places = map[string]bool{"": true, "none": true, "right": true, "top left": true, "top right": true, "bottom left": true, "bottom right": true}

// corners, the best first: what is plotted rises more often than it falls.
var corners = []string{"top left", "bottom right", "top right", "bottom left"}

const (
	sampleLength vg.Length = 30 // of a line in the legend
	sampleGap    vg.Length = 7
	entryHeight  vg.Length = 16
	legendRoom   vg.Length = 5 // free around a legend
	longestName  vg.Length = 190
	mostEntries            = 19
)

// An entry is a line of the legend.
type entry struct {
	name   string
	series *series // nil for a remark
}

type legend struct{ entries []entry }

// legend lists the series that have a name.
func (d *drawing) legend() legend {
	var l legend
	if d.figure.Legend == "none" {
		return l
	}
	more := 0
	s := style(legendSize, ink)
	for _, one := range d.series {
		switch {
		case one.name == "":
		case len(l.entries) == mostEntries:
			more++
		default:
			l.entries = append(l.entries, entry{fitting(s, one.name, longestName), one})
		}
	}
	if more > 0 {
		l.entries = append(l.entries, entry{name: fmt.Sprintf("and %d more", more)})
	}
	return l
}

func (l legend) width() (w vg.Length) {
	s := style(legendSize, ink)
	for _, e := range l.entries {
		w = max(w, s.Width(e.name))
	}
	return sampleLength + sampleGap + w
}

func (l legend) height() vg.Length { return entryHeight * vg.Length(len(l.entries)) }

// corner finds a place for the legend inside the diagram where it covers nothing.
func (d *drawing) corner(l legend, data *draw.Canvas, p *plot.Plot) (at vg.Rectangle, found bool) {
	asked := d.figure.Legend
	if len(l.entries) == 0 || asked == "right" {
		return at, false
	}
	w, h := l.width(), l.height()
	const inset vg.Length = 10
	if w > 0.6*(data.Max.X-data.Min.X) || h > 0.6*(data.Max.Y-data.Min.Y) {
		return at, false
	}
	order := slices.Clone(corners)
	slices.SortStableFunc(order, func(a, b string) int { return -cmp.Compare(same(a, asked), same(b, asked)) })
	var covered []shape
	for _, s := range d.series {
		covered = append(covered, s.shape(data, p))
	}
	if d.figure.Diagonal {
		covered = append(covered, shape{lines: diagonal{d.x, d.y}.path(data, p)})
	}
	for _, name := range order {
		at.Min = vg.Point{X: data.Min.X + inset, Y: data.Min.Y + inset}
		if strings.HasSuffix(name, "right") {
			at.Min.X = data.Max.X - inset - w
		}
		if strings.HasPrefix(name, "top") {
			at.Min.Y = data.Max.Y - inset - h
		}
		at.Max = at.Min.Add(vg.Point{X: w, Y: h})
		room := vg.Rectangle{Min: at.Min.Sub(vg.Point{X: legendRoom, Y: legendRoom}), Max: at.Max.Add(vg.Point{X: legendRoom, Y: legendRoom})}
		if !slices.ContainsFunc(covered, func(s shape) bool { return s.touches(room) }) {
			return at, true
		}
	}
	return at, false
}

func same(a, b string) int {
	if a == b {
		return 1
	}
	return 0
}

// touches tells whether some of the shape is in a rectangle.
func (a shape) touches(r vg.Rectangle) bool {
	inside := draw.Canvas{Rectangle: r}
	for _, lines := range [][][]vg.Point{a.lines, a.bars} {
		if len(inside.ClipLinesXY(lines...)) > 0 {
			return true
		}
	}
	for _, band := range a.bands {
		if len(inside.ClipPolygonXY(band)) > 0 {
			return true
		}
	}
	inside.Min = inside.Min.Sub(vg.Point{X: markRadius, Y: markRadius})
	inside.Max = inside.Max.Add(vg.Point{X: markRadius, Y: markRadius})
	return slices.ContainsFunc(a.marks, inside.Contains)
}

// inside writes the legend into a rectangle of the diagram.
func (l legend) inside(c draw.Canvas, at vg.Rectangle) {
	back := vg.Rectangle{Min: at.Min.Sub(vg.Point{X: legendRoom, Y: legendRoom}), Max: at.Max.Add(vg.Point{X: legendRoom, Y: legendRoom})}
	c.SetColor(color.White) // over the grid
	c.Fill(back.Path())
	c.SetLineStyle(draw.LineStyle{Color: rule, Width: 0.8})
	c.Stroke(back.Path())
	l.write(c, at.Min.X, l.stacked(at.Max.Y))
}

// stacked are the heights of the entries, from the top.
func (l legend) stacked(top vg.Length) []vg.Length {
	heights := make([]vg.Length, len(l.entries))
	for i := range heights {
		heights[i] = top - entryHeight*(vg.Length(i)+0.5)
	}
	return heights
}

func (l legend) write(c draw.Canvas, left vg.Length, heights []vg.Length) {
	s := style(legendSize, ink)
	s.YAlign = draw.YCenter
	for i, e := range l.entries {
		if e.series != nil {
			if !e.series.points {
				c.StrokeLine2(e.series.line, left, heights[i], left+sampleLength, heights[i])
			}
			if e.series.marked {
				c.DrawGlyphNoClip(e.series.glyph, vg.Point{X: left + sampleLength/2, Y: heights[i]})
			}
		}
		c.FillText(s, vg.Point{X: left + sampleLength + sampleGap, Y: heights[i] + 1}, e.name) // level with the small letters
	}
}

// ends are the heights at which the series come to the right edge of the diagram, or near it; NaN for those that do not.
func (d *drawing) ends(data *draw.Canvas, p *plot.Plot) map[*series]float64 {
	toX, toY := transforms(data, p)
	ends := map[*series]float64{}
	for _, s := range d.series {
		ends[s] = math.NaN()
		for i := len(s.x) - 1; i >= 0 && !s.crowded; i-- {
			if math.IsNaN(s.x[i]) {
				continue
			}
			if x := toX(s.x[i]); x <= data.Max.X+1 && x >= data.Max.X-0.15*(data.Max.X-data.Min.X) {
				ends[s] = min(max(toY(s.y[i]), data.Min.Y), data.Max.Y).Points()
			}
			break
		}
	}
	return ends
}

// beside writes the legend to the right of the diagram, each name level with the end of its line as far as there is room.
func (l legend) beside(c draw.Canvas, data draw.Canvas, ends map[*series]float64) {
	left := c.Max.X - l.width()
	wanted := make([]float64, len(l.entries))
	for i, e := range l.entries {
		end, known := ends[e.series]
		if !known || math.IsNaN(end) {
			l.write(c, left, l.stacked(data.Max.Y))
			return
		}
		wanted[i] = end
	}
	heights := make([]vg.Length, len(wanted))
	spread(byHeight(wanted), wanted, heights, float64(data.Min.Y)+float64(entryHeight)/2, float64(data.Max.Y)-float64(entryHeight)/2)
	l.write(c, left, heights)
}

// byHeight is the order from the top.
func byHeight(wanted []float64) []int {
	order := make([]int, len(wanted))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(wanted[j], wanted[i]) })
	return order
}

// spread moves heights, which fall in the order given, apart so that each has its room between low and high; those that are in each
// other's way are moved together, each lot around the middle of what its members want.
func spread(order []int, wanted []float64, heights []vg.Length, low, high float64) {
	type lot struct {
		members int
		middle  float64
	}
	const apart = float64(entryHeight)
	place := func(l lot) lot {
		half := float64(l.members-1) / 2 * apart
		l.middle = min(max(l.middle, low+half), max(high-half, low+half))
		return l
	}
	var lots []lot
	for _, i := range order {
		next := place(lot{1, wanted[i]})
		for len(lots) > 0 {
			above := lots[len(lots)-1]
			if above.middle-next.middle >= float64(above.members+next.members)/2*apart-1e-9 {
				break
			}
			all := above.members + next.members
			next = place(lot{all, (above.middle*float64(above.members) + next.middle*float64(next.members)) / float64(all)})
			lots = lots[:len(lots)-1]
		}
		lots = append(lots, next)
	}
	at := 0
	for _, l := range lots {
		for k := range l.members {
			heights[order[at]] = vg.Length(l.middle + (float64(l.members-1)/2-float64(k))*apart)
			at++
		}
	}
}
