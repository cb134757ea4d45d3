package command

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
)

// The flags' library lists flags one a line, as long as they get; here each has its words below it, within the width of a screen.
const flagList = `{{range .VisibleFlags}}
{{flag .}}{{end}}
`

const commandHelp = `{{prose .HelpName "-" .Usage}}

{{calls .UsageText}}

{{if .Description}}{{prose .Description}}

{{end}}{{if .VisibleFlags}}Flags (those of all commands: microrisk --help):
` + flagList + `{{end}}`

const familyHelp = `{{prose .HelpName "-" .Usage}}

{{calls .UsageText}}

{{if .Description}}{{prose .Description}}

{{end}}Commands ({{.HelpName}} COMMAND --help tells more):

{{commands .VisibleCommands}}`

const appHelp = `{{prose .Name "-" .Usage}}

{{calls .UsageText}}

{{prose .Description}}

Commands (microrisk COMMAND --help tells more):

{{commands .VisibleCommands}}
Flags of all commands:
` + flagList

func init() {
	// The templates above are the only ones used, and the function is not in the library's own set.
	print := cli.HelpPrinterCustom
	cli.HelpPrinter = func(w io.Writer, template string, data any) {
		print(w, template, data, map[string]any{"flag": flagHelp, "prose": proseHelp, "calls": callsHelp, "commands": commandsHelp})
	}
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
