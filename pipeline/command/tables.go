package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/sap"
	"microrisk/operators/selection"
	"microrisk/operators/tabulate"
	"microrisk/schemas"
)

// perturbationFlags say how counts are published.
func perturbationFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "scheme", Category: category, Usage: "how counts are perturbed: none, conventional, random, barnard, small or matrix (default: none)"},
		&cli.StringFlag{Name: "base", Category: category, Usage: "base of rounding (conventional, random, small)"},
		&cli.StringFlag{Name: "tie", Category: category, Usage: "what the middle of two multiples of an even base becomes: up, down or even"},
		&cli.StringFlag{Name: "probability", Category: category, Usage: "random: of the nearest multiple (default: unbiased); barnard: that a count stays"},
		&cli.StringFlag{Name: "last", Category: category, Usage: "small: counts from 1 to `N` become --value"},
		&cli.StringFlag{Name: "value", Category: category, Usage: "small: what small counts become"},
		&cli.StringFlag{Name: "matrix", Category: category, Usage: "matrix: what the counts 0, 1, 2, ... become, `COUNT:PROBABILITY,...` each, separated by semicolons, such as '0:1; 0:0.5,2:0.5'; the last is that of all larger counts"},
		&cli.StringFlag{Name: "secret", Category: category, Usage: "`FILE` with the secret by which cells are perturbed, the same wherever it is used"},
	}
}

// perturbationOf makes a perturbation of flags.
func perturbationOf(ctx *cli.Context) (p schemas.Perturbation, err error) {
	p = schemas.Perturbation{Scheme: ctx.String("scheme"), Tie: ctx.String("tie"), Secret: ctx.String("secret")}
	for _, n := range []struct {
		flag string
		to   *int64
	}{{"base", &p.Base}, {"last", &p.Last}, {"value", &p.Value}} {
		if text := ctx.String(n.flag); text != "" {
			if *n.to, err = strconv.ParseInt(text, 10, 64); err != nil {
				return p, usage("--%s is %q; it must be a whole number", n.flag, text)
			}
			least := int64(1)
			if n.flag == "value" {
				least = 0
			}
			if *n.to < least {
				return p, usage("--%s is %d; it must be at least %d", n.flag, *n.to, least)
			}
		}
	}
	if text := ctx.String("probability"); text != "" {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return p, usage("--probability is %q; it must be a number from 0 to 1", text)
		}
		p.Probability = &v
	}
	p.Matrix, err = matrixOf(ctx.String("matrix"))
	return p, err
}

// matrixOf reads the rows of a matrix of probabilities; nil for none.
func matrixOf(text string) ([][]schemas.Outcome, error) {
	if text == "" {
		return nil, nil
	}
	var matrix [][]schemas.Outcome
	for line := range strings.SplitSeq(text, ";") {
		row := []schemas.Outcome{}
		for part := range strings.SplitSeq(line, ",") {
			count, probability, ok := strings.Cut(strings.TrimSpace(part), ":")
			n, err1 := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
			v, err2 := strconv.ParseFloat(strings.TrimSpace(probability), 64)
			if !ok || err1 != nil || err2 != nil || n < 0 {
				return nil, usage("--matrix: %q is no COUNT:PROBABILITY; write such as '0:1; 0:0.5,2:0.5'", strings.TrimSpace(part))
			}
			row = append(row, schemas.Outcome{Count: n, Probability: v})
		}
		matrix = append(matrix, row)
	}
	return matrix, nil
}

// sapFlags are those of attribution risk.
func sapFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringSliceFlag{Name: "by", Category: "SAP", Usage: "`COLUMNS` whose values tell released tables apart, separated by commas; a record without one of them is in no table (default: one table)"},
		&cli.StringSliceFlag{Name: "cells", Category: "SAP", Usage: "`VARIABLES` of the released tables, separated by commas"},
		&cli.StringSliceFlag{Name: "known", Category: "SAP", Usage: "numbers of people known, separated by commas (default: 1,2,5,10)"},
		&cli.StringFlag{Name: "total", Category: "SAP", Usage: "how each table's total is published: same, exact or none (default: none)"},
		&cli.StringSliceFlag{Name: "margins", Category: "SAP", Usage: "`VARIABLES` of a margin that is released too, separated by commas; may be repeated; all for all of them, as tabulate --margins writes"},
		&cli.StringSliceFlag{Name: "perturbed-margin", Category: "SAP", Usage: "`VARIABLES` of a margin that is released with a scheme of its own, SEX,HEALTH=SCHEME:base=3:tie=up (also probability, last, value; none: exactly); may be repeated"},
		&cli.StringFlag{Name: "base-table", Category: "SAP", Usage: "how the tables over all of --cells are published: same, exact or none (default: same)"},
		&cli.StringSliceFlag{Name: "impossible", Category: "SAP", Usage: "a combination of categories that cannot occur, `VAR=VALUE,VAR=VALUE`; may be repeated"},
		&cli.StringFlag{Name: "sap-threshold", Category: "SAP", Usage: "find for each table how many people must be known for a SAP of `P` (default: 0.5)"},
		&cli.StringFlag{Name: "published", Category: "SAP", Usage: "`FILE` with the counts that were really published"},
		&cli.StringFlag{Name: "tables", Category: "SAP", Usage: "write one row a table to `FILE`"},
	}, perturbationFlags("SAP")...)
}

// sapOf makes the operator sap of flags.
func sapOf(ctx *cli.Context) (*sap.Config, error) {
	p, err := perturbationOf(ctx)
	if err != nil {
		return nil, err
	}
	s := &sap.Config{Release: sap.Release{Perturbation: p, BaseTable: ctx.String("base-table"), Total: ctx.String("total"), Published: ctx.String("published")}, Tables: ctx.String("tables"),
		Missing: ctx.String("missing")}
	if s.By, err = variablesOf(ctx, "by"); err != nil {
		return nil, err
	}
	if s.Cells, err = variablesOf(ctx, "cells"); err != nil {
		return nil, err
	}
	if len(s.Cells) == 0 {
		return nil, usage("name the variables of the released tables: --cells SEX,HEALTH")
	}
	if err := sapReleaseOf(ctx, s); err != nil {
		return nil, err
	}
	known, err := words("known", ctx.StringSlice("known"))
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		known = []string{"1", "2", "5", "10"}
	}
	for _, text := range known {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return nil, usage("--known is %q; it must be a number of people, 0 or more", text)
		}
		s.Known = append(s.Known, n)
	}
	return s, nil
}

// sapReleaseOf reads the flags of margins, impossible combinations and the threshold.
func sapReleaseOf(ctx *cli.Context, s *sap.Config) error {
	for _, text := range ctx.StringSlice("margins") {
		margin, err := words("margins", []string{text})
		if err != nil {
			return err
		}
		if len(margin) == 1 && margin[0] == "all" {
			s.Release.Margins = append(s.Release.Margins, allMargins(s.Cells)...)
			continue
		}
		s.Release.Margins = append(s.Release.Margins, sap.Margin{Variables: margin})
	}
	for _, text := range ctx.StringSlice("perturbed-margin") {
		names, p, err := schemeBehind("perturbed-margin", "VARIABLES", text)
		if err != nil {
			return err
		}
		margin, err := words("perturbed-margin", []string{names})
		if err != nil {
			return err
		}
		same := func(m sap.Margin) bool {
			return slices.Equal(slices.Sorted(slices.Values(m.Variables)), slices.Sorted(slices.Values(margin)))
		}
		if at := slices.IndexFunc(s.Release.Margins, same); at >= 0 && s.Release.Margins[at].Perturb == nil {
			s.Release.Margins[at].Perturb = p // one of all
			continue
		}
		s.Release.Margins = append(s.Release.Margins, sap.Margin{Variables: margin, Perturb: p})
	}
	for _, text := range ctx.StringSlice("impossible") {
		parts, err := words("impossible", []string{text})
		if err != nil {
			return err
		}
		combination := map[string]string{}
		for _, part := range parts {
			name, value, ok := strings.Cut(part, "=")
			if !ok || name == "" {
				return usage("--impossible %q is no combination; write such as SEX=m,HEALTH=pregnant", text)
			}
			combination[name] = value
		}
		s.Impossible = append(s.Impossible, combination)
	}
	if text := ctx.String("sap-threshold"); text != "" {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return usage("--sap-threshold is %q; it must be a number above 0 and at most 1", text)
		}
		s.Threshold = &v
	}
	return nil
}

// allMargins are those over some but not all of the variables, and not over none.
func allMargins(cells []schemas.KeyVariable) []sap.Margin {
	var margins []sap.Margin
	for set := 1; set < 1<<min(len(cells), 16)-1; set++ {
		var names []string
		for v, c := range cells {
			if set>>v&1 != 0 {
				names = append(names, c.Name)
			}
		}
		margins = append(margins, sap.Margin{Variables: names})
	}
	return margins
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
			&cli.StringSliceFlag{Name: "select", Usage: "take only rows for which `CONDITION` holds: part=train, AGE=16..64; repeated conditions must all hold"},
			&cli.BoolFlag{Name: "margins", Usage: "all margins too"},
			&cli.BoolFlag{Name: "empty", Usage: "cells of 0 too"},
			delimiterFlag(),
			formatFlag(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "output file (default: table.parquet in the current folder)"},
			&cli.BoolFlag{Name: "print-spec", Usage: "write the spec that the flags make to standard output, and do nothing else"},
		}, perturbationFlags("")...),
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
