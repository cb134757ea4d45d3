package repository

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"microrisk/engine/keymap"
	"microrisk/schemas"
)

const idPattern = `^[a-z0-9][a-z0-9-]*$`

var (
	idRule   = regexp.MustCompile(idPattern)
	codeRule = regexp.MustCompile(`^C[0-9]+\.[0-9]{3,}$`)
)

// Check judges what stands in the file of a variable by itself.
func (v *Variable) Check(c *schemas.Checker) {
	if v.Name == "" {
		c.Add("name", "the variable has no name")
	}
	seen := make(map[string]bool)
	for i, n := range v.Nodes {
		at := fmt.Sprintf("nodes[%d]", i)
		switch {
		case n.ID == "":
		case !idRule.MatchString(n.ID):
			c.Add(at+".id", "id %q: it must be lower-case letters, digits and dashes, such as %q", n.ID, Slug(n.ID))
		case seen[n.ID]:
			c.Add(at+".id", "id %q stands twice; each category has its own", n.ID)
		}
		seen[n.ID] = true
		if band := n.Lo != nil || n.Hi != nil; band != (v.Scale == Interval) {
			c.Add(at, "category %s: lo and hi belong to all categories of an interval variable, and to no others", n.ID)
		} else if band && (n.Lo == nil || n.Hi == nil) {
			c.Add(at, "category %s has one end only; a band has lo and hi, which may be -inf and inf", n.ID)
		}
	}
	for i, e := range v.Edges {
		for _, id := range e {
			if !seen[id] {
				c.Add(fmt.Sprintf("edges[%d]", i), "edge %s > %s: there is no category %s", e[0], e[1], id)
			}
		}
	}
	switch {
	case v.Scale == Interval && len(v.Edges) > 0:
		c.Add("edges", "edges of an interval variable are made from its bands: leave them out")
	case v.Scale == Ordinal && v.SinkOrder == nil:
		c.Add("", "an ordinal variable needs sink_order: its smallest categories in order")
	case v.Scale != Ordinal && v.SinkOrder != nil:
		c.Add("sink_order", "sink_order belongs to ordinal variables")
	}
	for _, code := range slices.Sorted(maps.Keys(v.Codes)) {
		if !codeRule.MatchString(code) {
			c.Add("codes."+code, "code %q: codes of categorizations look like C4.001", code)
		}
	}
}

// Drawing is the partition graph of the variable as it is written, and the bands of all categories if it is an interval variable.
func (v *Variable) Drawing() (keymap.Drawing, map[string]keymap.Band, error) {
	if v.Scale == Interval {
		names := make(map[keymap.Band]string)
		var bands []keymap.Band
		for _, n := range v.Nodes {
			b := keymap.Band{Lo: *n.Lo, Hi: *n.Hi}
			if other, ok := names[b]; ok {
				return keymap.Drawing{}, nil, fmt.Errorf("categories %s and %s are the same band", other, n.ID)
			}
			names[b] = n.ID
			bands = append(bands, b)
		}
		return keymap.Intervals(bands, names)
	}
	d := keymap.Drawing{Edges: v.Edges}
	for _, n := range v.Nodes {
		d.Nodes = append(d.Nodes, n.ID)
	}
	return d, nil, nil
}

// Label is what people read of a category.
func (v *Variable) Label(id string) string {
	for _, n := range v.Nodes {
		if n.ID == id && n.Label != "" {
			return n.Label
		}
	}
	return id
}

// undeclared is the first of some categories that is not among the nodes; "" if all are.
func (v *Variable) undeclared(ids []string) string {
	for _, id := range ids {
		if !slices.ContainsFunc(v.Nodes, func(n Node) bool { return n.ID == id }) {
			return id
		}
	}
	return ""
}

// judge finds what is wrong with the files beside one another.
func (r *Repository) judge() {
	for _, v := range r.Variables {
		r.judgeVariable(v)
	}
	for _, f := range r.Forms {
		r.judgeForm(f)
	}
	for _, g := range r.Groups {
		at := r.where(Groups, g.Name)
		for _, name := range g.Forms {
			at.unless(r.Form(name) != nil, "forms", "there is no form %q%s", name, r.Near(Forms, name))
		}
		for _, name := range slices.Concat(g.Union, g.Minus) {
			at.unless(r.Group(name) != nil, "", "there is no group %q%s", name, r.Near(Groups, name))
		}
		if way := r.circle(g, nil); way != nil {
			at.add("", "groups are made of each other: %s", joined(way, " > "))
		}
	}
	for _, s := range r.Scenarios {
		r.judgeScenario(s)
	}
}

func (r *Repository) judgeVariable(v *Variable) {
	at := r.where(Variables, v.Name)
	if at.broken() {
		return
	}
	d, bands, err := v.Drawing()
	var g *keymap.Graph
	if err == nil {
		g, err = keymap.NewGraph(d)
	}
	if err == nil && v.Scale == Ordinal {
		err = g.Runs(v.SinkOrder)
	}
	if err != nil {
		at.add("nodes", "%s", err)
		return
	}
	r.graphs[v.Name], r.bands[v.Name] = g, bands
	for _, code := range slices.Sorted(maps.Keys(v.Codes)) {
		p, err := g.Partition(v.Codes[code])
		switch {
		case err != nil:
			at.add("codes."+code, "code %s: %s", code, err)
		case p.Size() != keymap.CodeSize(code):
			at.add("codes."+code, "code %s has %d categories", code, len(v.Codes[code]))
		}
	}
}

func (r *Repository) judgeForm(f *Form) {
	at := r.where(Forms, f.Name)
	if at.broken() {
		return
	}
	at.unless(len(f.Variables) > 0, "", "form %q has no variables", f.Name)
	columns := make(map[string]string)
	for _, x := range f.Variables {
		path := "variables." + x.Variable
		if r.Variable(x.Variable) == nil {
			at.add(path, "there is no variable %q%s", x.Variable, r.Near(Variables, x.Variable))
			continue
		}
		if x.Column != "" {
			other, twice := columns[x.Column]
			at.unless(!twice, path+".column", "column %q is of %q and of %q; a column has one variable", x.Column, other, x.Variable)
			columns[x.Column] = x.Variable
		}
		g := r.graphs[x.Variable]
		if g == nil {
			continue
		}
		if v := r.Variable(x.Variable); v.Scale == Interval && g.Has(v.undeclared(x.Categories)) {
			id := v.undeclared(x.Categories)
			at.add(path+".categories", "category %s is made by the bands of others and may go as they change: name it among the nodes of %q", id, x.Variable)
			continue
		}
		if wrong := r.invalid(x); wrong != nil {
			finding := at.add(path+".categories", "%s of form %q: %s", x.Variable, f.Name, wrong)
			finding.Inconsistent = len(wrong.Unknown) == 0
			continue
		}
		r.judgeValues(at, path, g, x)
	}
}

// invalid tells why categories of an instance are no categorization, nil if they are one. Many forms have the same.
func (r *Repository) invalid(x Instance) *keymap.InvalidError {
	if len(x.Categories) == 0 {
		return nil
	}
	text := x.Variable + "\n" + strings.Join(x.Categories, ",")
	wrong, known := r.judged[text]
	if !known {
		wrong = r.graphs[x.Variable].Check(x.Categories)
		r.judged[text] = wrong
	}
	return wrong
}

// judgeValues looks at the values of a column.
func (r *Repository) judgeValues(at place, path string, g *keymap.Graph, x Instance) {
	of := make(map[string]string)
	for _, id := range slices.Sorted(maps.Keys(x.Values)) {
		switch {
		case !g.Has(id):
			at.add(path+".values."+id, "values of %q: %s has no such category", id, x.Variable)
		case len(x.Categories) > 0 && !slices.ContainsFunc(x.Categories, func(c string) bool { return g.Inside(id, c) }):
			at.add(path+".values."+id, "values of %q: it lies in no category of the form", id)
		}
		for _, value := range x.Values[id] {
			if other, twice := of[value]; twice {
				at.add(path+".values."+id, "value %q is of %s and of %s", value, other, id)
			}
			at.unless(!slices.Contains(x.MissingCodes, value), path+".values."+id, "value %q is of %s and a missing code", value, id)
			of[value] = id
		}
	}
}

func (r *Repository) judgeScenario(s *Scenario) {
	at := r.where(Scenarios, s.Name)
	if at.broken() {
		return
	}
	target := r.Form(s.Target)
	at.unless(target != nil, "target", "there is no form %q%s", s.Target, r.Near(Forms, s.Target))
	for _, name := range slices.Concat(s.Match.Forms, s.Match.Exclude) {
		at.unless(r.Form(name) != nil, "match", "there is no form %q%s", name, r.Near(Forms, name))
	}
	for _, name := range s.Match.Groups {
		at.unless(r.Group(name) != nil, "match.groups", "there is no group %q%s", name, r.Near(Groups, name))
	}
	for _, name := range s.Variables {
		if target != nil {
			_, holds := target.Instance(name)
			at.unless(holds, "variables", "form %q has no variable %q", s.Target, name)
		}
	}
	one := len(s.Match.Groups) == 0 && len(s.Match.Forms) == 1
	at.unless(s.Mode != "specific" || one, "mode", "a specific scenario matches one form")
	at.unless(s.Mode != "typical" || len(s.Match.Groups) == 1 && s.Match.Forms == nil, "mode", "a typical scenario matches one group")
}

// circle is a way from a group through those that it is made of back to one on the way.
func (r *Repository) circle(g *Group, way []string) []string {
	if i := slices.Index(way, g.Name); i >= 0 {
		if i == 0 {
			return append(way, g.Name)
		}
		return nil // told at the group where it begins
	}
	way = append(slices.Clone(way), g.Name)
	for _, name := range slices.Concat(g.Union, g.Minus) {
		if other := r.Group(name); other != nil {
			if found := r.circle(other, way); found != nil {
				return found
			}
		}
	}
	return nil
}
