package command

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/report"
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
plots as SVG and PNG; of more than five fractions, that of strategies only. With
--by-domain it gets domains.parquet, too. Files of other names that are there
already stay.`,
		Flags: slices.Concat(judgedFlags(), fieldFlags(new(evaluate.Spec).Fields()), documentFlags()),
		Action: func(ctx *cli.Context) error {
			s := &evaluate.Spec{}
			places, done, err := c.document(ctx, s, func() error { return c.sayEvaluate(ctx, s) })
			if done {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			e, err := evaluate.Run(ctx.Context, *s, o)
			c.finish()
			if err != nil || c.quiet {
				return places.Locate(err)
			}
			return c.print(evaluationText(e, s.Out))
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

// mean writes a mean with its standard error, and of how many samples it is if not of all.
func mean(f evaluate.MeanFigure, all int) string {
	if f.Mean == nil {
		return "-"
	}
	text := strconv.FormatFloat(*f.Mean, 'f', 3, 64)
	if f.SE != nil {
		text += " ± " + strconv.FormatFloat(*f.SE, 'f', 3, 64)
	}
	if f.Samples < all {
		text += fmt.Sprintf(" (%d of %d)", f.Samples, all)
	}
	return text
}

// shownPairs is how many pairs of scores are compared on the terminal.
const shownPairs = 6

// differences tell which of two scores is the better one, sample by sample.
func differences(list []evaluate.ScorePair, all int) string {
	if len(list) == 0 {
		return ""
	}
	rows := [][]report.Cell{{report.Left("difference, sample by sample"), report.Left("AUC"), report.Left("slope")}}
	for _, c := range list[:min(len(list), shownPairs)] {
		rows = append(rows, []report.Cell{report.Left(c.First + " - " + c.Second), report.Left(mean(c.AUC, all)), report.Left(mean(c.Slope, all))})
	}
	text := "\n" + table("  ", rows)
	if more := len(list) - shownPairs; more > 0 {
		text += fmt.Sprintf("  and %s\n", report.Plural(int64(more), "pair more", "pairs more"))
	}
	return text
}

// shownDomains is how many domains the terminal tells of.
const shownDomains = 8

// judgedDomains compares a score with the truth in the domains with the most population uniques: of those that estimate a chance the one that
// tells population uniques best.
func judgedDomains(e *evaluate.Evaluation, f evaluate.FractionSummary) string {
	if len(f.Domains) == 0 {
		return ""
	}
	score, best := 0, -1.0
	for k, s := range f.Domains[0].Scores {
		if auc := f.Scores[k].AUC.Mean; s.Truth.Mean != nil && auc != nil && *auc > best {
			score, best = k, *auc
		}
	}
	rows := [][]report.Cell{{report.Left("by " + strings.Join(e.By, ", ")), report.Right("records"), report.Right("sample uniques"),
		report.Right("population uniques"), report.Left(f.Domains[0].Scores[score].Name), report.Left("true"), report.Left("AUC")}}
	list := slices.Clone(f.Domains)
	slices.SortStableFunc(list, func(a, b evaluate.DomainSummary) int { return cmp.Compare(b.PopulationUniques, a.PopulationUniques) })
	for _, d := range list[:min(len(list), shownDomains)] {
		var values []string
		for _, v := range d.Values {
			values = append(values, report.Value(v))
		}
		s := d.Scores[score]
		rows = append(rows, []report.Cell{report.Left("  " + strings.Join(values, ", ")), report.Right(report.Figure(d.Records)),
			report.Right(report.Figure(d.SampleUniques)), report.Right(report.Figure(d.PopulationUniques)), report.Left(mean(s.Estimate, e.Repetitions)),
			report.Left(mean(s.Truth, e.Repetitions)), report.Left(mean(s.AUC, e.Repetitions))})
	}
	text := "\n" + table("  ", rows)
	if more := len(list) - shownDomains; more > 0 {
		text += fmt.Sprintf("    and %s more\n", report.Count(int64(more)))
	}
	return text
}

// shownFractions is how many sampling fractions the terminal tells of in full.
const shownFractions = 3

func evaluationText(e *evaluate.Evaluation, folder string) string {
	text := fmt.Sprintf("%s\n\n", inputName(e.Input, screen)) + table("  ", [][]report.Cell{
		{report.Left("population"), report.Right(report.Count(e.Rows)), report.Left("people")},
		{report.Left("  classes"), report.Right(report.Count(e.Classes)), report.Left(fmt.Sprintf("by %d key variables", len(e.Key)))},
		{report.Left("  population uniques"), report.Right(report.Count(e.PopulationUniques)), report.Left(report.PartOf(e.PopulationUniques, e.Rows))},
		{report.Left("samples"), report.Right(report.Count(int64(e.Repetitions * len(e.Fractions)))), report.Left(e.Design)},
	})
	for _, f := range e.Fractions[:min(len(e.Fractions), shownFractions)] {
		text += fmt.Sprintf(
			"\n%s of the population: %s records, %s sample uniques; mean ± standard error\n",
			report.Percent(100*f.Fraction),
			report.Figure(f.Records),
			report.Figure(f.SampleUniques),
		)
		head := []report.Cell{report.Left("score"), report.Left("AUC"), report.Left("slope")}
		if len(f.Scores) > 0 && len(f.Scores[0].Precision) > 0 {
			head = append(head, report.Left(fmt.Sprintf("precision of %d", f.Scores[0].Precision[0].Top)))
		}
		rows := [][]report.Cell{head}
		for _, s := range f.Scores {
			row := []report.Cell{report.Left(s.Name), report.Left(mean(s.AUC, e.Repetitions)), report.Left(mean(s.Slope, e.Repetitions))}
			if len(s.Precision) > 0 {
				row = append(row, report.Left(mean(s.Precision[0].MeanFigure, e.Repetitions)))
			}
			rows = append(rows, row)
		}
		text += table("  ", rows) + differences(f.Comparisons, e.Repetitions)
		if len(f.FileMeasures) > 0 {
			rows = [][]report.Cell{{report.Left("measure of the file"), report.Left("estimated"), report.Left("true"), report.Left("bias")}}
			for _, m := range f.FileMeasures {
				rows = append(
					rows,
					[]report.Cell{
						report.Left(m.Operator + " " + strings.TrimPrefix(m.Measure, "expected_")),
						report.Left(mean(m.Estimate, e.Repetitions)),
						report.Left(mean(m.Truth, e.Repetitions)),
						report.Left(mean(m.Bias, e.Repetitions)),
					},
				)
			}
			text += "\n" + table("  ", rows)
		}
		rows = [][]report.Cell{{report.Left("strategy"), report.Left("correct match")}}
		for _, s := range f.Strategies {
			rows = append(rows, []report.Cell{report.Left(s.Name), report.Left(mean(s.Correct, e.Repetitions))})
		}
		text += "\n" + table("  ", rows) + judgedDomains(e, f)
	}
	if more := len(e.Fractions) - shownFractions; more > 0 {
		text += "\nand " + report.Plural(int64(more), "fraction more", "fractions more")
		if folder != "" {
			text += ": see " + report.Printable(filepath.Join(folder, "evaluation.json"))
		}
		text += "\n"
	}
	for _, w := range e.Warnings {
		text += "\nwarning: " + report.Printable(w) + "\n"
	}
	if folder == "" {
		return text
	}
	return text + "\nwritten to " + report.Printable(folder) + "\n"
}
