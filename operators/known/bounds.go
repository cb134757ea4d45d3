package known

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"microrisk/engine/bounds/classes"
	"microrisk/engine/contingency"
	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/schemas"
)

// Bounds are how many people of the population have the key of a record, by class of its table: 0 for classes that are dropped.
type Bounds struct {
	Low, High []int64 // High may be classes.NoLimit
	Summary   *Summary
}

// A Summary says what known tables tell of the classes of the sample.
type Summary struct {
	Tables   int   `json:"tables"` // margins, each for itself
	Cells    int64 `json:"cells"`
	Alone    int64 `json:"certain_population_uniques"`      // sample uniques whose people are 1
	Others   int64 `json:"certainly_no_population_uniques"` // sample uniques whose people are 2 or more
	Exact    int64 `json:"classes_known_exactly"`
	Above    int64 `json:"classes_bounded_above"`
	Below    int64 `json:"classes_bounded_below"` // by more than their records
	Narrowed int64 `json:"classes_narrowed"`      // whose bounds were improbable without the tables, by 1 % or more
}

// improbable is from which probability of what bounds leave out a class counts as narrowed.
const improbable = 0.01

// Narrow takes how probable it was of a class that its people are outside of the bounds.
func (s *Summary) Narrow(outside float64) {
	if outside >= improbable {
		s.Narrowed++
	}
}

// codebook has the codes of categories of the sample's table, and further ones for others.
type codebook struct {
	table *contingency.Table
	codes []map[string]uint32
}

func newCodebook(t *contingency.Table) *codebook {
	b := &codebook{table: t}
	for _, v := range t.Variables {
		codes := make(map[string]uint32, len(v.Categories))
		for c, label := range v.Categories {
			codes[label] = uint32(c)
		}
		b.codes = append(b.codes, codes)
	}
	return b
}

func (b *codebook) code(v int, c tabular.Category) uint32 {
	missing := b.table.Variables[v].Missing()
	if c.Kind == tabular.KindMissing {
		return missing
	}
	code, ok := b.codes[v][c.Label]
	if !ok {
		code = missing + 1 + uint32(len(b.codes[v])-int(missing))
		b.codes[v][strings.Clone(c.Label)] = code
	}
	return code
}

// category is that of a code.
func (b *codebook) category(v int, code uint32) tabular.Category {
	variable := b.table.Variables[v]
	if code < variable.Missing() {
		return tabular.Of(variable.Categories[code])
	}
	for label, c := range b.codes[v] {
		if c == code {
			return tabular.Of(label)
		}
	}
	return tabular.Missing
}

// Bounds are those of the classes of the key's table that are kept. What contradicts the sample, another table or the size of the
// population that was declared is an error.
func (t *Tables) Bounds(ctx context.Context, table *contingency.Table, drop []bool, s *schemas.Sampling, env operators.Env) (*Bounds, error) {
	kept := table.Keep(drop)
	p := &classes.Problem{Variables: len(table.Variables), Codes: make([][]uint32, len(table.Variables))}
	b := &Bounds{Low: make([]int64, table.Classes()), High: make([]int64, table.Classes()), Summary: &Summary{Tables: len(t.margins)}}
	needs := int64(0)
	for _, m := range t.margins {
		b.Summary.Cells += int64(m.Len())
		needs += int64(m.Len()) * int64(64+8*len(m.Variables))
	}
	if err := env.InMemory(table, "bounds by known tables", needs+int64(table.Classes())*int64(48+4*p.Variables), "give fewer or coarser known tables"); err != nil {
		return nil, err
	}
	var of []int
	for i := range table.Classes() {
		if !kept.Has(i) {
			continue
		}
		of = append(of, i)
		p.Counts = append(p.Counts, table.Count(i))
		for v := range p.Codes {
			p.Codes[v] = append(p.Codes[v], table.Code(i, v))
		}
	}
	if err := table.Err(); err != nil {
		return nil, err
	}
	names := newCodebook(table)
	for i := range t.margins {
		m, err := t.margin(i, names)
		if err != nil {
			return nil, err
		}
		p.Margins = append(p.Margins, m)
	}
	if s.PopulationSize != 0 && !dropping(drop) { // else it is that of records with values
		p.Population = s.PopulationSize
	}
	low, high, err := classes.Of(ctx, p)
	if err != nil {
		return nil, t.named(err, names)
	}
	for k, i := range of {
		b.Low[i], b.High[i] = low[k], high[k]
		b.Summary.take(p.Counts[k], low[k], high[k])
	}
	t.compare(p, s, kept.Records, table, env)
	return b, nil
}

func dropping(drop []bool) bool {
	for _, d := range drop {
		if d {
			return true
		}
	}
	return false
}

// take counts a class.
func (s *Summary) take(f, low, high int64) {
	if low == high {
		s.Exact++
	}
	if high != classes.NoLimit {
		s.Above++
	}
	if low > f {
		s.Below++
	}
	switch {
	case f == 1 && high == 1:
		s.Alone++
	case f == 1 && low > 1:
		s.Others++
	}
}

// margin is one as the engine wants it.
func (t *Tables) margin(at int, names *codebook) (classes.Margin, error) {
	m := t.margins[at]
	out := classes.Margin{Name: m.Name, Variables: m.Variables, Codes: make([][]uint32, len(m.Variables))}
	cell := make([]tabular.Category, len(m.Variables))
	for i := range m.Len() {
		m.Cell(i, cell)
		low, high, _ := m.Figure(i).Bounds(m.Kernel) // what is never published was refused
		out.Low, out.High = append(out.Low, low), append(out.High, high)
		for j, c := range cell {
			out.Codes[j] = append(out.Codes[j], names.code(m.Variables[j], c))
		}
	}
	combinations := 1.0
	for j := range m.Variables {
		combinations *= float64(len(m.Categories(j)))
	}
	out.Whole = combinations == float64(m.Len())
	_, zero, ok := m.Kernel.Bounds(0)
	switch {
	case t.absent[at]:
		out.Unlisted, out.Whole = classes.NoLimit, false
	case ok:
		out.Unlisted = zero
	}
	return out, nil
}

// compare warns of tables of other numbers of people than the sample stands for.
func (t *Tables) compare(p *classes.Problem, s *schemas.Sampling, records int64, table *contingency.Table, env operators.Env) {
	people := 0.0
	switch {
	case records == 0 || s.PopulationSize != 0:
		return
	case s.Weight != "":
		people = table.SumOver(0, func(int) bool { return true })
	case s.Fraction > 0:
		people = float64(records) / s.Fraction
	}
	const far = 0.1
	for i, m := range p.Margins {
		low, high := 0.0, 0.0
		for c := range m.Low {
			low += float64(m.Low[c])
			if high += float64(m.High[c]); m.High[c] == classes.NoLimit {
				high = math.Inf(1)
			}
		}
		if low > people*(1+far) || high < people*(1-far) && m.Unlisted == 0 {
			env.Warn("%s: %s has %.0f people, and the sample stands for %.0f: see whether it is of this population", t.key.Who, t.margins[i].Name, low, people)
			return
		}
	}
}

// named says what contradicts what in words.
func (t *Tables) named(err error, names *codebook) error {
	var e *classes.ContradictionError
	if !errors.As(err, &e) {
		return err
	}
	table := func(i int) string {
		if i >= 0 {
			return t.margins[i].Name
		}
		return "the declared population size"
	}
	cell := make([]tabular.Category, len(e.Variables))
	for k, v := range e.Variables {
		cell[k] = names.category(v, e.Codes[k])
	}
	place := t.place(e.Variables, cell)
	span := func(low, high int64) string { return classes.Span(low, high) + " people" }
	text := ""
	switch {
	case e.Margin == classes.Others:
		text = fmt.Sprintf("the known tables together contradict each other or the sample: no population has them, by what they say of %s", place)
	case e.Other == classes.Sample:
		text = fmt.Sprintf(
			"%s has %s in %s, and the sample %d records: see whether it is of this population, and has the categories of the key (recode, missing values)",
			table(e.Margin),
			span(e.Low, e.High),
			place,
			e.OtherLow,
		)
	case e.Other == classes.Others:
		text = fmt.Sprintf(
			"%s has %s in %s, and by the other known tables and the sample it is %s",
			table(e.Margin),
			span(e.Low, e.High),
			place,
			span(e.OtherLow, e.OtherHigh),
		)
	case e.Margin >= 0 && e.Other >= 0 && table(e.Margin) == table(e.Other):
		text = fmt.Sprintf(
			"%s contradicts itself: of %s one of its tables has %s, another %s; if counts were perturbed, say how (scheme)",
			table(e.Margin),
			place,
			span(e.Low, e.High),
			span(e.OtherLow, e.OtherHigh),
		)
	default:
		text = fmt.Sprintf("known tables contradict each other: of %s %s has %s, %s %s", place, table(e.Margin), span(e.Low, e.High), table(e.Other),
			span(e.OtherLow, e.OtherHigh))
	}
	return schemas.Contradiction(FieldName, "", "%s: %s", t.key.Who, text)
}
