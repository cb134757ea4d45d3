package figures

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// elements counts those of a drawing, which must be XML.
func elements(t *testing.T, svg string) map[string]int {
	counts := make(map[string]int)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts
		}
		require.NoError(t, err, svg)
		if e, is := token.(xml.StartElement); is {
			counts[e.Name.Local]++
		}
	}
}

func TestDots(t *testing.T) {
	d := &Dots{Title: "a < b", Description: "what \x00 there is", X: "x & y", LogX: true, Rows: []string{"first", "<second>"}, Series: []DotSeries{
		{
			Name: "one",
			Dots: []Dot{{X: 0, Y: 0, Hint: "none"}, {X: 10, Y: 1, Low: 1, High: 100}, {X: math.NaN(), Y: 1}},
		}, {Name: "two", Dots: []Dot{{X: 1, Y: 1}}}}}
	svg := d.SVG("id")
	counts := elements(t, svg)
	require.Equal(t, 1, counts["desc"])
	require.Equal(t, 1+2, counts["circle"]) // in the legend too; one that is missing is nowhere
	require.Contains(t, svg, `aria-labelledby="id-t id-d"`)
	require.Contains(t, svg, "&lt;second&gt;")
	require.Contains(t, svg, ">0</text>")
	require.Contains(t, svg, "<title>none</title>")
	require.Equal(t, svg, d.SVG("id"))
	elements(t, (&Dots{}).SVG("empty"))
	elements(t, (&Dots{LogX: true, LogY: true, Series: []DotSeries{{Name: "nothing", Joined: true}}}).SVG("empty"))
}

func TestDotAxes(t *testing.T) {
	a := newDotAxis(true, 100, 500, []float64{0, 0.03, 70})
	require.Less(t, a.at(0), a.at(0.01))
	require.Greater(t, a.at(0), 100.)
	require.InDelta(t, a.at(0.1)-a.at(0.01), a.at(10)-a.at(1), 1e-9)
	require.Equal(t, "0", a.name(a.ticks()[0]))
	require.Subset(t, a.ticks(), []float64{0, 0.01, 0.1, 1, 10})
	a = newDotAxis(true, 100, 500, []float64{1e-13, 50}) // what is much less stands before the axis
	require.Equal(t, "less", a.name(a.ticks()[0]))
	require.Less(t, a.at(1e-13), a.at(1e-4))
	a = newDotAxis(false, 500, 100, []float64{0, 16})
	require.InDelta(t, 500, a.at(0), 1e-9)
	require.Less(t, a.at(16), a.at(8))
	require.Equal(t, []float64{0, 2, 4, 6, 8, 10, 12, 14, 16}, a.ticks())
	require.NotEmpty(t, newDotAxis(false, 0, 1, nil).ticks())
	require.NotEmpty(t, newDotAxis(true, 0, 1, nil).ticks())
}
