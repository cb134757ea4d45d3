package protect

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/operators/tablefile"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// methodsOfSearch look for the cheapest cells to hide, or to change.
var methodsOfSearch = []string{"optimal", "modular", "hypercube", "network", "adjustment", "partial"}

// methodsOfHiding hide cells, whose values attackers must not work out.
var methodsOfHiding = append(slices.Clone(methodsOfPatterns), "partial", "abs")

// A look is a field that not every method looks at.
type look struct {
	field   string
	methods []string
	own     bool // it says how a method works that has to be named; others are shared by methods
	forget  func(c *Config)
}

// looks are all of them.
var looks = []look{
	{"sliding", slices.DeleteFunc(slices.Clone(Methods), func(m string) bool { return m == "adjustment" }), false, func(c *Config) { c.Sliding = nil }},
	{"base", []string{"rounding"}, false, func(c *Config) { c.Base = 0 }},
	{"cost", methodsOfSearch, false, func(c *Config) { c.Cost = "" }},
	{"margins", methodsOfSearch, false, func(c *Config) { c.Margins = "" }},
	{"insider", methodsOfHiding, false, func(c *Config) { c.Insider = "" }},
	{"beforehand", methodsOfHiding, false, func(c *Config) { c.Beforehand = "" }},
	{"seconds", append(slices.Clone(methodsOfSearch), "rounding", "multiplicative"), false, func(c *Config) { c.Seconds = nil }},
	{"nodes", []string{"optimal", "modular", "adjustment", "partial"}, false, func(c *Config) { c.Nodes = nil }},
	{"solver", []string{"optimal", "modular", "rounding", "adjustment", "partial", "multiplicative"}, false, func(c *Config) { c.Solver = "" }},
	{"perturb", []string{"perturbation"}, true, func(c *Config) { c.Perturb = nil }},
	{"totals", []string{"perturbation"}, true, func(c *Config) { c.Totals = "" }},
	{"sd", []string{"multiplicative"}, true, func(c *Config) { c.SD = nil }},
	{"reach", []string{"multiplicative"}, true, func(c *Config) { c.Reach = nil }},
	{"spread", []string{"partial"}, true, func(c *Config) { c.Spread = nil }},
	{"view", methodsOfPatterns, true, func(c *Config) { c.View = "" }},
	{"secret", methodsByChance, true, func(c *Config) { c.Secret = "" }},
}

// Looks tells whether a method looks at a field.
func Looks(method, field string) bool {
	at := slices.IndexFunc(looks, func(l look) bool { return l.field == field })
	return at < 0 || slices.Contains(looks[at].methods, cmp.Or(method, DefaultMethod))
}

// For is the config with another method, without what this does not look at; "" keeps what methods share.
func (c *Config) For(method string) Config {
	other := *c
	other.Method = method
	for _, l := range looks {
		if !slices.Contains(l.methods, method) && (method != "" || l.own) {
			l.forget(&other)
		}
	}
	return other
}

// Forget puts out what the method does not look at, but for what was said.
func (c *Config) Forget(said func(field string) bool) {
	for _, l := range looks {
		if !slices.Contains(l.methods, cmp.Or(c.Method, DefaultMethod)) && !said(l.field) {
			l.forget(c)
		}
	}
}

// Belongs says which methods look at a field.
func (c *Config) Belongs(field string) (text string, args []any) {
	for _, l := range looks {
		if l.field == field {
			return "%s belongs to %s, and the method is %s", []any{c.Fields().Advice("", field, ""), methodsAdvice(l.methods), cmp.Or(c.Method, DefaultMethod)}
		}
	}
	return "", nil
}

// checkLooks finds what was said and is not looked at. Defaults are not in yet.
func (c *Config) checkLooks(k *schemas.Checker, at func(field string) string) {
	fields := c.Fields()
	if c.Method == "" || slices.Contains(Methods, c.Method) { // the table tells of others
		for _, l := range looks {
			f := fields.Field(l.field)
			switch {
			case !f.Said() || Looks(c.Method, l.field):
			case l.field == "perturb" && c.Perturb.Scheme == "": // flags said whose noise it is
				k.Add(at("perturb"), "whose noise it is (%s) belongs to %s",
					advice.Advice{Spec: "by, record_id, record_key", Flags: "--noise-by, --record-id, --record-key"}, methodsAdvice(l.methods))
			default:
				text, args := c.Belongs(l.field)
				k.Add(at(l.field), text, args...)
			}
		}
	}
	outlines := func(path string) bool { return strings.EqualFold(filepath.Ext(path), ".hrc") }
	hrc := false
	for _, path := range c.Hierarchies {
		hrc = hrc || outlines(path)
	}
	if c.Lead != "" && c.Lead != tablefile.DefaultLead && !hrc {
		k.Add(at("lead"), "%s is what stands before codes of .hrc files, and no hierarchy is one", fields.Advice("", "lead", ""))
	}
	if c.Paths && len(c.Hierarchies) == 0 {
		k.Add(at("paths"), "%s tells codes of hierarchies apart, and there is none", fields.Advice("", "paths", ""))
	}
	if c.Absolute && c.Response == "" {
		k.Add(at("absolute"), "%s is of negative contributions to a response, and records are counted", fields.Advice("", "absolute", ""))
	}
	if c.Nodes != nil && (c.Solver == "cbc" || c.Solver == "glpsol") {
		k.Add(at("nodes"), "%s are those of the embedded solver: %s has a limit of time (%s)", fields.Advice("", "nodes", ""), c.Solver, seconds)
	}
}
