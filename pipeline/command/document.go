package command

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
	"microrisk/schemas/specfile"
)

// documentFlags are those of the verbs that have a spec of their own.
func documentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name:  "spec",
			Usage: "read what is asked from `FILE` (YAML or JSON, as --print-spec writes it); flags beside it take the place of what it says",
		},
		&cli.BoolFlag{Name: "print-spec", Usage: "write the spec that the flags make to standard output, and do nothing else"},
	}
}

// document makes the spec of a verb: of the file of --spec if there is one, and then of what say takes from the flags. With --print-spec it
// is written, and all is done.
func (c *console) document(ctx *cli.Context, doc schemas.Document, say func() error) (places *schemas.Places, done bool, err error) {
	if name := ctx.String("spec"); name != "" {
		c.flags = false
		text, err := readNamed("spec", name)
		if err != nil {
			return nil, true, err
		}
		c.reads = append(c.reads, session.Reading{What: "the spec", Path: name})
		root, err := specfile.Parse(name, text)
		if err != nil {
			return nil, true, err
		}
		if places, err = schemas.DecodeDocument(name, root, doc, say); err != nil {
			return nil, true, err
		}
	} else {
		err = say()
	}
	if !ctx.Bool("print-spec") {
		return places, err != nil, err
	}
	if err == nil {
		err = schemas.CheckDocument(doc)
	}
	return places, true, c.printSpec(schemas.DocumentYAML(doc), err)
}

// printSpec writes a spec, with what is wrong with it in comments. The error is wrong again, unless the spec cannot be written.
func (c *console) printSpec(spec []byte, wrong error) error {
	text := string(spec)
	if wrong != nil {
		var why strings.Builder
		for line := range strings.Lines(advice.Say(wrong, advice.OfFlags)) {
			why.WriteString("# not valid yet: " + strings.TrimRight(line, "\n") + "\n")
		}
		text = why.String() + text
	}
	if _, failed := io.WriteString(c.Out, text); failed != nil {
		return failed
	}
	return wrong
}
