package link

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/linkage"
	"microrisk/engine/tabular"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// problem puts samples and tables into the engine's words.
func (l *linking) problem() (*linkage.Problem, *released.Codebook, error) {
	words := &released.Codebook{}
	for _, v := range l.overlap.Variables {
		words.Add(v.Name) // the overlap comes first
	}
	for _, s := range l.samples {
		words.AddTable(s.table)
	}
	for _, t := range l.tables {
		for _, v := range t.Variables {
			words.Take(v.Name, v.Categories)
		}
	}
	for _, v := range l.Levels {
		if words.Variable(v.Name) >= 0 {
			words.Add(v.Name, v.Levels...)
		}
	}
	p := &linkage.Problem{Tight: l.Bounds == "tight", Convolve: l.Convolve}
	for v := range words.Len() {
		p.Levels = append(p.Levels, words.Levels(v))
	}
	for v := range l.overlap.Variables {
		p.Overlap = append(p.Overlap, v)
	}
	for _, s := range l.samples {
		c, err := words.Counts(s.table)
		if err != nil {
			return nil, nil, err
		}
		p.Samples = append(p.Samples, c)
	}
	for kind, t := range l.tables {
		for _, m := range t.Margins {
			p.Tables = append(p.Tables, linkage.Table{Name: m.Name, Kernel: m.Kernel, Sample: kind == 2, Counts: words.Margin(t, m)})
		}
	}
	for _, v := range words.Variables() {
		p.Open = append(p.Open, l.categoriesOf(v.Name) == nil && !l.listed(v.Name))
	}
	return p, words, nil
}

// levels are the declared categories of a variable, nil for none.
func (l *linking) levels(name string) []string {
	for _, v := range l.Levels {
		if v.Name == name {
			return v.Levels
		}
	}
	return nil
}

// categoriesOf are the declared categories of a variable, in the key or apart.
func (l *linking) categoriesOf(name string) []string {
	for _, v := range l.overlap.Variables {
		if v.Name == name {
			return v.Levels
		}
	}
	return l.levels(name)
}

// checkLevels has declared categories be of a variable that there is, and the tables have no others.
func (l *linking) checkLevels() error {
	declared := slices.Clone(l.overlap.Variables)
	for _, v := range l.Levels {
		used := slices.ContainsFunc(declared, func(w schemas.KeyVariable) bool { return w.Name == v.Name })
		if !used {
			declared = append(declared, v)
		}
		for _, t := range l.tables {
			used = used || t.Find(v.Name) >= 0
		}
		if !used {
			return session.Wrong(fmt.Errorf("levels are declared of %s, which is no variable of the overlap or of a table", v.Name))
		}
	}
	for _, v := range declared {
		if v.Levels == nil {
			continue
		}
		for _, t := range l.tables {
			at := t.Find(v.Name)
			if at < 0 {
				continue
			}
			for _, c := range t.Variables[at].Categories {
				if c.Kind == tabular.Value && !slices.Contains(v.Levels, c.Label) {
					return session.Wrong(
						schemas.Contradiction(
							"levels",
							v.Name,
							"a table has %s = %q, which is not among its levels (%s)",
							v.Name,
							c.Label,
							strings.Join(v.Levels, ", "),
						),
					)
				}
			}
		}
	}
	return nil
}

// listed tells whether a table lists all categories of a variable: those that an exact one lacks have nobody, and one that lists its
// zeros lists all of its categories. Of another perturbed one a category may be left out since all its counts were published as 0.
func (l *linking) listed(name string) bool {
	for kind, t := range l.tables {
		if kind == 2 { // counted from samples
			continue
		}
		for _, m := range t.Margins {
			if !slices.Contains(m.Variables, t.Find(name)) {
				continue
			}
			if _, high, _ := m.Kernel.Bounds(0); high == 0 || m.Full() {
				return true
			}
		}
	}
	return false
}

// unlisted says of which variables categories were allowed for that no file lists, "" for none.
func (l *linking) unlisted(p *linkage.Problem, words *released.Codebook) string {
	var names []string
	for v, variable := range words.Variables() {
		if p.Open[v] {
			names = append(names, variable.Name)
		}
	}
	if !p.Tight || len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(
		"tight bounds allow for categories of %s that no sample or table lists: if there are none, declare them (levels)",
		strings.Join(names, ", "),
	)
}
