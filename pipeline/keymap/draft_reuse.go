package keymap

import (
	"cmp"
	"fmt"
	"slices"

	"microrisk/engine/keymap"
	"microrisk/pipeline/keymap/repository"
)

// reuse makes a column what a variable of the repository is, if it can be.
func (d *drafter) reuse(c *column, v *repository.Variable, x *repository.Instance, made *Drafted) error {
	interval := v.Scale == repository.Interval
	unmapped := func(values []string, numbers bool, space string) {
		file := d.r.File(repository.Variables, v.Name)
		d.missing.Variables = append(d.missing.Variables, UnmappedVariable{v.Name, c.name, file, values, numbers, interval && c.step == nil, space})
	}
	switch {
	case d.r.Graph(v.Name) == nil:
		return fmt.Errorf("the categories of the variable %q are wrong themselves: microrisk keymap check", v.Name)
	case interval && (c.bands != nil || c.writtenIn):
		return c.reuseNumbers(v, x, unmapped)
	case !interval && c.bands != nil:
		return c.without(v, "bands (scale: interval)", "--bands")
	case !interval && c.step != nil:
		return c.without(v, "bands (scale: interval)", "--step")
	}
	stored, missing, err := c.mapped(v)
	switch {
	case err != nil:
		return err
	case interval && len(stored) == 0 && c.numbers() != nil:
		return c.reuseNumbers(v, x, unmapped)
	case missing != nil:
		unmapped(missing, c.step != nil, "")
		return nil
	}
	x.Values = stored
	for _, n := range v.Nodes {
		if stored[n.ID] != nil {
			x.Categories = append(x.Categories, n.ID)
		}
		for _, value := range stored[n.ID] {
			if interval {
				made.Taken = append(made.Taken, fmt.Sprintf("%q is %s", value, BandText(n)))
			}
		}
	}
	return d.complete(v, x, made)
}

// without says that a variable has no bands that a flag needs.
func (c *column) without(v *repository.Variable, what, flag string) error {
	return fmt.Errorf("the variable %q of the repository has no %s; leave out %s, or name another variable, --columns NAME=%s", v.Name, what, flag, c.name)
}

// mapped are the values of the column by category of a variable, and those that are in none.
func (c *column) mapped(v *repository.Variable) (stored map[string][]string, missing []string, err error) {
	of := repository.NewNodeIndex(v).Of
	id := func(i int) string { return of(c.values[i]) }
	if c.step != nil {
		bands, err := repository.BandsOf(c.values, *c.step)
		if err != nil {
			return nil, nil, err
		}
		id = func(i int) string { return bandIn(v, bands[i]) }
	}
	stored = make(map[string][]string)
	for i, value := range c.values {
		if category := id(i); category == "" {
			missing = append(missing, value)
		} else {
			stored[category] = append(stored[category], value)
		}
	}
	return stored, missing, nil
}

// complete adds the smallest categories that no value is of, so that the variable is covered.
func (d *drafter) complete(v *repository.Variable, x *repository.Instance, made *Drafted) error {
	g, used := d.r.Graph(v.Name), x.Categories
	wrong := g.Check(used)
	if wrong == nil {
		return nil
	}
	if len(wrong.Repeated) > 0 {
		return fmt.Errorf("its values are not of one categorization of %q: %w", v.Name, &keymap.InvalidError{Repeated: wrong.Repeated})
	}
	place, label := make(map[string]int, len(v.Nodes)), make(map[string]string, len(v.Nodes))
	for i, n := range v.Nodes {
		place[n.ID], label[n.ID] = i, n.Label
	}
	for _, id := range wrong.Unreached {
		x.Categories = append(x.Categories, id)
		made.Without = append(made.Without, cmp.Or(label[id], id))
	}
	slices.SortStableFunc(x.Categories, func(a, b string) int { return cmp.Compare(place[a], place[b]) })
	return nil
}

// reuseNumbers makes a column of numbers an interval variable of the repository: in bands that it has, or written in.
func (c *column) reuseNumbers(v *repository.Variable, x *repository.Instance, unmapped func(values []string, numbers bool, space string)) error {
	space := v.Space()
	covers := BandText(repository.NewBand("", space.Lo, space.Hi))
	if c.bands != nil {
		for i := 1; i < len(c.bands); i++ {
			band := keymap.Band{Lo: c.bands[i-1], Hi: c.bands[i]}
			n := v.Band(band)
			switch {
			case n != nil:
				x.Categories = append(x.Categories, n.ID)
			case band.Lo < space.Lo || band.Hi > space.Hi:
				return c.without(v, fmt.Sprintf("band %s: its bands cover %s, and a variable in use gets no wider", band.ID(), covers), "--bands")
			default:
				return c.without(v, "band "+band.ID()+", which can be added (microrisk keymap add node)", "--bands")
			}
		}
		return nil
	}
	var outside []string
	for i, number := range c.numbers() {
		if number < space.Lo || number >= space.Hi {
			outside = append(outside, c.values[i])
		}
	}
	if outside != nil {
		unmapped(outside, true, covers)
	}
	return nil
}
