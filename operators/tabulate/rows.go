package tabulate

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/operators"
)

// sort brings the rows into order, each total before its parts: the rows of margins, which are in order, are merged two and two.
func (f *tabulated) sort(ctx context.Context) error {
	now, next := make([]int32, len(f.values)), make([]int32, len(f.values))
	for i := range now {
		now[i] = int32(i)
	}
	for runs := append(f.runs, len(f.values)); len(runs) > 2; {
		var merged []int
		for r := 0; r+1 < len(runs); r += 2 {
			merged = append(merged, runs[r])
			if r+2 == len(runs) {
				copy(next[runs[r]:], now[runs[r]:])
				continue
			}
			if err := f.merge(ctx, next[runs[r]:runs[r+2]], now[runs[r]:runs[r+1]], now[runs[r+1]:runs[r+2]]); err != nil {
				return err
			}
		}
		runs = append(merged, len(f.values))
		now, next = next, now
	}
	for v, codes := range f.codes {
		sorted := make([]int32, len(now))
		text := int64(0)
		for i, o := range now {
			sorted[i] = codes[o]
			if c := int(codes[o]); c >= 0 && c < len(f.table.Variables[v].Categories) {
				text += int64(len(f.table.Variables[v].Categories[c]))
			} else {
				text += int64(len(tabular.TotalCode))
			}
		}
		if text > math.MaxInt32 {
			return fmt.Errorf(
				"the column %s of the table has %d bytes of text, more than the %d that a column can have: leave margins out, or take coarser variables",
				f.table.Variables[v].Name,
				text,
				math.MaxInt32,
			)
		}
		f.codes[v] = sorted
	}
	values := make([]int64, len(now))
	for i, o := range now {
		values[i] = f.values[o]
	}
	f.values = values
	return nil
}

// merge merges two lists of rows.
func (f *tabulated) merge(ctx context.Context, to, a, b []int32) error {
	for i := range to {
		if i%rowsAtOnce == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(b) == 0 || len(a) > 0 && !f.before(b[0], a[0]) {
			to[i], a = a[0], a[1:]
		} else {
			to[i], b = b[0], b[1:]
		}
	}
	return nil
}

// before tells whether a row comes before another.
func (f *tabulated) before(a, b int32) bool {
	for _, codes := range f.codes {
		if codes[a] != codes[b] {
			return codes[a] < codes[b]
		}
	}
	return false
}

// Tables is a Tabled's: the variables as text, Total where one is left out, null where a value is missing; and the counts, named count
// where they are true and value where they are perturbed.
func (f *tabulated) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: len(f.values)}
	for v := range f.table.Variables {
		variable, codes := &f.table.Variables[v], f.codes[v]
		c.Categories(variable.Name, func(row int) tabular.Category {
			if codes[row] == total {
				return tabular.Total
			}
			return tabular.CategoryOf(variable, uint32(codes[row]))
		})
	}
	name := "count"
	if f.bound.kernel.Name() != perturb.None().Name() {
		name = "value"
	}
	c.Wholes(name, func(row int) int64 { return f.values[row] })
	return c.Record()
}
