package protect

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/schemas"
)

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, _ *schemas.Spec) {
	at := func(field string) string {
		if path == "" {
			return field
		}
		return path + "." + field
	}
	k.TableVariables(path, Name, nil, c.Table)
	for i, v := range c.Table {
		if slices.Contains(schemas.CountColumns, v.Name) || v.Name == schemas.SymbolColumn {
			k.Add(fmt.Sprintf("%s[%d]", at("table"), i), "%s is a name of a column of published tables; rename the variable", v.Name)
		} else if slices.Contains(cellColumns, v.Name) {
			k.Add(fmt.Sprintf("%s[%d]", at("table"), i), "%s is a name of a column of internal tables; rename the variable", v.Name)
		} else if (c.Method == "partial" || c.View == "intervals") && (v.Name == schemas.LowerColumn || v.Name == schemas.UpperColumn) {
			k.Add(fmt.Sprintf("%s[%d]", at("table"), i), "%s is a name of a column of intervals; rename the variable", v.Name)
		}
	}
	k.TwoPolicies(at("missing"), Name, c.Missing)
	c.checkLinked(k, at("linked"))
	for _, f := range []struct {
		name, what string
		files      map[string]string
	}{{"hierarchies", "a hierarchy", c.Hierarchies}, {"recodes", "recodes", c.Recodes}} {
		for _, name := range slices.Sorted(maps.Keys(f.files)) {
			if !slices.ContainsFunc(c.Table, func(v schemas.KeyVariable) bool { return v.Name == name }) {
				k.Add(at(f.name+"."+name), "%s has %s, and is no variable of the table", name, f.what)
			}
		}
	}
	c.checkChanging(k, at)
	c.SAP.check(c, func(field, format string, args ...any) { k.Add(at(field), format, args...) })
	if len(c.Rules) == 0 {
		k.Add(at("rules"), "no rule says which cells disclose; the usual one is {rule: min, n: 3}")
	}
	for i := range c.Rules {
		if wrong := c.Rules[i].wrong(); wrong != "" {
			k.Add(fmt.Sprintf("%s[%d]", at("rules"), i), "%s", wrong)
		}
		if r := c.Rules[i].Rule; c.Response == "" && (r == RuleDominance || r == RulePercent || r == RulePrior) {
			k.Add(
				fmt.Sprintf("%s[%d]", at("rules"), i),
				"the rule %s is for tables of a response; a table of counts takes min, across, contiguous or concentration",
				r,
			)
		}
	}
	for _, f := range []struct{ name, value string }{{"public", c.Out}, {"internal", c.Inside}} {
		if f.value == "" {
			k.Add(at(f.name), "it is not said where what is %s goes (%s)", f.name, f.name)
		}
	}
	switch c.Statistic {
	case "mean", "ratio":
		k.Add(
			at("statistic"),
			"a table of %ss does not add up, so that nothing can be said of what totals give away: protect the sum and the count that it is made of, and publish "+
				"the %s only where both are published",
			c.Statistic,
			c.Statistic,
		)
	case "median":
		k.Add(
			at("statistic"),
			"a table of medians does not add up, so that nothing can be said of what totals give away: protect the count, and publish a median only where it is "+
				"published",
		)
	case "sum":
		if c.Response == "" {
			k.Add(at("statistic"), "a sum is of a response, and none is named (response)")
		}
	case "count":
		if c.Response != "" {
			k.Add(at("statistic"), "counts are of records, and a response is named: leave one of them out")
		}
	}
	if c.Out != "" && c.Inside != "" && within(c.Out, c.Inside) {
		k.Add(at("public"), "%s lies in the folder %s, which must not be published; give it another place", c.Out, c.Inside)
	}
	switch {
	case c.Contributor != "" && slices.ContainsFunc(c.Table, func(v schemas.KeyVariable) bool { return v.Name == c.Contributor }):
		k.Add(at("contributor"), "%s is a variable of the table, and cannot be who contributes to its cells", c.Contributor)
	case c.Decimals != 0 && c.Response == "" && c.Weight == "":
		k.Add(at("decimals"), "decimals are those of a response, and records are counted")
	case c.TotalOnly && c.Weight == "":
		k.Add(at("total_only"), "total_only says how weights count, and there is no weight")
	case c.Weight != "" && c.Contributor != "" && !c.TotalOnly:
		k.Add(at("weight"), "a contributor and weights together: say total_only: true, as a contributor is one, whatever weights his records have")
	case c.Seconds != nil && c.Nodes != nil:
		k.Add(at("nodes"), "there are two limits, seconds and nodes; say one")
	}
}

// within tells whether a file lies in a folder, also by a link.
func within(file, folder string) bool {
	file, first := resolved(file)
	folder, second := resolved(folder)
	return first == nil && second == nil && strings.HasPrefix(file, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// resolved is a path without links, as far as it is there.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), nil
		}
		if at == filepath.Dir(at) {
			return path, nil
		}
	}
}
