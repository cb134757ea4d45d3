package advise

import (
	"microrisk/operators/protect"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// Words of requirements.
var (
	Wants = []string{"complete", "true"}
	Users = []string{"press", "policy", "modelling"}
)

// DefaultSeconds is how long a method is tried.
const DefaultSeconds = 20

// A Spec asks for advice on a table.
type Spec struct {
	Source   tables.Source
	Config   protect.Config // of the table; rules and a method, if somebody said so
	Want     string         // a complete table, or true values; "": by the users
	Users    string         // "": nobody in particular
	Additive bool           // totals must be the sums of their parts
	Ordered  []string       // variables of which neighbours alone may become one, as redesign takes them
	Pins     []string       // categories that must survive, VARIABLE=CODE or VARIABLE
	Seconds  float64        // that a method is tried
	JSON     string
	// Command is a command of the family table, with further arguments; nil: none is told.
	Command func(verb string, arguments []string) []string
}

// Fields is the field table.
func (s *Spec) Fields() schemas.Table {
	return schemas.Table{What: "the advice", Doc: "What is wanted of a table.", Fields: []schemas.Field{
		{Name: "want", To: &s.Want, Words: Wants, Doc: "A complete table whose values may be changed, or true values, of which some are hidden.",
			Flag: &schemas.Flag{
				Name:  "want",
				Usage: "a complete table, whose values may be changed (complete), or true values, of which some are hidden (true)",
			}},
		{Name: "users", To: &s.Users, Words: Users, Doc: "Who the table is for.",
			Flag: &schemas.Flag{Name: "users", Usage: "who the table is for: press, policy or modelling"}},
		{Name: "additive", To: &s.Additive, Doc: "Totals must be the sums of their parts.",
			Flag: &schemas.Flag{Name: "additive", Usage: "totals must be the sums of their parts"}},
		{Name: "ordered", To: &s.Ordered, Doc: "Variables of which neighbours alone may become one.",
			Flag: &schemas.Flag{
				Name: "ordered",
				Many: true,
				Usage: "let merges be of neighbours of a `VARIABLE` alone, by the numbers that its codes begin with, " +
					"or in an order: EDU=low|mid|high; may be repeated (default: variables of bands of numbers, such as 17-24)",
			}},
		{Name: "pins", To: &s.Pins, Doc: "Categories that must survive.",
			Flag: &schemas.Flag{Name: "pin", Many: true, Usage: "a category that must survive, `VARIABLE=CODE`, or all of a VARIABLE; may be repeated"}},
		{Name: "seconds", To: &s.Seconds, Range: schemas.Positive(), Default: float64(DefaultSeconds), Doc: "How long a method is tried.",
			Flag: &schemas.Flag{Name: "limit", Usage: "`SECONDS` that a method is tried (default: 20)"}},
		{Name: "json", To: &s.JSON, File: true, Doc: "File with all of it.",
			Flag: &schemas.Flag{Name: "json", Usage: "write all of it to `FILE`, which must not be published"}},
	}}
}

// Check tells what the field table cannot.
func (s *Spec) Check(c *schemas.Checker) {
	if s.Want == "true" && (s.Users == "press" || s.Users == "modelling") {
		c.Add("want", "the %s wants a complete table, and true values are asked for: say one (--want, --users)", s.Users)
	}
}

// Shared are the fields of protect that advice looks at.
func Shared(c *protect.Config) schemas.Table {
	t := c.Fields()
	for _, name := range []string{"prefix", "profile", "topic", "method", "base", "perturb", "totals", "sd", "reach", "spread", "view", "secret", "cost",
		"sliding", "seconds", "nodes", "sap", "public", "internal"} {
		t = t.Without(name)
	}
	t.Further = nil
	return t
}
