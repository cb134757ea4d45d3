package parquetfile

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"
)

// Verify decodes every page of every column, nested ones included, with that many goroutines (at least one), and compares
// the rows with the footer. Progress is told in rows; it may be nil. The error of the first part that is damaged is returned.
//
// Pages without a checksum can be damaged in ways that still decode: no reader sees those.
func (s *Source) Verify(ctx context.Context, workers int, progress func(done, total int64)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(workers, 1))
	var mu sync.Mutex
	var done int64
	failed := make([]error, len(s.parts))
	for i := range s.parts {
		group.Go(func() error {
			p := s.parts[i].(*part)
			if failed[i] = p.verify(ctx); failed[i] != nil {
				return failed[i]
			}
			mu.Lock()
			defer mu.Unlock()
			if done += p.rows; progress != nil {
				progress(done, s.rows)
			}
			return nil
		})
	}
	err := group.Wait()
	for _, f := range failed { // the first in the order of the files, whatever ended first
		if f != nil && f != context.Canceled {
			return f
		}
	}
	return err
}

func (p *part) verify(ctx context.Context) error {
	for i := range p.file.columns {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &p.file.columns[i]
		err := guard(func() error {
			if c.nested || c.trouble != nil {
				return p.verifyNested(c)
			}
			return p.verifyFlat(c)
		})
		if err != nil {
			return fmt.Errorf("%s, column %q: %w", p, c.name, err)
		}
	}
	return nil
}

func (p *part) verifyFlat(c *column) error {
	r, err := newChunkReader(p, c, newConversion(c, c.arrow))
	if err != nil {
		return err
	}
	defer r.close()
	for r.rowsLeft > 0 {
		if err := r.next(); err != nil {
			return err
		}
		r.page.row = r.page.rows
	}
	return nil
}

func (p *part) verifyNested(c *column) error {
	for leaf := c.leaf; leaf < c.leaf+c.leaves; leaf++ {
		if err := p.verifyLeaf(leaf); err != nil {
			return err
		}
	}
	return nil
}

// verifyLeaf counts the rows of a nested leaf by its repetition levels and looks at every index.
func (p *part) verifyLeaf(leaf int) error {
	chunk, err := p.openChunk(leaf, false)
	if err != nil {
		return err
	}
	pages := chunk.Pages()
	defer pages.Close()
	var rows, values int64
	for values < chunk.NumValues() {
		source, err := pages.ReadPage()
		if err == io.EOF {
			break
		}
		if err != nil {
			return kindly(err)
		}
		rows += rowsOf(source)
		values += source.NumValues()
		err = checkIndexes(source)
		parquet.Release(source)
		if err != nil {
			return err
		}
	}
	if rows != p.rows {
		return fmt.Errorf("its pages have %d rows, the footer says %d", rows, p.rows)
	}
	return nil
}

func rowsOf(source parquet.Page) int64 {
	levels := source.RepetitionLevels()
	if levels == nil {
		return source.NumValues()
	}
	var n int64
	for _, l := range levels {
		if l == 0 {
			n++
		}
	}
	return n
}

func checkIndexes(source parquet.Page) error {
	data := source.Data()
	if d := source.Dictionary(); d != nil {
		codes := data.Int32()
		if most := largest(codes); len(codes) > 0 && most >= uint32(d.Len()) {
			return fmt.Errorf("index %d is beyond the dictionary of %d values", most, d.Len())
		}
		return nil
	}
	bytes, offsets := data.Data()
	last := uint32(0)
	for _, o := range offsets {
		if o < last || uint64(o) > uint64(len(bytes)) {
			return fmt.Errorf("a page has values beyond its end")
		}
		last = o
	}
	return nil
}
