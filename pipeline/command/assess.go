package command

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/selection"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

func keyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{
			Name:    "key",
			Aliases: []string{"k"},
			Usage:   "key `VARIABLES`, separated by commas; may be repeated; a name that has a comma stands in double quotes",
		},
		&cli.StringFlag{Name: "missing", Usage: "what a missing value of a key variable means: category, wildcard, ignore or drop (default: category)"},
		&cli.StringSliceFlag{Name: "missing-codes", Usage: "`VALUES` that count as missing besides null, separated by commas; may be repeated"},
		&cli.StringSliceFlag{
			Name:  "select",
			Usage: "take only rows for which `CONDITION` holds: part=train, STATE=CA,NV, AGE=16.., AGE=16..64; repeated conditions must all hold",
		},
		&cli.BoolFlag{Name: "allow-empty", Usage: "let --select name values that no row has, and choose no row"},
		&cli.StringSliceFlag{
			Name:  "band",
			Usage: "count `COLUMN=WIDTH`, such as AGE=5, in bands: the key sees the bands, the file keeps its column; may be repeated",
		},
		&cli.StringSliceFlag{
			Name:  "recode",
			Usage: "count `COLUMN:HOW` recoded, as --band does: REGION:north=01|02,south=* (* is all others), AGE:cuts=18,30,65, AGE:width=5,top=85, POSTCODE:truncate=3; or @FILE with recodes as a spec has them; may be repeated",
		},
		delimiterFlag(),
		formatFlag(),
	}
}

// formatFlag is for files whose names do not tell what they are.
func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Usage: "the inputs are `parquet`, arrow or csv, whatever their names (default: by their endings)"}
}

// delimiterFlag says what stands between the fields of CSV.
func delimiterFlag() cli.Flag {
	return &cli.StringFlag{Name: "delimiter", Usage: "`CHARACTER` between the fields of CSV; tab for a tab (default: found)"}
}

func delimiterOf(ctx *cli.Context) string {
	if d := ctx.String("delimiter"); d != "tab" && d != `\t` {
		return d
	}
	return "\t"
}

// idleDelimiter refuses a delimiter where no input, by its name, can be CSV.
func idleDelimiter(ctx *cli.Context, files []string) error {
	format := ctx.String("format")
	if !ctx.IsSet("delimiter") || format == "csv" {
		return nil
	}
	for _, flag := range []string{"population", "classes"} { // of an attack
		files = append(files[:len(files):len(files)], ctx.StringSlice(flag)...)
	}
	fields := func(path string) bool {
		return !slices.Contains([]string{".parquet", ".pq", ".arrow", ".feather", ".ipc"}, strings.ToLower(filepath.Ext(path))) && path != "-"
	}
	if format == "" && slices.ContainsFunc(files, fields) {
		return nil
	}
	return usage("--delimiter stands between the fields of CSV, and no input is CSV: leave it out, or say --format csv")
}

func (c *console) assess() *cli.Command {
	return &cli.Command{
		Name:      "assess",
		Usage:     "annotate every record of a file with its disclosure risk",
		ArgsUsage: "FILE...",
		UsageText: "microrisk assess FILE... --key AGE,SEX,REGION [--fraction F] [--out FILE]",
		Description: `Finds the minimal sample uniques of every record: the smallest sets of key
variables by which nobody else in the file is like it. Their number and sizes
make its SUDA score; with the sampling fraction, DIS estimates how likely a
unique match with the population is correct. The input's columns pass through
unchanged, and columns of risk are added:
   sample_frequency         records with the same key
   suda_score, suda_is      SUDA score, intermediate SUDA metric
   suda_dis_is              DIS-IS, needs the sampling fraction
   suda_msu_count           number of minimal sample uniques
   suda_msu_min_size        size of the smallest
With --measures suda,mc3 or mc3, models of the population tell how likely each
record is to be found; they need the sampling fraction:
   mc3_correct_match        chance that a member with this key is this record
   mc3_population_unique    chance that the key is unique in the population
   mc3_expected_frequency   expected number of members with the key
With --measures sap, attribution from released tables (it needs no --key):
   sap_N, sap_cell_N        chance that who knows N people recovers a zero
   sap_target_N             the same of the other people of the table
With --measures kanonymity, ldiversity or individual, what classes alone tell:
   kanonymity_violation     1 if fewer than --anonymity (3) records have the key
   ldiversity_distinct_S    different values of the --sensitive variable S
   individual_risk          Benedetti and Franconi's, from weights; --household
With --measures attribution, what is learnt where a match is right or wrong:
   attribution_S            chance that the value of --sensitive S is learnt
   attribution_prior_S      share of the value among all other records

FILE is a .parquet, .arrow or .csv file, a pattern or a folder; - is an Arrow
IPC stream on standard input. Rows are numbered from 0 within a file.`,
		Flags: slices.Concat(keyFlags(), samplingFlags(), []cli.Flag{
			&cli.StringSliceFlag{Name: "measures", Usage: measureUsage()},
			&cli.StringFlag{
				Name:    "out",
				Aliases: []string{"o"},
				Usage: "output file (for several inputs too, if their columns are identical), folder for one output an input, or - for an Arrow IPC stream (default: " +
					"NAME.risk.parquet in the current folder)",
			},
			&cli.StringFlag{Name: "summary", Usage: "write the summary document to `FILE`; - for standard output"},
			&cli.StringFlag{Name: "id", Usage: "name the riskiest records in the table by `COLUMN` too; its values go into no summary and no metadata"},
			&cli.StringFlag{
				Name: "footer",
				Usage: "what of the summary goes into the metadata of Parquet outputs: release (what is true of their rows and columns alone), full or none (default: " +
					"release)",
			},
			&cli.BoolFlag{Name: "keep-rows", Usage: "rows that --select does not choose stay in the output, without values of risk"},
			&cli.StringSliceFlag{
				Name:  "limit",
				Usage: "end with exit status 3 when a figure is above its limit, of no records, or of a part of them: `NAME=VALUE`, such as sample_uniques=1000 or dis=0.05; pu_su=0.1:modelled looks at the records alone that are not dropped",
			},
			&cli.BoolFlag{Name: "replace", Usage: "replace columns of the same names that the input has"},
			&cli.BoolFlag{Name: "print-spec", Usage: "write the spec that the flags make to standard output, and do nothing else"},
			limitProfileFlag(),
		}, reportFlags(), measureFlags(), eachFlags()),
		Action: func(ctx *cli.Context) error {
			spec, err := assessSpec(ctx)
			return c.executeOrPrint(ctx, spec, err)
		},
	}
}

// executeOrPrint runs the spec that flags make, or prints it if --print-spec asks for that: as far as it can be made, with what is wrong with
// it in comments.
func (c *console) executeOrPrint(ctx *cli.Context, spec *schemas.Spec, err error) error {
	if _, wrong := reportOf(ctx); wrong != nil && err == nil {
		return wrong
	}
	if err == nil && !ctx.Bool("print-spec") {
		return c.execute(ctx, spec, false)
	}
	if spec == nil || !ctx.Bool("print-spec") {
		return err
	}
	if err == nil {
		err = spec.Validate()
	}
	if err == nil {
		o, wrong := c.options(ctx)
		if wrong != nil {
			return wrong
		}
		spec = session.BesideOlder(ctx.Context, spec, o) // as the flags would run
	}
	return c.printSpec(spec.YAML(), err)
}

// execute runs a spec, and shows what came of it; with log lines of it too, if logged says so, where nobody looks on.
func (c *console) execute(ctx *cli.Context, spec *schemas.Spec, logged bool) error {
	if spec.Sink.Path == "-" && c.Screen {
		return usage("standard output is a terminal and the output is an Arrow stream; pipe it to a program, or name an output file")
	}
	o, err := c.options(ctx)
	if err != nil {
		return err
	}
	if err := overReleases(ctx, spec); err != nil {
		return err
	}
	shown, err := reportOf(ctx)
	if err != nil {
		return err
	}
	o.KeepOlder = c.flags
	outcome, err := pipeline.Run(ctx.Context, spec, o, shown.besides()...)
	c.finish()
	if err != nil {
		return err
	}
	spec = outcome.Spec
	if logged && !c.Terminal {
		for _, path := range outcome.Outputs {
			c.logger.Info("written", "output", path)
		}
		c.logger.Info("done", "rows", outcome.Summary.Rows, "written", outcome.Written, "seconds", outcome.Summary.Run.ElapsedSeconds,
			"peak_memory_bytes", outcome.Summary.Run.PeakMemoryBytes)
	}
	if err := c.show(spec, outcome, logged, shown.told()); err != nil {
		return err
	}
	if len(outcome.Breaches) > 0 {
		return &limitError{outcome.Breaches}
	}
	return nil
}

// show writes the table for people. A batch's standard error is a log, so that a table goes there for those only who look on.
func (c *console) show(spec *schemas.Spec, outcome *pipeline.Outcome, batch bool, more string) error {
	data := spec.Sink.Path == "-" || spec.Summary == "-"
	switch {
	case c.quiet || data && (c.logs == "json" || batch && !c.Terminal): // JSON logs are JSON throughout
		return nil
	case data:
		_, _ = c.Err.Write([]byte(reportText(spec, outcome) + more)) // standard output is for the data
		return nil
	}
	return c.print(reportText(spec, outcome) + more)
}

// assessSpec makes the spec that the flags of assess say. With an error it has what they say beside what is wrong.
func assessSpec(ctx *cli.Context) (*schemas.Spec, error) {
	profile, wrong := profileOf(ctx)
	if wrong != nil {
		return nil, wrong
	}
	measures, wrong := measuresOf(ctx, profile)
	note := func(err error) {
		if wrong == nil {
			wrong = err
		}
	}
	spec, err := keySpec(ctx)
	if note(err); spec == nil {
		return nil, wrong
	}
	spec.Sampling, err = samplingOf(ctx)
	note(err)
	if measures != nil {
		made, err := operatorsOf(ctx, measures) // as far as they can be made
		note(err)
		spec.Operators = append(spec.Operators, made...)
	}
	if ctx.Bool("keep-rows") {
		for _, o := range spec.Operators {
			if c, ok := o.Config.(*selection.Config); ok {
				c.KeepRows = true
			}
		}
		if len(ctx.StringSlice("select")) == 0 {
			note(usage("--keep-rows keeps the rows that --select does not choose; there is no --select"))
		}
	}
	spec.ID = ctx.String("id")
	spec.Summary, spec.Sink.Footer = ctx.String("summary"), ctx.String("footer")
	if spec.Sink.Path = ctx.String("out"); spec.Sink.Path == "" {
		spec.Sink.Path, err = defaultOutput(spec.Source.Path)
		note(err)
	}
	spec.Limits, err = limitsOf(ctx.StringSlice("limit"))
	note(err)
	spec.Profile = ctx.String("profile")
	return spec, wrong
}
