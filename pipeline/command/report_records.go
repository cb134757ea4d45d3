package command

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/operators"
	"microrisk/operators/individual"
	"microrisk/operators/mc3"
	"microrisk/operators/report"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/schemas"
)

// recordText has the records with the highest scores, each with its key values and what names it.
func recordText(spec *schemas.Spec, o *pipeline.Outcome, ranking operators.Ranking, shared bool) string {
	lines := strings.SplitAfter(strings.TrimRight(table("  ", recordRows(spec, o, ranking, shared)), "\n"), "\n")
	var b strings.Builder
	b.WriteString(lines[0])
	for i, r := range ranking.Rows {
		b.WriteString(strings.TrimRight(lines[i+1], "\n") + "\n")
		b.WriteString(wrapped("      ", valuesOf(spec, ranking, r)))
	}
	return b.String()
}

// valuesOf names a record: by its id if one is asked for, and by its key values.
func valuesOf(spec *schemas.Spec, ranking operators.Ranking, r operators.RiskyRow) []string {
	var parts []string
	if spec.ID != "" {
		parts = append(parts, report.Printable(spec.ID)+" "+report.Value(r.ID)+":")
	}
	for v, value := range r.Values {
		end := ","
		if v == len(r.Values)-1 {
			end = ""
		}
		parts = append(parts, report.Printable(ranking.Key[v])+" = "+report.Value(value)+end)
	}
	return parts
}

// wrapped puts parts on lines that fit on the screen; a part that is longer than a line is broken.
func wrapped(indent string, parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return indent + strings.Join(wrapParts(parts, screen-len(indent)), "\n"+indent) + "\n"
}

// missingText says that the top of the list rests on missing values, where they count as a category of their own.
func missingText(spec *schemas.Spec, o *pipeline.Outcome, scored *suda.Summary) string {
	if scored == nil || scored.FileScore == 0 {
		return ""
	}
	share, name := 0.0, ""
	for _, c := range scored.Categories {
		if c.Category == nil && c.Share > share {
			share, name = c.Share, c.Variable
		}
	}
	top, without := 0, 0
	for _, r := range o.Rankings {
		if !strings.HasSuffix(r.Column, "_"+suda.ColumnScore) || top > 0 {
			continue
		}
		top = len(r.Rows)
		for _, row := range r.Rows {
			for _, value := range row.Values {
				if value == nil {
					without++
					break
				}
			}
		}
	}
	if share < 25 && 2*without < max(top, 1) || name == "" {
		return ""
	}
	return note(
		fmt.Sprintf(
			"%d of these %d records have missing values, which count as a category here: sets with a missing %s make %s of the file's score. Another missing-value "+
				"policy (ignore, wildcard or drop) shows what rests on values.",
			without,
			top,
			report.Printable(name),
			report.Percent(share),
		),
	)
}

// note is a sentence under a table.
func note(text string) string { return wrapped("    ", strings.Fields(text)) }

// whyDifferent says why figures of one table that answer the same question do not agree.
func whyDifferent(spec *schemas.Spec, s *schemas.Summary, scored *suda.Summary) string {
	var text string
	models := modelled(spec, s)
	if len(models) == 0 {
		return ""
	}
	m := models[0]
	if dis := scored; dis != nil && m.Fit != mc3.FitEach && dis.DIS != nil && m.CMUM != nil && apart(*dis.DIS, *m.CMUM) {
		text += note(
			fmt.Sprintf(
				"DIS (%s) and CM|UM (%s) answer the same question. DIS assumes no model: it counts uniques and pairs of the sample, and is nearly unbiased for the "+
					"file but uncertain where there are few pairs. CM|UM takes the population as drawn from the models above, and is as good as they are.%s",
				report.Figure(*dis.DIS),
				report.Figure(*m.CMUM),
				otherRecords(dis.Records, m.Records),
			),
		)
	}
	for _, o := range s.Operators {
		x, ok := o.(*individual.Summary)
		if ok && m.Fit != mc3.FitEach && m.Reidentified != nil && apart(x.Reidentified, *m.Reidentified) {
			text += note(
				fmt.Sprintf(
					"Re-identifications: mc3 (%s) borrows strength between keys, by the models above and one sampling fraction; individual (%s) looks at each key by "+
						"itself and takes its sum of weights for its size in the population, which makes sample uniques with large weights safe.%s",
					report.Figure(*m.Reidentified),
					report.Figure(x.Reidentified),
					otherRecords(m.Records, x.Records),
				),
			)
			break
		}
	}
	if text == "" {
		return ""
	}
	return "\n  why figures differ\n" + text
}

func otherRecords(a, b int64) string {
	if a == b {
		return ""
	}
	return fmt.Sprintf(" They are of %s and of %s records, as missing values are dropped from one.", report.Count(a), report.Count(b))
}

// apart tells whether two figures differ by more than a tenth.
func apart(a, b float64) bool { return a > 1.1*b || b > 1.1*a }

// A modelSummary is that of an mc3 operator with its prefix.
type modelSummary struct {
	*mc3.Summary
	prefix string
}

// modelled are the summaries of the spec's mc3 operators.
func modelled(spec *schemas.Spec, s *schemas.Summary) []modelSummary {
	var list []modelSummary
	for _, o := range spec.Operators {
		c, ok := o.Config.(*mc3.Config)
		if !ok {
			continue
		}
		if m, ok := s.Operators[c.ColumnPrefix()].(*mc3.Summary); ok {
			list = append(list, modelSummary{m, c.ColumnPrefix()})
		}
	}
	return list
}

// ofRecords tells whether a ranking is of records by themselves, and not by tables, which the operator names.
func ofRecords(spec *schemas.Spec, r operators.Ranking) bool {
	return slices.ContainsFunc(spec.Operators, func(o schemas.Operator) bool {
		m := o.Measure()
		return m != nil && m.ColumnPrefix() == r.Operator
	})
}
