package keymap

import (
	"fmt"
	"math"
	"slices"

	"microrisk/engine/keymap"
	"microrisk/pipeline/keymap/repository"
)

// reuse makes a column what a variable of the repository is, if it can be.
func (d *drafter) reuse(c *column, v *repository.Variable, x *repository.Instance, made *Drafted) error {
	g := d.r.Graph(v.Name)
	if g == nil {
		return fmt.Errorf("the categories of the variable %q are wrong themselves: microrisk keymap check", v.Name)
	}
	unmapped := func(values []string, numbers bool) {
		d.missing.Variables = append(d.missing.Variables,
			UnmappedVariable{v.Name, c.name, d.r.File(repository.Variables, v.Name), values, numbers})
	}
	if v.Scale == repository.Interval && (c.bands != nil || c.writtenIn) {
		return d.reuseNumbers(c, v, x, unmapped)
	}
	if c.bands != nil {
		return fmt.Errorf("the variable %q of the repository has no bands (scale: interval): leave out --bands, or name another variable, --columns NAME=%s", v.Name, c.name)
	}
	index := repository.NewNodeIndex(v)
	var missing, used []string
	stored := make(map[string][]string)
	for _, value := range c.values {
		id := index.Of(value)
		switch {
		case id == "":
			missing = append(missing, value)
			continue
		case stored[id] == nil:
			used = append(used, id)
		}
		stored[id] = append(stored[id], value)
	}
	if v.Scale == repository.Interval && len(used) == 0 && c.numbers() != nil {
		return d.reuseNumbers(c, v, x, unmapped)
	}
	if missing != nil {
		unmapped(missing, false)
		return nil
	}
	x.Values = stored
	for _, n := range v.Nodes {
		if slices.Contains(used, n.ID) {
			x.Categories = append(x.Categories, n.ID)
		}
	}
	wrong := g.Check(x.Categories)
	if wrong == nil {
		return nil
	}
	if len(wrong.Repeated) > 0 {
		return fmt.Errorf("its values are not of one categorization of %q: %w", v.Name, wrong)
	}
	for _, sink := range g.Sinks() {
		covered := slices.ContainsFunc(used, func(id string) bool { return g.Inside(sink, id) })
		if !covered {
			x.Categories = append(x.Categories, sink)
			made.Without = append(made.Without, v.Label(sink))
		}
	}
	return nil
}

// reuseNumbers makes a column of numbers an interval variable of the repository: in bands that it has, or written in.
func (d *drafter) reuseNumbers(c *column, v *repository.Variable, x *repository.Instance, unmapped func(values []string, numbers bool)) error {
	space := keymap.Band{Lo: math.Inf(1), Hi: math.Inf(-1)}
	for _, n := range v.Nodes {
		space.Lo, space.Hi = min(space.Lo, *n.Lo), max(space.Hi, *n.Hi)
	}
	if c.bands == nil {
		var outside []string
		for i, number := range c.numbers() {
			if number < space.Lo || number >= space.Hi {
				outside = append(outside, c.values[i])
			}
		}
		if outside != nil {
			unmapped(outside, true)
		}
		return nil
	}
	for i := 1; i < len(c.bands); i++ {
		at := slices.IndexFunc(v.Nodes, func(n repository.Node) bool { return *n.Lo == c.bands[i-1] && *n.Hi == c.bands[i] })
		if at < 0 {
			band := keymap.Band{Lo: c.bands[i-1], Hi: c.bands[i]}
			return fmt.Errorf("the variable %q of the repository has no band %s: add it (microrisk keymap add node), leave out --bands, or name another variable, --columns NAME=%s", v.Name, band.ID(), c.name)
		}
		x.Categories = append(x.Categories, v.Nodes[at].ID)
	}
	return nil
}
