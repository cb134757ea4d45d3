package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Limits of a page. Writers make pages of about a megabyte; these are far beyond any of them, and keep a broken header from
// asking for gigabytes.
const (
	maxPageValues = 1 << 27
	maxPageBytes  = 1 << 30
	maxPageRatio  = 1 << 12 // of uncompressed to compressed bytes, for pages over plainPageSize
	plainPageSize = 1 << 28
)

// surveyPages reads the page headers of a chunk, without the pages, and refuses what cannot be: sizes beyond the chunk, too few
// or too many values. The library trusts them.
func surveyPages(r io.ReaderAt, from, to, values int64) error {
	var seen int64
	buffer := make([]byte, 1024)
	for page := 0; from < to; page++ {
		h, n, err := readPageHeader(r, from, to, &buffer)
		if err != nil {
			return fmt.Errorf("header of page %d: %w", page, err)
		}
		from += int64(n)
		size, whole := h.integer(3, -1), h.integer(2, -1)
		switch {
		case size < 0 || size > to-from:
			return fmt.Errorf("page %d is %d bytes long, its column chunk has %d left", page, size, to-from)
		case whole < 0 || whole > maxPageBytes || whole > plainPageSize && whole/maxPageRatio > size:
			return fmt.Errorf("page %d claims to hold %d bytes in %d", page, whole, size)
		}
		from += size
		k, err := pageValues(&h)
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		if seen += k; seen == values && k > 0 {
			break // some writers leave padding
		}
	}
	if seen != values {
		return fmt.Errorf("its pages have %d values, the footer says %d", seen, values)
	}
	return nil
}

// pageValues checks a page header and tells how many values the page adds to the chunk.
func pageValues(h *thriftValue) (int64, error) {
	var n int64
	switch kind := h.integer(1, -1); kind {
	case 0: // data page
		n = h.field(5).integer(1, -1)
	case 3: // data page v2
		d := h.field(8)
		n = d.integer(1, -1)
		if nulls := d.integer(2, -1); nulls < 0 || nulls > n {
			return 0, fmt.Errorf("%d nulls among %d values", nulls, n)
		}
		definitions, repetitions := d.integer(5, -1), d.integer(6, -1)
		if size := min(h.integer(3, 0), h.integer(2, 0)); definitions < 0 || repetitions < 0 || definitions+repetitions > size {
			return 0, fmt.Errorf("levels of %d and %d bytes in a page of %d", repetitions, definitions, size)
		}
	case 2: // dictionary
		if n := h.field(7).integer(1, -1); n < 0 || n > maxPageValues || n > 8*h.integer(2, 0)+1 {
			return 0, fmt.Errorf("a dictionary of %d values in %d bytes", n, h.integer(2, 0))
		}
		return 0, nil
	default:
		return 0, fmt.Errorf("unknown page type %d", kind)
	}
	if n < 0 || n > maxPageValues {
		return 0, fmt.Errorf("it has %d values", n)
	}
	return n, nil
}

func readPageHeader(r io.ReaderAt, from, to int64, buffer *[]byte) (thriftValue, int, error) {
	for {
		b := (*buffer)[:min(int64(len(*buffer)), to-from)]
		if n, err := r.ReadAt(b, from); n < len(b) {
			return thriftValue{}, 0, fmt.Errorf("reading: %w", reason(err))
		}
		h, n, err := parseThriftStruct(b)
		if errors.Is(err, errThriftShort) && int64(len(b)) < to-from && len(b) < 1<<24 {
			*buffer = make([]byte, 8*len(*buffer))
			continue
		}
		return h, n, err
	}
}

// A page is a data page of a flat column, decoded.
type page struct {
	source parquet.Page
	rows   int
	levels []byte  // 1 for a value, 0 for a null; nil when there are none
	codes  []int32 // of the values, with dictionary
	values vector  // of the values, without
	isCode bool

	row   int // how far it has been used
	value int
}

// A chunkReader decodes the pages of one flat column chunk.
type chunkReader struct {
	part       *part
	column     *column
	conversion conversion
	pages      parquet.Pages
	page       page
	rowsLeft   int64
	dictionary *chunkDictionary
	source     parquet.Dictionary // that dictionary was made of
}

func newChunkReader(p *part, c *column, conv conversion) (*chunkReader, error) {
	chunk, err := p.openChunk(c.leaf, true)
	if err != nil {
		return nil, err
	}
	return &chunkReader{part: p, column: c, conversion: conv, pages: chunk.Pages(), rowsLeft: p.rows}, nil
}

func (r *chunkReader) close() {
	if r.page.source != nil {
		parquet.Release(r.page.source)
		r.page.source = nil
	}
	if r.pages != nil {
		r.pages.Close()
		r.pages = nil
	}
}

// next moves to the next page that has rows; the chunk must have rows left.
func (r *chunkReader) next() error {
	for r.page.row == r.page.rows {
		if r.page.source != nil {
			parquet.Release(r.page.source)
			r.page.source = nil
		}
		source, err := r.pages.ReadPage()
		if err == io.EOF {
			return fmt.Errorf("%d rows are missing at the end", r.rowsLeft)
		}
		if err != nil {
			return kindly(err)
		}
		r.page.source = source
		if err := r.load(source); err != nil {
			return err
		}
	}
	return nil
}

func (r *chunkReader) load(source parquet.Page) error {
	p := &r.page
	p.row, p.value, p.levels, p.rows = 0, 0, nil, int(source.NumValues())
	n := p.rows
	if r.column.optional {
		p.levels = source.DefinitionLevels()
		if len(p.levels) != p.rows {
			return fmt.Errorf("a page has %d definition levels for %d rows", len(p.levels), p.rows)
		}
		if !onlyOnesAndZeros(p.levels) {
			return errors.New("a page has definition levels above 1")
		}
		n = countOnes(p.levels)
		if n == p.rows {
			p.levels = nil
		}
	}
	if int64(p.rows) > r.rowsLeft {
		return fmt.Errorf("its pages have %d rows too many", int64(p.rows)-r.rowsLeft)
	}
	r.rowsLeft -= int64(p.rows)
	p.isCode = false
	if r.column.isNullType {
		if n > 0 {
			return fmt.Errorf("a column of nulls has values")
		}
		p.values = vector{width: r.conversion.width}
		p.levels = make([]byte, p.rows)
		return nil
	}
	d := source.Dictionary()
	if d == nil {
		data := source.Data()
		bytes, offsets := data.Data()
		return r.conversion.convert(&p.values, n, bytes, offsets)
	}
	return r.loadCodes(source, d, n)
}

func (r *chunkReader) loadCodes(source parquet.Page, d parquet.Dictionary, n int) error {
	if d != r.source {
		dictionary, err := newChunkDictionary(&r.conversion, d)
		if err != nil {
			return fmt.Errorf("dictionary: %w", err)
		}
		r.dictionary, r.source = dictionary, d
	}
	data := source.Data()
	codes := data.Int32()
	if len(codes) < n {
		return fmt.Errorf("a page has %d of its %d values", len(codes), n)
	}
	codes = codes[:n]
	if most := largest(codes); n > 0 && most >= uint32(r.dictionary.claimed) {
		return fmt.Errorf("index %d is beyond the dictionary of %d values", most, r.dictionary.claimed)
	}
	r.page.codes, r.page.isCode = codes, true
	return nil
}

// largest is the largest of the codes as an unsigned number, 0 of none.
func largest(codes []int32) uint32 {
	var a, b, c, d uint32
	for len(codes) >= 4 {
		a, b, c, d = max(a, uint32(codes[0])), max(b, uint32(codes[1])), max(c, uint32(codes[2])), max(d, uint32(codes[3]))
		codes = codes[4:]
	}
	for _, x := range codes {
		a = max(a, uint32(x))
	}
	return max(a, b, c, d)
}

// kindly rewords errors of the library that a user can do something about.
func kindly(err error) error {
	switch text := err.Error(); {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("a page ends too early: the file is damaged")
	case strings.Contains(text, "checksum mismatch"):
		return fmt.Errorf("a page is damaged: its checksum does not match (%w)", err)
	}
	return err
}
