//go:build !nofigures

package figures

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours of Okabe & Ito (2008), in the order in which they stand apart best on white; the yellow is left out, it is too faint.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x00, 0x00, 0x00, 0xFF}, // black
}

// Line styles, in points on and off. There is one fewer than colours, so that pairs repeat late.
var dashes = [][]vg.Length{nil, {8, 3}, {2, 2.5}, {9, 3, 2, 3}, {14, 4}, {5, 2, 2, 2, 2, 2}}

const (
	lineWidth   vg.Length = 1.8
	markRadius  vg.Length = 3.2
	crowdRadius vg.Length = 2
	// With more markers than this they are small, and one can be seen through.
	crowd = 400
)

// A series is a line in positions on the scales; NaN where it is missing.
type series struct {
	name           string
	x, y           []float64
	low, high      []float64 // nil without an interval; infinite where it goes beyond the scale
	points, marked bool
	colour         color.NRGBA
	line           draw.LineStyle
	glyph          draw.GlyphStyle
	crowded        bool
}

func newSeries(l Line, number, lines int, x, y *scale) *series {
	s := &series{name: oneLine(l.Name), points: l.Points, marked: l.Points || l.Marked, colour: palette[number%len(palette)]}
	s.line = draw.LineStyle{Color: s.colour, Width: lineWidth, Dashes: dashes[lines%len(dashes)]}
	s.glyph = draw.GlyphStyle{Color: s.colour, Radius: markRadius, Shape: glyphs[number%len(glyphs)]}
	s.x, s.y = make([]float64, len(l.X)), make([]float64, len(l.X))
	seen := 0
	for i := range l.X {
		s.x[i], s.y[i] = x.position(l.X[i]), y.position(l.Y[i])
		if math.IsInf(s.x[i], 0) || math.IsInf(s.y[i], 0) || math.IsNaN(s.x[i]) || math.IsNaN(s.y[i]) {
			s.x[i], s.y[i] = math.NaN(), math.NaN()
			continue
		}
		seen++
	}
	if l.Low != nil {
		s.low, s.high = make([]float64, len(l.X)), make([]float64, len(l.X))
		for i := range l.X {
			s.low[i], s.high[i] = y.position(l.Low[i]), y.position(l.High[i])
		}
	}
	if s.points && seen > crowd {
		s.crowded = true
		s.glyph.Shape = polygon{}
	}
	return s
}

// runs are the stretches of places for which present holds.
func runs(n int, present func(i int) bool) (found [][2]int) {
	for i := 0; i < n; i++ {
		if !present(i) {
			continue
		}
		first := i
		for i < n && present(i) {
			i++
		}
		found = append(found, [2]int{first, i})
	}
	return found
}

// A shape is a series in the coordinates of a canvas, cut at the edges of its diagram.
type shape struct {
	lines, bars [][]vg.Point
	bands       [][]vg.Point
	marks       []vg.Point
}

// transforms are those from positions to the coordinates of a canvas. What is very far outside, infinite values included, is brought
// nearer, so that clipping keeps its precision.
func transforms(c *draw.Canvas, p *plot.Plot) (x, y func(float64) vg.Length) {
	toX, toY := p.Transforms(c)
	within := func(v float64, a plot.Axis) float64 {
		const far = 1e6
		return min(max(v, a.Min-far*(a.Max-a.Min)), a.Max+far*(a.Max-a.Min))
	}
	return func(v float64) vg.Length { return toX(within(v, p.X)) }, func(v float64) vg.Length { return toY(within(v, p.Y)) }
}

// shape places the series on the canvas of a diagram.
func (s *series) shape(c *draw.Canvas, p *plot.Plot) (a shape) {
	toX, toY := transforms(c, p)
	at := func(i int) vg.Point { return vg.Point{X: toX(s.x[i]), Y: toY(s.y[i])} }
	present := func(i int) bool { return !math.IsNaN(s.x[i]) }
	if !s.points {
		for _, run := range runs(len(s.x), present) {
			var path []vg.Point
			for i := run[0]; i < run[1]; i++ {
				// What moves by less than can be seen is left out.
				if next := at(i); len(path) == 0 || i == run[1]-1 || far(next, path[len(path)-1]) {
					path = append(path, next)
				}
			}
			a.lines = append(a.lines, c.ClipLinesXY(path)...)
			if len(path) == 1 && !s.marked && c.Contains(path[0]) { // a line of one point would not be seen
				a.marks = append(a.marks, path[0])
			}
		}
	}
	if s.marked {
		for i := range s.x {
			if present(i) && c.Contains(at(i)) {
				a.marks = append(a.marks, at(i))
			}
		}
	}
	if s.low == nil {
		return a
	}
	both := func(i int) bool { return present(i) && !math.IsNaN(s.low[i]) && !math.IsNaN(s.high[i]) }
	for _, run := range runs(len(s.x), both) {
		var top, bottom []vg.Point
		for i := run[0]; i < run[1]; i++ {
			x := toX(s.x[i])
			low, high := vg.Point{X: x, Y: toY(s.low[i])}, vg.Point{X: x, Y: toY(s.high[i])}
			if !s.marked {
				top, bottom = append(top, high), append(bottom, low)
				continue
			}
			const cap vg.Length = 3
			a.bars = append(a.bars, c.ClipLinesXY([]vg.Point{low, high},
				[]vg.Point{{X: x - cap, Y: low.Y}, {X: x + cap, Y: low.Y}}, []vg.Point{{X: x - cap, Y: high.Y}, {X: x + cap, Y: high.Y}})...)
		}
		if len(top) > 1 {
			slices.Reverse(bottom)
			a.bands = append(a.bands, c.ClipPolygonXY(append(top, bottom...)))
		}
	}
	return a
}

// far tells whether two points are more than a fifth of a point apart.
func far(a, b vg.Point) bool {
	return math.Abs(float64(a.X-b.X)) > 0.2 || math.Abs(float64(a.Y-b.Y)) > 0.2
}

// Plot draws the series.
func (s *series) Plot(c draw.Canvas, p *plot.Plot) {
	a := s.shape(&c, p)
	pale := s.colour
	pale.A = 0x30
	for _, band := range a.bands {
		c.FillPolygon(pale, band)
	}
	bar := draw.LineStyle{Color: s.colour, Width: 1}
	c.StrokeLines(bar, a.bars...)
	c.StrokeLines(s.line, a.lines...)
	glyph := s.glyph
	if s.crowded {
		faint := s.colour
		faint.A = 0x48
		glyph.Color, glyph.Radius = faint, crowdRadius
	}
	for _, at := range a.marks {
		c.DrawGlyphNoClip(glyph, at)
	}
}

// A diagonal is the line y = x.
type diagonal struct{ x, y *scale }

// path of the diagonal; where the axes have different scales it is bent.
func (d diagonal) path(c *draw.Canvas, p *plot.Plot) [][]vg.Point {
	toX, toY := transforms(c, p)
	const steps = 400
	var path []vg.Point
	for i := range steps + 1 {
		position := d.x.min + (d.x.max-d.x.min)*float64(i)/steps
		y := position
		if d.x.kind != d.y.kind {
			y = d.y.position(d.x.value(position))
		}
		path = append(path, vg.Point{X: toX(position), Y: toY(y)})
	}
	return c.ClipLinesXY(path)
}

// Plot draws it.
func (d diagonal) Plot(c draw.Canvas, p *plot.Plot) {
	c.StrokeLines(draw.LineStyle{Color: color.Gray{0x80}, Width: 1, Dashes: []vg.Length{3, 3}}, d.path(&c, p)...)
}
