package runpage

import (
	"fmt"
	"slices"

	"microrisk/operators/mc3"
	"microrisk/operators/report"
	"microrisk/pipeline/limits"
	"microrisk/pipeline/page"
	"microrisk/schemas"
)

// verdict compares the figures with their limits.
func (m *maker) verdict() *page.Verdict {
	list := m.Summary.Limits
	if len(list) == 0 {
		return m.noLimits()
	}
	broken, unsure := 0, []string{}
	for _, l := range list {
		if l.Breached {
			broken++
		}
		if text := m.unsure(l); text != "" {
			unsure = append(unsure, text)
		}
	}
	all := int64(len(list))
	v := &page.Verdict{State: page.Met, Answer: fmt.Sprintf("Yes, by the limits that were set: all %d are met.", all)}
	if all == 1 {
		v.Answer = "Yes, by the one limit that was set: it is met."
	}
	switch {
	case broken > 0:
		v.State, v.Answer = page.Unmet, fmt.Sprintf("No: %d of %s not met.", broken, report.Plural(all, "limit is", "limits are"))
		if broken == len(list) && broken > 1 {
			v.Answer = fmt.Sprintf("No: none of the %d limits is met.", all)
		} else if all == 1 {
			v.Answer = "No: the limit that was set is not met."
		}
	case len(unsure) > 0:
		v.State, v.Answer = page.Open, "Not surely: the limits are met by the best estimates, but not all beyond doubt."
	}
	if len(m.Finer) > 0 && broken == 0 {
		v.State, v.Answer = page.Open, "Not the file that was written: the limits are met by the figures, but these are of "+listed(
			printable(m.Finer),
		)+" as recoded, and the file has the values as they were."
	}
	v.Blocks = append(v.Blocks, page.Block{Table: m.limitTable()})
	if broken > 0 && !m.public && m.changes() != nil {
		v.Blocks = append(v.Blocks, page.Text("What could be changed stands below, under \"What to change\"."))
	}
	if len(unsure) > 0 {
		v.Blocks = append(v.Blocks, page.Block{List: unsure})
	}
	if m.Profile != nil {
		v.Blocks = append(v.Blocks, page.Text("The limits are those of the profile %s, unless the table says otherwise. %s %s",
			m.Profile.Called(), m.Profile.About, limits.Convention), page.Block{List: m.sources()})
	}
	v.Blocks = append(v.Blocks, page.Note(
		"A verdict is about these figures alone: not about laws and contracts, nor about what else is known of people than the key variables."))
	return v
}

func printable(names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, report.Printable(name))
	}
	return list
}

// noLimits says that nothing was asked, and what could have been.
func (m *maker) noLimits() *page.Verdict {
	v := &page.Verdict{State: page.Open,
		Answer: "No limit was set: the page cannot say whether this may be released. Here are the figures."}
	if m.public {
		v.Answer = "No limit was set for these figures."
		return v
	}
	v.Blocks = append(v.Blocks, page.Text(
		"A limit is the largest value that your office accepts for a figure, such as --limit expected_reidentifications=1. A profile has those that are usual:",
	))
	all, err := limits.All()
	if err != nil {
		return v
	}
	var items []string
	for _, p := range all {
		text := "--profile " + p.Name + ": " + p.About
		for _, l := range p.Limits {
			text += fmt.Sprintf(" %s is at most %s.", l.Limit, report.Figure(l.Max))
		}
		items = append(items, text)
	}
	v.Blocks = append(v.Blocks, page.Block{List: items}, page.Note(limits.Convention))
	return v
}

// unsure says that a limit lies within the interval of its figure.
func (m *maker) unsure(l schemas.LimitSummary) string {
	for _, o := range m.measured() {
		x, ok := o.part.(*mc3.Summary)
		if !ok || o.prefix != l.Operator {
			continue
		}
		i := slices.IndexFunc(x.Intervals, func(i mc3.Interval) bool { return i.Measure == l.Limit })
		if i < 0 || m.hidden[l.Limit] || l.Value == 0 {
			continue
		}
		switch in := x.Intervals[i]; {
		case !l.Breached && in.Upper > l.Allowed:
			return fmt.Sprintf("%s is met, but not beyond doubt: the figure lies between %s and %s (95 %% interval), and the limit is %s.",
				nameOf(l.Limit), report.Figure(in.Lower), report.Figure(in.Upper), report.Figure(l.Allowed))
		case l.Breached && l.Value > l.Allowed && in.Lower <= l.Allowed:
			return fmt.Sprintf("%s is not met, but not beyond doubt: the figure lies between %s and %s (95 %% interval), and the limit is %s.",
				nameOf(l.Limit), report.Figure(in.Lower), report.Figure(in.Upper), report.Figure(l.Allowed))
		}
	}
	return ""
}

// limitTable has a row for each figure that was compared.
func (m *maker) limitTable() *page.Table {
	t := &page.Table{Caption: "Limits, and the figures that they are for",
		Head: []page.Cell{page.Left("figure"), page.Left("limit"), page.Right("is"), page.Right("at most"), page.Left("set by")}}
	for _, l := range m.Summary.Limits {
		state := page.Met
		text := "met"
		switch {
		case l.Breached && l.Records == 0:
			state, text = page.Unmet, "NOT MET: a figure of no records"
		case l.Breached && l.Value <= l.Allowed:
			state, text = page.Unmet, "NOT MET: the figure is of a part of the records only"
		case l.Breached:
			state, text = page.Unmet, "NOT MET"
		}
		name := nameOf(l.Limit) + " (" + l.Limit
		if l.Operator != "" && l.Operator != l.Limit {
			name += ", " + l.Operator
		}
		is, told := m.value(l.Limit, l.Value)
		most := report.Figure(l.Allowed)
		if !told && !single(l.Limit) {
			most = "not told" // it would bound what is hidden
		}
		t.Rows = append(t.Rows, []page.Cell{page.Left(name + ")"), {Text: text, State: state}, page.Right(is), page.Right(most), page.Left(m.setBy(l.Limit))})
	}
	return t
}

// setBy says who set a limit.
func (m *maker) setBy(name string) string {
	l := m.Profile.Of(name)
	if own, ok := m.Spec.Limits[name]; l == nil || ok && (own.Max != l.Max || own.Of != l.Of) {
		return "the office"
	}
	return "profile " + m.Profile.Called()
}

// sources are where the limits of a profile come from.
func (m *maker) sources() []string {
	var list []string
	for _, l := range m.Profile.Limits {
		list = append(list, fmt.Sprintf("%s, at most %s: %s", l.Limit, report.Figure(l.Max), l.Source))
	}
	return list
}
