package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/pipeline"
	"microrisk/pipeline/evaluate"
	"microrisk/schemas"
)

// evaluateCommand is the command that judges scores against a known population.
func (c *console) evaluateCommand() *cli.Command {
	return &cli.Command{
		Name:      "evaluate",
		Usage:     "judge risk scores against a population that is known",
		ArgsUsage: "FILE... | SPEC.yaml",
		UsageText: "microrisk evaluate FILE... --key AGE,SEX,... --fraction 0.01,0.05 --measures suda,mc3 [--out FOLDER]\n" +
			"microrisk evaluate SPEC.yaml --fraction 0.01,0.05 [--out FOLDER]\nmicrorisk evaluate --spec FILE.yaml",
		Description: `FILE is taken as the whole population. Samples are drawn from it, each is scored
as if the rest were unknown, and the scores of its sample uniques are compared
with the truth: ROC curves, precision among the riskiest, Copas' logit rank plot
with its slope, calibration of E[1/F] and of P(F = 1), the bias of measures of
the file, and what intruders achieve. Figures are means over the samples, with
standard errors.

In place of FILE the spec of a run (SPEC.yaml), with operators set as it says: its
source is the population; its sampling (mc3 and individual do not go without one),
sink, summary and limits have no say. --spec reads a spec of the evaluation itself,
which says the samples too; --print-spec makes either into one. A higher score
counts as riskier. Each stratum gives at least one record. Intervals of
calibration take all records as independent.

FOLDER gets evaluation.json, plots.parquet with the data of the plots, and the
plots as SVG and PNG; of more than five fractions, those of strategies only: what
they achieve by sampling fraction, and by what they cost. Of the models of the
first sample there are posterior densities beside the truth, the most probable
graph (SVG, and DOT for Graphviz), and the traces of chains. How models do on half
of each sample, which can be known without a population, is drawn in the plot of
calibration. With --by-domain it gets domains.parquet, too. Files of other names that are there
already stay.`,
		Flags: slices.Concat(judgedFlags(), fieldFlags(new(evaluate.Spec).Fields()), reportFlags()[:2], documentFlags()),
		Action: func(ctx *cli.Context) error {
			shown, err := reportOf(ctx)
			if err != nil {
				return err
			}
			s := &evaluate.Spec{}
			places, done, err := c.document(ctx, s, func() error { return c.sayEvaluate(ctx, s) })
			if done {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			o.Writes = shown.writes()
			e, err := evaluate.Run(ctx.Context, *s, o)
			c.finish()
			if err == nil && shown != nil {
				err = shown.write(ctx, o, e.Input, e.Page(shown.reader, pipeline.Version()))
			}
			if err != nil || c.quiet {
				return places.Locate(err)
			}
			return c.print(evaluationText(e, s.Out) + shown.told())
		},
	}
}

// judgedFlags are those of what is judged, of which a spec says all if there is one.
func judgedFlags() []cli.Flag {
	var tables []schemas.Table
	for _, name := range evaluate.JudgedNames() {
		tables = append(tables, judgedFields(schemas.KindNamed(name).New()))
	}
	usage := "measures to judge, separated by commas: " + strings.Join(evaluate.JudgedNames(), ", ") + " (default: suda,mc3)"
	return slices.Concat(keyFlags(), []cli.Flag{&cli.StringSliceFlag{Name: "measures", Usage: usage}}, fieldFlags(tables...))
}

// judgedFields is the field table of an operator without the flags that evaluate does not have: those that change no score, and those
// whose names are evaluate's own.
func judgedFields(c schemas.Config) schemas.Table {
	own := new(evaluate.Spec).Fields().Flags()
	t := c.Fields()
	t.Fields = slices.DeleteFunc(t.Fields, func(f schemas.Field) bool {
		return f.Flag != nil && (f.Flag.Aside || slices.ContainsFunc(own, func(o schemas.Field) bool { return o.Flag.Name == f.Flag.Name }))
	})
	return t
}

// sayEvaluate puts what the command line says into the spec.
func (c *console) sayEvaluate(ctx *cli.Context, s *evaluate.Spec) (err error) {
	switch {
	case ctx.String("spec") != "" && ctx.Args().Present():
		return usage("--spec says what is judged, %s too; leave one of them out", ctx.Args().First())
	case ctx.String("spec") != "":
		err = saidBySpec(ctx, judgedFlags())
	case namesSpec(ctx):
		s.Spec, err = c.judgedSpec(ctx)
	default:
		s.Spec, err = judgedByFlags(ctx)
	}
	if err != nil {
		return err
	}
	if ctx.IsSet("out") && ctx.String("out") == "" {
		return usage("--out is empty; name a folder")
	}
	return sayFields(ctx, s.Fields())
}

// saidBySpec refuses flags of what a spec says.
func saidBySpec(ctx *cli.Context, flags []cli.Flag) error {
	for _, name := range flagNames(flags) {
		if ctx.IsSet(name) {
			return usage("--%s is said by the spec; leave it out", name)
		}
	}
	return nil
}

// judgedSpec is what is judged of the spec of a run: how it is sampled, and what comes of it, have no say.
func (c *console) judgedSpec(ctx *cli.Context) (*schemas.Spec, error) {
	if err := saidBySpec(ctx, judgedFlags()); err != nil {
		return nil, err
	}
	spec, _, err := c.specOf(ctx)
	if err != nil {
		return nil, err
	}
	return &schemas.Spec{Source: spec.Source, Key: spec.Key, Operators: spec.Operators, AllowEmpty: spec.AllowEmpty}, nil
}

// judgedByFlags makes the spec of what is judged.
func judgedByFlags(ctx *cli.Context) (*schemas.Spec, error) {
	spec, err := keySpec(ctx)
	if err != nil {
		return spec, err
	}
	measures, err := words("measures", ctx.StringSlice("measures"))
	if err != nil {
		return spec, err
	}
	if measures == nil {
		measures = []string{"suda", "mc3"}
	}
	for i, name := range measures {
		switch known := evaluate.JudgedNames(); {
		case !slices.Contains(known, name):
			return spec, usage("--measures: %q cannot be judged; there are %s", name, strings.Join(known, ", "))
		case slices.Contains(measures[:i], name):
			return spec, usage("--measures names %s twice", name)
		}
	}
	if err := flagsBelong(ctx, measures, judgedFields); err != nil {
		return spec, err
	}
	for _, name := range measures {
		o := schemas.Operator{Config: schemas.KindNamed(name).New()}
		if err := sayFields(ctx, judgedFields(o.Config)); err != nil {
			return spec, err
		}
		if r, ok := o.Config.(schemas.Reticent); ok {
			r.AskScores()
		}
		_, _, replace := o.Writer().Common()
		*replace = true // the file may be annotated already, and nothing of it is written
		spec.Operators = append(spec.Operators, o)
	}
	return spec, nil
}
