package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

var codecs = []struct {
	name  string
	codec compress.Compression
}{
	{"uncompressed", compress.Codecs.Uncompressed}, {"snappy", compress.Codecs.Snappy}, {"gzip", compress.Codecs.Gzip},
	{"brotli", compress.Codecs.Brotli}, {"zstd", compress.Codecs.Zstd}, {"lz4_raw", compress.Codecs.Lz4Raw},
}

// families are the encodings that a file's columns have, by physical type; a dictionary where there is none.
var families = []struct {
	name       string
	dictionary int64 // largest size of a dictionary, 0 for none
	encoding   func(t parquet.Type) parquet.Encoding
}{
	{"plain", 0, func(parquet.Type) parquet.Encoding { return parquet.Encodings.Plain }},
	{"dictionary", 1 << 20, nil},
	{"fallback", 600, nil},
	{"delta", 0, func(t parquet.Type) parquet.Encoding {
		switch t {
		case parquet.Types.Boolean:
			return parquet.Encodings.RLE
		case parquet.Types.Int32, parquet.Types.Int64:
			return parquet.Encodings.DeltaBinaryPacked
		case parquet.Types.ByteArray:
			return parquet.Encodings.DeltaLengthByteArray
		case parquet.Types.FixedLenByteArray, parquet.Types.Float, parquet.Types.Double:
			return parquet.Encodings.ByteStreamSplit
		}
		return parquet.Encodings.Plain
	}},
	{"prefix", 0, func(t parquet.Type) parquet.Encoding {
		switch t {
		case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
			return parquet.Encodings.DeltaByteArray
		case parquet.Types.Int32, parquet.Types.Int64:
			return parquet.Encodings.ByteStreamSplit
		}
		return parquet.Encodings.Plain
	}},
}

// properties makes the pages small, so that a chunk has several.
func properties(family int, version parquet.DataPageVersion, codec compress.Compression, sc *schema.Schema, plain map[string]bool) *parquet.WriterProperties {
	f := families[family]
	options := []parquet.WriterProperty{
		parquet.WithCompression(codec), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(900), parquet.WithBatchSize(64),
		parquet.WithVersion(parquet.V2_LATEST), parquet.WithPageIndexEnabled(family%2 == 1), parquet.WithDictionaryDefault(f.dictionary > 0), parquet.WithMaxRowGroupLength(600),
		parquet.WithStoreDecimalAsInteger(true),
	}
	if f.dictionary > 0 {
		options = append(options, parquet.WithDictionaryPageSizeLimit(f.dictionary))
	}
	for i := 0; f.encoding != nil && i < sc.NumColumns(); i++ {
		c := sc.Column(i)
		e := f.encoding(c.PhysicalType())
		if plain[c.Path()] || plain[c.PhysicalType().String()] {
			e = parquet.Encodings.Plain
		}
		options = append(options, parquet.WithEncodingFor(c.Path(), e))
	}
	return parquet.NewWriterProperties(options...)
}

// writeTable writes a table with pqarrow, in PLAIN what plain names; a panic of the writer is an error.
func writeTable(path string, record arrow.Record, family int, version parquet.DataPageVersion, codec compress.Compression, plain map[string]bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	own := pqarrow.NewArrowWriterProperties()
	sc, err := pqarrow.ToParquet(record.Schema(), parquet.NewWriterProperties(parquet.WithStoreDecimalAsInteger(true)), own)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	table := array.NewTableFromRecords(record.Schema(), []arrow.Record{record})
	if err := pqarrow.WriteTable(table, &b, 600, properties(family, version, codec, sc, plain), own); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// writeAll writes the tables as Arrow, for others to write them, and in every family, version and codec; the small tables
// by snappy only.
func writeAll(folder string) error {
	for _, s := range shapes {
		for name, record := range map[string]arrow.Record{"flat": flatTable(s), "nested": nestedTable(s)} {
			if s.name == "few" && name == "nested" {
				continue
			}
			if err := writeArrow(filepath.Join(folder, name+"_"+s.name), record); err != nil {
				return err
			}
			if err := eachSetting(s, func(family int, version parquet.DataPageVersion, codec int) error {
				path := filepath.Join(folder, fileName("arrow-go", families[family].name, version, codecs[codec].name, name, s.name))
				err := writeTable(path, record, family, version, codecs[codec].codec, nil)
				if err != nil { // this writer has no DELTA_BYTE_ARRAY of fixed length
					err = writeTable(path, record, family, version, codecs[codec].codec, map[string]bool{parquet.Types.FixedLenByteArray.String(): true})
				}
				if err != nil {
					err = fmt.Errorf("%s: %w", path, err)
				}
				return err
			}); err != nil {
				return err
			}
		}
	}
	return writePhysical(folder)
}

// full is whether every setting is written with every codec, not with two in turn.
var full bool

func eachSetting(s shape, do func(family int, version parquet.DataPageVersion, codec int) error) error {
	for family := range families {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for codec := range codecs {
				turn := 2*family + int(version)
				if s.name != "many" && (codecs[codec].name != "snappy" || turn%2 == family%2) || s.name == "many" && !full && (codec+turn)%3 != 0 {
					continue
				}
				if err := do(family, version, codec); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fileName says what a file is: writer, family of encodings, version of pages, codec, table and shape.
func fileName(writer, family string, version parquet.DataPageVersion, codec, table, shape string) string {
	v := "v1"
	if version == parquet.DataPageV2 {
		v = "v2"
	}
	return strings.Join([]string{writer, family, v, codec, table, shape}, "+") + ".parquet"
}

// writeArrow writes a record as a stream and as a file.
func writeArrow(path string, record arrow.Record) error {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(record.Schema()))
	if err := w.Write(record); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(path+".arrows", b.Bytes(), 0o600); err != nil {
		return err
	}
	file, err := os.Create(path + ".arrow")
	if err != nil {
		return err
	}
	defer file.Close()
	fw, err := ipc.NewFileWriter(file, ipc.WithSchema(record.Schema()))
	if err != nil {
		return err
	}
	if err := fw.Write(record); err != nil {
		return err
	}
	return fw.Close()
}
