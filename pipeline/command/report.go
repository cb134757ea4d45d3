package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/operators/report"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/schemas"
)

// reportText is what a person wants to see of a run: what was counted, what it means, where to look first.
func reportText(spec *schemas.Spec, o *pipeline.Outcome) string {
	var b strings.Builder
	s := o.Summary
	scored := mainMeasure(spec, s)
	gate := gateOf(s)
	fmt.Fprintf(&b, "%s\n\n", inputName(o.Inputs, screen))
	rows := [][]report.Cell{{report.Left("rows"), report.Right(report.Count(s.Rows))}}
	if o.Written != s.Rows && len(o.Outputs) > 0 {
		rows = append(rows, []report.Cell{report.Left("rows written"), report.Right(report.Count(o.Written))})
	}
	prefix, head := headOf(spec, s)
	b.WriteString(table("  ", gate.told(prefix, append(rows, headRows(head, s)...))))
	sections := sectionsOf(spec, s)
	for _, x := range sections {
		if x.Place < report.End {
			b.WriteString(partsText(gate, x))
		}
	}
	for _, r := range o.Rankings {
		if len(r.Rows) > 0 && ofRecords(spec, r) {
			b.WriteString("\n" + recordText(spec, o, r, scored != nil && scored.Threshold > 1))
			if strings.HasSuffix(r.Column, "_"+suda.ColumnScore) {
				b.WriteString(missingText(spec, o, scored))
			}
		}
	}
	b.WriteString(whyDifferent(spec, s, scored))
	if rest := gate.rest(); rest != nil {
		b.WriteString("\n" + table("  ", rest))
	}
	for _, x := range sections {
		if x.Place >= report.End {
			b.WriteString(partsText(gate, x) + nextText(spec, x.config))
		}
	}
	switch {
	case len(o.Outputs) == 1 && o.Outputs[0] == "-":
		b.WriteString("\nwritten to standard output\n")
	case len(o.Outputs) == 1:
		fmt.Fprintf(&b, "\nwritten to %s\n", report.Printable(o.Outputs[0]))
	case len(o.Outputs) > 1:
		fmt.Fprintf(&b, "\nwritten to %s\n", report.Printable(strings.Join(first(o.Outputs, 3), ", "))+andMore(len(o.Outputs)-3))
	}
	return b.String()
}

// mainMeasure is the first suda operator's summary.
func mainMeasure(spec *schemas.Spec, s *schemas.Summary) *suda.Summary {
	for _, o := range spec.Operators {
		if c, ok := o.Config.(*suda.Config); ok {
			if scored, ok := s.Operators[c.ColumnPrefix()].(*suda.Summary); ok {
				return scored
			}
		}
	}
	return nil
}

// A toldSection is what an operator tells, and whose limits its figures have.
type toldSection struct {
	report.Section
	config schemas.Config
	prefix string
}

// sectionsOf are what the operators tell, in the order of their places.
func sectionsOf(spec *schemas.Spec, s *schemas.Summary) []toldSection {
	var list []toldSection
	for _, o := range spec.Operators {
		c, ok := o.Config.(report.Reporting)
		if !ok || s.Operators[c.ColumnPrefix()] == nil {
			continue
		}
		section := c.Report(spec, s.Operators[c.ColumnPrefix()])
		if m, ok := s.Operators[c.ColumnPrefix()].(schemas.Measured); ok && m.Domains() != nil && m.Domains().Count > 0 {
			section.Parts = append(section.Parts, domainsPart(m.Domains()))
		}
		list = append(list, toldSection{section, c, c.ColumnPrefix()})
	}
	slices.SortStableFunc(list, func(a, b toldSection) int { return cmp.Compare(a.Place, b.Place) })
	return list
}

// domainsPart is a table of the riskiest domains.
func domainsPart(d *schemas.DomainSummary) report.Part {
	head := []report.Cell{report.Left("by " + strings.Join(d.By, ", ")), report.Right("records"), report.Right("uniques")}
	for _, f := range d.Told {
		head = append(head, report.Right(f.As))
	}
	rows := [][]report.Cell{head}
	for _, r := range d.Riskiest {
		var values []string
		for _, v := range r.Values {
			values = append(values, report.Value(v))
		}
		row := []report.Cell{report.Left("  " + strings.Join(values, ", ")), report.Right(report.Count(r.Records)), report.Right(report.Count(r.Uniques))}
		for _, f := range d.Told {
			figure := "-"
			if x := r.Figures[f.Name]; x != nil {
				figure = report.Figure(*x)
			}
			row = append(row, report.Right(figure))
		}
		rows = append(rows, row)
	}
	if more := d.Count - int64(len(d.Riskiest)); more > 0 {
		rows = append(rows, []report.Cell{report.Left(fmt.Sprintf("  and %s more", report.Count(more))), report.Right("")})
	}
	return report.Part{Apart: true, Rows: rows}
}

// partsText shows what an operator tells.
func partsText(gate *gateReport, x toldSection) string {
	var b strings.Builder
	for _, p := range x.Parts {
		if p.Apart {
			b.WriteString("\n")
		}
		if p.Rows != nil {
			b.WriteString(table("  ", gate.told(x.prefix, p.Rows)))
		}
		if p.Label != "" {
			b.WriteString(labelled(p.Label, p.Texts))
		}
		if p.Words != nil {
			b.WriteString(wrapped("      ", p.Words))
		}
		if p.Note != "" {
			b.WriteString(note(p.Note))
		}
	}
	return b.String()
}

// labelled is a line of texts after a label; where they do not fit, all but the first stand on the next line.
func labelled(label string, texts []string) string {
	if whole := strings.Join(texts, "; "); len(label)+len(whole) <= screen || len(texts) < 2 {
		return line(label, whole)
	}
	return line(label, texts[0]) + line(strings.Repeat(" ", len(label)), strings.Join(texts[1:], "; "))
}

// line is a line of text that fits on the screen; its label stays whole.
func line(label, text string) string {
	if text == "" {
		return label + "\n"
	}
	return label + report.Shorten(report.Printable(text), screen-len(label)) + "\n"
}

// headOf is what the operator of the highest rank says in the first table; nil if none has a say.
func headOf(spec *schemas.Spec, s *schemas.Summary) (prefix string, head *report.Head) {
	for _, o := range spec.Operators {
		c, ok := o.Config.(report.Heading)
		if !ok || s.Operators[c.ColumnPrefix()] == nil {
			continue
		}
		if h := c.Head(spec, s.Operators[c.ColumnPrefix()]); head == nil || h.Rank > head.Rank {
			prefix, head = c.ColumnPrefix(), h
		}
	}
	return prefix, head
}

// headRows are the counts of the key's table.
func headRows(head *report.Head, s *schemas.Summary) [][]report.Cell {
	key, of := s.Key, s.Rows
	if head == nil {
		head = &report.Head{Records: s.Rows}
	}
	if head.Key != nil {
		key = head.Key
	}
	if head.Of > 0 {
		of = head.Of
	}
	var rows [][]report.Cell
	add := func(name, value string, remark report.Cell) { rows = append(rows, report.Row(name, value, remark)) }
	if key == nil && head.Rows == nil {
		return nil
	}
	if head.Records != s.Rows {
		note := "selected and not dropped"
		if head.Records > s.Rows {
			note = "by the table's counts"
		}
		add("records counted", report.Count(head.Records), report.Left(note))
	}
	variables := 0
	if key != nil {
		variables = len(key.Variables)
	}
	add("key variables", report.Count(int64(variables)), report.Cell{})
	if key != nil {
		add("combinations", report.Count(key.Classes), report.Limited(schemas.LimitClasses, "distinct keys"))
		add(
			"sample uniques",
			report.Count(key.SampleUniques),
			report.Limited(schemas.LimitSampleUniques, report.PartOf(key.SampleUniques, of)+" of the records"),
		)
		if head.Unique != nil {
			rows = append(rows, head.Unique(key.SampleUniques))
		}
		add("doubles", report.Figure(key.Doubles), report.Limited(schemas.LimitDoubles, "keys that two records share"))
	}
	return append(rows, head.Rows...)
}

// inputName names inputs in a line that is at most as wide as given.
func inputName(inputs []string, width int) string {
	switch {
	case len(inputs) == 1 && inputs[0] == "-":
		return "standard input"
	case len(inputs) == 1:
		return report.Shorten(report.Printable(inputs[0]), width)
	}
	// As many names as fit whole, but one at least.
	for n := min(2, len(inputs)); ; n-- {
		more := andMore(len(inputs) - n)
		text := report.Printable(strings.Join(first(inputs, n), ", "))
		if room := width - len(more); len([]rune(text)) <= room || n == 1 {
			return report.Shorten(text, room) + more
		}
	}
}

func first(list []string, n int) []string { return list[:min(n, len(list))] }

func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// recordRows has the records with the highest scores; shared: several records may have the key of one.
func recordRows(spec *schemas.Spec, o *pipeline.Outcome, ranking operators.Ranking, shared bool) [][]report.Cell {
	by := "score"
	if ranking.Column == schemas.Column(ranking.Operator, mc3.ColumnCorrectMatch) {
		by, shared = "correct match", false
	}
	if len(o.Rankings) > 1 {
		by = ranking.Column // several blocks are told apart
	}
	rows := [][]report.Cell{{report.Left("riskiest records"), report.Right(by)}}
	if shared {
		rows[0] = append(rows[0], report.Right("records with the key"))
	}
	scores := make([]float64, len(ranking.Rows))
	for i, r := range ranking.Rows {
		scores[i] = r.Score
	}
	texts := report.Figures(scores)
	for i, r := range ranking.Rows {
		// Without separators, as --row wants it.
		name := fmt.Sprintf("  row %d", r.Row)
		if len(o.Inputs) > 1 && r.Input < len(o.Inputs) {
			name += " of " + report.Printable(o.Inputs[r.Input])
		}
		rows = append(rows, []report.Cell{report.Left(name), report.Right(texts[i])})
		if shared {
			rows[i+1] = append(rows[i+1], report.Right(report.Count(r.Frequency)))
		}
	}
	return rows
}
