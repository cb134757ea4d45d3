package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/recode"
	"microrisk/operators/report"
	"microrisk/pipeline/link"
	"microrisk/pipeline/session"
)

// linkCommand is the command that links two samples.
func (c *console) linkCommand() *cli.Command {
	return &cli.Command{
		Name:      "link",
		Usage:     "tell which records of two samples may be the same person",
		ArgsUsage: "A B",
		UsageText: "microrisk link A.parquet B.parquet [--key AGE,SEX,...] {--population-size N | --population FILE}\nmicrorisk link --spec FILE.yaml",
		Description: `The samples are linked by the key, the variables that both have. A class with one
record in each is a unique match: with F people of the class in the population
the two are one person with chance 1/F. What is known of F are the sizes of the
samples and of the population, and the published tables of it that an intruder
also has: --table (perturbed by --scheme), --exact, and --sampled. Unique matches
are ranked by the chance of a correct match; other classes have it for each of
their candidate pairs. With --population the ranking is compared with the truth.

Where the files code a variable differently, --recode-b FILE (or --recode-a,
--recode-population) makes them alike; FILE has lines such as
   SEX: {replace: true, map: {1: M, 2: F}}
   AGE5: {from: AGE, width: 5}
Categories that only one sample has are reported.`,
		Flags: append(fieldFlags(new(link.Spec).Fields()), documentFlags()...),
		Action: func(ctx *cli.Context) error {
			s := &link.Spec{}
			places, done, err := c.document(ctx, s, func() error { return c.sayLink(ctx, s) })
			if done {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			outcome, err := link.Run(ctx.Context, *s, o)
			c.finish()
			if err != nil || c.quiet {
				return places.Locate(err)
			}
			return c.print(linkText(outcome, s))
		},
	}
}

// sayLink puts what the command line says into the spec.
func (c *console) sayLink(ctx *cli.Context, s *link.Spec) error {
	switch n := ctx.Args().Len(); {
	case n == 2:
		s.A, s.B = []string{ctx.Args().Get(0)}, []string{ctx.Args().Get(1)}
	case n > 0 || ctx.String("spec") == "":
		return usage("two samples are linked, not %d: microrisk link A B", n)
	}
	t := s.Fields()
	ownFlag(t, "bands", func(texts []string) (err error) {
		var names []string
		if s.Key != nil {
			for _, v := range s.Key.Variables {
				names = append(names, v.Name)
			}
		}
		s.Bands, err = bandsOf(texts, names)
		return err
	})
	for field, to := range map[string]*[]recode.Column{"recode_a": &s.RecodeA, "recode_b": &s.RecodeB, "recode_population": &s.RecodeP} {
		ownFlag(t, field, func(texts []string) error { return c.sayRecodes(to, texts[0]) })
	}
	return sayFields(ctx, t)
}

// sayRecodes reads a file of recodes, which no output may take the place of.
func (c *console) sayRecodes(to *[]recode.Column, name string) error {
	text, err := readNamed("recodes", name)
	if err != nil {
		return err
	}
	c.reads = append(c.reads, session.Reading{What: "the file of recodes", Path: name})
	*to, err = decodeRecodes(name, text)
	return err
}

// shownMatches is how many unique matches the terminal lists.
const shownMatches = 10

func linkText(o *link.Outcome, s *link.Spec) string {
	rows := [][]report.Cell{
		{report.Left("population"), report.Right(report.Count(o.People)), report.Left("people")},
		{report.Left("sample A"), report.Right(report.Count(o.RecordsA)), report.Left(report.Plural(o.ClassesA, "class", "classes"))},
		{report.Left("sample B"), report.Right(report.Count(o.RecordsB)), report.Left(report.Plural(o.ClassesB, "class", "classes"))},
		{report.Left("in both"), report.Right(report.Count(int64(len(o.Classes)))), report.Left("classes")},
		{report.Left("candidate pairs"), report.Right(report.Figure(o.Pairs)), report.Left("expected correct: " + report.Figure(o.ExpectedPairs))},
		{report.Left("unique matches"), report.Right(report.Count(int64(o.Unique))), report.Left("expected correct: " + report.Figure(o.ExpectedUnique))},
	}
	if o.Known {
		rows = append(rows, []report.Cell{report.Left("  truly"), report.Right(""), report.Left("expected correct: " + report.Figure(o.KnownUnique))})
		if o.RankCorrelation != nil {
			rows = append(
				rows,
				[]report.Cell{
					report.Left("  rank correlation"),
					report.Right(strconv.FormatFloat(*o.RankCorrelation, 'f', 3, 64)),
					report.Left("of the chance with the true 1/F"),
				},
			)
		}
	}
	text := wrap("linked by "+report.Printable(strings.Join(o.Overlap, ", ")), 2) + "\n" + table("  ", rows)
	for _, u := range o.Unmatched {
		for _, only := range []struct {
			which   string
			list    []string
			records int64
		}{{"A", u.OnlyA, u.RecordsA}, {"B", u.OnlyB, u.RecordsB}} {
			if len(only.list) > 0 {
				text += fmt.Sprintf(
					"  only sample %s has %s = %s (%s)\n",
					only.which,
					report.Printable(u.Variable),
					report.Shorten(report.Printable(strings.Join(quoted(only.list), ", ")), 40),
					report.Plural(only.records, "record", "records"),
				)
			}
		}
	}
	if o.Unique > 0 {
		head := []report.Cell{
			report.Right("rank"),
			report.Right("row of A"),
			report.Right("row of B"),
			report.Right("least F"),
			report.Right("most F"),
			report.Right("E[F]"),
			report.Right("correct"),
		}
		if o.Known {
			head = append(head, report.Right("true F"))
		}
		lines := [][]report.Cell{head}
		for _, c := range o.Classes[:min(o.Unique, shownMatches)] {
			line := []report.Cell{
				report.Right(report.Count(c.Rank)),
				report.Right(report.Count(c.FirstA.Row)),
				report.Right(report.Count(c.FirstB.Row)),
				report.Right(report.Count(c.Low)),
				report.Right(report.Count(c.High)),
				report.Right(report.Figure(c.Mean)),
				report.Right(chance(c.Correct)),
			}
			if o.Known {
				line = append(line, report.Right(report.Count(c.F)))
			}
			lines = append(lines, line)
		}
		text += "\nunique matches, the likeliest first; rows are numbered from 0\n" + table("  ", lines)
		if more := o.Unique - shownMatches; more > 0 {
			text += fmt.Sprintf("  and %s more\n", report.Count(int64(more)))
		}
	}
	for _, w := range o.Warnings {
		text += "\nwarning: " + report.Printable(w) + "\n"
	}
	for _, path := range []string{s.Out, s.Pairs} {
		if path != "" {
			text += "\nwritten to " + report.Printable(path)
		}
	}
	return text + "\n"
}

// quoted puts quotes around an empty category.
func quoted(list []string) []string {
	out := slices.Clone(list)
	for i, s := range out {
		if s == "" {
			out[i] = `""`
		}
	}
	return out
}
