package command

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
)

func init() {
	// The flags' library lists flags one a line, as long as they get, and by templates, which keep all methods in the program.
	cli.HelpPrinter = func(w io.Writer, _ string, of any) {
		switch x := of.(type) {
		case *cli.App:
			io.WriteString(w, appHelp(x))
		case *cli.Command:
			io.WriteString(w, commandHelp(x))
		}
	}
}

func appHelp(app *cli.App) string {
	return strings.Join([]string{
		proseHelp(app.Name, "-", app.Usage), callsHelp(app.UsageText), proseHelp(app.Description),
		"Commands (microrisk COMMAND --help tells more):", commandsHelp(app.VisibleCommands()) + "\nFlags of all commands:\n" + flagsHelp(app.VisibleFlags()),
	}, "\n\n")
}

func commandHelp(c *cli.Command) string {
	parts := []string{proseHelp(strings.TrimSpace(c.HelpName), "-", c.Usage)}
	if c.UsageText != "" {
		parts = append(parts, callsHelp(c.UsageText))
	}
	if c.Description != "" {
		parts = append(parts, proseHelp(c.Description))
	}
	if len(c.Subcommands) > 0 {
		return strings.Join(append(parts, "Commands ("+c.HelpName+" COMMAND --help tells more):", commandsHelp(c.VisibleCommands())), "\n\n")
	}
	if flags := c.VisibleFlags(); len(flags) > 0 {
		parts = append(parts, "Flags (those of all commands: microrisk --help):\n"+flagsHelp(flags))
	}
	return strings.Join(parts, "\n\n")
}

// flagsHelp lists flags, each with its words below it, within the width of a screen.
func flagsHelp(flags []cli.Flag) string {
	var b strings.Builder
	for _, f := range flags {
		b.WriteString("\n" + flagHelp(f))
	}
	return b.String() + "\n"
}

// proseHelp breaks paragraphs into lines that fit the screen. Lines that begin with a blank are left as they are; a line that ends with
// a colon ends its paragraph.
func proseHelp(texts ...string) string {
	var out, paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			out = append(out, wrap(strings.Join(paragraph, " "), 0))
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(strings.Join(texts, " "), "\n") {
		if line == "" || line[0] == ' ' {
			end()
			out = append(out, line)
			continue
		}
		if paragraph = append(paragraph, line); strings.HasSuffix(line, ":") {
			end()
		}
	}
	end()
	return strings.Join(out, "\n")
}

// callsHelp are the ways to call a command, one a line; what does not fit hangs.
func callsHelp(text string) string {
	var out []string
	for call := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(call) != call || len(call) <= screen-3 {
			out = append(out, "   "+call)
			continue
		}
		out = append(out, wrap(call, 5)[2:])
	}
	return strings.Join(out, "\n")
}

// commandsHelp lists commands with what they do.
func commandsHelp(list []*cli.Command) string {
	var rows [][]report.Cell
	wide := 0
	for _, c := range list {
		names := strings.Join(c.Names(), ", ")
		wide = max(wide, len(names))
		rows = append(rows, []report.Cell{report.Left(names), report.Left(c.Usage)})
	}
	return table("   ", wrapCells(rows, 1, screen-wide-5))
}

// flagHelp is a flag's names on a line and its words on the next ones.
func flagHelp(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	usage := d.GetUsage()
	value := ""
	if d.TakesValue() {
		value = " VALUE"
		if before, rest, ok := strings.Cut(usage, "`"); ok {
			if name, after, ok := strings.Cut(rest, "`"); ok {
				value, usage = " "+name, before+name+after
			}
		}
	}
	var names []string
	for _, n := range f.Names() {
		if len(n) == 1 {
			names = append(names, "-"+n)
		} else {
			names = append(names, "--"+n)
		}
	}
	return "   " + strings.Join(names, ", ") + value + "\n" + wrap(usage, 7)
}

// wrap breaks text into lines that fit the screen, each after an indent.
func wrap(text string, indent int) string {
	pad := strings.Repeat(" ", indent)
	return pad + strings.Join(wrapParts(strings.Fields(text), screen-indent), "\n"+pad)
}
