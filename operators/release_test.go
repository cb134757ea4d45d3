package operators_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/operatortest"
	"microrisk/operators/recode"
	"microrisk/operators/selection"
	"microrisk/operators/suda"
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
	ops := []operators.Operator{
		recode.Operator{Config: recode.Column{Name: "A5", From: "A", Width: 5, Keep: &no}},
		recode.Operator{Config: recode.Column{Name: "C", Top: new(float64), Replace: true}},
		selection.Operator{Config: selection.Config{Rows: []selection.Condition{{Column: "B", Values: []string{"1", "2", "3"}}}, KeepRows: true}},
		suda.Operator{Key: operatortest.Key("A5", "B", "C"), Config: suda.Config{Contributions: true, MSUs: true}},
	}
	source := operatortest.Lines(t, memory.DefaultAllocator, 3000, "A B C", rows...)
	want, _, err := operatortest.Table(t, memory.DefaultAllocator, source, operators.Options{Workers: 1}, ops...)
	require.NoError(t, err)
	for workers := 1; workers <= 3; workers++ {
		got, _, err := operatortest.Table(t, poisoner{memory.DefaultAllocator}, source, operators.Options{Workers: workers, Batch: 700}, ops...)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
