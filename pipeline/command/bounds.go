package command

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
	"microrisk/pipeline/bounds"
	"microrisk/pipeline/released"
)

// boundsCommand is the command that bounds cells by released tables.
func (c *console) boundsCommand() *cli.Command {
	return &cli.Command{
		Name:      "bounds",
		Usage:     "find the counts that released tables leave possible in each cell",
		ArgsUsage: "TABLE...",
		UsageText: "microrisk bounds TABLE... [--scheme conventional --base 3] [--exact TABLE] [--out FILE]",
		Description: `A TABLE is a .parquet, .arrow or .csv file with one row a published cell: columns
of variables, and one of counts named published, value or count, or two named
lower and upper. Total in a variable's column is a margin (--total names others),
an absent row is empty, a count of null was not published (nor those that
--suppressed names), and a table may leave variables out. For every combination of the categories of all tables the output
has lower, upper, and exact where the two are equal; upper is null where there
is no limit. All tables together may have a million combinations: areas within
areas are best bounded one by one.`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "method", Usage: "auto (the best that can be afforded), shuttle, sharp or frechet", Value: "auto"},
			&cli.StringFlag{Name: "deadline", Usage: "stop after this `TIME`, such as 30s, with the bounds found so far"},
			&cli.StringFlag{Name: "solver", Usage: "what solves integer programs that the own solver does not finish: auto (cbc or glpsol if they are installed), embedded, cbc or glpsol", Value: "auto"},
			&cli.StringSliceFlag{Name: "exact", Usage: "`TABLE` that was not perturbed, beside those that --scheme was used on; may be repeated"},
			&cli.StringSliceFlag{Name: "perturbed", Usage: "published `TABLE` with a scheme of its own, FILE=SCHEME:base=3:tie=up (also probability, last, value); may be repeated"},
			&cli.StringSliceFlag{Name: "suppressed", Usage: "`TEXTS` of counts that were not published, besides null, separated by commas: x,..,<3 (<3 is a count below 3)"},
			&cli.StringSliceFlag{Name: "total", Usage: "`TEXTS` that stand for a margin in a variable's column, separated by commas (default: Total)"},
			&cli.StringSliceFlag{Name: "levels", Usage: "all categories of a variable, `VAR=a|b|c`, also of one that is in no table; may be repeated"},
			&cli.StringSliceFlag{Name: "merged", Usage: "a published category that merges others, `VAR:NAME=a|b|c`; may be repeated"},
			&cli.BoolFlag{Name: "count", Usage: "count the tables of counts that are possible"},
			&cli.StringFlag{Name: "list", Usage: "write the tables of counts that are possible to `FILE`"},
			&cli.Int64Flag{Name: "most", Usage: "count or list no more than `N` tables", Value: bounds.DefaultTables},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "output file", Value: "bounds.parquet"},
		}, withoutSecret(perturbationFlags())...),
		Action: func(ctx *cli.Context) error {
			if ctx.Args().Len() == 0 && len(ctx.StringSlice("exact"))+len(ctx.StringSlice("perturbed")) == 0 {
				return usage("name the released tables: microrisk bounds TABLE ...")
			}
			p, err := perturbationOf(ctx)
			if err != nil {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			var deadline time.Duration
			if text := ctx.String("deadline"); text != "" {
				if deadline, err = time.ParseDuration(text); err != nil {
					return usage("--deadline is %q; it must be a time, such as 30s or 5m", text)
				}
				if deadline <= 0 {
					return usage("--deadline is %v; it must be above 0", deadline)
				}
			}
			s := bounds.Spec{Tables: ctx.Args().Slice(), Exact: ctx.StringSlice("exact"), Scheme: p, Method: ctx.String("method"), Deadline: deadline, Solver: ctx.String("solver"), Out: ctx.String("out")}
			s.Count, s.List, s.Most = ctx.Bool("count"), ctx.String("list"), ctx.Int64("most")
			if s.Perturbed, err = perturbedOf(ctx.StringSlice("perturbed")); err != nil {
				return err
			}
			if s.Levels, err = levelsOf(ctx.StringSlice("levels")); err != nil {
				return err
			}
			if s.Suppressed, err = words("suppressed", ctx.StringSlice("suppressed")); err != nil {
				return err
			}
			if s.Totals, err = words("total", ctx.StringSlice("total")); err != nil {
				return err
			}
			for _, text := range ctx.StringSlice("merged") {
				place, members, ok := strings.Cut(text, "=")
				variable, name, named := strings.Cut(place, ":")
				if !ok || !named || variable == "" || name == "" || members == "" {
					return usage("--merged is %q; it is VARIABLE:NAME=a|b|c", text)
				}
				s.Merged = append(s.Merged, released.MergedCategory{Variable: variable, Name: name, Members: strings.Split(members, "|")})
			}
			if ctx.IsSet("most") && (s.Most < 1 || !s.Count && s.List == "") {
				return usage("--most is at least 1, and of --count or --list")
			}
			outcome, err := bounds.Run(ctx.Context, s, o)
			c.finish()
			if err != nil || c.quiet {
				return err
			}
			return c.print(boundsText(outcome, s.Out))
		},
	}
}

// withoutSecret leaves out the secret, which nobody needs to know for bounds.
func withoutSecret(flags []cli.Flag) []cli.Flag { return flags[:len(flags)-1] }

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
		{report.Left("  known exactly"), report.Right(report.Count(int64(o.Known))), report.Left(report.PartOf(int64(o.Known), int64(o.Cells)) + " of the cells")},
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
