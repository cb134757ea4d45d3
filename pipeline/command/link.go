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
	"microrisk/schemas"
)

// linkCommand is the command that links two samples.
func (c *console) linkCommand() *cli.Command {
	return &cli.Command{
		Name:      "link",
		Usage:     "tell which records of two samples may be the same person",
		ArgsUsage: "A B",
		UsageText: "microrisk link A.parquet B.parquet [--key AGE,SEX,...] {--population-size N | --population FILE}",
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
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "key", Aliases: []string{"k"}, Usage: "overlap `VARIABLES`, separated by commas (default: all columns that both samples have)"},
			&cli.StringFlag{Name: "missing", Usage: "a missing value of the overlap: category (missing matches missing) or drop (default: category)"},
			&cli.StringSliceFlag{Name: "missing-codes", Usage: "`VALUES` that count as missing besides null, separated by commas; may be repeated"},
			&cli.StringSliceFlag{Name: "band", Usage: "link `COLUMN=WIDTH`, such as AGE=5, in bands; may be repeated"},
			&cli.BoolFlag{Name: "allow-empty", Usage: "let recodes name values that no row has"},
			&cli.StringSliceFlag{Name: "levels", Usage: "all categories of a variable, `VAR=a|b|c`: tight bounds then allow for no others; may be repeated"},
			&cli.StringFlag{Name: "population-size", Usage: "people of the population"},
			&cli.StringSliceFlag{Name: "population", Aliases: []string{"p"}, Usage: "`FILE` of the population, in place of its size: the ranking is compared with the truth"},
			&cli.StringFlag{Name: "recode-a", Usage: "`FILE` with recodes of the first sample"},
			&cli.StringFlag{Name: "recode-b", Usage: "`FILE` with recodes of the second sample"},
			&cli.StringFlag{Name: "recode-population", Usage: "`FILE` with recodes of the population"},
			&cli.StringSliceFlag{Name: "table", Usage: "`FILE` of a published table of the population, perturbed by --scheme; may be repeated"},
			&cli.StringSliceFlag{Name: "exact", Usage: "`FILE` of a published table that is not perturbed; may be repeated"},
			&cli.StringSliceFlag{Name: "perturbed", Usage: "published `TABLE` with a scheme of its own, FILE=SCHEME:base=3:tie=up (also probability, last, value); may be repeated"},
			&cli.StringSliceFlag{Name: "sampled", Usage: "`FILE` of a table counted from another sample; may be repeated"},
			&cli.StringFlag{Name: "bounds", Usage: "bounds on F: naive (table by table) or tight (what samples, tables and the population's size imply together)", Value: "naive"},
			&cli.BoolFlag{Name: "convolve", Usage: "published cells that are parts of a class, or sums of several, weigh in the chance too, all splits being equally likely"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`FILE` with one row a class that both samples have (default: links.parquet)", Value: "links.parquet"},
			&cli.StringFlag{Name: "pairs", Usage: "write every candidate pair to `FILE`"},
			&cli.Int64Flag{Name: "most-pairs", Usage: "write no more than `N` candidate pairs", Value: link.DefaultPairs},
		}, withoutSecret(perturbationFlags())),
		Action: func(ctx *cli.Context) error {
			s, err := linkSpec(ctx)
			if err != nil {
				return err
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			outcome, err := link.Run(ctx.Context, *s, o)
			c.finish()
			if err != nil || c.quiet {
				return err
			}
			return c.print(linkText(outcome, s))
		},
	}
}

func linkSpec(ctx *cli.Context) (*link.Spec, error) {
	if n := ctx.Args().Len(); n != 2 {
		return nil, usage("two samples are linked, not %d: microrisk link A B", n)
	}
	s := &link.Spec{A: []string{ctx.Args().Get(0)}, B: []string{ctx.Args().Get(1)}, Population: ctx.StringSlice("population"),
		Tables: ctx.StringSlice("table"), Exact: ctx.StringSlice("exact"), Sampled: ctx.StringSlice("sampled"), Bounds: ctx.String("bounds"),
		Convolve: ctx.Bool("convolve"), AllowEmpty: ctx.Bool("allow-empty"), Out: ctx.String("out"), Pairs: ctx.String("pairs"), MostPairs: ctx.Int64("most-pairs")}
	if len(s.Population) == 0 {
		s.Population = nil
	}
	var err error
	if s.Scheme, err = perturbationOf(ctx); err != nil {
		return nil, err
	}
	if text := ctx.String("population-size"); ctx.IsSet("population-size") {
		if s.PopulationSize, err = strconv.ParseInt(text, 10, 64); err != nil || s.PopulationSize < 1 {
			return nil, usage("--population-size is %q; it must be a whole number of at least 1", text)
		}
	}
	if ctx.IsSet("most-pairs") && s.Pairs == "" {
		return nil, usage("--most-pairs is of --pairs, which is not there")
	}
	if s.MostPairs < 1 {
		return nil, usage("--most-pairs is %d; it must be at least 1", s.MostPairs)
	}
	names, err := words("key", ctx.StringSlice("key"))
	if err != nil {
		return nil, err
	}
	if names != nil {
		s.Key = &schemas.Key{}
		for _, name := range names {
			s.Key.Variables = append(s.Key.Variables, schemas.KeyVariable{Name: name})
		}
	}
	if s.Missing = ctx.String("missing"); s.Missing != "" && s.Missing != schemas.MissingCategory && s.Missing != schemas.MissingDrop {
		return nil, usage("--missing is %q; it is category or drop", s.Missing)
	}
	if s.MissingCodes, err = words("missing-codes", ctx.StringSlice("missing-codes")); err != nil {
		return nil, err
	}
	if s.Perturbed, err = perturbedOf(ctx.StringSlice("perturbed")); err != nil {
		return nil, err
	}
	if s.Levels, err = levelsOf(ctx.StringSlice("levels")); err != nil {
		return nil, err
	}
	if s.Bands, err = bandsOf(ctx.StringSlice("band"), names); err != nil {
		return nil, err
	}
	for _, r := range []struct {
		flag string
		to   *[]recode.Column
	}{{"recode-a", &s.RecodeA}, {"recode-b", &s.RecodeB}, {"recode-population", &s.RecodeP}} {
		name := ctx.String(r.flag)
		if name == "" {
			continue
		}
		text, err := readNamed("recodes", name)
		if err != nil {
			return nil, err
		}
		if *r.to, err = decodeRecodes(name, text); err != nil {
			return nil, err
		}
		s.Beside = append(s.Beside, name)
	}
	return s, nil
}

// levelsOf reads declared categories, VAR=a|b|c.
func levelsOf(list []string) (levels []schemas.KeyVariable, err error) {
	for _, text := range list {
		name, categories, ok := strings.Cut(text, "=")
		if !ok || name == "" || categories == "" {
			return nil, usage("--levels is %q; it is VARIABLE=a|b|c", text)
		}
		levels = append(levels, schemas.KeyVariable{Name: name, Levels: strings.Split(categories, "|")})
	}
	return levels, nil
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
			rows = append(rows, []report.Cell{report.Left("  rank correlation"), report.Right(strconv.FormatFloat(*o.RankCorrelation, 'f', 3, 64)), report.Left("of the chance with the true 1/F")})
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
				text += fmt.Sprintf("  only sample %s has %s = %s (%s)\n", only.which, report.Printable(u.Variable), report.Shorten(report.Printable(strings.Join(quoted(only.list), ", ")), 40),
					report.Plural(only.records, "record", "records"))
			}
		}
	}
	if o.Unique > 0 {
		head := []report.Cell{report.Right("rank"), report.Right("row of A"), report.Right("row of B"), report.Right("least F"), report.Right("most F"), report.Right("E[F]"), report.Right("correct")}
		if o.Known {
			head = append(head, report.Right("true F"))
		}
		lines := [][]report.Cell{head}
		for _, c := range o.Classes[:min(o.Unique, shownMatches)] {
			line := []report.Cell{report.Right(report.Count(c.Rank)), report.Right(report.Count(c.FirstA.Row)), report.Right(report.Count(c.FirstB.Row)), report.Right(report.Count(c.Low)), report.Right(report.Count(c.High)),
				report.Right(report.Figure(c.Mean)), report.Right(chance(c.Correct))}
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
