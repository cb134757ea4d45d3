package protect

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

// always are fields that all methods look at, or that are judged by themselves, with what they do.
var always = map[string]string{
	"prefix": "names the summary", "table": "the cells", "missing": "the cells", "linked": "the cells; multiplicative refuses it", "hierarchies": "the cells",
	"recodes": "the cells", "paths": "the cells, and refused without a hierarchy", "lead": "the cells, and refused without an .hrc file", "total": "the files",
	"response": "the values", "statistic": "judged against the response", "decimals": "the values, and refused for counts", "contributor": "the rules",
	"weight": "the values", "total_only": "the rules, and refused without weights", "absolute": "the rules, and refused without a response",
	"rules": "the unsafe cells", "overrides": "the unsafe cells", "sap": "figures of their own", "method": "itself", "profile": "the log", "topic": "the log",
	"public": "the files", "internal": "the files",
}

// valued is a config with a value of a field, and all that the field needs but for a method.
func valued(t *testing.T, method, field string) *Config {
	c := &Config{Table: []schemas.KeyVariable{{Name: "a"}, {Name: "b"}}, Rules: []Rule{{Rule: "min"}}, Method: method, Out: "p.csv", Inside: "in"}
	switch method {
	case "perturbation":
		c.Perturb = &schemas.Perturbation{Scheme: "random", Base: 3}
	case "multiplicative":
		c.SD = new(0.05)
	case "hand":
		c.Overrides = "o.csv"
	}
	text := map[string]string{"sliding": "2", "base": "5", "cost": "unity", "margins": "all", "insider": "off", "beforehand": "nothing", "seconds": "5",
		"nodes": "5", "solver": "embedded", "perturb": "random:base=3", "totals": "own", "sd": "0.05", "reach": "3", "spread": "2", "view": "symbols",
		"secret": "file"}[field]
	f := fieldOf(c, field)
	require.NoError(t, f.Say([]string{text}))
	return c
}

func fieldOf(c *Config, name string) *schemas.Field {
	t := c.Fields()
	return t.Field(name)
}

// judged is what is wrong with a config.
func judged(c *Config) error {
	return schemas.CheckDocument(wholeConfig{c})
}

type wholeConfig struct{ *Config }

func (d wholeConfig) Check(c *schemas.Checker) { d.Config.Check(c, "", nil) }

// Every field is looked at by all methods, for a reason, or is refused with each method that does not look at it, and taken by those that do.
func TestFieldsAreLookedAtOrRefused(t *testing.T) {
	fields := new(Config).Fields()
	for _, f := range fields.Fields {
		at := slices.IndexFunc(looks, func(l look) bool { return l.field == f.Name })
		if _, is := always[f.Name]; is {
			require.Negative(t, at, f.Name)
			continue
		}
		require.GreaterOrEqual(t, at, 0, "%s: no method is said to look at it", f.Name)
		for _, method := range append([]string{""}, Methods...) {
			c := valued(t, method, f.Name)
			require.True(t, fieldOf(c, f.Name).Said())
			if err := judged(c); Looks(method, f.Name) {
				require.NoError(t, err, "%s, %s", method, f.Name)
			} else {
				require.ErrorContains(t, err, f.Name+" belongs to method: ", method)
				other := c.For(cmp.Or(method, DefaultMethod))
				require.False(t, fieldOf(&other, f.Name).Said())
				require.NoError(t, judged(&other))
			}
		}
	}
	for _, l := range looks {
		require.NotNil(t, fields.Field(l.field), l.field)
		for _, m := range l.methods {
			require.Contains(t, Methods, m)
		}
	}
}

// What says how files are read, or values count, is refused where there are none such.
func TestFieldsWithoutWhatTheyAreOf(t *testing.T) {
	config := func() *Config { return valued(t, "optimal", "margins") }
	for says, change := range map[string]func(c *Config){
		"no hierarchy is one":                    func(c *Config) { c.Lead = "#"; c.Hierarchies = map[string]string{"a": "a.csv"} },
		"and there is none":                      func(c *Config) { c.Paths = true },
		"and records are counted":                func(c *Config) { c.Absolute = true },
		"nodes are those of the embedded solver": func(c *Config) { c.Nodes, c.Solver = new(5), "cbc" },
		"total_only says how weights count":      func(c *Config) { c.TotalOnly = true },
		"decimals are those of a response":       func(c *Config) { c.Decimals = 2 },
	} {
		c := config()
		change(c)
		require.ErrorContains(t, judged(c), says)
	}
	c := config()
	c.Lead, c.Paths, c.Hierarchies = "#", true, map[string]string{"a": "a.HRC"}
	require.NoError(t, judged(c))
}
