package suda

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"microrisk/operators/report"
	"microrisk/schemas"
)

// riskiestVariables is how many variables a report names.
const riskiestVariables = 8

// Report is a Reporting operator's: the variables with the largest shares of the score.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	m := document.(*Summary)
	section := report.Section{Place: report.Searched}
	if m.FileScore == 0 {
		return section
	}
	section.Parts = []report.Part{{Apart: true, Rows: variableRows(m)}}
	if len(m.Variables) > 1 {
		section.Parts = append(section.Parts, report.Part{Label: "    shares may add to more than 100 %: a set counts for each variable in it"})
	}
	return section
}

// Head is a Heading operator's: the counts of the search, and DIS.
func (c *Config) Head(_ *schemas.Spec, document any) *report.Head {
	m := document.(*Summary)
	h := &report.Head{Rank: 2, Key: m.KeySummary, Of: m.Records, Records: m.Records}
	what := ""
	if !m.Complete {
		what = fmt.Sprintf("of at most %s", report.Plural(int64(m.MaxSize), "variable", "variables"))
	}
	add := func(name, value string, remark report.Cell) { h.Rows = append(h.Rows, report.Row(name, value, remark)) }
	if m.Threshold > 1 {
		add("minimal risky sets", report.Count(m.MSUs), report.Left(strings.TrimSpace(fmt.Sprintf("shared by at most %d records %s", m.Threshold, what))))
	} else {
		h.Unique = func(uniques int64) []report.Cell {
			part := ""
			if uniques > 0 {
				part = report.PartOf(m.SpecialUniques, uniques) + " of the sample uniques"
			}
			return report.Row("special uniques", report.Count(m.SpecialUniques), report.Limited(LimitSpecialUniques, part))
		}
		add("minimal sample uniques", report.Count(m.MSUs), report.Limited(LimitMSUs, what))
	}
	if m.Fraction != nil {
		add("sampling fraction", report.Figure(*m.Fraction), report.Cell{})
	}
	switch {
	case m.DIS != nil:
		add(
			"DIS",
			report.Figure(*m.DIS),
			report.Limited(LimitDIS, report.Joined("chance that a unique match is correct", report.OfRecords(m.Records, m.Dropped))),
		)
	case m.Threshold <= 1 && m.Records == 0:
		add("DIS", "-", report.Limited(LimitDIS, "of no records"))
	case m.Threshold <= 1:
		add("DIS", "-", report.Left("needs the sampling fraction"))
	}
	return h
}

// variableRows has the variables with the largest shares.
func variableRows(m *Summary) [][]report.Cell {
	variables := slices.Clone(m.Variables)
	slices.SortStableFunc(variables, func(a, b Blame) int { return cmp.Compare(b.Score, a.Score) })
	rows := [][]report.Cell{{report.Left("riskiest variables"), report.Right("share of the score")}}
	for i, v := range variables {
		if i == riskiestVariables {
			rows = append(rows, []report.Cell{report.Left(fmt.Sprintf("  and %d more", len(variables)-i)), report.Right("")})
			break
		}
		rows = append(rows, []report.Cell{report.Left("  " + report.Printable(v.Name)), report.Right(report.Percent(v.Share))})
	}
	return rows
}
