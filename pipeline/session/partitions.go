package session

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// A partition is what a folder named NAME=value says of all rows of the files in it.
type partition struct {
	name  string
	value *string // nil: missing
}

// MissingPartition is how Hive, and Spark after it, name the folder of rows without a value.
const MissingPartition = "__HIVE_DEFAULT_PARTITION__"

// partitionsOf are those of the folders right above a file, the outermost first.
func partitionsOf(path string) ([]partition, error) {
	var list []partition
	for dir := filepath.Dir(path); isPartition(dir); dir = filepath.Dir(dir) {
		name, value, _ := strings.Cut(filepath.Base(dir), "=")
		p := partition{name: unescaped(name)}
		if value != MissingPartition {
			text := unescaped(value)
			p.value = &text
		}
		if slices.ContainsFunc(list, func(q partition) bool { return q.name == p.name }) {
			return nil, Wrong(fmt.Errorf("%s is in two folders named %s=...: which is the column?", path, p.name))
		}
		list = append(list, p)
	}
	slices.Reverse(list)
	return list, nil
}

// isPartition tells whether a folder's name is NAME=value.
func isPartition(dir string) bool { return strings.Index(filepath.Base(dir), "=") > 0 }

// unescaped is a text with its %XX replaced, or as it is if they are none.
func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// partitioned adds to a source the columns that are in the names of folders, as text.
type partitioned struct {
	source
	schema *arrow.Schema
	names  []string
	dicts  []arrow.Array // of each column: its values in all inputs, in their order
	code   [][]int       // code[column][input], -1: missing
	whyNot map[string]error
}

// withPartitions is a source whose partition columns are columns; the source itself if it has none. Columns that the folders of some
// inputs have and others have not are in no schema.
func withPartitions(src source) (source, error) {
	inputs := src.Inputs()
	of := make([][]partition, len(inputs))
	for i, path := range inputs {
		var err error
		if of[i], err = partitionsOf(path); err != nil {
			return nil, err
		}
	}
	p := &partitioned{source: src, whyNot: map[string]error{}}
	for i, list := range of {
		for _, q := range list {
			if slices.Contains(p.names, q.name) || p.whyNot[q.name] != nil {
				continue
			}
			if err := p.take(q.name, inputs, of, i); err != nil {
				return nil, err
			}
		}
	}
	if len(p.names) == 0 && len(p.whyNot) == 0 {
		return src, nil
	}
	fields := slices.Clone(src.Schema().Fields())
	for _, name := range p.names {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	meta := src.Schema().Metadata()
	p.schema = arrow.NewSchema(fields, &meta)
	return p, nil
}

// take makes a column of a name that the folders of input first have.
func (p *partitioned) take(name string, inputs []string, of [][]partition, first int) error {
	r, _ := p.source.(reasoner)
	if p.source.Schema().HasField(name) || r != nil && r.WhyNot(name) != nil {
		return Wrong(fmt.Errorf("%s is in a folder named %s=..., and there is a column %q in the files too: rename one of them", inputs[first], name, name))
	}
	values, codes := []string{}, make([]int, len(inputs))
	for i, list := range of {
		at := slices.IndexFunc(list, func(q partition) bool { return q.name == name })
		if at < 0 {
			p.whyNot[name] = fmt.Errorf("%s is in a folder named %s=..., %s is not", inputs[first], name, inputs[i])
			return nil
		}
		codes[i] = -1
		if v := list[at].value; v != nil {
			if codes[i] = slices.Index(values, *v); codes[i] < 0 {
				codes[i] = len(values)
				values = append(values, *v)
			}
		}
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	p.names, p.code, p.dicts = append(p.names, name), append(p.code, codes), append(p.dicts, b.NewArray())
	return nil
}

// Schema is a source's.
func (p *partitioned) Schema() *arrow.Schema { return p.schema }

// WhyNot is a reasoner's.
func (p *partitioned) WhyNot(column string) error {
	if why := p.whyNot[column]; why != nil {
		return why
	}
	if r, ok := p.source.(reasoner); ok {
		return r.WhyNot(column)
	}
	return nil
}

// Verify is a verifier's.
func (p *partitioned) Verify(ctx context.Context, workers int, progress func(done, total int64)) error {
	if v, ok := p.source.(verifier); ok {
		return v.Verify(ctx, workers, progress)
	}
	return nil
}

// Parts is a source's.
func (p *partitioned) Parts(ctx context.Context) ([]operators.Part, error) {
	parts, err := p.source.Parts(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]operators.Part, len(parts))
	for i, part := range parts {
		out[i] = &partitionedPart{part, p}
	}
	return out, nil
}

// column makes rows of a partition column, coded or as they are.
func (p *partitioned) column(mem memory.Allocator, column, input, rows int, coded bool) arrow.Array {
	code := p.code[column][input]
	if !coded {
		b := array.NewStringBuilder(mem)
		defer b.Release()
		if code < 0 {
			b.AppendNulls(rows)
			return b.NewArray()
		}
		text := p.dicts[column].(*array.String).Value(code)
		b.Reserve(rows)
		for range rows {
			b.Append(text)
		}
		return b.NewArray()
	}
	b := array.NewInt32Builder(mem)
	defer b.Release()
	if code < 0 {
		b.AppendNulls(rows)
	} else {
		b.Reserve(rows)
		for range rows {
			b.UnsafeAppend(int32(code))
		}
	}
	index := b.NewArray()
	defer index.Release()
	return array.NewDictionaryArray(operators.CodedType(arrow.BinaryTypes.String), index, p.dicts[column])
}

type partitionedPart struct {
	operators.Part
	source *partitioned
}

// Divide is a Divisible's.
func (p *partitionedPart) Divide(want []operators.Want, pieces int) []operators.Part {
	d, ok := p.Part.(operators.Divisible)
	if !ok {
		return []operators.Part{p}
	}
	var inner []operators.Want
	for _, w := range want {
		if !slices.Contains(p.source.names, w.Name) {
			inner = append(inner, w)
		}
	}
	out := d.Divide(inner, pieces)
	for i := range out {
		out[i] = &partitionedPart{out[i], p.source}
	}
	return out
}

// Read is a Part's.
func (p *partitionedPart) Read(ctx context.Context, mem memory.Allocator, want []operators.Want, batch int) (array.RecordReader, error) {
	r := &partitionedReader{mem: mem, part: p, want: want, at: make([]int, len(want))}
	var inner []operators.Want
	for i, w := range want {
		if r.at[i] = slices.Index(p.source.names, w.Name); r.at[i] < 0 {
			inner = append(inner, w)
		}
	}
	if len(inner) == len(want) {
		return p.Part.Read(ctx, mem, want, batch)
	}
	r.references = 1
	if len(inner) == 0 {
		r.left, r.batch = p.Rows(), int64(batch)
		if batch <= 0 {
			r.batch = 1 << 16
		}
		return r, nil
	}
	var err error
	r.RecordReader, err = p.Part.Read(ctx, mem, inner, batch)
	return r, err
}

// A partitionedReader puts partition columns between the columns of a reader; without a reader there are no others.
type partitionedReader struct {
	array.RecordReader
	mem         memory.Allocator
	part        *partitionedPart
	want        []operators.Want
	at          []int // partition column of each wanted one, -1 for one of the reader's
	left, batch int64 // rows, without a reader
	current     arrow.Record

	mu         sync.Mutex
	references int
}

func (r *partitionedReader) Retain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.references++
}

func (r *partitionedReader) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.references--; r.references > 0 {
		return
	}
	r.drop()
	if r.RecordReader != nil {
		r.RecordReader.Release()
	}
}

func (r *partitionedReader) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

func (r *partitionedReader) Record() arrow.Record { return r.current }

func (r *partitionedReader) Schema() *arrow.Schema {
	if r.current != nil {
		return r.current.Schema()
	}
	fields := make([]arrow.Field, len(r.want))
	n := 0
	for i, w := range r.want {
		switch {
		case r.at[i] < 0:
			fields[i] = r.RecordReader.Schema().Field(n)
			n++
		case w.Coded:
			fields[i] = arrow.Field{Name: w.Name, Type: operators.CodedType(arrow.BinaryTypes.String), Nullable: true}
		default:
			fields[i] = arrow.Field{Name: w.Name, Type: arrow.BinaryTypes.String, Nullable: true}
		}
	}
	return arrow.NewSchema(fields, nil)
}

func (r *partitionedReader) Err() error {
	if r.RecordReader == nil {
		return nil
	}
	return r.RecordReader.Err()
}

func (r *partitionedReader) Next() bool {
	r.drop()
	rows := min(r.left, r.batch)
	r.left -= rows
	if r.RecordReader != nil {
		if !r.RecordReader.Next() {
			return false
		}
		rows = r.RecordReader.Record().NumRows()
	} else if rows == 0 {
		return false
	}
	columns := make([]arrow.Array, len(r.want))
	n := 0
	for i, w := range r.want {
		if r.at[i] < 0 {
			columns[i] = r.RecordReader.Record().Column(n)
			columns[i].Retain()
			n++
		} else {
			columns[i] = r.part.source.column(r.mem, r.at[i], r.part.Input(), int(rows), w.Coded)
		}
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: r.want[i].Name, Type: c.DataType(), Nullable: true}
	}
	r.current = array.NewRecord(arrow.NewSchema(fields, nil), columns, rows)
	for _, c := range columns {
		c.Release()
	}
	return true
}
