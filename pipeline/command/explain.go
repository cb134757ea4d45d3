package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
	"microrisk/operators/suda"
	"microrisk/pipeline"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/explain"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

func (c *console) explain() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "show why a record is at risk, and who nearly matches it",
		ArgsUsage: "FILE... | SPEC.yaml",
		UsageText: "microrisk explain FILE... --row N --key AGE,SEX,... [--in FILE]\nmicrorisk explain SPEC.yaml --row N\n" +
			"microrisk explain ANNOTATED.parquet --row N",
		Description: `Lists the record's minimal sample uniques with their values: each is a smallest
set of facts by which nobody else in the files is like it. Then its SUDA score,
DIS-IS where the sampling is known (--fraction, --weight, or the spec's), what
the other measures that --measures or the spec names say of it, and the records
that differ from it in the fewest key variables: making those variables coarser
would hide it among them. Values that have an order are listed from the nearest
on. Rows are numbered from 0 within a file.

A spec, or an annotated Parquet file alone, tells key, recodes and policies.`,
		Flags: slices.Concat(keyFlags(), samplingFlags(), []cli.Flag{
			&cli.Int64Flag{Name: "row", Value: -1, Usage: "number `N` of the record in its file, from 0"},
			&cli.StringFlag{Name: "in", Usage: "`FILE` that has the record, if several are counted together"},
			&cli.IntFlag{Name: "max-size", Usage: "list minimal sample uniques of at most `N` variables; 0 for all"},
			&cli.StringFlag{Name: "score", Usage: "definition of the SUDA score: lattice, lattice-limited, factorial or elliot-limited (default: lattice)"},
			&cli.StringSliceFlag{
				Name:  "measures",
				Usage: "what other measures say of the record, where the sampling is known: suda,mc3 for models of the population (default: those of the spec; suda)",
			},
		}),
		Action: func(ctx *cli.Context) error {
			spec, scored, err := explainedSpec(ctx)
			if err != nil {
				return err
			}
			switch {
			case !ctx.IsSet("row"):
				return usage("name the record: --row N, its number in the file, from 0")
			case ctx.Int64("row") < 0:
				return usage("--row is %d; rows are numbered from 0", ctx.Int64("row"))
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			explanation, err := explain.Run(ctx.Context, spec, explain.Which{Row: ctx.Int64("row"), Input: ctx.String("in")}, scored, o)
			if err != nil {
				return err
			}
			return c.print(explanationText(explanation))
		},
	}
}

// explainedSpec is the spec that an argument names, that an annotated file has, or that flags make; with the suda it has.
func explainedSpec(ctx *cli.Context) (*schemas.Spec, suda.Config, error) {
	spec, err := sourceSpec(ctx)
	scored := suda.Config{}
	if err != nil {
		return nil, scored, err
	}
	for _, o := range spec.Operators {
		c, ok := o.Config.(*suda.Config)
		if !ok {
			continue
		}
		if scored = *c; scored.Key != nil {
			key := *scored.Key
			spec.Key = &key
		}
		if scored.Missing != "" && spec.Key != nil {
			key := *spec.Key
			key.Missing, key.Variables = scored.Missing, slices.Clone(key.Variables)
			for v := range key.Variables {
				key.Variables[v].Missing = ""
			}
			spec.Key = &key
		}
		if scored.Threshold > 1 {
			return nil, scored, usage(
				"the records were measured with a threshold of %d: explain tells minimal sample uniques, those of a threshold of 1; name the key (--key) to see these",
				scored.Threshold,
			)
		}
		scored = suda.Config{Score: scored.Score, MaxSize: scored.MaxSize, Threshold: scored.Threshold}
		break
	}
	if spec.Key == nil {
		return nil, scored, usage("the spec has no key: name the key variables, --key AGE,SEX,...")
	}
	if ctx.IsSet("score") {
		scored.Score = ctx.String("score")
	}
	if ctx.IsSet("max-size") {
		if scored.MaxSize = ctx.Int("max-size"); scored.MaxSize < 0 {
			return nil, scored, usage("--max-size is %d; it must be 0 (all) or more", scored.MaxSize)
		}
	}
	if spec.Sampling, err = samplingOr(ctx, spec.Sampling); err != nil {
		return nil, scored, err
	}
	measures, err := words("measures", ctx.StringSlice("measures"))
	for _, name := range measures {
		has := func(o schemas.Operator) bool { return o.Name() == name }
		switch known := explainedNames(); {
		case !slices.Contains(known, name):
			err = usage("--measures: explain knows %s, not %q", strings.Join(known, ", "), name)
		case name == suda.Name || slices.ContainsFunc(spec.Operators, has):
		case spec.Sampling == nil:
			err = usage("%s needs the size of the population: add --fraction, --population-size or --weight", name)
		default:
			spec.Operators = append(spec.Operators, schemas.Operator{Config: schemas.KindNamed(name).New()})
		}
	}
	return spec, scored, err
}

// explainedNames are the measures that have a probability or a score of a record to tell.
func explainedNames() []string {
	return slices.DeleteFunc(evaluate.JudgedNames(), func(name string) bool {
		m := schemas.KindNamed(name).New().(schemas.Writer)
		return !slices.ContainsFunc(m.Columns(false, nil), func(c schemas.ColumnInfo) bool { return c.Type == schemas.Double })
	})
}

// samplingOr is what flags say of the sampling, or else what the spec does.
func samplingOr(ctx *cli.Context, spec *schemas.Sampling) (*schemas.Sampling, error) {
	said, err := samplingOf(ctx)
	if said == nil {
		said = spec
	}
	return said, err
}

// isSpec tells whether an argument names a spec.
func isSpec(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// sourceSpec is a spec that the only argument names, or the one of an annotated file without --key, or that of the flags.
func sourceSpec(ctx *cli.Context) (*schemas.Spec, error) {
	files := ctx.Args().Slice()
	if len(files) != 1 || ctx.IsSet("key") {
		return keySpec(ctx)
	}
	if !isSpec(files[0]) {
		return pipeline.AnnotatedSpec(ctx.Context, files[0])
	}
	return namedSpec(ctx)
}

// namedSpec is the spec that the only argument names.
func namedSpec(ctx *cli.Context) (*schemas.Spec, error) {
	files := ctx.Args().Slice()
	for _, flag := range []string{"missing", "missing-codes", "select", "band", "recode", "format", "delimiter"} {
		if ctx.IsSet(flag) {
			return nil, usage("--%s and the spec %s both say what is read; leave the flag out, or write it into the spec", flag, files[0])
		}
	}
	text, err := readNamed("spec", files[0])
	if err != nil {
		return nil, err
	}
	spec, err := specfile.Decode(files[0], text)
	if err == nil && spec.Source.Table != "" {
		err = usage("the spec %s reads a table of counts: its records are not there to be looked at", files[0])
	}
	return spec, err
}

// readBy is what a spec reads: its source, and the recodes and selections before its first measure.
func readBy(ctx *cli.Context) (*schemas.Spec, error) {
	spec, err := namedSpec(ctx)
	if err != nil {
		return nil, err
	}
	return &schemas.Spec{
		Source: spec.Source, Sampling: spec.Sampling, Key: spec.Key, Operators: spec.Preparing(), AllowEmpty: spec.AllowEmpty,
	}, nil
}

// namesSpec tells whether the only argument is a spec.
func namesSpec(ctx *cli.Context) bool { return ctx.Args().Len() == 1 && isSpec(ctx.Args().First()) }

// explanationText shows why a record is at risk.
func explanationText(e *explain.Explanation) string {
	var b strings.Builder
	row, among := fmt.Sprintf("row %d of ", e.Row), ""
	if n := len(e.Inputs); n > 1 {
		among = fmt.Sprintf(", among %d files", n)
	}
	b.WriteString(row + inputName([]string{e.Input}, screen-len(row)-len(among)) + among + "\n\n")
	if !e.Counted {
		b.WriteString("The record is not counted: it is not selected, or a missing value drops it.\n")
		return b.String()
	}
	b.WriteString(table("  ", wrapCells(valueRows(e), 1, screen/2)))
	b.WriteString("\n" + wrap(verdict(e), 0) + "\n")
	for _, set := range e.MSUs {
		var parts []string
		for i, v := range set {
			end := ","
			if i == len(set)-1 {
				end = ""
			}
			parts = append(parts, report.Printable(e.Variables[v])+" = "+report.Value(e.Values[v])+end)
		}
		if len(parts) == 0 {
			parts = []string{"(nothing: it is the only record)"}
		}
		b.WriteString(strings.TrimPrefix(wrapped("    ", parts), "  ")) // what does not fit hangs
	}
	b.WriteString(scoreText(e))
	b.WriteString(nearText(e))
	return b.String()
}

// valueRows are the record's values, and those of the file that recoded ones come from.
func valueRows(e *explain.Explanation) [][]report.Cell {
	var rows [][]report.Cell
	for v, name := range e.Variables {
		row := []report.Cell{report.Left(name), report.Left(report.Value(e.Values[v]))}
		for _, f := range e.From {
			if f.Variable == v {
				row = append(row, report.Left(fmt.Sprintf("%s = %s", report.Printable(f.Column), report.Value(f.Value))))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func verdict(e *explain.Explanation) string {
	limit := ""
	if e.MaxSize < len(e.Variables) {
		limit = fmt.Sprintf(" of at most %s", report.Plural(int64(e.MaxSize), "variable", "variables"))
	}
	switch {
	case e.Frequency > 1:
		return fmt.Sprintf("%s of %s have this key: the record is no sample unique.", report.Count(e.Frequency), report.Count(e.Records))
	case len(e.MSUs) == 0:
		return fmt.Sprintf("The record is a sample unique, without a minimal sample unique%s.", limit)
	}
	return fmt.Sprintf(
		"The record is a sample unique, with %s%s:",
		report.Plural(int64(len(e.MSUs)), "minimal sample unique", "minimal sample uniques"),
		limit,
	)
}

// scoreText is the record's score, and what else was measured.
func scoreText(e *explain.Explanation) string {
	rows := [][]report.Cell{
		{report.Left("SUDA score"), report.Right(report.Figure(e.Score)), report.Left(e.ScoreName)},
		{report.Left("intermediate SUDA metric"), report.Right(report.Figure(e.IS)), report.Left("")},
	}
	for _, r := range e.Risks {
		value := "-"
		if r.Value != nil {
			value = report.Figure(*r.Value)
		}
		rows = append(rows, []report.Cell{report.Left(r.Label), report.Right(value), report.Left(r.Note)})
	}
	return "\n" + table("", rows)
}

// nearText lists who nearly matches.
func nearText(e *explain.Explanation) string {
	if len(e.Near) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"\nNearest other keys differ in %s (%s):\n",
		report.Plural(int64(e.Distance), "variable", "variables"),
		report.Plural(e.NearCount, "record", "records"),
	)
	rows := [][]report.Cell{{report.Left("instead"), report.Right("records"), report.Left("rows")}}
	for _, n := range e.Near {
		var parts, places []string
		for i, v := range n.Differs {
			end := ","
			if i == len(n.Differs)-1 {
				end = ""
			}
			parts = append(parts, fmt.Sprintf("%s = %s%s", report.Printable(e.Variables[v]), report.Value(n.Values[i]), end))
		}
		for _, at := range n.Rows {
			place := fmt.Sprint(at.Row)
			if len(e.Inputs) > 1 {
				place += " of " + report.Printable(at.Input)
			}
			places = append(places, place)
		}
		if n.Count > int64(len(n.Rows)) {
			places = append(places, "...")
		}
		row := []report.Cell{report.Left(""), report.Right(report.Count(n.Count)), report.Left(strings.Join(places, ", "))}
		rows = append(rows, hang(row, 0, wrapParts(parts, screen/2))...)
	}
	b.WriteString(table("  ", rows))
	if e.NearMore > 0 {
		fmt.Fprintf(&b, "  and %s\n", report.Plural(int64(e.NearMore), "more key", "more keys"))
	}
	return b.String()
}
