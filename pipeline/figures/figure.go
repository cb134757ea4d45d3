// Package figures draws the pictures by which risk scores are judged, as SVG and PNG.
//
//	figure := figures.ROC([]figures.Curve{{Name: "SUDA", ROC: suda}, {Name: "MC3", ROC: mc3}})
//	picture, err := figure.SVG()
//
// A Figure can also be made by hand. Its bytes are the same on every run. Colours are those of Okabe & Ito, which the colour-blind can
// tell apart; line styles and markers differ too.
package figures

import (
	"bytes"
	"fmt"
	"math"
	"regexp"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a figure in pixels.
const (
	Width  = 900
	Height = 600

	resolution = 96 // pixels per inch
)

// A Figure is a diagram with two axes.
type Figure struct {
	Title, Subtitle string
	X, Y            string // axis titles, with units
	Lines           []Line
	Diagonal        bool // draws y = x
	// Scales. Values on a logarithmic axis are above 0, on a logit axis in (0, 1); others are missing. Tick labels are in the values' own
	// units.
	LogX, LogY, LogitX, LogitY bool
	// Ends of the axes, in the values' own units; nil for where the data end. What lies outside is cut off.
	MinX, MaxX, MinY, MaxY *float64
	// Legend is where the legend goes if it covers nothing there: "top left", "top right", "bottom left", "bottom right"; else it goes
	// to another corner, or to the right of the diagram. "right" is always there, with each name level with the end of its line.
	// Empty for the best corner, "none" for no legend.
	Legend string
}

// A Line is one series. Points at which X or Y is missing (NaN, infinite, beyond 1e100, or not on a logarithmic or logit scale) break
// the line. A series without points is legal.
type Line struct {
	Name string // in the legend; not there if empty
	X, Y []float64
	// Low and High, if not nil, are the ends of an interval around each Y: drawn as a band, or as bars where there are markers.
	Low, High []float64
	Points    bool // markers, no line
	Marked    bool // markers and a line
}

// SVG draws the figure. It is an error if the lengths of a line's slices differ, or the axes cannot be as asked.
func (f *Figure) SVG() ([]byte, error) {
	d, err := f.prepare()
	if err != nil {
		return nil, err
	}
	w, h := size()
	c := vgsvg.New(w, h)
	d.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("drawing a figure as SVG: %w", err)
	}
	// Viewers without the font take one of the same widths.
	picture := bytes.ReplaceAll(b.Bytes(), []byte(`"font-family:Liberation Sans;`), []byte(`"font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`))
	return comment.ReplaceAll(picture, nil), nil
}

// Text is escaped, < and quotes too, so that what is replaced is never part of a name.
var comment = regexp.MustCompile(`<!--[^>]*-->\n`)

// PNG draws the figure, Width by Height pixels. Errors are those of SVG.
func (f *Figure) PNG() ([]byte, error) {
	d, err := f.prepare()
	if err != nil {
		return nil, err
	}
	w, h := size()
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(resolution))}
	d.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("drawing a figure as PNG: %w", err)
	}
	return b.Bytes(), nil
}

func size() (width, height vg.Length) {
	return vg.Length(Width) * vg.Inch / resolution, vg.Length(Height) * vg.Inch / resolution
}

// prepare checks the figure and puts its values on the scales.
func (f *Figure) prepare() (*drawing, error) {
	d := &drawing{figure: f}
	var err error
	if d.x, err = newScale("x", f.LogX, f.LogitX); err != nil {
		return nil, err
	}
	if d.y, err = newScale("y", f.LogY, f.LogitY); err != nil {
		return nil, err
	}
	if !places[f.Legend] {
		return nil, fmt.Errorf("legend at %q", f.Legend)
	}
	lines := 0
	for i, l := range f.Lines {
		if len(l.X) != len(l.Y) || l.Low != nil && len(l.Low) != len(l.X) || l.High != nil && len(l.High) != len(l.X) || (l.Low == nil) != (l.High == nil) {
			return nil, fmt.Errorf("line %d (%q) has %d values of x, %d of y, %d of low and %d of high", i, l.Name, len(l.X), len(l.Y), len(l.Low), len(l.High))
		}
		d.series = append(d.series, newSeries(l, i, lines, d.x, d.y))
		if !l.Points {
			lines++
		}
	}
	for _, s := range d.series {
		for i := range s.x {
			if math.IsNaN(s.x[i]) || math.IsNaN(s.y[i]) {
				continue
			}
			d.x.see(s.x[i])
			d.y.see(s.y[i])
			if s.low != nil {
				d.y.see(s.low[i])
				d.y.see(s.high[i])
			}
		}
	}
	if err := d.x.close(f.MinX, f.MaxX); err != nil {
		return nil, err
	}
	if err := d.y.close(f.MinY, f.MaxY); err != nil {
		return nil, err
	}
	return d, nil
}
