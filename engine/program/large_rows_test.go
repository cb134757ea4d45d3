package program

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A model whose basis no memory could hold is refused.
func TestTooManyRows(t *testing.T) {
	m := &Model{}
	m.AddColumn("", 0, 1, 1, false)
	for range mostRows + 1 {
		m.AddRow("", 0, 1, Term{Column: 0, Value: 1})
	}
	_, err := Embedded{}.Solve(t.Context(), m)
	require.ErrorIs(t, err, ErrTooLarge)
}
