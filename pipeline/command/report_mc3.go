package command

import (
	"fmt"

	"microrisk/schemas"
)

// modelled are the summaries of the spec's mc3 operators.
func modelled(spec *schemas.Spec, s *schemas.Summary) []*schemas.MC3Summary {
	var list []*schemas.MC3Summary
	for _, o := range spec.Operators {
		if o.MC3 == nil {
			continue
		}
		if m, ok := s.Operators[o.MC3.ColumnPrefix()].(*schemas.MC3Summary); ok {
			list = append(list, m)
		}
	}
	return list
}

// modelRows are the measures of the file by models of the population.
func modelRows(m *schemas.MC3Summary) [][]cell {
	rows := [][]cell{{left("models"), right(count(int64(len(m.Models)))), left(foundBy(m))}}
	add := func(name string, value *float64, note string) {
		text := "-"
		if value != nil {
			text = figure(*value)
		}
		rows = append(rows, []cell{left("  " + name), right(text), left(note)})
	}
	if len(m.Models) > 0 {
		best := m.Models[0]
		rows = append(rows, []cell{left("  most probable"), right(percent(100 * best.Weight)), left(shorten(best.Cliques, 42))})
	}
	note := "PU: of the population"
	if m.PUSE != nil && *m.PUSE > 0 {
		note += " (± " + figure(*m.PUSE) + ")"
	}
	add("population uniques", m.PU, note)
	add("of sample uniques", m.PUSU, "PU|SU: population uniques among them")
	note = "CM|UM: of a unique match"
	if d := m.CMUMDrawn; d != nil {
		note += " (" + figure(d.Lower) + " to " + figure(d.Upper) + ")"
	}
	add("correct match", m.CMUM, note)
	add("of sample uniques", m.CMSU, "CM|SU: of a sample unique's match")
	part := "E[1/F] over all records"
	if m.ReidentifiedPart != nil {
		part += ", " + percent(*m.ReidentifiedPart)
	}
	add("re-identifications", m.Reidentified, part)
	return rows
}

// foundBy says how the models were found.
func foundBy(m *schemas.MC3Summary) string {
	switch {
	case m.ModelFrom != "":
		return shorten("read from "+printable(m.ModelFrom), 50)
	case m.Search == "fixed":
		return "the graph that was given"
	case m.Search == "exact" && m.Diagnostics.Unseen != nil && *m.Diagnostics.Unseen > 1e-6:
		return fmt.Sprintf("exact search, unseen at most %s", percent(100**m.Diagnostics.Unseen))
	}
	return m.Search + " search"
}
