package schemas

import (
	"fmt"
	"math"
	"slices"
)

// Check tells all that is wrong with a scheme that stands in no spec; the error is a *SpecError.
func (p *Perturbation) Check() error {
	c := &Checker{}
	c.Table("", p.Fields())
	c.Perturbation("", p)
	return AsError("", c.problems)
}

// Perturbation judges a scheme as a whole; its field table is judged apart.
func (c *Checker) Perturbation(path string, p *Perturbation) {
	rounds := p.Scheme == "conventional" || p.Scheme == "random" || p.Scheme == "small"
	belongs := func(set bool, field string, to ...string) {
		if set && !slices.Contains(to, p.Scheme) && (p.Scheme == "" || slices.Contains(Schemes, p.Scheme)) {
			c.Add(path+"."+field, "%s belongs to scheme %s", field, oneOfWords(to))
		}
	}
	belongs(p.Base != 0, "base", "conventional", "random", "small")
	belongs(p.Tie != "", "tie", "conventional", "small")
	belongs(p.Probability != nil, "probability", "random", "barnard")
	belongs(p.Last != 0, "last", "small")
	belongs(p.Value != 0, "value", "small")
	belongs(p.Matrix != nil, "matrix", "matrix")
	belongs(p.SD != nil, "sd", "normal")
	belongs(p.Proportional != nil, "proportional", "normal")
	belongs(p.Reach != nil, "reach", "normal")
	belongs(p.Negative != "", "negative", "normal")
	belongs(p.Change != nil, "change", "isd")
	belongs(p.Reading != "", "reading", "isd")
	belongs(p.Secret != "", "secret", chances...)
	c.people(path, p)
	least := int64(2)
	if p.Scheme == "small" {
		least = 1
	}
	switch {
	case rounds && p.Base >= 0 && p.Base < least:
		c.Add(path+".base", "base is %d; %s rounding needs a base from %d, such as 3 or 5", p.Base, p.Scheme, least)
	case rounds && p.Scheme != "random" && p.Base%2 == 0 && p.Tie == "":
		c.Add(path+".tie", "the base %d is even; say what a count in the middle of two multiples becomes: tie: up, down or even", p.Base)
	case rounds && p.Base%2 == 1 && p.Tie != "":
		c.Add(path+".tie", "the base %d is odd, there is no tie; leave tie out", p.Base)
	}
	if p.Scheme == "small" && (p.Last < 1 || p.Value < 0) {
		c.Add(path+".last", "small counts are those from 1 to last, which become value; last is %d, value is %d", p.Last, p.Value)
	}
	if p.Scheme == "barnard" && p.Probability == nil {
		c.Add(path, "barnard has no probability; say with which one a count stays: probability: 0.6")
	}
	if q := p.Probability; q != nil && p.Scheme == "random" && *q == 0 {
		c.Add(path+".probability", "probability is %v; it must be from 0 to 1", *q)
	}
	c.normal(path, p)
	if p.Scheme == "matrix" && len(p.Matrix) == 0 {
		c.Add(path, "matrix has no rows; list one a true count, from 0, such as matrix: [{0: 1}, {0: 0.5, 2: 0.5}]")
	}
	c.matrix(path, p.Matrix)
}

// normal judges normal noise.
func (c *Checker) normal(path string, p *Perturbation) {
	if p.Scheme != "normal" {
		return
	}
	reach := UsualReach
	if p.Reach != nil {
		reach = *p.Reach
	}
	refuse := p.Negative == "" || p.Negative == "refuse"
	switch {
	case p.SD == nil:
		c.Add(path+".sd", "normal has no standard deviation; say how large the noise is: sd: 2")
	case refuse && p.Proportional == nil && *p.SD*reach >= 1.5:
		c.Add(path+".negative", "noise would make a count negative: its standard deviation of %v reaches %v of them, and 1 is a count; "+
			"say negative: truncate (it becomes 0) or reflect (its size), or take noise in proportion: proportional: 0.1", *p.SD, reach)
	}
}

// matrix judges rows of probabilities.
func (c *Checker) matrix(path string, rows [][]Outcome) {
	for i, row := range rows {
		sum := 0.0
		for _, o := range row {
			if o.Count < 0 || o.Count > MaxCount {
				c.Add(fmt.Sprintf("%s.matrix[%d]", path, i), "%d is published as %d; counts are from 0 to %d", i, o.Count, int64(MaxCount))
			}
			if !(o.Probability >= 0 && o.Probability <= 1) {
				c.Add(
					fmt.Sprintf("%s.matrix[%d]", path, i),
					"the probability that %d is published as %d is %v; it must be from 0 to 1",
					i,
					o.Count,
					o.Probability,
				)
			}
			sum += o.Probability
		}
		if math.Abs(sum-1) > 1e-9 {
			c.Add(fmt.Sprintf("%s.matrix[%d]", path, i), "the probabilities of the true count %d sum to %v; they must sum to 1", i, sum)
		}
	}
}
