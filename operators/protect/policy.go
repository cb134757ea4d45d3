package protect

import (
	"errors"

	"microrisk/schemas"
)

// PolicyFields are the names of the fields that a policy of an office can have: which cells are unsafe, and how they are protected.
var PolicyFields = []string{
	"rules",
	"sliding",
	"method",
	"base",
	"cost",
	"margins",
	"insider",
	"beforehand",
	"perturb",
	"totals",
	"sd",
	"reach",
	"spread",
	"view",
}

// A Policy is what rules and method were taken from. It changes nothing, and stands in the internal log.
type Policy struct {
	Profile string // name and version
	Topic   string // of the table
}

func (p *Policy) fields() []schemas.Field {
	return []schemas.Field{
		{
			Name: "profile",
			To:   &p.Profile,
			Doc:  "What policy the rules and the method were taken from, for the internal log: a name and a version. It changes nothing.",
		},
		{Name: "topic", To: &p.Topic, Doc: "What the table is about, for the internal log. It changes nothing."},
	}
}

// Take puts what a policy says in the place of what the config says.
func (c *Config) Take(from *Config) {
	if from.Rules != nil {
		c.Rules = from.Rules
	}
	take(&c.Sliding, from.Sliding)
	take(&c.Method, from.Method)
	take(&c.Base, from.Base)
	take(&c.Cost, from.Cost)
	take(&c.Margins, from.Margins)
	take(&c.Insider, from.Insider)
	take(&c.Beforehand, from.Beforehand)
	take(&c.Totals, from.Totals)
	take(&c.SD, from.SD)
	take(&c.Reach, from.Reach)
	take(&c.Spread, from.Spread)
	take(&c.View, from.View)
	if from.Perturb != nil {
		scheme := *from.Perturb
		c.Perturb = &scheme
	}
}

func take[T comparable](to *T, from T) {
	var none T
	if from != none {
		*to = from
	}
}

// Check finds what is wrong with a rule by itself.
func (r *Rule) Check() error {
	if wrong := r.wrong(); wrong != "" {
		return errors.New(wrong)
	}
	return nil
}
