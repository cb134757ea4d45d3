package operators

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/schemas"
)

// value is that of a variable of by, nil for missing.
func (d *Domains) value(v, row int) *string {
	if c := int(d.codes[v][row]); c < len(d.by[v].Categories) {
		return &d.by[v].Categories[c]
	}
	return nil
}

// summary has the first domains, and the riskiest.
func (d *Domains) summary() *schemas.DomainSummary {
	s := &schemas.DomainSummary{By: []string{}, Count: int64(len(d.rows)), Rows: []schemas.DomainRow{}}
	main := 0
	for k, f := range slices.Backward(d.figures) {
		if f.Told != "" {
			main, s.Told = k, append(s.Told, schemas.ToldFigure{Name: f.Name, As: f.Told})
		}
	}
	slices.Reverse(s.Told)
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
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.rows[b].Figures[main], d.rows[a].Figures[main]) }) // NaN comes last
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
	for k, f := range d.figures {
		row.Figures[f.Name] = nil
		if x := from.Figures[k]; !math.IsNaN(x) {
			row.Figures[f.Name] = &x
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
	for k, f := range d.figures {
		c.NumbersOrNull(f.Name, func(row int) float64 { return d.rows[row].Figures[k] })
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
