package contingency

// A Block gathers rows to be looked up together in a table on disk, which is read once from front to back for all of them.
type Block struct {
	table *Table
	class []int64
}

// NewBlock returns an empty block.
func (t *Table) NewBlock() *Block { return &Block{table: t} }

// Add packs the keys of rows rows.
func (b *Block) Add(rows int, cols []Column) error {
	class := make([]int64, rows)
	if err := b.table.Lookup(rows, cols, class); err != nil {
		return err
	}
	b.class = append(b.class, class...)
	return nil
}

// Rows is the number of rows added.
func (b *Block) Rows() int { return len(b.class) }

// Resolve looks all rows up.
func (b *Block) Resolve(class, count []int64) error {
	for r, c := range b.class {
		class[r], count[r] = c, 0
		if c >= 0 {
			count[r] = b.table.Count(int(c))
		}
	}
	b.class = b.class[:0]
	return nil
}
