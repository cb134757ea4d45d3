package command

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
	"microrisk/pipeline/keymap"
	"microrisk/pipeline/keymap/repository"
)

// draftText says what became of columns.
func draftText(path string, d *keymap.Draft) string {
	rows := [][]report.Cell{{{Text: "column"}, {Text: "variable"}, {Text: "values", Right: true}, {Text: "becomes"}}}
	for _, x := range d.Columns {
		values, becomes := "-", "written in"
		if x.Values >= 0 {
			values = report.Count(int64(x.Values))
		}
		switch {
		case x.Bands:
			becomes = report.Plural(int64(x.Categories), "band", "bands")
		case x.Categories > 0:
			becomes = report.Plural(int64(x.Categories), "category", "categories")
		}
		if !x.New {
			becomes += ", of the repository"
		}
		rows = append(rows, []report.Cell{{Text: report.Printable(x.Column)}, {Text: report.Printable(x.Variable)}, {Text: values, Right: true}, {Text: becomes}})
	}
	text := fmt.Sprintf("%q from %s\n\n%s\n", d.Form.Name, report.Printable(path), table("", rows))
	notes := draftNotes(d) + leftOutText(d.LeftOut)
	if notes != "" {
		notes += "\n"
	}
	return text + notes
}

// draftNotes say what is to be looked at.
func draftNotes(d *keymap.Draft) string {
	var b strings.Builder
	var numbers []string
	note := func(column, format string, args ...any) {
		b.WriteString(wrapped("", strings.Fields(report.Printable(column)+": "+fmt.Sprintf(format, args...))))
	}
	for _, x := range d.Columns {
		if len(x.Without) > 0 {
			note(x.Column, "no value is %s", printableList(x.Without))
		}
		if len(x.Taken) > 0 {
			note(x.Column, "%s", printableList(x.Taken))
		}
		if x.Like != nil {
			note(x.Column, "%q and %q look like bands of numbers; --step %s reads them as such, of whole numbers", x.Like[0], x.Like[1], shellWord(x.Column+"=1"))
		}
		if x.Numbers {
			numbers = append(numbers, x.Column)
		}
	}
	if numbers != nil {
		text := fmt.Sprintf("%s: texts, all of them numbers; if they measure something, put them into bands: --bands %s=5", printableList(numbers),
			shellWord(numbers[0]))
		b.WriteString(wrapped("", strings.Fields(text)))
	}
	return b.String()
}

// leftOutText says why columns did not become variables, those together of which the same is said.
func leftOutText(list []keymap.LeftOut) string {
	var whys []string
	of := make(map[string][]string)
	for _, l := range list {
		why := strings.ReplaceAll(l.Why, "--bands "+l.Column+"=", "--bands NAME=")
		if of[why] == nil {
			whys = append(whys, why)
		}
		name := report.Printable(l.Column)
		if l.Values > 0 {
			name += fmt.Sprintf(" (%s)", report.Count(int64(l.Values)))
		}
		of[why] = append(of[why], name)
	}
	var b strings.Builder
	for _, why := range whys {
		b.WriteString(wrapped("", strings.Fields("left out: "+strings.Join(of[why], ", "))))
		b.WriteString(wrapped("  ", strings.Fields(why)))
	}
	return b.String()
}

// mostTold is how many values or columns a note names.
const mostTold = 10

func printableList(list []string) string {
	var shown []string
	for _, text := range list[:min(mostTold, len(list))] {
		shown = append(shown, report.Printable(text))
	}
	if more := len(list) - mostTold; more > 0 {
		shown = append(shown, fmt.Sprintf("and %s more", report.Count(int64(more))))
	}
	return strings.Join(shown, ", ")
}

// mostWritten is how many files of an import are listed.
const mostWritten = 40

// importedText says what was written, and what can be done next; or it is what would be written.
func (c *console) importedText(ctx *cli.Context, written []repository.Written, look, next string) string {
	var b strings.Builder
	if ctx.Bool("dry-run") {
		for _, w := range written {
			fmt.Fprintf(&b, "# %s would be\n%s\n", report.Printable(w.Path), w.Text)
		}
		return b.String()
	}
	b.WriteString(writtenText(written[:min(mostWritten, len(written))], false))
	if more := len(written) - mostWritten; more > 0 {
		fmt.Fprintf(&b, "and %s more files\n", report.Count(int64(more)))
	}
	b.WriteString("\n" + wrapped("", strings.Fields("Review "+look+", and then:")))
	fmt.Fprintf(&b, "  microrisk keymap check -r %s\n", shellWord(ctx.String("repository")))
	if next != "" {
		fmt.Fprintf(&b, "  %s\n", next)
	}
	return b.String()
}
