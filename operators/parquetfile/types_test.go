package parquetfile

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

// flatTypes are a builder's values for every flat type, and the type that comes back where it is another.
var flatTypes = []struct {
	arrow  arrow.DataType
	append func(b array.Builder, i int)
	back   arrow.DataType
}{
	{arrow.FixedWidthTypes.Boolean, func(b array.Builder, i int) { b.(*array.BooleanBuilder).Append(i%2 == 0) }, nil},
	{arrow.PrimitiveTypes.Int8, func(b array.Builder, i int) { b.(*array.Int8Builder).Append(int8(i)) }, nil},
	{arrow.PrimitiveTypes.Int16, func(b array.Builder, i int) { b.(*array.Int16Builder).Append(int16(-i)) }, nil},
	{arrow.PrimitiveTypes.Int32, func(b array.Builder, i int) { b.(*array.Int32Builder).Append(int32(i) << 20) }, nil},
	{arrow.PrimitiveTypes.Int64, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(int64(-i) << 40) }, nil},
	{arrow.PrimitiveTypes.Uint8, func(b array.Builder, i int) { b.(*array.Uint8Builder).Append(uint8(255 - i)) }, nil},
	{arrow.PrimitiveTypes.Uint16, func(b array.Builder, i int) { b.(*array.Uint16Builder).Append(uint16(65535 - i)) }, nil},
	{arrow.PrimitiveTypes.Uint32, func(b array.Builder, i int) { b.(*array.Uint32Builder).Append(uint32(math.MaxUint32 - i)) }, nil},
	{arrow.PrimitiveTypes.Uint64, func(b array.Builder, i int) { b.(*array.Uint64Builder).Append(uint64(math.MaxUint64) - uint64(i)) }, nil},
	{arrow.FixedWidthTypes.Float16, func(b array.Builder, i int) { b.(*array.Float16Builder).Append(float16.New(float32(i) / 4)) }, nil},
	{arrow.PrimitiveTypes.Float32, func(b array.Builder, i int) { b.(*array.Float32Builder).Append(float32(i) / 3) }, nil},
	{arrow.PrimitiveTypes.Float64, func(b array.Builder, i int) { b.(*array.Float64Builder).Append(-float64(i) / 3) }, nil},
	{arrow.BinaryTypes.String, func(b array.Builder, i int) { b.(*array.StringBuilder).Append(string(rune('a' + i%26))) }, nil},
	{arrow.BinaryTypes.LargeString, func(b array.Builder, i int) { b.(*array.LargeStringBuilder).Append(string(rune('ä' + i%26))) }, arrow.BinaryTypes.String},
	{arrow.BinaryTypes.Binary, func(b array.Builder, i int) { b.(*array.BinaryBuilder).Append([]byte{byte(i), 0xff, 0}) }, nil},
	{&arrow.FixedSizeBinaryType{ByteWidth: 3}, func(b array.Builder, i int) { b.(*array.FixedSizeBinaryBuilder).Append([]byte{byte(i), 0xff, 0}) }, nil},
	{arrow.FixedWidthTypes.Date32, func(b array.Builder, i int) { b.(*array.Date32Builder).Append(arrow.Date32(i - 50)) }, nil},
	{
		arrow.FixedWidthTypes.Date64,
		func(b array.Builder, i int) { b.(*array.Date64Builder).Append(arrow.Date64((i - 50) * 86400000)) },
		arrow.FixedWidthTypes.Date32,
	},
	{arrow.FixedWidthTypes.Time32ms, func(b array.Builder, i int) { b.(*array.Time32Builder).Append(arrow.Time32(i * 1000)) }, nil},
	{arrow.FixedWidthTypes.Time64us, func(b array.Builder, i int) { b.(*array.Time64Builder).Append(arrow.Time64(i * 1000000)) }, nil},
	{arrow.FixedWidthTypes.Time64ns, func(b array.Builder, i int) { b.(*array.Time64Builder).Append(arrow.Time64(i)) }, nil},
	{
		&arrow.TimestampType{Unit: arrow.Second},
		func(b array.Builder, i int) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(i)) },
		&arrow.TimestampType{Unit: arrow.Millisecond},
	},
	{&arrow.TimestampType{Unit: arrow.Millisecond}, func(b array.Builder, i int) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(-i)) }, nil},
	{
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
		func(b array.Builder, i int) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(i)) },
		nil,
	},
	{
		&arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Europe/Berlin"},
		func(b array.Builder, i int) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(i)) },
		nil,
	},
	{&arrow.Decimal128Type{Precision: 7, Scale: 2}, decimalValue, nil},
	{&arrow.Decimal128Type{Precision: 15, Scale: 0}, decimalValue, nil},
	{&arrow.Decimal128Type{Precision: 38, Scale: 10}, decimalValue, nil},
	{&arrow.Decimal256Type{Precision: 60, Scale: 10}, func(b array.Builder, i int) {
		b.(*array.Decimal256Builder).Append(decimal256.FromI64(int64(i) - 50))
	}, nil},
	{arrow.Null, func(b array.Builder, i int) { b.AppendNull() }, nil},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, func(b array.Builder, i int) {
		b.(*array.BinaryDictionaryBuilder).AppendString(string(rune('a' + i%7)))
	}, arrow.BinaryTypes.String},
}

func decimalValue(b array.Builder, i int) {
	b.(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i) - 50))
}

func flatRecords(mem memory.Allocator, rows ...int) (*memorySource, func()) {
	s := &memorySource{}
	var fields []arrow.Field
	for i, f := range flatTypes {
		fields = append(fields, arrow.Field{Name: string(rune('A'+i/26)) + string(rune('a'+i%26)), Type: f.arrow, Nullable: true})
	}
	s.schema = arrow.NewSchema(fields, nil)
	row := 0
	for _, n := range rows {
		b := array.NewRecordBuilder(mem, s.schema)
		for range n {
			for k, f := range flatTypes {
				if row%5 == k%5 {
					b.Field(k).AppendNull()
				} else {
					f.append(b.Field(k), row%100)
				}
			}
			row++
		}
		s.records = append(s.records, b.NewRecord())
		b.Release()
	}
	return s, func() {
		for _, r := range s.records {
			r.Release()
		}
	}
}

func TestEveryFlatTypeOfAnotherSourceComesBack(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	src, release := flatRecords(mem, 10, 0, 300, 190)
	defer release()
	var first []byte
	for _, c := range []writeCase{{workers: 1}, {workers: 4, batch: 7}} {
		out := filepath.Join(t.TempDir(), "out.parquet")
		c.add = riskColumns()
		annotate(t, src, []string{out}, c)
		if b := readFileBytes(t, out); first == nil {
			first = b
		} else {
			require.Equal(t, first, b)
		}
		s := openSource(t, out)
		require.NoError(t, s.Verify(context.Background(), 1, nil))
		require.Len(t, s.parts, 1, "small parts are gathered")
		for k, f := range flatTypes {
			field := src.schema.Field(k)
			back := f.back
			if back == nil {
				back = f.arrow
			}
			require.True(t, arrow.TypeEqual(back, s.Schema().Field(k).Type), "%s came back as %s", f.arrow, s.Schema().Field(k).Type)
			if f.back != nil && !arrow.IsBaseBinary(f.back.ID()) {
				continue // the texts differ
			}
			var want []string
			for _, r := range src.records {
				want = appendTexts(want, r.Column(k))
			}
			if f.arrow.ID() == arrow.NULL {
				continue
			}
			require.Equal(t, want, columnTexts(t, s, operators.Want{Name: field.Name}, 33), f.arrow)
			if operators.HasEquality(back) {
				require.Equal(t, want, columnTexts(t, s, operators.Want{Name: field.Name, Coded: true}, 33), f.arrow)
			}
		}
	}
}

func TestTypesThatAreNotWrittenAreNamed(t *testing.T) {
	for _, typ := range []arrow.DataType{
		arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.MonthInterval, arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8}),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8), arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8),
		&arrow.Decimal128Type{Precision: 5, Scale: -2}, arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String),
	} {
		src := &memorySource{schema: arrow.NewSchema([]arrow.Field{{Name: "odd", Type: typ}}, nil)}
		err := tryAnnotate(t, src, []string{filepath.Join(t.TempDir(), "x.parquet")}, writeCase{})
		require.ErrorContains(t, err, `column "odd": type `)
		require.ErrorContains(t, err, "select columns")
	}
}

func TestStatisticsOfNewChunks(t *testing.T) {
	s := openSource(t, writeFile(t, "in.parquet", madeFile{rows: 100, codec: &parquet.Zstd}.bytes(t)))
	out := filepath.Join(t.TempDir(), "out.parquet")
	fields := []arrow.Field{
		{Name: "nan", Type: arrow.PrimitiveTypes.Float64}, {Name: "word", Type: arrow.PrimitiveTypes.Uint32},
		{Name: "none", Type: arrow.PrimitiveTypes.Float64}, {Name: "zero", Type: arrow.PrimitiveTypes.Int64},
	}
	for i := range fields {
		fields[i].Name = "new_" + fields[i].Name
	}
	annotate(t, s, []string{out}, writeCase{add: addition{fields, func(b []array.Builder, row int64) {
		x := float64(row)
		if row == 50 {
			x = math.NaN()
		}
		b[0].(*array.Float64Builder).Append(x)
		b[1].(*array.Uint32Builder).Append(math.MaxUint32 - uint32(row))
		b[2].AppendNull()
		b[3].(*array.Int64Builder).Append(0)
	}}})
	o := openSource(t, out)
	library, err := parquet.OpenFile(o.files[0].file, o.files[0].size)
	require.NoError(t, err)
	columns := library.Metadata().RowGroups[0].Columns
	last := columns[len(columns)-4:]
	require.EqualValues(t, []byte{156, 255, 255, 255}, last[1].MetaData.Statistics.MinValue)
	require.EqualValues(t, []byte{255, 255, 255, 255}, last[1].MetaData.Statistics.MaxValue)
	require.EqualValues(t, 100, last[2].MetaData.Statistics.NullCount)
	require.Nil(t, last[2].MetaData.Statistics.MinValue)
	require.EqualValues(t, 0, last[3].MetaData.Statistics.NullCount)
	require.Equal(t, make([]byte, 8), last[3].MetaData.Statistics.MaxValue)
	require.Equal(t, "0", columnTexts(t, o, operators.Want{Name: "new_zero"}, 0)[0])
	require.NotContains(t, []byte{0xf8, 0x7f}, last[0].MetaData.Statistics.MaxValue)
	if m := last[0].MetaData.Statistics.MaxValue; m != nil {
		require.Equal(
			t,
			99.0,
			math.Float64frombits(
				uint64(m[0])|uint64(m[1])<<8|uint64(m[2])<<16|uint64(m[3])<<24|uint64(m[4])<<32|uint64(m[5])<<40|uint64(m[6])<<48|uint64(m[7])<<56,
			),
		)
	}
}
