package parquetfile

import (
	"errors"
	"fmt"
	"io"
)

// A page is a data page of a flat column, with its values as Arrow has them.
type page struct {
	rows   int
	levels []byte  // 1 for a value, 0 for a null; nil when there are none
	codes  []int32 // of the values, with dictionary
	values vector  // of the values, without
	isCode bool

	row   int // how far it has been used
	value int
}

// A chunkReader reads the pages of one flat column chunk.
type chunkReader struct {
	part       *part
	column     *column
	conversion conversion
	pages      *pageReader
	page       page
	rowsLeft   int64
	dictionary *chunkDictionary
	source     *leafPage // that dictionary was made of
}

// newChunkReader opens the chunk of a flat column, one of several that are read at a time.
func newChunkReader(p *part, c *column, conv conversion, several int) (*chunkReader, error) {
	pages, err := p.openChunk(c, c.leaf, several)
	if err != nil {
		return nil, err
	}
	if pages.left != p.rows {
		pages.close()
		return nil, fmt.Errorf("its column chunk has %d values for %d rows", pages.left, p.rows)
	}
	pages.converted = conv.bytes()
	return &chunkReader{part: p, column: c, conversion: conv, pages: pages, rowsLeft: p.rows}, nil
}

func (r *chunkReader) close() { r.pages.close() }

// next moves to the next page that has rows; the chunk must have rows left.
func (r *chunkReader) next() error {
	for r.page.row == r.page.rows {
		source, err := r.pages.next()
		if err == io.EOF {
			return fmt.Errorf("%d rows are missing at the end", r.rowsLeft)
		}
		if err != nil {
			return err
		}
		if err := r.load(source); err != nil {
			return err
		}
	}
	return nil
}

// skip passes over the first n rows: pages of them alone are not decoded.
func (r *chunkReader) skip(n int64) error {
	within, err := r.pages.skip(n)
	r.rowsLeft -= n - within
	if err != nil || within == 0 {
		return err
	}
	if err := r.next(); err != nil {
		return err
	}
	p := &r.page
	if int64(p.rows) < within {
		return errors.New("a page is damaged: it has fewer rows than its header says")
	}
	p.row, p.value = int(within), int(within)
	if p.levels != nil {
		p.value = countOnes(p.levels[:within])
	}
	return nil
}

func (r *chunkReader) load(source *leafPage) error {
	p := &r.page
	p.row, p.value, p.levels, p.rows, p.isCode = 0, 0, nil, source.n, false
	if source.values < source.n {
		p.levels = source.levels[1]
	}
	r.rowsLeft -= int64(p.rows)
	if r.column.isNullType {
		if source.values > 0 {
			return errors.New("a column of nulls has values")
		}
		p.values = vector{width: r.conversion.width}
		p.levels = make([]byte, p.rows)
		return nil
	}
	if !source.coded {
		return r.conversion.convert(&p.values, source.values, source.data, source.offsets)
	}
	if d := r.pages.dictionary; d != r.source {
		dictionary, err := newChunkDictionary(&r.conversion, d)
		if err != nil {
			return fmt.Errorf("dictionary: %w", err)
		}
		r.dictionary, r.source = dictionary, d
	}
	p.codes, p.isCode = source.codes, true
	return nil
}
