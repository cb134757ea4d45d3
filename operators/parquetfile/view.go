package parquetfile

import (
	"encoding/binary"
	"io"

	"github.com/parquet-go/parquet-go"
)

// An overlay is a file with another end.
type overlay struct {
	io.ReaderAt
	from int64
	end  []byte
}

func (o *overlay) ReadAt(b []byte, at int64) (int, error) {
	n := 0
	if at < o.from {
		m := min(int64(len(b)), o.from-at)
		var err error
		if n, err = o.ReaderAt.ReadAt(b[:m], at); err != nil || n == len(b) {
			return n, err
		}
		at = o.from
	}
	m := copy(b[n:], o.end[min(at-o.from, int64(len(o.end))):])
	if n += m; n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// openGroup opens the file as if it had one row group only, with the chunks of the given leaves decompressed before the library
// sees them (see unpackChunk), and their metadata edited, unless edit is nil.
func (f *file) openGroup(g int, unpacked []int, edit func(meta *thriftValue)) (*parquet.File, error) {
	group, err := f.footer.group(g)
	if err != nil {
		return nil, err
	}
	group.remove(groupOrdinal)
	var end []byte
	for _, leaf := range unpacked {
		chunk := &group.field(groupColumns).kids[leaf]
		meta := chunk.field(chunkMeta)
		from := len(end)
		if end, err = f.unpackChunk(end, meta, f.wideDelta(leaf, meta)); err != nil {
			return nil, err
		}
		meta.set(metaCodec, thriftInt(thriftI32, 0))
		meta.set(metaData, thriftInt(thriftI64, f.footer.start+int64(from)))
		meta.set(metaCompressed, thriftInt(thriftI64, int64(len(end)-from)))
		meta.remove(metaDictionary) // the library takes the dictionary page as it comes
		for _, id := range []int16{chunkOffsetIndex, chunkOffsetIndexLength, chunkColumnIndex, chunkColumnIndexLength} {
			chunk.remove(id)
		}
	}
	if edit != nil {
		for i := range group.field(groupColumns).list() {
			edit(group.field(groupColumns).kids[i].field(chunkMeta))
		}
	}
	one := &footer{top: thriftValue{kind: thriftStruct}, groups: [][]byte{group.append(nil)}}
	for i, id := range f.footer.top.ids {
		one.top.set(id, f.footer.top.kids[i])
	}
	one.top.set(footerRows, thriftInt(thriftI64, group.integer(groupRows, 0)))
	from := len(end)
	end = one.append(end)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(end)-from))
	end = append(end, magic...)
	return openLibrary(&overlay{f.file, f.footer.start, end}, f.footer.start+int64(len(end)))
}
