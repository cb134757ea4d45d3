package uniques

import (
	"context"
	"errors"
	"microrisk/engine/budget"
	"reflect"
	"slices"
	"testing"
)

// Whatever memory is allowed, a search gives the same result or says what it needs.
func TestMemoryIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		file file
		o    Options
	}{
		"few rows, many variables": {randomFile(50, slices.Repeat([]int{2}, 14)...), Options{direction: upwards}},
		"the same, listed":         {randomFile(50, slices.Repeat([]int{2}, 14)...), Options{direction: upwards, MSUs: true}},
		"downwards, listed":        {randomFile(300, slices.Repeat([]int{3}, 8)...), Options{direction: downwards, MSUs: true}},
		"covers":                   {randomFile(4000, slices.Repeat([]int{3}, 9)...), Options{direction: upwards}},
		"threshold":                {randomFile(500, slices.Repeat([]int{3}, 8)...), Options{Threshold: 3, MSUs: true}},
	} {
		t.Run(name, func(t *testing.T) {
			table := c.file.table(t)
			want, err := Search(context.Background(), table, c.o)
			if err != nil {
				t.Fatal(err)
			}
			refused, done := false, false
			for memory := int64(1 << 10); memory <= 1<<30; memory *= 2 {
				o := c.o
				o.Memory, o.Workers = memory, 2
				got, err := Search(context.Background(), table, o)
				var short *budget.MemoryError
				switch {
				case errors.As(err, &short):
					refused = true
					if short.Needs <= memory || short.Limit != memory {
						t.Errorf("%d bytes: %+v", memory, short)
					}
					if done {
						t.Errorf("%d bytes are refused, though less was enough", memory)
					}
				case err != nil:
					t.Fatal(err)
				default:
					done = true
					got.Visits = want.Visits // covers may be left out
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%d bytes: another result", memory)
					}
				}
			}
			if !refused || !done {
				t.Errorf("refused %v, done %v", refused, done)
			}
		})
	}
}

// A search whose estimate fits stops when what it holds would not: lists are as long as there are minimal sample uniques.
func TestMemoryOfLists(t *testing.T) {
	table := randomFile(2000, slices.Repeat([]int{4}, 11)...).table(t)
	for _, way := range []direction{upwards, downwards} {
		o := Options{MSUs: true, direction: way, Memory: Bytes(table.Classes(), 11, 0) + 1<<20}
		_, err := Search(context.Background(), table, o)
		var short *budget.MemoryError
		if !errors.As(err, &short) {
			t.Errorf("%v: error is %v", way, err)
		}
		o.MSUs = false
		if _, err := Search(context.Background(), table, o); err != nil {
			t.Errorf("%v without lists: %v", way, err)
		}
	}
}

// The memory of 28 binary keys of 50 records is known before the search starts.
func TestMemoryOfManyVariables(t *testing.T) {
	table := randomFile(50, slices.Repeat([]int{2}, 28)...).table(t)
	_, err := Search(context.Background(), table, Options{Memory: 1 << 30, Force: true})
	var short *budget.MemoryError
	if !errors.As(err, &short) || short.Needs < 1<<30 || short.Needs > 4<<30 {
		t.Errorf("error is %v", err)
	}
}
