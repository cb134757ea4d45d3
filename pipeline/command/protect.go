package command

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/engine/recoding"
	"microrisk/operators/protectrecords"
	"microrisk/operators/report"
	"microrisk/pipeline/protect"
)

// protectCommand is the command that finds the least change after which a file is safe.
func (c *console) protectCommand() *cli.Command {
	return &cli.Command{
		Name:      "protect",
		Usage:     "find the least change of key variables after which a file is safe to release, and make it",
		ArgsUsage: "FILE...",
		UsageText: "microrisk protect FILE --key AGE,SEX,... --target k=3 [--hierarchy AGE=5,10,20] [--hierarchy COUNTRY=country.csv]\n" +
			"   [--suppress records|cells] [--out FILE] [--release FILE.yaml]\n" +
			"microrisk protect FILE --key AGE,SEX,... --fraction 0.01 --target expected=50%\nmicrorisk protect --spec FILE.yaml",
		Description: `Two instruments make a file safe: coarser categories for all records, and hiding
single cells of the records that stay risky. All recodings by the hierarchies of the
key variables are the candidates; the one at the least loss that meets the target is
found, with a bound on what any other could save, and the next best ones. A variable
without a --hierarchy can be left out, and banded if it has many whole numbers.
Tables of counts or sums are protected by microrisk table protect.

Targets (--target, several must all hold): k=3 (at least 3 records share each key),
uniques=0, msu=2 (no minimal sample unique of up to 2 variables), mean_risk=0.05 (mean
1/f), dis=0.01, distinct=2 and entropy=2 (of the --sensitive column), and by models of
the population, which need --fraction, --population-size or --weight: expected=10 or
expected=50% (re-identifications), correct_match=0.2 (the greatest E[1/F]), pu_su=0.05.
The models are fitted once, and judge recodings by merging categories; what models
that are fitted to the release say stands beside it, and where they say more than the
target allows the search is done again.

The loss of a cell is the share of its information that is gone (--loss cells): 0 as
it was, 1 where it is hidden or its variable is left out. --release writes the spec
that makes the release, as run takes it; --out makes it, and judges it again from the
file, with what it cost; columns that tell what was made coarser are named, and left
out by --drop. Exit status 3: the target cannot be met; the nearest release is told.`,
		Flags: slices.Concat(protectedFlags(), fieldFlags(new(protect.Spec).Fields()), reportFlags()[:2], documentFlags()),
		Action: func(ctx *cli.Context) error {
			shown, err := reportOf(ctx)
			if err != nil {
				return err
			}
			s := &protect.Spec{}
			places, done, err := c.document(ctx, s, func() error { return sayProtect(ctx, s) })
			if done {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			o.Writes = shown.writes()
			out, err := protect.Run(ctx.Context, *s, o)
			c.finish()
			if err == nil && shown != nil {
				err = shown.write(ctx, o, s.Spec.Source.Path, out.Page(shown.reader))
			}
			if err != nil {
				return places.Locate(err)
			}
			if !c.quiet {
				if err := c.print(protectText(out, s) + shown.told()); err != nil {
					return err
				}
			}
			switch {
			case len(out.Best) == 0 && out.Stopped != "":
				return &notMetError{[]string{"nothing that was tried meets the target (" + out.Target + "): " + out.Stopped}}
			case len(out.Best) == 0:
				return &notMetError{[]string{"nothing meets the target: " + out.Target}}
			case out.Released != nil && !out.Released.Met:
				return &notMetError{[]string{"the release does not meet " + strings.Join(out.Released.Missed, ", ")}}
			case out.Stopped == recoding.Interrupted:
				return fmt.Errorf("interrupted: this is the best so far; %s", out.Sparing())
			}
			return nil
		},
	}
}

// protectedFlags are those of the file, of which a spec says all if there is one.
func protectedFlags() []cli.Flag {
	flags := slices.DeleteFunc(slices.Concat(keyFlags(), samplingFlags()), func(f cli.Flag) bool {
		return slices.ContainsFunc(f.Names(), func(n string) bool { return n == "band" || n == "recode" || n == "missing" })
	})
	return append(
		flags,
		&cli.StringSliceFlag{
			Name:    "target",
			Aliases: []string{"t"},
			Usage: "when the release is safe: `NAME=NUMBER`, of " + strings.Join(protectrecords.TargetWords(), ", ") +
				"; may be repeated",
		},
		&cli.StringFlag{Name: "sensitive", Usage: "the `COLUMN` of the targets distinct and entropy"},
	)
}

// sayProtect puts what the command line says into the spec.
func sayProtect(ctx *cli.Context, s *protect.Spec) (err error) {
	if ctx.String("spec") != "" {
		if err := saidBySpec(ctx, protectedFlags()); err != nil {
			return err
		}
		if ctx.Args().Present() {
			return usage("--spec says what is protected, %s too; leave one of them out", ctx.Args().First())
		}
		return sayFields(ctx, s.Fields())
	}
	if s.Spec, err = keySpec(ctx); err != nil {
		return err
	}
	if s.Spec.Sampling, err = samplingOf(ctx); err != nil {
		return err
	}
	for _, text := range ctx.StringSlice("target") {
		if err := s.Target.Say(text); err != nil {
			return usage("--target %v", err)
		}
	}
	s.Target.Sensitive = ctx.String("sensitive")
	if err := sayFields(ctx, s.Fields()); err != nil {
		return err
	}
	if (s.Suppress == "" || s.Suppress == protectrecords.SuppressNone) && ctx.IsSet("share") {
		return usage("--share is of suppression: say --suppress records or cells, or leave it out")
	}
	if ctx.IsSet("time") && ctx.IsSet("checks") {
		return usage("--time and --checks both end the search; leave one of them out")
	}
	return nil
}

// protectText tells what is risky, and what is the least that must change.
func protectText(o *protect.Outcome, s *protect.Spec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", inputName(o.Input, screen))
	now := o.Before
	rows := [][]report.Cell{
		report.Row("records", report.Count(o.Records), report.Left(fmt.Sprintf("by %d key variables", len(o.Key)))),
		report.Row("  sample uniques", report.Count(now.SampleUniques), report.Left(report.PartOf(now.SampleUniques, o.Records))),
	}
	if s.Target.K > 0 || s.Target.Distinct > 0 || s.Target.Entropy > 0 {
		rows = append(rows, report.Row("  not safe", report.Count(now.Unsafe), report.Left(report.PartOf(now.Unsafe, o.Records))))
	}
	if now.Expected != nil {
		rows = append(rows, report.Row("  re-identifications", report.Figure(*now.Expected), report.Left("E[1/F] over all records, without effects of cells")))
	}
	b.WriteString(table("  ", rows))
	b.WriteString("\n" + wrap("Target: "+o.Target+".", 0) + "\n")
	b.WriteString(proposedText(o))
	if len(o.Best) == 0 {
		b.WriteString(nearestText(o))
		return b.String()
	}
	best := &o.Best[0]
	recoded := slices.ContainsFunc(best.Levels, func(l protectrecords.Level) bool { return l.Level > 0 })
	switch {
	case !recoded && best.Suppressed == 0 && len(best.Cells) == 0:
		b.WriteString("\nThe file meets the target as it is: nothing needs to change.\n")
	case !recoded:
		b.WriteString("\nNo variable needs to be coarser.\n" + lossText(o, best))
	default:
		b.WriteString("\nThe least change that meets it:\n" + levelsText(best.Levels))
		b.WriteString(lossText(o, best))
	}
	b.WriteString(alternativesText(o))
	b.WriteString(frontierText(o, best, s))
	b.WriteString(costText(o.Cost))
	b.WriteString(releasedText(o))
	for _, w := range o.Warnings {
		b.WriteString("\n" + wrap("warning: "+report.Printable(w), 0) + "\n")
	}
	return b.String()
}

// proposedText tells what was taken for variables of which nothing was said.
func proposedText(o *protect.Outcome) string {
	var list []string
	for _, v := range o.Variables {
		if v.Proposed != "" {
			list = append(list, v.Name+" "+v.Proposed)
		}
	}
	if list == nil {
		return ""
	}
	return wrap("Nothing was said of how these can be made coarser (--hierarchy): "+report.Printable(strings.Join(list, "; "))+".", 0) + "\n"
}

// levelsText is what becomes of each variable.
func levelsText(levels []protectrecords.Level) string {
	rows := [][]report.Cell{{report.Left("variable"), report.Left("becomes"), report.Right("categories"), report.Right("loss")}}
	for _, l := range levels {
		categories := report.Count(int64(l.Before))
		if l.Level > 0 {
			categories += " > " + report.Count(int64(l.Categories))
		}
		rows = append(rows, []report.Cell{report.Left(l.Variable), report.Left(l.Words), report.Right(categories), report.Right(report.Percent(100 * l.Loss))})
	}
	return table("  ", rows)
}

// lossText tells the loss, and how sure it is that none is less.
func lossText(o *protect.Outcome, best *protectrecords.Release) string {
	text := fmt.Sprintf("Loss %s (%s)", report.Figure(best.Loss), o.Loss)
	switch {
	case best.Recounted != nil && o.Stopped == "":
		text += fmt.Sprintf("; all recodings were tried that could lose less, %s of %s", report.Count(int64(o.Checked)), nodesText(o.Nodes))
	case o.Proven:
		text += fmt.Sprintf("; none of the %s recodings loses less: %s were tried", nodesText(o.Nodes), report.Count(int64(o.Checked)))
	case o.Gap != nil:
		text += fmt.Sprintf("; %s: %s of %s recodings were tried, then %s", o.Sparing(), report.Count(int64(o.Checked)), nodesText(o.Nodes), o.Stopped)
	default:
		text += fmt.Sprintf("; %s of %s recodings were tried, then %s", report.Count(int64(o.Checked)), nodesText(o.Nodes), o.Stopped)
	}
	if !o.Pruned && best.Recounted == nil {
		text += "; what is safe could not be inferred from one recoding to another"
	}
	m := best.Measures
	if best.Recounted == nil {
		text += fmt.Sprintf(". Then there are %s", report.Plural(m.SampleUniques, "sample unique", "sample uniques"))
	}
	if m.Expected != nil {
		text += fmt.Sprintf(", and %s re-identifications are expected", report.Figure(*m.Expected))
	}
	text += cellsText(o, best)
	if best.Suppressed > 0 {
		text += fmt.Sprintf(
			"; %s (%s) lose all their key cells",
			report.Plural(best.Suppressed, "record", "records"),
			report.PartOf(best.Suppressed, o.Records),
		)
	}
	return "\n" + wrap(text+".", 0) + "\n"
}

// cellsText tells which cells are suppressed, and whom few rows fit then.
func cellsText(o *protect.Outcome, best *protectrecords.Release) string {
	if best.Recounted == nil {
		return ""
	}
	var list []string
	total := int64(0)
	for _, l := range best.Levels {
		if n := best.Cells[l.Variable]; n > 0 {
			total += n
			list = append(list, report.Count(n)+" of "+l.Variable)
		}
	}
	if total == 0 {
		return ". No cell is suppressed"
	}
	text := fmt.Sprintf(
		". Of %s, %s are suppressed: %s",
		report.Plural(best.Changed, "record", "records"),
		report.Plural(total, "cell", "cells"),
		strings.Join(list, ", "),
	)
	switch {
	case best.CellsGap != nil && *best.CellsGap <= 0:
		text += " (fewer do not suffice)"
	case best.CellsGap != nil:
		text += fmt.Sprintf(" (at most %s more than the fewest)", report.Percent(100**best.CellsGap))
	}
	switch o.Fit {
	case protectrecords.FitOwn:
		text += fmt.Sprintf(". Who knows that somebody is in the file finds %s whom fewer than k rows fit: --fit class has none",
			report.Plural(best.Recounted.Persons, "person", "persons"))
	case protectrecords.FitWildcard:
		text += fmt.Sprintf(". A suppressed cell counts as any value here, which protects nobody: %s fewer than k rows that fit, %s just one; "+
			"take --fit class", report.Plural(best.Recounted.Persons, "person has", "persons have"), report.Count(best.Recounted.Alone))
	}
	return text
}

func nodesText(n float64) string {
	if n < 1e15 {
		return report.Count(int64(n))
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

// alternativesText tells the next best ones by what they do otherwise.
func alternativesText(o *protect.Outcome) string {
	if len(o.Best) < 2 {
		return ""
	}
	rows := [][]report.Cell{{report.Left("or"), report.Right("loss"), report.Right("sample uniques")}}
	for _, r := range o.Best[1:] {
		var list []string
		for v, l := range r.Levels {
			if l.Level != o.Best[0].Levels[v].Level {
				list = append(list, l.Variable+" "+l.Words)
			}
		}
		rows = append(rows, []report.Cell{report.Left(report.Shorten(strings.Join(list, "; "), 52)), report.Right(report.Figure(r.Loss)),
			report.Right(report.Count(r.Measures.SampleUniques))})
	}
	return "\n" + table("  ", rows)
}

// frontierText tells what less of the target would cost.
func frontierText(o *protect.Outcome, best *protectrecords.Release, s *protect.Spec) string {
	if len(o.Frontier) < 2 {
		return ""
	}
	rows := [][]report.Cell{{report.Right(o.Frontier[0].What), report.Right("loss"), report.Left("by")}}
	for _, p := range o.Frontier {
		var list []string
		for _, l := range p.Levels {
			if l.Level > 0 {
				list = append(list, l.Variable+" "+l.Words)
			}
		}
		words := strings.Join(list, "; ")
		if list == nil {
			words = "the file as it is"
		}
		loss := report.Figure(p.Loss)
		if !p.Proven {
			loss += "?"
		}
		rows = append(rows, []report.Cell{report.Right(report.Figure(p.Risk)), report.Right(loss), report.Left(report.Shorten(words, 44))})
	}
	title := "What less risk would cost"
	if s.Suppress == protectrecords.SuppressCells || s.Suppress == protectrecords.SuppressRecords {
		title += ", by recoding alone"
	}
	return "\n" + title + ":\n" + table("  ", rows)
}

// nearestText tells what can be reached where the target cannot.
func nearestText(o *protect.Outcome) string {
	if o.Nearest == nil {
		return "\nNothing that was tried meets the target.\n"
	}
	m := o.Nearest.Measures
	text := "Nothing meets the target"
	if !o.Proven && o.Stopped != "" {
		text = "Nothing that was tried meets the target (" + o.Stopped + ")"
	}
	text += fmt.Sprintf(": with all variables at their coarsest levels %s are not safe, and there are %s", report.Plural(m.Unsafe, "record", "records"),
		report.Plural(m.SampleUniques, "sample unique", "sample uniques"))
	if m.Expected != nil {
		text += fmt.Sprintf(" (%s re-identifications expected)", report.Figure(*m.Expected))
	}
	return "\n" + wrap(
		text+". Allow coarser levels (--hierarchy VAR=levels:..), suppress what stays (--suppress), or take a weaker target.",
		0,
	) + "\n" + levelsText(
		o.Nearest.Levels,
	)
}

// releasedText tells what was written, and what the release itself says.
func releasedText(o *protect.Outcome) string {
	text := ""
	if r := o.Released; r != nil {
		met := "it meets the target"
		if !r.Met {
			met = "it does not meet " + strings.Join(r.Missed, ", ")
		}
		text += fmt.Sprintf("The release %s, counted again: %s, %s; %s.", report.Printable(r.Path), report.Plural(r.Records, "record", "records"),
			report.Plural(r.SampleUniques, "sample unique", "sample uniques"), met)
		if r.Refitted != nil && !math.IsNaN(*r.Refitted) {
			text += fmt.Sprintf(" Models fitted to it expect %s re-identifications.", report.Figure(*r.Refitted))
		}
	}
	if o.Release != "" {
		text += " The spec that makes it: " + report.Printable(o.Release) + "."
	}
	if text == "" {
		return "\n" + wrap("To make it: --out FILE; for its spec: --release FILE.yaml.", 0) + "\n"
	}
	return "\n" + wrap(strings.TrimSpace(text), 0) + "\n"
}
