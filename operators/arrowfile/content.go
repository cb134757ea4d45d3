package arrowfile

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/schemas"
)

// A content is what the messages of a file or a stream hold.
type content struct {
	in     io.ReaderAt
	size   int64
	start  []byte        // of a file: a stream of the schema alone
	native *arrow.Schema // as it was written
	schema *arrow.Schema // as it is read: views and runs are plain values, see plainType
	ids    []fieldIDs
	most   int64 // bytes that the wanted columns of a record batch may take

	batches      []batchAt
	dictionaries map[int64]*dictionary
	count        int // of dictionary messages
}

// A batchAt is where a record batch is, and how many dictionary messages came before it.
type batchAt struct {
	offset, rows int64
	before       int
}

// take notes a message.
func (c *content) take(m message, offset int64) {
	switch m.kind {
	case recordBatchMessage:
		c.batches = append(c.batches, batchAt{offset, m.batch.rows, c.count})
	case dictionaryMessage:
		d := c.dictionaries[m.id]
		if d == nil {
			d = &dictionary{content: c}
			c.dictionaries[m.id] = d
		}
		d.messages = append(d.messages, dictionaryAt{offset: offset, number: c.count, delta: m.delta})
		c.count++
	}
}

// begin takes the schema, as the library reads it, and finds what it is read as.
func (c *content) begin(native *arrow.Schema, most int64) error {
	c.native, c.most = native, most
	if native.NumFields() != len(c.ids) {
		return errMetadata
	}
	fields := make([]arrow.Field, native.NumFields())
	for i, f := range native.Fields() {
		if err := c.name(f.Type, c.ids[i], f.Name); err != nil {
			return err
		}
		f.Type = c.exposed(f.Type, c.ids[i])
		fields[i] = f
	}
	meta := native.Metadata()
	c.schema = arrow.NewSchema(fields, &meta)
	return nil
}

// name tells the dictionaries whose they are.
func (c *content) name(t arrow.DataType, ids fieldIDs, column string) error {
	if dt, ok := t.(*arrow.DictionaryType); ok {
		if d := c.dictionaries[ids.id]; d != nil && d.typ == nil {
			d.typ, d.ids = dt.ValueType, ids
		} else if d != nil && !arrow.TypeEqual(d.typ, dt.ValueType) {
			return fmt.Errorf("column %q: its dictionary has values of type %s elsewhere, of %s here", column, d.typ, dt.ValueType)
		}
		t = dt.ValueType
	}
	if d, ok := t.(arrow.DecimalType); ok {
		most := int32(38)
		if t.ID() == arrow.DECIMAL256 {
			most = 76
		}
		if p, s := d.GetPrecision(), d.GetScale(); p < 1 || p > most || s < -most || s > most {
			return fmt.Errorf("column %q: a decimal of %d digits with %d after the point does not exist: at most %d are possible", column, p, s, most)
		}
	}
	if n, ok := t.(arrow.NestedType); ok {
		for k, f := range n.Fields() {
			if err := c.name(f.Type, ids.child(k), column); err != nil {
				return err
			}
		}
	}
	return nil
}

// exposed is the type that a column is read as.
func (c *content) exposed(t arrow.DataType, ids fieldIDs) arrow.DataType {
	if dt, ok := t.(*arrow.DictionaryType); ok {
		index := dt.IndexType
		if d := c.dictionaries[ids.id]; d != nil && len(d.messages) > 1 {
			index = arrow.PrimitiveTypes.Int32
		}
		return &arrow.DictionaryType{IndexType: index, ValueType: plainType(dt.ValueType), Ordered: dt.Ordered}
	}
	return plainType(t)
}

// load loads the columns of a record batch whose names are wanted; the others are nil.
func (c *content) load(number int, wanted map[string]bool) (columns []arrow.Array, rows int64, err error) {
	at := c.batches[number]
	m, _, err := messageAt(c.in, at.offset, c.size)
	if err != nil {
		return nil, 0, err
	}
	if m.kind != recordBatchMessage {
		return nil, 0, errors.New("it has changed during the run")
	}
	l := &loader{
		in:    c.in,
		body:  m.at,
		batch: m.batch,
		room:  c.most,
		most:  c.most,
		dict:  func(id int64) (*dictionary, error) { return c.dictionary(id, at.before) },
	}
	columns = make([]arrow.Array, c.native.NumFields())
	for i, f := range c.native.Fields() {
		l.skip = !wanted[f.Name]
		d, err := l.data(f.Type, c.ids[i])
		switch {
		case err != nil:
			return nil, 0, schemas.InColumn(schemas.Location{}, f.Name, err)
		case d == nil:
			continue
		case int64(d.Len()) != m.batch.rows:
			return nil, 0, fmt.Errorf("column %q has %d values, the batch has %d rows", f.Name, d.Len(), m.batch.rows)
		}
		columns[i] = array.MakeFromData(d)
		if nestedViews(f.Type) { // within lists and structs, which are cut into pieces afterwards
			if columns[i], err = plain(memory.DefaultAllocator, columns[i], &l.room); err != nil {
				return nil, 0, schemas.InColumn(schemas.Location{}, f.Name, l.explain(err))
			}
		}
	}
	return columns, m.batch.rows, nil
}

// explain says how much may be taken where something took too much.
func (l *loader) explain(err error) error {
	if errors.Is(err, errRoom) {
		return tooLarge(l.most, l.most)
	}
	return err
}

// A dictionary has the values of the dictionary messages of an id. If there are several, the values of all of them are one dictionary, and
// indexes are translated.
type dictionary struct {
	content  *content
	typ      arrow.DataType // of the values
	ids      fieldIDs
	messages []dictionaryAt

	once   sync.Once
	err    error
	values arrow.Array
	maps   [][]int32 // of each message: the index of each of its values, -1 for a null
}

type dictionaryAt struct {
	offset int64
	number int // among all dictionary messages
	delta  bool
}

// dictionary is a dictionary as it is after so many dictionary messages.
func (c *content) dictionary(id int64, before int) (*dictionary, error) {
	d := c.dictionaries[id]
	if d == nil || d.typ == nil || d.messages[0].number >= before {
		return nil, errors.New("its dictionary is missing")
	}
	d.once.Do(func() { d.err = d.load() })
	if d.err != nil || d.maps == nil {
		return d, d.err
	}
	var codes []int32
	for i, m := range d.messages {
		if m.number >= before {
			break
		}
		if !m.delta {
			codes = nil
		}
		codes = append(codes[:len(codes):len(codes)], d.maps[i]...)
	}
	v := &dictionary{typ: d.typ, values: d.values, maps: [][]int32{codes}}
	v.once.Do(func() {})
	return v, nil
}

// load reads the values of all messages.
func (d *dictionary) load() error {
	room := d.content.most
	var all []arrow.Array
	for _, at := range d.messages {
		m, _, err := messageAt(d.content.in, at.offset, d.content.size)
		if err != nil {
			return err
		}
		if m.kind != dictionaryMessage {
			return errors.New("it has changed during the run")
		}
		l := &loader{in: d.content.in, body: m.at, batch: m.batch, room: room, most: d.content.most, dict: func(id int64) (*dictionary, error) {
			if id == m.id {
				return nil, errors.New("its dictionary is its own")
			}
			return d.content.dictionary(id, at.number)
		}}
		data, err := l.data(d.typ, fieldIDs{fields: d.ids.fields})
		if err != nil {
			return fmt.Errorf("the dictionary at byte %d: %w", at.offset, err)
		}
		if int64(data.Len()) != m.batch.rows {
			return fmt.Errorf("the dictionary at byte %d has %d values, and says that it has %d", at.offset, data.Len(), m.batch.rows)
		}
		values, err := plain(memory.DefaultAllocator, array.MakeFromData(data), &l.room)
		if err != nil {
			return fmt.Errorf("the dictionary at byte %d: %w", at.offset, l.explain(err))
		}
		room = l.room
		all = append(all, values)
	}
	if len(all) == 1 {
		d.values = all[0]
		return nil
	}
	return d.unite(all)
}

// unite makes one dictionary of several.
func (d *dictionary) unite(all []arrow.Array) error {
	whole, err := array.Concatenate(all, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	code := func(i int) int32 { return int32(i) }
	if d.values = whole; operators.HasEquality(whole.DataType()) && whole.DataType().ID() != arrow.DICTIONARY {
		coded, err := operators.Code(memory.DefaultAllocator, whole)
		if err != nil {
			return err
		}
		d.values, code = coded.Dictionary(), func(i int) int32 { return int32(coded.GetValueIndex(i)) }
	}
	at := 0
	for _, values := range all {
		codes := make([]int32, values.Len())
		for i := range codes {
			if codes[i] = -1; values.IsValid(i) {
				codes[i] = code(at)
			}
			at++
		}
		d.maps = append(d.maps, codes)
	}
	return nil
}

// changed tells whether indexes are translated.
func (d *dictionary) changed() bool { return d.maps != nil }

// translate gives a dictionary array of indexes of the messages.
func (d *dictionary) translate(codes arrow.Array) (arrow.ArrayData, error) {
	if err := checkCodes(codes, len(d.maps[0])); err != nil {
		return nil, err
	}
	at := indexOf(codes)
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(codes.Len())
	for i := range codes.Len() {
		if codes.IsNull(i) {
			b.AppendNull()
		} else if k := d.maps[0][at(i)]; k < 0 {
			b.AppendNull()
		} else {
			b.Append(k)
		}
	}
	index := b.NewInt32Array()
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: d.values.DataType()}
	return array.NewDataWithDictionary(t, index.Len(), index.Data().Buffers(), index.NullN(), 0, d.values.Data().(*array.Data)), nil
}
