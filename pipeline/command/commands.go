package command

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
	"microrisk/pipeline"
	"microrisk/pipeline/inspect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

func (c *console) run() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run the pipeline that a spec describes",
		ArgsUsage: "SPEC.yaml",
		UsageText: "microrisk run SPEC.yaml",
		Description: `A spec is YAML (or JSON):

   version: 1
   source: {path: census.parquet}
   sampling: {fraction: 0.01}
   key: {variables: [AGE5, SEX, REGION], missing_codes: [NA]}
   operators:
     - recode: {AGE5: {from: AGE, width: 5}}
     - suda: {contributions: true}
   sink: {path: risk.parquet}
   summary: risk.json
   limits: {sample_uniques: 1000, dis: 0.05}

Paths are relative to the current folder. A run that breaches a limit writes its
outputs and ends with exit status 3. There are limits for
` + wrap(strings.Join(schemas.LimitNames(), ", "), 3),
		Flags: append(reportFlags(), limitProfileFlag()),
		Action: func(ctx *cli.Context) error {
			spec, places, err := c.specOf(ctx)
			if err != nil {
				return err
			}
			if _, err := profileOf(ctx); err != nil {
				return err
			}
			if ctx.IsSet("profile") {
				spec.Profile = ctx.String("profile")
			}
			return places.Locate(c.execute(ctx, spec, true))
		},
	}
}

// readNamed reads a file that a person has written: what says what it is, in messages.
func readNamed(what, name string) ([]byte, error) {
	text, err := session.ReadRegular(name, specfile.MaxSpecSize+1) // one byte more is told by who reads it
	if err != nil {
		return nil, fmt.Errorf("cannot read the %s %s: %w", what, name, err)
	}
	return text, nil
}

// specOf reads the spec that the command's only argument names, and remembers what is where in it.
func (c *console) specOf(ctx *cli.Context) (*schemas.Spec, *schemas.Places, error) {
	if n := ctx.Args().Len(); n != 1 {
		return nil, nil, usage("%s takes one spec, not %d: microrisk %s SPEC.yaml", ctx.Command.Name, n, ctx.Command.Name)
	}
	name := ctx.Args().First()
	if err := specOrData(ctx.Command.Name, name); err != nil {
		return nil, nil, err
	}
	text, err := readNamed("spec", name)
	if err != nil {
		return nil, nil, err
	}
	c.reads = append(c.reads, session.Reading{What: "the spec", Path: name})
	return specfile.DecodePlaces(name, text)
}

func (c *console) validate() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "find what is wrong with a spec, and show what it would do",
		ArgsUsage: "SPEC.yaml",
		UsageText: "microrisk validate SPEC.yaml",
		Description: `Everything that is wrong with the spec is reported with its line and column. If
the inputs exist, their columns are compared with the spec, and the plan is shown:
which tables are counted in which scan, and which columns are added. No row is
read: a value in select, map or levels that no row has is found by a run alone.
Exit status 2 if something is wrong.`,
		Action: func(ctx *cli.Context) error {
			spec, places, err := c.specOf(ctx)
			if err != nil {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			plan, err := pipeline.Validate(ctx.Context, spec, o)
			if err != nil {
				return places.Locate(err)
			}
			return c.print(planText(plan))
		},
	}
}

// print writes a result to standard output.
func (c *console) print(text string) error {
	c.finish()
	if _, err := io.WriteString(c.Out, text); err != nil {
		return fmt.Errorf("writing to standard output: %w", err)
	}
	return nil
}

func (c *console) inspect() *cli.Command {
	return &cli.Command{
		Name:      "inspect",
		Usage:     "show the columns of a file and how unique its records are",
		ArgsUsage: "FILE... | SPEC.yaml",
		UsageText: "microrisk inspect FILE... [--values COLUMN,... | --key AGE,SEX,...]\nmicrorisk inspect SPEC.yaml",
		Description: `Without a key: each column's type, number of categories, and missing values.
With --values: the categories of these columns and their numbers of records.
With --key: the sample uniques of the key, and of the key without each of its
variables in turn: the variable whose absence leaves the fewest is the one that
does most to single records out.`,
		Flags: append(keyFlags(),
			&cli.StringSliceFlag{Name: "values", Usage: "list the categories of these `COLUMNS`, separated by commas; may be repeated"},
		),
		Action: func(ctx *cli.Context) error {
			spec, err := inspectedSpec(ctx)
			if err != nil {
				return err
			}
			look, err := lookOf(ctx, spec.Key != nil)
			if err != nil {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			inspection, err := inspect.Run(ctx.Context, spec, look, o)
			if err != nil {
				return err
			}
			return c.print(inspectionText(inspection))
		},
	}
}

// inspectedSpec is what flags say, or what a spec reads: its key, unless other columns are asked for.
func inspectedSpec(ctx *cli.Context) (*schemas.Spec, error) {
	if !namesSpec(ctx) {
		return keySpec(ctx)
	}
	spec, err := readBy(ctx)
	if err != nil {
		return nil, err
	}
	if names, err := words("key", ctx.StringSlice("key")); names != nil || err != nil {
		spec.Key = &schemas.Key{}
		for _, name := range names {
			spec.Key.Variables = append(spec.Key.Variables, schemas.KeyVariable{Name: name})
		}
		return spec, err
	}
	if ctx.IsSet("values") {
		spec.Key = nil
	}
	return spec, nil
}

// lookOf is what inspect shows when there is no key.
func lookOf(ctx *cli.Context, key bool) (look inspect.Look, err error) {
	if look.Values, err = words("values", ctx.StringSlice("values")); err != nil {
		return look, err
	}
	switch {
	case key && look.Values != nil:
		return look, usage("--values lists the categories of columns, --key shows how a key singles records out; give one of them")
	case key:
		return look, nil
	case ctx.IsSet("missing"):
		return look, usage("--missing says what a missing value of a key variable means; there is no --key")
	}
	look.MissingCodes, err = words("missing-codes", ctx.StringSlice("missing-codes"))
	return look, err
}

// count stops after the counting scan, to measure it.
func (c *console) count() *cli.Command {
	return &cli.Command{
		Name:   "count",
		Hidden: true,
		Usage:  "count the combinations of a key",
		Flags:  keyFlags(),
		Action: func(ctx *cli.Context) error {
			spec, err := keySpec(ctx)
			if err != nil {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			classes, records, err := inspect.Count(ctx.Context, spec, o)
			if err != nil {
				return err
			}
			return c.print(
				fmt.Sprintf(
					"%s, %s, peak memory %d bytes\n",
					report.Plural(records, "record", "records"),
					report.Plural(classes, "combination", "combinations"),
					pipeline.PeakMemory(),
				),
			)
		},
	}
}

func (c *console) version() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "show the version",
		Action: func(*cli.Context) error {
			return c.print(fmt.Sprintf("%s\n%s %s/%s\n", pipeline.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH))
		},
	}
}
