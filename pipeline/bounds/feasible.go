package bounds

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/bounds"
	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
)

// DefaultTables is the largest number of feasible tables that are counted or listed unless the spec says otherwise.
const DefaultTables = 1_000_000

// mostListed is how many cells of listed tables are kept.
const mostListed = 1 << 26

// feasible counts the tables that have the released margins, and lists them.
func (s *Spec) feasible(ctx context.Context, tables *released.Tables, r *bounds.Release, out *Outcome, o session.Options) error {
	var cells []int64
	n, all, err := bounds.Enumerate(ctx, r, s.Most, func(table []int64) bool {
		if s.List != "" {
			if len(cells)+len(table) > mostListed {
				return false
			}
			cells = append(cells, table...)
		}
		return true
	})
	switch {
	case errors.Is(err, bounds.ErrNoLimit):
		return errors.New("the feasible tables cannot be counted: some cells have no upper bound, so that there is no end of them")
	case err != nil:
		return tables.InCodes(r, err)
	}
	out.Tables, out.AllTables = n, all
	if s.List == "" {
		return nil
	}
	if !all {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s has the first %d of more feasible tables", s.List, n))
	}
	return session.WriteRecord(ctx, s.List, &feasibleTables{tables, r.Cells(), cells}, o, s.paths())
}

// feasibleTables makes the record of listed tables.
type feasibleTables struct {
	tables *released.Tables
	size   int
	cells  []int64 // of one table after the other
}

// Tables is a Tabled's: the number of the table from 1, the variables, the count.
func (t *feasibleTables) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: len(t.cells)}
	c.WholesOrNull("table", func(i int) (int64, bool) { return int64(i/t.size + 1), true })
	appendVariables(c, t.tables)
	c.WholesOrNull("count", func(i int) (int64, bool) { return t.cells[i], true })
	return c.Record()
}

// appendVariables appends those of released tables, for rows that go through all combinations of their categories again and again.
func appendVariables(c *operators.Columns, tables *released.Tables) {
	var shape tabular.Shape
	for _, v := range tables.Variables {
		shape = append(shape, len(v.Categories))
	}
	for v, step := range shape.Steps() {
		list := tables.Variables[v].Categories
		c.Categories(tables.Variables[v].Name, func(i int) tabular.Category { return list[i/step%len(list)] })
	}
}
