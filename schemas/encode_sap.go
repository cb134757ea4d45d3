package schemas

import "strconv"

func sapYAML(s *SAP) ordered {
	o := ordered{}
	if prefix := s.ColumnPrefix(); prefix != SAPPrefix {
		o.add("prefix", prefix)
	}
	o = append(o, fieldsOf("by", variablesYAML(s.By), "cells", variablesYAML(s.Cells), "missing", s.Missing)...)
	release := perturbationYAML(&s.Release.Perturbation)
	release.add("base_table", s.Release.BaseTable)
	release.add("total", s.Release.Total)
	var margins []any
	for _, m := range s.Release.Margins {
		if m.Perturb == nil {
			margins = append(margins, listOf(m.Variables))
			continue
		}
		margins = append(margins, append(ordered{{"variables", listOf(m.Variables)}}, perturbationYAML(m.Perturb)...))
	}
	release = append(release, fieldsOf("margins", margins, "published", s.Release.Published)...)
	o.add("release", release)
	o.add("known", listOf(s.Known))
	var impossible []any
	for _, m := range s.Impossible {
		impossible = append(impossible, textsOf(m))
	}
	o.add("impossible", impossible)
	if s.Threshold != nil {
		o = append(o, entry{"threshold", *s.Threshold})
	}
	return append(o, fieldsOf("tables", s.Tables, "replace", s.Replace)...)
}

func perturbationYAML(p *Perturbation) ordered {
	o := fieldsOf("scheme", p.Scheme, "base", p.Base, "tie", p.Tie)
	if p.Probability != nil {
		o = append(o, entry{"probability", *p.Probability})
	}
	o = append(o, fieldsOf("last", p.Last, "value", p.Value)...)
	var rows []any
	for _, row := range p.Matrix {
		r := ordered{}
		for _, x := range row {
			r = append(r, entry{strconv.FormatInt(x.Count, 10), x.Probability})
		}
		rows = append(rows, r)
	}
	return append(o, fieldsOf("matrix", rows, "secret", p.Secret)...)
}
