package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/engine/budget"
	engine "microrisk/engine/keymap"
	"microrisk/operators/report"
	"microrisk/pipeline/keymap"
	"microrisk/pipeline/keymap/repository"
	"microrisk/pipeline/session"
)

// keymapCommand is the command that chooses key variables by what other collections ask.
func (c *console) keymapCommand() *cli.Command {
	return &cli.Command{
		Name:      "keymap",
		Usage:     "find the variables that could be matched on, by what others ask",
		UsageText: "microrisk keymap COMMAND [FLAGS]",
		Description: `Before risk is computed somebody chooses the key variables. A repository of forms
(questionnaires, registers, what anybody may know) says which variables other
collections hold and in which categories; an analysis finds for each variable of a
target the most detailed version that it shares with enough of them.

   microrisk keymap init forms
   microrisk keymap import survey.parquet --repository forms
   microrisk keymap analyse --repository forms --target Survey --prevalence 0.25`,
		Subcommands: []*cli.Command{
			c.keymapInit(),
			c.keymapImport(),
			c.keymapAdd(),
			c.keymapRename(),
			c.keymapRemove(),
			c.keymapReview(),
			c.keymapCheck(),
			c.keymapForm(),
			c.keymapAnalyse(),
			c.keymapProfile(),
			c.keymapKeys(),
			c.keymapLookup(),
			c.keymapOverlap(),
			c.keymapGrid(),
			c.keymapGraph(),
			c.keymapExport(),
			c.keymapReport(),
		},
	}
}

func repositoryFlag() cli.Flag {
	return &cli.StringFlag{Name: "repository", Aliases: []string{"r"}, Value: ".", Usage: "the `FOLDER` of forms (default: the current one)"}
}

// tableFlags are those of verbs that answer with a table.
func tableFlags() []cli.Flag {
	return []cli.Flag{
		repositoryFlag(),
		&cli.StringFlag{Name: "format", Value: "table", Usage: "what is printed: table, json or csv (default: table)"},
		&cli.StringFlag{Name: "out", Usage: "write the answer to `FILE` (.parquet, .arrow, .csv or .json) instead"},
	}
}

// open reads the repository that flags name.
func (c *console) openRepository(ctx *cli.Context) (*repository.Repository, error) {
	folder := ctx.String("repository")
	if folder == "" {
		return nil, usage("--repository names no folder")
	}
	r, err := repository.Open(folder)
	if err != nil {
		return nil, session.Wrong(err)
	}
	return r, nil
}

// outside refuses outputs that are files of the repository, or would be taken for some.
func outside(ctx *cli.Context, r *repository.Repository) error {
	var writes []string
	for _, flag := range []string{"out", "spec", "recode-a", "recode-b"} {
		path := ctx.String(flag)
		if path == "" || path == "-" {
			continue
		}
		if kind := r.TakenFor(path); kind != "" {
			return usage("--%s %s would be taken for one of the repository's %s; write it to another folder", flag, path, kind)
		}
		writes = append(writes, path)
	}
	if writes == nil {
		return nil
	}
	var reads []session.Reading
	for _, path := range r.Files() {
		reads = append(reads, session.Reading{What: "the repository's", Path: path})
	}
	return session.CheckPaths(reads, writes)
}

// asked tells a question that is wrong from one that takes too much, or was stopped.
func asked(err error) error {
	var nodes *engine.NodesError
	var memory *budget.MemoryError
	if errors.As(err, &nodes) || errors.As(err, &memory) || errors.Is(err, context.Canceled) {
		return err
	}
	return usageOf(err)
}

// environment reads the repository and refuses one that cannot be worked with.
func (c *console) environment(ctx *cli.Context) (*keymap.Environment, error) {
	r, err := c.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.Usable(); err != nil {
		return nil, session.Wrong(fmt.Errorf("the repository cannot be used as it is (microrisk keymap check):\n%w", err))
	}
	if err := outside(ctx, r); err != nil {
		return nil, err
	}
	if n := ctx.Int("max-nodes"); ctx.IsSet("max-nodes") && n < 1 {
		return nil, usage("--max-nodes is %d; it must be at least 1", n)
	}
	o, err := c.options(ctx)
	if err != nil {
		return nil, err
	}
	limits := engine.Limits{Nodes: ctx.Int("max-nodes"), Budget: budget.Budget{Bytes: o.Memory}}
	return keymap.New(r, ctx.Bool("lenient"), limits), nil
}

// answer writes a table where it is wanted: to --out, or to standard output in the --format, or laid out for a person, after a headline.
func (c *console) answer(ctx *cli.Context, t *keymap.Table, headline string) error {
	o, err := c.options(ctx)
	if err != nil {
		return err
	}
	if path := ctx.String("out"); path != "" {
		return keymap.WriteTable(ctx.Context, path, t, o)
	}
	switch format := ctx.String("format"); format {
	case "table":
		return c.print(headline + tableText(t))
	case "json":
		text, err := t.JSON()
		if err != nil {
			return err
		}
		return c.print(string(text))
	case "csv":
		var b printing
		if err := session.WriteRecordTo(ctx.Context, &b, t, o); err != nil {
			return err
		}
		return c.print(b.String())
	default:
		return usage("--format is %q; it is table, json or csv", format)
	}
}

// tableText lays a table out.
func tableText(t *keymap.Table) string {
	var head []report.Cell
	titles, numbers := t.Titles()
	for i, title := range titles {
		head = append(head, report.Cell{Text: title, Right: numbers[i]})
	}
	rows := make([][]report.Cell, t.Rows)
	for _, x := range t.Columns {
		if x.Hidden {
			continue
		}
		for i := range rows {
			rows[i] = append(rows[i], report.Cell{Text: report.Printable(x.Shown(i)), Right: numbers[len(rows[i])]})
		}
	}
	return table("", append([][]report.Cell{head}, rows...))
}

// A printing is an output that is printed when it is whole.
type printing struct{ strings.Builder }

func (*printing) Name() string  { return "standard output.csv" }
func (*printing) Commit() error { return nil }
func (*printing) Abort()        {}

// questionFlags say which forms are compared, and how.
func questionFlags() []cli.Flag {
	return append(comparisonFlags(),
		&cli.StringSliceFlag{Name: "prevalence", Aliases: []string{"p"},
			Usage: "the `SHARE` of the match set that must hold a variable, such as 0.25; may be repeated (default: 0, one form is enough)"},
		&cli.BoolFlag{Name: "all-pairs", Usage: "name all forms that contradict one another, not the first two"},
		&cli.StringFlag{
			Name:  "base",
			Usage: "what a prevalence is a share of: all forms of the match set, or those present, which hold the variable (default: all)",
		},
		areaFlag(),
	)
}

func areaFlag() cli.Flag {
	return &cli.StringFlag{Name: "area", Value: "discrete",
		Usage: "how areas are summed: discrete, over numbers of forms, or continuous, over prevalence (default: discrete)"}
}

// comparisonFlags say which forms are compared, at whatever prevalence.
func comparisonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "scenario", Usage: "ask what the scenario `NAME` asks; flags beside it take the place of what it says"},
		&cli.StringFlag{Name: "target", Usage: "the `FORM` whose data are to be released"},
		&cli.StringSliceFlag{Name: "match", Usage: "compare it with these groups or forms, by `NAME`; may be repeated (default: all other forms)"},
		&cli.StringSliceFlag{Name: "exclude", Usage: "leave this `FORM` out; may be repeated"},
		&cli.StringSliceFlag{Name: "variables", Usage: "only these variables of the target, by `NAME`; may be repeated"},
		&cli.BoolFlag{
			Name:  "lenient",
			Usage: "merge categories that overlap instead of saying that forms contradict one another; results are marked unreliable",
		},
		&cli.BoolFlag{Name: "include-target", Usage: "the target counts among the forms that it is compared with"},
		&cli.IntFlag{Name: "max-nodes", Usage: "go through at most `N` harmonizations of a variable"},
	}
}

// question makes the question of the flags.
func (c *console) question(ctx *cli.Context) (*keymap.Environment, *repository.Scenario, keymap.Question, error) {
	none := func(err error) (*keymap.Environment, *repository.Scenario, keymap.Question, error) {
		return nil, nil, keymap.Question{}, err
	}
	e, err := c.environment(ctx)
	if err != nil {
		return none(err)
	}
	s := &repository.Scenario{}
	if name := ctx.String("scenario"); name != "" {
		found := e.Scenario(name)
		if found == nil {
			return none(usageOf(e.Unknown(repository.Scenarios, name)))
		}
		copied := *found
		s = &copied
		if s.Strict != nil && !*s.Strict {
			e.Lenient = true
		}
	}
	if ctx.IsSet("target") {
		s.Target = ctx.String("target")
	}
	if s.Target == "" {
		return none(usage("say whose data are to be released: --target FORM, or --scenario NAME"))
	}
	if ctx.IsSet("match") {
		s.Match = repository.Match{Exclude: s.Match.Exclude}
		for _, name := range ctx.StringSlice("match") {
			group, form := e.Group(name) != nil, e.Form(name) != nil
			switch {
			case group && form:
				return none(usage("%q is a group and a form; rename one of them", name))
			case group:
				s.Match.Groups = append(s.Match.Groups, name)
			case form:
				s.Match.Forms = append(s.Match.Forms, name)
			default:
				return none(usage("there is no group or form %q%s%s", name, e.Near(repository.Groups, name), e.Near(repository.Forms, name)))
			}
		}
	}
	if ctx.IsSet("exclude") {
		s.Match.Exclude = ctx.StringSlice("exclude")
	}
	for _, name := range s.Match.Exclude {
		if e.Form(name) == nil {
			return none(usageOf(e.Unknown(repository.Forms, name)))
		}
	}
	if ctx.IsSet("prevalence") {
		s.Prevalence = ctx.StringSlice("prevalence")
	}
	for _, text := range s.Prevalence {
		if _, err := engine.ParsePrevalence(text); err != nil {
			return none(usage("%s", err))
		}
	}
	if ctx.IsSet("variables") {
		s.Variables = ctx.StringSlice("variables")
	}
	if ctx.IsSet("base") {
		s.Base = ctx.String("base")
		if !slices.Contains(repository.Bases, s.Base) {
			return none(usage("--base is %q; it is all or present", s.Base))
		}
	}
	if ctx.IsSet("include-target") {
		s.IncludeTarget = ctx.Bool("include-target")
	}
	area := ctx.String("area")
	if ctx.IsSet("area") && area != "discrete" && area != "continuous" {
		return none(usage("--area is %q; it is discrete or continuous", area))
	}
	q := keymap.Question{Target: s.Target, Match: e.MatchSet(s), Prevalence: s.Prevalence, Variables: s.Variables, Base: s.Base,
		AllPairs: ctx.Bool("all-pairs"), Continuous: area == "continuous"}
	if len(q.Match) == 0 {
		return none(usage("the match set has no forms: every variable would be without an answer"))
	}
	return e, s, q, nil
}

// analysis answers the question of the flags.
func (c *console) analysis(ctx *cli.Context) (*keymap.Environment, *repository.Scenario, *keymap.Analysis, error) {
	e, s, q, err := c.question(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	a, err := e.Ask(ctx.Context, q)
	return e, s, a, err
}

// formsOf counts forms in words.
func formsOf(n int) string { return report.Plural(int64(n), "form", "forms") }
