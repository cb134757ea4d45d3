package sap

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/schemas"
)

// releaseFields is the field table of the release, with the flags that are about the cells too.
func (s *Config) releaseFields() schemas.Table {
	t := s.Release.Fields()
	t.Field("margins").Flag = &schemas.Flag{Name: "margins", Many: true, Set: s.sayMargins,
		Usage: "`VARIABLES` of a margin that is released too, separated by commas; may be repeated; all for all of them, as tabulate --margins writes"}
	t.Further = append(t.Further, schemas.Field{Flag: &schemas.Flag{Name: "perturbed-margin", Many: true, Set: s.sayPerturbed,
		Usage: "`VARIABLES` of a margin that is released with a scheme of its own, SEX,HEALTH=SCHEME:base=3:tie=up (also probability, last, value; none: exactly); may be repeated"}})
	return t
}

// sayMargins takes margins of a command line.
func (s *Config) sayMargins(texts []string) error {
	for _, text := range texts {
		margin, err := schemas.Words(text)
		if err != nil {
			return err
		}
		if len(margin) == 1 && margin[0] == "all" {
			s.Release.Margins = append(s.Release.Margins, allMargins(s.Cells)...)
			continue
		}
		s.Release.Margins = append(s.Release.Margins, Margin{Variables: margin})
	}
	return nil
}

// sayPerturbed takes margins with schemes of their own.
func (s *Config) sayPerturbed(texts []string) error {
	for _, text := range texts {
		names, p, err := schemas.SchemeBehind("VARIABLES", text)
		if err != nil {
			return err
		}
		margin, err := schemas.Words(names)
		if err != nil {
			return err
		}
		same := func(m Margin) bool {
			return slices.Equal(slices.Sorted(slices.Values(m.Variables)), slices.Sorted(slices.Values(margin)))
		}
		if at := slices.IndexFunc(s.Release.Margins, same); at >= 0 && s.Release.Margins[at].Perturb == nil {
			s.Release.Margins[at].Perturb = p // one of all
			continue
		}
		s.Release.Margins = append(s.Release.Margins, Margin{Variables: margin, Perturb: p})
	}
	return nil
}

// sayImpossible takes combinations, VAR=VALUE,VAR=VALUE each.
func (s *Config) sayImpossible(texts []string) error {
	for _, text := range texts {
		parts, err := schemas.Words(text)
		if err != nil {
			return err
		}
		combination := map[string]string{}
		for _, part := range parts {
			name, value, ok := strings.Cut(part, "=")
			if !ok || name == "" {
				return fmt.Errorf("%q is no combination; write such as SEX=m,HEALTH=pregnant", text)
			}
			combination[name] = value
		}
		s.Impossible = append(s.Impossible, combination)
	}
	return nil
}

// allMargins are those over some but not all of the variables, and not over none.
func allMargins(cells []schemas.KeyVariable) []Margin {
	var margins []Margin
	for set := 1; set < 1<<min(len(cells), 16)-1; set++ {
		var names []string
		for v, c := range cells {
			if set>>v&1 != 0 {
				names = append(names, c.Name)
			}
		}
		margins = append(margins, Margin{Variables: names})
	}
	return margins
}
