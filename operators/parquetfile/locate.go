package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"microrisk/operators/files"
	"microrisk/schemas"
)

// A chunkPlace is where the pages of a column chunk are, as they say themselves.
type chunkPlace struct {
	from, to         int64
	dictionary, data int64 // first page of each kind, 0 for none
	pages            []pagePlace
	orphan           bool // its pages have indexes, and there is no dictionary
}

// A pagePlace is a data page.
type pagePlace struct{ at, length, values, rows int64 }

// plainPlace is where the footer says that a chunk begins. Older files do not say which of its places comes first, and some have a
// place of data before that of their dictionary; readers begin at the dictionary.
func plainPlace(meta *thriftValue) int64 {
	if d := meta.integer(metaDictionary, 0); d > 0 {
		return d
	}
	return meta.integer(metaData, 0)
}

// locate finds the pages of a chunk by their headers. What the footer says of it is only taken as a hint where to look: first from
// the dictionary's place, then from that of the data.
func locate(r io.ReaderAt, dataEnd int64, chunk *thriftValue) (*chunkPlace, error) {
	meta := chunk.field(chunkMeta)
	starts := []int64{plainPlace(meta), meta.integer(metaData, 0), chunk.integer(chunkOffset, 0)}
	var first error
	var orphan *chunkPlace
	for i, from := range starts {
		if from < 4 || slices.Contains(starts[:i], from) {
			continue
		}
		p, err := walkPages(r, from, dataEnd, meta)
		switch {
		case err == nil && !p.orphan:
			return p, nil
		case err == nil && orphan == nil:
			orphan = p
		case err != nil && first == nil:
			first = err
		}
	}
	if orphan != nil {
		return orphan, nil
	}
	if first == nil {
		first = errors.New("the footer does not say where its pages are")
	}
	return nil, first
}

// walkPages follows the headers of a chunk's pages until they have as many values as the footer says, or fill the bytes that it says.
func walkPages(r io.ReaderAt, from, dataEnd int64, meta *thriftValue) (*chunkPlace, error) {
	w := &headerBytes{r: r, end: dataEnd}
	p := &chunkPlace{from: from, to: from}
	values, claimed := meta.integer(metaValues, 0), from+meta.integer(metaCompressed, 0)
	var seen int64
	for seen < values || len(p.pages) == 0 && p.to < claimed {
		if p.to == claimed && len(p.pages) > 0 {
			break // some writers count the values of nested columns otherwise
		}
		if p.to >= dataEnd {
			return nil, fmt.Errorf("its pages have %d of %d values", seen, values)
		}
		h, n, err := readPageHeader(w, p.to, dataEnd)
		if err != nil {
			return nil, err
		}
		switch {
		case h.isData():
			if p.data == 0 {
				p.data = p.to
			}
			p.orphan = p.orphan || h.isCoded() && p.dictionary == 0
			p.pages = append(p.pages, pagePlace{p.to, n + h.packed, h.values, h.rows})
			seen += h.values
		case h.kind == pageDictionary && p.dictionary == 0 && p.data == 0:
			p.dictionary = p.to
		case h.kind == pageDictionary:
			return nil, errors.New("it has a dictionary behind its data")
		}
		p.to += n + h.packed
	}
	if seen > values && p.to != claimed {
		return nil, fmt.Errorf("its pages have %d values, the footer says %d", seen, values)
	}
	return p, nil
}

// headerBytes reads what a page header takes, and no more.
type headerBytes struct {
	r      io.ReaderAt
	end    int64
	buffer []byte
}

func (b *headerBytes) bytes(at int64, n int) ([]byte, error) {
	w := window{r: b.r}
	b.buffer = resized(b.buffer, n)
	return b.buffer, w.fill(b.buffer, at)
}

// correct writes the places of a chunk's pages into its metadata where the footer had others.
func (p *chunkPlace) correct(chunk *thriftValue) {
	meta := chunk.field(chunkMeta)
	if p.data > 0 && meta.integer(metaData, 0) != p.data && meta.integer(metaData, 0) != p.from {
		meta.set(metaData, thriftInt(thriftI64, p.data))
	}
	switch d := meta.integer(metaDictionary, 0); {
	case p.dictionary == 0:
		meta.remove(metaDictionary)
	case d > 0 && d != p.dictionary || meta.integer(metaData, 0) == p.data:
		meta.set(metaDictionary, thriftInt(thriftI64, p.dictionary))
	}
	if i := meta.integer(metaIndex, 0); i < p.from || i >= p.to {
		meta.remove(metaIndex)
	}
	if o := chunk.integer(chunkOffset, 0); o > 0 && (o < p.from || o > p.to) {
		chunk.set(chunkOffset, thriftInt(thriftI64, 0)) // required by the format, deprecated since
	}
	meta.set(metaCompressed, thriftInt(thriftI64, p.to-p.from))
}

func encodedMove(chunk thriftValue, e *encoded) chunkMove {
	m := chunkMove{chunk: chunk, source: e, end: e.footer.start}
	m.from, m.to = chunkRange(chunk.field(chunkMeta))
	return m
}

// inputMove finds the pages of an input's chunk: where they are follows from them, not from what the footer says.
func inputMove(p *part, chunk thriftValue, leaf int) (chunkMove, error) {
	m := chunkMove{chunk: chunk, source: p.file.file, end: p.file.footer.start, input: true}
	if _, far := m.source.(files.Distant); far && p.file.chunksAbut() {
		m.from, m.to = chunkRange(m.chunk.field(chunkMeta))
		return m, nil
	}
	c := p.file.columnOf(leaf)
	m.flat = p.file.leafType(c, leaf).repetitions == 0
	var err error
	if m.place, err = locate(m.source, m.end, &m.chunk); err != nil {
		return m, schemas.InColumn(p.Location(), c.name, err)
	}
	m.from, m.to = m.place.from, m.place.to
	m.place.correct(&m.chunk)
	return m, nil
}
