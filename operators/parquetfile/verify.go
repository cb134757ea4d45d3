package parquetfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"
	"microrisk/schemas"
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
			return schemas.InColumn(p.Location(), c.name, err)
		}
	}
	return nil
}

func (p *part) verifyFlat(c *column) error {
	r, err := newChunkReader(p, c, newConversion(c, c.arrow), 1)
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
		if err := p.verifyLeaf(c, leaf); err != nil {
			return err
		}
	}
	return nil
}

// verifyLeaf counts the rows of a nested leaf by its repetition levels.
func (p *part) verifyLeaf(c *column, leaf int) error {
	pages, err := p.openChunk(c, leaf, 1)
	if err != nil {
		return err
	}
	defer pages.close()
	var rows int64
	for {
		page, err := pages.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if levels := page.levels[0]; levels == nil {
			rows += int64(page.n)
		} else {
			if rows == 0 && page.n > 0 && levels[0] != 0 {
				return errNoRow
			}
			rows += int64(bytes.Count(levels, []byte{0}))
		}
	}
	if rows != p.rows {
		return fmt.Errorf("its pages have %d rows, the footer says %d", rows, p.rows)
	}
	return nil
}

var errNoRow = errors.New("its pages begin in the middle of a row")
