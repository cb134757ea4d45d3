package command

import (
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
	"microrisk/pipeline/bounds"
)

// boundsCommand is the command that bounds cells by released tables.
func (c *console) boundsCommand() *cli.Command {
	return &cli.Command{
		Name:      "bounds",
		Usage:     "find the counts that released tables leave possible in each cell",
		ArgsUsage: "TABLE...",
		UsageText: "microrisk bounds TABLE... [--scheme conventional --base 3] [--exact TABLE] [--out FILE]\nmicrorisk bounds --spec FILE.yaml",
		Description: `A TABLE is a .parquet, .arrow or .csv file with one row a published cell: columns
of variables, and one of counts named published, value or count, or two named
lower and upper. Total in a variable's column is a margin (--total names others),
an absent row is empty, a count of null was not published (nor those that
--suppressed names), and a table may leave variables out. For every combination of the categories of all tables the output
has lower, upper, and exact where the two are equal; upper is null where there
is no limit. All tables together may have a million combinations: areas within
areas are best bounded one by one.`,
		Flags: append(fieldFlags(new(bounds.Spec).Fields()), documentFlags()...),
		Action: func(ctx *cli.Context) error {
			s := &bounds.Spec{}
			places, done, err := c.document(ctx, s, func() error { return sayBounds(ctx, s) })
			if done {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			outcome, err := bounds.Run(ctx.Context, *s, o)
			c.finish()
			if err != nil || c.quiet {
				return places.Locate(err)
			}
			return c.print(boundsText(outcome, s.Out))
		},
	}
}

// sayBounds puts what the command line says into the spec.
func sayBounds(ctx *cli.Context, s *bounds.Spec) error {
	if ctx.Args().Present() {
		s.Tables = ctx.Args().Slice()
	}
	if err := sayFields(ctx, s.Fields()); err != nil {
		return err
	}
	if len(s.Tables)+len(s.Exact)+len(s.Perturbed) == 0 {
		return usage("name the released tables: microrisk bounds TABLE ...")
	}
	return nil
}

func boundsText(o *bounds.Outcome, path string) string {
	found := o.Method + ", the tightest bounds"
	if !o.Sharp {
		found = o.Method + ", perhaps not the tightest bounds"
	}
	width := "-"
	if o.Unbounded < o.Cells {
		width = report.Figure(o.Width)
	}
	rows := [][]report.Cell{
		{report.Left("released tables"), report.Right(report.Count(int64(o.Margins))), report.Left("each margin for itself")},
		{report.Left("  perturbed by"), report.Right(""), report.Left(report.Shorten(o.Scheme, 45))},
		{report.Left("cells"), report.Right(report.Count(int64(o.Cells))), report.Left(report.Shorten(report.Printable(strings.Join(o.Variables, " x ")), 50))},
		{
			report.Left("  known exactly"),
			report.Right(report.Count(int64(o.Known))),
			report.Left(report.PartOf(int64(o.Known), int64(o.Cells)) + " of the cells"),
		},
		{report.Left("  known to be empty"), report.Right(report.Count(int64(o.Zeros)))},
		{report.Left("  mean width"), report.Right(width), report.Left(found)},
	}
	if o.Tables > 0 {
		note := "have these margins"
		if !o.AllTables {
			note = "at least " + note
		}
		rows = append(rows, []report.Cell{report.Left("possible tables"), report.Right(report.Count(o.Tables)), report.Left(note)})
	}
	if o.Unbounded > 0 {
		rows = append(rows, []report.Cell{report.Left("  without upper bound"), report.Right(report.Count(int64(o.Unbounded)))})
	}
	text := ""
	for _, w := range o.Warnings {
		text += "\nwarning: " + report.Printable(w) + "\n"
	}
	return table("  ", rows) + text + "\nwritten to " + report.Printable(path) + "\n"
}
