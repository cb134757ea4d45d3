package contingency

// A Table is a finished contingency table. It is immutable and safe for concurrent use. Classes are numbered from 0 in the
// lexicographic order of their codes, first variable first.
type Table struct {
	Variables []Variable
}

// New makes a table from the codes of its classes, codes[v][i] for class i, in any order (equal keys are added together).
func New(variables []Variable, codes [][]uint32, counts []int64) (*Table, error) { return nil, nil }

// Classes is the number of distinct keys.
func (t *Table) Classes() int { return 0 }

// Records is the number of records counted.
func (t *Table) Records() int64 { return 0 }

// Count is the number of records in class i, at least 1.
func (t *Table) Count(i int) int64 { return 0 }

// Code is the code of class i on variable v.
func (t *Table) Code(i, v int) uint32 { return 0 }

// Codes writes the codes of classes from, from+1, ... on variable v to dst.
func (t *Table) Codes(v, from int, dst []uint32) {}

// Sum is the exact total of sum s over class i.
func (t *Table) Sum(i, s int) float64 { return 0 }

// SumOver is the exact total of sum s over all classes for which keep is true (all, if keep is nil).
func (t *Table) SumOver(s int, keep func(i int) bool) float64 { return 0 }

// Margin is the table over some of the variables, by position, in the order given.
func (t *Table) Margin(variables ...int) (*Table, error) { return nil, nil }

// Lookup writes the class of each of rows rows to class, -1 for a key that is not in the table. cols has one Column a
// variable, of final codes.
func (t *Table) Lookup(rows int, cols []Column, class []int64) error { return nil }

// Bytes is the memory that the table holds.
func (t *Table) Bytes() int64 { return 0 }
