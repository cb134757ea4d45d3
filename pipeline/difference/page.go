package difference

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"microrisk/operators/report"
	"microrisk/pipeline"
	"microrisk/pipeline/page"
	"microrisk/pipeline/runpage"
)

// Page is the comparison as a page for the office: it tells of a file that is not released. confidential lets it show values of records.
func (o *Outcome) Page(confidential bool) *page.Page {
	p := &page.Page{
		Title: "The risk of " + called(o.Before.Input) + " and of " + called(o.After.Input),
		About: "Both files measured in the same way: before, and after. The question is put for who knows " + report.Printable(
			strings.Join(o.Before.Key, ", "),
		) + " of people.",
		For:   page.Office,
		Marks: []string{"For the office: this page tells of the file before, in small counts too. Do not publish it."},

		Footer: "Made by " + pipeline.Version() + ".",
	}
	if confidential {
		p.Marks = []string{"Confidential: this page has values of single records. It must not leave the office."}
	}
	p.Verdict = o.verdict()
	p.Add("The figures", o.told()...)
	p.Add("Riskiest variables and categories", o.blamed()...)
	p.Add("Riskiest records", o.records(confidential)...)
	if len(o.Warnings) > 0 {
		p.Add("What to mind", page.Block{List: o.Warnings})
	}
	p.Add("Settings and version", page.Block{Table: o.settings()})
	p.Add("Glossary", page.Block{Terms: [][2]string{
		{"Before, after", "the two files, the second of which is the one that may be released: limits are for it"},
		{"Sample unique", "a record whose combination of the key variables no other record has"},
		{"Share of the score", "how much of what singles records out has the variable, or the category, in it"},
	}})
	return p
}

// called is the name of inputs, without folders.
func called(inputs []string) string {
	if len(inputs) == 1 {
		return report.Printable(filepath.Base(inputs[0]))
	}
	return report.Plural(int64(len(inputs)), "file", "files")
}

// verdict is by the limits of the second file.
func (o *Outcome) verdict() *page.Verdict {
	less, more := 0, 0
	all := int64(0)
	for _, f := range o.Figures {
		if f.Name == "rows" || f.Before == nil || f.After == nil {
			continue
		}
		all++
		switch {
		case *f.After < *f.Before:
			less++
		case *f.After > *f.Before:
			more++
		}
	}
	text := page.Text("Of %s that both files have, %d are lower after, and %d higher.", report.Plural(all, "figure", "figures"), less, more)
	if len(o.Limits) == 0 {
		return &page.Verdict{
			State:  page.Open,
			Answer: "No limit was set: the page cannot say whether the second file may be released. Here is what changed.",
			Blocks: []page.Block{
				text, page.Note("--limit NAME=VALUE sets the largest value that your office accepts for a figure.")},
		}
	}
	v := &page.Verdict{State: page.Met, Answer: "Yes, by the limits that were set: the second file meets all of them."}
	t := &page.Table{Caption: "Limits of the second file", Head: []page.Cell{page.Left("figure"), page.Left("limit"), page.Right("is"), page.Right("at most")}}
	broken := 0
	for _, l := range o.Limits {
		name, _ := runpage.Said(l.Limit)
		state, word := page.Met, "met"
		if l.Breached {
			broken++
			state, word = page.Unmet, "NOT MET"
		}
		t.Rows = append(
			t.Rows,
			[]page.Cell{
				page.Left(name + " (" + l.Limit + ")"),
				{Text: word, State: state},
				page.Right(report.Figure(l.Value)),
				page.Right(report.Figure(l.Allowed)),
			},
		)
	}
	if broken > 0 {
		v.State, v.Answer = page.Unmet, fmt.Sprintf(
			"No: the second file does not meet %d of %s.",
			broken,
			report.Plural(int64(len(o.Limits)), "limit", "limits"),
		)
	}
	v.Blocks = []page.Block{{Table: t}, text}
	return v
}

// told are the figures of both.
func (o *Outcome) told() []page.Block {
	t := &page.Table{
		Caption: "Figures of both files",
		Head:    []page.Cell{page.Left("figure"), page.Right("before"), page.Right("after"), page.Left("change"), page.Left("what it says")},
	}
	for _, f := range o.Figures {
		name, says := runpage.Said(f.Name)
		if f.Operator != "" {
			name += " (" + f.Operator + ")"
		}
		by := ""
		if f.Before != nil && f.After != nil {
			by = change(*f.Before, *f.After)
		}
		t.Rows = append(t.Rows, []page.Cell{page.Left(name), page.Right(orDash(f.Before)), page.Right(orDash(f.After)), page.Left(by), page.Left(says)})
	}
	return []page.Block{
		{Table: t},
		page.Note("Counts are exact. Chances and expected numbers are estimates, whose intervals the page of each file has (microrisk assess --report)."),
	}
}

func orDash(x *float64) string {
	if x == nil {
		return "-"
	}
	return report.Figure(*x)
}

// change is a difference in percent where that says something.
func change(before, after float64) string {
	switch {
	case before == after:
		return "the same"
	case before == 0:
		return "from none"
	case after == 0:
		return "to none"
	}
	by := 100 * (after/before - 1)
	if by < 0 {
		return report.Percent(math.Abs(by)) + " less"
	}
	return report.Percent(by) + " more"
}

// blamed are variables and categories whose part of the score changed.
func (o *Outcome) blamed() []page.Block {
	tell := func(caption, what string, list []Share, name func(Share) string) []page.Block {
		if len(list) == 0 {
			return nil
		}
		t := &page.Table{Caption: caption, Head: []page.Cell{page.Left(what), page.Right("before"), page.Left(""), page.Right("after"), page.Left("")}}
		for _, s := range list {
			t.Rows = append(
				t.Rows,
				[]page.Cell{page.Left(name(s)), page.Right(report.Percent(s.Before)), page.Bar(s.Before / 100), page.Right(report.Percent(s.After)),
					page.Bar(s.After / 100)},
			)
		}
		return []page.Block{{Table: t}}
	}
	blocks := tell("Key variables by their share of the SUDA score", "variable", o.Variables, func(s Share) string { return report.Printable(s.Variable) })
	return append(blocks, tell("Categories whose share rose or fell most", "category", o.Categories, func(s Share) string {
		if s.Missing {
			return report.Printable(s.Variable) + " is missing"
		}
		return report.Printable(s.Variable) + " = " + report.Value(s.Category)
	})...)
}

// mostRecords is how many records of each list are told.
const mostRecords = 10

// records tell which entered and left the riskiest.
func (o *Outcome) records(confidential bool) []page.Block {
	var blocks []page.Block
	for _, l := range o.Lists {
		if l.Unlike != "" {
			blocks = append(blocks, page.Text("The riskiest records by %s cannot be compared: %s (--id).", l.Column, l.Unlike))
			continue
		}
		blocks = append(blocks, page.Text("The riskiest by %s: %d stayed, %d entered, %d left.", l.Column, l.Stayed, len(l.Entered), len(l.Left)))
		if !confidential {
			continue
		}
		for _, part := range []struct {
			word string
			list []Row
		}{{"entered", l.Entered}, {"left", l.Left}} {
			if len(part.list) > 0 {
				blocks = append(
					blocks,
					page.Block{Table: rowTable("Records that "+part.word+" the riskiest by "+l.Column, l.Column, part.list[:min(len(part.list), mostRecords)])},
				)
			}
		}
	}
	return blocks
}

// rowTable has records with their values.
func rowTable(caption, column string, list []Row) *page.Table {
	t := &page.Table{Caption: caption, Head: []page.Cell{page.Left("record"), page.Right(column), page.Left("values")}}
	for _, r := range list {
		name := fmt.Sprintf("row %d", r.Row)
		if r.ID() != nil {
			name = report.Printable(*r.ID())
		}
		var values []string
		for i, v := range r.Value {
			values = append(values, report.Printable(r.Key[i])+" = "+report.Value(v))
		}
		t.Rows = append(t.Rows, []page.Cell{page.Left(name), page.Right(report.Figure(r.Score)), page.Left(strings.Join(values, ", "))})
	}
	return t
}

// settings are what was compared.
func (o *Outcome) settings() *page.Table {
	t := &page.Table{Caption: "Settings", Head: []page.Cell{page.Left("setting"), page.Left("value")}}
	add := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, []page.Cell{page.Left(name), page.Left(report.Printable(value))})
		}
	}
	add("program", pipeline.Version())
	add("before", strings.Join(o.Before.Input, ", "))
	add("after", strings.Join(o.After.Input, ", "))
	add("key before", strings.Join(o.Before.Key, ", "))
	add("key after", strings.Join(o.After.Key, ", "))
	add("not in the second file", strings.Join(o.LeftOut, ", "))
	return t
}
