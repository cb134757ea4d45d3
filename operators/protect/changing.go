package protect

import (
	"math"
	"slices"
	"strings"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// Words of methods that change values, or publish intervals.
var (
	TotalsWords = []string{"own", "sums"}
	Views       = []string{"symbols", "intervals"}
)

// Changing is what methods that change values, or publish intervals, are told.
type Changing struct {
	Perturb *schemas.Perturbation // of perturbation
	Totals  string                // of perturbation: noise of their own, or the sums of what is published of their parts; "": by the scheme
	SD      *float64              // of multiplicative: standard deviation of the factors of margins
	Reach   *float64              // of multiplicative, in standard deviations
	Spread  *float64              // of partial: by how many times its level an interval is wider, by chance
	View    string                // of what is hidden
	Secret  string                // file; "": one is made, and is in the internal log alone
}

// methodsByChance leave something to chance.
var methodsByChance = []string{"perturbation", "multiplicative", "partial"}

// methodsOfPatterns hide cells, and publish others as they are.
var methodsOfPatterns = []string{"none", "optimal", "modular", "hypercube", "network", "hand"}

func (c *Config) changingFields() []schemas.Field {
	return []schemas.Field{
		{Name: "perturb", To: schemas.Maybe(&c.Perturb, perturbFields),
			Flag: &schemas.Flag{Name: "scheme",
				Usage: "perturbation: the `SCHEME` with its parameters, such as random:base=3, normal:sd=2:negative=reflect or isd", Set: c.sayScheme}},
		{Name: "totals", To: &c.Totals, Words: TotalsWords,
			Doc: "perturbation: totals are perturbed by themselves (own), or are the sums of what is published of their parts (sums); without it sums with isd.",
			Flag: &schemas.Flag{Name: "totals",
				Usage: "perturbation: totals are perturbed by themselves (own) or are the published sums (sums) (default: own; sums with isd)"}},
		{Name: "sd", To: &c.SD, Range: schemas.Positive(), Doc: "multiplicative: standard deviation of the factors of margins, such as 0.05.",
			Flag: &schemas.Flag{Name: "sd", Usage: "multiplicative: standard deviation of the factors of margins, such as 0.05"}},
		{Name: "reach", To: &c.Reach, Range: schemas.Within(1, 8), Schema: `"default": 4`, Doc: "multiplicative: how many standard deviations a factor goes.",
			Flag: &schemas.Flag{Name: "reach", Usage: "multiplicative: how many standard deviations a factor goes (default: 4)"}},
		{Name: "spread", To: &c.Spread, Range: schemas.Within(0, 1024), Schema: `"default": 1`,
			Doc: "partial: by up to how many times its level an interval is wider on both sides, by chance, so that nobody can take its middle for the value.",
			Flag: &schemas.Flag{
				Name:  "spread",
				Usage: "partial: by up to how many times its level an interval is wider on both sides, by chance (default: 1)",
			}},
		{Name: "view", To: &c.View, Words: Views, Schema: `"default": "symbols"`,
			Doc: "What stands in the place of hidden values: a symbol alone, or also the interval that anybody can work out.",
			Flag: &schemas.Flag{
				Name:  "view",
				Usage: "what stands in the place of hidden values: symbols, or also the intervals that anybody can work out (default: symbols)",
			}},
		{Name: "secret", To: &c.Secret, Schema: `"minLength": 1`,
			Doc: "File with the secret by which values are left to chance; without it one is made, and is in the internal log alone.",
			Flag: &schemas.Flag{
				Name:  "secret",
				Usage: "`FILE` with the secret of what is left to chance (default: one is made, and is in the internal log alone)",
			}},
	}
}

// perturbFields are those of a scheme; what they say by flags is in one.
func perturbFields(p *schemas.Perturbation) schemas.Table {
	t := p.RecordFields().Without("secret")
	people := p.PeopleFields()
	for i := range t.Fields {
		if !slices.ContainsFunc(people, func(f schemas.Field) bool { return f.Name == t.Fields[i].Name }) {
			t.Fields[i].Flag = nil
		}
	}
	return t
}

// peopleFlags say whose noise it is.
func (c *Config) peopleFlags() []schemas.Field {
	var list []schemas.Field
	for i, f := range new(schemas.People).PeopleFields() {
		flag := *f.Flag
		flag.Set = func(texts []string) error {
			if c.Perturb == nil {
				c.Perturb = &schemas.Perturbation{}
			}
			return c.Perturb.PeopleFields()[i].Say(texts)
		}
		list = append(list, schemas.Field{Name: f.Name, Flag: &flag})
	}
	return list
}

// sayScheme takes a scheme; whose noise it is may have been said before.
func (c *Config) sayScheme(texts []string) error {
	p, err := schemas.ParseScheme(texts[0])
	if err != nil {
		return err
	}
	if c.Perturb != nil {
		p.People = c.Perturb.People
	}
	c.Perturb = p
	return nil
}

// byChance tells whether something is left to chance.
func (c *Config) byChance() bool {
	return slices.Contains(methodsByChance, c.Method) && (c.Method != "perturbation" || c.Perturb != nil && c.Perturb.Random())
}

// people say whose noise it is.
func (c *Config) people() schemas.People {
	if c.Method == "perturbation" {
		return c.Perturb.People
	}
	return schemas.People{}
}

// sums tells whether totals are the sums of what is published of their parts.
func (c *Config) sums() bool {
	return c.Totals == "sums" || c.Totals == "" && c.Perturb.Scheme == "isd"
}

// checkChanging tells what is wrong with what methods are told.
func (c *Config) checkChanging(k *schemas.Checker, at func(field string) string) {
	c.checkLooks(k, at)
	switch c.Method {
	case "perturbation":
		c.checkPerturb(k, at)
	case "multiplicative":
		switch {
		case c.Linked != nil:
			k.Add(at("linked"), "multiplicative noise is of one table of all variables, and tables are linked; take another method")
		case c.SD == nil:
			k.Add(
				at("sd"),
				"multiplicative noise has no standard deviation; say how much margins change: %s",
				advice.Advice{Spec: "sd: 0.05", Flags: "--sd 0.05"},
			)
		case *c.SD*c.reach() >= 1:
			k.Add(
				at("sd"),
				"factors of standard deviation %v that reach %v of them could make a margin negative; their product must be below 1",
				*c.SD,
				c.reach(),
			)
		}
	}
}

// methodsAdvice names methods as a spec and flags do.
func methodsAdvice(methods []string) advice.Advice {
	words := strings.Join(methods, ", ")
	return advice.Advice{Spec: "method: " + words, Flags: "--method " + words}
}

func (c *Config) reach() float64 {
	if c.Reach == nil {
		return schemas.UsualReach
	}
	return *c.Reach
}

func (c *Config) checkPerturb(k *schemas.Checker, at func(field string) string) {
	p := c.Perturb
	if p == nil || p.Scheme == "" || p.Scheme == "none" {
		k.Add(at("perturb"), "perturbation has no scheme; say how values are changed: %s",
			advice.Advice{Spec: "perturb: {scheme: random, base: 3}", Flags: "--scheme random:base=3"})
		return
	}
	magnitudes := c.Response != "" || c.Weight != ""
	judged := *p
	if magnitudes && p.Scheme == "normal" {
		judged.Negative = "truncate" // whether noise is too large depends on the values
	}
	k.Perturbation(at("perturb"), &judged)
	if c.Secret != "" && !p.Random() {
		k.Add(at("secret"), "the scheme %s leaves nothing to chance; leave secret out", p.Scheme)
	}
	if p.Scheme == "matrix" && len(p.Matrix) > 0 &&
		slices.ContainsFunc(p.Matrix[0], func(o schemas.Outcome) bool { return o.Count != 0 && o.Probability > 0 }) {
		k.Add(
			at("perturb.matrix"),
			"0 is published as other counts, and a protected table has no empty cells; begin with {0: 1}, or make the table by tabulate",
		)
	}
	switch {
	case c.sums() && c.Linked != nil:
		k.Add(at("totals"), "linked tables have no finest cells in common, whose sums totals could be; let them have noise of their own: %s",
			advice.Advice{Spec: "totals: own", Flags: "--totals own"})
	case magnitudes && p.Scheme != "normal":
		k.Add(at("perturb.scheme"), "%s is of counts; a response, or weighted counts, take normal noise: %s", p.Scheme,
			advice.Advice{Spec: "{scheme: normal, sd: 10}", Flags: "--scheme normal:sd=10"})
	case magnitudes && p.Negative != "" && p.Negative != "refuse":
		k.Add(at("perturb.negative"), "noise of a response that could change the sign of a value is refused; leave negative out")
	case magnitudes && c.Totals == "sums":
		k.Add(at("totals"), "totals of a response have noise of their own; leave totals out")
	}
}

// names tells the columns that are named.
func (c *Changing) names(path, who string, s schemas.Scope) {
	if c.Perturb != nil {
		c.Perturb.Names(path+".perturb", who, s)
	}
}

// usual is a number, or what is meant where it is not said.
func usual(x *float64, meant float64) float64 {
	if x == nil {
		return meant
	}
	return *x
}

// unitsOfSD is a standard deviation of a response in units.
func (c *Config) unitsOfSD(sd float64) float64 { return sd * math.Pow10(int(c.Decimals)) }
