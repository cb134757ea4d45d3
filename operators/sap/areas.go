package sap

import (
	"context"
	"fmt"
	"math"
	"slices"

	"microrisk/operators"
)

// findAreas finds the classes of each table.
func (f *fit) findAreas(ctx context.Context, limit int64) error {
	b, t := f.bound, f.table
	f.area = make([]int32, t.Classes())
	declared := b.by > 0
	for _, v := range b.Config.By {
		declared = declared && v.Levels != nil
	}
	if declared || b.by == 0 {
		return f.allAreas(ctx, limit)
	}
	codes := make([]uint32, b.by)
	before := make([]uint32, b.by)
	f.byCodes = make([][]uint32, b.by)
	for i := range t.Classes() {
		if i%checkedEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		missing := false
		for v := range codes {
			codes[v] = t.Code(i, v)
			missing = missing || codes[v] == t.Variables[v].Missing()
		}
		if missing {
			f.area[i] = -1
			f.nowhere += t.Count(i)
			continue
		}
		if len(f.first) == 0 || !slices.Equal(codes, before) {
			f.first = append(f.first, int32(i))
			for v, c := range codes {
				f.byCodes[v] = append(f.byCodes[v], c)
			}
			copy(before, codes)
		}
		f.area[i] = int32(len(f.first) - 1)
	}
	f.closeAreas()
	return nil
}

// checkedEvery is after how many classes or areas the context is looked at.
const checkedEvery = 1 << 16

// bytesOfArea is what a table takes besides its cells: what is said of it for each n, in memory and in the file of tables.
func (f *fit) bytesOfArea() int64 {
	perKnown := int64(16)
	if f.bound.Config.Tables != "" {
		perKnown += 16
	}
	return 4 + int64(f.bound.by)*20 + 24 + int64(len(f.known))*perKnown
}

// allAreas makes a table of every combination of declared levels; of no variables there is one.
func (f *fit) allAreas(ctx context.Context, limit int64) error {
	b, t := f.bound, f.table
	areas := 1
	for v := range b.by {
		areas *= max(1, len(t.Variables[v].Categories))
		if areas > math.MaxInt32 {
			return fmt.Errorf("the levels of by have more than %d combinations, each of which is a table: take fewer levels, or leave them out for the tables observed", math.MaxInt32)
		}
	}
	if needs := int64(areas) * f.bytesOfArea(); limit > 0 && needs > limit {
		return fmt.Errorf("the levels of by have %d combinations, each of which is a table: they need about %s of memory, the limit is %s; take fewer levels, leave them out for the tables observed, or allow more",
			areas, operators.Mebibytes(needs), operators.Mebibytes(limit))
	}
	f.byCodes = make([][]uint32, b.by)
	for v := range b.by {
		f.byCodes[v] = make([]uint32, areas)
	}
	for a := range areas {
		if a%checkedEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rest := a
		for v := b.by - 1; v >= 0; v-- {
			n := len(t.Variables[v].Categories)
			f.byCodes[v][a] = uint32(rest % n)
			rest /= n
		}
	}
	next := 0
	for i := range t.Classes() {
		if i%checkedEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		a := 0
		missing := false
		for v := range b.by {
			c := t.Code(i, v)
			missing = missing || c == t.Variables[v].Missing()
			a = a*len(t.Variables[v].Categories) + int(c)
		}
		if missing {
			f.area[i] = -1
			f.nowhere += t.Count(i)
			continue
		}
		for ; next <= a; next++ {
			f.first = append(f.first, int32(i))
		}
		f.area[i] = int32(a)
	}
	for ; next < areas; next++ {
		f.first = append(f.first, int32(t.Classes()))
	}
	f.closeAreas()
	return nil
}

func (f *fit) closeAreas() { f.first = append(f.first, int32(f.table.Classes())) }
