package command

import (
	"fmt"
	"strings"

	"microrisk/operators/mc3"
	"microrisk/schemas"
)

// A modelSummary is that of an mc3 operator with its prefix.
type modelSummary struct {
	*mc3.Summary
	prefix string
}

// modelled are the summaries of the spec's mc3 operators.
func modelled(spec *schemas.Spec, s *schemas.Summary) []modelSummary {
	var list []modelSummary
	for _, o := range spec.Operators {
		c, ok := o.Config.(*mc3.Config)
		if !ok {
			continue
		}
		if m, ok := s.Operators[c.ColumnPrefix()].(*mc3.Summary); ok {
			list = append(list, modelSummary{m, c.ColumnPrefix()})
		}
	}
	return list
}

// modelRows are the measures of the file by models of the population.
func modelRows(gate *gateReport, prefix string, m *mc3.Summary) [][]cell {
	rows := [][]cell{{left("models"), right(count(int64(len(m.Models)))), left(foundBy(m))}}
	add := func(limit, name string, value *float64, note string) {
		text := "-"
		if value != nil {
			text = figure(*value)
		}
		rows = append(rows, []cell{left("  " + name), right(text), left(gate.limit(limit, prefix, note))})
	}
	if len(m.Models) > 0 {
		best := m.Models[0]
		cliques := best.Cliques
		if len([]rune(cliques)) > shortModel {
			cliques = "which is below"
		}
		rows = append(rows, []cell{left("  most probable"), right(percent(100 * best.Weight)), left(cliques)})
	}
	note := "PU: of the population"
	if m.PUSE != nil && *m.PUSE > 0 {
		note += " (± " + figure(*m.PUSE) + ")"
	}
	add(mc3.LimitPU, "population uniques", m.PU, note)
	add(mc3.LimitPUSU, "of sample uniques", m.PUSU, "PU|SU: population uniques among them")
	note = "CM|UM: of a unique match"
	if d := m.CMUMDrawn; d != nil {
		note += " (" + figure(d.Lower) + " to " + figure(d.Upper) + ")"
	}
	add(mc3.LimitCMUM, "correct match", m.CMUM, note)
	add(mc3.LimitCMSU, "of sample uniques", m.CMSU, "CM|SU: of a sample unique's match")
	part := "E[1/F] over all records"
	if m.Dropped > 0 {
		part = "E[1/F] " + ofRecords(m.Records, m.Dropped)
	}
	if m.ReidentifiedPart != nil {
		part += ", " + percent(*m.ReidentifiedPart)
	}
	add(schemas.LimitReidentifications, "re-identifications", m.Reidentified, part)
	return rows
}

// modelText has the most probable model whole.
func modelText(m *mc3.Summary) string {
	if len(m.Models) == 0 || len([]rune(m.Models[0].Cliques)) <= shortModel {
		return ""
	}
	// Cliques stand whole where they fit on a line.
	return "    most probable model\n" + wrapped("      ", strings.SplitAfter(printable(m.Models[0].Cliques), "]"))
}

// shortModel is how long a model may be that stands in the table itself.
const shortModel = 42

// foundBy says how the models were found.
func foundBy(m *mc3.Summary) string {
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
