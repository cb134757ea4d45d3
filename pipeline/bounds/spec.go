package bounds

import (
	"fmt"
	"strings"
	"time"

	"microrisk/pipeline/released"
	"microrisk/pipeline/solver"
	"microrisk/schemas"
)

// Methods of Bounds.
var Methods = []string{"auto", "shuttle", "sharp", "frechet"}

// A Spec asks for the bounds on cells that released tables imply.
type Spec struct {
	Tables    []string                  // files: variables, and a column of counts named published, value or count; Total is a margin
	Scheme    schemas.Perturbation      // by which the counts were perturbed
	Exact     []string                  // the same, of counts that were not perturbed
	Perturbed []released.PerturbedTable // the same, perturbed in ways of their own
	Method    string                    // one of Methods; "" means auto
	Deadline  time.Duration             // for methods that can be stopped; 0 for none
	Solver    string                    // one of solver.Names, for what the own one does not finish; "" means auto
	Out       string                    // file with one row a cell (.parquet, .arrow or .csv)

	Suppressed []string // texts of counts that were not published, besides null; <N is a count below N
	Totals     []string // texts that stand for a margin in a variable's column; nil: Total
	Merged     []released.MergedCategory
	Levels     []schemas.KeyVariable // categories (Levels) of variables, also of those that are in no table
	Count      bool                  // count the tables that have the margins
	List       string                // file with these tables, "" for none
	Most       int64                 // the most tables that are counted or listed; 0 means DefaultTables
}

// Fields is the field table.
func (s *Spec) Fields() schemas.Table {
	return schemas.Table{
		What:     "the spec",
		Doc:      "What microrisk bounds is asked: the bounds on cells that released tables imply.",
		Required: []string{"out"},
		Fields: []schemas.Field{
			{Name: "tables", To: &s.Tables, Single: true, Repeat: true, File: true, Doc: "Files of the released tables, perturbed as perturb says."},
			{Name: "method", To: &s.Method, Words: Methods, Unlike: "there is no method %q; it is one of " + strings.Join(Methods, ", "), Default: "auto",
				Doc:  "How bounds are found; auto: the best that can be afforded.",
				Flag: &schemas.Flag{Name: "method", Usage: "auto (the best that can be afforded), shuttle, sharp or frechet"}},
			{Name: "deadline", To: deadlineForm{&s.Deadline}, Doc: "Stop after this time, such as 30s, with the bounds found so far.",
				Flag: &schemas.Flag{
					Name:  "deadline",
					Usage: "stop after this `TIME`, such as 30s, with the bounds found so far",
					Set: func(texts []string) (err error) {
						s.Deadline, err = deadlineOf(texts[0])
						return err
					},
				}},
			{Name: "solver", To: &s.Solver, Words: solver.Names, Unlike: "there is no solver %q; it is one of " + strings.Join(solver.Names, ", "), Default: "auto",
				Doc: "What solves integer programs that the own solver does not finish.",
				Flag: &schemas.Flag{
					Name:  "solver",
					Usage: "what solves integer programs that the own solver does not finish: auto (cbc or glpsol if they are installed), embedded, cbc or glpsol",
				}},
			{
				Name:   "exact",
				To:     &s.Exact,
				Single: true,
				Repeat: true,
				File:   true,
				Doc:    "Files of tables that were not perturbed, beside those that perturb is of.",
				Flag: &schemas.Flag{
					Name:  "exact",
					Many:  true,
					Usage: "`TABLE` that was not perturbed, beside those that --scheme was used on; may be repeated",
				},
			},
			released.PerturbedField(&s.Perturbed),
			{
				Name:   "suppressed",
				To:     &s.Suppressed,
				Repeat: true,
				Doc:    "Texts of counts that were not published, besides null; <N is a count below N.",
				Schema: `"uniqueItems": false`,
				Flag: &schemas.Flag{
					Name:  "suppressed",
					Usage: "`TEXTS` of counts that were not published, besides null, separated by commas: x,..,<3 (<3 is a count below 3)",
				},
			},
			{
				Name:   "totals",
				To:     &s.Totals,
				Repeat: true,
				Doc:    "Texts that stand for a margin in a variable's column; Total without it.",
				Schema: `"uniqueItems": false`,
				Flag:   &schemas.Flag{Name: "total", Usage: "`TEXTS` that stand for a margin in a variable's column, separated by commas (default: Total)"},
			},
			released.LevelsField(&s.Levels, "all categories of a variable, `VAR=a|b|c`, also of one that is in no table; may be repeated"),
			released.MergedField(&s.Merged),
			{Name: "count", To: &s.Count, Doc: "Count the tables of counts that are possible.",
				Flag: &schemas.Flag{Name: "count", Usage: "count the tables of counts that are possible"}},
			{Name: "list", To: &s.List, File: true, Doc: "File for the tables of counts that are possible.",
				Flag: &schemas.Flag{Name: "list", Usage: "write the tables of counts that are possible to `FILE`"}},
			{Name: "most", To: &s.Most, Range: schemas.AtLeast(1), Default: int64(DefaultTables), Doc: "Count or list no more tables than this.",
				Flag: &schemas.Flag{Name: "most", Usage: "count or list no more than `N` tables"}},
			{Name: "out", To: &s.Out, File: true, Doc: "Output file: one row a cell (.parquet, .arrow or .csv).",
				Flag: &schemas.Flag{Name: "out", Short: "o", Usage: "output file", Usual: []string{"bounds.parquet"}}},
			{Name: "perturb", To: schemas.Nested(s.Scheme.Fields().Without("secret"))}, // nobody needs to know the secret for bounds
		},
	}
}

// Check tells what the field table cannot.
func (s *Spec) Check(c *schemas.Checker) {
	t := s.Fields()
	c.Perturbation("perturb", &s.Scheme)
	if len(s.paths()) == 0 {
		c.Add("", "no table is named")
	}
	if s.Out == "" {
		c.Add("out", "it is not said where the bounds go (out)")
	}
	if len(s.Tables) == 0 && s.Scheme.Scheme != "" && s.Scheme.Scheme != "none" {
		c.Add("perturb", "a scheme says how counts were perturbed, and all tables are said to be exact")
	}
	if s.Most != 0 && !s.Count && s.List == "" {
		c.Add("most", "%s is at least 1, and of %s or %s", t.Advice("", "most", ""), t.Advice("", "count", ""), t.Advice("", "list", ""))
	}
}

// deadlineOf reads a time such as 30s.
func deadlineOf(text string) (time.Duration, error) {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("is %q; it must be a time, such as 30s or 5m", text)
	case v <= 0:
		return 0, fmt.Errorf("is %v; it must be above 0", v)
	}
	return v, nil
}

// deadlineForm is that of a time such as 30s.
type deadlineForm struct{ to *time.Duration }

func (x deadlineForm) Read(d *schemas.Decoder, n *schemas.Node, path string, f *schemas.Field) {
	text, ok := d.Name(n, path, f.Name)
	if !ok {
		return
	}
	v, err := deadlineOf(text)
	if err != nil {
		d.Problem(path, f.Name+" "+err.Error())
	}
	*x.to = v
}

func (x deadlineForm) Write(*schemas.Field) (any, bool) { return x.to.String(), *x.to != 0 }

func (x deadlineForm) Schema(*schemas.Field) schemas.Ordered {
	return schemas.RawSchema(`"type": "string", "pattern": "^([0-9.]+(ns|us|µs|ms|s|m|h))+$"`)
}

func (x deadlineForm) Check(*schemas.Checker, string, *schemas.Field) {}
