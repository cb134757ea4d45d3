package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/pipeline/tables"
)

func (c *console) tableMargins() *cli.Command {
	// What is told of a ready-made table of counts.
	columns := new(protect.Columns).Fields().Only("count")
	return &cli.Command{
		Name:      "margins",
		Usage:     "find which margins of a table of counts may be published as they are",
		ArgsUsage: "FILE...",
		UsageText: "microrisk table margins FILE... --table AGE,SEX,AREA,HEALTH --width 4 [--to 2] [--out FILE]",
		Description: `Whoever has margins of a table knows each cell within bounds. Sets of margins are
sought that leave the bounds of every cell with a small count (1 to --to) at least
--width apart, by how much of the association among the variables they lose: the
deviance of the log-linear model of the margins. The best ten are shown; --out has
all. Up to 8 variables all sets of decomposable models are gone through.`,
		Flags: slices.Concat(tableSourceFlags(), fieldFlags(new(tables.MarginsSpec).Fields(), columns)),
		Action: func(ctx *cli.Context) error {
			s := tables.MarginsSpec{}
			config := &protect.Config{}
			var err error
			if s.Source, err = tableSource(ctx, "table margins", config); err != nil {
				return err
			}
			if err := sayFields(ctx, s.Fields()); err != nil {
				return err
			}
			config.Table = s.Table
			if s.Source.Records != nil {
				if err := tellCodes(ctx, config); err != nil {
					return err
				}
			}
			s.Table = config.Table
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			found, err := tables.Margins(ctx.Context, s, o)
			c.finish()
			if err != nil || c.quiet {
				return err
			}
			return c.print(marginsText(found, &s))
		},
	}
}

// shownSets is how many sets of margins are shown.
const shownSets = 10

func marginsText(f *tables.FoundMargins, s *tables.MarginsSpec) string {
	var b strings.Builder
	if len(f.Sets) == 0 {
		b.WriteString("Nothing may be published, not even the total.\n")
	} else {
		rows := [][]report.Cell{{report.Right("lost"), report.Right("df"), report.Right("association kept"), report.Left("margins")}}
		for i := range f.Sets[:min(len(f.Sets), shownSets)] {
			kept := "-"
			if f.Kept(i) >= 0 {
				kept = report.Percent(100 * f.Kept(i))
			}
			rows = append(rows, []report.Cell{report.Right(report.Figure(f.Sets[i].Deviance)), report.Right(report.Count(int64(f.Sets[i].DF))), report.Right(kept),
				report.Left(f.Formula(i))})
		}
		b.WriteString(table("  ", rows))
		if n := len(f.Sets) - shownSets; n > 0 {
			b.WriteString("  and " + report.Plural(int64(n), "set", "sets") + " more\n")
		}
	}
	b.WriteString(
		"\n" + wrap(
			f.Verified(),
			0,
		) + "\n\n" + wrap(
			"Lost is the deviance of the log-linear model of the margins: 0 if they tell all; that of the one-way margins, "+
				"safe or not, is "+report.Figure(f.Independence)+", of which the association kept is a share.",
			0,
		) + "\n",
	)
	if s.Out != "" {
		b.WriteString("written to " + report.Printable(s.Out) + "\n")
	}
	return b.String()
}
