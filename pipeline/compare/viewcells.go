package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// viewRow is the mean over tables, each of the same weight.
func viewRow(design string, tables [][]*Group) *ViewRow {
	row := &ViewRow{Design: design, Tables: len(tables), Cells: make([]ViewCell, len(tables[0]))}
	for i := range row.Cells {
		mean := func(of func(*Row) *float64) *float64 {
			sum, n := 0.0, 0
			for _, groups := range tables {
				if s := groups[i].Of(of); !s.Missing() {
					sum += s.Mean
					n++
				}
			}
			if n < len(tables) { // a mean of some of them would be of others than those beside it
				return nil
			}
			return number(sum / float64(n))
		}
		row.Cells[i] = ViewCell{
			Unity:     mean(func(r *Row) *float64 { return r.LossUnity }),
			Omitted:   mean(func(r *Row) *float64 { return r.LossOmitted }),
			Zero:      mean(func(r *Row) *float64 { return r.LossZero }),
			Imputed:   mean(func(r *Row) *float64 { return r.LossImputed }),
			SAPBefore: mean(SAPBefore), SAPAfter: mean(SAPAfter),
		}
		row.Cells[i].spread(tables, i)
	}
	return row
}

// spread finds the ends of the loss, and tables that are not safe.
func (c *ViewCell) spread(tables [][]*Group, column int) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, groups := range tables {
		failed := false
		for _, r := range groups[column].Runs {
			failed = failed || r.Status == StatusUnsafe
			for _, loss := range []*float64{r.LossOmitted, r.LossZero, r.LossImputed} {
				if loss != nil {
					low, high = min(low, *loss), max(high, *loss)
				}
			}
		}
		if failed {
			c.Unsafe++
		}
	}
	c.Low, c.High = number(low), number(high)
}

// Text is the loss for people: by treatment of hidden cells, omitted, zero and imputed, if these differ.
func (c ViewCell) Text() string {
	var list []string
	for _, v := range []*float64{c.Omitted, c.Zero, c.Imputed} {
		if v == nil {
			list = append(list, "-")
			continue
		}
		list = append(list, Short(*v))
	}
	text := strings.Join(list, " / ")
	if list[0] == list[1] && list[1] == list[2] {
		text = list[0]
	}
	return text
}

// more is what else a page tells of a cell.
func (c ViewCell) more() string {
	var list []string
	if c.Low != nil && Short(*c.Low) != Short(*c.High) {
		list = append(list, Short(*c.Low)+" to "+Short(*c.High))
	}
	if c.Unity != nil {
		list = append(list, "M1 "+Short(*c.Unity))
	}
	if c.SAPAfter != nil {
		list = append(list, "SAP "+Short(*c.SAPAfter))
	}
	if c.Unsafe > 0 {
		list = append(list, fmt.Sprintf("%d not safe", c.Unsafe))
	}
	return strings.Join(list, ", ")
}

// views are the views as a file: a row a cell.
type views []*View

// A placed cell is one with its place in the views.
type placed struct {
	*View
	*ViewRow
	ViewCell
	column string
}

// Tables is a Tabled's.
func (list views) Tables(mem memory.Allocator) arrow.Record {
	var cells []placed
	for _, v := range list {
		for _, r := range v.Rows {
			for i, c := range r.Cells {
				cells = append(cells, placed{v, r, c, v.Columns[i]})
			}
		}
	}
	c := &operators.Columns{Mem: mem, Rows: len(cells)}
	c.Texts("view", func(i int) string { return cells[i].Name })
	c.Texts("title", func(i int) string { return cells[i].Title })
	c.Texts("design_class", func(i int) string { return cells[i].Design })
	c.Texts("column", func(i int) string { return cells[i].column })
	c.Wholes("tables", func(i int) int64 { return int64(cells[i].Tables) })
	c.Wholes("left_out", func(i int) int64 { return int64(cells[i].LeftOut) })
	for _, f := range []struct {
		name string
		of   func(*ViewCell) *float64
	}{
		{"loss_unity", func(c *ViewCell) *float64 { return c.Unity }},
		{"loss_pct_omitted", func(c *ViewCell) *float64 { return c.Omitted }},
		{"loss_pct_zero", func(c *ViewCell) *float64 { return c.Zero }},
		{"loss_pct_imputed", func(c *ViewCell) *float64 { return c.Imputed }},
		{"loss_pct_least", func(c *ViewCell) *float64 { return c.Low }},
		{"loss_pct_most", func(c *ViewCell) *float64 { return c.High }},
		{"sap_before", func(c *ViewCell) *float64 { return c.SAPBefore }},
		{"sap_after", func(c *ViewCell) *float64 { return c.SAPAfter }},
	} {
		c.NumbersOrNull(f.name, func(i int) float64 { return orNaN(f.of(&cells[i].ViewCell)) })
	}
	c.Wholes("tables_not_safe", func(i int) int64 { return int64(cells[i].Unsafe) })
	return c.Record()
}
