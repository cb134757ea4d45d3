package parquetfile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// A layout is the order of an output's columns, leaf by leaf.
type layout struct {
	leaves   []leafSource
	elements []thriftValue // of the schema, root first
	columns  []int         // top-level columns: number in the input, or -1-k for encoded column k
	newLeaf  map[int]int   // of the input's leaves that stay
}

// A leafSource is where the chunks of a leaf come from.
type leafSource struct {
	added bool
	leaf  int // of the input, or of what was encoded
	field int // of the encoded columns
}

// arrange lays the columns of the output out: those of Begin in their order, and those that nobody can ask for (the inputs do
// not agree on them) after the column that they follow in the file.
func (s *Sink) arrange(f *file) (*layout, error) {
	var order []int
	added := 0
	hidden := 0 // input columns before it are placed
	place := func(upTo int) {
		for ; hidden < upTo; hidden++ {
			if !s.options.OnlyListed && !s.listed(f, hidden) {
				order = append(order, hidden)
			}
		}
	}
	last := -1
	for i, o := range s.out {
		if o.Input {
			last = i
		}
	}
	for i, o := range s.out {
		if !o.Input {
			order = append(order, -1-added)
			added++
			if i < last {
				continue
			}
		} else {
			k, ok := f.byName[o.Field.Name]
			if !ok || k < 0 {
				return nil, fmt.Errorf("column %q cannot be copied from %s: the file does not have it once", o.Field.Name, f.path)
			}
			place(k)
			order = append(order, k)
		}
		if i == last {
			place(len(f.columns))
		}
	}
	if last < 0 {
		place(len(f.columns))
	}
	return s.layoutOf(f, order), nil
}

// listed tells whether column k of the file is one that Begin's columns speak of.
func (s *Sink) listed(f *file, k int) bool { return s.source.schema.HasField(f.columns[k].name) }

func (s *Sink) layoutOf(f *file, order []int) *layout {
	l := &layout{columns: order, newLeaf: map[int]int{}}
	all := f.footer.top.field(footerSchema).kids
	root := all[0]
	root.ids, root.kids = slices.Clone(root.ids), slices.Clone(root.kids)
	root.set(elementChildren, thriftInt(thriftI32, int64(len(order))))
	l.elements = append(l.elements, root)
	for _, k := range order {
		if k < 0 {
			field := -1 - k
			l.leaves = append(l.leaves, leafSource{added: true, leaf: field, field: field})
			l.elements = append(l.elements, s.elements[field]...)
			continue
		}
		c := &f.columns[k]
		for leaf := c.leaf; leaf < c.leaf+c.leaves; leaf++ {
			l.newLeaf[leaf] = len(l.leaves)
			l.leaves = append(l.leaves, leafSource{leaf: leaf})
		}
		l.elements = append(l.elements, all[c.elements:c.elements+c.length]...)
	}
	return l
}

// orders are the column orders of the output's leaves.
func (l *layout) orders(old *thriftValue) thriftValue {
	list := thriftValue{kind: thriftList, elem: thriftStruct}
	for _, leaf := range l.leaves {
		if !leaf.added && leaf.leaf < len(old.kids) {
			list.kids = append(list.kids, old.kids[leaf.leaf])
		} else {
			list.kids = append(list.kids, typeDefinedOrder)
		}
	}
	return list
}

var typeDefinedOrder = thriftValue{kind: thriftStruct, ids: []int16{1}, kids: []thriftValue{{kind: thriftStruct}}}

// arrowSchema is the stored Arrow schema for the new columns, "" when there is none or it cannot be carried over.
func (l *layout) arrowSchema(old string, f *file, fields []arrow.Field) string {
	schema := decodeArrowSchema(old)
	if schema == nil || schema.NumFields() != len(f.columns) {
		return ""
	}
	list := make([]arrow.Field, len(l.columns))
	for i, k := range l.columns {
		if k < 0 {
			list[i] = storedField(fields[-1-k])
		} else {
			list[i] = schema.Field(k)
		}
	}
	metadata := schema.Metadata()
	text, err := encodeArrowSchema(arrow.NewSchema(list, &metadata))
	if err != nil {
		return ""
	}
	return text
}

// storedField is a field as the file has it: every column that is made here can be null.
func storedField(f arrow.Field) arrow.Field {
	f.Nullable = true
	if t, ok := f.Type.(*arrow.TimestampType); ok && t.Unit == arrow.Second {
		f.Type = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: t.TimeZone}
	}
	return f
}

// sameSchemas refuses to put the rows of files with different schemas into one.
func (s *Source) sameSchemas() error {
	first := s.files[0]
	a := first.footer.top.field(footerSchema).kids
	for _, f := range s.files[1:] {
		b := f.footer.top.field(footerSchema).kids
		for i := range max(len(first.columns), len(f.columns)) {
			switch {
			case i >= len(f.columns):
				return fmt.Errorf("one output needs files of the same schema: column %q of %s is missing in %s", first.columns[i].name, first.path, f.path)
			case i >= len(first.columns):
				return fmt.Errorf("one output needs files of the same schema: column %q of %s is missing in %s", f.columns[i].name, f.path, first.path)
			}
			x, y := &first.columns[i], &f.columns[i]
			if !bytes.Equal(appendAll(a[x.elements:x.elements+x.length]), appendAll(b[y.elements:y.elements+y.length])) {
				return fmt.Errorf(
					"one output needs files of the same schema: column %q of %s is not as in %s (give a folder, for one output an input)",
					x.name,
					first.path,
					f.path,
				)
			}
		}
	}
	return nil
}

func appendAll(list []thriftValue) []byte {
	var b []byte
	for i := range list {
		b = list[i].append(b)
	}
	return b
}
