// Package parquetfile reads and writes Parquet files as sources and sinks of package operators.
//
// A [Source] reads row groups column by column. Coded columns come straight from the dictionary indexes of the pages and are
// handed on as Arrow dictionary arrays; nothing is decoded to text on the way. Files are checked before they are trusted:
// counts and places in the footer, the headers of all pages that are read, checksums where the writer left them, indexes
// against their dictionary. What cannot be read is an error that names file, row group and column.
//
// A [Sink] for the rows of a Source copies the column chunks of its files byte for byte, adds chunks of the new columns and
// writes a new footer, so that nothing that passes through can change. For rows of other sources it encodes all columns.
//
//	source, err := parquetfile.Open(ctx, []string{"census.parquet"}, parquetfile.Options{})
//	sink, err := parquetfile.Create(source, []string{"risk.parquet"}, parquetfile.SinkOptions{})
//
// NewSource and NewSink take inputs and outputs that are no files of this machine (package files).
package parquetfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/schemas"
)

// Options of a Source. The zero value is ready to use.
type Options struct {
	Logger *slog.Logger // nil for none
	Memory int64        // bytes that decoding should keep to, from which the largest page that is read follows; 0 for no bound
}

// A Source reads Parquet files. It keeps them open until Close. It is safe for concurrent use.
type Source struct {
	files.Opened
	files  []*file
	schema *arrow.Schema
	whyNot map[string]error
	parts  []operators.Part
	rows   int64
	logger *slog.Logger
	memory int64
}

var _ operators.Source = (*Source)(nil)

// A file is an open input.
type file struct {
	path    string
	file    files.Input
	size    int64
	footer  *footer
	columns []column
	byName  map[string]int // -1 for a name that it has twice
	groups  []*part        // those with rows
	settled sync.Once
	abut    bool // see chunksAbut
}

// Open is NewSource of what the paths name.
func Open(ctx context.Context, paths []string, o Options) (*Source, error) {
	inputs, err := files.OpenAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	return NewSource(ctx, inputs, o)
}

// NewSource checks the footers of the inputs, which it closes with itself, and after an error; of the data, only INT96 columns are looked
// through. Errors name the input and say what it is instead.
func NewSource(ctx context.Context, inputs []files.Input, o Options) (*Source, error) {
	if len(inputs) == 0 {
		return nil, errors.New("no Parquet file is given")
	}
	s := &Source{Opened: inputs, logger: o.Logger, memory: o.Memory}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	for i, in := range inputs {
		if far, ok := in.(files.Distant); ok && o.Memory > 0 {
			far.Keep(o.Memory / 8)
		}
		err := ctx.Err()
		if err == nil {
			var f *file
			if f, err = s.open(in, i); err == nil {
				s.files = append(s.files, f)
				continue
			}
			err = files.CannotRead(in.Name(), err)
		}
		s.Close()
		return nil, err
	}
	if err := s.settleInt96(ctx); err != nil {
		s.Close()
		return nil, err
	}
	s.unifySchemas()
	return s, nil
}

func (s *Source) open(in files.Input, input int) (*file, error) {
	f := &file{path: in.Name(), file: in, size: in.Size(), byName: map[string]int{}}
	if err := guard(func() error { return f.load(s.pageLimit(1)) }); err != nil {
		return nil, err
	}
	var row int64
	for g := range f.footer.groups {
		var n int64
		err := f.footer.look(g, func(group *thriftValue) error {
			n = group.integer(groupRows, 0)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue
		}
		p := &part{source: s, file: f, input: input, group: g, first: row, rows: n}
		row += n
		f.groups = append(f.groups, p)
		s.parts = append(s.parts, p)
	}
	s.rows += row
	return f, nil
}

// Bounds of what decoding takes, in bytes: ordinary files are read with whatever memory there is.
const (
	leastShare     = 1 << 26
	leastPageShare = 1 << 24
)

// share is the half of the memory that the pages of a row group that are read at a time may take.
func (s *Source) share() int64 {
	if s.memory <= 0 {
		return 1 << 62
	}
	return max(s.memory/2, leastShare)
}

// pageLimit is what decoding a page may take when several columns are read at a time.
func (s *Source) pageLimit(several int) int64 {
	return min(max(s.share()/int64(max(several, 1)), leastPageShare), maxPageBytes)
}

func (f *file) load(limit int64) error {
	var err error
	if f.footer, err = readFooter(f.file, f.size, limit); err != nil {
		return err
	}
	f.columns = f.footer.columns(storedArrowSchema(&f.footer.top))
	for i := range f.columns {
		name := f.columns[i].name
		if _, twice := f.byName[name]; twice {
			f.byName[name] = -1
			continue
		}
		f.byName[name] = i
	}
	return nil
}

// column is the column of that name; the file must have it once.
func (f *file) column(name string) *column { return &f.columns[f.byName[name]] }

// columnOf is the column that a leaf belongs to.
func (f *file) columnOf(leaf int) *column {
	i, _ := slices.BinarySearchFunc(f.columns, leaf, func(c column, leaf int) int {
		switch {
		case leaf < c.leaf:
			return 1
		case leaf >= c.leaf+c.leaves:
			return -1
		}
		return 0
	})
	return &f.columns[i]
}

func (f *file) has(name string) (*column, error) {
	i, ok := f.byName[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("missing in %s", f.path)
	case i < 0:
		return nil, fmt.Errorf("%s has more than one column of that name", f.path)
	case f.columns[i].trouble != nil:
		return nil, fmt.Errorf("in %s: %w", f.path, f.columns[i].trouble)
	}
	return &f.columns[i], nil
}

// unifySchemas finds the columns that all files have, and why the others are left out.
func (s *Source) unifySchemas() {
	s.whyNot = map[string]error{}
	for _, f := range s.files {
		for name := range f.byName {
			if _, err := s.unifyColumn(name); err != nil {
				s.whyNot[name] = err
			}
		}
	}
	var fields []arrow.Field
	for i := range s.files[0].columns {
		name := s.files[0].columns[i].name
		if s.whyNot[name] == nil {
			field, _ := s.unifyColumn(name)
			fields = append(fields, field)
		}
	}
	s.schema = arrow.NewSchema(fields, nil)
}

func (s *Source) unifyColumn(name string) (arrow.Field, error) {
	field := arrow.Field{Name: name}
	var first *file
	for _, f := range s.files {
		c, err := f.has(name)
		if err != nil {
			return field, err
		}
		field.Nullable = field.Nullable || c.optional || c.nested || c.isNullType
		if field.Type == nil {
			field.Type, field.Metadata, first = c.arrow, c.metadata, f
			continue
		}
		t := unify(field.Type, c.arrow)
		if t == nil {
			return field, fmt.Errorf("%s in %s and %s in %s", typeName(field.Type), first.path, typeName(c.arrow), f.path)
		}
		field.Type = t
	}
	return field, nil
}

// Schema has the columns that all inputs have, in the order of the first, with types that hold the values of all inputs.
func (s *Source) Schema() *arrow.Schema { return s.schema }

// WhyNot tells why a column that some input has is not in Schema; nil if it is, or if no input has it.
func (s *Source) WhyNot(column string) error { return s.whyNot[column] }

func (s *Source) field(name string) (arrow.Field, error) {
	if i := s.schema.FieldIndices(name); len(i) == 1 {
		return s.schema.Field(i[0]), nil
	}
	if err := s.whyNot[name]; err != nil {
		return arrow.Field{}, err
	}
	return arrow.Field{}, errors.New("there is no such column")
}

// KeyValue is what the metadata of input i have under a key, "" for nothing.
func (s *Source) KeyValue(i int, key string) string { return keyValue(&s.files[i].footer.top, key) }

// Rows is the number of rows of all inputs.
func (s *Source) Rows() int64 { return s.rows }

// Size is the number of bytes of all inputs.
func (s *Source) Size() int64 {
	var n int64
	for _, f := range s.files {
		n += f.size
	}
	return n
}

// Parts are the row groups that have rows.
func (s *Source) Parts(context.Context) ([]operators.Part, error) { return s.parts, nil }

// A part is a row group.
type part struct {
	source *Source
	file   *file
	input  int
	group  int
	first  int64
	rows   int64

	parse  sync.Once
	chunks []chunkInfo
	err    error
}

// A chunkInfo is what must be known of a column chunk to read it.
type chunkInfo struct {
	from, values, uncompressed int64
	to                         int64 // where it ends, as the footer has it
	codec                      int64
	odd                        bool // its data comes before its dictionary, as the footer has it
}

// Location is a [operators.Located] part's.
func (p *part) Location() schemas.Location {
	return schemas.Location{File: p.file.path, Unit: "row group", Number: int64(p.group)}
}

func (p *part) String() string  { return p.Location().String() }
func (p *part) Input() int      { return p.input }
func (p *part) FirstRow() int64 { return p.first }
func (p *part) Rows() int64     { return p.rows }

// chunk is what the footer says of the chunk of a leaf.
func (p *part) chunk(leaf int) (*chunkInfo, error) {
	p.parse.Do(func() {
		p.err = p.file.footer.look(p.group, func(group *thriftValue) error {
			columns := group.field(groupColumns).kids
			p.chunks = make([]chunkInfo, len(columns))
			for i := range columns {
				meta := columns[i].field(chunkMeta)
				d, data := meta.integer(metaDictionary, 0), meta.integer(metaData, 0)
				p.chunks[i] = chunkInfo{
					from: plainPlace(meta), to: plainPlace(meta) + meta.integer(metaCompressed, 0), values: meta.integer(metaValues, 0),
					uncompressed: meta.integer(metaUncompressed, 0), codec: meta.integer(metaCodec, 0), odd: d > 0 && data <= d,
				}
			}
			return nil
		})
	})
	if p.err != nil {
		return nil, p.err
	}
	return &p.chunks[leaf], nil
}

// bytesPerRow is the mean size of an uncompressed value.
func (p *part) bytesPerRow(leaf int) int64 {
	c, err := p.chunk(leaf)
	if err != nil {
		return 0
	}
	return min(c.uncompressed, math.MaxInt32) / max(p.rows, 1)
}

// openChunk opens the chunk of a column's leaf, one of several that are read at a time.
func (p *part) openChunk(c *column, leaf, several int) (*pageReader, error) {
	info, err := p.chunk(leaf)
	if err == nil {
		err = codecTrouble(info.codec)
	}
	t := p.file.leafType(c, leaf)
	if err == nil {
		err = t.trouble()
	}
	if err != nil {
		return nil, err
	}
	from, end := info.from, p.file.footer.start
	if info.odd {
		group, err := p.file.footer.group(p.group)
		if err != nil {
			return nil, err
		}
		place, err := locate(p.file.file, end, &group.field(groupColumns).kids[leaf])
		if err != nil {
			return nil, err
		}
		from = place.from
	}
	if from < 4 || from > end {
		return nil, errors.New("its pages are beyond the data")
	}
	r := newPageReader(p.file.file, from, end, info.values, info.codec, t, p.source.pageLimit(several))
	r.window.likely = info.to
	return r, nil
}
