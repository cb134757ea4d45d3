package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"microrisk/engine/scratch"
	"microrisk/operators/files"
)

// Field numbers of parquet.thrift, for those that are read or edited here.
const (
	footerVersion, footerSchema, footerRows, footerGroups, footerKeyValues, footerCreatedBy, footerOrders, footerEncryption = 1, 2, 3, 4, 5, 6, 7, 8

	groupColumns, groupBytes, groupRows, groupSorting, groupOffset, groupCompressed, groupOrdinal = 1, 2, 3, 4, 5, 6, 7

	chunkPath, chunkOffset, chunkMeta, chunkOffsetIndex, chunkOffsetIndexLength, chunkColumnIndex, chunkColumnIndexLength, chunkCrypto, chunkSecret = 1, 2, 3, 4, 5, 6, 7, 8, 9

	metaType, metaEncodings, metaPath, metaCodec, metaValues, metaUncompressed, metaCompressed, metaData, metaIndex, metaDictionary, metaStatistics, metaPageCounts, metaBloom, metaBloomLength = 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15

	elementType, elementLength, elementRepetition, elementName, elementChildren, elementField = 1, 2, 3, 4, 5, 9
)

const magic = "PAR1"

// A footer is the metadata of a file; its row groups stay as bytes until they are wanted, since there can be many.
type footer struct {
	top    thriftValue // without the row groups
	groups [][]byte
	start  int64 // where it begins in the file
	limit  int64 // bytes that the tree of a part of it may take
}

func parseFooter(b []byte, limit int64) (*footer, error) {
	f := &footer{top: thriftValue{kind: thriftStruct}, limit: limit}
	p := thriftParser{b: b, nodes: limit / thriftNodeBytes}
	var last int16
	for {
		id, kind, err := p.field(last)
		if err != nil {
			return nil, err
		}
		last = id
		switch {
		case kind == 0:
			if rest := len(b) - p.pos; rest == 28 {
				return nil, errors.New("it is signed, as encrypted files are; decrypt the file first")
			} else if rest != 0 {
				return nil, fmt.Errorf("%d bytes follow its end", rest)
			}
			return f, nil
		case id == footerGroups && kind == thriftList:
			if err := f.splitGroups(&p); err != nil {
				return nil, err
			}
		default:
			kid := thriftValue{kind: kind}
			if kind != thriftTrue && kind != thriftFalse {
				if kid, err = p.value(kind, 1); err != nil {
					return nil, err
				}
			}
			f.top.ids = append(f.top.ids, id)
			f.top.kids = append(f.top.kids, kid)
		}
	}
}

func (f *footer) splitGroups(p *thriftParser) error {
	elem, size, err := p.listHeader()
	if err != nil {
		return err
	}
	if elem != thriftStruct && size > 0 {
		return errors.New("its row groups are not structs")
	}
	each := thriftParser{b: p.b, pos: p.pos, skips: true}
	for range size {
		from := p.pos
		each.nodes = f.limit / thriftNodeBytes
		if _, err := each.value(thriftStruct, 2); err != nil {
			return err
		}
		p.pos = each.pos
		f.groups = append(f.groups, p.b[from:p.pos:p.pos])
	}
	return nil
}

// append writes the footer with the row groups in their place.
func (f *footer) append(b []byte) []byte {
	var last int16
	done := false
	groups := func() {
		b = appendThriftField(b, last, footerGroups, thriftList)
		b = appendThriftListHeader(b, thriftStruct, len(f.groups))
		for _, g := range f.groups {
			b = append(b, g...)
		}
		last, done = footerGroups, true
	}
	for i := range f.top.kids {
		if f.top.ids[i] > footerGroups && !done {
			groups()
		}
		b = appendThriftField(b, last, f.top.ids[i], f.top.kids[i].kind)
		if k := f.top.kids[i].kind; k != thriftTrue && k != thriftFalse {
			b = f.top.kids[i].append(b)
		}
		last = f.top.ids[i]
	}
	if !done {
		groups()
	}
	return append(b, 0)
}

// group parses row group g.
func (f *footer) group(g int) (thriftValue, error) {
	v, _, err := parseThriftWithin(f.groups[g], f.limit)
	return v, err
}

// look has f look at row group g, whose tree does not outlive it.
func (f *footer) look(g int, look func(group *thriftValue) error) error {
	_, err := brief(f.groups[g], f.limit, look)
	return err
}

// readFooter reads and checks the footer of an open file, in about limit bytes of memory besides its own. Its errors say what the file is instead, as far
// as its bytes tell.
func readFooter(r io.ReaderAt, size, limit int64) (*footer, error) {
	if size == 0 {
		return nil, errors.New("it is empty")
	}
	tail := make([]byte, min(size, 8))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, scratch.Reason(err)
	}
	// How a distant file begins is not worth a request of its own if it ends as it should.
	if _, far := r.(files.Distant); !far || size < 12 || string(tail[4:]) != magic {
		head := make([]byte, min(size, 512))
		if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
			return nil, scratch.Reason(err)
		}
		if size < 12 || string(head[:4]) != magic || string(tail[4:]) != magic {
			return nil, notParquet(head, tail)
		}
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if length > size-12 {
		return nil, fmt.Errorf("its footer is damaged: %d bytes long in a file of %d", length, size)
	}
	b := make([]byte, length)
	if _, err := r.ReadAt(b, size-8-length); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading its footer: %w", scratch.Reason(err))
	}
	f, err := parseFooter(b, limit)
	if err != nil {
		return nil, fmt.Errorf("its footer is damaged: %w", err)
	}
	f.start = size - 8 - length
	if f.top.field(footerEncryption) != nil {
		return nil, errors.New("it has encrypted columns, which cannot be read; decrypt it first")
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("its footer is damaged: %w", err)
	}
	return f, nil
}

func notParquet(head, tail []byte) error {
	starts := func(s string) bool { return len(head) >= len(s) && string(head[:len(s)]) == s }
	switch {
	case starts("PARE") || len(tail) == 8 && string(tail[4:]) == "PARE":
		return errors.New("its footer is encrypted; decrypt it first")
	case starts(magic):
		return errors.New("it begins as a Parquet file but does not end as one: it is truncated or still being written")
	case starts("ARROW1"):
		return errors.New("it is an Arrow IPC file, not Parquet: name it .arrow")
	case starts("\xff\xff\xff\xff"):
		return errors.New("it looks like an Arrow IPC stream, not Parquet: name it .arrows or pipe it in")
	case starts("\x1f\x8b"), starts("\x28\xb5\x2f\xfd"), starts("PK\x03\x04"):
		return errors.New("it is a compressed file, not Parquet: unpack it first")
	case isText(head):
		if c := firstInk(head); c == '{' || c == '[' {
			return errors.New("it looks like JSON text, not Parquet")
		}
		return errors.New("it looks like CSV text, not Parquet: name it .csv")
	}
	return errors.New("it is not a Parquet file")
}

func firstInk(b []byte) byte {
	for _, c := range b {
		if c > ' ' {
			return c
		}
	}
	return 0
}

func isText(b []byte) bool {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 && i < len(b)-4 || r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		i += n
	}
	return true
}

// check refuses what would make a reader of the file go wrong: counts and places that cannot be.
func (f *footer) check() error {
	leaves, err := f.countLeaves()
	if err != nil {
		return err
	}
	var rows int64
	for g := range f.groups {
		if err := f.look(g, func(group *thriftValue) error { return f.checkGroup(g, group, leaves, &rows) }); err != nil {
			return err
		}
	}
	if n := f.top.integer(footerRows, -1); n != rows {
		return fmt.Errorf("%d rows, but its row groups have %d", n, rows)
	}
	return nil
}

// checkGroup is check for a row group, whose rows it adds.
func (f *footer) checkGroup(g int, group *thriftValue, leaves int, rows *int64) error {
	n := group.integer(groupRows, -1)
	if n < 0 || *rows+n < *rows {
		return fmt.Errorf("row group %d has %d rows", g, n)
	}
	*rows += n
	columns := group.field(groupColumns)
	if columns == nil || len(columns.kids) != leaves {
		return fmt.Errorf("row group %d does not have the %d column chunks of the schema", g, leaves)
	}
	for c := range columns.kids {
		if err := f.checkChunk(&columns.kids[c], n); err != nil {
			return fmt.Errorf("row group %d, column chunk %d: %w", g, c, err)
		}
	}
	if sorting := group.field(groupSorting); sorting != nil {
		for s := range sorting.kids {
			if c := sorting.kids[s].integer(1, -1); c < 0 || c >= int64(leaves) {
				return fmt.Errorf("row group %d is sorted by column %d of %d", g, c, leaves)
			}
		}
	}
	return nil
}

func (f *footer) checkChunk(chunk *thriftValue, rows int64) error {
	if chunk.field(chunkCrypto) != nil || chunk.field(chunkSecret) != nil {
		return errors.New("it is encrypted; decrypt the file first")
	}
	if p := chunk.text(chunkPath); p != "" {
		return fmt.Errorf("its data is in another file, %q", p)
	}
	meta := chunk.field(chunkMeta)
	if meta == nil || meta.kind != thriftStruct {
		return errors.New("it has no metadata")
	}
	if n := meta.integer(metaValues, -1); n < 0 {
		return fmt.Errorf("it has %d values", n)
	}
	if meta.integer(metaUncompressed, -1) < 0 {
		return errors.New("it has a negative size")
	}
	if meta.integer(metaCompressed, -1) < 0 {
		return errors.New("it has a negative size")
	}
	from := plainPlace(meta)
	if rows == 0 && from == 0 {
		return nil
	}
	if from < 4 || from > f.start {
		return fmt.Errorf("its pages begin at byte %d, but data ends at %d", from, f.start)
	}
	return nil
}

// chunkRange is where the footer of a file that was written here has the pages of a chunk.
func chunkRange(meta *thriftValue) (from, to int64) {
	from = plainPlace(meta)
	return from, from + meta.integer(metaCompressed, 0)
}

// countLeaves walks the schema.
func (f *footer) countLeaves() (int, error) {
	schema := f.top.field(footerSchema)
	if schema == nil || schema.kind != thriftList || len(schema.kids) == 0 {
		return 0, errors.New("it has no schema")
	}
	leaves := 0
	next := 0
	var walk func(depth int) error
	walk = func(depth int) error {
		if depth > thriftDepth {
			return errThriftDepth
		}
		if next >= len(schema.kids) {
			return errors.New("its schema is incomplete")
		}
		e := &schema.kids[next]
		next++
		if e.field(elementType) != nil {
			leaves++
			return nil
		}
		n := e.integer(elementChildren, 0)
		if n < 0 || n > int64(len(schema.kids)-next) {
			return fmt.Errorf("its schema has a group of %d columns", n)
		}
		for range n {
			if err := walk(depth + 1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(0); err != nil {
		return 0, err
	}
	if next != len(schema.kids) {
		return 0, errors.New("its schema has columns outside of its root")
	}
	return leaves, nil
}
