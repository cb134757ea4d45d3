package keymap

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/keymap"
	"microrisk/operators/recode"
	"microrisk/operators/report"
	"microrisk/pipeline/keymap/repository"
)

// band puts the numbers of the column into bands; what it says is why that cannot be.
func (c *column) band() string {
	numbers := c.numbers()
	if numbers == nil {
		i := slices.IndexFunc(c.values, func(value string) bool { return (&column{values: []string{value}}).numbers() == nil })
		return fmt.Sprintf("bands are of numbers, and %q is none; if it means that there is no value, say so with --missing-codes", c.values[i])
	}
	least, most := ends(numbers)
	if c.width != 0 {
		first := math.Floor(least/c.width) * c.width
		if n := (most - first) / c.width; n >= MostValues {
			return fmt.Sprintf("a width of %s makes %s bands, more than %s", bandNumber(c.width), report.Count(int64(min(n, 1e15))), report.Count(MostValues))
		}
		c.bands = []float64{first}
		for last := first + c.width; last <= most; last += c.width {
			c.bands = append(c.bands, last)
		}
		c.bands = append(c.bands, math.Inf(1))
		c.bands[0] = c.space()[0]
		if len(c.bands) < 3 {
			return fmt.Sprintf("a width of %s makes one band of all its values", bandNumber(c.width))
		}
	}
	if lo, hi := c.bands[0], c.bands[len(c.bands)-1]; least < lo || most >= hi {
		return fmt.Sprintf("it has numbers from %s to %s, and the bands are from %s to below %s: they may begin with -inf and end with inf",
			bandNumber(least), bandNumber(most), bandNumber(lo), bandNumber(hi))
	}
	return ""
}

// outside tells whether some floating-point numbers, of which the names of their bands are known, are in none of the column's.
func (c *column) outside(names []string) string {
	if len(names) == 0 {
		return "no values"
	}
	t := c.field.Type
	if len(c.missing) > 0 { // they were mapped, to texts
		t = arrow.BinaryTypes.String
	}
	named, err := recode.BandNames(finite(c.bands), t)
	if err != nil {
		return err.Error()
	}
	first, last := 0, len(named)-1
	if !math.IsInf(c.bands[0], -1) {
		first++
	}
	if !math.IsInf(c.bands[len(c.bands)-1], 1) {
		last--
	}
	var beyond []string
	for _, name := range names {
		band := slices.IndexFunc(named, func(of []string) bool { return slices.Contains(of, name) })
		if band < first || band > last {
			beyond = append(beyond, name)
		}
	}
	if beyond == nil {
		return ""
	}
	return fmt.Sprintf("it has numbers beyond the bands (%s): they may begin with -inf and end with inf", strings.Join(beyond, ", "))
}

func finite(bounds []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(bounds), func(x float64) bool { return math.IsInf(x, 0) })
}

// space are the bounds of all numbers that there could be: from 0 if none is below.
func (c *column) space() []float64 {
	if least, _ := ends(c.numbers()); least >= 0 {
		return []float64{0, math.Inf(1)}
	}
	return []float64{math.Inf(-1), math.Inf(1)}
}

// bandNodes are the categories between bounds.
func bandNodes(bounds []float64) []repository.Node {
	var nodes []repository.Node
	for i := 1; i < len(bounds); i++ {
		nodes = append(nodes, repository.NewBand("", bounds[i-1], bounds[i]))
	}
	return nodes
}

// ends are the least and the largest of some numbers.
func ends(numbers []float64) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, x := range numbers {
		least, most = min(least, x), max(most, x)
	}
	return least, most
}

// BandText says which numbers are in a band.
func BandText(n repository.Node) string {
	switch {
	case math.IsInf(*n.Lo, -1):
		return "x < " + bandNumber(*n.Hi)
	case math.IsInf(*n.Hi, 1):
		return "x >= " + bandNumber(*n.Lo)
	}
	return bandNumber(*n.Lo) + " <= x < " + bandNumber(*n.Hi)
}

// bandNumber writes a number as it is.
func bandNumber(x float64) string {
	return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'f', -1, 64), "+"))
}

// labelled makes the values of a column, which are labels of bands, the categories of an interval variable; the gaps between them too.
func (c *column) labelled(x *repository.Instance) (nodes []repository.Node, without []string, err error) {
	bands, err := repository.BandsOf(c.values, *c.step)
	if err != nil {
		return nil, nil, err
	}
	x.Values = make(map[string][]string)
	for i, value := range c.values {
		n := repository.NewBand(value, bands[i].Lo, bands[i].Hi)
		if n.Label == n.ID {
			n.Label = ""
		}
		if x.Values[n.ID] == nil {
			nodes = append(nodes, n)
		}
		x.Values[n.ID] = append(x.Values[n.ID], value)
	}
	repository.SortBands(nodes)
	for i := 1; i < len(nodes); i++ {
		if before, n := *nodes[i-1].Hi, *nodes[i].Lo; before < n {
			gap := repository.NewBand("", before, n)
			nodes = slices.Insert(nodes, i, gap)
			without = append(without, gap.ID)
		}
	}
	return nodes, without, nil
}

// bandIn is the category of an interval variable that is a band; what has no lower end begins where the variable does.
func bandIn(v *repository.Variable, b keymap.Band) string {
	b.Lo = max(b.Lo, v.Space().Lo)
	if n := v.Band(b); n != nil {
		return n.ID
	}
	return ""
}
