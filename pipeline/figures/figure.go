// Package figures draws the pictures by which risk scores are judged, as SVG and PNG.
//
//	figure := figures.ROC([]figures.Curve{{Name: "SUDA", ROC: suda}, {Name: "MC3", ROC: mc3}})
//	picture, err := figure.SVG()
//
// A Figure can also be made by hand. Its bytes are the same on every run. Colours are those of Okabe & Ito, which the colour-blind can
// tell apart; line styles and markers differ too.
//
// A program that is built with the tag nofigures draws no Figure, and has no fonts; Dots, graphs and networks are drawn all the same.
package figures

// Size of a figure in pixels.
const (
	Width  = 900
	Height = 600
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
