package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
	"microrisk/pipeline/keymap"
	"microrisk/pipeline/keymap/repository"
)

func (c *console) keymapAnalyse() *cli.Command {
	return &cli.Command{
		Name:      "analyse",
		Aliases:   []string{"analyze"},
		Usage:     "find the most detailed version of each variable of a target that enough forms share",
		UsageText: "microrisk keymap analyse --target FORM [--match NAME] [--prevalence 0.25] [--spec FILE.yaml]",
		Description: `A row a variable: the code of the most detailed version on which the target and at
least n required forms of the match set can be compared exactly (C: some form has
just that, H: made by merging; the number of categories follows), how many forms
hold the variable and support the code, and the area under its size against all
prevalences, by which variables are ranked.

--spec writes a spec of a run over --data: its columns recoded to these versions, and
the key. --recode-a and --recode-b write, for a match set of one form, the recodes of
both files, for microrisk link. Values of the data in no category are refused.

` + strings.TrimSpace(readingRules),
		Flags: slices.Concat(tableFlags(), questionFlags(), []cli.Flag{
			&cli.StringFlag{Name: "spec", Usage: "write the spec of a run with the key to `FILE`; - for standard output"},
			&cli.StringFlag{Name: "data", Usage: "the `FILE` of the target's records, which the spec reads"},
			&cli.StringFlag{Name: "recode-a", Usage: "write the recodes of the target's file to `FILE`"},
			&cli.StringFlag{Name: "recode-b", Usage: "write the recodes of the match form's file to `FILE`"},
			&cli.StringFlag{Name: "data-b", Usage: "the `FILE` of the match form's records, for the types of columns"},
		}),
		Action: func(ctx *cli.Context) error {
			e, s, a, err := c.analysis(ctx)
			if err != nil {
				return err
			}
			answers, err := a.Answers()
			if err != nil {
				return err
			}
			bridged, err := c.bridge(ctx, e, a, answers)
			if err != nil || ctx.String("spec") == "-" && ctx.String("out") == "" {
				return err
			}
			if err := c.answer(ctx, keymap.AnswersTable(answers), analysisHeadline(s, a, answers)); err != nil {
				return err
			}
			return c.print(bridged)
		},
	}
}

// readingRules stand beside outputs.
const readingRules = `
A dash means that not enough forms hold the variable. A large code with little
support is weak evidence: see profile. A small one does not prove that matching is
hard: see overlap. Only what forms ask is known, not their data.`

func analysisHeadline(s *repository.Scenario, a *keymap.Analysis, answers []keymap.Answer) string {
	var b strings.Builder
	if s.Name != "" {
		fmt.Fprintf(&b, "%s\n", report.Printable(s.Name))
	}
	fmt.Fprintf(&b, "%s beside %s", report.Printable(a.Question.Target), formsOf(a.All))
	if n, one := keymap.OneRequired(answers); one {
		fmt.Fprintf(&b, ", of which %s must share a variable", report.Count(int64(n)))
	}
	b.WriteByte('\n')
	if len(a.Question.Prevalence) == 1 {
		keys := keymap.Keys(answers)
		space, bits := keymap.KeySpace(keys)
		if len(keys) > 0 {
			fmt.Fprintf(&b, "%s a key of up to %s values (%s bits)\n", keymap.Makes(len(keys)), keymap.CountText(space), report.Figure(bits))
		} else {
			b.WriteString("no variable is shared by enough of them\n")
		}
	}
	return b.String() + "\n"
}

func (c *console) keymapProfile() *cli.Command {
	return &cli.Command{
		Name:      "profile",
		Usage:     "show what each variable of a target is worth at every prevalence",
		UsageText: "microrisk keymap profile --target FORM [--match NAME]",
		Description: `A row for each run of numbers of forms with the same answer: the code holds while
at least n from to n to forms must share it, that is for prevalences from p from up
to p to.`,
		Flags: slices.Concat(tableFlags(), comparisonFlags(), []cli.Flag{areaFlag()}),
		Action: func(ctx *cli.Context) error {
			_, s, a, err := c.analysis(ctx)
			if err != nil {
				return err
			}
			headline := fmt.Sprintf("%s beside %s\n\n", report.Printable(s.Target), formsOf(a.All))
			return c.answer(ctx, a.ProfilesTable(), headline)
		},
	}
}

func (c *console) keymapKeys() *cli.Command {
	return &cli.Command{
		Name:      "keys",
		Usage:     "list the sets of variables that forms hold together",
		UsageText: "microrisk keymap keys --target FORM [--match NAME] [--min-forms 2]",
		Description: `A row for each set of variables of the target that some forms all hold, and no
other of its variables: how many do, and how many keys the set can make when all
of them are harmonized.`,
		Flags: slices.Concat(tableFlags(), comparisonFlags(), []cli.Flag{
			&cli.IntFlag{Name: "min-forms", Value: 1, Usage: "sets that at least `N` forms hold"},
			&cli.IntFlag{Name: "min-categories", Value: 2, Usage: "variables that a form and the target share `N` categories of at least"},
		}),
		Action: func(ctx *cli.Context) error {
			for _, name := range []string{"min-forms", "min-categories"} {
				if ctx.Int(name) < 1 {
					return usage("--%s is %d; it must be at least 1", name, ctx.Int(name))
				}
			}
			_, _, a, err := c.analysis(ctx)
			if err != nil {
				return err
			}
			t, err := a.SharedKeysTable(ctx.Int("min-forms"), ctx.Int("min-categories"))
			if err != nil {
				return err
			}
			return c.answer(ctx, t, "")
		},
	}
}

// named gives the arguments that a verb needs.
func named(ctx *cli.Context, what ...string) ([]string, error) {
	args := ctx.Args().Slice()
	if len(args) != len(what) {
		return nil, usage("%s takes %s", ctx.Command.HelpName, strings.Join(what, " "))
	}
	return args, nil
}

// variable is the one that the first argument names, and the other arguments.
func (c *console) variable(ctx *cli.Context, plain bool, more ...string) (*keymap.Environment, *keymap.Variable, []string, error) {
	args, err := named(ctx, append([]string{"VARIABLE"}, more...)...)
	if err != nil {
		return nil, nil, nil, err
	}
	e, err := c.environment(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	e.Plain = plain
	v, err := e.Variable(ctx.Context, args[0])
	if err != nil {
		return nil, nil, nil, asked(err)
	}
	return e, v, args[1:], nil
}

func (c *console) keymapLookup() *cli.Command {
	return &cli.Command{
		Name:        "lookup",
		Usage:       "show the categories of a code",
		ArgsUsage:   "VARIABLE CODE",
		UsageText:   "microrisk keymap lookup VARIABLE CODE",
		Description: "Codes of H mean nothing by themselves: this shows which categories each of their\nblocks is made of.",
		Flags:       append(tableFlags(), &cli.BoolFlag{Name: "lenient", Usage: "count forms that contradict one another too"}),
		Action: func(ctx *cli.Context) error {
			_, v, args, err := c.variable(ctx, strings.HasPrefix(ctx.Args().Get(1), "C"), "CODE")
			if err != nil {
				return err
			}
			t, err := v.LookupTable(args[0])
			if err != nil {
				return usage("%s", err)
			}
			return c.answer(ctx, t, "")
		},
	}
}

func (c *console) keymapOverlap() *cli.Command {
	return &cli.Command{
		Name:      "overlap",
		Usage:     "show which categories of two forms may hold the same record",
		ArgsUsage: "VARIABLE FORM FORM",
		UsageText: "microrisk keymap overlap VARIABLE FORM FORM",
		Description: `Two fine categorizations without a common boundary harmonize to one category, and
still most of their pairs cannot match: a row is a pair that can.`,
		Flags: tableFlags(),
		Action: func(ctx *cli.Context) error {
			_, v, args, err := c.variable(ctx, true, "FORM", "FORM")
			if err != nil {
				return err
			}
			t, some, all, err := v.OverlapTable(args[0], args[1])
			if err != nil {
				return usage("%s", err)
			}
			return c.answer(ctx, t, fmt.Sprintf("%s of %s pairs of categories are compatible\n\n", report.Count(int64(some)), report.Count(int64(all))))
		},
	}
}

func (c *console) keymapForm() *cli.Command {
	return &cli.Command{
		Name:      "form",
		Usage:     "show the variables of a form with their codes",
		ArgsUsage: "FORM",
		UsageText: "microrisk keymap form FORM",
		Flags:     append(tableFlags(), &cli.BoolFlag{Name: "lenient", Usage: "give categories that contradict one another codes too"}),
		Action: func(ctx *cli.Context) error {
			args, err := named(ctx, "FORM")
			if err != nil {
				return err
			}
			e, err := c.environment(ctx)
			if err != nil {
				return err
			}
			e.Plain = true
			t, err := e.FormTable(ctx.Context, args[0])
			if err != nil {
				return asked(err)
			}
			return c.answer(ctx, t, "")
		},
	}
}

func (c *console) keymapGrid() *cli.Command {
	return &cli.Command{
		Name:      "grid",
		Usage:     "show which forms hold which variables",
		UsageText: "microrisk keymap grid [--cells held|codes|target] [--target FORM]",
		Description: `A row a form, a column a variable. held: an X; codes: its code; target: the
categories that the form shares with the target.`,
		Flags: append(tableFlags(),
			&cli.StringFlag{Name: "cells", Value: "held", Usage: "what cells show: held, codes or target (default: held)"},
			&cli.StringFlag{Name: "target", Usage: "the `FORM` that all are compared with"},
			&cli.StringSliceFlag{Name: "variables", Usage: "only these, by `NAME`; may be repeated"},
			&cli.BoolFlag{Name: "lenient", Usage: "merge categories that overlap"},
		),
		Action: func(ctx *cli.Context) error {
			cells, target := ctx.String("cells"), ctx.String("target")
			if !slices.Contains(keymap.Grids, cells) {
				return usage("--cells is %q; it is %s", cells, strings.Join(keymap.Grids, ", "))
			}
			e, err := c.environment(ctx)
			if err != nil {
				return err
			}
			switch found := e.Form(target) != nil; {
			case cells == "target" && target == "":
				return usage("say which form all are compared with: --target FORM")
			case target != "" && !found:
				return usageOf(e.Unknown(repository.Forms, target))
			}
			e.Plain = true
			t, err := e.Grid(ctx.Context, cells, target, ctx.StringSlice("variables"))
			if err != nil {
				return asked(err)
			}
			return c.answer(ctx, t, "")
		},
	}
}

func (c *console) keymapExport() *cli.Command {
	return &cli.Command{
		Name:        "export",
		Usage:       "write the whole repository as one JSON document",
		UsageText:   "microrisk keymap export [--out FILE.json]",
		Description: "All variables, forms, groups and scenarios as their files have them, and the codes and\nharmonizations of each variable.",
		Flags: []cli.Flag{repositoryFlag(),
			&cli.StringFlag{Name: "out", Usage: "write it to `FILE`"},
			&cli.BoolFlag{Name: "lenient", Usage: "merge categories that overlap"},
		},
		Action: func(ctx *cli.Context) error {
			e, err := c.environment(ctx)
			if err != nil {
				return err
			}
			text, err := e.Export(ctx.Context)
			if err != nil {
				return err
			}
			if path := ctx.String("out"); path != "" {
				return keymap.WriteText(path, text)
			}
			return c.print(string(text))
		},
	}
}
