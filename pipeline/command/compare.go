package command

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
	"microrisk/pipeline/difference"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// compareCommand is the command that compares the risk of two files.
func (c *console) compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare the risk of two files: before and after a protection, this wave and the last",
		ArgsUsage: "BEFORE AFTER",
		UsageText: "microrisk compare BEFORE AFTER --key AGE,SEX,... [--fraction F] [--limit NAME=VALUE]\nmicrorisk compare BEFORE.yaml AFTER.yaml",
		Description: `Both files are measured in the same way, and nothing is written but --json: figures
of the file and by how much they differ, what each key variable adds to the SUDA
score, the categories that got riskier, and the records that entered or left the
riskiest (--top), by their rows where both files have as many, or by --id. Key
variables that AFTER does not have, as a protection leaves them out, are left out of
its key. Two specs of runs (.yaml, .json) can stand in place of the files: then each
says all of its own.

Limits are those of AFTER: a breach ends with exit status 3, as a gate.`,
		Flags: slices.Concat(keyFlags(), samplingFlags(), []cli.Flag{
			&cli.StringSliceFlag{Name: "measures", Usage: measureUsage()},
			&cli.StringFlag{Name: "id", Usage: "tell records apart by `COLUMN` in place of their rows; its values are shown on the terminal alone"},
			&cli.IntFlag{Name: "top", Usage: "records of the top of each list (default: 20)"},
			&cli.StringSliceFlag{
				Name:  "limit",
				Usage: "end with exit status 3 when a figure of AFTER is above its limit: `NAME=VALUE`, such as sample_uniques=1000",
			},
			&cli.StringFlag{Name: "json", Usage: "write the comparison to `FILE`, without key values and identifiers"},
		}, officeFlags(), measureFlags(), eachFlags()),
		Action: func(ctx *cli.Context) error {
			shown, err := reportOf(ctx)
			if err != nil {
				return err
			}
			s, err := c.compared(ctx)
			if err != nil {
				return err
			}
			if err := shown.apart(slices.Concat(s.Before.Source.Path, s.After.Source.Path, []string{ctx.String("json")})); err != nil {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			out, err := difference.Run(ctx.Context, s, o)
			if err == nil && ctx.String("json") != "" {
				err = out.Write(ctx.Context, ctx.String("json"), o)
			}
			if err == nil && shown != nil {
				err = shown.write(ctx, o, slices.Concat(out.Before.Input, out.After.Input), out.Page(shown.confidential))
			}
			c.finish()
			if err != nil {
				return err
			}
			if !c.quiet {
				if err := c.print(differenceText(out) + shown.told()); err != nil {
					return err
				}
			}
			if len(out.Breaches) > 0 {
				return &limitError{out.Breaches}
			}
			return nil
		},
	}
}

// compared are the two runs that the command line says.
func (c *console) compared(ctx *cli.Context) (difference.Spec, error) {
	s := difference.Spec{Top: ctx.Int("top")}
	if n := ctx.Args().Len(); n != 2 {
		return s, usage("compare takes two files or two specs, not %d: microrisk compare BEFORE AFTER", n)
	}
	if ctx.IsSet("top") && (s.Top < 1 || s.Top > 10_000) {
		return s, usage("--top is %d; it must be 1 to 10000", s.Top)
	}
	paths := ctx.Args().Slice()
	specs := 0
	for _, p := range paths {
		if strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml") || strings.HasSuffix(p, ".json") {
			specs++
		}
	}
	if specs == 1 {
		return s, usage("%s and %s are a spec and a file; give two specs, or two files with flags", paths[0], paths[1])
	}
	if specs == 2 {
		for _, f := range ctx.Command.Flags {
			if name := f.Names()[0]; ctx.IsSet(name) && !slices.Contains([]string{"json", "top", "report", "confidential"}, name) {
				return s, usage("--%s is said by the specs; leave it out", name)
			}
		}
		for i, to := range []**schemas.Spec{&s.Before, &s.After} {
			text, err := readNamed("spec", paths[i])
			if err != nil {
				return s, err
			}
			c.reads = append(c.reads, session.Reading{What: "the spec", Path: paths[i]})
			if *to, err = specfile.Decode(paths[i], text); err != nil {
				return s, err
			}
		}
		return s, nil
	}
	s.Lacking = true
	for i, to := range []**schemas.Spec{&s.Before, &s.After} {
		measures, err := measuresOf(ctx, nil)
		if err != nil {
			return s, err
		}
		spec, err := keySpecOf(ctx, paths[i:i+1])
		if err != nil {
			return s, err
		}
		if spec.Sampling, err = samplingOf(ctx); err != nil {
			return s, err
		}
		made, err := operatorsOf(ctx, measures)
		if err != nil {
			return s, err
		}
		for _, o := range made { // the files may be annotated already, and nothing of them is written
			if w := o.Writer(); w != nil {
				_, _, replace := w.Common()
				*replace = true
			}
		}
		spec.Operators = append(spec.Operators, made...)
		spec.ID = ctx.String("id")
		*to = spec
	}
	limits, err := limitsOf(ctx.StringSlice("limit"))
	s.After.Limits = limits
	return s, err
}

// differenceText tells what differs.
func differenceText(o *difference.Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nagainst %s\n", inputName(o.Before.Input, screen), inputName(o.After.Input, screen))
	if o.LeftOut != nil {
		b.WriteString(wrap("The second file does not have "+report.Printable(strings.Join(o.LeftOut, ", "))+": its key is the rest.", 0) + "\n")
	}
	rows := [][]report.Cell{{report.Left("figure"), report.Right("before"), report.Right("after"), report.Left("change")}}
	operator := ""
	for _, f := range o.Figures {
		name := strings.ReplaceAll(strings.TrimPrefix(f.Name, "expected_"), "_", " ")
		if f.Operator != "" {
			if f.Operator != operator {
				operator = f.Operator
				rows = append(rows, []report.Cell{report.Left(operator)})
			}
			name = "  " + name
		}
		rows = append(
			rows,
			[]report.Cell{report.Left(name), report.Right(orNone(f.Before)), report.Right(orNone(f.After)), report.Left(changeText(f.Before, f.After))},
		)
	}
	b.WriteString("\n" + table("  ", rows))
	b.WriteString(sharesText(o))
	for _, l := range o.Lists {
		b.WriteString(listText(&l))
	}
	g := gateReport{o.Limits, map[int]bool{}}
	for i, l := range o.Limits {
		g.shown[i] = true
		word := "kept"
		if l.Breached {
			word = "BREACHED"
		}
		fmt.Fprintf(&b, "\nlimit %s: %s of at most %s, %s", strings.ReplaceAll(l.Limit, "_", " "), report.Figure(l.Value), report.Figure(l.Allowed), word)
	}
	if len(o.Limits) > 0 {
		b.WriteString("\n")
	}
	for _, w := range o.Warnings {
		b.WriteString("\n" + wrap("warning: "+report.Printable(w), 0) + "\n")
	}
	return b.String()
}

func orNone(x *float64) string {
	if x == nil {
		return "-"
	}
	return report.Figure(*x)
}

// changeText is a difference, in percent where that says something.
func changeText(before, after *float64) string {
	switch {
	case before == nil || after == nil || *before == *after:
		return ""
	case *before == 0:
		return "from none"
	case *after == 0:
		return "to none"
	}
	by := 100 * (*after / *before - 1)
	sign := "+"
	if by < 0 {
		sign = "-"
	}
	return sign + report.Percent(math.Abs(by))
}

// sharesText tells the variables and categories whose part of the score changed.
func sharesText(o *difference.Outcome) string {
	if len(o.Variables) == 0 {
		return ""
	}
	rows := [][]report.Cell{{report.Left("in the SUDA score"), report.Right("before"), report.Right("after")}}
	for _, v := range o.Variables {
		rows = append(rows, []report.Cell{report.Left("  " + v.Variable), report.Right(report.Percent(v.Before)), report.Right(report.Percent(v.After))})
	}
	for i, c := range o.Categories {
		if i == 0 {
			rows = append(rows, []report.Cell{report.Left("categories that rose")})
		}
		category := "missing"
		if c.Category != nil {
			category = *c.Category
		}
		rows = append(rows, []report.Cell{report.Left("  " + report.Shorten(c.Variable+" = "+category, 40)), report.Right(report.Percent(c.Before)),
			report.Right(report.Percent(c.After))})
	}
	return "\n" + table("  ", rows)
}

// shownRecords is how many records that entered or left a list are told.
const shownRecords = 5

// listText tells which records entered or left the riskiest.
func listText(l *difference.List) string {
	if l.Unlike != "" {
		return "\n" + wrap("The riskiest records by "+l.Column+" cannot be compared: "+l.Unlike+" (--id).", 0) + "\n"
	}
	text := "\n" + wrap(
		fmt.Sprintf("The riskiest by %s: %s stayed, %s entered, %s left.", l.Column, report.Count(int64(l.Stayed)), report.Count(int64(len(l.Entered))),
			report.Count(int64(len(l.Left)))),
		0,
	) + "\n"
	var rows [][]report.Cell
	add := func(word string, list []difference.Row) {
		for _, r := range list[:min(len(list), shownRecords)] {
			name := fmt.Sprintf("row %d", r.Row)
			if r.ID() != nil {
				name = *r.ID()
			}
			var values []string
			for i, v := range r.Value {
				values = append(values, r.Key[i]+"="+report.Value(v))
			}
			rows = append(
				rows,
				[]report.Cell{
					report.Left(word),
					report.Left(name),
					report.Right(report.Figure(r.Score)),
					report.Left(report.Shorten(strings.Join(values, " "), 44)),
				},
			)
			word = ""
		}
	}
	add("entered", l.Entered)
	add("left", l.Left)
	if rows == nil {
		return text
	}
	return text + table("  ", rows)
}
