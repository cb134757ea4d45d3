//go:build !nofigures

package figures

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"pgregory.net/rapid"
)

// texts parses a picture as XML and returns what is written in it.
func texts(t require.TestingT, picture []byte) (found []string) {
	decoder := xml.NewDecoder(bytes.NewReader(picture))
	in := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err, "%s", picture)
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local == "text"
		case xml.CharData:
			if in {
				found = append(found, string(token))
			}
			in = false
		}
	}
}

func checkPNG(t require.TestingT, picture []byte) {
	image, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	assert.Equal(t, Width, image.Bounds().Dx())
	assert.Equal(t, Height, image.Bounds().Dy())
	r, g, b, a := image.At(1, 1).RGBA()
	assert.Equal(t, [4]uint32{0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF}, [4]uint32{r, g, b, a}, "the background is white")
}

// The same bytes on every run, from several goroutines too, of well-formed pictures of the right size.
func TestPictures(t *testing.T) {
	first, second := pictures(t), pictures(t)
	for name, f := range first {
		t.Run(name, func(t *testing.T) {
			vector, err := f.SVG()
			require.NoError(t, err)
			raster, err := f.PNG()
			require.NoError(t, err)
			written := texts(t, vector)
			if len(f.Title) < 80 {
				assert.Contains(t, written, f.Title)
				assert.Contains(t, written, f.X)
				assert.Contains(t, written, f.Y)
			}
			assert.Contains(t, string(vector), `width="675pt" height="450pt"`)
			assert.NotContains(t, string(vector), "NaN")
			assert.NotContains(t, string(vector), "Inf")
			assert.NotContains(t, string(vector), "Generated")
			checkPNG(t, raster)
			var wait sync.WaitGroup // at once
			same := func(draw func() ([]byte, error), want []byte) {
				again, err := draw()
				assert.NoError(t, err)
				assert.True(t, bytes.Equal(want, again))
			}
			wait.Go(func() { same(second[name].SVG, vector) })
			wait.Go(func() { same(second[name].PNG, raster) })
			wait.Wait()
		})
	}
}

// No value makes it fail, be it missing, far off or tiny.
func TestAnyValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	value := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2, 2), rapid.Float64Range(0, 1),
		rapid.SampledFrom([]float64{nan, inf, -inf, 0, 1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1e100, 1 - 1e-16, 1e-300}))
	rapid.Check(t, func(t *rapid.T) {
		f := &Figure{Title: "t", X: "x", Y: "y", Diagonal: rapid.Bool().Draw(t, "diagonal")}
		kinds := rapid.IntRange(0, 8).Draw(t, "kinds")
		f.LogX, f.LogitX = kinds%3 == 1, kinds%3 == 2
		f.LogY, f.LogitY = kinds/3 == 1, kinds/3 == 2
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			n := rapid.IntRange(0, 6).Draw(t, "n")
			values := rapid.SliceOfN(value, n, n)
			l := Line{Name: rapid.String().Draw(t, "name"), X: values.Draw(t, "x"), Y: values.Draw(t, "y"),
				Points: rapid.Bool().Draw(t, "points"), Marked: rapid.Bool().Draw(t, "marked")}
			if rapid.Bool().Draw(t, "interval") {
				l.Low, l.High = values.Draw(t, "low"), values.Draw(t, "high")
			}
			f.Lines = append(f.Lines, l)
		}
		limits := rapid.IntRange(0, 15).Draw(t, "limits")
		for k, end := range []**float64{&f.MinX, &f.MaxX, &f.MinY, &f.MaxY} {
			if limits&(1<<k) != 0 {
				*end = to([]float64{0.25, 0.75}[k%2])
			}
		}
		picture, err := f.SVG()
		require.NoError(t, err)
		written := string(picture)
		if strings.Contains(written, "NaN") || strings.Contains(written, "Inf") {
			for _, found := range texts(t, picture) {
				written = strings.ReplaceAll(written, found, "")
			}
			assert.NotContains(t, written, "NaN")
			assert.NotContains(t, written, "Inf")
		}
		texts(t, picture)
		if rapid.IntRange(0, 19).Draw(t, "raster") == 0 { // it takes longer
			picture, err = f.PNG()
			require.NoError(t, err)
			checkPNG(t, picture)
		}
	})
}

// Names can have any characters.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		`<script>&amp; "a" 'b' </text>`: `<script>&amp; "a" 'b' </text>`,
		"two\nlines\tand\rmore":         "two lines and more",
		"control\x00\x1b":               "control",
		"bad utf-8 \xff!":               "bad utf-8 \uFFFD!",
		"not XML \uFFFE\uFFFF":          "not XML \uFFFD\uFFFD",
		"größer 人口 π ≥ ½":               "größer 人口 π ≥ ½",
		"-->":                           "-->",
		"font-family:Liberation Sans;":  "font-family:Liberation Sans;",
		"<!-- x -->":                    "<!-- x -->",
	} {
		f := &Figure{Title: name, Subtitle: name, X: name, Y: name, Lines: []Line{{Name: name, X: []float64{1, 2}, Y: []float64{1, 2}}}}
		picture, err := f.SVG()
		require.NoError(t, err)
		found := 0
		for _, text := range texts(t, picture) {
			if text == want {
				found++
			}
		}
		assert.Equal(t, 5, found, "%q", name)
		_, err = f.PNG()
		require.NoError(t, err)
	}
}

// A missing point leaves a gap, and a point on its own is still seen.
func TestGaps(t *testing.T) {
	nan := math.NaN()
	f := &Figure{Lines: []Line{{X: []float64{0, 1, nan, 3, 4, 5, 6}, Y: []float64{0, 1, 2, 3, 4, math.Inf(1), 6}}}}
	d, err := f.prepare()
	require.NoError(t, err)
	c := canvas()
	p := d.plot(c)
	data := p.DataCanvas(c)
	a := d.series[0].shape(&data, p)
	assert.Len(t, a.lines, 2)
	assert.Len(t, a.marks, 1)
}

func canvas() draw.Canvas {
	w, h := size()
	return draw.NewCanvas(new(recorder.Canvas), w, h)
}

func TestRefused(t *testing.T) {
	one := []float64{1}
	cases := map[string]Figure{
		"1 values of x, 0 of y":      {Lines: []Line{{X: one}}},
		"0 of low and 1 of high":     {Lines: []Line{{X: one, Y: one, High: one}}},
		"2 of low":                   {Lines: []Line{{X: one, Y: one, Low: []float64{1, 2}, High: one}}},
		"both logarithmic and logit": {LogX: true, LogitX: true},
		"y axis is both":             {LogY: true, LogitY: true},
		"legend at":                  {Legend: "middle"},
		"x axis cannot go":           {MinX: to(2), MaxX: to(1)},
		"y axis cannot go from NaN":  {MinY: to(math.NaN())},
		"x axis cannot go from 0":    {LogX: true, MinX: to(0), MaxX: to(1)},
		"y axis cannot go from 0":    {LogitY: true, MinY: to(0), MaxY: to(1)},
	}
	for message, f := range cases {
		_, err := f.SVG()
		assert.ErrorContains(t, err, message)
		_, err = f.PNG()
		assert.ErrorContains(t, err, message)
	}
}

// Wherever the legend is asked to go, it covers no point.
func TestLegendCoversNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &Figure{
			Title:  "t",
			X:      "x",
			Y:      "y",
			Legend: rapid.SampledFrom([]string{"", "top left", "top right", "bottom left", "bottom right"}).Draw(t, "legend"),
		}
		unit := rapid.Float64Range(0, 1)
		for k := range rapid.IntRange(1, 4).Draw(t, "lines") {
			n := rapid.IntRange(1, 12).Draw(t, "n")
			f.Lines = append(f.Lines, Line{Name: fmt.Sprint("score ", k), Points: true,
				X: rapid.SliceOfN(unit, n, n).Draw(t, "x"), Y: rapid.SliceOfN(unit, n, n).Draw(t, "y")})
		}
		d, err := f.prepare()
		require.NoError(t, err)
		c := canvas()
		p := d.plot(c)
		data := p.DataCanvas(c)
		at, found := d.corner(d.legend(), &data, p)
		if !found {
			return
		}
		assert.True(t, data.Contains(at.Min) && data.Contains(at.Max))
		toX, toY := p.Transforms(&data)
		for _, l := range f.Lines {
			for i := range l.X {
				point := vg.Point{X: toX(l.X[i]), Y: toY(l.Y[i])}
				covered := point.X > at.Min.X && point.X < at.Max.X && point.Y > at.Min.Y && point.Y < at.Max.Y
				assert.False(t, covered)
			}
		}
	})
}

func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		wanted := rapid.SliceOfN(rapid.Float64Range(0, 400), n, n).Draw(t, "wanted")
		order := byHeight(wanted)
		heights := make([]vg.Length, n)
		spread(order, wanted, heights, 8, 392)
		free := true
		for k, i := range order {
			assert.GreaterOrEqual(t, heights[i].Points(), 8-1e-9)
			assert.LessOrEqual(t, heights[i].Points(), 392+1e-9)
			if k > 0 {
				assert.GreaterOrEqual(t, float64(heights[order[k-1]]-heights[i]), float64(entryHeight)-1e-6)
				free = free && wanted[order[k-1]]-wanted[i] > float64(entryHeight)
			}
			free = free && wanted[i] >= 8 && wanted[i] <= 392
		}
		if free {
			for i := range wanted {
				assert.InDelta(t, wanted[i], heights[i].Points(), 1e-9)
			}
		}
	})
}
