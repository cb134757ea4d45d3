package sap

import (
	"context"
	"fmt"
	"math"
	"slices"

	"microrisk/engine/budget"
	"microrisk/engine/contingency"
	"microrisk/engine/tabular"
)

// findAreas finds the classes of each table.
func (f *fit) findAreas(ctx context.Context, allowed budget.Budget) error {
	b, t := f.bound, f.table
	f.area = make([]int32, t.Classes())
	located := f.located()
	f.nowhere = t.Records() - located.Records
	declared := b.by > 0
	for _, v := range b.Config.By {
		declared = declared && v.Levels != nil
	}
	if declared || b.by == 0 {
		return f.allAreas(ctx, allowed, located)
	}
	before := make([]uint32, b.by)
	f.byCodes = make([][]uint32, b.by)
	err := f.placeClasses(ctx, located, func(class int, codes []uint32) int {
		if len(f.first) == 0 || !slices.Equal(codes, before) {
			f.first = append(f.first, int32(class))
			for v, c := range codes {
				f.byCodes[v] = append(f.byCodes[v], c)
			}
			copy(before, codes)
		}
		return len(f.first) - 1
	})
	f.closeAreas()
	return err
}

// placeClasses asks for the area of each class that is in one, by its codes of the variables that tell the tables apart.
func (f *fit) placeClasses(ctx context.Context, located *contingency.Kept, place func(class int, codes []uint32) (area int)) error {
	codes := make([]uint32, f.bound.by)
	for i := range f.table.Classes() {
		if i%checkedEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !located.Has(i) {
			f.area[i] = -1
			continue
		}
		for v := range codes {
			codes[v] = f.table.Code(i, v)
		}
		f.area[i] = int32(place(i, codes))
	}
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
func (f *fit) allAreas(ctx context.Context, allowed budget.Budget, located *contingency.Kept) error {
	b, t := f.bound, f.table
	shape, codes := make(tabular.Shape, b.by), make([]uint32, b.by)
	areas := 1
	for v := range b.by {
		shape[v] = len(t.Variables[v].Categories)
		if areas *= max(1, shape[v]); areas > math.MaxInt32 {
			return fmt.Errorf(
				"the levels of by have more than %d combinations, each of which is a table: take fewer levels, or leave them out for the tables observed",
				math.MaxInt32,
			)
		}
	}
	if err := allowed.Memory(fmt.Sprintf("a table of each of the %d combinations of the levels of by", areas), int64(areas)*f.bytesOfArea(),
		"take fewer levels", "leave them out for the tables observed"); err != nil {
		return err
	}
	f.byCodes = make([][]uint32, b.by)
	for v := range b.by {
		f.byCodes[v] = make([]uint32, areas)
	}
	for a := range areas {
		if a%checkedEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for v, c := range tabular.Codes(shape, a, codes) {
			f.byCodes[v][a] = c
		}
	}
	next := 0
	err := f.placeClasses(ctx, located, func(class int, codes []uint32) int {
		a := tabular.Cell(shape, codes)
		for ; next <= a; next++ {
			f.first = append(f.first, int32(class))
		}
		return a
	})
	for ; next < areas; next++ {
		f.first = append(f.first, int32(t.Classes()))
	}
	f.closeAreas()
	return err
}

// located are the classes with a value of all variables of the tables.
func (f *fit) located() *contingency.Kept {
	drop := make([]bool, len(f.table.Variables))
	for v := range f.bound.by {
		drop[v] = true
	}
	return f.table.Keep(drop)
}

func (f *fit) closeAreas() { f.first = append(f.first, int32(f.table.Classes())) }
