package parquetfile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"microrisk/operators"
)

// rewrite makes chunks of the kept rows of all columns of the row group, with the codecs they have.
func (p *part) rewrite(keep *operators.Bitmap) (*encoded, error) {
	var b bytes.Buffer
	err := guard(func() error { return p.copyRows(&b, keep) })
	if err != nil {
		return nil, fmt.Errorf("copying the rows that stay: %w", kindly(err))
	}
	return openEncoded(b.Bytes())
}

func (p *part) copyRows(to io.Writer, keep *operators.Bitmap) error {
	group, err := p.rowGroupUnpacked()
	if err != nil {
		return err
	}
	w := parquet.NewWriter(to, group.Schema())
	rows := group.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, 512)
	row := 0
	for row < int(p.rows) {
		n, err := rows.ReadRows(buffer)
		kept := buffer[:0:0]
		for i := range n {
			if row+i < keep.Len() && keep.Get(row+i) {
				kept = append(kept, buffer[i])
			}
		}
		row += n
		if _, err := w.WriteRows(kept); err != nil {
			return err
		}
		if err == io.EOF || n == 0 && err == nil {
			break
		}
		if err != nil {
			return err
		}
	}
	if row != int(p.rows) {
		return fmt.Errorf("it has %d of its %d rows", row, p.rows)
	}
	return w.Close()
}

// rowGroupUnpacked is the row group for reading all columns, after a survey of their pages.
func (p *part) rowGroupUnpacked() (parquet.RowGroup, error) {
	group, err := p.rowGroup()
	if err != nil {
		return nil, err
	}
	var unpacked []int
	for i := range p.file.columns {
		c := &p.file.columns[i]
		for leaf := c.leaf; leaf < c.leaf+c.leaves; leaf++ {
			if err := p.surveyChunk(leaf, !c.nested); err != nil {
				return nil, fmt.Errorf("column %q: %w", c.name, err)
			}
			if isLZ4(int64(p.file.library.Metadata().RowGroups[p.group].Columns[leaf].MetaData.Codec)) {
				unpacked = append(unpacked, leaf)
			}
		}
	}
	if unpacked == nil {
		return group, nil
	}
	library, err := p.file.openGroup(p.group, unpacked)
	if err != nil {
		return nil, err
	}
	return library.RowGroups()[0], nil
}
