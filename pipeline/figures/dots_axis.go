package figures

import (
	"fmt"
	"math"
	"strings"
)

// A dotAxis places values between two ends, in pixels.
type dotAxis struct {
	log         bool
	from, to    float64 // pixels, of least and most
	least, most float64
	before      string // a logarithmic axis with values whose place is before it: what they are called, "0" or "less"
}

// mostDecades is how far a logarithmic axis reaches; what is less stands before it.
const mostDecades = 6

// beforeAxis is how far before a logarithmic axis 0 is.
const beforeAxis = 46

func newDotAxis(log bool, from, to float64, values []float64) dotAxis {
	a := dotAxis{log: log, from: from, to: to}
	least, most := math.Inf(1), 0.0
	for _, v := range values {
		if log && v <= 0 {
			a.before = "0"
			continue
		}
		least, most = min(least, v), max(most, v)
	}
	if !log {
		a.most = 1
		if most > 0 {
			a.most = most * 1.06
		}
		return a
	}
	if math.IsInf(least, 1) {
		least, most = 0.1, 1
	}
	if floor := most * math.Pow10(-mostDecades); least < floor {
		least, a.before = floor, "less"
	}
	a.least = math.Pow(10, math.Floor(math.Log10(least)+1e-9))
	a.most = max(most*1.25, a.least*10)
	if a.before != "" {
		a.from += math.Copysign(beforeAxis, to-from)
	}
	return a
}

// at is the place of a value.
func (a dotAxis) at(v float64) float64 {
	switch {
	case !a.log:
		return a.from + (a.to-a.from)*v/a.most
	case v < a.least:
		return a.from - math.Copysign(beforeAxis-10, a.to-a.from)
	}
	return a.from + (a.to-a.from)*math.Log(v/a.least)/math.Log(a.most/a.least)
}

// name is what a tick is called.
func (a dotAxis) name(v float64) string {
	if a.log && v == 0 {
		return a.before
	}
	return strings.ReplaceAll(fmt.Sprintf("%.10g", v), "e-0", "e-")
}

// ticks are values to name.
func (a dotAxis) ticks() []float64 {
	var list []float64
	if !a.log {
		step := math.Pow(10, math.Floor(math.Log10(a.most)))
		for _, part := range []float64{1, 0.5, 0.2, 0.1} {
			if a.most/(step*part) >= 4 {
				step *= part
				break
			}
		}
		for i := 0; float64(i)*step <= a.most; i++ {
			list = append(list, float64(i)*step)
		}
		return list
	}
	if a.before != "" {
		list = append(list, 0)
	}
	decades := math.Log10(a.most / a.least)
	for k := 0; ; k++ {
		one := a.least * math.Pow(10, float64(k))
		if one > a.most*(1+1e-9) {
			return list
		}
		list = append(list, one)
		if decades < 2.2 {
			for _, part := range []float64{2, 5} {
				if one*part <= a.most {
					list = append(list, one*part)
				}
			}
		}
	}
}
