package evaluate

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"microrisk/operators/report"
	"microrisk/pipeline/figures"
	"microrisk/pipeline/page"
)

// fewest is the least number of people that a page for publication tells.
const fewest = 10

// A judgement makes the page of an evaluation.
type judgement struct {
	*Evaluation
	public  bool
	program string
}

// Page is the evaluation as a page: which score tells best who is at risk, and which estimates are right. program is what made it, with its version.
func (e *Evaluation) Page(reader, program string) *page.Page {
	j := judgement{e, reader == page.Publication, program}
	name := "these files"
	if len(e.Input) == 1 {
		name = report.Printable(filepath.Base(e.Input[0]))
	}
	p := &page.Page{
		Title: "How good risk scores are on " + name,
		About: fmt.Sprintf(
			"The file is taken as a whole population; %s were drawn from it, scored as if the rest were unknown, and compared with the truth. The key is %s.",
			report.Plural(int64(e.Repetitions*len(e.Fractions)), "sample", "samples"),
			report.Printable(strings.Join(e.Key, ", ")),
		),
		For:    reader,
		Marks:  []string{"For the office: this page tells of a population, in small counts too. Do not publish it."},
		Footer: "Made by " + program + ". The same population, spec and seed give the same page.",
	}
	if j.public {
		p.Marks = []string{fmt.Sprintf("For publication: no values of records, no counts below %d.", fewest)}
	}
	p.Verdict = j.verdict()
	for i := range e.Fractions {
		f := &e.Fractions[i]
		p.Add("Samples of "+report.Percent(100*f.Fraction), slices.Concat(j.scores(f, i), j.measures(f), j.strategies(f), j.domains(f))...)
	}
	if len(e.Warnings) > 0 && !j.public {
		p.Add("What to mind", page.Block{List: e.Warnings})
	}
	p.Add("Settings and version", page.Block{Table: j.settings()})
	p.Add("Glossary", page.Block{Terms: [][2]string{
		{"AUC", "the chance that a score is higher for a sample unique that is unique in the population than for one that is not: 1 is perfect, 0.5 is chance"},
		{"Slope", "of Copas' logit rank plot: how fast the chance to be unique in the population rises with the rank by the score; the steeper, the better"},
		{"Precision", "the share of population uniques among the sample uniques with the highest scores"},
		{"Bias", "how much an estimate is above the truth, on average over the samples; below 0, it understates"},
		{"Coverage", "the share of samples whose 95 % interval has the truth in it: it should be about 95 %"},
		{"Standard error", "how far the mean over the samples may be from what infinitely many samples would give"},
	}})
	return p
}

// few tells whether the number of population uniques is not told.
func (j judgement) few() bool {
	return j.public && j.PopulationUniques > 0 && j.PopulationUniques < fewest
}

// verdict names the best score of each fraction, and whether it is the best beyond chance.
func (j judgement) verdict() *page.Verdict {
	v := &page.Verdict{State: page.Open, Answer: "This page judges scores, and no release."}
	var list []string
	for i := range j.Fractions {
		f := &j.Fractions[i]
		if text := j.best(f); text != "" {
			list = append(list, "Samples of "+report.Percent(100*f.Fraction)+": "+text)
		}
	}
	if list == nil {
		v.Blocks = []page.Block{page.Text("No score could be compared: no sample has both sample uniques that are unique in the population and others.")}
		return v
	}
	v.Blocks = []page.Block{page.Text("Which score tells best which sample uniques are unique in the population too:"), {List: list}}
	return v
}

// best says which score has the greatest AUC, and whether the next one may be as good.
func (j judgement) best(f *FractionSummary) string {
	list := slices.DeleteFunc(slices.Clone(f.Scores), func(s ScoreSummary) bool { return s.AUC.Mean == nil })
	if len(list) == 0 {
		return ""
	}
	slices.SortStableFunc(list, func(a, b ScoreSummary) int { return cmp.Compare(*b.AUC.Mean, *a.AUC.Mean) })
	text := fmt.Sprintf("%s (AUC %s)", list[0].Name, j.mean(list[0].AUC))
	if len(list) == 1 {
		return text + "."
	}
	for _, c := range f.Comparisons {
		if c.First != list[0].Name && c.Second != list[0].Name || c.First != list[1].Name && c.Second != list[1].Name || c.AUC.Mean == nil || c.AUC.SE == nil {
			continue
		}
		by := *c.AUC.Mean
		if c.First != list[0].Name {
			by = -by
		}
		if by > 2**c.AUC.SE {
			return text + fmt.Sprintf(", ahead of %s by %.3f ± %.3f, sample by sample: hardly by chance.", list[1].Name, by, *c.AUC.SE)
		}
		return text + fmt.Sprintf("; %s may be as good: sample by sample they differ by %.3f ± %.3f.", list[1].Name, by, *c.AUC.SE)
	}
	return text + fmt.Sprintf("; then %s.", list[1].Name)
}

// mean is a mean with its standard error.
func (j judgement) mean(f MeanFigure) string {
	if f.Mean == nil {
		return "-"
	}
	text := strings.Replace(strconv.FormatFloat(*f.Mean, 'f', 3, 64), "-0.000", "0.000", 1)
	if f.SE != nil {
		text += " ± " + strconv.FormatFloat(*f.SE, 'f', 3, 64)
	}
	if f.Samples < j.Repetitions {
		text += fmt.Sprintf(" (%d of %d samples)", f.Samples, j.Repetitions)
	}
	return text
}

// scores tell how well each score ranks.
func (j judgement) scores(f *FractionSummary, number int) []page.Block {
	t := &page.Table{Caption: "Scores: mean ± standard error over the samples", Head: []page.Cell{page.Left("score"), page.Right("AUC"), page.Right("slope")}}
	if len(f.Scores) > 0 {
		for _, p := range f.Scores[0].Precision {
			t.Head = append(t.Head, page.Right(fmt.Sprintf("precision of %d", p.Top)))
		}
	}
	dots := figures.DotSeries{}
	names := make([]string, 0, len(f.Scores))
	for _, s := range f.Scores {
		row := []page.Cell{page.Left(s.Name), page.Right(j.mean(s.AUC)), page.Right(j.mean(s.Slope))}
		for _, p := range s.Precision {
			row = append(row, page.Right(j.mean(p.MeanFigure)))
		}
		t.Rows = append(t.Rows, row)
		if s.AUC.Mean == nil {
			continue
		}
		d := figures.Dot{X: *s.AUC.Mean, Y: float64(len(names)), Hint: s.Name + ": " + j.mean(s.AUC)}
		if s.AUC.SE != nil {
			d.Low, d.High = d.X-1.96**s.AUC.SE, d.X+1.96**s.AUC.SE
		}
		names, dots.Dots = append(names, s.Name), append(dots.Dots, d)
	}
	var blocks []page.Block
	if !j.public {
		blocks = append(
			blocks,
			page.Text("The samples have %s records on average, of which %s are sample uniques.", report.Figure(f.Records), report.Figure(f.SampleUniques)),
		)
	}
	if len(f.Scores) > 0 {
		blocks = append(blocks, page.Block{Table: t})
	}
	if len(names) > 1 {
		title := fmt.Sprintf("AUC of each score, samples of %s", report.Percent(100*f.Fraction))
		text := "To the right is better. Lines are 95 % intervals of the means. Differences sample by sample, which the verdict tells, are surer than these."
		blocks = append(blocks, page.Block{Picture: &page.Picture{Title: title, Text: text, Drawing: func(id string) string {
			return (&figures.Dots{Title: title, Description: text, X: "AUC (0.5 is chance, 1 is perfect)", Rows: names, Series: []figures.DotSeries{dots}}).SVG(
				id,
			)
		}}})
	}
	return blocks
}

// measures compare estimates for the file with the truth.
func (j judgement) measures(f *FractionSummary) []page.Block {
	if len(f.FileMeasures) == 0 {
		return nil
	}
	t := &page.Table{
		Caption: "Estimates for the whole sample, beside the truth",
		Head: []page.Cell{page.Left("measure"), page.Right("estimated"), page.Right("true"),
			page.Right("bias"), page.Left("so it is"), page.Right("coverage")},
	}
	for _, m := range f.FileMeasures {
		if m.Measure == "pu" && j.few() { // the number of population uniques follows from it
			continue
		}
		covered := "-"
		if m.Coverage.Mean != nil {
			covered = report.Percent(100 * *m.Coverage.Mean)
		}
		t.Rows = append(t.Rows, []page.Cell{page.Left(m.Operator + " " + strings.TrimPrefix(m.Measure, "expected_")), page.Right(j.mean(m.Estimate)),
			page.Right(j.mean(m.Truth)), page.Right(j.mean(m.Bias)), page.Left(biased(m.Bias)), page.Right(covered)})
	}
	return []page.Block{{Table: t}}
}

// biased says what a bias means.
func biased(b MeanFigure) string {
	switch {
	case b.Mean == nil || b.SE == nil:
		return "not known"
	case *b.Mean > 2**b.SE:
		return "too high"
	case *b.Mean < -2**b.SE:
		return "too low"
	}
	return "right, as far as these samples tell"
}

// strategies tell what intruders achieve.
func (j judgement) strategies(f *FractionSummary) []page.Block {
	if len(f.Strategies) == 0 {
		return nil
	}
	t := &page.Table{
		Caption: "What intruders achieve: the true chance of a correct match",
		Head: []page.Cell{page.Left("strategy"), page.Right("correct match"),
			page.Right("people looked at")},
	}
	for _, s := range f.Strategies {
		cost := "-"
		if s.Cost.Mean != nil {
			cost = report.Figure(*s.Cost.Mean)
		}
		t.Rows = append(t.Rows, []page.Cell{page.Left(s.Name), page.Right(j.mean(s.Correct)), page.Right(cost)})
	}
	return []page.Block{{Table: t}}
}

// shownDomains is how many domains are told.
const shownDomains = 12

// domains compare the best score that estimates a chance with the truth in parts of the population.
func (j judgement) domains(f *FractionSummary) []page.Block {
	if len(f.Domains) == 0 || j.public {
		return nil
	}
	score, best := 0, -1.0
	for k, s := range f.Domains[0].Scores {
		if auc := f.Scores[k].AUC.Mean; s.Truth.Mean != nil && auc != nil && *auc > best {
			score, best = k, *auc
		}
	}
	t := &page.Table{Caption: "By " + strings.Join(j.By, ", ") + ": the domains with the most population uniques, judged by " + f.Domains[0].Scores[score].Name,
		Head: []page.Cell{
			page.Left("domain"),
			page.Right("sample uniques"),
			page.Right("population uniques"),
			page.Right("estimated"),
			page.Right("true"),
			page.Right("AUC"),
		}}
	list := slices.Clone(f.Domains)
	slices.SortStableFunc(list, func(a, b DomainSummary) int { return cmp.Compare(b.PopulationUniques, a.PopulationUniques) })
	for _, d := range list[:min(len(list), shownDomains)] {
		var values []string
		for _, v := range d.Values {
			values = append(values, report.Value(v))
		}
		s := d.Scores[score]
		t.Rows = append(
			t.Rows,
			[]page.Cell{page.Left(strings.Join(values, ", ")), page.Right(report.Figure(d.SampleUniques)), page.Right(report.Figure(d.PopulationUniques)),
				page.Right(j.mean(s.Estimate)), page.Right(j.mean(s.Truth)), page.Right(j.mean(s.AUC))},
		)
	}
	blocks := []page.Block{{Table: t}}
	if more := len(list) - shownDomains; more > 0 {
		blocks = append(blocks, page.Note("And %s more.", report.Count(int64(more))))
	}
	return blocks
}

// settings are what was asked.
func (j judgement) settings() *page.Table {
	t := &page.Table{Caption: "Settings", Head: []page.Cell{page.Left("setting"), page.Left("value")}}
	add := func(name, value string) { t.Rows = append(t.Rows, []page.Cell{page.Left(name), page.Left(value)}) }
	var inputs, fractions []string
	for _, path := range j.Input {
		if j.public {
			path = filepath.Base(path)
		}
		inputs = append(inputs, report.Printable(path))
	}
	for _, f := range j.Fractions {
		fractions = append(fractions, report.Figure(f.Fraction))
	}
	add("program", j.program)
	add("population", strings.Join(inputs, ", "))
	add("people", report.Count(j.Rows))
	if j.few() {
		add("population uniques", "fewer than 10")
	} else {
		add("population uniques", report.Count(j.PopulationUniques)+" ("+report.PartOf(j.PopulationUniques, j.Rows)+")")
	}
	add("design of samples", j.Design)
	add("sampling fractions", strings.Join(fractions, ", "))
	add("samples of each", report.Count(int64(j.Repetitions)))
	add("seed", strconv.FormatUint(j.Seed, 10))
	return t
}
