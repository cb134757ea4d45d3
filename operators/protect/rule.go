package protect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"microrisk/engine/tabular/detection"
	"microrisk/schemas"
)

// Words of rules.
const (
	RuleFrequency     = "min"
	RuleDominance     = "dominance"
	RulePercent       = "p%"
	RulePrior         = "pq"
	RuleAcross        = "across"
	RuleContiguous    = "contiguous"
	RuleConcentration = "concentration"
)

// Rules are the words of all rules.
var Rules = []string{RuleFrequency, RuleDominance, RulePercent, RulePrior, RuleAcross, RuleContiguous, RuleConcentration}

// letters are the parameters of rules, by the rules that have them; the short ones are those of the command line.
var parameters = map[string][]string{
	RuleFrequency:     {"n", "range", "inclusive"},
	RuleDominance:     {"n", "k", "inclusive"},
	RulePercent:       {"p", "coalition", "inclusive"},
	RulePrior:         {"p", "q", "coalition", "inclusive"},
	RuleAcross:        {"p", "coalition", "ordered"},
	RuleContiguous:    {},
	RuleConcentration: {"p", "unknown", "sensitive"},
}

// A Rule is what a spec says of a rule that finds cells that disclose.
type Rule struct {
	Rule      string // one of Rules
	N         *int
	K, P, Q   *float64
	Coalition *int
	Range     *float64
	Inclusive bool
	Ordered   []string // variables of across whose categories are numbers, or bands of numbers
	Unknown   string   // the variable of concentration that others do not know of a person
	Sensitive []string // its categories that must not be learnt; nil for all
}

// Fields is the field table.
func (r *Rule) Fields() schemas.Table {
	return schemas.Table{What: "a rule", Required: []string{"rule"}, Doc: "A rule that finds cells that disclose.", Fields: []schemas.Field{
		{
			Name:  "rule",
			To:    &r.Rule,
			Words: Rules,
			Doc: "min: too few contributors. dominance: the n largest have more than k per cent. p%: a coalition can estimate the largest other one to p per " +
				"cent. pq: the same where all are known to q per cent beforehand. across: a line of counts tells those in it what others are. contiguous: the " +
				"simplified form of that. concentration: at least p per cent of a line are in one category.",
		},
		{
			Name:  "n",
			To:    &r.N,
			Range: schemas.AtLeast(1),
			Doc:   "min: cells of fewer contributors are unsafe (default: 3). dominance: how many are the largest (default: 3).",
		},
		{Name: "k", To: &r.K, Doc: "dominance: per cent of the cell (default: 75)."},
		{Name: "p", To: &r.P, Doc: "Per cent (default: 10; across: 40; concentration: 80)."},
		{Name: "q", To: &r.Q, Doc: "pq: per cent to which all contributions are known beforehand."},
		{Name: "coalition", To: &r.Coalition, Range: schemas.AtLeast(1), Doc: "How many contributors act together (default: 1)."},
		{Name: "range", To: &r.Range, Doc: "min: per cent of a cell's value within which nobody may know it (default: 30)."},
		{Name: "inclusive", To: &r.Inclusive, Doc: "A cell on the boundary is unsafe too."},
		{Name: "ordered", To: &r.Ordered, Doc: "across: variables whose categories are numbers or bands of numbers, such as 17-24; others are only different."},
		{Name: "unknown", To: &r.Unknown, Doc: "concentration: the variable that others do not know of a person."},
		{Name: "sensitive", To: &r.Sensitive, Doc: "concentration: its categories that must not be learnt; without it all."},
	}}
}

// said are the parameters that the rule says.
func (r *Rule) said() []string {
	var list []string
	for _, m := range r.Fields().Write() {
		if m.Key != "rule" {
			list = append(list, m.Key)
		}
	}
	return list
}

// wrong is what is wrong with the rule; "" for nothing.
func (r *Rule) wrong() string {
	known, ok := parameters[r.Rule]
	if !ok {
		return "" // the table says so
	}
	for _, name := range r.said() {
		if !slices.Contains(known, name) {
			has := "has none"
			if len(known) > 0 {
				has = "has " + strings.Join(known, ", ")
			}
			return fmt.Sprintf("the rule %s has no parameter %s; it %s", r.Rule, name, has)
		}
	}
	switch {
	case r.Rule == RulePrior && r.Q == nil:
		return "the rule pq does not say q, the per cent to which contributions are known beforehand; without prior knowledge it is p%"
	case r.Rule == RuleConcentration && r.Unknown == "":
		return "the rule concentration does not say which variable is unknown (unknown: NAME)"
	}
	var err error
	if c := r.cells(); c != nil {
		err = c.Check()
	} else if r.Rule == RuleAcross {
		err = r.across().Check()
	} else if r.Rule == RuleConcentration {
		err = r.concentration().Check()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func or[T any](v *T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return *v
}

// cells is a rule for cells; nil for one of lines.
func (r *Rule) cells() detection.Rule {
	coalition := or(r.Coalition, 1)
	switch r.Rule {
	case RuleFrequency:
		return detection.MinFrequency{N: int64(or(r.N, 3)), Inclusive: r.Inclusive, Range: or(r.Range, detection.DefaultRange)}
	case RuleDominance:
		return detection.Dominance{N: or(r.N, 3), K: or(r.K, 75), Inclusive: r.Inclusive}
	case RulePercent:
		return detection.Percent{P: or(r.P, 10), Coalition: coalition, Inclusive: r.Inclusive}
	case RulePrior:
		return detection.PriorPosterior{P: or(r.P, 10), Q: or(r.Q, 0), Coalition: coalition, Inclusive: r.Inclusive}
	}
	return nil
}

// Needs is how many of the largest contributions to a cell the rule looks at.
func (r *Rule) Needs() int {
	if c := r.cells(); c != nil {
		return c.Needs()
	}
	return 0
}

func (r *Rule) across() detection.AcrossCells {
	return detection.AcrossCells{P: or(r.P, 40), Coalition: int64(or(r.Coalition, 1))}
}

func (r *Rule) concentration() detection.Concentration {
	return detection.Concentration{P: or(r.P, 80)}
}

// String is the rule in words, as logs have it.
func (r *Rule) String() string { return r.name() }

// name is the rule in words, as logs have it.
func (r *Rule) name() string {
	if c := r.cells(); c != nil {
		return c.Name()
	}
	switch r.Rule {
	case RuleAcross:
		a := r.across()
		return fmt.Sprintf("across-cells test, p = %v, coalition of %d", a.P, a.Coalition)
	case RuleContiguous:
		return "simplified across-cells test"
	}
	return fmt.Sprintf("concentration on %s, p = %v", r.Unknown, r.concentration().P)
}

// short are parameters as the command line abbreviates them.
var short = map[string]string{"c": "coalition", "r": "range"}

// ParseRule reads a rule of the command line: min:n=3, p%:p=10,c=1, concentration:p=80,unknown=HEALTH,sensitive=yes|no.
func ParseRule(text string) (Rule, error) {
	name, rest, _ := strings.Cut(text, ":")
	r := Rule{Rule: name}
	if !slices.Contains(Rules, name) {
		near := ""
		if n := schemas.Nearest(name, Rules); n != "" {
			near = fmt.Sprintf("; did you mean %s?", n)
		}
		return r, fmt.Errorf("has no rule %q; it is one of %s%s", name, strings.Join(Rules, ", "), near)
	}
	if rest == "" {
		return r, said(r.wrong())
	}
	seen := make(map[string]bool)
	for item := range strings.SplitSeq(rest, ",") {
		parameter, value, given := strings.Cut(item, "=")
		if full, is := short[parameter]; is {
			parameter = full
		}
		if seen[parameter] {
			return r, fmt.Errorf("says %s twice", parameter)
		}
		seen[parameter] = true
		var err error
		number := func() *float64 {
			v, e := strconv.ParseFloat(value, 64)
			if e != nil {
				err = fmt.Errorf("has %s=%s, which is no number", parameter, value)
			}
			return &v
		}
		whole := func() *int {
			v, e := strconv.Atoi(value)
			if e != nil || v < 1 {
				err = fmt.Errorf("has %s=%s, which is no whole number of at least 1", parameter, value)
			}
			return &v
		}
		switch parameter {
		case "n":
			r.N = whole()
		case "k":
			r.K = number()
		case "p":
			r.P = number()
		case "q":
			r.Q = number()
		case "coalition":
			r.Coalition = whole()
		case "range":
			r.Range = number()
		case "inclusive":
			if r.Inclusive = true; given && value != "true" {
				err = fmt.Errorf("has %s; write inclusive alone, or leave it out", item)
			}
		case "ordered":
			r.Ordered = strings.Split(value, "|")
		case "unknown":
			r.Unknown = value
		case "sensitive":
			r.Sensitive = strings.Split(value, "|")
		default:
			err = fmt.Errorf("has no parameter %q; the rule %s has %s", parameter, name, strings.Join(parameters[name], ", "))
		}
		if err != nil {
			return r, err
		}
	}
	return r, said(r.wrong())
}

func said(wrong string) error {
	if wrong == "" {
		return nil
	}
	return fmt.Errorf("is not right: %s", wrong)
}
