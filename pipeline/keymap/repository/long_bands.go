package repository

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"microrisk/engine/keymap"
	"microrisk/schemas/pattern"
)

const bandNumber = `(-?\d+(?:\.\d+)?)`

// bandForms are how people write bands of numbers. A group for the lower end comes before one for the upper end.
var bandForms = []struct {
	rule func() *regexp.Regexp
	band func(ends []float64, step float64) keymap.Band
}{
	{bandRule(bandNumber + `\s*(?:-|–|—|to)\s*` + bandNumber), func(x []float64, step float64) keymap.Band {
		return keymap.Band{Lo: x[0], Hi: x[1] + step}
	}},
	{bandRule(bandNumber + `\s*(?:\+|(?:years )?(?:and|or) (?:over|more|older|above))`), atLeast},
	{bandRule(`(?:>=|≥|at least|from)\s*` + bandNumber), atLeast},
	{bandRule(`(?:>|over|above|more than)\s*` + bandNumber), func(x []float64, step float64) keymap.Band {
		return keymap.Band{Lo: x[0] + step, Hi: math.Inf(1)}
	}},
	{bandRule(`(?:<|under|below|less than)\s*` + bandNumber), func(x []float64, _ float64) keymap.Band {
		return keymap.Band{Lo: math.Inf(-1), Hi: x[0]}
	}},
	{bandRule(`(?:<=|≤|up to|at most)\s*` + bandNumber), upTo},
	{bandRule(bandNumber + `\s*(?:years )?(?:and|or) (?:under|less|younger|below)`), upTo},
}

func atLeast(x []float64, _ float64) keymap.Band { return keymap.Band{Lo: x[0], Hi: math.Inf(1)} }

func upTo(x []float64, step float64) keymap.Band {
	return keymap.Band{Lo: math.Inf(-1), Hi: x[0] + step}
}

func bandRule(text string) func() *regexp.Regexp {
	return pattern.New(`(?i)^\s*(?:` + text + `)(?:\s+\pL+)?\s*$`)
}

var oneNumber = bandRule(bandNumber)

// bandOf reads a label as a band of numbers that are step apart.
func bandOf(label string, step float64) (keymap.Band, bool) {
	numbers := func(found []string) (list []float64) {
		for _, text := range found[1:] {
			x, err := strconv.ParseFloat(text, 64)
			if err == nil {
				list = append(list, x)
			}
		}
		return list
	}
	for _, f := range bandForms {
		if found := f.rule().FindStringSubmatch(label); found != nil {
			b := f.band(numbers(found), step)
			return b, b.Lo < b.Hi
		}
	}
	if found := oneNumber().FindStringSubmatch(label); found != nil && step > 0 {
		x := numbers(found)[0]
		return keymap.Band{Lo: x, Hi: x + step}, true
	}
	return keymap.Band{}, false
}

// BandsOf reads labels as bands of numbers that are step apart, so that 16-20 ends below 20 + step. Where no number is below 0, a band
// without a lower end begins there.
func BandsOf(labels []string, step float64) ([]keymap.Band, error) {
	bands := make([]keymap.Band, len(labels))
	var odd []string
	least := math.Inf(1)
	for i, label := range labels {
		ok := false
		if bands[i], ok = bandOf(label, step); !ok {
			odd = append(odd, strconv.Quote(label))
		}
		for _, x := range []float64{bands[i].Lo, bands[i].Hi} {
			if !math.IsInf(x, 0) {
				least = min(least, x)
			}
		}
	}
	if odd != nil {
		return nil, fmt.Errorf("no bands of numbers: %s", strings.Join(odd, ", "))
	}
	for i := range bands {
		if least >= 0 && math.IsInf(bands[i].Lo, -1) {
			bands[i].Lo = 0
		}
	}
	return bands, nil
}

// SortBands puts bands in their order.
func SortBands(nodes []Node) {
	slices.SortStableFunc(nodes, func(a, b Node) int { return cmp.Or(cmp.Compare(*a.Lo, *b.Lo), cmp.Compare(*a.Hi, *b.Hi)) })
}

// BandLike are labels of a variable that look like bands of numbers, if most of its categories do: read as names, nothing is known of how
// they overlap, and whether 20 is in "16-20".
func (v *Variable) BandLike() []string {
	var list []string
	for _, n := range v.Nodes {
		if _, like := bandOf(n.name(), 0); like {
			list = append(list, n.name())
		}
	}
	if v.Scale == Interval || len(list) < 2 || 2*len(list) < len(v.Nodes) {
		return nil
	}
	return list
}

// Bands makes a variable that was read an interval variable, whose labels are those of [BandsOf].
func (l *Long) Bands(variable string, step float64) error {
	v := l.variables[variable]
	switch {
	case v == nil:
		return fmt.Errorf("the tables have no variable %q", variable)
	case v.names != nil && v.doc.Scale != Interval:
		return fmt.Errorf("the variable %q of the repository has no bands (scale: interval)", variable)
	case v.names != nil:
		v.takeBands(step)
		return nil
	}
	labels := make([]string, len(v.doc.Nodes))
	for i, n := range v.doc.Nodes {
		labels[i] = n.name()
	}
	bands, err := BandsOf(labels, step)
	if err != nil {
		return fmt.Errorf("variable %q: %w", variable, err)
	}
	became := make(map[string]string)
	var nodes []Node
	for i, n := range v.doc.Nodes {
		made := NewBand(n.name(), bands[i].Lo, bands[i].Hi)
		if made.Label == made.ID {
			made.Label = ""
		}
		became[n.ID] = made.ID
		if !slices.ContainsFunc(nodes, func(other Node) bool { return other.ID == made.ID }) {
			nodes = append(nodes, made)
		}
	}
	SortBands(nodes)
	v.doc.Scale, v.doc.Nodes, v.doc.Edges = Interval, nodes, nil
	for _, list := range v.lists { // which the forms share
		for i, id := range list {
			list[i] = became[id]
		}
	}
	return nil
}

// takeBands finds the labels of an interval variable of the repository by the bands that they are; others stay as they were found.
func (v *longVariable) takeBands(step float64) {
	least := v.doc.Space().Lo
	became := make(map[string]string)
	for label, id := range v.ids {
		b, ok := bandOf(label, step)
		b.Lo = max(b.Lo, least)
		n := v.doc.Band(b)
		switch {
		case ok && n != nil:
			became[id], v.ids[label] = n.ID, n.ID
		case ok:
			became[id], v.ids[label] = "?"+label, "?"+label // not what it is called like
		}
	}
	for _, list := range v.lists {
		for i, id := range list {
			if to, ok := became[id]; ok {
				list[i] = to
			}
		}
	}
}
