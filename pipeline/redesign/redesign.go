// Package redesign finds the merges of categories with which nothing in a table discloses, and writes them as recodes of table protect.
//
//	out, err := redesign.Run(ctx, redesign.Spec{Source: tables.Source{Path: "ready.csv", Columns: &protect.Columns{Count: "n"}},
//		Config: protect.Config{Table: variables, Rules: rules}, Out: "recodes"}, session.Options{})
//
// Package engine/tabular/redesign has the search. Whatever it finds is tried once more on the table itself, as table protect would make it.
package redesign

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/redesign"
	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A redesigning is a table that is being redesigned.
type redesigning struct {
	*Spec
	ctx       context.Context
	table     *protect.Table
	problem   *redesign.Problem
	variables []variable
	again     bool // each design is made of the records
}

// Run finds redesigns. Errors about what was asked are those for which session.IsSpec is true.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	schemas.Complete(s.Fields())
	if err := schemas.CheckDocument(&s); err != nil {
		return nil, err
	}
	reads, err := s.Source.Readings(&s.Config)
	if err != nil {
		return nil, err
	}
	for _, path := range s.Groups {
		reads = append(reads, session.Reading{What: "the groups", Path: path})
	}
	if s.JSON != "" { // recodes are known later
		if err := session.CheckPaths(append(slices.Clone(reads), o.Reads...), []string{s.JSON}); err != nil {
			return nil, err
		}
	}
	r := &redesigning{Spec: &s, ctx: ctx}
	if r.table, _, err = s.Source.Read(ctx, &s.Config, o); err != nil {
		return nil, err
	}
	if err := schemas.CheckDocument(&s); err != nil { // now all variables are known
		return nil, err
	}
	if err := r.prepare(); err != nil {
		return nil, session.Wrong(err)
	}
	out, err := r.run(o)
	if err != nil {
		return nil, err
	}
	return out, out.write(ctx, &s, reads, o)
}

// prepare makes the problem.
func (r *redesigning) prepare() error {
	p := &redesign.Problem{Grid: r.table.Grid, Cells: r.table.Cells, Values: r.table.Values, Loss: losses[r.Loss]}
	for v := range r.table.Grid.Trees {
		x, err := r.variable(v)
		if err != nil {
			return err
		}
		r.variables = append(r.variables, *x)
		p.Variables = append(p.Variables, x.Variable)
	}
	rules, all := r.Config.CellRules()
	p.Local = all
	p.Monotone = all && !slices.ContainsFunc(rules, func(rule detection.Rule) bool { _, frequency := rule.(detection.MinFrequency); return !frequency })
	p.Ready()
	if err := r.few(p); err != nil {
		return err
	}
	// A holding in several cells that become one is one contributor of it: only its records tell.
	r.again = !all || r.Config.Contributor != "" && slices.ContainsFunc(r.variables, func(x variable) bool { return x.Tree.Depth() == 1 })
	p.Judge = r.made
	if !r.again {
		most := 0
		for _, rule := range rules {
			most = max(most, rule.Needs())
		}
		p.Judge = redesign.Cells(p.Grid, p.Cells, most, func(c *detection.Cell) bool { return detection.Judge(c, rules).Status.Primary() })
	}
	r.problem = p
	return nil
}

// mostLooks is how many merges are looked at, each by all categories.
const mostLooks = 100_000_000

// A TooManyError says that a variable has more merges than can be looked at.
type TooManyError struct {
	Variable string
	text     error
}

func (e *TooManyError) Error() string { return e.text.Error() }
func (e *TooManyError) Unwrap() error { return e.text }

// few is a *TooManyError of a variable with too many merges.
func (r *redesigning) few(p *redesign.Problem) error {
	for v, x := range r.variables {
		categories := len(x.Tree.Nodes) - 1
		if float64(p.Most(v))*float64(categories) <= mostLooks {
			continue
		}
		e := &TooManyError{Variable: x.Tree.Name}
		e.text = advice.Errorf("%s has %s categories, and more merges of them than can be looked at; merge some beforehand (%s), or leave the variable out",
			e.Variable, report.Count(int64(categories)), advice.Advice{Spec: "recodes", Flags: "--recode, --hierarchy"})
		return e
	}
	return nil
}

// made judges a design by making its table, as table protect does.
func (r *redesigning) made(d redesign.Design) (redesign.Verdict, error) {
	var verdict redesign.Verdict
	recodes := make(map[string]tablefile.Recodes)
	for v := range r.variables {
		list := r.recodes(d, v)
		if len(list) == 0 {
			continue
		}
		text, err := tablefile.FormatRecodes(list)
		if err != nil {
			return verdict, err
		}
		recodes[r.variables[v].Tree.Name] = tablefile.ReadRecodes(r.variables[v].Tree.Name+".grc", text)
	}
	t, err := r.table.Again(r.ctx, recodes)
	if err != nil {
		return verdict, err
	}
	findings, err := protect.Find(t, &r.Config)
	if err != nil {
		return verdict, err
	}
	places := make([]map[string]int32, len(t.Grid.Trees))
	for v, tree := range t.Grid.Trees {
		places[v] = r.places(d, v)
		for n := range tree.Nodes {
			if _, is := places[v][path(tree, n)]; !is {
				return verdict, fmt.Errorf("the redesigned table has %s of %s, and no design has", tree.Nodes[n].Code, tree.Name)
			}
		}
	}
	for cell, f := range findings {
		if f.Status != detection.Empty {
			verdict.Cells++
		}
		if !f.Status.Primary() {
			continue
		}
		nodes := make([]int32, len(places))
		for v, n := range t.Grid.Nodes(cell) {
			nodes[v] = places[v][path(t.Grid.Trees[v], int(n))]
		}
		verdict.Unsafe = append(verdict.Unsafe, nodes)
	}
	return verdict, nil
}

// path is what a node of a tree is, whatever its number is.
func path(t *tabular.Tree, node int) string {
	text := ""
	for _, n := range t.Path(node) {
		code := t.Nodes[n].Code
		text += fmt.Sprintf("%d%q", code.Kind, code.Label)
	}
	return text
}

// places are the nodes of a design by what they are called in its table.
func (r *redesigning) places(d redesign.Design, v int) map[string]int32 {
	tree := r.variables[v].Tree
	list := map[string]int32{}
	for n, to := range d[v] {
		if to == int32(n) {
			list[path(tree, n)] = to
		}
	}
	if tree.Depth() > 1 {
		return list
	}
	for _, group := range r.problem.Groups(d, v) {
		for _, n := range group {
			delete(list, path(tree, int(n)))
		}
	}
	for _, group := range r.problem.Groups(d, v) {
		list[fmt.Sprintf("%d%q", tabular.Value, r.label(v, group))] = d[v][group[0]]
	}
	return list
}

// nodes are how many designs are looked at if nobody says.
func (r *redesigning) nodes() int {
	switch {
	case r.Nodes != nil:
		return *r.Nodes
	case r.Seconds != nil:
		return 0
	case r.again:
		return 500
	}
	return 20_000
}

func (r *redesigning) run(o session.Options) (*Outcome, error) {
	p := r.problem
	out := r.begin()
	o.Progress("trying merges", 0, 1)
	now, err := p.Judge(p.Same())
	if err != nil {
		return nil, err
	}
	out.Cells, out.Unsafe = now.Cells, len(now.Unsafe)
	if out.Unsafe == 0 {
		out.Whole = true
		return out, nil
	}
	most := 2000
	if r.again {
		most = 300
	}
	list, all, err := p.Preview(r.ctx, most)
	if err != nil {
		return nil, err
	}
	out.AllCandidates = all
	for _, c := range list[:min(len(list), int(r.Shown))] {
		out.Candidates = append(out.Candidates, r.candidate(c))
	}
	within := r.ctx
	if r.Seconds != nil {
		limited, cancel := context.WithTimeout(r.ctx, schemas.Seconds(*r.Seconds))
		defer cancel()
		within = limited
	}
	found, err := p.Search(within, redesign.Options{Best: int(r.Best), Nodes: r.nodes()})
	if err == nil && r.ctx.Err() != nil {
		err = r.ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	out.Searched, out.Whole, out.Proven, out.Bound = found.Nodes, found.Whole, found.Proven, found.Bound
	for i, safe := range found.Best {
		if err := r.confirm(safe.Design); err != nil {
			return nil, err
		}
		made, err := r.redesign(safe, i < found.Proven, out)
		if err != nil {
			return nil, err
		}
		out.Redesigns = append(out.Redesigns, made)
	}
	if f := found.Fewest; len(out.Redesigns) == 0 && f != nil {
		out.Fewest = &Left{Unsafe: f.Unsafe, Recodes: r.told(f.Design)}
	}
	return out, nil
}

// errNotSafe should not be: a design that was found to be safe is not.
var errNotSafe = errors.New("a redesign was found to be safe, and the table that is made with its recodes is not; please report this")

// confirm tries a design on the table itself.
func (r *redesigning) confirm(d redesign.Design) error {
	v, err := r.made(d)
	if err == nil && len(v.Unsafe) > 0 {
		err = errNotSafe
	}
	return err
}
