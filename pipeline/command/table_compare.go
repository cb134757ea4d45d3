package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/pipeline/compare"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

func (c *console) tableCompare() *cli.Command {
	s := &compare.Spec{}
	return &cli.Command{
		Name:      "compare",
		Usage:     "run many methods and parameters on one table, and tell what each loses",
		ArgsUsage: "FILE...",
		UsageText: "microrisk table compare FILE... --table REGION,SEX --rule min:n=3 [--method optimal,rounding] [--base 3,5] [--n 3,5,10] [--html FILE]",
		Description: `The table is read once, from records or ready-made as for table protect, and each
method is tried on it. Methods that are left to chance are repeated. A method that
fails, or reaches its limit, is a row that says so. Nothing of it may be published.

   unsafe    cells that a rule finds
   touched   cells that are hidden or changed, totals among them
   at most   the largest change of a cell that is not hidden: the scheme abs
             hides counts of 1 to 3 and rounds others to 100, by at most 50
   audit     whether attackers learn too much of an unsafe cell
   proven    nothing cheaper of the method is safe (best), or what it might
             save (gap)
   M1        loss by the method's own measure: hidden cells, or the sum of all
             changes. It compares variants of one method, never methods
   M2        loss by a log-linear model (--model), which compares methods: by
             how many per cent its deviance is another one than of the true
             table. Hidden cells are omitted, taken to be 0 (zero), or imputed
             from the totals
   SAP(5)    attribution risk before, and after: the chance that somebody who
             knows 5 of the people sees by subtraction that a combination is
             empty, and so learns something about everybody else (--sap-known,
             --sap-area)

A grid has methods with parameters of their own, as specs name them:

   - {method: optimal, cost: unity, margins: none}
   - {method: rounding, base: 10}

Several tables (--tables) are compared together: what each way loses over all of
them, by the tables' designs.

   - {table: [REGION, SEX]}
   - {table: [REGION, AGE], recodes: {AGE: ages.grc}}`,
		Flags: slices.Concat(tableSourceFlags(), fieldFlags(s.Fields(), compare.Shared(&s.Config), new(protect.Columns).Fields())),
		Action: func(ctx *cli.Context) error {
			s := compare.Spec{}
			if err := sayFields(ctx, s.Fields()); err != nil {
				return err
			}
			fields := compare.Shared(&s.Config)
			if len(s.Least) > 0 {
				fields.Field("rules").Flag.Needed = ""
			}
			var err error
			if s.Source, err = tableSource(ctx, "table compare", &s.Config); err != nil {
				return err
			}
			if s.Source.Records == nil || s.Tables != "" {
				fields.Field("table").Flag.Needed = "" // its metadata may say so
			}
			if err := sayFields(ctx, fields); err != nil {
				return err
			}
			if s.Source.Records != nil {
				if err := tellCodes(ctx, &s.Config); err != nil {
					return err
				}
				if s.Codes, err = words("missing-codes", ctx.StringSlice("missing-codes")); err != nil {
					return err
				}
			}
			o, err := c.options(ctx)
			if err != nil {
				return err
			}
			out, err := compare.Run(ctx.Context, s, o)
			c.finish()
			if err != nil || c.quiet {
				return err
			}
			return c.print(compareText(out, &s))
		},
	}
}

// tableSourceFlags are those that say which records a table is made of.
func tableSourceFlags() []cli.Flag {
	return slices.DeleteFunc(recordsFlags(), func(f cli.Flag) bool { return f.Names()[0] == "print-spec" })
}

// policySource is what a table is made of, whose config is said by flags, some of which a profile may leave to it.
func (c *console) policySource(ctx *cli.Context, verb string, config *protect.Config, shared func() schemas.Table) (tables.Source, error) {
	source, err := tableSource(ctx, verb, config)
	if err != nil {
		return source, err
	}
	fields := func() schemas.Table {
		t := shared()
		if source.Records == nil {
			t.Field("table").Flag.Needed = "" // its metadata may say so
		}
		return t
	}
	if err := c.sayPolicy(ctx, config, fields); err != nil {
		return source, err
	}
	if source.Records != nil {
		return source, tellCodes(ctx, config)
	}
	return source, nil
}

// tableSource is what a table is made of: a ready-made one if its columns are named, or its metadata tell so, else records.
func tableSource(ctx *cli.Context, verb string, c *protect.Config) (tables.Source, error) {
	columns := &protect.Columns{}
	if err := sayFields(ctx, columns.Fields()); err != nil {
		return tables.Source{}, err
	}
	ready := columns.Said()
	if !ready && ctx.Args().Len() == 1 {
		structure, err := tables.StructureOf(ctx.Context, ctx.Args().First())
		if err != nil {
			return tables.Source{}, err
		}
		ready = structure != nil
	}
	if !ready {
		spec, err := recordsSpec(ctx, verb)
		return tables.Source{Records: spec}, err
	}
	if ctx.Args().Len() != 1 {
		return tables.Source{}, usage("name one ready-made table: microrisk %s TABLE --table REGION,SEX --count N", verb)
	}
	for _, flag := range []string{"select", "missing-codes", "missing", "response", "contributor", "weight"} {
		if ctx.IsSet(flag) {
			return tables.Source{}, usage("--%s is for records, and %s is a ready-made table", flag, ctx.Args().First())
		}
	}
	return tables.Source{Path: ctx.Args().First(), Columns: columns}, nil
}

// compareText tells what came of a comparison: what is hidden or changed, and what is lost.
func compareText(o *compare.Outcome, s *compare.Spec) string {
	var b strings.Builder
	if o.Count() > 1 {
		b.WriteString(tablesText(o) + viewsText(o.Views()))
	} else {
		b.WriteString(report.Printable(o.Source) + "\n" + report.Printable(strings.Join(o.Variables, " x ")) + ", loss by the model " + report.Printable(o.Model) +
			"\n\n" + runsText(o))
	}
	for _, g := range o.Groups() {
		if note := g.Runs[0].Said(advice.OfFlags); note != "" {
			b.WriteString("\n" + strings.TrimLeft(wrap(report.Printable(o.Called(g)+" ("+statusText(g.Status())+"): "+note), 2), " ") + "\n")
		}
	}
	said := compare.Warning
	if o.Count() < 2 {
		said += " Touched cells are hidden, or changed by no more than \"at most\"."
	}
	said += " M1 compares variants of one method (hidden cells, or the sum of changes), M2 methods: by how many per cent the model's deviance is another one."
	if o.Known() >= 0 && o.Count() < 2 {
		said += fmt.Sprintf(" SAP(%d) is the attribution risk before and after: the chance that who knows %[1]d of the people sees that a combination is empty.", o.Known())
	}
	b.WriteString("\n" + wrap(said, 0) + "\n")
	for _, path := range []string{s.Out, s.Over, s.JSON, s.Page} {
		if path != "" {
			b.WriteString("written to " + report.Printable(path) + "\n")
		}
	}
	return b.String()
}

// statusText is the status of runs in words.
func statusText(status string) string {
	if status == compare.StatusLimit {
		return "limit reached"
	}
	return status
}

// tablesText lists tables that are compared together.
func tablesText(o *compare.Outcome) string {
	var rows [][]report.Cell
	last := int64(0)
	for _, r := range o.Rows {
		if r.ID == last {
			continue
		}
		last = r.ID
		design := r.Design
		if r.Hierarchical {
			design += ", with a hierarchy"
		}
		rows = append(rows, []report.Cell{report.Right(report.Count(r.ID)), report.Left(report.Printable(r.Table)), report.Left(design),
			report.Right(report.Count(r.Cells)), report.Left("cells")})
	}
	return report.Printable(o.Source) + "\n\n" + table("  ", rows)
}

// runsText are the runs on one table.
func runsText(o *compare.Outcome) string {
	whole := func(of func(*compare.Row) *int64) func(*compare.Group) string {
		return func(g *compare.Group) string { return spread(g.Of(compare.Count(of)), compare.Short) }
	}
	figure := func(of func(*compare.Row) *float64) func(*compare.Group) string {
		return func(g *compare.Group) string { return spread(g.Of(of), compare.Short) }
	}
	text := compareTable(o, []compareColumn{
		{"method", nil},
		{"unsafe", whole(func(r *compare.Row) *int64 { return r.Unsafe })},
		{"touched", figure(func(r *compare.Row) *float64 {
			if r.Hidden == nil {
				return nil
			}
			touched := float64(*r.Hidden + *r.Changed)
			return &touched
		})},
		{"at most", figure(func(r *compare.Row) *float64 { return r.MaxChange })},
		{"audit", func(g *compare.Group) string { return g.Runs[0].Audit }},
		{"proven", (*compare.Group).Proven},
		{"seconds", func(g *compare.Group) string { return spread(g.Of(compare.Seconds), hundredths) }},
	})
	columns := []compareColumn{
		{"method", nil},
		{"M1", figure(func(r *compare.Row) *float64 { return r.LossUnity })},
		{"M2 omitted", figure(func(r *compare.Row) *float64 { return r.LossOmitted })},
		{"zero", figure(func(r *compare.Row) *float64 { return r.LossZero })},
		{"imputed", figure(func(r *compare.Row) *float64 { return r.LossImputed })},
	}
	if n := o.Known(); n >= 0 {
		columns = append(columns, compareColumn{"SAP(" + report.Count(n) + ")", figure(compare.SAPBefore)}, compareColumn{"after", figure(compare.SAPAfter)})
	}
	return text + "\n" + compareTable(o, columns)
}

// viewsText are views of several tables.
func viewsText(list []*compare.View) string {
	var b strings.Builder
	for _, v := range list {
		b.WriteString("\n" + report.Printable(v.Title) + "\n")
		head := []report.Cell{report.Left("design"), report.Right("tables")}
		for _, c := range v.Columns {
			head = append(head, report.Right(report.Printable(c)))
		}
		lines := [][]report.Cell{head}
		unsafe := false
		for _, r := range v.Rows {
			line := []report.Cell{report.Left(r.Design), report.Right(report.Count(int64(r.Tables)))}
			for _, c := range r.Cells {
				text := c.Text()
				if c.Unsafe > 0 {
					text, unsafe = text+"*", true
				}
				line = append(line, report.Right(text))
			}
			lines = append(lines, line)
		}
		b.WriteString(table("  ", lines))
		if unsafe {
			b.WriteString("  * some of these tables are not safe\n")
		}
		if v.LeftOut > 0 {
			b.WriteString("  left out: " + report.Plural(int64(v.LeftOut), "table", "tables") + " that not all of these ways have figures for\n")
		}
	}
	if len(list) > 0 {
		b.WriteString("\n" + wrap("Views have M2, the mean over tables: hidden cells omitted / taken to be 0 / imputed.", 0) + "\n")
	}
	return b.String()
}

// A compareColumn is one of a table of runs; without a text it has their names.
type compareColumn struct {
	name string
	text func(*compare.Group) string
}

func compareTable(o *compare.Outcome, columns []compareColumn) string {
	groups := o.Groups()
	lines := make([][]report.Cell, 1+len(groups))
	for _, c := range columns {
		if c.text == nil {
			lines[0] = append(lines[0], report.Left(c.name))
			for i, g := range groups {
				lines[i+1] = append(lines[i+1], report.Left(g.Name()))
			}
			continue
		}
		lines[0] = append(lines[0], report.Right(c.name))
		for i, g := range groups {
			text := c.text(g)
			if text == "" {
				text = "-"
			}
			lines[i+1] = append(lines[i+1], report.Right(text))
		}
	}
	return table("  ", lines)
}

// spread is a figure, with half of how far runs are apart.
func spread(s compare.Spread, write func(float64) string) string {
	switch {
	case s.Missing():
		return ""
	case write(s.Low) != write(s.High):
		return write(s.Mean) + "±" + write((s.High-s.Low)/2)
	}
	return write(s.Mean)
}

func hundredths(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
