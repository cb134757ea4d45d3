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
//	source, err := parquetfile.NewSource(ctx, []string{"census.parquet"}, parquetfile.Options{})
//	sink, err := parquetfile.NewSink(source, []string{"risk.parquet"}, parquetfile.SinkOptions{})
package parquetfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"microrisk/operators"
)

// Options of a Source. The zero value is ready to use.
type Options struct {
	Logger *slog.Logger // nil for none
}

// A Source reads Parquet files. It keeps them open until Close. It is safe for concurrent use.
type Source struct {
	files  []*file
	schema *arrow.Schema
	whyNot map[string]error
	parts  []operators.Part
	rows   int64
	logger *slog.Logger
}

var _ operators.Source = (*Source)(nil)

// A file is an open input.
type file struct {
	path    string
	file    *os.File
	size    int64
	footer  *footer
	parsed  *parquet.File
	columns []column
	byName  map[string]int // -1 for a name that it has twice
	groups  []*part        // those with rows
}

// NewSource opens the files and checks their footers; no data is read. Errors name the file and say what it is instead.
func NewSource(ctx context.Context, paths []string, o Options) (*Source, error) {
	if len(paths) == 0 {
		return nil, errors.New("no Parquet file is given")
	}
	s := &Source{logger: o.Logger}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			s.Close()
			return nil, err
		}
		f, err := s.open(path, len(s.files))
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
		s.files = append(s.files, f)
	}
	s.unifySchemas()
	return s, nil
}

func (s *Source) open(path string, input int) (*file, error) {
	handle, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, file: handle, size: size, byName: map[string]int{}}
	if err := guard(func() error { return f.load() }); err != nil {
		handle.Close()
		return nil, err
	}
	var row int64
	for g := range f.footer.groups {
		group, err := f.footer.group(g)
		if err != nil {
			handle.Close()
			return nil, err
		}
		n := group.integer(groupRows, 0)
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

func (f *file) load() error {
	var err error
	if f.footer, err = readFooter(f.file, f.size); err != nil {
		return err
	}
	if f.parsed, err = openLibrary(f.file, f.size); err != nil {
		return fmt.Errorf("its footer is damaged: %w", err)
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

func openLibrary(r io.ReaderAt, size int64) (*parquet.File, error) {
	return parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<18))
}

// column is the column of that name; the file must have it once.
func (f *file) column(name string) *column { return &f.columns[f.byName[name]] }

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
			field.Type, first = c.arrow, f
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

// Inputs are the paths, as they were given.
func (s *Source) Inputs() []string {
	paths := make([]string, len(s.files))
	for i, f := range s.files {
		paths[i] = f.path
	}
	return paths
}

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

// Close closes the files. Readers and sinks must be done with them.
func (s *Source) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.file.Close())
	}
	return errors.Join(errs...)
}

// A part is a row group.
type part struct {
	source *Source
	file   *file
	input  int
	group  int
	first  int64
	rows   int64

	view    sync.Once
	parsed  *parquet.File
	index   int // of the row group in library
	viewErr error
}

func (p *part) String() string  { return fmt.Sprintf("%s, row group %d", p.file.path, p.group) }
func (p *part) Input() int      { return p.input }
func (p *part) FirstRow() int64 { return p.first }
func (p *part) Rows() int64     { return p.rows }

// bytesPerRow is the mean size of an uncompressed value.
func (p *part) bytesPerRow(leaf int) int64 {
	meta := p.file.parsed.Metadata().RowGroups[p.group].Columns[leaf].MetaData
	return min(meta.TotalUncompressedSize, math.MaxInt32) / max(p.rows, 1)
}

// rowGroup is the library's view of the row group.
//
// The library decompresses all chunks of a column with the codec of the file's first one. A row group that has another codec
// is therefore seen through a footer of its own.
func (p *part) rowGroup() (parquet.RowGroup, error) {
	p.view.Do(func() {
		p.parsed, p.index = p.file.parsed, p.group
		groups := p.parsed.Metadata().RowGroups
		for c := range groups[p.group].Columns {
			if groups[p.group].Columns[c].MetaData.Codec != groups[0].Columns[c].MetaData.Codec {
				p.parsed, p.viewErr = p.file.openGroup(p.group, nil, nil)
				p.index = 0
				return
			}
		}
	})
	if p.viewErr != nil {
		return nil, p.viewErr
	}
	return p.parsed.RowGroups()[p.index], nil
}

// openChunk surveys a column chunk and opens it.
func (p *part) openChunk(leaf int, flat bool) (parquet.ColumnChunk, error) {
	if err := p.surveyChunk(leaf, flat); err != nil {
		return nil, err
	}
	if p.unpacks(leaf) {
		library, err := p.file.openGroup(p.group, []int{leaf}, nil)
		if err != nil {
			return nil, err
		}
		return library.RowGroups()[0].ColumnChunks()[leaf], nil
	}
	group, err := p.rowGroup()
	if err != nil {
		return nil, err
	}
	return group.ColumnChunks()[leaf], nil
}

// unpacks tells whether the library must not see the chunk as it is.
func (p *part) unpacks(leaf int) bool {
	meta := &p.file.parsed.Metadata().RowGroups[p.group].Columns[leaf].MetaData
	if isLZ4(int64(meta.Codec)) {
		return true
	}
	if meta.Type != physicalInt32 || !slices.Contains(meta.Encoding, format.DeltaBinaryPacked) {
		return false
	}
	group, err := p.file.footer.group(p.group)
	return err == nil && p.file.wideDelta(leaf, group.field(groupColumns).kids[leaf].field(chunkMeta)) != nil
}

// surveyChunk refuses chunks that the library should not see.
func (p *part) surveyChunk(leaf int, flat bool) error {
	meta := &p.file.parsed.Metadata().RowGroups[p.group].Columns[leaf].MetaData
	if err := codecTrouble(int64(meta.Codec)); err != nil {
		return err
	}
	if flat && meta.NumValues != p.rows {
		return fmt.Errorf("its column chunk has %d values for %d rows", meta.NumValues, p.rows)
	}
	from := meta.DataPageOffset
	if meta.DictionaryPageOffset > 0 {
		from = meta.DictionaryPageOffset
	}
	to := from + meta.TotalCompressedSize
	if from < 4 || to < from || to > p.file.footer.start {
		return errors.New("its pages are beyond the data")
	}
	return surveyPages(p.file.file, from, to, meta.NumValues)
}

// codecTrouble says why pages of a codec cannot be read, nil if they can.
func codecTrouble(codec int64) error {
	switch codec {
	case 3:
		return errors.New("it is compressed with LZO, which cannot be read: write the file again with zstd or snappy")
	}
	if codec < 0 || codec > 7 {
		return fmt.Errorf("it is compressed with an unknown codec (number %d): write the file again with zstd or snappy", codec)
	}
	return nil
}
