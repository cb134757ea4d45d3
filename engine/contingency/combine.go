package contingency

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
)

// Combine adds tables up that were counted apart, by other processes perhaps: those of the same variables in the same order, whose
// categories are matched by their labels. It has the categories of all of them, in the order of their values. The table is the same
// in whatever order they are given, and if they are combined some at a time. It is in memory if it and its lookup index fit in memory
// bytes (0: no limit), else in the store, as with [Merge]. The tables stay as they are.
//
// Errors: no table, tables of other variables or orders or with other numbers of sums, categories that are not in their order, too
// many records, a sum that passes 2^95, a context that ends.
func Combine(ctx context.Context, workers int, memory int64, s *Store, tables ...*Table) (*Table, error) {
	book, err := combined(tables)
	if err != nil {
		return nil, err
	}
	variables := book.Variables()
	l, err := layoutOf(variables)
	if err != nil {
		return nil, err
	}
	var classes, records int64
	cursors := make(cursors, 0, len(tables))
	for i, t := range tables {
		if records > math.MaxInt64-t.records {
			return nil, errRecords
		}
		classes, records = classes+int64(t.classes), records+t.records
		c, err := newCursor(t, &l, book)
		if err != nil {
			return nil, fmt.Errorf("contingency: table %d: %w", i+1, err)
		}
		if t.classes > 0 {
			cursors = append(cursors, c)
		}
	}
	b := newBuilder(variables, l, len(tables[0].sums), workers)
	if err := b.within(ctx, classes, records, memory, s); err != nil {
		return nil, err
	}
	if err := cursors.merge(ctx, l.words, b); err != nil {
		return nil, err
	}
	return b.table()
}

// combined are the variables of all tables.
func combined(tables []*Table) (*CodeBook, error) {
	if len(tables) == 0 {
		return nil, fmt.Errorf("contingency: no table to combine")
	}
	first := tables[0]
	book := &CodeBook{}
	for i, t := range tables {
		if len(t.Variables) != len(first.Variables) || len(t.sums) != len(first.sums) {
			return nil, fmt.Errorf(
				"contingency: table %d has %d variables and %d sums, table 1 has %d and %d",
				i+1,
				len(t.Variables),
				len(t.sums),
				len(first.Variables),
				len(first.sums),
			)
		}
		for v, variable := range t.Variables {
			if of := first.Variables[v]; variable.Name != of.Name || variable.Order != of.Order {
				return nil, fmt.Errorf(
					"contingency: variable %d of table %d is %q, ordered %s, in table 1 it is %q, ordered %s",
					v+1,
					i+1,
					variable.Name,
					variable.Order,
					of.Name,
					of.Order,
				)
			}
			for c := 1; c < len(variable.Categories); c++ {
				if a, b := variable.Categories[c-1], variable.Categories[c]; variable.Order.Compare(a, b) >= 0 {
					return nil, fmt.Errorf(
						"contingency: table %d has the categories %q and %q of %q in this order, which is not %s",
						i+1,
						a,
						b,
						variable.Name,
						variable.Order,
					)
				}
			}
			if at := book.Add(variable.Name, variable.Categories...); at != v {
				return nil, fmt.Errorf("contingency: two variables have the name %q", variable.Name)
			}
			book.variables[v].Order = variable.Order
		}
	}
	book.Sort()
	return book, nil
}

// A cursor goes through the classes of a table, in their order, in the codes of another.
type cursor struct {
	table      *Table
	translator *translator
	reader     *reader // nil in memory
	chunk      *chunk
	at         int // in the chunk
	next       int // first class after the chunk
	old, entry []uint64
}

// cursorClasses is the number of classes that a cursor reads from disk at a time.
const cursorClasses = 4096

func newCursor(t *Table, l *layout, book *CodeBook) (*cursor, error) {
	codes := make([][]uint32, len(t.Variables))
	for v, variable := range t.Variables {
		var err error
		if codes[v], err = book.Translation(variable); err != nil {
			return nil, err
		}
	}
	stride := 1 + 2*len(t.sums)
	c := &cursor{
		table:      t,
		at:         -1,
		translator: newTranslator(&t.layout, l, t.shiftRecoded(book.Variables(), l, codes)),
		old:        make([]uint64, t.layout.words+stride),
		entry:      make([]uint64, l.words+stride),
	}
	if t.disk != nil {
		c.reader = t.reader(cursorClasses, scanKeys|scanCounts|scanSums)
		c.chunk = &c.reader.chunk
	} else {
		c.chunk = &chunk{n: t.classes, keys: t.keys, counts32: t.counts32, counts64: t.counts64, sums: t.sums}
		c.next = t.classes
	}
	if t.classes == 0 {
		return c, nil
	}
	_, err := c.advance()
	return c, err
}

// advance goes to the next class; false after the last.
func (c *cursor) advance() (bool, error) {
	if c.at++; c.at >= c.chunk.n {
		if c.next == c.table.classes {
			return false, nil
		}
		n := min(cursorClasses, c.table.classes-c.next)
		if err := c.reader.read(c.next, n); err != nil {
			return false, err
		}
		c.at, c.next = 0, c.next+n
	}
	w := c.table.layout.words
	c.chunk.entry(c.at, w, c.old)
	key := len(c.entry) - (len(c.old) - w)
	copy(c.entry[key:], c.old[w:])
	return true, c.translator.key(c.old[:w], c.entry[:key])
}

// cursors are a heap by key.
type cursors []*cursor

func (h cursors) Len() int { return len(h) }
func (h cursors) Less(i, j int) bool {
	a, b := h[i], h[j]
	words := len(a.entry) - 1 - 2*len(a.table.sums)
	return slices.Compare(a.entry[:words], b.entry[:words]) < 0
}
func (h cursors) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *cursors) Push(x any)   { *h = append(*h, x.(*cursor)) }
func (h *cursors) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// merge adds equal classes together.
func (h cursors) merge(ctx context.Context, words int, b *builder) error {
	heap.Init(&h)
	var entry []uint64
	for n := 0; len(h) > 0; n++ {
		if n%cursorClasses == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c := h[0]
		switch {
		case len(entry) > 0 && slices.Equal(entry[:words], c.entry[:words]):
			if !addValues(entry[words:], c.entry[words:]) {
				return errSum
			}
		default:
			if len(entry) > 0 {
				if err := b.add(entry); err != nil {
					return err
				}
			}
			entry = append(entry[:0], c.entry...)
		}
		more, err := c.advance()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	if len(entry) == 0 {
		return nil
	}
	return b.add(entry)
}
