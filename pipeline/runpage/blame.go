package runpage

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"microrisk/operators/mc3"
	"microrisk/operators/report"
	"microrisk/operators/suda"
	"microrisk/pipeline/page"
	"microrisk/schemas"
	"microrisk/schemas/pattern"
)

// mostCategories is how many categories are told.
const mostCategories = 12

// blamed are the variables with a part of the score, the largest first.
func blamed(x *suda.Summary) []suda.Blame {
	list := slices.DeleteFunc(slices.Clone(x.Variables), func(v suda.Blame) bool { return !(v.Score > 0) })
	slices.SortStableFunc(list, func(a, b suda.Blame) int { return cmp.Compare(b.Score, a.Score) })
	return list
}

// riskiest are the variables and categories that do most to single records out.
func (m *maker) riskiest() []page.Block {
	x := m.scored()
	if x == nil || x.FileScore == 0 || m.hidden[schemas.LimitSampleUniques] {
		return nil
	}
	t := &page.Table{Caption: "Key variables by their share of the file's SUDA score",
		Head: []page.Cell{page.Left("variable"), page.Right("share of the score"), page.Left("")}}
	for _, v := range blamed(x) {
		t.Rows = append(t.Rows, []page.Cell{page.Left(report.Printable(v.Name)), page.Right(report.Percent(v.Share)), page.Bar(v.Share / 100)})
	}
	blocks := []page.Block{
		page.Text(
			"Which part of the score of the file comes from sets that single records out and have a variable, or a category, in them. Shares add to more than " +
				"100 %, as a set counts for each of its variables.",
		),
		{Table: t},
	}
	if m.public || len(x.Categories) == 0 {
		return blocks
	}
	list := slices.Clone(x.Categories)
	slices.SortStableFunc(list, func(a, b suda.CategoryBlame) int { return cmp.Compare(b.Score, a.Score) })
	c := &page.Table{Caption: "Categories with the largest shares",
		Head: []page.Cell{page.Left("category"), page.Right("share of the score"), page.Right("of its variable's"), page.Left("")}}
	for _, v := range list[:min(len(list), mostCategories)] {
		c.Rows = append(c.Rows, []page.Cell{page.Left(report.Printable(v.Variable) + " = " + report.Value(v.Category)), page.Right(report.Percent(v.Share)),
			page.Right(report.Percent(v.ShareWithin)), page.Bar(v.Share / 100)})
	}
	if blocks = append(blocks, page.Block{Table: c}); len(list) > mostCategories {
		blocks = append(
			blocks,
			page.Note("%s more have a share; the summary document (--summary) has all of them.", report.Count(int64(len(list)-mostCategories))),
		)
	}
	return blocks
}

// mostChanges is how many variables it is told what could be done with.
const mostChanges = 3

// changes are what could be done, by what singles records out.
func (m *maker) changes() []page.Block {
	if m.public {
		return nil
	}
	var blocks []page.Block
	if x := m.scored(); x != nil && x.FileScore > 0 {
		var steps []string
		for _, v := range blamed(x)[:min(len(blamed(x)), mostChanges)] {
			steps = append(steps, m.step(x, v))
		}
		blocks = append(
			blocks,
			page.Text("Begin with the variables that do most. Each step is a try: assess again with it, and compare the figures."),
			page.Block{List: steps},
		)
	} else if x != nil {
		blocks = append(blocks, page.Text("No record can be singled out by these key variables: by them, nothing needs to change."))
	}
	for _, o := range m.measured() {
		if x, ok := o.part.(*mc3.Summary); ok && len(x.Variables) > 0 {
			blocks = append(blocks, page.Block{Table: without(x)})
		}
	}
	if blocks != nil {
		if m.scored() != nil && m.scored().FileScore > 0 {
			warning := "The target k = 3 is an example, and no limit of this page: a release that meets it may still miss a limit. Assess the release again, by the same limits."
			if _, asked := m.targets(); asked {
				warning = "The targets are the limits that this file misses. Assess the release again, by the same limits."
			}
			blocks = append(
				blocks,
				page.Text("Which change loses least, and what less risk would cost, is found by:"),
				page.Block{Code: m.protect()},
				page.Text(warning),
			)
		}
		blocks = append(
			blocks,
			page.Note(
				"What the file loses by a change is not weighed on this page, and what makes sense is for people to say. To release what was assessed, recodes must "+
					"replace the columns (replace: true in a spec): --band and --recode try them, and leave the file as it is.",
			),
		)
	}
	return blocks
}

// plainName is a name that needs no quotes in a list on a command line.
var plainName = pattern.New(`^[A-Za-z0-9_.-]+$`)

// protect is the command that finds the least change.
func (m *maker) protect() string {
	file, key := "FILE", "..."
	if len(m.Inputs) == 1 && plainName().MatchString(filepath.Base(m.Inputs[0])) && m.Inputs[0] != "-" {
		file = filepath.Base(m.Inputs[0])
	}
	if k := m.key(); k != nil && !slices.ContainsFunc(k.Variables, func(v schemas.VariableSummary) bool { return !plainName().MatchString(v.Name) }) {
		key = strings.Join(names(k), ",")
	}
	targets, _ := m.targets()
	sampling := ""
	if s := m.Spec.Sampling; s != nil {
		switch {
		case s.Fraction > 0:
			sampling = fmt.Sprintf(" --fraction %g", s.Fraction)
		case s.PopulationSize > 0:
			sampling = fmt.Sprintf(" --population-size %d", s.PopulationSize)
		case s.Weight != "" && plainName().MatchString(s.Weight):
			sampling = " --weight " + s.Weight
		}
	}
	return "microrisk protect " + file + " --key " + key + sampling + " --target " + strings.Join(targets, " --target ") + " --report change.html"
}

// targets are those of protect that the limits which were missed ask for; an example where there are none.
func (m *maker) targets() (list []string, asked bool) {
	known := map[string]string{schemas.LimitSampleUniques: "uniques", suda.LimitDIS: "dis", mc3.LimitPUSU: "pu_su", schemas.LimitReidentifications: "expected",
		mc3.LimitMaxCorrectMatch: "correct_match"}
	for _, l := range m.Summary.Limits {
		target := fmt.Sprintf("%s=%g", known[l.Limit], l.Allowed)
		if l.Breached && known[l.Limit] != "" && !slices.Contains(list, target) {
			list = append(list, target)
		}
	}
	if list == nil {
		return []string{"k=3"}, false
	}
	return list, true
}

// step says what could be done with a variable.
func (m *maker) step(x *suda.Summary, v suda.Blame) string {
	name := report.Printable(v.Name)
	text := fmt.Sprintf("%s: %s of the score rests on it", name, report.Percent(v.Share))
	if k := m.key(); k != nil {
		for _, c := range k.Variables {
			if c.Name == v.Name {
				text += ", with " + report.Plural(c.Categories, "category", "categories")
			}
		}
	}
	numbers, categories := true, 0
	for _, c := range x.Categories {
		if c.Variable != v.Name || c.Category == nil {
			continue
		}
		categories++
		if _, err := strconv.ParseFloat(*c.Category, 64); err != nil {
			numbers = false
		}
	}
	switch {
	case categories == 0:
		return text + ". Values are missing where others have them: another missing-value policy (--missing) shows what rests on values."
	case numbers && categories > 3:
		return text + fmt.Sprintf(". Take bands, such as --band %s=5, or put the ends together: --recode '%s:top=VALUE'.", v.Name, v.Name)
	case categories > 2:
		return text + fmt.Sprintf(". Put rare categories together: --recode '%s:NEW=OLD|OLD'.", v.Name)
	}
	return text + ". It has few categories: leave it out, or make others coarser first."
}

// without is what the models say of the file without each variable.
func without(x *mc3.Summary) *page.Table {
	t := &page.Table{Caption: "The file without each variable, by the models",
		Head: []page.Cell{page.Left("without"), page.Right("fewer expected finds"), page.Right("sample uniques left"), page.Left("")}}
	list := slices.Clone(x.Variables)
	slices.SortStableFunc(list, func(a, b mc3.RelativeRisk) int { return cmp.Compare(orZero(b.Tau2), orZero(a.Tau2)) })
	for _, v := range list {
		fewer := "-"
		if v.Tau2 != nil {
			fewer = report.Percent(100 * *v.Tau2)
		}
		t.Rows = append(
			t.Rows,
			[]page.Cell{page.Left(report.Printable(v.Name)), page.Right(fewer), page.Right(report.Count(v.SampleUniques)), page.Bar(orZero(v.Tau2))},
		)
	}
	return t
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}
