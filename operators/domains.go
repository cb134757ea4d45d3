package operators

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/schemas"
)

// Numbers of domains: the first ones stand in the summary, the riskiest in a report; more than the most are warned of.
const (
	domainsTold     = 100
	domainsReported = 8
	domainsMost     = 10_000
)

// A DomainFigure is what a measure tells of each domain besides its counts: one of its functions is set.
type DomainFigure struct {
	Name     string
	Told     string                    // what a report calls it; "": it leaves it out
	Sum      func(class int) float64   // of a record with this class of the key: summed over the domain
	Greatest func(class int) float64   // the greatest over its records
	Least    func(class int) float64   // the least
	From     func(d *Division) float64 // from the counts and the figures before; NaN for none
}

// A Division has the figures of a domain so far.
type Division struct {
	Records, Dropped, Uniques int64
	Pairs                     int64 // records with a frequency of 2
	Figures                   []float64
}

// Per is a figure, by its place, per so many of something; NaN if there are none.
func (d *Division) Per(figure int, of int64) float64 {
	if of == 0 {
		return math.NaN()
	}
	return d.Figures[figure] / float64(of)
}

// requestDomains asks for the table that has the domains beside the key, if the measure tells of domains: one more of the same scan, and
// none where all that tells domains apart is in the key.
func (b *BoundKey) requestDomains(in *arrow.Schema, m schemas.Dividing) error {
	names, _ := m.Divided()
	var more []schemas.KeyVariable
	for _, name := range names {
		at := slices.IndexFunc(b.Counted.Variables, func(v schemas.KeyVariable) bool { return v.Name == name })
		if at < 0 {
			at = len(b.Counted.Variables) + len(more)
			more = append(more, schemas.KeyVariable{Name: name})
		}
		b.by = append(b.by, at)
	}
	if more == nil {
		return nil
	}
	var err error
	b.domains, err = b.requestWith(in, more)
	return err
}

// Domains are those of a measure, as they are written: embedded in what Fit returns, it is a Tabled.
type Domains struct {
	by      []contingency.Variable
	codes   [][]uint32 // by variable and domain
	figures []string
	told    []schemas.ToldFigure
	rows    []Division
}

// Divide adds the figures of the domains up, if there are any: frequency is that of a class of the key, 0 for one that is dropped. Figures
// come in the order in which they are written, the first is the one that tells most.
func (b *BoundKey) Divide(
	ctx context.Context, tables []*contingency.Table, env Env, m *schemas.MeasuredKey, frequency func(class int) int64, figures ...DomainFigure,
) (d Domains, err error) {
	if b.by == nil {
		return d, nil
	}
	key, with := tables[0], tables[b.domains]
	if err := env.InMemory(with, fmt.Sprintf("the domains of %d classes", with.Classes()), 8*int64(with.Classes()), FewerVariables); err != nil {
		return d, err
	}
	margin, err := with.Margin(ctx, b.by...)
	if err != nil {
		return d, err
	}
	n := margin.Classes()
	needs := int64(n) * int64(64+8*len(figures)+4*len(b.by))
	if err := env.Budget.Memory(fmt.Sprintf("the figures of %d domains", n), needs, "take coarser domains"); err != nil {
		return d, err
	}
	if n > domainsMost {
		env.Warn("%s: there are %d domains, which is more than anybody will look at: is one of by an identifier?", b.Prefix, n)
	}
	domain, err := Projected(ctx, with, b.by, margin)
	if err != nil {
		return d, err
	}
	d.describe(margin, figures)
	if err := d.checkNames(b.Prefix); err != nil {
		return d, err
	}
	at := 0
	for class := range key.Classes() { // each is a run of classes of the other table
		if class%4096 == 0 && ctx.Err() != nil {
			return d, ctx.Err()
		}
		f := frequency(class)
		for left := key.Count(class); left > 0 && at < with.Classes(); at++ {
			records := with.Count(at)
			left -= records
			d.rows[domain[at]].add(class, records, f, figures)
		}
	}
	for i := range d.rows {
		d.rows[i].complete(figures)
	}
	m.Divided = d.summary()
	return d, with.Err()
}

// describe makes room for the domains.
func (d *Domains) describe(margin *contingency.Table, figures []DomainFigure) {
	d.by, d.rows = margin.Variables, make([]Division, margin.Classes())
	for v := range margin.Variables {
		codes := make([]uint32, margin.Classes())
		margin.Codes(v, 0, codes)
		d.codes = append(d.codes, codes)
	}
	for _, f := range figures {
		d.figures = append(d.figures, f.Name)
		if f.Told != "" {
			d.told = append(d.told, schemas.ToldFigure{Name: f.Name, As: f.Told})
		}
	}
	for i := range d.rows {
		d.rows[i].Figures = make([]float64, len(figures))
		for k, f := range figures {
			if f.Sum == nil {
				d.rows[i].Figures[k] = math.NaN()
			}
		}
	}
}

// domainCounts are the counts of a domain, as columns of its file.
var domainCounts = []string{"records", "dropped", "sample_uniques", "doubles"}

// checkNames finds a column of by that is called as a figure is.
func (d *Domains) checkNames(who string) error {
	for _, v := range d.by {
		if slices.Contains(domainCounts, v.Name) || slices.Contains(d.figures, v.Name) {
			return fmt.Errorf("%s: a column of by is called %q, as a figure of domains is: give it another name (recode)", who, v.Name)
		}
	}
	return nil
}

// add adds records of a class.
func (d *Division) add(class int, records, frequency int64, figures []DomainFigure) {
	if frequency == 0 {
		d.Dropped += records
		return
	}
	d.Records += records
	switch frequency {
	case 1:
		d.Uniques += records
	case 2:
		d.Pairs += records
	}
	for k, f := range figures {
		x := &d.Figures[k]
		switch {
		case f.Sum != nil:
			*x += float64(records) * f.Sum(class)
		case f.Greatest != nil:
			if v := f.Greatest(class); !(*x >= v) {
				*x = v
			}
		case f.Least != nil:
			if v := f.Least(class); !(*x <= v) {
				*x = v
			}
		}
	}
}

// complete fills in what follows from the sums.
func (d *Division) complete(figures []DomainFigure) {
	for k, f := range figures {
		if f.From != nil {
			d.Figures[k] = f.From(d)
		}
	}
}

// value is that of a variable of by, nil for missing.
func (d *Domains) value(v, row int) *string {
	if c := int(d.codes[v][row]); c < len(d.by[v].Categories) {
		return &d.by[v].Categories[c]
	}
	return nil
}

// summary has the first domains, and the riskiest.
func (d *Domains) summary() *schemas.DomainSummary {
	s := &schemas.DomainSummary{By: []string{}, Count: int64(len(d.rows)), Rows: []schemas.DomainRow{}, Told: d.told}
	for _, v := range d.by {
		s.By = append(s.By, v.Name)
	}
	for i := range min(len(d.rows), domainsTold) {
		s.Rows = append(s.Rows, d.row(i))
	}
	order := make([]int, len(d.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.rows[b].Figures[0], d.rows[a].Figures[0]) }) // NaN comes last
	for _, i := range order[:min(len(order), domainsReported)] {
		s.Riskiest = append(s.Riskiest, d.row(i))
	}
	return s
}

func (d *Domains) row(i int) schemas.DomainRow {
	from := &d.rows[i]
	row := schemas.DomainRow{Values: []*string{}, Records: from.Records, Dropped: from.Dropped, Uniques: from.Uniques, Doubles: float64(from.Pairs) / 2,
		Figures: map[string]*float64{}}
	for v := range d.by {
		row.Values = append(row.Values, d.value(v, i))
	}
	for k, name := range d.figures {
		row.Figures[name] = nil
		if x := from.Figures[k]; !math.IsNaN(x) {
			row.Figures[name] = &x
		}
	}
	return row
}

// Tables is a Tabled's: one row a domain, in the order of their values.
func (d *Domains) Tables(mem memory.Allocator) arrow.Record {
	c := &Columns{Mem: mem, Rows: len(d.rows)}
	for v, variable := range d.by {
		c.TextsOrNull(variable.Name, func(row int) *string { return d.value(v, row) })
	}
	c.Wholes(domainCounts[0], func(row int) int64 { return d.rows[row].Records })
	c.Wholes(domainCounts[1], func(row int) int64 { return d.rows[row].Dropped })
	c.Wholes(domainCounts[2], func(row int) int64 { return d.rows[row].Uniques })
	c.Numbers(domainCounts[3], func(row int) float64 { return float64(d.rows[row].Pairs) / 2 })
	for k, name := range d.figures {
		c.NumbersOrNull(name, func(row int) float64 { return d.rows[row].Figures[k] })
	}
	return c.Record()
}

// Projected is the class in table over of each class of table with: over has some of the variables of with, by their places, with the same
// categories, and is in memory.
func Projected(ctx context.Context, with *contingency.Table, places []int, over *contingency.Table) ([]int64, error) {
	class := make([]int64, with.Classes())
	rows := min(1<<16, with.Classes())
	columns, codes := make([]contingency.Column, len(places)), make([]uint32, rows)
	for from := 0; from < with.Classes(); from += rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(rows, with.Classes()-from)
		for k, v := range places {
			if columns[k].Index == nil {
				columns[k] = contingency.Column{Index: make([]int32, rows), Codes: identities(len(over.Variables[k].Categories) + 1)}
			}
			with.Codes(v, from, codes[:n])
			for i, c := range codes[:n] {
				columns[k].Index[i] = int32(c)
			}
		}
		if err := over.Lookup(n, columns, class[from:from+n]); err != nil {
			return nil, err
		}
	}
	return class, with.Err()
}

// identities are codes that stay as they are.
func identities(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// FilesOf are the side files of an operator: its own, and that of its domains.
func FilesOf(c schemas.Config) []SideFile {
	var list []SideFile
	if f, ok := c.(Filing); ok {
		list = f.Files()
	}
	if d, ok := c.(schemas.Dividing); ok {
		if _, path := d.Divided(); *path != "" {
			list = append(slices.Clip(list), SideFile{Path: *path, What: "the file of domains", Kind: MadeTable})
		}
	}
	return list
}
