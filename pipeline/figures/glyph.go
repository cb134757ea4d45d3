//go:build !nofigures

package figures

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A polygon is a marker with so many sides; its first corner is turned by so much of a circle from the right.
type polygon struct {
	sides  int
	turn   float64
	hollow bool
}

// Markers. Those with few corners reach further, so that all look equally large.
var glyphs = []draw.GlyphDrawer{
	polygon{sides: 0}, polygon{sides: 4, turn: 0.125}, polygon{sides: 3, turn: 0.25}, polygon{sides: 4}, polygon{sides: 3, turn: 0.75},
	polygon{sides: 0, hollow: true}, polygon{sides: 4, turn: 0.125, hollow: true}, polygon{sides: 3, turn: 0.25, hollow: true},
}

// DrawGlyph draws the marker; no sides make a circle.
func (g polygon) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	var path vg.Path
	if g.sides == 0 {
		path.Move(vg.Point{X: at.X + s.Radius, Y: at.Y})
		path.Arc(at, s.Radius, 0, 2*math.Pi)
	}
	for k := range g.sides {
		reach := s.Radius * vg.Length(math.Sqrt(2*math.Pi/(float64(g.sides)*math.Sin(2*math.Pi/float64(g.sides)))))
		sin, cos := math.Sincos(2 * math.Pi * (g.turn + float64(k)/float64(g.sides)))
		corner := at.Add(vg.Point{X: reach * vg.Length(cos), Y: reach * vg.Length(sin)})
		if k == 0 {
			path.Move(corner)
		} else {
			path.Line(corner)
		}
	}
	path.Close()
	if !g.hollow {
		c.SetColor(s.Color)
		c.Fill(path)
		return
	}
	c.SetColor(color.White)
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: lineWidth * 0.8})
	c.Stroke(path)
}
