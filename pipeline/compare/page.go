package compare

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"

	"microrisk/operators/report"
)

//go:embed page.html.tmpl
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// page is the outcome as a page that needs nothing else.
type page struct{ *Outcome }

// A shownPage is what the page shows.
type shownPage struct {
	Title, Warning string
	Facts          [][2]string
	Head           []shownCell
	Rows           [][]shownCell
	Notes          [][2]string // of a run
	Views          []shownView
	Plots          []shownPlot
	SAP            bool
	Hides, Chance  bool // some run hides finest cells; some is left to chance
}

type shownCell struct {
	Text   string
	Number bool
}

// A shownView is a view of several tables; cells have a second line.
type shownView struct {
	*View
	Rows []shownRow
}

type shownRow struct {
	Design, Tables string
	Cells          [][2]string
}

type shownPlot struct {
	Title, Text string
	Drawing     template.HTML
}

// Document is a Documented's.
func (p page) Document() ([]byte, error) {
	groups := p.Groups()
	s := &shownPage{Title: "Ways to protect " + strings.Join(p.Variables, " by "), Warning: Warning, Facts: p.facts(groups), SAP: p.Known() >= 0,
		Hides: slices.ContainsFunc(p.Rows, hides), Chance: slices.ContainsFunc(p.Rows, func(r *Row) bool { return r.Replicate > 1 })}
	if n := p.Count(); n > 1 {
		s.Title = fmt.Sprintf("Ways to protect %d tables", n)
	}
	s.Head, s.Rows = p.runs(groups)
	s.Views = p.views()
	for _, g := range groups {
		if note := g.Runs[0].Note; note != "" {
			s.Notes = append(s.Notes, [2]string{p.Called(g), note})
		}
	}
	s.Plots = p.plots(groups)
	var b bytes.Buffer
	err := pageTemplate().Execute(&b, s)
	return b.Bytes(), err
}

// Count is how many tables there are.
func (o *Outcome) Count() int64 {
	if len(o.Rows) == 0 {
		return 0
	}
	return o.Rows[len(o.Rows)-1].ID
}

// Called is the name of a group, with its table if there are several.
func (o *Outcome) Called(g *Group) string {
	if o.Count() > 1 {
		return g.Runs[0].Table + ": " + g.Name()
	}
	return g.Name()
}

// views are the views as the page shows them.
func (o *Outcome) views() []shownView {
	var list []shownView
	for _, v := range o.Views() {
		shown := shownView{View: v}
		for _, r := range v.Rows {
			row := shownRow{Design: r.Design, Tables: report.Count(int64(r.Tables))}
			for _, c := range r.Cells {
				row.Cells = append(row.Cells, [2]string{c.Text(), c.more()})
			}
			shown.Rows = append(shown.Rows, row)
		}
		list = append(list, shown)
	}
	return list
}

// hides tells whether finest cells are hidden.
func hides(r *Row) bool { return r.HiddenInside != nil && *r.HiddenInside > 0 }

// facts are what is the same for all runs.
func (o *Outcome) facts(groups []*Group) [][2]string {
	if o.Count() > 1 {
		return o.tables(groups)
	}
	list := [][2]string{{"Source", o.Source}, {"Table", strings.Join(o.Variables, " x ")}}
	if o.Response != "" {
		list = append(list, [2]string{"Cells have", "the sum of " + o.Response})
	}
	if len(groups) == 0 {
		return list
	}
	r := groups[0].Runs[0]
	list = append(
		list,
		[2]string{"Records", report.Count(r.Records)},
		[2]string{
			"Cells",
			report.Count(r.Cells) + " that are not empty, totals among them; " + report.Plural(r.Zeros, "finest combination is", "finest combinations are") +
				" empty",
		},
	)
	var rules []string
	unsafe := make(map[string]string)
	for _, g := range groups {
		r := g.Runs[0]
		if !slices.Contains(rules, r.Rules) {
			rules = append(rules, r.Rules)
		}
		if r.Unsafe != nil {
			unsafe[r.Rules] = ": " + report.Plural(*r.Unsafe, "cell is", "cells are") + " unsafe"
		}
	}
	for _, text := range rules {
		list = append(list, [2]string{"Rule", text + unsafe[text]})
	}
	model := o.Model
	if d := groups[0].Of(func(r *Row) *float64 { return r.DTrue }); !d.Missing() {
		model += ", deviance of the true table " + report.Figure(d.Mean)
		if df := groups[0].Runs[0].DFTrue; df != nil {
			model += " with " + report.Plural(*df, "degree of freedom", "degrees of freedom")
		}
	}
	list = append(list, [2]string{"Model of the loss", model})
	if n := o.Known(); n >= 0 {
		of := "all people"
		if o.Area != "" {
			of = "the mean over " + o.Area
		}
		list = append(list, [2]string{"SAP", fmt.Sprintf("with %s known, %s", report.Count(n), of)})
	}
	return list
}

// tables are the facts of several tables, a row a table.
func (o *Outcome) tables(groups []*Group) (list [][2]string) {
	last := int64(0)
	for _, g := range groups {
		r := g.Runs[0]
		if r.ID == last {
			continue
		}
		last = r.ID
		text := r.Design
		if r.Hierarchical {
			text += ", with a hierarchy"
		}
		list = append(list, [2]string{fmt.Sprintf("Table %d", last), fmt.Sprintf("%s (%s): %s records, %s cells that are not empty; model %s; from %s", r.Table, text,
			report.Count(r.Records), report.Count(r.Cells), r.Model, r.Source)})
	}
	return list
}

// runs are the table of runs.
func (o *Outcome) runs(groups []*Group) (head []shownCell, list [][]shownCell) {
	columns := []struct {
		name   string
		number bool
		text   func(*Group) string
	}{
		{"table", false, func(g *Group) string { return g.Runs[0].Table }},
		{"method", false, func(g *Group) string { return g.Method }},
		{"parameters", false, func(g *Group) string { return g.Variant }},
		{"status", false, func(g *Group) string { return strings.ReplaceAll(g.Status(), "_", " ") }},
		{"unsafe", true, wholes(func(r *Row) *int64 { return r.Unsafe })},
		{"hidden", true, wholes(func(r *Row) *int64 { return r.Hidden })},
		{"changed", true, wholes(func(r *Row) *int64 { return r.Changed })},
		{"largest change", true, numbers(func(r *Row) *float64 { return r.MaxChange })},
		{"adds up", false, func(g *Group) string { return yesNo(g.Runs[0].Additive) }},
		{"own loss (M1)", true, numbers(func(r *Row) *float64 { return r.LossUnity })},
		{"by people", true, numbers(func(r *Row) *float64 { return r.LossFrequency })},
		{"% loss (M2), omitted", true, numbers(func(r *Row) *float64 { return r.LossOmitted })},
		{"zero", true, numbers(func(r *Row) *float64 { return r.LossZero })},
		{"imputed", true, numbers(func(r *Row) *float64 { return r.LossImputed })},
		{"SAP before", true, numbers(SAPBefore)},
		{"after", true, numbers(SAPAfter)},
		{"audit", false, func(g *Group) string { return g.Runs[0].Audit }},
		{"slack", true, numbers(func(r *Row) *float64 { return r.Slack })},
		{"proven", false, (*Group).Proven},
		{"seconds", true, numbers(Seconds)},
	}
	for _, c := range columns {
		if o.Known() < 0 && (c.name == "SAP before" || c.name == "after") || o.Count() < 2 && c.name == "table" {
			continue
		}
		head = append(head, shownCell{c.name, c.number})
		for i, g := range groups {
			if len(list) <= i {
				list = append(list, nil)
			}
			list[i] = append(list[i], shownCell{c.text(g), c.number})
		}
	}
	return head, list
}

func wholes(of func(*Row) *int64) func(*Group) string {
	return func(g *Group) string { return g.Of(Count(of)).Text(report.Figure) }
}

func numbers(of func(*Row) *float64) func(*Group) string {
	return func(g *Group) string { return g.Of(of).Text(Short) }
}

func yesNo(v *bool) string {
	switch {
	case v == nil:
		return ""
	case *v:
		return "yes"
	}
	return "no"
}
