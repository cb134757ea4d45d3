package contingency

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// What goes through a table stops when its context ends: margins, merging, and all that reads a table on disk.
func TestContextsThatEnd(t *testing.T) {
	m := microdata{variables: makeVariables([]int{50, 50})}
	for a := range 50 {
		for b := range 51 {
			m.rows = append(m.rows, []uint32{uint32(a), uint32(b)})
			m.times, m.values = append(m.times, 1), append(m.values, 1)
		}
	}
	ended, end := context.WithCancel(context.Background())
	end()
	table, err := m.count(3, 2, 2, false, true)
	require.NoError(t, err)
	_, err = table.Margin(ended, 0)
	require.ErrorIs(t, err, context.Canceled)
	final, counters, err := m.counters(3, 2, false, true, func(*Counter) error { return nil })
	require.NoError(t, err)
	_, err = Merge(ended, m.variables, final, 2, 0, nil, counters...)
	require.ErrorIs(t, err, context.Canceled)

	for name, read := range map[string]func(t *Table){
		"observed": func(t *Table) { t.Observed(0) },
		"kept":     func(t *Table) { t.Keep([]bool{true, true}) },
		"missing":  func(t *Table) { t.MissingRecords(0) },
		"sums":     func(t *Table) { t.SumOver(0, nil) },
		"count":    func(t *Table) { t.Count(0) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			s := NewStore(ctx, t.TempDir())
			defer s.Close()
			final, counters, err := m.counters(3, 2, false, true, func(*Counter) error { return nil })
			require.NoError(t, err)
			table, err := merge(ctx, m.variables, final, 2, 1, 1<<14, s, counters)
			require.NoError(t, err)
			require.True(t, table.OnDisk())
			cancel()
			read(table)
			require.ErrorIs(t, table.Err(), context.Canceled)
		})
	}
}
