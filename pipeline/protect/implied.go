package protect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/hierarchy"
	"microrisk/operators/protectrecords"
)

// An Implied column stays in the release, is no key variable, and tells what was made coarser or hidden of one.
type Implied struct {
	Column   string  `json:"column"`
	Variable string  `json:"variable"`
	What     string  `json:"what"`          // ImpliedValues or ImpliedHidden
	Share    float64 `json:"share"`         // of the records of which others with the same value of the column tell it
	Without  float64 `json:"share_without"` // the same by guessing without the column
	Always   bool    `json:"always"`        // each value of the column goes with one of the variable
}

// What a column tells.
const (
	ImpliedValues = "values" // within the coarser category, or those of a variable that is left out
	ImpliedHidden = "hidden" // the categories of the release, of which some cells are hidden
)

const (
	mostPairs   = 400 // that are looked at
	enoughKnown = 0.8 // of what guesses without the column get wrong, a column that gives it back gets right
	crowded     = 2   // a column has fewer categories than one in so many records (households still do), or it tells records apart
)

// A sought is what of a variable must not be told.
type sought struct {
	variable int
	level    int // of the release
	what     string
}

// lost are what of variables is made coarser or hidden in a release.
func (p *protecting) lost(best *protectrecords.Release) []sought {
	var list []sought
	for v, level := range best.Node {
		h := p.Levels[v]
		_, left := h.Recode(int(level))
		switch {
		case left, h.Groups(int(level)) < h.Groups(0):
			list = append(list, sought{v, int(level), ImpliedValues})
		}
		if !left && (best.Cells[h.Variable] > 0 || best.Suppressed > 0) {
			list = append(list, sought{v, int(level), ImpliedHidden})
		}
	}
	return list
}

// imply finds columns of the release that give back what was made coarser or hidden, each by itself.
func (p *protecting) imply(ctx context.Context, out *Outcome) error {
	list := p.lost(&out.Best[0])
	out.Implied, out.Unlooked = []Implied{}, nil
	columns := p.besides()
	if len(list) == 0 || len(columns) == 0 {
		return nil
	}
	if room := mostPairs / len(list); len(columns) > room {
		out.Unlooked = columns[room:]
		columns = columns[:room]
	}
	columns, err := p.fewValued(ctx, columns)
	if err != nil || len(columns) == 0 {
		return err
	}
	var requests []contingency.Request
	for _, column := range columns {
		for _, s := range list {
			r, err := p.variableRequest(s.variable)
			if err != nil {
				return err
			}
			requests = append(requests, contingency.Request{Keys: append([]contingency.Key{{Name: column}}, r.Keys...)})
		}
	}
	err = p.pass(ctx, "columns that stay", p.Spec.Spec, requests, func(tables []*contingency.Table) error {
		for i, t := range tables {
			column, s := columns[i/len(list)], list[i%len(list)]
			if t.OnDisk() {
				if !slices.Contains(out.Unlooked, column) {
					out.Unlooked = append(out.Unlooked, column)
				}
				continue
			}
			if x := p.told(t, s); x != nil {
				x.Column, x.Variable, x.What = column, p.Levels[s.variable].Variable, s.what
				out.Implied = append(out.Implied, *x)
			}
		}
		return nil
	})
	out.warnImplied()
	return err
}

// besides are the columns that stay and are no key variables.
func (p *protecting) besides() []string {
	var list []string
	for _, f := range p.schema.Fields() {
		key := slices.ContainsFunc(p.Levels, func(h *hierarchy.Hierarchy) bool { return h.Variable == f.Name })
		if !key && !slices.Contains(p.Spec.Drop, f.Name) && operators.HasEquality(operators.ValueType(f.Type)) {
			list = append(list, f.Name)
		}
	}
	return list
}

// fewValued are the columns that do not tell records apart themselves.
func (p *protecting) fewValued(ctx context.Context, columns []string) ([]string, error) {
	var requests []contingency.Request
	for _, column := range columns {
		requests = append(requests, contingency.Request{Keys: []contingency.Key{{Name: column}}})
	}
	var few []string
	err := p.pass(ctx, "columns that stay", p.Spec.Spec, requests, func(tables []*contingency.Table) error {
		for i, t := range tables {
			if n := int64(t.Classes()); n > 1 && n*crowded < t.Records() {
				few = append(few, columns[i])
			}
		}
		return nil
	})
	return few, err
}

// A pairing is so many records of a value of the column, where the variable is in a context, and has a target.
type pairing struct {
	column, context, target uint32
	n                       int64
}

// told is what a column tells; nil for nothing that others do not.
func (p *protecting) told(t *contingency.Table, s sought) *Implied {
	h := p.Levels[s.variable]
	_, left := h.Recode(s.level)
	label := map[string]int{}
	for code, text := range p.table.Variables[s.variable].Categories {
		label[text] = code
	}
	groups := h.Levels[s.level].Group
	size := make([]int, len(h.Levels[s.level].Names))
	for _, g := range groups {
		size[g]++
	}
	var list []pairing
	columns, codes := make([]uint32, t.Classes()), make([]uint32, t.Classes())
	t.Codes(0, 0, columns)
	t.Codes(1, 0, codes)
	for i, c := range codes {
		code := len(groups) - 1 // missing
		if text, is := t.Variables[1].Category(c); is {
			code = label[text]
		}
		x := pairing{column: columns[i], target: uint32(code), n: t.Count(i)}
		switch {
		case s.what == ImpliedHidden:
			x.target = groups[code]
		case left:
		case size[groups[code]] < 2:
			continue
		default:
			x.context = groups[code]
		}
		list = append(list, x)
	}
	return toldBy(list)
}

// toldBy compares guesses by the column with guesses without it: a record's target is guessed right if it is the one that most other records in its
// context have, so that a value of one record tells nothing.
func toldBy(list []pairing) *Implied {
	total, always := int64(0), true
	with, without := map[[2]uint32]map[uint32]int64{}, map[[2]uint32]map[uint32]int64{}
	put := func(m map[[2]uint32]map[uint32]int64, k [2]uint32, x pairing) {
		if m[k] == nil {
			m[k] = map[uint32]int64{}
		}
		m[k][x.target] += x.n
	}
	for _, x := range list {
		total += x.n
		put(with, [2]uint32{x.column, x.context}, x)
		put(without, [2]uint32{0, x.context}, x)
	}
	if total == 0 {
		return nil
	}
	for _, targets := range with {
		always = always && len(targets) == 1
	}
	out := &Implied{Share: float64(guessed(with)) / float64(total), Without: float64(guessed(without)) / float64(total), Always: always}
	if out.Share-out.Without < enoughKnown*(1-out.Without) || out.Share == out.Without {
		return nil
	}
	return out
}

// guessed are the records whose target most others of their context have.
func guessed(m map[[2]uint32]map[uint32]int64) (right int64) {
	for _, targets := range m {
		first, second := int64(0), int64(0)
		for _, n := range targets {
			if n > first {
				first, second = n, first
			} else if n > second {
				second = n
			}
		}
		if first-1 > second {
			right += first
		}
	}
	return right
}

// warnImplied says what to do.
func (o *Outcome) warnImplied() {
	of := map[string][]string{}
	var order []string
	for _, x := range o.Implied {
		if of[x.Column] == nil {
			order = append(order, x.Column)
		}
		if !slices.Contains(of[x.Column], x.Variable) {
			of[x.Column] = append(of[x.Column], x.Variable)
		}
	}
	for _, column := range order {
		o.Warnings = append(o.Warnings, fmt.Sprintf("%s stays in the release and tells what was made coarser or hidden of %s: leave it out (--drop %s), "+
			"or make it a key variable", column, strings.Join(of[column], ", "), column))
	}
	if o.Unlooked != nil {
		o.Warnings = append(o.Warnings, "not looked at, whether they tell what was made coarser or hidden: "+strings.Join(o.Unlooked, ", "))
	}
}
