package parquetfile

import (
	"bufio"
	"fmt"

	"microrisk/engine/scratch"
)

// A pageIndex waits for the end of the file, where readers expect all of them in a row.
type pageIndex struct {
	columns, offsets     []byte
	columnsAt, offsetsAt place
}

type place struct{ at, length int64 }

// allIndexed tells whether every chunk that passes through has both page indexes. Some readers expect them of all chunks
// or of none.
func (o *output) allIndexed() bool {
	for _, f := range o.inputs {
		for _, p := range f.groups {
			group, err := f.footer.group(p.group)
			if err != nil {
				return false
			}
			chunks := group.field(groupColumns).kids
			for leaf := range o.layouts[f].newLeaf {
				c := &chunks[leaf]
				if !f.inside(c, chunkColumnIndex, chunkColumnIndexLength) || !f.inside(c, chunkOffsetIndex, chunkOffsetIndexLength) {
					return false
				}
			}
		}
	}
	return true
}

func (f *file) inside(chunk *thriftValue, place, length int16) bool {
	from, n := chunk.integer(place, 0), chunk.integer(length, 0)
	return from >= 4 && n > 0 && n <= f.footer.start && from <= f.footer.start-n
}

// index takes the page indexes of column chunk i along, with the new places of its pages.
func (o *output) index(i int, m *chunkMove, shift int64) error {
	var p pageIndex
	if o.indexed {
		var err error
		if p, err = m.pageIndex(shift); err != nil {
			return err
		}
	}
	for _, id := range []int16{chunkColumnIndex, chunkColumnIndexLength, chunkOffsetIndex, chunkOffsetIndexLength} {
		m.chunk.remove(id)
	}
	o.indexes[len(o.groups)][i] = p
	return nil
}

// pageIndex reads the page indexes of a chunk and writes the places of its pages anew. Indexes that are about other pages than the
// chunk has are left behind.
func (m *chunkMove) pageIndex(shift int64) (p pageIndex, err error) {
	if p.columns, err = readIndex(m, chunkColumnIndex, chunkColumnIndexLength); err != nil {
		return p, err
	}
	b, err := readIndex(m, chunkOffsetIndex, chunkOffsetIndexLength)
	if err != nil || b == nil {
		return p, err
	}
	v, _, err := parseThriftStruct(b)
	if err != nil {
		return p, fmt.Errorf("offset index: %w", err)
	}
	pages := v.field(1).list()
	if m.place == nil {
		for i := range pages {
			pages[i].set(1, thriftInt(thriftI64, pages[i].integer(1, 0)+shift))
		}
	} else if !m.place.describe(pages, shift, m.flat) || countIndexed(p.columns) != len(pages) {
		return pageIndex{}, nil
	}
	p.offsets = v.append(nil)
	return p, nil
}

// shift moves the places of the pages.
func (p *pageIndex) shift(by int64) error {
	if p.offsets == nil {
		return nil
	}
	v, _, err := parseThriftStruct(p.offsets)
	if err != nil {
		return err
	}
	pages := v.field(1).list()
	for i := range pages {
		pages[i].set(1, thriftInt(thriftI64, pages[i].integer(1, 0)+by))
	}
	p.offsets = v.append(nil)
	return nil
}

// describe writes the places of the pages into an offset index; false if it is about other pages.
func (p *chunkPlace) describe(index []thriftValue, shift int64, flat bool) bool {
	if len(index) != len(p.pages) {
		return false
	}
	row := int64(0)
	for i, page := range p.pages {
		index[i].set(1, thriftInt(thriftI64, page.at+shift))
		index[i].set(2, thriftInt(thriftI32, page.length))
		if flat {
			index[i].set(3, thriftInt(thriftI64, row))
			row += page.values
		}
	}
	return true
}

// countIndexed is the number of pages that a column index is about, 0 if it cannot be read.
func countIndexed(b []byte) int {
	v, _, err := parseThriftStruct(b)
	if err != nil {
		return 0
	}
	return len(v.field(1).list())
}

func readIndex(m *chunkMove, place, length int16) ([]byte, error) {
	from, n := m.chunk.integer(place, 0), m.chunk.integer(length, 0)
	if from <= 0 || n <= 0 || n > 1<<30 {
		return nil, nil
	}
	b := make([]byte, n)
	if _, err := m.source.ReadAt(b, from); err != nil {
		return nil, fmt.Errorf("reading a page index: %w", scratch.Reason(err))
	}
	return b, nil
}

// moveBlooms takes the bloom filters along; one whose length is not told stays behind.
func (o *output) moveBlooms(moves []chunkMove) error {
	for i := range moves {
		meta := moves[i].chunk.field(chunkMeta)
		from, n := meta.integer(metaBloom, 0), meta.integer(metaBloomLength, 0)
		meta.remove(metaBloom)
		meta.remove(metaBloomLength)
		if from < 4 || n <= 0 || n > moves[i].end || from > moves[i].end-n {
			continue
		}
		meta.set(metaBloomLength, thriftInt(thriftI32, n))
		if o.copier != nil {
			if err := o.putOffBloom(i, &moves[i], from, n); err != nil {
				return err
			}
			continue
		}
		meta.set(metaBloom, thriftInt(thriftI64, o.at))
		if err := o.copy(moves[i].source, from, from+n); err != nil {
			return err
		}
	}
	return nil
}

// writeIndexes writes all column indexes and then all offset indexes, and gives their places to the chunks, one row group at a
// time: there can be many.
func (o *output) writeIndexes() ([][]byte, error) {
	w := bufio.NewWriterSize(o.file, 1<<20)
	put := func(b []byte) (place, error) {
		at := place{o.at, int64(len(b))}
		n, err := w.Write(b)
		o.at += int64(n)
		return at, err
	}
	for _, indexes := range o.indexes {
		for i := range indexes {
			var err error
			if indexes[i].columnsAt, err = put(indexes[i].columns); err != nil {
				return nil, err
			}
		}
	}
	for _, indexes := range o.indexes {
		for i := range indexes {
			var err error
			if indexes[i].offsetsAt, err = put(indexes[i].offsets); err != nil {
				return nil, err
			}
		}
	}
	for g := range o.groups {
		if err := o.placeIndexes(g); err != nil {
			return nil, err
		}
	}
	return o.groups, w.Flush()
}

// placeIndexes tells the chunks of a row group where their page indexes are.
func (o *output) placeIndexes(g int) error {
	group, _, err := parseThriftStruct(o.groups[g])
	if err != nil {
		return err
	}
	chunks := group.field(groupColumns).kids
	for c := range chunks {
		chunk := &chunks[c]
		p := &o.indexes[g][c]
		if p.columnsAt.length > 0 {
			chunk.set(chunkColumnIndex, thriftInt(thriftI64, p.columnsAt.at))
			chunk.set(chunkColumnIndexLength, thriftInt(thriftI32, p.columnsAt.length))
		}
		if p.offsetsAt.length > 0 {
			chunk.set(chunkOffsetIndex, thriftInt(thriftI64, p.offsetsAt.at))
			chunk.set(chunkOffsetIndexLength, thriftInt(thriftI32, p.offsetsAt.length))
		}
	}
	o.groups[g] = group.append(nil)
	return nil
}
