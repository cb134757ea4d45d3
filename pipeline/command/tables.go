package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
	"microrisk/operators/tabulate"
	"microrisk/schemas"
)

// tabulate is the command that writes contingency tables.
func (c *console) tabulate() *cli.Command {
	return &cli.Command{
		Name:      "tabulate",
		Usage:     "write a contingency table of a file, as it is or perturbed",
		ArgsUsage: "FILE...",
		UsageText: "microrisk tabulate FILE... --cells AREA,SEX,HEALTH [--margins] [--scheme random --base 3] [--out FILE]",
		Description: `One row a cell: the variables as text, and the number of records as count, or as
value where it is perturbed. With --margins the totals too, named Total, each
before its parts. Cells of 0 are left out unless --empty asks for them. What is
left to chance depends on each cell and on a secret: with the same --secret, the
same cell is published alike in all tables, and with --noise-by people so are the
same people, whatever cells they are in.`,
		Flags: slices.Concat(recordsFlags(), reportFlags()[:2], fieldFlags(new(tabulate.Config).Fields(), new(schemas.Perturbation).RecordFields())),
		Action: func(ctx *cli.Context) error {
			spec, err := tabulateSpec(ctx)
			return c.executeOrPrint(ctx, spec, err)
		},
	}
}

func tabulateSpec(ctx *cli.Context) (*schemas.Spec, error) {
	spec, err := recordsSpec(ctx, "tabulate")
	if err != nil {
		return nil, err
	}
	t, p := &tabulate.Config{}, &schemas.Perturbation{}
	for _, fields := range []schemas.Table{t.Fields(), p.RecordFields()} {
		if err := sayFields(ctx, fields); err != nil {
			return nil, err
		}
	}
	if len(p.RecordFields().Write()) > 0 {
		t.Perturb = p
	}
	spec.Operators = append(spec.Operators, schemas.Operator{Config: t})
	return spec, tellCodes(ctx, t)
}

// recordsFlags are those of commands that make tables of records.
func recordsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "missing-codes", Usage: "`VALUES` that count as missing besides null, separated by commas"},
		&cli.BoolFlag{Name: "allow-empty", Usage: "let --select name values that no row has, and choose no row"},
		&cli.StringSliceFlag{
			Name:  "select",
			Usage: "take only rows for which `CONDITION` holds: part=train, AGE=16..64; repeated conditions must all hold",
		},
		delimiterFlag(),
		formatFlag(),
		&cli.BoolFlag{Name: "print-spec", Usage: "write the spec that the flags make to standard output, and do nothing else"},
	}
}

// recordsSpec is a spec of the records that a command reads: those of its files, or of the spec that is named instead.
func recordsSpec(ctx *cli.Context, verb string) (*schemas.Spec, error) {
	files := ctx.Args().Slice()
	if len(files) == 0 {
		return nil, usage("name a file to read: microrisk %s FILE ...", verb)
	}
	if namesSpec(ctx) {
		spec, err := readBy(ctx)
		if err == nil {
			spec.Key, spec.Sampling = nil, nil
		}
		return spec, err
	}
	if err := idleDelimiter(ctx, files); err != nil {
		return nil, err
	}
	spec := &schemas.Spec{Source: schemas.Source{Path: files, Delimiter: delimiterOf(ctx), Format: ctx.String("format")}}
	return spec, prepareRows(ctx, spec)
}

// shellWord quotes a word of a command line where it must.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,=:@%+-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// nextText says what to do next with what an operator made.
func nextText(spec *schemas.Spec, c schemas.Config) string {
	leading, ok := c.(report.Leading)
	if !ok {
		return ""
	}
	tells, command := leading.Next(spec)
	if command == nil {
		return ""
	}
	for i, word := range command {
		command[i] = shellWord(word)
	}
	return "\n  " + tells + ":\n    " + strings.Join(command, " ") + "\n"
}
