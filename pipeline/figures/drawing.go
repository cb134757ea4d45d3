//go:build !nofigures

package figures

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes in points: 1 pixel is 3/4.
const (
	titleSize    vg.Length = 15
	subtitleSize vg.Length = 11
	axisSize     vg.Length = 12
	tickSize     vg.Length = 11
	legendSize   vg.Length = 11
	edge         vg.Length = 12 // free around everything
)

var (
	ink  = color.Gray{0x20}
	soft = color.Gray{0x55}
	rule = color.Gray{0xE2}
)

// A drawing is a figure whose values have been checked and placed on scales.
type drawing struct {
	figure *Figure
	x, y   *scale
	series []*series
}

// style of text; its origin is at the left, and at the bottom of its line.
func style(size vg.Length, colour color.Color) text.Style {
	return text.Style{Color: colour, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, Handler: plot.DefaultTextHandler}
}

// fitting is as much of a text as there is room for.
func fitting(s text.Style, name string, room vg.Length) string {
	return shortened(name, func(part string) bool { return s.Width(part) <= room })
}

// draw draws all of it on a canvas.
func (d *drawing) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, edge, -edge, edge, -edge)
	c.Max.Y -= d.heading(c)

	p := d.plot(c)
	legend := d.legend()
	right := vg.Length(0)
	inside := p.DataCanvas(c)
	place, fits := d.corner(legend, &inside, p)
	if len(legend.entries) > 0 && !fits {
		right = legend.width() + edge
	}
	area := draw.Crop(c, 0, -right, 0, 0)
	p.Draw(area)
	switch data := p.DataCanvas(area); {
	case len(legend.entries) == 0:
	case fits:
		legend.inside(c, place)
	default:
		legend.beside(c, data, d.ends(&data, p))
	}
}

// heading writes the titles and returns how high they are.
func (d *drawing) heading(c draw.Canvas) (height vg.Length) {
	write := func(what string, s text.Style, after vg.Length) {
		if what = oneLine(what); what == "" {
			return
		}
		s.YAlign = draw.YTop
		c.FillText(s, vg.Point{X: c.Min.X, Y: c.Max.Y - height}, fitting(s, what, c.Max.X-c.Min.X))
		height += s.Height(what) + after
	}
	title := style(titleSize, ink)
	title.Font.Weight = xfont.WeightBold
	write(d.figure.Title, title, 3)
	write(d.figure.Subtitle, style(subtitleSize, soft), 2)
	if height > 0 {
		height += 8
	}
	return height
}

// plot sets up the diagram.
func (d *drawing) plot(c draw.Canvas) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	wide, high := c.Max.X-c.Min.X, c.Max.Y-c.Min.Y
	set := func(a *plot.Axis, s *scale, title string, ticks plot.ConstantTicks, room vg.Length) {
		a.Min, a.Max, a.Padding = s.min, s.max, 0
		a.LineStyle = draw.LineStyle{Color: soft, Width: 0.8}
		a.Tick.LineStyle, a.Tick.Length, a.Tick.Marker = a.LineStyle, 5, ticks
		for _, to := range []struct {
			style *text.Style
			like  text.Style
		}{{&a.Tick.Label, style(tickSize, ink)}, {&a.Label.TextStyle, style(axisSize, ink)}} {
			to.style.Font, to.style.Color, to.style.Handler = to.like.Font, to.like.Color, to.like.Handler
		}
		a.Label.Text = fitting(a.Label.TextStyle, oneLine(title), room)
		a.Label.Padding = 5
	}
	// Of the canvas, about a tenth goes to labels.
	set(&p.X, d.x, d.figure.X, d.x.ticks(0.88*wide.Points(), 44), wide*0.85)
	set(&p.Y, d.y, d.figure.Y, d.y.ticks(0.85*high.Points(), 24), high*0.85)
	grid := plotter.NewGrid()
	grid.Horizontal, grid.Vertical = draw.LineStyle{Color: rule, Width: 0.8}, draw.LineStyle{Color: rule, Width: 0.8}
	p.Add(grid)
	if d.figure.Diagonal {
		p.Add(diagonal{d.x, d.y})
	}
	for _, s := range d.series {
		p.Add(s)
	}
	return p
}
