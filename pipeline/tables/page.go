package tables

import (
	"fmt"
	"path/filepath"
	"strings"

	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/operators/tabulate"
	"microrisk/pipeline/page"
	"microrisk/schemas"
)

// An Origin is what a table was made of, for its page.
type Origin struct {
	Inputs   []string
	Program  string // that made it, with its version
	Warnings []string
}

// named is the inputs without folders.
func (s *Origin) named(public bool) string {
	var list []string
	for _, path := range s.Inputs {
		if public {
			path = filepath.Base(path)
		}
		list = append(list, report.Printable(path))
	}
	return strings.Join(list, ", ")
}

// insiders say for whom an audit was made besides, by what it was asked.
var insiders = map[string]string{
	"":      ", and for those who alone contribute to a hidden cell and know its value.",
	"exact": ", and for those who alone contribute to a hidden cell and know its value.",
	"full":  ", and for those who alone contribute to a hidden cell and know its value.",
	"off":   "; not for those who alone contribute to a hidden cell and know its value, who may learn more.",
}

var tableTerms = [][2]string{
	{"Cell", "a combination of categories of the table's variables, totals among them"},
	{"Unsafe cell", "one by whose value something is learnt of single people or firms, by the rules that were set: few contribute to it, or one dominates it"},
	{"Hidden cell", "one that has a symbol in the place of its value: the unsafe ones, and others without which these could be worked out from totals"},
	{"Audit", "what an attacker could work out: the least and the greatest value that all that is published leaves to each unsafe cell"},
}

// ProtectedPage is the page of a table that was protected: whether it can be published, and what it cost.
func ProtectedPage(c *protect.Config, m *protect.Summary, s *Origin, reader string) *page.Page {
	public := reader == page.Publication
	p := &page.Page{
		Title:  "Whether the table " + report.Printable(strings.Join(variables(c.Table), " by ")) + " may be published",
		About:  "Made of " + s.named(true) + ".",
		For:    reader,
		Marks:  []string{"For the office: this page has the rules, which help who wants to undo the protection. Do not publish it."},
		Footer: "Made by " + s.Program + ".",
		Verdict: &page.Verdict{State: page.Met, Answer: "Yes, by the rules that were set: nobody can work out more of an unsafe cell than they allow.",
			Blocks: []page.Block{
				page.Note(
					"A verdict is about these rules alone: not about laws and contracts. It holds for this table by itself, unless a register was named: tables of the " +
						"same people that went out before may tell more together.",
				),
			}},
	}
	if public {
		p.Marks = []string{"For publication with the table: no rules, and no value of a hidden cell."}
		p.Verdict.Answer = "What is hidden in this table cannot be worked out from what is shown, as far as the audit tells."
	}
	cells := int64(m.Cells)
	list := []page.Figure{
		{Name: "Cells", Value: report.Count(cells), Says: "So many cells of the table are not empty, totals among them.", Sure: "Counted: exact."},
	}
	if !public {
		list = append(list, page.Figure{Name: "Records", Value: report.Count(m.Records), Says: "So many records are in the table.", Sure: "Counted: exact."},
			page.Figure{Name: "Unsafe cells", Value: report.Count(int64(m.Unsafe)) + " (" + report.PartOf(int64(m.Unsafe), cells) + ")",
				Says: "So many cells would tell too much if they were published as they are.", Sure: "Exact, by the rules: they say what too much is."})
	}
	if m.Hidden > 0 {
		f := page.Figure{Name: "Hidden cells", Value: report.Count(int64(m.Hidden)) + " (" + report.PartOf(int64(m.Hidden), cells) + ")",
			Says: "So many cells have a symbol in the place of their value.", Sure: "Counted: exact."}
		if !public {
			f.Says += fmt.Sprintf(" Of these, %s hidden for others.", report.Plural(int64(m.Hidden-m.Unsafe), "is", "are"))
		}
		list = append(list, f)
	}
	if m.Rounded > 0 && !public {
		list = append(list, page.Figure{Name: "Changed cells", Value: report.Count(int64(m.Rounded)) + " (" + report.PartOf(int64(m.Rounded), cells) + ")",
			Says: "So many cells are published with another value than the true one.", Sure: "Counted: exact."})
	}
	list = append(list, page.Figure{Name: "Audit", Value: "passed",
		Says: "Of each unsafe cell, the least and the greatest value was sought that all that is published leaves.",
		Sure: "By calculation, for anybody" + insiders[c.Insider]})
	p.Add("The figures", page.Block{Figures: list})
	if !public {
		p.Add(
			"What it cost",
			page.Text("%s", cost(m)),
			page.Note("microrisk table compare tries other methods and rules on the same table, and says what each loses."),
		)
		if len(s.Warnings) > 0 {
			p.Add("What to mind", page.Block{List: s.Warnings})
		}
	}
	t := &page.Table{Caption: "Settings", Head: []page.Cell{page.Left("setting"), page.Left("value")}}
	add := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, []page.Cell{page.Left(name), page.Left(report.Printable(value))})
		}
	}
	add("program", s.Program)
	add("source", s.named(public))
	add("table", strings.Join(variables(c.Table), " by "))
	add("cells have", map[bool]string{true: "the sum of " + c.Response, false: "the number of records"}[c.Response != ""])
	if !public {
		var rules []string
		for i := range c.Rules {
			rules = append(rules, c.Rules[i].String())
		}
		add("unsafe", strings.Join(rules, "; "))
		add("method", m.Method)
		add("policy", c.Profile)
		add("can be published", c.Out)
		add("must not be published", c.Inside)
	}
	p.Add("Settings and version", page.Block{Table: t})
	p.Add("Glossary", page.Block{Terms: tableTerms})
	return p
}

// variables are the names of a table's variables.
func variables(list []schemas.KeyVariable) []string {
	var names []string
	for _, v := range list {
		names = append(names, v.Name)
	}
	return names
}

// cost says how good what was found is.
func cost(m *protect.Summary) string {
	switch {
	case m.Hidden == 0 && m.Rounded == 0:
		return "Nothing: no cell is unsafe, and the table is published as it is."
	case m.Proven:
		return "It is proven that no protection by this method (" + m.Method + ") costs less."
	case m.Stopped:
		return "The search was ended by its limit: something cheaper may be safe too. A larger --limit lets it go on."
	}
	return "The method (" + m.Method + ") finds a safe table, and not always the cheapest."
}

// TabulatedPage is the page of a table of counts that was made, and that nobody has checked.
func TabulatedPage(c *tabulate.Config, m *tabulate.Summary, s *Origin, reader string) *page.Page {
	public := reader == page.Publication
	var names []string
	for _, v := range m.Variables {
		names = append(names, v.Name)
	}
	p := &page.Page{
		Title:  "The table " + report.Printable(strings.Join(names, " by ")),
		About:  "Made of " + s.named(true) + ".",
		For:    reader,
		Footer: "Made by " + s.Program + ".",
		Verdict: &page.Verdict{State: page.Open, Answer: "The page cannot say whether this table may be published: no rule was set.", Blocks: []page.Block{
			page.Text(
				"microrisk table protect finds the cells that tell of single people, hides or changes them, and audits the result; microrisk bounds says what a table leaves to each cell.",
			)}},
	}
	says := "Counts are true: small ones tell of single people, and totals tell more."
	if c.Perturb != nil {
		says = "Counts are changed by the scheme " + m.Scheme + ": a small one need not be true. How much is still learnt, SAP measures (microrisk assess --measures sap)."
	}
	if p.Marks = []string{"For the office. Do not publish this page."}; public {
		p.Marks = []string{"For publication with the table."}
		p.Verdict = &page.Verdict{State: page.Open, Answer: "How this table was made."}
	}
	list := []page.Figure{{Name: "Scheme", Value: report.Printable(m.Scheme), Says: says, Sure: "What was asked for."}}
	if !public {
		list = append([]page.Figure{{Name: "Records", Value: report.Count(m.Records), Says: fmt.Sprintf("So many of the %s of the file are in the table.",
			report.Plural(m.Rows, "row", "rows")), Sure: "Counted: exact."}}, list...)
	}
	p.Add("The figures", page.Block{Figures: list})
	if len(s.Warnings) > 0 && !public {
		p.Add("What to mind", page.Block{List: s.Warnings})
	}
	t := &page.Table{Caption: "Variables of the table", Head: []page.Cell{page.Left("variable"), page.Right("categories")}}
	for _, v := range m.Variables {
		t.Rows = append(t.Rows, []page.Cell{page.Left(report.Printable(v.Name)), page.Right(report.Count(v.Categories))})
	}
	settings := &page.Table{Caption: "Settings", Head: []page.Cell{page.Left("setting"), page.Left("value")}, Rows: [][]page.Cell{
		{page.Left("program"), page.Left(s.Program)}, {page.Left("source"), page.Left(s.named(public))},
		{page.Left("margins"), page.Left(map[bool]string{true: "all", false: "none"}[m.Margins])}}}
	p.Add("Settings and version", page.Block{Table: t}, page.Block{Table: settings})
	p.Add("Glossary", page.Block{Terms: tableTerms[:1]})
	return p
}
