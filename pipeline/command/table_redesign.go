package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/pipeline/redesign"
	"microrisk/schemas"
)

func (c *console) tableRedesign() *cli.Command {
	s := &redesign.Spec{}
	return &cli.Command{
		Name:      "redesign",
		Usage:     "find merges of categories with which nothing in a table is unsafe",
		ArgsUsage: "FILE...",
		UsageText: "microrisk table redesign FILE... --table REGION,AGE --rule min:n=3 [--hierarchy REGION=FILE] [--ordered AGE] [--pin AGE=0-15] [--out FOLDER]",
		Description: `Merging comes first where it makes sense: what is published stays true and complete.
The table is read as for table protect. Every single merge is tried and told: how
many cells stay unsafe, and what is lost. Then the cheapest redesigns are sought
that leave nothing unsafe, and their recodes written, as table protect --recode
takes them; a code of a hierarchy can lose what is below it. Variables of bands of
numbers (17-24) and those of --ordered merge neighbours alone, others any two
categories: look whether a merge makes sense, and --pin what must stay.

The cheapest are found whatever the rule is. With a minimum frequency a merge never
makes a safe cell unsafe; with dominance, p% and p,q it can, as what is merged can be
dominated again: the search is then longer, and --limit or --nodes end it with the
best so far, and how much less others could lose.`,
		Flags: slices.Concat(tableSourceFlags(), profileFlags(), fieldFlags(s.Fields(), redesign.Shared(&s.Config), new(protect.Columns).Fields())),
		Action: func(ctx *cli.Context) error {
			s := redesign.Spec{}
			if err := sayFields(ctx, s.Fields()); err != nil {
				return err
			}
			var err error
			if s.Source, err = c.policySource(ctx, "table redesign", &s.Config, func() schemas.Table { return redesign.Shared(&s.Config) }); err != nil {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			out, err := redesign.Run(ctx.Context, s, o)
			c.finish()
			if err != nil || c.quiet {
				return err
			}
			return c.print(redesignText(out, &s, ctx.Args().Slice(), toldFlags(ctx, s.Fields().Flags())))
		},
	}
}

// redesignText tells what single merges leave, and the cheapest redesigns, with the commands that make their tables.
func redesignText(o *redesign.Outcome, s *redesign.Spec, inputs []string, told []toldFlag) string {
	var b strings.Builder
	b.WriteString(report.Printable(o.Source) + "\n")
	b.WriteString(wrap(report.Printable(strings.Join(o.Rules, "; ")), 0) + "\n\n")
	b.WriteString(table("  ", [][]report.Cell{
		report.Row("cells that are not empty", report.Count(int64(o.Cells)), report.Left("totals among them")),
		report.Row("  unsafe", report.Count(int64(o.Unsafe)), report.Left(report.PartOf(int64(o.Unsafe), int64(o.Cells)))),
	}))
	rows := [][]report.Cell{{report.Left("variable"), report.Right("categories"), report.Left("merges")}}
	for _, v := range o.Variables {
		rows = append(rows, []report.Cell{report.Left(v.Name), report.Right(report.Count(int64(v.Categories))), report.Left(v.Merges)})
	}
	b.WriteString("\n" + table("  ", rows))
	if o.Unsafe == 0 {
		return b.String() + "\nNothing is unsafe: no redesign is needed.\n"
	}
	b.WriteString(candidatesText(o))
	b.WriteString("\n" + wrap(foundText(o), 0) + "\n")
	for i := range o.Redesigns {
		b.WriteString(oneText(o, i, inputs, told))
	}
	if o.Fewest != nil {
		b.WriteString("\n" + wrap(fmt.Sprintf("The fewest that are left are %s, with %s. Leave a variable out, pin fewer codes, or hide what is left "+
			"(table protect --recode).", report.Plural(int64(o.Fewest.Unsafe), "unsafe cell", "unsafe cells"), recodesText(o.Fewest.Recodes)), 0) + "\n")
	}
	b.WriteString("\n" + wrap(redesign.Warning, 0) + "\n")
	if s.JSON != "" {
		b.WriteString("written to " + report.Printable(s.JSON) + "\n")
	}
	return b.String()
}

// candidatesText are the single merges.
func candidatesText(o *redesign.Outcome) string {
	rows := [][]report.Cell{
		{report.Left("single merge"), report.Right("unsafe"), report.Right("categories"), report.Right("cells"), report.Right("contributors")},
	}
	for _, m := range o.Candidates {
		rows = append(rows, []report.Cell{report.Left(mergeText(m.Recode, 34)), report.Right(report.Count(int64(m.Unsafe))),
			report.Right(
				report.Count(int64(m.Loss.Categories)),
			), report.Right(report.Count(int64(m.Loss.Cells))), report.Right(report.Count(m.Loss.Contributors))})
	}
	text := "\n" + table("  ", rows)
	if n := o.AllCandidates - len(o.Candidates); n > 0 {
		text += fmt.Sprintf("  and %s more (--shown)\n", report.Count(int64(n)))
	}
	if o.AllCandidates == 0 {
		return "\n  There is no merge that is allowed.\n"
	}
	return text
}

// mergeText is a merge on one line.
func mergeText(m redesign.Recode, room int) string {
	return report.Shorten(report.Printable(m.Variable+": "+strings.Join(m.Of, ", ")), room)
}

func recodesText(list []redesign.Recode) string {
	if len(list) == 0 {
		return "no merge"
	}
	var texts []string
	for _, m := range list {
		texts = append(texts, report.Printable(m.Variable+": "+m.All()))
	}
	return strings.Join(texts, "; ")
}

// foundText says how good what was found is.
func foundText(o *redesign.Outcome) string {
	unit := map[string]string{"categories": "categories", "cells": "finest cells", "contributors": "contributors in merged rows", "value": "units in merged rows"}[o.Loss]
	switch n := len(o.Redesigns); {
	case n == 0 && o.Whole:
		return "No redesign leaves nothing unsafe."
	case n == 0:
		return fmt.Sprintf("No redesign was found that leaves nothing unsafe, among %s designs; one that does loses %s %s at least (--limit, --nodes).",
			report.Count(int64(o.Searched)), report.Count(o.Bound), unit)
	case o.Proven == n && o.Whole:
		return fmt.Sprintf("These are all redesigns that leave nothing unsafe and merge no more than is needed (%s designs were looked at).",
			report.Count(int64(o.Searched)))
	case o.Proven == n:
		return fmt.Sprintf(
			"The cheapest redesigns that leave nothing unsafe: no others lose less (%s designs were looked at).",
			report.Count(int64(o.Searched)),
		)
	}
	return fmt.Sprintf("The best redesigns that were found among %s designs; others lose %s %s at least (--limit, --nodes).",
		report.Count(int64(o.Searched)), report.Count(o.Bound), unit)
}

// oneText is a redesign, and the command that makes its table.
func oneText(o *redesign.Outcome, i int, inputs []string, told []toldFlag) string {
	r := o.Redesigns[i]
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %d  loses %s, %s in merged rows with %s\n", i+1, report.Plural(int64(r.Loss.Categories), "category", "categories"),
		report.Plural(int64(r.Loss.Cells), "finest cell", "finest cells"), report.Plural(r.Loss.Contributors, "contributor", "contributors"))
	for _, m := range r.Recodes {
		b.WriteString(wrap(report.Printable(m.Variable+": "+m.All()), 5) + "\n")
	}
	if r.Files == nil {
		return b.String()
	}
	words := append([]string{"microrisk", "table", "protect"}, inputs...)
	for _, f := range told {
		name, _, _ := strings.Cut(f.value, "=")
		if _, again := r.Files[name]; f.name != "recode" || !again {
			words = append(words, f.words()...)
		}
	}
	for _, v := range o.Variables {
		if path, is := r.Files[v.Name]; is {
			words = append(words, "--recode", v.Name+"="+path)
		}
	}
	for k, word := range words {
		words[k] = shellWord(word)
	}
	return b.String() + "     " + strings.Join(words, " ") + "\n"
}

// A toldFlag is one that was given.
type toldFlag struct{ name, value string }

func (f toldFlag) words() []string {
	if f.value == "" {
		return []string{"--" + f.name}
	}
	return []string{"--" + f.name, f.value}
}

// toldFlags are the flags that were given to a command, but for those of some fields.
func toldFlags(ctx *cli.Context, but []schemas.Field) []toldFlag {
	var list []toldFlag
	for _, f := range ctx.Command.Flags {
		name := f.Names()[0]
		if !ctx.IsSet(name) || slices.ContainsFunc(but, func(own schemas.Field) bool { return own.Flag.Name == name }) {
			continue
		}
		switch f.(type) {
		case *cli.BoolFlag:
			if ctx.Bool(name) {
				list = append(list, toldFlag{name, ""})
			}
		case *cli.StringSliceFlag:
			for _, value := range ctx.StringSlice(name) {
				list = append(list, toldFlag{name, value})
			}
		default:
			list = append(list, toldFlag{name, ctx.String(name)})
		}
	}
	return list
}
