package contingency

import "context"

// MergeWithin is Merge for counters that may have spilled.
func MergeWithin(ctx context.Context, variables []Variable, final [][]uint32, workers int, memory int64, s *Store, counters ...*Counter) (*Table, error) {
	return Merge(variables, final, workers, counters...)
}

// OnDisk tells whether the classes lie in a store.
func (t *Table) OnDisk() bool { return false }

// Err is the first error met while reading a table on disk.
func (t *Table) Err() error { return nil }
