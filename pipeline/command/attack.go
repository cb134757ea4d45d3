package command

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	strategy "microrisk/engine/attack"
	"microrisk/operators/report"
	"microrisk/pipeline/attack"
	"microrisk/pipeline/divergence"
	"microrisk/schemas"
)

// samplingFlags say how large the population is.
func samplingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "fraction", Usage: "sampling fraction: records of the sample / size of the population, above 0 and at most 1"},
		&cli.StringFlag{Name: "population-size", Usage: "size of the population of the records that are chosen and not dropped, in place of --fraction"},
		&cli.StringFlag{Name: "weight", Usage: "`COLUMN` of sampling weights, in place of --fraction"},
		&cli.StringFlag{Name: "zero-weight", Usage: "a --weight of 0 or missing: drop leaves such records out (default: an error)"},
	}
}

// attackCommand is the command that compares strategies of an intruder.
func (c *console) attackCommand() *cli.Command {
	return &cli.Command{
		Name:      "attack",
		Usage:     "compare what an intruder achieves, and what the search costs",
		UsageText: "microrisk attack --sample FILE [--population FILE | --fraction F] --key AGE,SEX,...\nmicrorisk attack --spec FILE.yaml",
		Description: `An intruder matches records of a released sample to people, by the key, in classes
that a strategy chooses, and goes from a record to the population or from a
person to the sample. For each strategy: the chance that a match is correct, the
number of people who are expected to be looked at until there is a match, drawn
with and without replacement, and the chance divided by the cost.
With --population the figures are known; with --fraction they are estimated from
models of the population (as assess --measures mc3 fits them); with --population
both are shown, unless --known-only. The Bayesian strategy considers the classes
that the models rank first: its risk-cost frontier is shown by their number. With
--error the intruder's values of a person are not always those of the file. Of the
sample, its key, rows and sampling a --spec says all.`,
		Flags: attackFlags(),
		Action: func(ctx *cli.Context) error {
			s := &attack.Spec{}
			places, done, err := c.document(ctx, s, func() error { return sayAttack(ctx, s) })
			if done {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			outcome, err := attack.Run(ctx.Context, *s, o)
			c.finish()
			if err != nil || c.quiet {
				return places.Locate(err)
			}
			return c.print(attackText(outcome, s))
		},
	}
}

// sampleFlags are those of the sample, of which a spec says all if there is one.
func sampleFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringSliceFlag{Name: "sample", Aliases: []string{"s"}, Usage: "`FILE` of the released sample; may be repeated"},
	}, keyFlags(), samplingFlags())
}

// attackFlags are the flags of attack: the sample and the population come first.
func attackFlags() []cli.Flag {
	sample, fields := sampleFlags(), fieldFlags(new(attack.Spec).Fields())
	return slices.Concat(sample[:1], fields[:1], sample[1:], fields[1:], documentFlags())
}

// sayAttack puts what the command line says into the spec.
func sayAttack(ctx *cli.Context, s *attack.Spec) (err error) {
	if ctx.Args().Present() {
		return usage("%s is neither the sample nor the population; say which: --sample FILE --population FILE", ctx.Args().First())
	}
	if ctx.String("spec") != "" {
		if err := saidBySpec(ctx, sampleFlags()); err != nil {
			return err
		}
	} else if s.Sample, err = attackedSample(ctx); err != nil {
		return err
	}
	if err := sayFields(ctx, s.Fields()); err != nil {
		return err
	}
	if s.KnownOnly {
		t := s.Fields()
		for _, f := range (schemas.Table{Fields: []schemas.Field{*t.Field("model"), *t.Field("ranking")}}).Flags() {
			if ctx.IsSet(f.Flag.Name) {
				return usage("--%s is of a model, and --known-only fits none; leave one of them out", f.Flag.Name)
			}
		}
	}
	return nil
}

// attackedSample is the sample that the flags say.
func attackedSample(ctx *cli.Context) (*schemas.Spec, error) {
	files := ctx.StringSlice("sample")
	if len(files) == 0 {
		return nil, usage("name the sample: --sample FILE")
	}
	spec, err := keySpecOf(ctx, files)
	if err == nil {
		spec.Sampling, err = samplingOf(ctx)
	}
	return spec, err
}

func attackText(o *attack.Outcome, s *attack.Spec) string {
	path := s.Out
	text := fmt.Sprintf("%s of a population of %s\n", report.Plural(o.Records, "record", "records"), report.Count(int64(math.Round(o.People))))
	if f := o.Known; f != nil {
		text += fmt.Sprintf(
			"%s, %s of them unique in the population\n",
			report.Plural(f.SampleUniques, "sample unique", "sample uniques"),
			report.Count(f.UniqueInBoth),
		)
	}
	if len(s.Errors) > 0 {
		text += wrap("values of a person differ from the file's: "+report.Printable(divergence.Text(s.Errors)), 0) +
			fmt.Sprintf("\nthe whole key agrees with a chance of %s\n", chance(o.Agree))
	}
	if o.Known != nil {
		text += "\nstrategies, as the population is known\n" + table("  ", strategyRows(o.Strategies, func(r attack.Row) *strategy.Result { return r.Known }))
	}
	if o.Expected != nil && o.Records > 0 {
		text += "\nstrategies, as models of the population estimate them\n" +
			table("  ", strategyRows(o.Strategies, func(r attack.Row) *strategy.Result { return r.Estimated }))
	}
	text += "  s to p: from a record of the sample to the population; p to s: from a person to\n" +
		"  the sample; cost: people who are expected to be looked at until there is a\n" +
		"  match, drawn with replacement; without: the same without replacement\n"
	if len(o.Frontier) > 0 {
		text += fmt.Sprintf("\nBayesian strategy: the best classes by %s\n", rankingText(o.Frontier[0].Ranking)) +
			table("  ", frontierRows(o.Frontier, o.Known != nil)) + "  cost, without: as above, estimated, from person to sample\n"
	}
	if len(o.Affordable) > 0 {
		text += "\nas many classes as the cost allows\n" + table("  ", frontierRows(o.Affordable, o.Known != nil))
	}
	if len(o.Chosen) > 0 {
		for _, side := range []struct {
			words string
			of    func(attack.Row) *strategy.Result
		}{{"as the population is known", func(r attack.Row) *strategy.Result { return r.Known }},
			{"as models estimate it", func(r attack.Row) *strategy.Result { return r.Estimated }}} {
			if side.of(o.Chosen[0]) != nil {
				text += "\nthe chosen classes, " + side.words + "\n" + table("  ", strategyRows(o.Chosen, side.of))
			}
		}
	}
	if path != "" {
		text += "\nwritten to " + report.Printable(path) + "\n"
	}
	return text
}

func rankingText(by string) string {
	if by == string(strategy.ByExpected) {
		return "the fewest expected people, E[F]"
	}
	return "the chance of a correct match, E[1/F]"
}

// strategyRows are the rows of the table of strategies 1 to 7: chance and cost, as of says.
func strategyRows(list []attack.Row, of func(attack.Row) *strategy.Result) [][]report.Cell {
	rows := [][]report.Cell{
		{report.Left("considers"), report.Left("way"), report.Right("classes"), report.Right("correct match"), report.Right("cost"), report.Right("without")},
	}
	for _, a := range list {
		name := a.Strategy.Considers
		if a.Strategy.Number > 0 {
			name = fmt.Sprintf("%d %s", a.Strategy.Number, a.Strategy.Considers)
		}
		if a.Strategy.Name != "" {
			name += " (" + a.Strategy.Name + ")"
		}
		way := "s to p"
		if a.Strategy.Direction == strategy.PopulationToSample {
			way = "p to s"
		}
		r := of(a)
		rows = append(
			rows,
			[]report.Cell{
				report.Left(name),
				report.Left(way),
				report.Right(report.Count(r.Classes)),
				report.Right(chance(r.Correct)),
				report.Right(cost(r.CostWith)),
				report.Right(cost(r.CostWithout)),
			},
		)
	}
	return rows
}

// frontierRows are the rows of a frontier, which has two attacks for each number of classes, from person to sample and back.
func frontierRows(list []attack.Row, known bool) [][]report.Cell {
	head := []report.Cell{report.Right("classes")}
	for _, way := range []string{"p to s", "s to p"} {
		if known {
			head = append(head, report.Right(way+": true"), report.Right("estimate"))
		} else {
			head = append(head, report.Right(way+": estimate"))
		}
		if way == "p to s" {
			head = append(head, report.Right("cost"), report.Right("without"))
		}
	}
	rows := [][]report.Cell{head}
	for i := 0; i+1 < len(list); i += 2 {
		row := []report.Cell{report.Right(report.Count(list[i].Classes))}
		for k, a := range list[i : i+2] {
			if known {
				row = append(row, report.Right(chance(a.Known.Correct)))
			}
			row = append(row, report.Right(chance(a.Estimated.Correct)))
			if k == 0 {
				row = append(row, report.Right(cost(a.Estimated.CostWith)), report.Right(cost(a.Estimated.CostWithout)))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// chance writes a probability: with four digits after the point, small ones with four that are not 0.
func chance(x float64) string {
	if x > 0 && x < .001 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', 4, 64)
}

// cost writes an expected number of people.
func cost(x float64) string {
	if x < 10 {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return report.Count(int64(math.Round(x)))
}
