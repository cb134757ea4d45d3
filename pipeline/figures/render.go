//go:build !nofigures

package figures

import (
	"bytes"
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"microrisk/schemas/pattern"
)

// Missing is nil: this program draws figures.
func Missing() error { return nil }

const resolution = 96 // pixels per inch

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
	return comment().ReplaceAll(picture, nil), nil
}

// Text is escaped, < and quotes too, so that what is replaced is never part of a name.
var comment = pattern.New(`<!--[^>]*-->\n`)

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
