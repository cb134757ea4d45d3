package command

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/individual"
	"microrisk/operators/kanonymity"
	"microrisk/operators/mc3"
	"microrisk/operators/report"
	"microrisk/operators/suda"
	"microrisk/pipeline/evaluate"
	"microrisk/schemas"
)

// evaluateMeasures are the measures that can be judged.
var evaluateMeasures = []string{"suda", "mc3", "individual", "kanonymity"}

// evaluateCommand is the command that judges scores against a known population.
func (c *console) evaluateCommand() *cli.Command {
	return &cli.Command{
		Name:      "evaluate",
		Usage:     "judge risk scores against a population that is known",
		ArgsUsage: "FILE... | SPEC.yaml",
		UsageText: "microrisk evaluate FILE... --key AGE,SEX,... --fraction 0.01,0.05 --measures suda,mc3 [--out FOLDER]",
		Description: `FILE is taken as the whole population. Samples are drawn from it, each is scored
as if the rest were unknown, and the scores of its sample uniques are compared
with the truth: ROC curves, precision among the riskiest, Copas' logit rank plot
with its slope, calibration of E[1/F] and of P(F = 1), the bias of measures of
the file, and what intruders achieve. Figures are means over the samples, with
standard errors.
In place of FILE a spec, with operators set as it says: its source is the
population; its sampling (mc3 and individual do not go without one), sink, summary
and limits have no say. A higher score counts as riskier. Each stratum gives at
least one record. Intervals of calibration take all records as independent.
FOLDER gets evaluation.json, plots.parquet with the data of the plots, and the
plots as SVG and PNG; of more than five fractions, that of strategies only.
Files of other names that are there already stay.`,
		Flags: slices.Concat(keyFlags(), []cli.Flag{
			&cli.StringSliceFlag{Name: "fraction", Usage: "sampling fractions, separated by commas; FROM..TO:STEP for a range, such as 0.05..0.95:0.05"},
			&cli.IntFlag{Name: "repetitions", Value: evaluate.DefaultRepetitions, Usage: "samples of each fraction (default: 20)"},
			&cli.BoolFlag{Name: "bernoulli", Usage: "each record is drawn on its own; otherwise the size of a sample is fixed"},
			&cli.StringFlag{Name: "stratify", Usage: "draw samples within the values of `COLUMN`"},
			&cli.StringFlag{Name: "household", Usage: "draw whole households, by `COLUMN`"},
			&cli.StringSliceFlag{Name: "measures", Usage: "measures to judge, separated by commas: suda, mc3, individual, kanonymity (default: suda,mc3)"},
			&cli.StringSliceFlag{Name: "scores", Usage: "columns to judge, separated by commas (default: the scores of the measures)"},
			&cli.StringSliceFlag{Name: "top", Usage: "precision among so many of the riskiest, separated by commas (default: 10,50,100)"},
			&cli.IntFlag{Name: "top-classes", Value: evaluate.DefaultTopClasses, Usage: "classes that the Bayesian strategy considers (default: 10)"},
			&cli.IntFlag{Name: "bins", Usage: "bins of calibration (default: 20)"},
			&cli.StringFlag{Name: "score", Usage: "definition of the SUDA score: lattice, lattice-limited, factorial or elliot-limited (default: lattice)"},
			&cli.IntFlag{Name: "max-size", Usage: "look for minimal sample uniques of at most `N` variables; 0 for all"},
			&cli.StringFlag{Name: "combinations", Usage: "kanonymity: combinations of at most `N` key variables (default: 2)"},
			&cli.StringFlag{Name: "pictures", Usage: "kinds of pictures: svg, png, or svg,png", Value: "svg,png"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`FOLDER` for the results (default: evaluation)", Value: "evaluation"},
		}, evaluateFitFlags()),
		Action: func(ctx *cli.Context) error {
			s, err := c.evaluateSpec(ctx)
			if err != nil {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			e, err := evaluate.Run(ctx.Context, *s, o)
			c.finish()
			if err != nil || c.quiet {
				return err
			}
			return c.print(evaluationText(e, s.Out))
		},
	}
}

// evaluateFitFlags are those of mc3 that fit a model; none is read or saved.
func evaluateFitFlags() []cli.Flag {
	return slices.DeleteFunc(mc3FitFlags(), func(f cli.Flag) bool { return slices.Contains([]string{"model-in", "model-out"}, f.Names()[0]) })
}

func (c *console) evaluateSpec(ctx *cli.Context) (*evaluate.Spec, error) {
	s := &evaluate.Spec{
		Repetitions: ctx.Int("repetitions"),
		Bernoulli:   ctx.Bool("bernoulli"),
		Stratify:    ctx.String("stratify"),
		Household:   ctx.String("household"),
		TopClasses:  ctx.Int("top-classes"),
		Bins:        ctx.Int("bins"),
		Out:         ctx.String("out"),
	}
	switch {
	case s.Repetitions < 1:
		return nil, usage("--repetitions is %d; it must be at least 1", s.Repetitions)
	case s.TopClasses < 1:
		return nil, usage("--top-classes is %d; it must be at least 1", s.TopClasses)
	case ctx.IsSet("bins") && s.Bins < 1:
		return nil, usage("--bins is %d; it must be at least 1", s.Bins)
	case s.Out == "":
		return nil, usage("--out is empty; name a folder")
	}
	var err error
	if s.Fractions, err = fractionsOf(ctx.StringSlice("fraction")); err != nil {
		return nil, err
	}
	if s.Scores, err = words("scores", ctx.StringSlice("scores")); err != nil {
		return nil, err
	}
	if s.Pictures, err = words("pictures", []string{ctx.String("pictures")}); err != nil {
		return nil, err
	}
	tops, err := words("top", ctx.StringSlice("top"))
	if err != nil {
		return nil, err
	}
	for _, text := range tops {
		m, err := strconv.ParseInt(text, 10, 32)
		if err != nil || m < 1 {
			return nil, usage("--top is %q; it must be a whole number of at least 1", text)
		}
		s.Top = append(s.Top, int(m))
	}
	if ctx.Args().Len() == 1 && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(ctx.Args().First()))) {
		s.Spec, err = c.judgedSpec(ctx)
	} else {
		s.Spec, err = judgedFlags(ctx)
	}
	return s, err
}

// judgedSpec is the spec of a file.
func (c *console) judgedSpec(ctx *cli.Context) (*schemas.Spec, error) {
	for _, name := range append(append(flagNames(keyFlags()), flagNames(evaluateFitFlags())...), "measures", "score", "max-size", "combinations") {
		if ctx.IsSet(name) {
			return nil, usage("--%s is said by the spec; leave it out", name)
		}
	}
	spec, _, err := c.specOf(ctx)
	if err != nil {
		return nil, err
	}
	spec.Sampling, spec.Limits, spec.Summary, spec.Sink = nil, nil, "", schemas.Sink{}
	return spec, nil
}

// judgedFlags makes the spec that the flags say.
func judgedFlags(ctx *cli.Context) (*schemas.Spec, error) {
	spec, err := keySpec(ctx)
	if err != nil {
		return nil, err
	}
	measures, err := words("measures", ctx.StringSlice("measures"))
	if err != nil {
		return nil, err
	}
	if measures == nil {
		measures = []string{"suda", "mc3"}
	}
	for i, name := range measures {
		switch {
		case !slices.Contains(evaluateMeasures, name):
			return nil, usage("--measures: %q cannot be judged; there are %s", name, strings.Join(evaluateMeasures, ", "))
		case slices.Contains(measures[:i], name):
			return nil, usage("--measures names %s twice", name)
		}
	}
	for _, of := range []struct {
		measure string
		flags   []string
	}{{"suda", []string{"score", "max-size"}}, {"mc3", flagNames(evaluateFitFlags())}, {"kanonymity", []string{"combinations"}}} {
		for _, flag := range of.flags {
			if ctx.IsSet(flag) && !slices.Contains(measures, of.measure) {
				return nil, usage("--%s belongs to %s; add it: --measures %s", flag, of.measure, of.measure)
			}
		}
	}
	for _, name := range measures {
		var o schemas.Operator
		switch name {
		case "suda":
			o.Config = &suda.Config{Score: ctx.String("score"), MaxSize: ctx.Int("max-size"), Replace: true}
		case "mc3":
			var m *mc3.Config
			if m, err = mc3Of(ctx); err == nil {
				m.Replace = true // the file may be annotated already, and nothing of it is written
				o.Config = m
			}
		case "individual":
			o.Config = &individual.Config{Replace: true}
		case "kanonymity":
			var n int64
			n, err = wholeOf(ctx, "combinations", 1)
			o.Config = &kanonymity.Config{Combinations: cmp.Or(max(int(n), 0), 2), Replace: true}
		}
		if err != nil {
			return nil, err
		}
		spec.Operators = append(spec.Operators, o)
	}
	return spec, nil
}

// fractionsOf reads fractions and ranges of them.
func fractionsOf(list []string) ([]float64, error) {
	texts, err := words("fraction", list)
	if err != nil {
		return nil, err
	}
	var all []float64
	for _, text := range texts {
		from, to, ranged := strings.Cut(text, "..")
		if !ranged {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(v > 0 && v < 1) {
				return nil, usage("--fraction is %q; it must be a number above 0 and below 1", text)
			}
			all = append(all, v)
			continue
		}
		last, step, ok := strings.Cut(to, ":")
		var n [3]float64
		for i, t := range []string{from, last, step} {
			v, err := strconv.ParseFloat(t, 64)
			if err != nil || !ok || !(v > 0 && v < 1) {
				return nil, usage("--fraction %q is no range; write FROM..TO:STEP, such as 0.05..0.95:0.05", text)
			}
			n[i] = v
		}
		if n[1] < n[0] || (n[1]-n[0])/n[2] > 1000 {
			return nil, usage("--fraction %q has no fractions, or more than a thousand", text)
		}
		for i := 0; n[0]+float64(i)*n[2] <= n[1]+1e-9; i++ {
			v, err := strconv.ParseFloat(strconv.FormatFloat(n[0]+float64(i)*n[2], 'g', 9, 64), 64) // 0.15, not 0.15000000000000002
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	if all == nil {
		return nil, usage("name the sampling fraction: --fraction 0.01")
	}
	return all, nil
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
		text += "\n" + table("  ", rows)
	}
	if more := len(e.Fractions) - shownFractions; more > 0 {
		text += fmt.Sprintf(
			"\nand %s: see %s\n",
			report.Plural(int64(more), "fraction more", "fractions more"),
			report.Printable(filepath.Join(folder, "evaluation.json")),
		)
	}
	for _, w := range e.Warnings {
		text += "\nwarning: " + report.Printable(w) + "\n"
	}
	return text + "\nwritten to " + report.Printable(folder) + "\n"
}
