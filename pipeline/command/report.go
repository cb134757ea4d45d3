package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/schemas"
)

// riskiestVariables is how many variables a report names.
const riskiestVariables = 8

// reportText is what a person wants to see of a run: what was counted, what it means, where to look first.
func reportText(spec *schemas.Spec, o *pipeline.Outcome) string {
	var b strings.Builder
	s := o.Summary
	scored, key := mainMeasure(spec, s)
	variables := 0
	if key != nil {
		variables = len(key.Variables)
	}
	gate := gateOf(s)
	fmt.Fprintf(&b, "%s\n\n", inputName(o.Inputs, screen))
	rows := [][]cell{{left("rows"), right(count(s.Rows))}}
	if o.Written != s.Rows && len(o.Outputs) > 0 {
		rows = append(rows, []cell{left("rows written"), right(count(o.Written))})
	}
	switch {
	case scored != nil:
		rows = append(rows, measured(gate, sudaPrefix(spec), scored, key, s.Rows, variables)...)
	case key != nil:
		for _, m := range modelled(spec, s)[:min(1, len(modelled(spec, s)))] {
			if m.Records != s.Rows {
				rows = append(rows, []cell{left("records counted"), right(count(m.Records)), left("selected and not dropped")})
			}
		}
		rows = append(rows, []cell{left("key variables"), right(count(int64(variables)))},
			[]cell{left("combinations"), right(count(key.Classes)), left(gate.limit(schemas.LimitClasses, "", "distinct keys"))},
			[]cell{left("sample uniques"), right(count(key.SampleUniques)), left(gate.limit(schemas.LimitSampleUniques, "", partOf(key.SampleUniques, s.Rows)+" of the records"))},
			[]cell{left("doubles"), right(figure(key.Doubles)), left(gate.limit(schemas.LimitDoubles, "", "keys that two records share"))})
	}
	b.WriteString(table("  ", rows))
	if scored != nil && scored.FileScore > 0 {
		b.WriteString("\n" + table("  ", variableRows(scored)))
		if len(scored.Variables) > 1 {
			b.WriteString("    shares may add to more than 100 %: a set counts for each variable in it\n")
		}
	}
	for _, m := range modelled(spec, s) {
		b.WriteString("\n" + table("  ", modelRows(gate, m.prefix, m.Summary)) + modelText(m.Summary))
		for _, text := range []string{relativeText(m.Summary), baselineText(m.Summary)} {
			if text != "" {
				b.WriteString("\n" + text)
			}
		}
	}
	for _, rows := range classRows(gate, spec, s) {
		b.WriteString("\n" + table("  ", rows))
	}
	for _, m := range attributions(spec, s) {
		b.WriteString("\n" + attributionText(m))
	}
	for _, r := range o.Rankings {
		if len(r.Rows) > 0 && !ofTables(spec, r) {
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
	b.WriteString(tabulatedText(spec, s))
	switch {
	case len(o.Outputs) == 1 && o.Outputs[0] == "-":
		b.WriteString("\nwritten to standard output\n")
	case len(o.Outputs) == 1:
		fmt.Fprintf(&b, "\nwritten to %s\n", printable(o.Outputs[0]))
	case len(o.Outputs) > 1:
		fmt.Fprintf(&b, "\nwritten to %s\n", printable(strings.Join(first(o.Outputs, 3), ", "))+andMore(len(o.Outputs)-3))
	}
	return b.String()
}

// mainMeasure is the first suda operator's summary and that of the key it used.
func mainMeasure(spec *schemas.Spec, s *schemas.Summary) (*suda.Summary, *schemas.KeySummary) {
	for _, o := range spec.Operators {
		c, ok := o.Config.(*suda.Config)
		if !ok {
			continue
		}
		if scored, ok := s.Operators[c.ColumnPrefix()].(*suda.Summary); ok {
			if scored.KeySummary != nil {
				return scored, scored.KeySummary
			}
			return scored, s.Key
		}
	}
	return nil, s.Key
}

// sudaPrefix is that of the first suda operator.
func sudaPrefix(spec *schemas.Spec) string {
	for _, o := range spec.Operators {
		if c, ok := o.Config.(*suda.Config); ok {
			return c.ColumnPrefix()
		}
	}
	return ""
}

// inputName names inputs in a line that is at most as wide as given.
func inputName(inputs []string, width int) string {
	switch {
	case len(inputs) == 1 && inputs[0] == "-":
		return "standard input"
	case len(inputs) == 1:
		return shorten(printable(inputs[0]), width)
	}
	// As many names as fit whole, but one at least.
	for n := min(2, len(inputs)); ; n-- {
		more := andMore(len(inputs) - n)
		text := printable(strings.Join(first(inputs, n), ", "))
		if room := width - len(more); len([]rune(text)) <= room || n == 1 {
			return shorten(text, room) + more
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

// measured are the counts of the key's table, and DIS.
func measured(gate *gateReport, prefix string, scored *suda.Summary, key *schemas.KeySummary, rows int64, variables int) [][]cell {
	var list [][]cell
	add := func(name, value, note string) { list = append(list, []cell{left(name), right(value), left(note)}) }
	if scored.Records != rows {
		note := "selected and not dropped"
		if scored.Records > rows {
			note = "by the table's counts"
		}
		add("records counted", count(scored.Records), note)
	}
	add("key variables", count(int64(variables)), "")
	if key != nil {
		add("combinations", count(key.Classes), gate.limit(schemas.LimitClasses, "", "distinct keys"))
		add("sample uniques", count(key.SampleUniques), gate.limit(schemas.LimitSampleUniques, "", partOf(key.SampleUniques, scored.Records)+" of the records"))
		if scored.Threshold <= 1 {
			note := partOf(scored.SpecialUniques, key.SampleUniques) + " of the sample uniques"
			if key.SampleUniques == 0 {
				note = ""
			}
			add("special uniques", count(scored.SpecialUniques), gate.limit(suda.LimitSpecialUniques, prefix, note))
		}
		add("doubles", figure(key.Doubles), gate.limit(schemas.LimitDoubles, "", "keys that two records share"))
	}
	what := ""
	if !scored.Complete {
		what = fmt.Sprintf("of at most %s", plural(int64(scored.MaxSize), "variable", "variables"))
	}
	if scored.Threshold > 1 {
		add("minimal risky sets", count(scored.MSUs), strings.TrimSpace(fmt.Sprintf("shared by at most %d records %s", scored.Threshold, what)))
	} else {
		add("minimal sample uniques", count(scored.MSUs), gate.limit(suda.LimitMSUs, prefix, what))
	}
	if scored.Fraction != nil {
		add("sampling fraction", figure(*scored.Fraction), "")
	}
	switch {
	case scored.DIS != nil:
		add("DIS", figure(*scored.DIS), gate.limit(suda.LimitDIS, prefix, joined("chance that a unique match is correct", ofRecords(scored.Records, scored.Dropped))))
	case scored.Threshold <= 1:
		add("DIS", "-", "needs the sampling fraction")
	}
	return list
}

// variableRows has the variables with the largest shares.
func variableRows(scored *suda.Summary) [][]cell {
	variables := slices.Clone(scored.Variables)
	slices.SortStableFunc(variables, func(a, b suda.Blame) int { return cmp.Compare(b.Score, a.Score) })
	rows := [][]cell{{left("riskiest variables"), right("share of the score")}}
	for i, v := range variables {
		if i == riskiestVariables {
			rows = append(rows, []cell{left(fmt.Sprintf("  and %d more", len(variables)-i)), right("")})
			break
		}
		rows = append(rows, []cell{left("  " + printable(v.Name)), right(percent(v.Share))})
	}
	return rows
}

// recordRows has the records with the highest scores; shared: several records may have the key of one.
func recordRows(spec *schemas.Spec, o *pipeline.Outcome, ranking operators.Ranking, shared bool) [][]cell {
	by := "score"
	if ranking.Column == schemas.Column(ranking.Operator, mc3.ColumnCorrectMatch) {
		by, shared = "correct match", false
	}
	if len(o.Rankings) > 1 {
		by = ranking.Column // several blocks are told apart
	}
	rows := [][]cell{{left("riskiest records"), right(by)}}
	if shared {
		rows[0] = append(rows[0], right("records with the key"))
	}
	scores := make([]float64, len(ranking.Rows))
	for i, r := range ranking.Rows {
		scores[i] = r.Score
	}
	texts := figures(scores)
	for i, r := range ranking.Rows {
		// Without separators, as --row wants it.
		name := fmt.Sprintf("  row %d", r.Row)
		if len(o.Inputs) > 1 && r.Input < len(o.Inputs) {
			name += " of " + printable(o.Inputs[r.Input])
		}
		rows = append(rows, []cell{left(name), right(texts[i])})
		if shared {
			rows[i+1] = append(rows[i+1], right(count(r.Frequency)))
		}
	}
	return rows
}
