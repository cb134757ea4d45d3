package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/selection"
	"microrisk/operators/tabulate"
	"microrisk/schemas"
)

// perturbationFlags say how counts are published.
func perturbationFlags() []cli.Flag { return fieldFlags(new(schemas.Perturbation).Fields()) }

// perturbationOf makes a perturbation of flags.
func perturbationOf(ctx *cli.Context) (p schemas.Perturbation, err error) {
	return p, sayFields(ctx, p.Fields())
}

// variablesOf are the variables that a flag lists, with the missing codes of --missing-codes.
func variablesOf(ctx *cli.Context, flag string) ([]schemas.KeyVariable, error) {
	names, err := words(flag, ctx.StringSlice(flag))
	if err != nil {
		return nil, err
	}
	codes, err := words("missing-codes", ctx.StringSlice("missing-codes"))
	if err != nil {
		return nil, err
	}
	var list []schemas.KeyVariable
	for _, name := range names {
		list = append(list, schemas.KeyVariable{Name: name, MissingCodes: codes})
	}
	return list, nil
}

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
same cell is published alike in all tables.`,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "cells", Usage: "`VARIABLES` of the table, separated by commas"},
			&cli.StringFlag{Name: "missing", Usage: "what a missing value means: category or drop (default: category)"},
			&cli.StringSliceFlag{Name: "missing-codes", Usage: "`VALUES` that count as missing besides null, separated by commas"},
			&cli.BoolFlag{Name: "allow-empty", Usage: "let --select name values that no row has, and choose no row"},
			&cli.StringSliceFlag{
				Name:  "select",
				Usage: "take only rows for which `CONDITION` holds: part=train, AGE=16..64; repeated conditions must all hold",
			},
			&cli.BoolFlag{Name: "margins", Usage: "all margins too"},
			&cli.BoolFlag{Name: "empty", Usage: "cells of 0 too"},
			delimiterFlag(),
			formatFlag(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "output file (default: table.parquet in the current folder)"},
			&cli.BoolFlag{Name: "print-spec", Usage: "write the spec that the flags make to standard output, and do nothing else"},
		}, perturbationFlags()...),
		Action: func(ctx *cli.Context) error {
			spec, err := tabulateSpec(ctx)
			return c.executeOrPrint(ctx, spec, err)
		},
	}
}

func tabulateSpec(ctx *cli.Context) (*schemas.Spec, error) {
	files := ctx.Args().Slice()
	if len(files) == 0 {
		return nil, usage("name a file to read: microrisk tabulate FILE ...")
	}
	spec := &schemas.Spec{Source: schemas.Source{Path: files, Delimiter: delimiterOf(ctx), Format: ctx.String("format")}}
	if namesSpec(ctx) {
		var err error
		if spec, err = readBy(ctx); err != nil {
			return nil, err
		}
		spec.Key, spec.Sampling = nil, nil
	} else if err := prepareRows(ctx, spec); err != nil {
		return nil, err
	}
	t := &tabulate.Config{Margins: ctx.Bool("margins"), Empty: ctx.Bool("empty"), Missing: ctx.String("missing"), Path: ctx.String("out")}
	if t.Path == "" {
		t.Path = "table.parquet"
	}
	var err error
	if t.Cells, err = variablesOf(ctx, "cells"); err != nil {
		return nil, err
	}
	if len(t.Cells) == 0 {
		return nil, usage("name the variables of the table: --cells SEX,HEALTH")
	}
	p, err := perturbationOf(ctx)
	if err != nil {
		return nil, err
	}
	if p.Scheme != "" || p.Base != 0 || p.Tie != "" || p.Probability != nil || p.Last != 0 || p.Value != 0 || p.Secret != "" {
		t.Perturb = &p
	}
	spec.Operators = append(spec.Operators, schemas.Operator{Config: t})
	return spec, nil
}

// checkText is the command that tells what a table teaches, table by table of its first variable, if it has another.
func checkText(spec *schemas.Spec, t *tabulate.Config) string {
	if len(spec.Source.Path) == 0 || spec.Source.Path[0] == "-" || len(spec.Operators) > 1 && !isSelection(spec.Operators[0]) {
		return "" // what the table was made of cannot be said by flags
	}
	names := make([]string, len(t.Cells))
	for v, c := range t.Cells {
		names[v] = csvWord(c.Name)
	}
	args := slices.Concat([]string{"microrisk", "assess"}, spec.Source.Path, []string{"--measures", "sap"})
	if len(names) > 1 {
		args = append(args, "--by", names[0])
		names = names[1:]
	}
	args = append(args, "--cells", strings.Join(names, ","))
	if codes := t.Cells[0].MissingCodes; codes != nil {
		for _, code := range codes {
			args = append(args, "--missing-codes", csvWord(code))
		}
	}
	if t.Missing != "" {
		args = append(args, "--missing", t.Missing)
	}
	args = append(args, conditionFlags(spec)...)
	if t.Margins {
		if args = append(args, "--total", "same"); len(names) > 1 {
			args = append(args, "--margins", "all")
		}
	}
	if p := t.Perturb; p != nil {
		args = append(args, perturbationArgs(p, t.Path)...)
	}
	for i, a := range args {
		args[i] = shellWord(a)
	}
	return "\n  what it teaches about people, in each table of its first variable:\n    " + strings.Join(args, " ") + "\n"
}

// perturbationArgs are the flags of a perturbation. Without a secret the noise is known from the file alone.
func perturbationArgs(p *schemas.Perturbation, path string) []string {
	var args []string
	add := func(flag, value string) {
		if value != "" && value != "0" {
			args = append(args, "--"+flag, value)
		}
	}
	add("scheme", p.Scheme)
	add("base", strconv.FormatInt(p.Base, 10))
	add("tie", p.Tie)
	if p.Probability != nil {
		add("probability", strconv.FormatFloat(*p.Probability, 'g', -1, 64))
	}
	if p.Last != 0 {
		args = append(args, "--last", strconv.FormatInt(p.Last, 10), "--value", strconv.FormatInt(p.Value, 10))
	}
	var rows []string
	for _, row := range p.Matrix {
		var parts []string
		for _, o := range row {
			parts = append(parts, fmt.Sprintf("%d:%s", o.Count, strconv.FormatFloat(o.Probability, 'g', -1, 64)))
		}
		rows = append(rows, strings.Join(parts, ","))
	}
	add("matrix", strings.Join(rows, ";"))
	add("secret", p.Secret)
	if p.Secret == "" && p.Random() {
		add("published", path)
	}
	return args
}

// conditionFlags are the conditions of a spec's selections as flags.
func conditionFlags(spec *schemas.Spec) []string {
	var args []string
	for _, o := range spec.Operators {
		chosen, ok := o.Config.(*selection.Config)
		if !ok {
			continue
		}
		for _, c := range chosen.Rows {
			value := ""
			if c.Values != nil {
				list := make([]string, len(c.Values))
				for i, v := range c.Values {
					list[i] = csvWord(v)
				}
				value = strings.Join(list, ",")
			} else {
				if c.Min != nil {
					value = *c.Min
				}
				if value += ".."; c.Max != nil {
					value += *c.Max
				}
			}
			args = append(args, "--select", c.Column+"="+value)
		}
	}
	return args
}

// csvWord quotes a word of a list separated by commas where it must.
func csvWord(word string) string {
	if strings.ContainsAny(word, ",\"\r\n") {
		return `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	}
	return word
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
	if t, ok := c.(*tabulate.Config); ok {
		return checkText(spec, t)
	}
	return ""
}

func isSelection(o schemas.Operator) bool {
	_, is := o.Config.(*selection.Config)
	return is
}
