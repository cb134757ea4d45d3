package parquetfile

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/files"
)

// A piece is some rows of a row group.
type piece struct {
	*part
	from, n int64
}

// FirstRow is a Part's.
func (p *piece) FirstRow() int64 { return p.first + p.from }

// Rows is a Part's.
func (p *piece) Rows() int64 { return p.n }

// Read is a Part's: the pages before are passed over by their headers.
func (p *piece) Read(ctx context.Context, mem memory.Allocator, want []operators.Want, batch int) (array.RecordReader, error) {
	return p.read(ctx, mem, want, batch, p.from, p.n)
}

// pagesOfPiece is how many pages a piece has at least: the first and the last may be decoded for a few of their rows.
const pagesOfPiece = 4

// Divide is a Divisible's. Inputs that take their time to answer are read whole: the headers of their pages would be asked for one by one. So are
// damaged ones, of which reading tells what is wrong.
func (p *part) Divide(want []operators.Want, pieces int) []operators.Part {
	whole := []operators.Part{p}
	if _, far := p.file.file.(files.Distant); far {
		return whole
	}
	for _, w := range want {
		largest := int64(0)
		err := guard(func() (err error) {
			largest, err = p.largestPage(w.Name)
			return err
		})
		if err != nil || largest == 0 {
			return whole
		}
		pieces = min(pieces, int(p.rows/largest/pagesOfPiece))
	}
	if pieces < 2 {
		return whole
	}
	var out []operators.Part
	for i := range int64(pieces) {
		from, to := p.rows*i/int64(pieces), p.rows*(i+1)/int64(pieces)
		out = append(out, &piece{p, from, to - from})
	}
	return out
}

// largestPage is the number of rows of the largest page of a flat column, by the headers of the pages; 0 if that cannot be told.
func (p *part) largestPage(name string) (int64, error) {
	i, has := p.file.byName[name]
	if !has || i < 0 || p.file.columns[i].nested {
		return 0, nil
	}
	pages, err := p.openChunk(&p.file.columns[i], p.file.columns[i].leaf, 1)
	if err != nil {
		return 0, err
	}
	defer pages.close()
	largest := int64(0)
	for left := pages.left; left > 0 && pages.at < pages.end; {
		h, size, err := readPageHeader(pages.pageMemory, pages.at, pages.end)
		if err != nil {
			return 0, err
		}
		if h.isData() {
			largest, left = max(largest, h.values), left-h.values
		}
		pages.at += size + h.packed
	}
	return largest, nil
}
