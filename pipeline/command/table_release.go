package command

import (
	"errors"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// registerHelp shows what a register looks like.
const registerHelp = `A register lists what went out, in the order of your choice; keep it beside the
files, in version control. Paths are from its folder:

   version: 1
   releases:
     - name: areas             # what the release is called
       date: 2026-05-01        # one without is older than all others
       people: all adults      # releases of the same people are compared
       public: areas.parquet   # the table
       internal: areas         # what table protect keeps inside
     - name: microdata
       people: all adults
       records: sample.parquet # a file of records, in place of a table
       fraction: 0.05          # of the people

A release may also have a topic, keep (cells that must be shown), complete,
true_values and additive (what is asked of it), for and purpose (who asked for it),
base, method, scheme and secret; the register parts, topics, sensitive and few.`

func (c *console) tableRelease() *cli.Command {
	return &cli.Command{
		Name:      "release",
		Usage:     "judge a table or records by all that went out before, and add them to the register",
		ArgsUsage: "PUBLIC",
		UsageText: "microrisk table release PUBLIC --register register.yaml --name NAME [--internal FOLDER] [--people WORDS]\n" +
			"microrisk table release PUBLIC --register register.yaml --name NAME --records [--fraction SHARE]",
		Description: `Is judged as by table audit --register, and added to the register if nothing speaks
against it; the register is begun if there is none. What stands in it stays as it
is, comments and order too. Nothing is published: that is yours to do.

` + registerHelp + `

Exit status: 0 it was added, 1 it is not safe or refused and was not, 3 it was added
though not all that was asked of it is met.`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "register", Usage: "the register in `FILE` (YAML), which is begun if it is not there"},
			&cli.BoolFlag{Name: "records", Usage: "PUBLIC is a file of records, and no table"},
			&cli.StringFlag{Name: "note", Usage: "write what those who get the table are told of it to `FILE`, in plain words"},
		}, fieldFlags(new(tables.Entry).Fields())...),
		Action: c.release,
	}
}

func (c *console) release(ctx *cli.Context) error {
	s := tables.ReleaseSpec{Register: ctx.String("register"), Note: ctx.String("note")}
	switch {
	case ctx.Args().Len() != 1:
		return usage("name what is to go out: microrisk table release PUBLIC --register register.yaml --name NAME")
	case s.Register == "":
		return usage("name the register, which is begun if there is none: --register register.yaml")
	case ctx.String("name") == "":
		return usage("say what the release is called: --name NAME")
	case ctx.Bool("records") && (ctx.IsSet("internal") || s.Note != ""):
		return usage("--internal and --note are of a table, and --records says that %s is none", ctx.Args().First())
	}
	if err := sayFields(ctx, s.Entry.Fields()); err != nil {
		return err
	}
	if s.Date == "" {
		s.Date = time.Now().Format(time.DateOnly)
	}
	if ctx.Bool("records") {
		s.Records = ctx.Args().First()
	} else if s.Public = ctx.Args().First(); s.Internal == "" {
		fields := new(protect.Config).Fields()
		s.Internal = fields.Field("internal").Flag.Usual[0]
		if _, err := os.Stat(s.Internal); err != nil {
			s.Internal = ""
		}
	}
	o, err := c.options(ctx)
	if err != nil {
		return err
	}
	j, err := tables.Release(ctx.Context, s, o)
	c.finish()
	if err != nil {
		return err
	}
	err = c.judged(j, s.Note)
	var not *notMetError
	if (err == nil || errors.As(err, &not)) && !c.quiet {
		return errors.Join(c.print("\n  added to "+report.Printable(s.Register)+" as "+report.Printable(s.Name)+"\n"), err)
	}
	return err
}

// judged tells a judgement, and is an error of what speaks against the release.
func (c *console) judged(j *tables.Judgement, note string) error {
	if !c.quiet {
		if err := c.print(judgementText(j, note)); err != nil {
			return err
		}
	}
	if err := j.Passed(); err != nil {
		return err
	}
	e := &notMetError{}
	for _, s := range j.Standings {
		if !s.Met {
			e.what = append(e.what, s.What+": not met, "+s.Why)
		}
	}
	if e.what == nil {
		return nil
	}
	return e
}

// A notMetError says what was asked of a release that is safe, and is not met.
type notMetError struct{ what []string }

func (e *notMetError) Error() string { return e.what[0] }

// registerFlags are those of commands that make tables which have to stand beside what went out before.
func registerFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name: "register",
			Usage: "the table must be safe with all that went out before too, which the register in `FILE` lists (table audit --help); " +
				"table release adds it",
		},
		&cli.StringFlag{Name: "people", Usage: "with --register: who the table is of, in the `WORDS` of the register"},
	}
}

// ahead makes a table be judged by the register that flags name, before it is written; made are the files that it would be.
func (c *console) ahead(ctx *cli.Context, p *protect.Config, name string, told func(*tables.Judgement)) error {
	register := ctx.String("register")
	switch {
	case register == "" && ctx.String("people") != "":
		return usage("--people is of judging by a register: name it (--register FILE)")
	case register == "":
		return nil
	}
	if _, err := tables.ReadRegister(register); err != nil {
		return err
	}
	o, err := c.options(ctx)
	if err != nil {
		return err
	}
	p.Judge = tables.Ahead(register, tables.Entry{Name: name, Public: name, People: ctx.String("people"), Topic: ctx.String("topic")}, o, told)
	return nil
}

// byRegister protects a table, which is judged by the register that flags name, if they do, and tells what came of it.
func (c *console) byRegister(ctx *cli.Context, p *protect.Config, protects func() error) error {
	var found *tables.Judgement
	name := outputsOf(p)[0]
	if err := c.ahead(ctx, p, name, func(j *tables.Judgement) { found = j }); err != nil {
		return err
	}
	if err := protects(); err != nil || found == nil || c.quiet {
		return err
	}
	what := "it is safe with what went out before"
	if len(found.Together) == 0 {
		what = "nothing that went out before tells more of it"
	}
	text := "\n  by " + report.Printable(ctx.String("register")) + "  " + what + "\n"
	for _, t := range found.Together {
		text += togetherText(t)
	}
	for _, s := range found.Standings {
		if !s.Met {
			text += note(s.What + ": not met, " + s.Why)
		}
	}
	for _, why := range found.Skipped {
		text += note("not compared: " + why)
	}
	words := []string{"microrisk", "table", "release", name, "--register", ctx.String("register"), "--internal", outputsOf(p)[1]}
	if people := ctx.String("people"); people != "" {
		words = append(words, "--people", people)
	}
	return c.print(text + "\n  when it goes out\n    " + shellWords(append(words, "--name", "NAME")) + "\n")
}

// outputsOf are the file that can be published, and the folder that must not be.
func outputsOf(p *protect.Config) []string {
	x := *p
	schemas.Complete(x.Fields())
	return []string{x.Out, x.Inside}
}

// released refuses to write over what went out.
func released(ctx *cli.Context, configs ...*protect.Config) error {
	var outputs []string
	for _, p := range configs {
		outputs = append(outputs, outputsOf(p)...)
	}
	return tables.Released(ctx.String("register"), outputs...)
}

// overReleases refuses a run that would write over what went out.
func overReleases(ctx *cli.Context, spec *schemas.Spec) error {
	var configs []*protect.Config
	for _, o := range spec.Operators {
		if p, is := o.Config.(*protect.Config); is {
			configs = append(configs, p)
		}
	}
	if err := released(ctx, configs...); err != nil || spec.Sink.Path == "" || spec.Sink.Path == "-" {
		return err
	}
	return tables.Released("", spec.Sink.Path)
}
