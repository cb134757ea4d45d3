package parquetfile

import (
	"encoding/binary"
	"hash/crc32"
	"unsafe"

	"github.com/parquet-go/parquet-go/compress"
)

// chunkPages are the pages of a chunk that is under way.
type chunkPages[T number] struct {
	codec  compress.Codec
	bytes  []byte // of data pages, headers included
	list   []writtenPage
	bounds []bounds[T] // of each page
	rows   int64
	nulls  int64
	whole  int64  // size without compression
	placed int    // pages with places in the dictionary
	packed []byte // scratch
}

// A writtenPage is a page among the bytes of a chunk.
type writtenPage struct {
	at, length int // header included
	first      int64
	rows       int64
	nulls      int64
}

func (c *chunkPages[T]) begin() {
	*c = chunkPages[T]{codec: c.codec, packed: c.packed}
}

func integers(ids []int16, values ...int64) thriftValue {
	v := thriftValue{kind: thriftStruct}
	for i, id := range ids {
		v.set(id, thriftInt(thriftI32, values[i]))
	}
	return v
}

// add appends a page (of version 2): of its rows present tells which have a value; values are encoded.
func (c *chunkPages[T]) add(present []byte, count int, b bounds[T], encoding int64, values []byte) error {
	levels := appendLevels(nil, present, count)
	packed, squeezed, err := c.pack(values)
	if err != nil {
		return err
	}
	nulls := len(present) - count
	header := integers([]int16{1, 2, 3, 4, 5, 6}, int64(len(present)), int64(nulls), int64(len(present)), encoding, int64(len(levels)), 0)
	header.set(7, thriftValue{kind: boolKind(squeezed)})
	start := len(c.bytes)
	sum := crc32.Update(crc32.ChecksumIEEE(levels), crc32.IEEETable, packed)
	c.bytes, c.whole = c.appendHeader(c.bytes, pageDataV2, 8, header, len(levels)+len(values), len(levels)+len(packed), sum)
	c.bytes = append(append(c.bytes, levels...), packed...)
	c.list = append(c.list, writtenPage{start, len(c.bytes) - start, c.rows, int64(len(present)), int64(nulls)})
	c.bounds = append(c.bounds, b)
	c.rows += int64(len(present))
	c.nulls += int64(nulls)
	if encoding == encodingDictionary {
		c.placed++
	}
	return nil
}

// pack compresses values; nothing stays nothing, which some codecs would make something of that some readers stumble over.
func (c *chunkPages[T]) pack(values []byte) (packed []byte, squeezed bool, err error) {
	if len(values) == 0 || int64(c.codec.CompressionCodec()) == codecNone {
		return values, false, nil
	}
	c.packed, err = c.codec.Encode(c.packed[:0], values)
	return c.packed, true, err
}

func boolKind(b bool) byte {
	if b {
		return thriftTrue
	}
	return thriftFalse
}

// appendHeader appends the header of a page, and tells the size of the chunk without compression so far.
func (c *chunkPages[T]) appendHeader(to []byte, kind int64, field int16, own thriftValue, whole, packed int, sum uint32) ([]byte, int64) {
	h := integers([]int16{1, 2, 3, 4}, kind, int64(whole), int64(packed), int64(int32(sum)))
	h.set(field, own)
	start := len(to)
	to = h.append(to)
	return to, c.whole + int64(len(to)-start+whole)
}

// finish appends the chunk to data: the dictionary page if there are pages with places in it, the data pages, and the page indexes.
func (c *chunkPages[T]) finish(data []byte, values []T) ([]byte, thriftValue, error) {
	var b bounds[T]
	for _, page := range c.bounds {
		b.join(page)
	}
	start, dictionaryAt := len(data), int64(0)
	if c.placed > 0 {
		dictionaryAt = int64(start)
		packed, _, err := c.pack(bytesOf(values))
		if err != nil {
			return data, thriftValue{}, err
		}
		own := integers([]int16{1, 2}, int64(len(values)), encodingPlain)
		data, c.whole = c.appendHeader(data, pageDictionary, 7, own, len(bytesOf(values)), len(packed), crc32.ChecksumIEEE(packed))
		data = append(data, packed...)
	}
	pagesAt := len(data)
	data = append(data, c.bytes...)
	meta := thriftValue{kind: thriftStruct}
	meta.set(metaType, thriftInt(thriftI32, physicalOf[T]()))
	meta.set(metaEncodings, c.encodings())
	meta.set(metaPath, thriftValue{kind: thriftList, elem: thriftBinary, kids: []thriftValue{thriftText("")}})
	meta.set(metaCodec, thriftInt(thriftI32, int64(c.codec.CompressionCodec())))
	meta.set(metaValues, thriftInt(thriftI64, c.rows))
	meta.set(metaUncompressed, thriftInt(thriftI64, c.whole))
	meta.set(metaCompressed, thriftInt(thriftI64, int64(len(data)-start)))
	meta.set(metaData, thriftInt(thriftI64, int64(pagesAt)))
	if c.placed > 0 {
		meta.set(metaDictionary, thriftInt(thriftI64, dictionaryAt))
	}
	statistics := thriftValue{kind: thriftStruct}
	statistics.set(3, thriftInt(thriftI64, c.nulls))
	if b.some {
		least, most := b.encoded()
		statistics.set(5, thriftValue{kind: thriftBinary, bytes: most})
		statistics.set(6, thriftValue{kind: thriftBinary, bytes: least})
		statistics.set(7, thriftValue{kind: thriftTrue})
		statistics.set(8, thriftValue{kind: thriftTrue})
	}
	meta.set(metaStatistics, statistics)
	meta.set(metaPageCounts, c.pageCounts())
	chunk := thriftValue{kind: thriftStruct}
	chunk.set(chunkOffset, thriftInt(thriftI64, int64(start)))
	chunk.set(chunkMeta, meta)
	data = c.appendIndexes(data, &chunk, int64(pagesAt))
	return data, chunk, nil
}

func physicalOf[T number]() int64 {
	switch any(*new(T)).(type) {
	case float64:
		return physicalDouble
	case int64:
		return physicalInt64
	}
	return physicalInt32
}

// encodings are those of the values and of the levels.
func (c *chunkPages[T]) encodings() thriftValue {
	list := thriftValue{kind: thriftList, elem: thriftI32}
	add := func(e int64) { list.kids = append(list.kids, thriftInt(thriftI32, e)) }
	add(encodingPlain) // of the dictionary too
	add(encodingRLE)
	if c.placed > 0 {
		add(encodingDictionary)
	}
	return list
}

// pageCounts tell how many pages have which encoding.
func (c *chunkPages[T]) pageCounts() thriftValue {
	list := thriftValue{kind: thriftList, elem: thriftStruct}
	add := func(kind, encoding int64, count int) {
		if count > 0 {
			list.kids = append(list.kids, integers([]int16{1, 2, 3}, kind, encoding, int64(count)))
		}
	}
	if c.placed > 0 {
		add(pageDictionary, encodingPlain, 1)
	}
	add(pageDataV2, encodingDictionary, c.placed)
	add(pageDataV2, encodingPlain, len(c.list)-c.placed)
	return list
}

// appendIndexes appends the column index, unless a page has values that have no order, and the offset index.
func (c *chunkPages[T]) appendIndexes(data []byte, chunk *thriftValue, at int64) []byte {
	put := func(v thriftValue, place, length int16) {
		from := len(data)
		data = v.append(data)
		chunk.set(place, thriftInt(thriftI64, int64(from)))
		chunk.set(length, thriftInt(thriftI32, int64(len(data)-from)))
	}
	if v, ok := c.columnIndex(); ok {
		put(v, chunkColumnIndex, chunkColumnIndexLength)
	}
	pages := thriftValue{kind: thriftList, elem: thriftStruct}
	for _, p := range c.list {
		v := thriftValue{kind: thriftStruct}
		v.set(1, thriftInt(thriftI64, at+int64(p.at)))
		v.set(2, thriftInt(thriftI32, int64(p.length)))
		v.set(3, thriftInt(thriftI64, p.first))
		pages.kids = append(pages.kids, v)
	}
	offsets := thriftValue{kind: thriftStruct}
	offsets.set(1, pages)
	put(offsets, chunkOffsetIndex, chunkOffsetIndexLength)
	return data
}

func (c *chunkPages[T]) columnIndex() (thriftValue, bool) {
	none, least, most := listOf(thriftTrue), listOf(thriftBinary), listOf(thriftBinary)
	nulls := listOf(thriftI64)
	for i, p := range c.list {
		b := c.bounds[i]
		empty := p.nulls == p.rows
		if !b.some && !empty {
			return thriftValue{}, false // NaN alone: the format has no bounds for such a page, and no index without those of all pages
		}
		var low, high []byte
		if b.some {
			low, high = b.encoded()
		}
		none.kids = append(none.kids, thriftValue{kind: thriftTrue, num: int64(boolKind(empty))})
		least.kids = append(least.kids, thriftValue{kind: thriftBinary, bytes: low})
		most.kids = append(most.kids, thriftValue{kind: thriftBinary, bytes: high})
		nulls.kids = append(nulls.kids, thriftInt(thriftI64, p.nulls))
	}
	v := thriftValue{kind: thriftStruct}
	for i, list := range []thriftValue{none, least, most, thriftInt(thriftI32, orderOf(c.bounds)), nulls} {
		v.set(int16(i+1), list)
	}
	return v, true
}

func listOf(elem byte) thriftValue { return thriftValue{kind: thriftList, elem: elem} }

// appendLevels appends definition levels, count of which are 1.
func appendLevels(to, present []byte, count int) []byte {
	switch count {
	case len(present), 0:
		to = binary.AppendUvarint(to, uint64(len(present))<<1)
		return append(to, present[0])
	}
	return appendRuns(to, present, 1, 24)
}

// appendRuns appends values of that many bits in Parquet's mixture of runs and bit-packed groups of eight: at least least equal values,
// from the start of a group on, are a run.
func appendRuns[T uint32 | byte](to []byte, values []T, width, least int) []byte {
	packed := 0 // values before it are written
	for at := 0; at < len(values); {
		end := at + 1
		for end < len(values) && values[end] == values[at] {
			end++
		}
		if end-at < least {
			at += 8 // to the next group; the run goes on to be seen from there if it is long
			continue
		}
		to = appendPacked(to, values[packed:at], width)
		to = binary.AppendUvarint(to, uint64(end-at)<<1)
		v := uint32(values[at])
		for range (width + 7) / 8 {
			to = append(to, byte(v))
			v >>= 8
		}
		packed, at = end, end
	}
	return appendPacked(to, values[packed:], width)
}

// appendPacked appends bit-packed groups of eight values; the last one is filled up with zeros.
func appendPacked[T uint32 | byte](to []byte, values []T, width int) []byte {
	if len(values) == 0 {
		return to
	}
	groups := (len(values) + 7) / 8
	to = binary.AppendUvarint(to, uint64(groups)<<1|1)
	end := len(to) + groups*width
	if size := int(unsafe.Sizeof(values[0])); width == 8 || width == 16 && size == 4 {
		for _, v := range values {
			if to = append(to, byte(v)); width == 16 {
				to = append(to, byte(uint32(v)>>8))
			}
		}
	} else {
		var held uint64
		bits := 0
		for _, v := range values {
			held |= uint64(v) << bits
			for bits += width; bits >= 8; bits -= 8 {
				to = append(to, byte(held))
				held >>= 8
			}
		}
		if bits > 0 {
			to = append(to, byte(held))
		}
	}
	for len(to) < end {
		to = append(to, 0)
	}
	return to
}
