package operators

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

// A poisoner writes over what is released, so that a use after the release shows.
type poisoner struct{ memory.Allocator }

func (p poisoner) Free(b []byte) {
	b = b[:cap(b)]
	for i := range b {
		b[i] = 0xa5
	}
	p.Allocator.Free(b)
}

func (p poisoner) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return p.Allocator.Reallocate(size, b)
	}
	grown := p.Allocator.Allocate(size)
	copy(grown, b)
	p.Free(b)
	return grown
}

func TestNothingIsUsedAfterItsRelease(t *testing.T) {
	var rows []string
	for i := range 20000 {
		rows = append(rows, fmt.Sprintf("%d %d %d", i%97, i%7, i*i%1009))
	}
	no := false
	ops := []Operator{
		Recode{Config: schemas.Recode{Name: "A5", From: "A", Width: 5, Keep: &no}},
		Recode{Config: schemas.Recode{Name: "C", Top: new(float64), Replace: true}},
		Select{schemas.Select{Rows: []schemas.Condition{{Column: "B", Values: []string{"1", "2", "3"}}}, KeepRows: true}},
		Suda{Key: key("A5", "B", "C"), Shared: true, Config: schemas.Suda{Contributions: true, MSUs: true}},
	}
	source := lines(t, memory.DefaultAllocator, 3000, "A B C", rows...)
	want, _, err := table(t, memory.DefaultAllocator, source, Options{Workers: 1}, ops...)
	require.NoError(t, err)
	for workers := 1; workers <= 3; workers++ {
		got, _, err := table(t, poisoner{memory.DefaultAllocator}, source, Options{Workers: workers, Batch: 700}, ops...)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
