package repository

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"microrisk/engine/keymap"
	"microrisk/schemas"
	"microrisk/schemas/pattern"
)

const idPattern = `^[a-z0-9][a-z0-9-]*$`

var (
	idRule   = pattern.New(idPattern)
	codeRule = pattern.New(`^C[0-9]+\.[0-9]{3,}$`)
)

// mostNamed is how many characters a name has at most.
const mostNamed = 500

// checkName refuses a name that would not be one line of text. One that is missing is told of as the file is taken.
func checkName(c *schemas.Checker, name string) {
	if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 {
		c.Add("name", "the name %q has a control character; it must be one line of text", name)
	}
	if strings.TrimSpace(name) != name {
		c.Add("name", "the name %q begins or ends with a blank, which nobody sees", name)
	}
	if n := utf8.RuneCountInString(name); n > mostNamed {
		c.Add("name", "the name has %d characters, more than %d", n, mostNamed)
	}
}

// Check judges what stands in the file of a variable by itself.
func (v *Variable) Check(c *schemas.Checker) {
	checkName(c, v.Name)
	seen := make(map[string]bool)
	bands := make(map[keymap.Band]string)
	if len(v.Nodes) == 0 {
		c.Add("nodes", "the variable has no categories; they are listed under nodes, each with its id")
	}
	for i, n := range v.Nodes {
		at := fmt.Sprintf("nodes[%d]", i)
		switch {
		case n.ID == "":
			c.Add(at+".id", "a category has an empty id; it is lower-case letters, digits and dashes")
		case !idRule().MatchString(n.ID):
			c.Add(at+".id", "id %q: it must be lower-case letters, digits and dashes, such as %q", n.ID, Slug(n.ID))
		case seen[n.ID]:
			c.Add(at+".id", "id %q stands twice; each category has its own", n.ID)
		}
		seen[n.ID] = true
		if band := n.Lo != nil || n.Hi != nil; band != (v.Scale == Interval) {
			c.Add(at, "category %s: lo and hi belong to all categories of an interval variable, and to no others", n.ID)
		} else if band && (n.Lo == nil || n.Hi == nil) {
			c.Add(at, "category %s has one end only; a band has lo and hi, which may be -inf and inf", n.ID)
		} else if band {
			b := keymap.Band{Lo: *n.Lo, Hi: *n.Hi}
			other, twice := bands[b]
			switch {
			case !(b.Lo < b.Hi):
				c.Add(at, "category %s: the band from %v to %v must begin below its end", n.ID, b.Lo, b.Hi)
			case twice:
				c.Add(at, "categories %s and %s are the same band", other, n.ID)
			}
			bands[b] = n.ID
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
		c.Add("scale", "an ordinal variable needs sink_order: its smallest categories in order")
	case v.Scale != Ordinal && v.SinkOrder != nil:
		c.Add("sink_order", "sink_order belongs to ordinal variables")
	}
	for _, code := range slices.Sorted(maps.Keys(v.Codes)) {
		if !codeRule().MatchString(code) {
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

// near is a hint at the categories that were meant by unknown ones: the one that is written almost so, or all there are.
func (v *Variable) near(unknown []string) string {
	if len(unknown) == 0 {
		return ""
	}
	var ids []string
	for _, n := range v.Nodes {
		ids = append(ids, n.ID)
	}
	if near := schemas.Nearest(unknown[0], ids); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	if len(ids) > 12 {
		return ""
	}
	return "; there are " + strings.Join(ids, ", ")
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
			at.names("forms", Forms, name)
		}
		for _, name := range g.Union {
			at.names("union", Groups, name)
		}
		for _, name := range g.Minus {
			at.names("minus", Groups, name)
		}
	}
	for _, way := range r.circles() {
		g := r.Group(way[0])
		field := "minus"
		if slices.Contains(g.Union, way[1]) {
			field = "union"
		}
		r.where(Groups, g.Name).add(field, "groups are made of each other: %s", strings.Join(way, " > "))
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
	path := "nodes"
	var edge *keymap.EdgeError
	if errors.As(err, &edge) {
		for i, e := range v.Edges {
			if slices.Contains(edge.Edges, e) {
				path = fmt.Sprintf("edges[%d]", i) // the last of them
			}
		}
	}
	if err == nil && v.Scale == Ordinal {
		path, err = "sink_order", g.Runs(v.SinkOrder)
	}
	if err != nil {
		at.add(path, "%s", err)
		return
	}
	r.graphs[v.Name], r.bands[v.Name] = g, bands
	of := make(map[keymap.Partition]string)
	for _, code := range slices.Sorted(maps.Keys(v.Codes)) {
		p, err := g.Partition(v.Codes[code])
		other, twice := of[p]
		switch {
		case err != nil:
			at.add("codes."+code, "code %s: %s", code, err)
			continue
		case p == keymap.Any && code != keymap.AnyCode:
			at.add("codes."+code, "code %s has no categories; the code of a value that is written in is %s", code, keymap.AnyCode)
		case p.Size() != keymap.CodeSize(code):
			at.add("codes."+code, "code %s has %d categories; its number before the dot must say so", code, p.Size())
		case twice:
			at.add("codes."+code, "codes %s and %s have the same categories; leave one out", other, code)
		}
		of[p] = code
	}
}

func (r *Repository) judgeForm(f *Form) {
	at := r.where(Forms, f.Name)
	if at.broken() {
		return
	}
	at.unless(len(f.Variables) > 0, "", "form %q has no variables; those that it holds are listed under variables", f.Name)
	columns := make(map[string]string)
	for _, x := range f.Variables {
		path := "variables." + x.Variable
		v := r.Variable(x.Variable)
		if v == nil {
			at.names(path, Variables, x.Variable)
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
		if v.Scale == Interval {
			if id := v.undeclared(x.Categories); g.Has(id) {
				at.add(path+".categories", "category %s is made by the bands of others and may go as they change: name it among the nodes of %q", id, x.Variable)
				continue
			}
		}
		if wrong := r.invalid(x); wrong != nil {
			finding := at.add(path+".categories", "%s of form %q: %s%s", x.Variable, f.Name, wrong, v.near(wrong.Unknown))
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

// inOne tells whether all of some smallest categories lie in one category.
func inOne(sinks []int32, owner map[int32]string) bool {
	return !slices.ContainsFunc(sinks, func(s int32) bool { return owner[s] != owner[sinks[0]] }) && owner[sinks[0]] != ""
}

// judgeValues looks at the values of a column.
func (r *Repository) judgeValues(at place, path string, g *keymap.Graph, x Instance) {
	of := make(map[string]string)
	owner := make(map[int32]string) // category of the form, by smallest category
	if len(x.Values) > 0 {
		for _, c := range x.Categories {
			for _, s := range g.Reach(c) {
				owner[s] = c
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(x.Values)) {
		switch {
		case !g.Has(id):
			at.add(path+".values."+id, "values of %q: %s has no such category", id, x.Variable)
		case len(x.Categories) > 0 && !inOne(g.Reach(id), owner):
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
	at.names("target", Forms, s.Target)
	for _, name := range slices.Concat(s.Match.Forms, s.Match.Exclude) {
		at.names("match", Forms, name)
	}
	for _, name := range s.Match.Groups {
		at.names("match.groups", Groups, name)
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

// circles are ways from a group through those that it is made of back to itself, one for each that closes as all groups are gone through.
func (r *Repository) circles() [][]string {
	var found [][]string
	var way []string
	done := make(map[string]bool)
	var visit func(g *Group)
	visit = func(g *Group) {
		if i := slices.Index(way, g.Name); i >= 0 {
			found = append(found, append(slices.Clone(way[i:]), g.Name))
			return
		}
		if done[g.Name] {
			return
		}
		way = append(way, g.Name)
		for _, name := range slices.Concat(g.Union, g.Minus) {
			if other := r.Group(name); other != nil {
				visit(other)
			}
		}
		way = way[:len(way)-1]
		done[g.Name] = true
	}
	for _, g := range r.Groups {
		visit(g)
	}
	return found
}
