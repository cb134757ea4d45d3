package command

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"microrisk/operators/report"
	"microrisk/pipeline"
	"microrisk/pipeline/inspect"
)

// planText shows what a spec would do.
func planText(p *pipeline.Plan) string {
	var b strings.Builder
	if p.Missing != nil {
		fmt.Fprintf(&b, "The spec is valid. Its columns were not looked at: %s\n", sentence(p.Missing.Error()))
		b.WriteString(warningText(p.Warnings))
		return b.String()
	}
	b.WriteString(wrap("The spec is valid. No row was read: whether rows have the values that it names (in select, map and levels) a run tells.", 0) + "\n\n")
	fmt.Fprintf(&b, "reads    %s\n", inputName(p.Inputs, screen-9))
	fmt.Fprintf(&b, "scans    %d\n", p.Scans)
	for i, s := range p.Stages {
		fmt.Fprintf(&b, "  %d. counts for %s\n", i+1, strings.Join(s.Operators, ", "))
		for _, t := range s.Tables {
			b.WriteString(wrap(report.Printable(t), 7) + "\n")
		}
	}
	if len(p.Outputs) > 0 {
		what := "annotates the rows"
		if p.Filters {
			what = "annotates the rows that are chosen, the others leave the output"
		}
		fmt.Fprintf(&b, "  %d. %s\n", p.Scans, what)
	}
	b.WriteString(madeText("adds", p.Added))
	b.WriteString(madeText("replaces", p.Replaced))
	for i, o := range p.Outputs {
		name := "         "
		if i == 0 {
			name = "writes   "
		}
		if o == "-" {
			o = "standard output"
		}
		fmt.Fprintf(&b, "%s%s\n", name, report.Printable(o))
	}
	b.WriteString(warningText(p.Warnings))
	return b.String()
}

// sentence ends a text with a full stop, unless it has an end.
func sentence(text string) string {
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// warningText lists warnings, wrapped.
func warningText(list []string) string {
	var b strings.Builder
	for _, w := range list {
		fmt.Fprintf(&b, "\nwarning  %s\n", strings.TrimLeft(wrap(report.Printable(w), 9), " "))
	}
	return b.String()
}

// madeText lists columns that a spec makes.
func madeText(what string, columns []pipeline.MadeColumn) string {
	if len(columns) == 0 {
		return ""
	}
	var rows [][]report.Cell
	for _, a := range columns {
		rows = append(rows, []report.Cell{report.Left(a.Name), report.Left(a.Type)})
	}
	return what + "\n" + table("  ", rows)
}

// inspectionText shows columns, or how a key singles records out.
func inspectionText(i *inspect.Inspection) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", inputName(i.Inputs, screen-32), report.Plural(i.Rows, "row", "rows"))
	if i.Counted != i.Rows {
		fmt.Fprintf(&b, ", %s chosen", report.Count(i.Counted))
	}
	b.WriteString("\n\n")
	switch {
	case i.Values != nil:
		b.WriteString(valuesText(i.Values))
		return b.String()
	case i.Key == nil:
		rows := [][]report.Cell{{report.Left("column"), report.Left("type"), report.Right("categories"), report.Right("missing")}}
		room := typeRoom(i.Columns)
		for _, c := range i.Columns {
			categories, missing := "-", "-"
			if c.Reason == "" {
				categories = report.Count(c.Categories)
			}
			if c.Missing >= 0 {
				missing = report.Count(c.Missing)
			}
			rows = append(rows, []report.Cell{report.Left(c.Name), report.Left(report.Shorten(c.Type, room)), report.Right(categories), report.Right(missing)})
			if c.Reason != "" {
				rows[len(rows)-1] = append(rows[len(rows)-1], report.Left(c.Reason))
			}
		}
		b.WriteString(table("  ", rows))
		return b.String()
	}
	k := i.Key
	rows := [][]report.Cell{{report.Left("key"), report.Right("combinations"), report.Right("sample uniques"), report.Right("of the records")}}
	line := func(name string, c inspect.KeyCount) {
		rows = append(
			rows,
			[]report.Cell{
				report.Left(name),
				report.Right(report.Count(c.Classes)),
				report.Right(report.Count(c.SampleUniques)),
				report.Right(report.PartOf(c.SampleUniques, c.Records)),
			},
		)
	}
	line("all variables", k.Whole)
	for _, c := range k.Without {
		line("without "+c.Without, c)
	}
	b.WriteString(table("  ", rows))
	return b.String()
}

// typeRoom is how wide the types of columns are shown, so that their names are not cut.
func typeRoom(columns []inspect.ColumnInspection) int {
	name := 0
	for _, c := range columns {
		name = max(name, utf8.RuneCountInString(c.Name))
	}
	const others = 2 + 2 + 2 + len("categories") + 2 + len("missing") + 2 + 20 // what stands between and beside: a note needs 20
	return min(max(screen-others-name, 10), 32)
}

// valuesText lists the categories of columns. They stand last, where none is cut short.
func valuesText(columns []inspect.ColumnValues) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString("\n")
		}
		rows := [][]report.Cell{{report.Right("records"), report.Left(c.Name)}}
		for k, v := range c.Values {
			if v.Value == nil && k > 0 && c.More > 0 {
				break
			}
			rows = append(rows, []report.Cell{report.Right(report.Count(v.Count)), report.Left(report.Value(v.Value))})
		}
		if c.More > 0 {
			rows = append(
				rows,
				[]report.Cell{
					report.Right(report.Count(c.MoreRows)),
					report.Left(fmt.Sprintf("(%s)", report.Plural(c.More, "more category", "more categories"))),
				},
			)
			if last := c.Values[len(c.Values)-1]; last.Value == nil {
				rows = append(rows, []report.Cell{report.Right(report.Count(last.Count)), report.Left(report.Value(nil))})
			}
		}
		b.WriteString(table("  ", rows))
	}
	return b.String()
}
