package runpage

import (
	"path/filepath"
	"strings"

	"microrisk/operators/report"
	"microrisk/pipeline/page"
)

// settings are what was asked, with which program.
func (m *maker) settings() []page.Block {
	facts := &page.Table{Caption: "Settings", Head: []page.Cell{page.Left("setting"), page.Left("value")}}
	add := func(name, value string) {
		if value != "" {
			facts.Rows = append(facts.Rows, []page.Cell{page.Left(name), page.Left(value)})
		}
	}
	var inputs, measures []string
	for _, path := range m.Inputs {
		if path != "-" && m.public {
			path = filepath.Base(path)
		}
		inputs = append(inputs, report.Printable(path))
	}
	for _, o := range m.measured() {
		measures = append(measures, o.prefix)
	}
	add("program", m.Summary.Program)
	add("input", strings.Join(inputs, ", "))
	if !m.public {
		add("written to", report.Printable(strings.Join(m.Outputs, ", ")))
	}
	add("measures", strings.Join(measures, ", "))
	switch s := m.Summary.Sampling; {
	case s.Weight != "":
		add("sampling", "weights: "+report.Printable(s.Weight))
	case m.Spec.Sampling == nil:
		add("sampling", "not said: nothing can be told of the population")
	}
	if f := m.Summary.Sampling.Fraction; f != nil {
		add("sampling fraction", report.Figure(*f))
	}
	if n := m.Summary.Sampling.PopulationSize; n != nil {
		add("population size", report.Figure(*n))
	}
	if m.Profile != nil {
		add("profile of limits", m.Profile.Called())
	}
	add("seed", report.Count(int64(m.Summary.Seed)))
	blocks := []page.Block{{Table: facts}}
	if t := m.variables(); t != nil {
		blocks = append(blocks, page.Block{Table: t})
	}
	if !m.public {
		blocks = append(blocks, page.Block{Heading: "Spec", Text: "What microrisk run repeats:"}, page.Block{Code: string(m.Spec.YAML())})
	}
	return blocks
}

// variables are those of the key.
func (m *maker) variables() *page.Table {
	k := m.key()
	if k == nil {
		return nil
	}
	t := &page.Table{
		Caption: "Key variables",
		Head:    []page.Cell{page.Left("variable"), page.Right("categories"), page.Right("missing"), page.Left("missing values")},
	}
	policies := map[string]string{
		"category": "a category of their own",
		"wildcard": "could be any",
		"ignore":   "in no set that singles out",
		"drop":     "records are left out",
	}
	for _, v := range k.Variables {
		missing := report.Count(v.Missing)
		if m.small(v.Missing) || m.small(m.Summary.Rows-v.Missing) {
			missing = "not told"
		}
		words := v.Policy
		if said := policies[v.Policy]; said != "" {
			words = v.Policy + ": " + said
		}
		t.Rows = append(t.Rows, []page.Cell{page.Left(report.Printable(v.Name)), page.Right(report.Count(v.Categories)), page.Right(missing), page.Left(words)})
	}
	return t
}

// all is what operators tell at the end of a run, as the terminal has it.
func (m *maker) all() []page.Block {
	if m.public {
		return nil
	}
	var blocks []page.Block
	for _, o := range m.measured() {
		c, ok := o.config.(report.Reporting)
		if !ok {
			continue
		}
		begun := len(blocks)
		for _, p := range c.Report(m.Spec, o.part).Parts {
			blocks = append(blocks, partOf(o.prefix, p)...)
		}
		if len(blocks) > begun {
			blocks[begun].Heading = o.prefix
		}
	}
	return blocks
}

// partOf is a part of a report as blocks.
func partOf(prefix string, p report.Part) []page.Block {
	var blocks []page.Block
	if p.Rows != nil {
		t := &page.Table{Caption: "What " + prefix + " tells at the end of a run"}
		width := 0
		for _, row := range p.Rows {
			width = max(width, len(row))
		}
		for _, row := range p.Rows {
			cells := make([]page.Cell, width)
			for i, c := range row {
				cells[i] = page.Cell{Text: strings.TrimSpace(c.Text), Number: c.Right}
			}
			t.Rows = append(t.Rows, cells)
		}
		blocks = append(blocks, page.Block{Table: t})
	}
	if text := strings.TrimSpace(p.Label + " " + strings.Join(p.Texts, "; ") + " " + strings.Join(p.Words, "")); text != "" {
		blocks = append(blocks, page.Note("%s", text))
	}
	if p.Note != "" {
		blocks = append(blocks, page.Note("%s", p.Note))
	}
	return blocks
}
