package command

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// The flags' library lists flags one a line, as long as they get; here each has its words below it, within the width of a screen.
const flagList = `{{range .VisibleFlags}}
{{flag .}}{{end}}
`

const commandHelp = `{{.HelpName}} - {{.Usage}}

   {{.UsageText}}

{{if .Description}}{{.Description}}

{{end}}{{if .VisibleFlags}}Flags (those of all commands: microrisk --help):
` + flagList + `{{end}}`

const familyHelp = `{{.HelpName}} - {{.Usage}}

   {{.UsageText}}

{{if .Description}}{{.Description}}

{{end}}Commands ({{.HelpName}} COMMAND --help tells more):
{{range .VisibleCommands}}
   {{join .Names ", "}}{{"\t"}}{{.Usage}}{{end}}
`

const appHelp = `{{.Name}} - {{.Usage}}

   {{.UsageText}}

{{.Description}}

Commands (microrisk COMMAND --help tells more):
{{range .VisibleCommands}}
   {{join .Names ", "}}{{"\t"}}{{.Usage}}{{end}}

Flags of all commands:
` + flagList

func init() {
	// The templates above are the only ones used, and the function is not in the library's own set.
	print := cli.HelpPrinterCustom
	cli.HelpPrinter = func(w io.Writer, template string, data any) {
		print(w, template, data, map[string]any{"flag": flagHelp})
	}
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
	var lines []string
	line := pad
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > screen && line != pad {
			lines = append(lines, line)
			line = pad
		}
		if line != pad {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
