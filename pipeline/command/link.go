package command

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/engine/linkage"
	"microrisk/operators/recode"
	"microrisk/operators/report"
	"microrisk/pipeline/link"
	"microrisk/pipeline/session"
)

// linkCommand is the command that links two samples.
func (c *console) linkCommand() *cli.Command {
	return &cli.Command{
		Name:      "link",
		Usage:     "tell which records of two samples or more may be the same person",
		ArgsUsage: "A B [C ...]",
		UsageText: "microrisk link A.parquet B.parquet [C.parquet ...] [--key AGE,SEX,...] {--population-size N | --population FILE}\nmicrorisk link --spec FILE.yaml",
		Description: `The samples are linked by the key, the variables that all have. A class with one
record in each of two samples is a unique match: with F people of the class in the
population the two are one person with chance 1/F. What is known of F are a model
of the population, fitted to all samples together (--prior flat takes none), the
sizes of the samples and of the population, and the published tables of it that an
intruder also has: --table (perturbed by --scheme), --exact, and --sampled. Unique
matches are ranked by the chance of a correct match, and how many of them are
expected to be right is told with an interval of 95 %; other classes have the
chance for each of their candidate pairs. Of several samples every pair of two is
linked, and what all of them have of a class tells of its F. Where the values of a
person differ between two samples, --error VAR=RATE says how often, or --errors learn
has the pairs of records tell. The file of matches
lists the probabilities of F, lower first, in the column posterior. With
--population the ranking is compared with the truth.

Where the files code a variable differently, --recode-b FILE (or --recode-a,
--recode-population) makes them alike; FILE has lines such as
   SEX: {replace: true, map: {1: M, 2: F}}
   AGE5: {from: AGE, width: 5}
Categories that only one sample has are reported.`,
		Flags: slices.Concat(
			fieldFlags(new(link.Spec).Fields()),
			[]cli.Flag{
				&cli.BoolFlag{Name: "model", Usage: "take the model of the population however few records the samples have (as --prior model)"},
			},
			documentFlags(),
		),
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
	case n >= 2:
		s.A, s.B = []string{ctx.Args().Get(0)}, []string{ctx.Args().Get(1)}
		s.Further = append([]string(nil), ctx.Args().Slice()[2:]...)
	case n > 0 || ctx.String("spec") == "":
		return usage("two samples are linked or more, not %d: microrisk link A B", n)
	}
	if ctx.Bool("model") {
		if ctx.IsSet("prior") && ctx.String("prior") != link.PriorModel {
			return usage("--model takes the prior of a model, and --prior %s does not; leave one of them out", ctx.String("prior"))
		}
		s.Prior = link.PriorModel
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
	rows := [][]report.Cell{{report.Left("population"), report.Right(report.Count(o.People)), report.Left("people")}}
	for i, n := range o.Samples {
		rows = append(
			rows,
			[]report.Cell{
				report.Left("sample " + link.Letter(i)),
				report.Right(report.Count(n.Records)),
				report.Left(report.Plural(n.Classes, "class", "classes")),
			},
		)
	}
	in := "in both"
	if len(o.Samples) > 2 {
		in = "in several"
	}
	rows = append(rows, []report.Cell{report.Left(in), report.Right(report.Count(int64(len(o.Classes)))), report.Left("classes")})
	rows = append(rows, linkedRows(o, &o.Total, "")...)
	if len(o.Links) > 1 {
		for i := range o.Links {
			rows = append(rows, linkedRows(o, &o.Links[i], " "+link.Letter(o.Links[i].First)+" and "+link.Letter(o.Links[i].Second))...)
		}
	}
	if o.RankCorrelation != nil {
		rows = append(rows, []report.Cell{report.Left("  rank correlation"), report.Right(strconv.FormatFloat(*o.RankCorrelation, 'f', 3, 64)),
			report.Left("of the chance with the true 1/F")})
	}
	text := wrap(
		"linked by "+report.Printable(strings.Join(o.Overlap, ", ")),
		2,
	) + "\n" + wrap(
		priorText(o),
		2,
	) + "\n" + table(
		"  ",
		rows,
	) + unmatchedText(
		o,
	) + errorsText(
		o,
	)
	if o.Unique > 0 {
		text += "\nunique matches, the likeliest first; rows are numbered from 0\n" + table("  ", matchRows(o))
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

// priorText says what was taken for known of F.
func priorText(o *link.Outcome) string {
	switch m := o.Model; {
	case m == nil && o.Flat != "":
		return "prior of F: flat, since " + o.Flat
	case m == nil:
		return "prior of F: flat; it expects far fewer right ones than there are, where F is small"
	case m.Unknown != "":
		return fmt.Sprintf("prior of F: %s of all samples together, without effects of cells", report.Plural(int64(m.Graphs), "model", "models"))
	default:
		return fmt.Sprintf(
			"prior of F: %s of all samples together, with effects of cells (sigma %.2f)",
			report.Plural(int64(m.Graphs), "model", "models"),
			m.Sigma,
		)
	}
}

// linkedRows are those of a pair of samples, or of all.
func linkedRows(o *link.Outcome, l *link.Linked, of string) [][]report.Cell {
	right := "expected correct: " + report.Figure(l.ExpectedUnique)
	if i := l.Interval; i != nil {
		right += fmt.Sprintf(", 95 %%: %s to %s", report.Figure(i.Lower), report.Figure(i.Upper))
	}
	rows := [][]report.Cell{
		{report.Left("candidate pairs" + of), report.Right(report.Figure(l.Pairs)), report.Left("expected correct: " + report.Figure(l.ExpectedPairs))},
		{report.Left("unique matches" + of), report.Right(report.Count(int64(l.Unique))), report.Left(right)},
	}
	if d := l.Doubles; d != nil {
		rows = append(rows, []report.Cell{report.Left("  by doubles"), report.Right(""),
			report.Left(fmt.Sprintf("expected correct: %s, 95 %%: %s to %s", report.Figure(max(0, d.Value)), report.Figure(d.Lower), report.Figure(d.Upper)))})
	}
	if o.Known {
		rows = append(rows, []report.Cell{report.Left("  truly"), report.Right(""), report.Left("expected correct: " + report.Figure(l.KnownUnique))})
	}
	return rows
}

// shownPatterns is how many patterns of pairs that differ the terminal lists.
const shownPatterns = 10

// errorsText says what was found of errors of values.
func errorsText(o *link.Outcome) string {
	e := o.Errors
	if e == nil {
		return ""
	}
	how := "given"
	if e.Learnt {
		how = fmt.Sprintf("learnt in %s", report.Plural(int64(e.Iterations), "step", "steps"))
	}
	text := fmt.Sprintf("\nerrors of values, %s; the whole key of a person agrees with a chance of %s\n", how, chance(e.Agree()))
	rows := [][]report.Cell{{report.Left("variable"), report.Right("error rate"), report.Right("s.e."), report.Right("m"), report.Right("u"),
		report.Right("agrees"), report.Right("differs")}}
	weight := func(a, b float64) report.Cell {
		if w := math.Log2(a / b); !math.IsNaN(w) && !math.IsInf(w, 0) {
			return report.Right(strconv.FormatFloat(w, 'f', 2, 64))
		}
		return report.Right("")
	}
	for v, name := range o.Overlap {
		r, u, se := e.Rates[v], e.Alike[v], ""
		if !math.IsNaN(e.SE[v]) {
			se = chance(e.SE[v])
		}
		rows = append(rows, []report.Cell{report.Left(report.Printable(name)), report.Right(chance(r)), report.Right(se), report.Right(chance(1 - r)),
			report.Right(chance(u)), weight(1-r, u), weight(r, 1-u)})
	}
	text += table("  ", rows) + "  m, u: chances that the values of one person, and of two who agree on all other\n" +
		"  variables, agree; agrees, differs: weights, the binary logarithms of their odds\n"
	list := slices.Clone(e.Patterns)
	slices.SortStableFunc(list, func(x, y linkage.Weighed) int { return cmp.Compare(y.Same, x.Same) })
	rows = [][]report.Cell{{report.Left("pairs that differ in"), report.Right("pairs"), report.Right("one person"), report.Right("chance")}}
	for _, p := range list[:min(len(list), shownPatterns)] {
		names := []string{"nothing"}
		if len(p.Differ) > 0 {
			names = nil
		}
		for _, v := range p.Differ {
			names = append(names, o.Overlap[v])
		}
		rows = append(rows, []report.Cell{report.Left(report.Printable(strings.Join(names, ", "))), report.Right(report.Figure(p.Pairs)),
			report.Right(report.Figure(p.Same)), report.Right(chance(p.Match))})
	}
	return text + "\n" + table("  ", rows)
}

// unmatchedText names the categories that only one sample has.
func unmatchedText(o *link.Outcome) (text string) {
	for _, u := range o.Unmatched {
		first, second := "A", link.Letter(1+u.Sample)
		if len(o.Samples) > 2 { // of each with the first
			first = "A beside " + second
		}
		for _, only := range []struct {
			which   string
			list    []string
			records int64
		}{{first, u.OnlyA, u.RecordsA}, {second, u.OnlyB, u.RecordsB}} {
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
	return text
}

// matchRows are the unique matches that the terminal lists.
func matchRows(o *link.Outcome) [][]report.Cell {
	head := []report.Cell{report.Right("rank")}
	for i := range o.Samples {
		head = append(head, report.Right("row of "+link.Letter(i)))
	}
	head = append(head, report.Right("least F"), report.Right("most F"), report.Right("E[F]"), report.Right("correct"))
	if o.Known {
		head = append(head, report.Right("true F"))
	}
	lines := [][]report.Cell{head}
	for _, c := range o.Classes[:min(o.Unique, shownMatches)] {
		line := []report.Cell{report.Right(report.Count(c.Rank))}
		for i, place := range c.First {
			if c.Records[i] == 0 {
				line = append(line, report.Right(""))
				continue
			}
			line = append(line, report.Right(report.Count(place.Row)))
		}
		line = append(line, report.Right(report.Count(c.Low)), report.Right(report.Count(c.High)), report.Right(report.Figure(c.Mean)),
			report.Right(chance(c.Correct)))
		if o.Known {
			line = append(line, report.Right(report.Count(c.F)))
		}
		lines = append(lines, line)
	}
	return lines
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
