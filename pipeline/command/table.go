package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/audit"
	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// tableCommand is the family of commands that make tables that can be published.
func (c *console) tableCommand() *cli.Command {
	return &cli.Command{
		Name:      "table",
		Usage:     "make a table that can be published, and judge one",
		UsageText: "microrisk table COMMAND [FLAGS]",
		Description: `Tables of counts or of sums disclose where few contribute to a cell, or where one
of them dominates it; and what is hidden can be worked out from totals.

   microrisk table advise survey.parquet --table REGION,SEX
   microrisk table protect survey.parquet --table REGION,SEX --rule min:n=3
   microrisk table audit public.parquet --truth internal/cells.parquet
   microrisk table release public.parquet --register register.yaml --name areas
   microrisk table compare survey.parquet --table REGION,SEX --n 3,5`,
		Subcommands: []*cli.Command{
			c.tableAdvise(),
			c.tableProtect(),
			c.tableAudit(),
			c.tableRelease(),
			c.tableRedesign(),
			c.tableCompare(),
			c.tableMargins(),
			c.tableProfiles(),
		},
	}
}

func (c *console) tableProtect() *cli.Command {
	return &cli.Command{
		Name:      "protect",
		Usage:     "find the cells of a table that disclose, protect them, and prove it",
		ArgsUsage: "FILE...",
		UsageText: "microrisk table protect FILE... --table REGION,SEX --rule min:n=3 [--response TURNOVER] [--method optimal] [--public FILE] [--internal FOLDER] [--register FILE]",
		Description: `Records are counted, or a response is added up, for every combination of the
variables and for all totals. Cells that a rule finds unsafe are hidden, and others
with them so that nobody can work them out; or all cells are changed (rounding,
perturbation, adjustment, multiplicative, abs), or intervals stand in the place of
values (partial). The result is audited as an attacker would look at it, and is written only if it passes: --public
is a file of keys, values and symbols that tells nothing else, --internal a folder
with the true values, what each cell needed, and a log.

Rules: min:n=3 (fewer contributors than n), dominance:n=3,k=75, p%:p=10,c=1,
pq:p=10,q=30,c=1 for responses; across:p=40,c=1, contiguous and
concentration:p=80,unknown=HEALTH for lines of counts. Add inclusive for cells on
the boundary. --profile takes rules and method from a policy (table profiles).
With --register the table has to be safe with all that went out before, too.

Records of people, made safe as a file of records: microrisk protect.`,
		Flags: slices.Concat(recordsFlags(), profileFlags(), registerFlags(), reportFlags()[:2], fieldFlags(new(protect.Config).Fields(), new(protect.Columns).Fields())),
		Action: func(ctx *cli.Context) error {
			columns := &protect.Columns{}
			if err := sayFields(ctx, columns.Fields()); err != nil {
				return err
			}
			ready := columns.Said()
			if !ready && ctx.Args().Len() == 1 {
				structure, err := tables.StructureOf(ctx.Context, ctx.Args().First())
				if err != nil {
					return err
				}
				ready = structure != nil
			}
			if ready {
				return c.protectReady(ctx, columns)
			}
			spec, err := c.protectSpec(ctx)
			if err != nil || ctx.Bool("print-spec") {
				if err == nil && ctx.IsSet("register") {
					err = usage("a spec does not know --register: leave --print-spec or --register out")
				}
				return c.executeOrPrint(ctx, spec, err)
			}
			p := spec.Operators[len(spec.Operators)-1].Config.(*protect.Config)
			return c.byRegister(ctx, p, func() error { return c.execute(ctx, spec, false) })
		},
	}
}

// protectReady protects a ready-made table.
func (c *console) protectReady(ctx *cli.Context, columns *protect.Columns) error {
	if ctx.Args().Len() != 1 {
		return usage("name one ready-made table: microrisk table protect TABLE --table REGION,SEX --count N")
	}
	for _, flag := range []string{"print-spec", "select", "missing-codes", "missing", "response", "contributor", "weight", "noise-by", "record-key", "record-id"} {
		if ctx.IsSet(flag) {
			return usage("--%s is for records, and %s is a ready-made table: its metadata, --count or --value say so", flag, ctx.Args().First())
		}
	}
	p := &protect.Config{}
	fields := func() schemas.Table {
		t := p.Fields()
		t.Field("table").Flag.Needed = "" // its metadata may tell
		return t
	}
	if err := c.sayPolicy(ctx, p, fields); err != nil {
		return err
	}
	return c.byRegister(ctx, p, func() error { return c.protectTable(ctx, p, columns) })
}

func (c *console) protectTable(ctx *cli.Context, p *protect.Config, columns *protect.Columns) error {
	shown, err := reportOf(ctx)
	if err == nil {
		err = shown.apart([]string{ctx.Args().First(), p.Out})
	}
	if err != nil {
		return err
	}
	o, err := c.options(ctx)
	if err != nil {
		return err
	}
	if err := released(ctx, p); err != nil {
		return err
	}
	made, err := tables.Protect(ctx.Context, ctx.Args().First(), p, columns, o)
	if err == nil && shown != nil {
		inputs := ctx.Args().Slice()
		err = shown.write(ctx, o, inputs, tables.ProtectedPage(p, made, &tables.Origin{Inputs: inputs, Program: pipeline.Version()}, shown.reader))
	}
	c.finish()
	if err != nil || c.quiet {
		return err
	}
	return c.print(report.Printable(ctx.Args().First()) + "\n\n" + table("  ", made.Rows()) + "\n  can be published  " + report.Printable(p.Out) +
		"\n  must not be       " + report.Printable(p.Inside) + "\n" + shown.told())
}

func (c *console) protectSpec(ctx *cli.Context) (*schemas.Spec, error) {
	spec, err := recordsSpec(ctx, "table protect")
	if err != nil {
		return nil, err
	}
	p := &protect.Config{}
	if err := c.sayPolicy(ctx, p, p.Fields); err != nil {
		return nil, err
	}
	spec.Operators = append(spec.Operators, schemas.Operator{Config: p})
	return spec, tellCodes(ctx, p)
}

func (c *console) tableAudit() *cli.Command {
	// What an audit is told of the config of a protected table.
	told := []string{"table", "hierarchies", "paths", "lead", "total", "decimals", "insider", "beforehand", "sliding", "base"}
	return &cli.Command{
		Name:      "audit",
		Usage:     "try on a published table what an attacker would",
		ArgsUsage: "PUBLIC",
		UsageText: "microrisk table audit PUBLIC --truth INTERNAL\nmicrorisk table audit PUBLIC --truth TABLE --table REGION,SEX --value VALUE --status STATUS\nmicrorisk table audit PUBLIC --truth INTERNAL --with OTHER=ITSINTERNAL\nmicrorisk table audit PUBLIC --register register.yaml [--truth INTERNAL] [--people WORDS]",
		Description: `For every unsafe cell: values that the published values and the totals leave
possible, for anybody, and for those who are the only ones in a hidden cell and know
its value. The two that are told are as far apart as the cell needs, not as far as
can be: the search ends there, and --sliding N asks for more. Exit status 1 if one of
them learns too much.

--truth is the internal folder of table protect, or any table with the true values,
whose columns and hierarchies flags name: tables of other programs can be audited too.

--register judges by all that went out before: with every release of the same people,
as with --with, and by what was asked of it (table release adds what went out).
` + registerHelp + `

Exit status with it: 0 it may go out, 1 it is not safe or refused, 3 it is safe, and
not all that was asked of it is met.`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "truth", Usage: "the internal `FOLDER` of table protect, or a table with the true values"},
			&cli.StringFlag{
				Name:    "out",
				Aliases: []string{"o"},
				Usage:   "write what was found out of each unsafe cell to `FILE` (.parquet, .arrow or .csv), which must not be published",
			},
			&cli.StringSliceFlag{
				Name:  "with",
				Usage: "another table that was published of the same people, `PUBLIC=INTERNAL`, or PUBLIC alone if it shows all true values; may be repeated",
			},
			&cli.StringFlag{
				Name:  "parts",
				Usage: "`FILE` of what categories stand for where tables differ (.csv: table, variable, code, finest); the code of the total: which people a table is of",
			},
			&cli.StringFlag{Name: "register", Usage: "judge by all that went out before, which the register in `FILE` lists (YAML)"},
			&cli.StringFlag{Name: "people", Usage: "with --register, of what it does not list: who it is of, in the `WORDS` of the register"},
			&cli.BoolFlag{Name: "records", Usage: "with --register: PUBLIC is a file of records, by which tables that went out before are judged"},
			&cli.Float64Flag{Name: "fraction", Usage: "with --records: the share of all people that the records are of (default: 1)"},
			&cli.StringFlag{Name: "note", Usage: "with --register: write what those who get the table are told of it to `FILE`, in plain words"},
			&cli.Int64Flag{Name: "few", Usage: "with other tables: fewer than `N` people must not be found by subtraction (default: 3)"},
		}, fieldFlags(new(protect.Config).Fields().Only(told...), new(protect.Columns).Fields())),
		Action: func(ctx *cli.Context) error {
			s := tables.AuditSpec{Truth: ctx.String("truth"), Out: ctx.String("out"), All: ctx.Bool("all-intervals"), Parts: ctx.String("parts"),
				Few: ctx.Int64("few")}
			for _, text := range ctx.StringSlice("with") {
				public, truth, named := strings.Cut(text, "=")
				if public == "" || named && truth == "" {
					return usage("--with is %q; it must be PUBLIC=INTERNAL, or PUBLIC", text)
				}
				s.With = append(s.With, tables.With{Public: public, Truth: truth})
			}
			register := ctx.String("register")
			switch {
			case ctx.Args().Len() != 1:
				return usage("name the published table: microrisk table audit PUBLIC --truth INTERNAL")
			case register == "" && (ctx.Bool("records") || ctx.IsSet("fraction") || ctx.IsSet("note") || ctx.IsSet("people")):
				return usage("--records, --fraction, --people and --note are for judging by a register: name it (--register FILE)")
			case register != "" && (len(s.With) > 0 || s.Parts != ""):
				return usage("a register names all other tables, and what categories stand for: leave --with and --parts out")
			case ctx.Bool("records") && (s.Truth != "" || s.Out != "" || ctx.IsSet("note")):
				return usage("--records is of a file of records, of which there is no --truth, --out or --note")
			case ctx.IsSet("fraction") && (!ctx.Bool("records") || !(ctx.Float64("fraction") > 0 && ctx.Float64("fraction") <= 1)):
				return usage("--fraction is the share of all people that --records are of: above 0, and at most 1")
			case register != "":
			case s.Truth == "":
				return usage("name what is true: --truth INTERNAL, the internal folder of table protect")
			case register == "" && len(s.With) == 0 && (s.Parts != "" || s.Few != 0):
				return usage("--parts and --few are for tables that are judged together: name the others (--with)")
			case ctx.IsSet("few") && s.Few < 2:
				return usage("--few is %d; it must be at least 2", s.Few)
			}
			s.Public = ctx.Args().First()
			fields := s.Config.Fields()
			fields.Field("table").Flag.Needed = ""
			for _, f := range []schemas.Table{fields.Only(told...), s.Columns.Fields()} {
				if err := sayFields(ctx, f); err != nil {
					return err
				}
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			if register != "" {
				fraction := ctx.Float64("fraction")
				if !ctx.IsSet("fraction") {
					fraction = 1
				}
				return c.judge(ctx, tables.JudgeSpec{AuditSpec: s, Register: register, Records: ctx.Bool("records"), Fraction: fraction,
					Note: ctx.String("note")}, o)
			}
			a, together, err := tables.RunAuditWith(ctx.Context, s, o)
			c.finish()
			if err != nil {
				return err
			}
			if !c.quiet {
				if err := c.print(table("  ", a.Summary().Rows())); err != nil {
					return err
				}
			}
			if together == nil {
				return a.Passed()
			}
			if !c.quiet {
				if err := c.print(togetherText(together)); err != nil {
					return err
				}
			}
			return together.Passed()
		},
	}
}

// togetherText is what was found out of several tables, for a terminal.
func togetherText(t *audit.Together) string {
	return "\n  together\n" + table("    ", t.Rows())
}

// judge judges a release by a register.
func (c *console) judge(ctx *cli.Context, s tables.JudgeSpec, o session.Options) error {
	if people := ctx.String("people"); people != "" {
		s.Entry = &tables.Entry{Name: s.Public, People: people}
		if s.Records {
			s.Entry.Records = s.Public
		} else {
			s.Entry.Public, s.Entry.Internal = s.Public, s.Truth
		}
	}
	j, err := tables.Judge(ctx.Context, s, o)
	c.finish()
	if err != nil {
		return err
	}
	return c.judged(j, s.Note)
}

// judgementText tells a judgement.
func judgementText(j *tables.Judgement, noteFile string) string {
	text := ""
	if j.Audit != nil {
		text += table("  ", j.Audit.Summary().Rows())
	}
	for _, t := range j.Together {
		text += togetherText(t)
	}
	if rows := j.Rows(); len(rows) > 0 {
		text += "\n  what was asked of it\n" + table("    ", rows)
	}
	if len(j.Skipped) > 0 {
		text += "\n  not compared\n"
		for _, why := range j.Skipped {
			text += note(why)
		}
	}
	if j.Noted {
		text += "\n  note for those who get it  " + report.Printable(noteFile) + "\n"
	}
	return strings.TrimPrefix(text, "\n")
}
