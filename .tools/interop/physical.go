package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// A leaf is a column that Arrow's types do not reach: every physical type, and the logical types that are told apart by it.
type leaf struct {
	name     string
	physical parquet.Type
	length   int
	logical  schema.LogicalType
	value    func(i int, r *rand.Rand) any
}

func leaves() []leaf {
	raw := func(n int) func(i int, r *rand.Rand) any {
		return func(i int, r *rand.Rand) any { return bytesOf(n, r) }
	}
	decimal := func(n int) func(i int, r *rand.Rand) any { // of any sign, so that the order of bytes is not that of values
		return func(i int, r *rand.Rand) any {
			b := make([]byte, n)
			x := int64(i%11) - 5
			for k := range b {
				b[len(b)-1-k] = byte(x)
				x >>= 8
			}
			return b
		}
	}
	return []leaf{
		{"boolean", parquet.Types.Boolean, 0, nil, func(i int, r *rand.Rand) any { return i/20%2 == 0 || r.IntN(4) == 0 }},
		{"int32", parquet.Types.Int32, 0, nil, func(i int, r *rand.Rand) any { return number(int32(math.MinInt32), math.MaxInt32)(i, r) }},
		{"int64", parquet.Types.Int64, 0, nil, func(i int, r *rand.Rand) any { return number(int64(math.MinInt64), math.MaxInt64)(i, r) }},
		{"int96", parquet.Types.Int96, 0, nil, func(i int, r *rand.Rand) any {
			var x parquet.Int96
			binary.LittleEndian.PutUint64(x[:], uint64(r.Int64N(86_400_000_000))*1000)
			binary.LittleEndian.PutUint32(x[8:], uint32(2440588+i-700))
			return x
		}},
		{"float", parquet.Types.Float, 0, nil, func(i int, r *rand.Rand) any { return float32(real(i, r)) }},
		{"double", parquet.Types.Double, 0, nil, func(i int, r *rand.Rand) any { return real(i, r) }},
		{"bytes", parquet.Types.ByteArray, 0, nil, func(i int, r *rand.Rand) any { return []byte(text(i, r)) }},
		{"fixed", parquet.Types.FixedLenByteArray, 5, nil, raw(5)},
		{"uuid", parquet.Types.FixedLenByteArray, 16, schema.UUIDLogicalType{}, raw(16)},
		{"half", parquet.Types.FixedLenByteArray, 2, schema.Float16LogicalType{}, raw(2)},
		{"json", parquet.Types.ByteArray, 0, schema.JSONLogicalType{}, func(i int, r *rand.Rand) any { return fmt.Appendf(nil, `{"i":%d}`, i%40) }},
		{"enum", parquet.Types.ByteArray, 0, schema.EnumLogicalType{}, func(i int, r *rand.Rand) any { return fmt.Appendf(nil, "value %d", i%4) }},
		{"decimal_i32", parquet.Types.Int32, 0, schema.NewDecimalLogicalType(9, 2), func(i int, r *rand.Rand) any { return int32(r.IntN(1999999999) - 999999999) }},
		{"decimal_i64", parquet.Types.Int64, 0, schema.NewDecimalLogicalType(18, 4), func(i int, r *rand.Rand) any { return r.Int64N(1e18) - 5e17 }},
		{"decimal_fixed", parquet.Types.FixedLenByteArray, 9, schema.NewDecimalLogicalType(20, 3), decimal(9)},
		{"decimal_bytes", parquet.Types.ByteArray, 0, schema.NewDecimalLogicalType(12, 1), decimal(4)},
		{"uint32", parquet.Types.Int32, 0, schema.NewIntLogicalType(32, false), func(i int, r *rand.Rand) any { return int32(r.Uint32()) }},
		{"uint64", parquet.Types.Int64, 0, schema.NewIntLogicalType(64, false), func(i int, r *rand.Rand) any { return int64(r.Uint64()) }},
	}
}

var repetitions = []struct {
	suffix string
	of     parquet.Repetition
}{{"_r", parquet.Repetitions.Required}, {"_o", parquet.Repetitions.Optional}, {"_m", parquet.Repetitions.Repeated}}

// physicalSchema has each leaf required, optional and, where repeated says so, repeated alone.
func physicalSchema(repeated bool) *schema.Schema {
	fields := schema.FieldList{schema.NewInt32Node("part", parquet.Repetitions.Required, -1)}
	for _, l := range leaves() {
		for k, r := range repetitions {
			if (k == 2) != repeated {
				continue
			}
			node, err := schema.NewPrimitiveNode(l.name+r.suffix, r.of, l.physical, -1, int32(l.length))
			if l.logical != nil {
				node, err = schema.NewPrimitiveNodeLogical(l.name+r.suffix, r.of, l.logical, l.physical, l.length, -1)
			}
			fields = append(fields, schema.Must(node, err))
		}
	}
	return schema.NewSchema(schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)))
}

func writePhysical(folder string) error {
	for _, s := range shapes[:4] {
		for table, repeated := range map[string]bool{"physical": false, "repeated": true} {
			err := eachSetting(s, func(family int, version parquet.DataPageVersion, codec int) error {
				path := filepath.Join(folder, fileName("arrow-go", families[family].name, version, codecs[codec].name, table, s.name))
				sc := physicalSchema(repeated)
				plain := map[string]bool{}
				for {
					err := writeLeaves(path, sc, s, properties(family, version, codecs[codec].codec, sc, plain))
					var cannot *columnError
					if !errors.As(err, &cannot) || plain[cannot.column] {
						return err
					}
					plain[cannot.column] = true // what this writer cannot encode is for the others to write
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

const groupRows = 700

// A columnError says in which column a writer failed.
type columnError struct {
	path, column string
	err          error
}

func (e *columnError) Error() string { return fmt.Sprintf("%s, %s: %v", e.path, e.column, e.err) }

func writeLeaves(path string, sc *schema.Schema, s shape, p *parquet.WriterProperties) (err error) {
	column := ""
	defer func() {
		if p := recover(); p != nil {
			err = &columnError{path, column, fmt.Errorf("%v", p)}
		}
	}()
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, sc.Root(), file.WithWriterProps(p))
	for from := 0; from < s.rows; from += groupRows {
		group := w.AppendRowGroup()
		for i := range sc.NumColumns() {
			column = sc.Column(i).Name()
			c, err := group.NextColumn()
			if err == nil {
				err = writeLeaf(c, i, s, from, min(from+groupRows, s.rows))
			}
			if err != nil {
				return &columnError{path, column, err}
			}
		}
		if err := group.Close(); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// writeLeaf writes rows of a column: part, or values of a leaf with nulls or as many as chance has it.
func writeLeaf(c file.ColumnChunkWriter, column int, s shape, from, to int) error {
	r := rand.New(rand.NewPCG(uint64(column), uint64(from)))
	var values []any
	var levels [2][]int16
	of := leaf{value: func(i int, _ *rand.Rand) any { return int32(i % 3) }}
	for _, l := range leaves() {
		if name := c.Descr().Name(); name == l.name+"_r" || name == l.name+"_o" || name == l.name+"_m" {
			of = l
		}
	}
	deep, wide := c.Descr().MaxDefinitionLevel(), c.Descr().MaxRepetitionLevel()
	for i := from; i < to; i++ {
		n := 1
		switch {
		case wide > 0:
			n = r.IntN(4)
		case deep > 0 && (i%7 == 3 || i/150%4 == 2):
			n = 0
		}
		if deep > 0 && s.nulls {
			n = 0
		}
		for k := range n {
			values = append(values, of.value(i, r))
			levels[0], levels[1] = append(levels[0], deep), append(levels[1], int16(min(k, int(wide))))
		}
		if n == 0 {
			levels[0], levels[1] = append(levels[0], 0), append(levels[1], 0)
		}
	}
	if deep == 0 {
		levels[0] = nil
	}
	if wide == 0 {
		levels[1] = nil
	}
	err := writeBatch(c, values, levels[0], levels[1])
	if err == nil {
		err = c.Close()
	}
	return err
}

func writeBatch(c file.ColumnChunkWriter, values []any, d, r []int16) error {
	var err error
	switch c := c.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = c.WriteBatch(as[bool](values), d, r)
	case *file.Int32ColumnChunkWriter:
		_, err = c.WriteBatch(as[int32](values), d, r)
	case *file.Int64ColumnChunkWriter:
		_, err = c.WriteBatch(as[int64](values), d, r)
	case *file.Int96ColumnChunkWriter:
		_, err = c.WriteBatch(as[parquet.Int96](values), d, r)
	case *file.Float32ColumnChunkWriter:
		_, err = c.WriteBatch(as[float32](values), d, r)
	case *file.Float64ColumnChunkWriter:
		_, err = c.WriteBatch(as[float64](values), d, r)
	case *file.ByteArrayColumnChunkWriter:
		list := make([]parquet.ByteArray, len(values))
		for i, b := range as[[]byte](values) {
			list[i] = b
		}
		_, err = c.WriteBatch(list, d, r)
	case *file.FixedLenByteArrayColumnChunkWriter:
		list := make([]parquet.FixedLenByteArray, len(values))
		for i, b := range as[[]byte](values) {
			list[i] = b
		}
		_, err = c.WriteBatch(list, d, r)
	}
	return err
}

func as[T any](values []any) []T {
	list := make([]T, len(values))
	for i, v := range values {
		list[i] = v.(T)
	}
	return list
}
