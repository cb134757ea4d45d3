package compare

import (
	"math"
	"strconv"
	"strings"

	"microrisk/operators/report"
)

// A Group is the runs of a method with the same parameters: several if it is left to chance.
type Group struct {
	Method, Variant string
	Runs            []*Row
}

// Groups are the runs, those of a method with the same parameters together.
func (o *Outcome) Groups() []*Group {
	var list []*Group
	for _, r := range o.Rows {
		if n := len(list); n == 0 || r.Replicate == 1 || list[n-1].Runs[0].ID != r.ID || list[n-1].Method != r.Method || list[n-1].Variant != r.Variant {
			list = append(list, &Group{Method: r.Method, Variant: r.Variant})
		}
		last := list[len(list)-1]
		last.Runs = append(last.Runs, r)
	}
	return list
}

// Name is the method with its parameters.
func (g *Group) Name() string { return strings.TrimSuffix(g.Method+", "+g.Variant, ", ") }

// Status is the worst of the runs, or that of most of them.
func (g *Group) Status() string {
	for _, r := range g.Runs {
		if r.Status != StatusOK {
			return r.Status
		}
	}
	return StatusOK
}

// Figures are whether the runs came to a table.
func (g *Group) Figures() bool { return g.Runs[0].Hidden != nil }

// A Spread is a figure of several runs.
type Spread struct{ Mean, Low, High float64 }

// Missing tells that no run has the figure.
func (s Spread) Missing() bool { return math.IsNaN(s.Mean) }

// Of is a figure of the runs that have it.
func (g *Group) Of(figure func(*Row) *float64) Spread {
	s, n := Spread{Low: math.Inf(1), High: math.Inf(-1)}, 0.0
	for _, r := range g.Runs {
		if v := figure(r); v != nil {
			s.Mean += *v
			s.Low, s.High = min(s.Low, *v), max(s.High, *v)
			n++
		}
	}
	if n == 0 {
		return Spread{math.NaN(), math.NaN(), math.NaN()}
	}
	s.Mean /= n
	return s
}

// Text is the figure for people: with its ends, if runs differ.
func (s Spread) Text(write func(float64) string) string {
	switch {
	case s.Missing():
		return ""
	case write(s.Low) == write(s.High):
		return write(s.Mean)
	}
	return write(s.Mean) + " (" + write(s.Low) + " to " + write(s.High) + ")"
}

// Short writes a number with three digits that count.
func Short(x float64) string {
	switch {
	case math.Abs(x) >= 100:
		return report.Count(int64(math.Round(x)))
	case x != 0 && math.Abs(x) < 1e-4:
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// Count is a whole number of a row as a figure.
func Count(of func(*Row) *int64) func(*Row) *float64 {
	return func(r *Row) *float64 {
		v := of(r)
		if v == nil {
			return nil
		}
		return number(float64(*v))
	}
}

// SAPAfter and SAPBefore are means over areas, with the largest number of people known that was asked for.
func SAPAfter(r *Row) *float64 {
	if r.SAP == nil {
		return nil
	}
	return &r.SAP[len(r.SAP)-1].MeanAfter
}

// SAPBefore is that of the true table.
func SAPBefore(r *Row) *float64 {
	if r.SAP == nil {
		return nil
	}
	return &r.SAP[len(r.SAP)-1].MeanBefore
}

// Known is the number of people known of SAPAfter, -1 without SAP.
func (o *Outcome) Known() int64 {
	for _, r := range o.Rows {
		if r.SAP != nil {
			return r.SAP[len(r.SAP)-1].Known
		}
	}
	return -1
}

// Seconds is how long a run took that came to a table.
func Seconds(r *Row) *float64 {
	if r.Hidden == nil {
		return nil
	}
	return &r.Seconds
}

// Touched is the share of cells that are hidden or changed, in percent.
func Touched(r *Row) *float64 {
	if r.HiddenShare == nil {
		return nil
	}
	return number(100 * (*r.HiddenShare + *r.ChangedShare))
}

// Proven says how good a choice is: "yes", or how much of its cost something cheaper might save.
func (g *Group) Proven() string {
	r := g.Runs[0]
	switch {
	case r.Proven == nil && r.Status == StatusLimit && g.Figures():
		return "limit"
	case r.Proven == nil:
		return ""
	case *r.Proven:
		return "best"
	case r.Gap != nil && *r.Gap >= 1:
		return "gap unknown"
	case r.Gap != nil:
		return "gap " + report.Percent(100**r.Gap)
	}
	return "not proven"
}
