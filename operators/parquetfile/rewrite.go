package parquetfile

import (
	"bytes"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"microrisk/operators"
)

// rewrite makes chunks of the rows that stay, of the leaves in wanted, nil if there are none. Values and levels move leaf by leaf as they are, so that the
// shape of the schema does not matter; chunks keep their codec, or have the given one if theirs cannot be written.
func (p *part) rewrite(keep *operators.Bitmap, wanted map[int]int, codec compress.Codec) (*encoded, error) {
	var copies []*leafCopy
	group := parquet.Group{}
	for i := range p.file.columns {
		c := &p.file.columns[i]
		for k, shape := range p.file.leaves(c) {
			if _, ok := wanted[c.leaf+k]; !ok {
				continue
			}
			own, err := p.chunk(c.leaf + k)
			if err != nil {
				return nil, err
			}
			group[fmt.Sprintf("c%06d", len(copies))] = shape.wrap(parquet.Compressed(shape.node(), codecLike(own.codec, codec)))
			copies = append(copies, &leafCopy{part: p, of: c, leaf: c.leaf + k, keep: keep, nested: c.nested, name: c.name, column: len(copies)})
		}
	}
	if len(copies) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("schema", group), parquet.Compression(codec), parquet.DictionaryMaxBytes(dictionaryBytes))
	writers := w.ColumnWriters()
	for i, c := range copies {
		c.to = writers[i]
		if err := guard(c.run); err != nil {
			return nil, fmt.Errorf("column %q: copying the rows that stay: %w", c.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	e, err := openEncoded(b.Bytes())
	if err != nil {
		return nil, err
	}
	return e, p.placeChunks(e, copies)
}

// placeChunks puts the rewritten chunks where the leaves of the input are, under the names that they have there.
func (p *part) placeChunks(e *encoded, copies []*leafCopy) error {
	group, err := e.footer.group(0)
	if err != nil {
		return err
	}
	old, err := p.file.footer.group(p.group)
	if err != nil {
		return err
	}
	was := old.field(groupColumns).kids
	made := group.field(groupColumns)
	chunks := make([]thriftValue, len(was))
	for i := range chunks {
		chunks[i].kind = thriftStruct
	}
	for i, c := range copies {
		path := was[c.leaf].field(chunkMeta).field(metaPath)
		if path == nil {
			return fmt.Errorf("column %q: its column chunk has no name", c.name)
		}
		made.kids[i].field(chunkMeta).set(metaPath, *path)
		chunks[c.leaf] = made.kids[i]
	}
	made.kids = chunks
	e.footer.groups[0] = group.append(nil)
	return nil
}

// codecLike is the codec of an input's chunk if it can be written, otherwise the one given.
func codecLike(codec int64, otherwise compress.Codec) compress.Codec {
	switch codec {
	case codecNone:
		return &parquet.Uncompressed
	case codecSnappy:
		return &parquet.Snappy
	case codecGzip:
		return &parquet.Gzip
	case codecBrotli:
		return &parquet.Brotli
	case codecZstd:
		return &parquet.Zstd
	case codecLZ4Raw:
		return &parquet.Lz4Raw
	}
	return otherwise
}

// A leafShape is a leaf's schema element and the levels of the elements around it, itself included: true for repeated ones, false
// for optional ones.
type leafShape struct {
	element *thriftValue
	levels  []bool
}

// leaves are the shapes of a column's leaves.
func (f *file) leaves(c *column) []leafShape {
	elements := f.footer.top.field(footerSchema).kids[c.elements : c.elements+c.length]
	var list []leafShape
	next := 0
	var walk func(around []bool)
	walk = func(around []bool) {
		e := &elements[next]
		next++
		switch e.integer(elementRepetition, 0) {
		case 1:
			around = append(around[:len(around):len(around)], false)
		case 2:
			around = append(around[:len(around):len(around)], true)
		}
		if e.field(elementType) != nil {
			list = append(list, leafShape{e, around})
			return
		}
		for range e.integer(elementChildren, 0) {
			walk(around)
		}
	}
	walk(nil)
	return list
}

// wrap gives a leaf the levels that it has in the file.
func (s *leafShape) wrap(node parquet.Node) parquet.Node {
	for i := len(s.levels) - 1; i >= 0; i-- {
		if i < len(s.levels)-1 {
			node = parquet.Group{"v": node}
		}
		if s.levels[i] {
			node = parquet.Repeated(node)
		} else {
			node = parquet.Optional(node)
		}
	}
	return node
}

// node is the physical type of the leaf, with what decides on the order of its values.
func (s *leafShape) node() parquet.Node {
	logical := logicalOf(s.element)
	unsigned := logical.kind == logicalInteger && !logical.signed
	physical := int(s.element.integer(elementType, -1))
	node := parquet.Leaf(parquet.ByteArrayType)
	switch physical {
	case physicalBoolean:
		return parquet.Leaf(parquet.BooleanType)
	case physicalInt32:
		node = parquet.Leaf(parquet.Int32Type)
		if unsigned {
			node = parquet.Uint(32)
		}
	case physicalInt64:
		node = parquet.Leaf(parquet.Int64Type)
		if unsigned {
			node = parquet.Uint(64)
		}
	case physicalInt96:
		node = parquet.Leaf(parquet.Int96Type)
	case physicalFloat:
		node = parquet.Leaf(parquet.FloatType)
	case physicalDouble:
		node = parquet.Leaf(parquet.DoubleType)
	case physicalFixed:
		node = parquet.Leaf(parquet.FixedLenByteArrayType(int(s.element.integer(elementLength, 0))))
	}
	return coded(node)
}
