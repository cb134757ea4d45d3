package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/pipeline/advise"
	"microrisk/schemas"
)

func (c *console) tableAdvise() *cli.Command {
	s := &advise.Spec{}
	return &cli.Command{
		Name:      "advise",
		Usage:     "go through the choices that make a table safe, and tell the command that does",
		ArgsUsage: "FILE...",
		UsageText: "microrisk table advise FILE... --table REGION,AGE [--response TURNOVER] [--users press|policy|modelling] [--want complete|true] [--topic TEXT]",
		Description: `No knowledge of disclosure control is needed. Say what the table is made of, and what
you know of its use: --users, --want, --additive, --pin, --topic, --overrides with
cells that matter (set: protected). The choices are told one after another: what
kind of table it is, which cells are unsafe, whether merging would do, whether values
may be changed, and how. Each has its reason, what else there is, and what speaks for
and against it. What is advised was tried on the table; at the end stands the command
that does it. --rule, --profile and --margins are taken as they are said; with --register what is
advised is safe with what went out before too.`,
		Flags: slices.Concat(tableSourceFlags(), profileFlags(), registerFlags(), fieldFlags(s.Fields(), advise.Shared(&s.Config), new(protect.Columns).Fields())),
		Action: func(ctx *cli.Context) error {
			s := advise.Spec{}
			if err := sayFields(ctx, s.Fields()); err != nil {
				return err
			}
			var err error
			if s.Source, err = c.policySource(ctx, "table advise", &s.Config, func() schemas.Table {
				t := advise.Shared(&s.Config)
				t.Field("rules").Flag.Needed = "" // there are usual ones
				return t
			}); err != nil {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			if err := c.ahead(ctx, &s.Config, "the table", nil); err != nil {
				return err
			}
			s.Command = c.commandTold(ctx, s.Fields().Flags())
			out, err := advise.Run(ctx.Context, s, o)
			c.finish()
			if err != nil || c.quiet {
				return err
			}
			return c.print(adviceText(out, &s))
		},
	}
}

// commandTold makes commands of the family table of what was told one of them, but for its own flags, and those that a method does not look at.
func (c *console) commandTold(ctx *cli.Context, own []schemas.Field) func(verb string, arguments []string) []string {
	return func(verb string, arguments []string) []string {
		words := append([]string{"microrisk", "table", verb}, ctx.Args().Slice()...)
		method, again := "", make(map[string]bool)
		for i, word := range arguments {
			switch {
			case i == 0:
			case arguments[i-1] == "--method":
				method = word
			case arguments[i-1] == "--recode": // in place of one that was told
				name, _, _ := strings.Cut(word, "=")
				again[name] = true
			}
		}
		for _, f := range toldFlags(ctx, own) {
			name, _, _ := strings.Cut(f.value, "=")
			switch {
			case verb == "redesign" && !slices.Contains(flagNames(c.tableRedesign().Flags), f.name):
			case method != "" && !looksAt(method, f.name):
			case f.name == "recode" && again[name]:
			default:
				words = append(words, f.words()...)
			}
		}
		return append(words, arguments...)
	}
}

// looksAt tells whether a method looks at a flag.
func looksAt(method, flag string) bool {
	for _, f := range new(protect.Config).Fields().Flags() {
		if f.Flag.Name == flag {
			return protect.Looks(method, f.Name)
		}
	}
	return true
}

// adviceText tells the choices, and the command.
func adviceText(o *advise.Outcome, s *advise.Spec) string {
	var b strings.Builder
	b.WriteString(report.Printable(o.Source) + "\n")
	for i, step := range o.Steps {
		fmt.Fprintf(&b, "\n%d. %s\n", i+1, step.Question)
		b.WriteString("   -> " + strings.TrimLeft(wrap(report.Printable(step.Chosen), 6), " ") + "\n")
		if step.Because != "" {
			b.WriteString(wrap(report.Printable(strings.ToUpper(step.Because[:1])+step.Because[1:])+".", 6) + "\n")
		}
		for _, option := range step.Options {
			b.WriteString(optionText(option))
		}
	}
	for i, t := range o.Tried {
		if !t.Passed && !slices.Contains(o.Tried[:i], t) { // with other margins it may be the same
			b.WriteString("\n" + wrap(report.Printable(fmt.Sprintf("%s was tried, and does not do: %s", t.Method, t.Why)), 0) + "\n")
		}
	}
	if len(o.Command) > 0 {
		b.WriteString("\nTo make the table:\n\n  " + shellWords(o.Command) + "\n")
	}
	if len(o.Merging) > 0 {
		what := "To make it with the merges above, so that nothing is hidden or changed (the first command writes them to files; without --best and " +
			"--nodes it finds more):"
		if len(o.Merging) == 1 {
			what = "To write the merges above to files (without --best and --nodes it finds more); whether the overrides go with them is yours to see:"
		}
		b.WriteString("\n" + wrap(what, 0) + "\n\n")
		for _, words := range o.Merging {
			b.WriteString("  " + shellWords(words) + "\n")
		}
	}
	b.WriteString("\n" + wrap(advise.Warning, 0) + "\n")
	if s.JSON != "" {
		b.WriteString("written to " + report.Printable(s.JSON) + "\n")
	}
	return b.String()
}

// optionText is what else there is.
func optionText(o advise.Option) string {
	mark := " "
	if o.Chosen {
		mark = "*"
	}
	name := o.Name
	if o.Default {
		name += " (usual)"
	}
	text := fmt.Sprintf("      %s %s\n%s\n%s\n%s\n", mark, name, wrap(o.What, 10), wrap("+ "+o.Good, 10), wrap("- "+o.Bad, 10))
	if o.Usual != "" {
		text += wrap("parameters: "+o.Usual, 10) + "\n"
	}
	return text
}

// shellWords is a command as a shell takes it.
func shellWords(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = shellWord(word)
	}
	return strings.Join(list, " ")
}
