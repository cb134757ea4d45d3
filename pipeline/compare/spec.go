package compare

import (
	"slices"

	"microrisk/engine/tabular/fitting"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// DefaultSeconds is the limit of a method.
const DefaultSeconds = 30

// A Spec asks for a comparison of methods on a table.
type Spec struct {
	Source     tables.Source
	Config     protect.Config // of the table, its rules, and what holds for all methods; its method, base, limit and outputs have no say
	Methods    []string       // nil: all that protect has and that can do without being told more, unless there is a grid
	Bases      []int64        // of methods that have one; nil: that of the config
	Least      []int64        // contributors that the rule min asks for; nil: those of the rules
	Tables     string         // file with several tables, "" for that of the config alone
	Grid       string         // file with further methods and parameters, "" for none
	Codes      []string       // of missing values, of the tables of records that the file lists
	Model      string         // log-linear, of the loss; "": independence
	Seconds    float64        // limit of each
	Replicates int64          // of methods that are left to chance
	Out        string         // file with a row a run, "" for none
	Over       string         // file of views of several tables
	JSON       string
	Page       string // HTML
}

// Fields is the field table.
func (s *Spec) Fields() schemas.Table {
	fields := s.Config.Fields()
	method := fields.Field("method")
	return schemas.Table{What: "the comparison", Doc: "What methods are compared on a table.", Fields: []schemas.Field{
		{Name: "methods", To: &s.Methods, Words: method.Words, Word: "method", Doc: "Methods, as the operator protect has them.",
			Flag: &schemas.Flag{Name: "method", Usage: "methods to compare, separated by commas (default: all)"}},
		{Name: "bases", To: &s.Bases, Range: schemas.AtLeast(2), Doc: "Bases of the methods that have one.",
			Flag: &schemas.Flag{Name: "base", Usage: "bases of methods that have one, separated by commas (default: 3)"}},
		{Name: "least", To: &s.Least, Range: schemas.AtLeast(1), Doc: "Contributors that the rule min asks for, in place of its own.",
			Flag: &schemas.Flag{Name: "n", Usage: "contributors that the rule min asks for, separated by commas, in place of its own"}},
		{Name: "tables", To: &s.Tables, File: true, Doc: "File with several tables to compare on.",
			Flag: &schemas.Flag{
				Name:  "tables",
				Usage: "YAML `FILE` with several tables: a list of {table: [REGION, SEX]}, with hierarchies, recodes and, of ready-made ones, file",
			}},
		{Name: "grid", To: &s.Grid, File: true, Doc: "File with further methods and their parameters.",
			Flag: &schemas.Flag{Name: "grid", Usage: "YAML `FILE` with methods and their parameters: a list of {method: rounding, base: 10}"}},
		{Name: "model", To: &s.Model, Doc: "Log-linear model of the loss.",
			Flag: &schemas.Flag{Name: "model", Usage: "log-linear `MODEL` that the loss is measured by, such as 'A*B + C' (default: independence)"}},
		{Name: "seconds", To: &s.Seconds, Range: schemas.Positive(), Default: float64(DefaultSeconds), Doc: "Limit of each run.",
			Flag: &schemas.Flag{Name: "limit", Usage: "`SECONDS` that a search may take (default: 30)"}},
		{Name: "replicates", To: &s.Replicates, Range: schemas.Within(1, 1000), Default: int64(5), Doc: "Runs of methods that are left to chance.",
			Flag: &schemas.Flag{Name: "replicates", Usage: "runs of each method that is left to chance (default: 5)"}},
		{Name: "out", To: &s.Out, File: true, Doc: "File with a row a run.",
			Flag: &schemas.Flag{Name: "out", Short: "o", Usage: "write a row a run to `FILE` (.parquet, .arrow or .csv), which must not be published"}},
		{Name: "over", To: &s.Over, File: true, Doc: "File of views of several tables.",
			Flag: &schemas.Flag{Name: "views", Usage: "write views of several tables to `FILE` (.parquet, .arrow or .csv), which must not be published"}},
		{Name: "json", To: &s.JSON, File: true, Doc: "File with all of it.",
			Flag: &schemas.Flag{Name: "json", Usage: "write all of it to `FILE`, which must not be published"}},
		{Name: "page", To: &s.Page, File: true, Doc: "File with a page of tables and plots.",
			Flag: &schemas.Flag{Name: "html", Usage: "write a page with plots to `FILE`, which must not be published"}},
	}}
}

// Shared are the fields of protect that hold for all methods: what a comparison says itself is not among them.
func Shared(c *protect.Config) schemas.Table {
	t := c.Fields()
	for _, name := range []string{"prefix", "profile", "topic", "linked", "method", "base", "seconds", "nodes", "secret", "public", "internal"} {
		t = t.Without(name)
	}
	return t
}

// ofTable are fields of protect that say what the table is, or what is written: no method has them otherwise.
var ofTable = []string{
	"prefix",
	"profile",
	"topic",
	"table",
	"linked",
	"missing",
	"hierarchies",
	"recodes",
	"paths",
	"lead",
	"total",
	"response",
	"statistic",
	"decimals",
	"contributor",
	"weight",
	"total_only",
	"absolute",
	"overrides",
	"sap",
	"secret",
	"public",
	"internal",
}

// varied are the fields of protect that one run may have otherwise than another.
func varied(c *protect.Config) schemas.Table {
	t := c.Fields()
	t.What = "a method"
	t.Required = []string{"method"}
	for _, name := range ofTable {
		t = t.Without(name)
	}
	return t
}

// Check tells what the field table cannot.
func (s *Spec) Check(c *schemas.Checker) {
	if len(s.Least) > 0 && len(s.Config.Rules) > 0 &&
		!slices.ContainsFunc(s.Config.Rules, func(r protect.Rule) bool { return r.Rule == protect.RuleFrequency }) {
		c.Add("least", "n is that of the rule min, which is not asked: add --rule min, or leave it out")
	}
	if s.Over != "" && s.Tables == "" {
		c.Add("over", "views are of several tables: list them (--tables)")
	}
}

// complete puts defaults in, and judges what is asked.
func (s *Spec) complete() error {
	if len(s.Config.Rules) == 0 && len(s.Least) > 0 {
		s.Config.Rules = []protect.Rule{{Rule: protect.RuleFrequency}}
	}
	schemas.Complete(s.Fields())
	if err := schemas.CheckDocument(s); err != nil {
		return err
	}
	for _, path := range []string{s.Out, s.Over} {
		if path == "" {
			continue
		}
		if err := session.KnownKind(path); err != nil {
			return err
		}
	}
	return nil
}

// model is that of the loss for a table of some variables.
func (s *Spec) model(names []string) (fitting.Model, error) {
	if s.Model == "" {
		return fitting.Independence(len(names)), nil
	}
	m, err := fitting.Parse(s.Model, names)
	return m, session.Wrong(err)
}
