package command

import (
	"cmp"
	"microrisk/operators/mc3"
	"slices"
)

// mostCategories is how many categories the tables of relative risk name.
const mostCategories = 5

// orDash is a figure, or a dash where there is none.
func orDash(x *float64) string {
	if x == nil {
		return "-"
	}
	return figure(*x)
}

func percentOrDash(x *float64) string {
	if x == nil {
		return "-"
	}
	return percent(100 * *x)
}

// relativeText is what --relative-risk asks for: the risk without each variable, and the categories whose collapse or suppression helps
// most.
func relativeText(m *mc3.Summary) string {
	if len(m.Variables) == 0 {
		return ""
	}
	rows := [][]cell{{left("without variable"), right("fewer correct matches"), right("CM|UM, times"), right("sample uniques left")}}
	list := slices.Clone(m.Variables)
	slices.SortStableFunc(list, func(a, b mc3.RelativeRisk) int { return cmp.Compare(orZero(b.Tau2), orZero(a.Tau2)) })
	for _, v := range list {
		rows = append(rows, []cell{left("  " + printable(v.Name)), right(percentOrDash(v.Tau2)), right(inverse(v.Theta)), right(count(v.SampleUniques))})
	}
	text := table("  ", rows)
	for _, way := range []struct {
		title string
		of    func(mc3.CategoryRisk) *float64
	}{
		{"categories to collapse", func(c mc3.CategoryRisk) *float64 { return c.CollapseTau2 }},
		{"categories to suppress", func(c mc3.CategoryRisk) *float64 { return c.SuppressTau2 }},
	} {
		text += categoryText(way.title, m.Categories, way.of)
	}
	return text
}

// categoryText has the categories for which a change takes away the most correct matches.
func categoryText(title string, list []mc3.CategoryRisk, of func(mc3.CategoryRisk) *float64) string {
	list = slices.DeleteFunc(slices.Clone(list), func(c mc3.CategoryRisk) bool { return !(orZero(of(c)) > 0) })
	if len(list) == 0 {
		return ""
	}
	slices.SortStableFunc(list, func(a, b mc3.CategoryRisk) int { return cmp.Compare(*of(b), *of(a)) })
	rows := [][]cell{{left(title), right("fewer correct matches"), right("its sample uniques")}}
	for _, c := range list[:min(mostCategories, len(list))] {
		rows = append(rows, []cell{left("  " + printable(c.Variable) + " = " + valueText(c.Category)), right(percentOrDash(of(c))), right(count(c.SuppressedUnique))})
	}
	return "\n" + table("  ", rows)
}

// inverse is 1/x: a ratio of all to without becomes what is left of the whole.
func inverse(x *float64) string {
	if x == nil || !(*x > 0) {
		return "-"
	}
	return figure(1 / *x)
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// baselineText is what --baselines asks for: the file's measures by simpler models, beside those by the models that were found.
func baselineText(m *mc3.Summary) string {
	if len(m.Baselines) == 0 {
		return ""
	}
	rows := [][]cell{{left("simpler models"), right("PU"), right("PU|SU"), right("CM|UM"), right("CM|SU")}}
	for _, b := range append([]mc3.Baseline{{Name: "(mc3)", PU: m.PU, PUSU: m.PUSU, CMUM: m.CMUM, CMSU: m.CMSU}}, m.Baselines...) {
		rows = append(rows, []cell{left("  " + b.Name), right(orDash(b.PU)), right(orDash(b.PUSU)), right(orDash(b.CMUM)), right(orDash(b.CMSU))})
	}
	text := table("  ", rows)
	for _, b := range m.Baselines {
		if b.Note != "" {
			text += note(b.Name + ": " + b.Note)
		}
	}
	return text
}
