package mc3

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"microrisk/operators/report"
	"microrisk/schemas"
)

// Report is a Reporting operator's: the figures of the file, the most probable model, and what was asked for besides.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	m := document.(*Summary)
	parts := []report.Part{{Apart: true, Rows: modelRows(m)}}
	if len(m.Models) > 0 && len([]rune(m.Models[0].Cliques)) > shortModel {
		// Cliques stand whole where they fit on a line.
		cliques := slices.DeleteFunc(strings.SplitAfter(report.Printable(m.Models[0].Cliques), "]"), func(s string) bool { return s == "" })
		parts = append(parts, report.Part{Label: "    most probable model", Words: cliques})
	}
	if m.Halves != nil && m.Halves.sentence() != "" {
		parts = append(parts, report.Part{Note: m.Halves.sentence()})
	}
	return report.Section{Place: report.Modelled, Parts: slices.Concat(parts, relativeParts(m), baselineParts(m))}
}

// Head is a Heading operator's.
func (c *Config) Head(_ *schemas.Spec, document any) *report.Head {
	m := document.(*Summary)
	return &report.Head{Rank: 1, Records: m.Records}
}

// modelRows are the measures of the file by models of the population.
func modelRows(m *Summary) [][]report.Cell {
	models := int64(len(m.Models))
	if m.Fit == FitEach {
		models = m.Domains().Count
	}
	rows := [][]report.Cell{{report.Left("models"), report.Right(report.Count(models)), report.Left(foundBy(m))}}
	add := func(limit, name string, value *float64, note string) {
		for _, i := range m.Intervals {
			if i.Measure == limit {
				note, _, _ = strings.Cut(note, ":")
				note += " (" + report.Figure(i.Lower) + " to " + report.Figure(i.Upper) + ")"
			}
		}
		text := "-"
		if value != nil {
			text = report.Figure(*value)
		}
		rows = append(rows, []report.Cell{report.Left("  " + name), report.Right(text), report.Limited(limit, note)})
	}
	if len(m.Models) > 0 {
		best := m.Models[0]
		cliques := best.Cliques
		if len([]rune(cliques)) > shortModel {
			cliques = "which is below"
		}
		rows = append(rows, []report.Cell{report.Left("  most probable"), report.Right(report.Percent(100 * best.Weight)), report.Left(cliques)})
	}
	if e := m.Effects; e != nil {
		rows = append(rows, []report.Cell{report.Left("  effects of cells"), report.Right(report.Figure(e.Sigma)), report.Left("sigma " + fitOf(e))})
	}
	rows = append(rows, m.Known.Rows()...)
	note := "PU: of the population"
	if m.PUSE != nil && *m.PUSE > 0 {
		note += " (± " + report.Figure(*m.PUSE) + ")"
	}
	add(LimitPU, "population uniques", m.PU, note)
	add(LimitPUSU, "of sample uniques", m.PUSU, "PU|SU: population uniques among them")
	note = "CM|UM: of a unique match"
	if d := m.CMUMDrawn; d != nil {
		note += " (" + report.Figure(d.Lower) + " to " + report.Figure(d.Upper) + ")"
	}
	add(LimitCMUM, "correct match", m.CMUM, note)
	add(LimitCMSU, "of sample uniques", m.CMSU, "CM|SU: of a sample unique's match")
	part := "E[1/F] over all records"
	if m.Intervals != nil {
		part = "E[1/F]"
	}
	if m.Dropped > 0 {
		part = "E[1/F] " + report.OfRecords(m.Records, m.Dropped)
	}
	if m.ReidentifiedPart != nil {
		part += ", " + report.Percent(*m.ReidentifiedPart)
	}
	add(schemas.LimitReidentifications, "re-identifications", m.Reidentified, part)
	return rows
}

// fitOf says in a few words how well models foretell how many keys have one record, two, and so on.
func fitOf(e *EffectsSummary) string {
	if e.Unknown != "" {
		return "(" + e.Unknown + ")"
	}
	worst := FrequencyRow{}
	for _, f := range e.Frequencies {
		if math.Abs(f.Deviation) > math.Abs(worst.Deviation) {
			worst = f
		}
	}
	text := ""
	if e.SE != nil {
		text = "± " + report.Figure(*e.SE) + "; "
	}
	if math.Abs(worst.Deviation) < 3 {
		return text + "keys of 1 to 6 records are as foretold"
	}
	return text + fmt.Sprintf("%s keys of %s, foretold %s", report.Count(worst.Observed), report.Plural(worst.Records, "record", "records"),
		report.Count(int64(math.Round(worst.Expected))))
}

// fewUniques is how many sample uniques halves have at least of which a report tells.
const fewUniques = 20

// sentence says how the models do on half of the sample; nothing of few sample uniques.
func (h *Halves) sentence() string {
	if h.Uniques < fewUniques {
		return ""
	}
	halves := "a random half"
	if h.Halves > 1 {
		halves = fmt.Sprintf("%d random halves", h.Halves)
	}
	text := fmt.Sprintf("Tried on %s of the records: of %s there, %s should be alone in all records, and %s are",
		halves, report.Plural(h.Uniques, "unique key", "unique keys"), report.Percent(100*h.PUSU.Estimate), report.Percent(100*h.PUSU.Observed))
	switch by := h.PUSU.Off(); {
	case by > 0:
		return text + ": the models overstate the risk."
	case by < 0:
		return text + ": the models understate the risk."
	}
	return text + "."
}

// shortModel is how long a model may be that stands in the table itself.
const shortModel = 42

// foundBy says how the models were found.
func foundBy(m *Summary) string {
	switch {
	case m.Fit == FitEach:
		return "one a domain, " + m.Search + " search"
	case m.ModelFrom != "":
		return report.Shorten("read from "+report.Printable(m.ModelFrom), 50)
	case m.Search == "fixed":
		return "the graph that was given"
	case m.Search == "exact" && m.Diagnostics.Unseen != nil && *m.Diagnostics.Unseen > 1e-6:
		return fmt.Sprintf("exact search, unseen at most %s", report.Percent(100**m.Diagnostics.Unseen))
	}
	return m.Search + " search"
}

// mostCategories is how many categories the tables of relative risk name.
const mostCategories = 5

// orDash is a figure, or a dash where there is none.
func orDash(x *float64) string {
	if x == nil {
		return "-"
	}
	return report.Figure(*x)
}

func percentOrDash(x *float64) string {
	if x == nil {
		return "-"
	}
	return report.Percent(100 * *x)
}

// inverse is 1/x: a ratio of all to without becomes what is left of the whole.
func inverse(x *float64) string {
	if x == nil || !(*x > 0) {
		return "-"
	}
	return report.Figure(1 / *x)
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// relativeParts are what --relative-risk asks for: the risk without each variable, and the categories whose collapse or suppression helps
// most.
func relativeParts(m *Summary) []report.Part {
	if len(m.Variables) == 0 {
		return nil
	}
	rows := [][]report.Cell{
		{report.Left("without variable"), report.Right("fewer correct matches"), report.Right("CM|UM, times"), report.Right("sample uniques left")},
	}
	list := slices.Clone(m.Variables)
	slices.SortStableFunc(list, func(a, b RelativeRisk) int { return cmp.Compare(orZero(b.Tau2), orZero(a.Tau2)) })
	for _, v := range list {
		rows = append(
			rows,
			[]report.Cell{
				report.Left("  " + report.Printable(v.Name)),
				report.Right(percentOrDash(v.Tau2)),
				report.Right(inverse(v.Theta)),
				report.Right(report.Count(v.SampleUniques)),
			},
		)
	}
	parts := []report.Part{{Apart: true, Rows: rows}}
	for _, way := range []struct {
		title string
		of    func(CategoryRisk) *float64
	}{
		{"categories to collapse", func(c CategoryRisk) *float64 { return c.CollapseTau2 }},
		{"categories to suppress", func(c CategoryRisk) *float64 { return c.SuppressTau2 }},
	} {
		parts = append(parts, categoryParts(way.title, m.Categories, way.of)...)
	}
	return parts
}

// categoryParts have the categories for which a change takes away the most correct matches.
func categoryParts(title string, list []CategoryRisk, of func(CategoryRisk) *float64) []report.Part {
	list = slices.DeleteFunc(slices.Clone(list), func(c CategoryRisk) bool { return !(orZero(of(c)) > 0) })
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b CategoryRisk) int { return cmp.Compare(*of(b), *of(a)) })
	rows := [][]report.Cell{{report.Left(title), report.Right("fewer correct matches"), report.Right("its sample uniques")}}
	for _, c := range list[:min(mostCategories, len(list))] {
		rows = append(
			rows,
			[]report.Cell{
				report.Left("  " + report.Printable(c.Variable) + " = " + report.Value(c.Category)),
				report.Right(percentOrDash(of(c))),
				report.Right(report.Count(c.SuppressedUnique)),
			},
		)
	}
	return []report.Part{{Apart: true, Rows: rows}}
}

// baselineParts are what --baselines asks for: the file's measures by simpler models, beside those by the models that were found.
func baselineParts(m *Summary) []report.Part {
	if len(m.Baselines) == 0 {
		return nil
	}
	rows := [][]report.Cell{{report.Left("simpler models"), report.Right("PU"), report.Right("PU|SU"), report.Right("CM|UM"), report.Right("CM|SU")}}
	for _, b := range append([]Baseline{{Name: "(mc3)", PU: m.PU, PUSU: m.PUSU, CMUM: m.CMUM, CMSU: m.CMSU}}, m.Baselines...) {
		rows = append(
			rows,
			[]report.Cell{
				report.Left("  " + b.Name),
				report.Right(orDash(b.PU)),
				report.Right(orDash(b.PUSU)),
				report.Right(orDash(b.CMUM)),
				report.Right(orDash(b.CMSU)),
			},
		)
	}
	parts := []report.Part{{Apart: true, Rows: rows}}
	for _, b := range m.Baselines {
		if b.Note != "" {
			parts = append(parts, report.Part{Note: b.Name + ": " + b.Note})
		}
	}
	return parts
}
