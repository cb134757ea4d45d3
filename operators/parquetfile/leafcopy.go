package parquetfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"microrisk/operators"
)

// A leafCopy moves the values of one leaf.
type leafCopy struct {
	part   *part
	of     *column
	leaf   int
	keep   *operators.Bitmap
	nested bool
	name   string
	column int
	to     *parquet.ColumnWriter

	row    int // rows begun
	stays  bool
	staged []parquet.Value
	rows   int // begun in staged
}

func (c *leafCopy) run() error {
	pages, err := c.part.openChunk(c.of, c.leaf, 1)
	if err != nil {
		return err
	}
	defer pages.close()
	for {
		page, err := pages.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = c.take(pages, page)
		}
		if err != nil {
			return err
		}
	}
	if c.row != int(c.part.rows) {
		return fmt.Errorf("its pages have %d of %d rows", c.row, c.part.rows)
	}
	return c.flush(true)
}

// take copies a page, value by value with its levels.
func (c *leafCopy) take(pages *pageReader, page *leafPage) error {
	leaf := &pages.leaf
	width := leaf.width()
	values, at := page, func(k int) int { return k }
	if page.coded {
		values, at = pages.dictionary, func(k int) int { return int(page.codes[k]) }
	}
	next, most := 0, int(c.part.source.pageLimit(1)/stagedBytes)
	for i := range page.n {
		repetition, definition := 0, leaf.definitions
		if page.levels[0] != nil {
			repetition = int(page.levels[0][i])
		}
		if page.levels[1] != nil {
			definition = int(page.levels[1][i])
		}
		if repetition == 0 {
			if err := c.begin(); err != nil {
				return err
			}
		} else if c.row == 0 {
			return errNoRow
		}
		var v parquet.Value
		if definition == leaf.definitions {
			if c.stays {
				v = leaf.value(values.at(at(next), width))
			}
			next++
		}
		if c.stays {
			if len(c.staged) >= most {
				return fmt.Errorf("row %d has more than %d values, and --memory leaves no room for more: give more memory", c.row-1, most)
			}
			c.staged = append(c.staged, v.Level(repetition, definition, c.column))
		}
	}
	return c.flush(!c.nested)
}

const (
	stagedBytes = 24      // of a value that waits to be written
	pieceValues = 1 << 20 // are written before a row is added to them
)

// value is a value of the library, which refers to the bytes.
func (t *leafType) value(b []byte) parquet.Value {
	switch t.physical {
	case physicalBoolean:
		return parquet.BooleanValue(b[0] != 0)
	case physicalInt32:
		return parquet.Int32Value(int32(binary.LittleEndian.Uint32(b)))
	case physicalInt64:
		return parquet.Int64Value(int64(binary.LittleEndian.Uint64(b)))
	case physicalInt96:
		return parquet.Int96Value(deprecated.Int96{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])})
	case physicalFloat:
		return parquet.FloatValue(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case physicalDouble:
		return parquet.DoubleValue(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case physicalFixed:
		return parquet.FixedLenByteArrayValue(b)
	}
	return parquet.ByteArrayValue(b)
}

func (c *leafCopy) begin() error {
	if c.row == int(c.part.rows) {
		return fmt.Errorf("its pages have more than %d rows", c.part.rows)
	}
	c.stays = c.keep.Get(c.row)
	c.row++
	if !c.stays {
		return nil
	}
	if c.rows == pieceRows || len(c.staged) > pieceValues {
		if err := c.flush(true); err != nil {
			return err
		}
	}
	c.rows++
	return nil
}

// flush writes what is staged. Where a page ends a row may go on in the next one: then the last row waits, apart from the page's
// memory.
func (c *leafCopy) flush(whole bool) error {
	n := len(c.staged)
	if !whole {
		for n--; n > 0 && c.staged[n].RepetitionLevel() > 0; {
			n--
		}
		n = max(n, 0)
	}
	if n > 0 {
		if _, err := c.to.WriteRowValues(c.staged[:n]); err != nil {
			return err
		}
		c.rows = 0
	}
	rest := copy(c.staged, c.staged[n:])
	clear(c.staged[rest:])
	c.staged = c.staged[:rest]
	for i, v := range c.staged {
		c.staged[i] = v.Clone()
	}
	if rest > 0 {
		c.rows = 1
	}
	return nil
}
