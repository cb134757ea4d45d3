package runpage

import (
	"fmt"
	"slices"

	"microrisk/operators/individual"
	"microrisk/operators/kanonymity"
	"microrisk/operators/mc3"
	"microrisk/operators/report"
	"microrisk/operators/sap"
	"microrisk/operators/suda"
	"microrisk/pipeline/page"
	"microrisk/schemas"
)

// aside are figures that the page does not begin with: they stand in the tables of all figures.
var aside = []string{
	schemas.LimitClasses,
	schemas.LimitSampleUniqueShare,
	"file_score",
	"max_score",
	"expected_population_uniques",
	"expected_correct_matches",
	"pu",
}

// figures are the figures with their sentences, unless there are none.
func (m *maker) figures() []page.Block {
	var list []page.Figure
	records := page.Figure{Name: "Records", Value: report.Count(m.Summary.Rows), Says: "So many rows were read.", Sure: counted}
	if len(m.Outputs) > 0 && m.Written != m.Summary.Rows {
		records.Says = report.Count(m.Summary.Rows) + " rows were read, and " + report.Count(m.Written) + " written."
		if m.public { // who has the file can count them, and subtract
			records.Value, records.Says = report.Count(m.Written), "So many rows are in the file."
		}
	}
	list = append(list, records)
	if m.Summary.Key != nil {
		list = append(list, m.keyFigures(m.Summary.Key, "", m.records0())...)
	}
	for _, o := range m.measured() {
		if k := o.key(); k != nil {
			list = append(list, m.keyFigures(k, o.prefix, o.part.Counted())...)
		}
		figures := o.part.Figures()
		for _, f := range o.kind.Limits {
			v, ok := figures[f.Name]
			if f.Ranked {
				v, ok = m.highest(o.prefix)
			}
			if x, searched := o.part.(*suda.Summary); searched && x.Threshold > 1 && f.Name == suda.LimitSpecialUniques {
				continue // it is not of sets that several records share
			}
			if ok && (!slices.Contains(aside, f.Name) || m.state(f.Name, o.prefix) != "") {
				list = append(list, m.figure(f.Name, o, v))
			}
		}
	}
	blocks := []page.Block{{Figures: list}}
	if m.Spec.Sampling == nil && m.key() != nil {
		blocks = append(
			blocks,
			page.Text(
				"How the records were drawn from their population is not said (--fraction, --population-size or --weight): nothing on this page tells how likely it is that "+
					"a match is right. Counts of uniques alone cannot tell whether the file may be released.",
			),
		)
	}
	return blocks
}

// records0 is how many records the key's figures are of.
func (m *maker) records0() int64 {
	for _, o := range m.measured() {
		if o.key() == nil {
			return o.part.Counted()
		}
	}
	return m.Summary.Rows
}

// keyFigures are those of a key that are told.
func (m *maker) keyFigures(k *schemas.KeySummary, prefix string, records int64) []page.Figure {
	w := wordingOf(schemas.LimitSampleUniques)
	value, told := m.value(schemas.LimitSampleUniques, float64(k.SampleUniques))
	if told {
		value += " (" + report.PartOf(k.SampleUniques, records) + ")"
	}
	if prefix != "" {
		w.name += ", key of " + prefix
	}
	if f := m.Summary.Sampling.Fraction; f != nil && *f == 1 {
		w.sure = counted + " The file has the whole population: they are unique in it too."
	}
	list := []page.Figure{{Name: w.name, Value: value, Says: w.says, Sure: w.sure, State: m.state(schemas.LimitSampleUniques, prefix)}}
	for figure, v := range map[string]float64{schemas.LimitClasses: float64(k.Classes), schemas.LimitDoubles: k.Doubles,
		schemas.LimitSampleUniqueShare: float64(k.SampleUniques) / float64(max(records, 1))} {
		if state := m.state(figure, prefix); state != "" {
			w := wordingOf(figure)
			text, _ := m.value(figure, v)
			list = append(list, page.Figure{Name: w.name, Value: text, Says: w.says, Sure: w.sure, State: state})
		}
	}
	slices.SortStableFunc(list[1:], func(a, b page.Figure) int { return compare(a.Name, b.Name) })
	return list
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// figure is a figure with its sentence.
func (m *maker) figure(name string, o measuredPart, v float64) page.Figure {
	w := wordingOf(name)
	text, told := m.value(name, v)
	f := page.Figure{Name: w.name, Value: text, Says: w.says, Sure: w.sure, State: m.state(name, o.prefix)}
	if o.prefix != o.name {
		f.Name += " (" + o.prefix + ")"
	}
	if !told {
		f.Sure = ""
		return f
	}
	chance := slices.Contains([]string{"dis", "cm_um", "cm_su", "pu", "pu_su", "max_correct_match", "max_attribution"}, name)
	if chance && v > 0 && v <= 0.5 {
		f.Says += fmt.Sprintf(" That is about 1 in %s.", report.Count(int64(1/v+0.5)))
	}
	switch x := o.part.(type) {
	case *suda.Summary:
		m.sudaFigure(&f, name, x, v)
	case *mc3.Summary:
		m.modelFigure(&f, name, x)
	case *individual.Summary:
		f.Sure = bySampling
	case *sap.Summary:
		f.Sure = "Exact, of the tables as they are released."
		switch {
		case x.LowerBound:
			f.Sure = "At least so much: the bounds of cells were not sharp."
		case !x.Exact:
			f.Sure = "Estimated from random orders of the people, to ± " + report.Figure(x.HalfWidth) + " (95 %)."
		}
	case *kanonymity.Summary:
		f.Says = fmt.Sprintf("So many records share their combination with fewer than %d records, themselves included.", x.K)
		f.Value += " (" + report.PartOf(x.Violations, x.Records) + ")"
	}
	if n, known := m.above(name, o.prefix); known && !m.public {
		f.Says += " " + report.Plural(n, "record is", "records are") + " above the limit."
	}
	if left := o.part.LeftOut(); left > 0 && !m.public {
		f.Sure += " It is of " + report.Count(o.part.Counted()) + " records: " + report.Count(left) + " have missing values and were left out."
	}
	return f
}

// fewDoubles is the number of doubles below which DIS is told to be unsure.
const fewDoubles = 50

func (m *maker) sudaFigure(f *page.Figure, name string, x *suda.Summary, v float64) {
	key := x.Key()
	if key == nil {
		key = m.Summary.Key
	}
	switch {
	case name == suda.LimitSpecialUniques && key != nil && key.SampleUniques > 0:
		f.Value += " (" + report.PartOf(x.SpecialUniques, key.SampleUniques) + " of the sample uniques)"
	case name == suda.LimitDIS && key != nil:
		f.Sure = "An estimate without a model, from sample uniques, doubles and the fraction or weights that were given. " +
			"No interval is computed; it is the more unsure the fewer doubles there are"
		switch {
		case m.public:
			f.Sure += "."
		case key.Doubles < fewDoubles:
			f.Sure += ", and there are " + report.Figure(key.Doubles) + " only: take it as an order of magnitude."
		default:
			f.Sure += ", and there are " + report.Figure(key.Doubles) + "."
		}
	case name == suda.LimitMSUs && x.Threshold > 1:
		f.Name, f.Says = "Minimal risky sets", fmt.Sprintf("So many sets of key variables are shared by at most %s, and no part of them is.",
			report.Plural(x.Threshold, "record", "records"))
	case name == suda.LimitMSUs && !x.Complete:
		f.Says += fmt.Sprintf(" Sets of more than %d variables were not looked for.", x.MaxSize)
	}
}

func (m *maker) modelFigure(f *page.Figure, name string, x *mc3.Summary) {
	if name == schemas.LimitReidentifications {
		f.Sure = byModel
		if x.ReidentifiedPart != nil {
			f.Value += " (" + report.Percent(*x.ReidentifiedPart) + ")"
		}
	}
	for _, i := range x.Intervals {
		if i.Measure == name {
			f.Sure = fmt.Sprintf(
				"An estimate: with a chance of 95 %% it lies between %s and %s, if the models describe the population, and the fraction or weights that were "+
					"given are right.",
				report.Figure(i.Lower),
				report.Figure(i.Upper),
			)
		}
	}
	if h := x.Halves; h != nil && name == schemas.LimitReidentifications && !m.public {
		switch by := h.PUSU.Off(); {
		case by > 0:
			f.Sure += " Tried on random halves of the records, the models overstate the risk."
		case by < 0:
			f.Sure += " Tried on random halves of the records, the models UNDERSTATE the risk."
		default:
			f.Sure += " Tried on random halves of the records, the models foretell well which part of the uniques there are alone in all records."
		}
	}
}

// state is that of a figure's limit, "" for none.
func (m *maker) state(figure, prefix string) string {
	for _, l := range m.Summary.Limits {
		if l.Limit == figure && l.Operator == prefix {
			if l.Breached {
				return page.Unmet
			}
			return page.Met
		}
	}
	return ""
}

// highest is the score of the riskiest record of an operator.
func (m *maker) highest(prefix string) (float64, bool) {
	for _, r := range m.Rankings {
		if r.Operator == prefix {
			if len(r.Rows) == 0 {
				return 0, true
			}
			return r.Rows[0].Score, true
		}
	}
	return 0, false
}

// above is how many records have a score above the limit of a figure that is the greatest score, where a band ends at the limit.
func (m *maker) above(figure, prefix string) (n int64, known bool) {
	if !single(figure) {
		return 0, false
	}
	for _, l := range m.Summary.Limits {
		if l.Limit != figure || l.Operator != prefix || l.Value <= l.Allowed {
			continue
		}
		for _, r := range m.Rankings {
			for _, b := range r.Spread {
				if r.Operator == prefix && b.Above == l.Allowed {
					known = true
				}
				if r.Operator == prefix && b.Above >= l.Allowed {
					n += b.Records
				}
			}
		}
	}
	return n, known
}
