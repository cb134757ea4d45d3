package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A kind is a type and how its values are made: i chooses among extremes, runs of few values, and the whole range.
type kind struct {
	name   string
	t      arrow.DataType
	append func(b array.Builder, i int, r *rand.Rand)
}

// number takes a value of each integer type: extremes that lie as far apart as the type allows, runs, small and large values.
func number[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](lo, hi T) func(i int, r *rand.Rand) T {
	return func(i int, r *rand.Rand) T {
		switch i / 40 % 5 {
		case 0:
			return []T{lo, hi, lo, 17, hi - 1, 0}[i%6]
		case 1:
			return T(i / 100 % 3)
		case 2:
			return T(r.Uint64())
		case 3:
			return T(i)
		}
		return hi - T(r.IntN(100))
	}
}

func real(i int, r *rand.Rand) float64 {
	switch i / 40 % 4 {
	case 0:
		return []float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1), 1.5, -2.25, math.MaxFloat32}[i%8]
	case 1:
		return float64(i / 100 % 3)
	case 2:
		return math.Float64frombits(r.Uint64()&^(1<<62) | 1<<60)
	}
	return float64(i) / 8
}

func text(i int, r *rand.Rand) string {
	switch i / 40 % 4 {
	case 0:
		return []string{"", "a", "ä€😀", "with, comma and \"quotes\"", "line\nbreak", "NA"}[i%6]
	case 1:
		return []string{"north", "north-east", "south"}[i/50%3]
	case 2:
		return fmt.Sprintf("prefix that is long and shared %08d", r.IntN(1e8))
	}
	if i%160 == 159 {
		return fmt.Sprintf("%0*d", 3000, i)
	}
	return fmt.Sprint(i)
}

func bytesOf(n int, r *rand.Rand) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func decimals(precision int32) func(b array.Builder, i int, r *rand.Rand) {
	limit := decimal128.GetMaxValue(precision)
	return func(b array.Builder, i int, r *rand.Rand) {
		x := decimal128.FromI64(r.Int64N(1e9) - 5e8)
		switch i / 40 % 3 {
		case 0:
			x = []decimal128.Num{limit, limit.Negate(), decimal128.FromI64(0), decimal128.FromI64(-1)}[i%4]
		case 1:
			x = decimal128.FromI64(int64(i/100) - 3)
		}
		b.(*array.Decimal128Builder).Append(x)
	}
}

func take[B array.Builder, T any](make func(i int, r *rand.Rand) T, put func(B, T)) func(array.Builder, int, *rand.Rand) {
	return func(b array.Builder, i int, r *rand.Rand) { put(b.(B), make(i, r)) }
}

func between(lo, hi int64) func(i int, r *rand.Rand) int64 {
	return func(i int, r *rand.Rand) int64 {
		if i/40%3 == 0 {
			return []int64{lo, hi - 1, min(max(0, lo), hi), lo}[i%4]
		}
		return lo + r.Int64N(hi-lo)/(1+int64(i/80%2)*1e3)
	}
}

func stamp(name string, unit arrow.TimeUnit, zone string) kind {
	perSecond := int64(time.Second / unit.Multiplier())
	return kind{name, &arrow.TimestampType{Unit: unit, TimeZone: zone},
		take(between(-2_000_000_000*perSecond, 4_000_000_000*perSecond), func(b *array.TimestampBuilder, x int64) { b.Append(arrow.Timestamp(x)) })}
}

func kinds() []kind {
	p := arrow.PrimitiveTypes
	return []kind{
		{
			"bool", arrow.FixedWidthTypes.Boolean,
			take(func(i int, r *rand.Rand) bool { return i/40%2 == 0 && i/20%2 == 0 || i/40%2 == 1 && r.IntN(3) == 0 }, (*array.BooleanBuilder).Append),
		},
		{"int8", p.Int8, take(number(int8(math.MinInt8), math.MaxInt8), (*array.Int8Builder).Append)},
		{"int16", p.Int16, take(number(int16(math.MinInt16), math.MaxInt16), (*array.Int16Builder).Append)},
		{"int32", p.Int32, take(number(int32(math.MinInt32), math.MaxInt32), (*array.Int32Builder).Append)},
		{"int64", p.Int64, take(number(int64(math.MinInt64), math.MaxInt64), (*array.Int64Builder).Append)},
		{"uint8", p.Uint8, take(number(uint8(0), math.MaxUint8), (*array.Uint8Builder).Append)},
		{"uint16", p.Uint16, take(number(uint16(0), math.MaxUint16), (*array.Uint16Builder).Append)},
		{"uint32", p.Uint32, take(number(uint32(0), math.MaxUint32), (*array.Uint32Builder).Append)},
		{"uint64", p.Uint64, take(number(uint64(0), math.MaxUint64), (*array.Uint64Builder).Append)},
		{"half", arrow.FixedWidthTypes.Float16, take(real, func(b *array.Float16Builder, x float64) { b.Append(float16.New(float32(x))) })},
		{"float", p.Float32, take(real, func(b *array.Float32Builder, x float64) { b.Append(float32(x)) })},
		{"double", p.Float64, take(real, (*array.Float64Builder).Append)},
		{"string", arrow.BinaryTypes.String, take(text, (*array.StringBuilder).Append)},
		{"binary", arrow.BinaryTypes.Binary, take(func(i int, r *rand.Rand) []byte { return bytesOf(i%7, r) }, (*array.BinaryBuilder).Append)},
		{"fixed", &arrow.FixedSizeBinaryType{ByteWidth: 5}, take(func(i int, r *rand.Rand) []byte {
			if i/40%2 == 0 {
				return []byte{'a', 'b', byte(i / 50), 0, 0xff}
			}
			return bytesOf(5, r)
		}, (*array.FixedSizeBinaryBuilder).Append)},
		{"decimal9", &arrow.Decimal128Type{Precision: 9, Scale: 2}, decimals(9)},
		{"decimal18", &arrow.Decimal128Type{Precision: 18, Scale: 3}, decimals(18)},
		{"decimal38", &arrow.Decimal128Type{Precision: 38, Scale: 10}, decimals(38)},
		{"date", arrow.FixedWidthTypes.Date32, take(between(-700_000, 2_900_000), func(b *array.Date32Builder, x int64) { b.Append(arrow.Date32(x)) })},
		{"time_ms", arrow.FixedWidthTypes.Time32ms, take(between(0, 86_400_000), func(b *array.Time32Builder, x int64) { b.Append(arrow.Time32(x)) })},
		{"time_us", arrow.FixedWidthTypes.Time64us, take(between(0, 86_400_000_000), func(b *array.Time64Builder, x int64) { b.Append(arrow.Time64(x)) })},
		{"time_ns", arrow.FixedWidthTypes.Time64ns, take(between(0, 86_400_000_000_000), func(b *array.Time64Builder, x int64) { b.Append(arrow.Time64(x)) })},
		stamp("stamp_ms", arrow.Millisecond, ""), stamp("stamp_us", arrow.Microsecond, ""), stamp("stamp_ns", arrow.Nanosecond, ""), stamp("zoned_us", arrow.Microsecond, "UTC"),
	}
}

// A shape is how many rows a table has, and which of its values are there.
type shape struct {
	name  string
	rows  int
	nulls bool // only
	step  int  // from a row to the next in what a kind makes
}

// few is the shape of the files that are tests in the repository: some of the kinds, in few rows.
var (
	shapes = []shape{{"many", 1500, false, 1}, {"one", 1, false, 1}, {"none", 0, false, 1}, {"nulls", 300, true, 1}, {"few", 50, false, 4}}
	ofFew  = map[string]bool{"bool": true, "int32": true, "int64": true, "uint32": true, "double": true, "string": true, "fixed": true, "decimal18": true, "date": true, "stamp_us": true}
)

// flatTable has a required and an optional column of each kind, and part, the row's number modulo 3.
func flatTable(s shape) arrow.Record {
	part := array.NewInt32Builder(memory.DefaultAllocator)
	for i := range s.rows {
		part.Append(int32(i % 3))
	}
	fields, columns := []arrow.Field{{Name: "part", Type: arrow.PrimitiveTypes.Int32}}, []arrow.Array{part.NewArray()}
	for k, of := range kinds() {
		if s.name == "few" && !ofFew[of.name] {
			continue
		}
		for _, optional := range []bool{false, true} {
			r := rand.New(rand.NewPCG(uint64(k), 7))
			b := array.NewBuilder(memory.DefaultAllocator, of.t)
			for i := range s.rows {
				if optional && (s.nulls || i%7 == 3 || i/200%4 == 2) {
					b.AppendNull()
				} else {
					of.append(b, i*s.step, r)
				}
			}
			name := of.name
			if optional {
				name += "_o"
			}
			fields, columns = append(fields, arrow.Field{Name: name, Type: of.t, Nullable: optional}), append(columns, b.NewArray())
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(s.rows))
}

// nestedTable has a list of each kind, lists of lists, maps and structs.
func nestedTable(s shape) arrow.Record {
	part := array.NewInt32Builder(memory.DefaultAllocator)
	for i := range s.rows {
		part.Append(int32(i % 3))
	}
	fields, columns := []arrow.Field{{Name: "part", Type: arrow.PrimitiveTypes.Int32}}, []arrow.Array{part.NewArray()}
	add := func(name string, of kind, t arrow.DataType, optional bool) {
		r := rand.New(rand.NewPCG(uint64(len(fields)), 9))
		b := array.NewBuilder(memory.DefaultAllocator, t)
		for i := range s.rows {
			if optional && (s.nulls || i%9 == 4) {
				b.AppendNull()
			} else {
				appendNested(b, i*3, of, r)
			}
		}
		fields, columns = append(fields, arrow.Field{Name: name, Type: t, Nullable: optional}), append(columns, b.NewArray())
	}
	for k, of := range kinds() {
		add(of.name+"_list", of, arrow.ListOf(of.t), k%2 == 0)
	}
	str, long, flag := kinds()[12], kinds()[4], kinds()[0]
	add("lists", long, arrow.ListOf(arrow.ListOf(long.t)), true)
	add("map", long, arrow.MapOf(arrow.BinaryTypes.String, long.t), true)
	add("inner", flag, arrow.StructOf(arrow.Field{Name: "a", Type: flag.t, Nullable: true}, arrow.Field{Name: "b", Type: flag.t}), true)
	add("structs", str, arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: str.t, Nullable: true}, arrow.Field{Name: "y", Type: arrow.ListOf(str.t), Nullable: true})), true)
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(s.rows))
}

// appendNested adds a value of any depth, with empty lists and nulls where they may be.
func appendNested(b array.Builder, i int, of kind, r *rand.Rand) {
	switch b := b.(type) {
	case *array.MapBuilder:
		b.Append(true)
		for k := range r.IntN(4) {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprint("key ", k))
			orNull(b.ItemBuilder(), i+k, of, r)
		}
	case *array.ListBuilder:
		b.Append(true)
		for k := range r.IntN(4) {
			orNull(b.ValueBuilder(), i+k, of, r)
		}
	case *array.StructBuilder:
		b.Append(true)
		for k := range b.NumField() {
			if b.Type().(*arrow.StructType).Field(k).Nullable {
				orNull(b.FieldBuilder(k), i+k, of, r)
			} else {
				appendNested(b.FieldBuilder(k), i+k, of, r)
			}
		}
	default:
		of.append(b, i, r)
	}
}

func orNull(b array.Builder, i int, of kind, r *rand.Rand) {
	if r.IntN(6) == 0 {
		b.AppendNull()
	} else {
		appendNested(b, i, of, r)
	}
}
