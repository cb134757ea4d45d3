package audit

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
	"microrisk/operators"
)

// Tables is a Tabled's: what was found out of each cell that discloses.
func (a *Audit) Tables(mem memory.Allocator) arrow.Record {
	list := slices.Concat(a.Report.Findings, a.also)
	unsafe := len(a.Report.Findings)
	c := &operators.Columns{Mem: mem, Rows: len(list), Total: a.Total}
	cell := func(row int) int { return int(list[row].Need.Cell) }
	a.Table.Keys(c, cell)
	a.Table.Column(c, "value", func(row int) (int64, bool) { return a.Table.Values[cell(row)], true })
	a.Table.Column(c, "lower", func(row int) (int64, bool) { return list[row].Low, list[row].Low != protection.NoLow })
	a.Table.Column(c, "upper", func(row int) (int64, bool) { return list[row].High, list[row].High != tabular.NoLimit })
	c.TextsOrNull("audit", func(row int) *string {
		if row >= unsafe {
			return nil // it need not be protected by itself
		}
		text := list[row].Verdict.String()
		return &text
	})
	c.TextsOrNull("attacker", func(row int) *string {
		who := "anybody"
		if list[row].Holder != 0 {
			who = "insider"
		}
		return &who
	})
	return c.Record()
}
