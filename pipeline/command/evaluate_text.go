package command

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"microrisk/operators/report"
	"microrisk/pipeline/evaluate"
)

// mean writes a mean with its standard error, and of how many samples it is if not of all.
func mean(f evaluate.MeanFigure, all int) string {
	if f.Mean == nil {
		return "-"
	}
	text := strconv.FormatFloat(*f.Mean, 'f', 3, 64)
	if f.SE != nil {
		text += " ± " + strconv.FormatFloat(*f.SE, 'f', 3, 64)
	}
	if f.Samples < all {
		text += fmt.Sprintf(" (%d of %d)", f.Samples, all)
	}
	return text
}

// shownPairs is how many pairs of scores are compared on the terminal.
const shownPairs = 6

// differences tell which of two scores is the better one, sample by sample.
func differences(list []evaluate.ScorePair, all int) string {
	if len(list) == 0 {
		return ""
	}
	rows := [][]report.Cell{{report.Left("difference, sample by sample"), report.Left("AUC"), report.Left("slope")}}
	for _, c := range list[:min(len(list), shownPairs)] {
		rows = append(rows, []report.Cell{report.Left(c.First + " - " + c.Second), report.Left(mean(c.AUC, all)), report.Left(mean(c.Slope, all))})
	}
	text := "\n" + table("  ", rows)
	if more := len(list) - shownPairs; more > 0 {
		text += fmt.Sprintf("  and %s\n", report.Plural(int64(more), "pair more", "pairs more"))
	}
	return text
}

// shownDomains is how many domains the terminal tells of.
const shownDomains = 8

// judgedDomains compares a score with the truth in the domains with the most population uniques: of those that estimate a chance the one that
// tells population uniques best.
func judgedDomains(e *evaluate.Evaluation, f evaluate.FractionSummary) string {
	if len(f.Domains) == 0 {
		return ""
	}
	score, best := 0, -1.0
	for k, s := range f.Domains[0].Scores {
		if auc := f.Scores[k].AUC.Mean; s.Truth.Mean != nil && auc != nil && *auc > best {
			score, best = k, *auc
		}
	}
	rows := [][]report.Cell{{report.Left("by " + strings.Join(e.By, ", ")), report.Right("records"), report.Right("sample uniques"),
		report.Right("population uniques"), report.Left(f.Domains[0].Scores[score].Name), report.Left("true"), report.Left("AUC")}}
	list := slices.Clone(f.Domains)
	slices.SortStableFunc(list, func(a, b evaluate.DomainSummary) int { return cmp.Compare(b.PopulationUniques, a.PopulationUniques) })
	for _, d := range list[:min(len(list), shownDomains)] {
		var values []string
		for _, v := range d.Values {
			values = append(values, report.Value(v))
		}
		s := d.Scores[score]
		rows = append(rows, []report.Cell{report.Left("  " + strings.Join(values, ", ")), report.Right(report.Figure(d.Records)),
			report.Right(report.Figure(d.SampleUniques)), report.Right(report.Figure(d.PopulationUniques)), report.Left(mean(s.Estimate, e.Repetitions)),
			report.Left(mean(s.Truth, e.Repetitions)), report.Left(mean(s.AUC, e.Repetitions))})
	}
	text := "\n" + table("  ", rows)
	if more := len(list) - shownDomains; more > 0 {
		text += fmt.Sprintf("    and %s more\n", report.Count(int64(more)))
	}
	return text
}

// shownFractions is how many sampling fractions the terminal tells of in full.
const shownFractions = 3

// covered says in how many samples the truth lies in the interval of a measure.
func covered(f evaluate.MeanFigure) string {
	if f.Mean == nil {
		return "-"
	}
	return report.Percent(100 * *f.Mean)
}

// jointText is the table of keys by their records in a sample and their people in the population.
func jointText(joint []evaluate.JointRow) string {
	if len(joint) == 0 {
		return ""
	}
	type cell struct{ records, people int64 }
	head := []report.Cell{report.Left("keys by f, F")}
	values := map[cell]float64{}
	var columns []int64
	for _, r := range joint {
		values[cell{r.Records, r.People}] = r.Classes
		if r.Records > 0 {
			continue
		}
		columns = append(columns, r.People)
		name := fmt.Sprintf("F = %d", r.People)
		switch {
		case r.PeopleMost == nil:
			name = fmt.Sprintf("%d and more", r.People)
		case *r.PeopleMost > r.People:
			name = fmt.Sprintf("%d to %d", r.People, *r.PeopleMost)
		}
		head = append(head, report.Right(name))
	}
	rows := [][]report.Cell{head}
	for f := range int64(evaluate.MostJointRecords + 1) {
		name := fmt.Sprintf("  f = %d", f)
		if f == evaluate.MostJointRecords {
			name += " and more"
		}
		row := []report.Cell{report.Left(name)}
		for _, people := range columns {
			text := ""
			if n, possible := values[cell{f, people}]; possible {
				text = report.Figure(n)
			}
			row = append(row, report.Right(text))
		}
		rows = append(rows, row)
	}
	return "\n" + table("  ", rows)
}

func evaluationText(e *evaluate.Evaluation, folder string) string {
	text := fmt.Sprintf("%s\n\n", inputName(e.Input, screen)) + table("  ", [][]report.Cell{
		{report.Left("population"), report.Right(report.Count(e.Rows)), report.Left("people")},
		{report.Left("  classes"), report.Right(report.Count(e.Classes)), report.Left(fmt.Sprintf("by %d key variables", len(e.Key)))},
		{report.Left("  population uniques"), report.Right(report.Count(e.PopulationUniques)), report.Left(report.PartOf(e.PopulationUniques, e.Rows))},
		{report.Left("samples"), report.Right(report.Count(int64(e.Repetitions * len(e.Fractions)))), report.Left(e.Design)},
	})
	for _, f := range e.Fractions[:min(len(e.Fractions), shownFractions)] {
		text += fmt.Sprintf(
			"\n%s of the population: %s records, %s sample uniques; mean ± standard error\n",
			report.Percent(100*f.Fraction),
			report.Figure(f.Records),
			report.Figure(f.SampleUniques),
		)
		head := []report.Cell{report.Left("score"), report.Left("AUC"), report.Left("slope")}
		if len(f.Scores) > 0 && len(f.Scores[0].Precision) > 0 {
			head = append(head, report.Left(fmt.Sprintf("precision of %d", f.Scores[0].Precision[0].Top)))
		}
		rows := [][]report.Cell{head}
		for _, s := range f.Scores {
			row := []report.Cell{report.Left(s.Name), report.Left(mean(s.AUC, e.Repetitions)), report.Left(mean(s.Slope, e.Repetitions))}
			if len(s.Precision) > 0 {
				row = append(row, report.Left(mean(s.Precision[0].MeanFigure, e.Repetitions)))
			}
			rows = append(rows, row)
		}
		text += table("  ", rows) + differences(f.Comparisons, e.Repetitions)
		if len(f.FileMeasures) > 0 {
			rows = [][]report.Cell{{report.Left("measure"), report.Left("estimated"), report.Left("true"), report.Left("bias"),
				report.Left("in interval")}}
			for _, m := range f.FileMeasures {
				rows = append(
					rows,
					[]report.Cell{
						report.Left(m.Operator + " " + strings.TrimPrefix(m.Measure, "expected_")),
						report.Left(mean(m.Estimate, e.Repetitions)),
						report.Left(mean(m.Truth, e.Repetitions)),
						report.Left(mean(m.Bias, e.Repetitions)),
						report.Left(covered(m.Coverage)),
					},
				)
			}
			text += "\n" + table("  ", rows)
		}
		rows = [][]report.Cell{{report.Left("strategy"), report.Left("correct match"), report.Left("people looked at")}}
		for _, s := range f.Strategies {
			cost := "-"
			if s.Cost.Mean != nil {
				cost = report.Figure(*s.Cost.Mean)
			}
			rows = append(rows, []report.Cell{report.Left(s.Name), report.Left(mean(s.Correct, e.Repetitions)), report.Left(cost)})
		}
		text += "\n" + table("  ", rows) + jointText(f.Joint) + judgedDomains(e, f)
	}
	if more := len(e.Fractions) - shownFractions; more > 0 {
		text += "\nand " + report.Plural(int64(more), "fraction more", "fractions more")
		if folder != "" {
			text += ": see " + report.Printable(filepath.Join(folder, "evaluation.json"))
		}
		text += "\n"
	}
	for _, w := range e.Warnings {
		text += "\nwarning: " + report.Printable(w) + "\n"
	}
	if folder == "" {
		return text
	}
	return text + "\nwritten to " + report.Printable(folder) + "\n"
}
