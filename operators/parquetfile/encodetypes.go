package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/parquet-go/parquet-go"
)

// A valueReader appends the Parquet values of row i of an array: one, or those of a list.
type valueReader func(out []parquet.Value, i, column int) ([]parquet.Value, error)

// A columnFormat tells how an Arrow type is written. Columns are optional.
type columnFormat struct {
	node     parquet.Node
	reader   func(a arrow.Array) (valueReader, error)
	logical  int  // logical type that the library cannot write; 0 for none
	noBounds bool // the library's order of the values is not Parquet's: no statistics
	lists    int  // depth of lists
}

// formatOf refuses types by name that are not written: nested ones but lists, durations, intervals and extensions.
func formatOf(t arrow.DataType) (columnFormat, error) {
	depth := 0
	leaf := t
	for {
		list, ok := leaf.(arrow.ListLikeType)
		if !ok || leaf.ID() != arrow.LIST && leaf.ID() != arrow.LARGE_LIST {
			break
		}
		depth++
		leaf = list.Elem()
	}
	if d, ok := leaf.(*arrow.DictionaryType); ok {
		leaf = d.ValueType
	}
	f, err := flatFormat(leaf)
	if err != nil {
		return f, err
	}
	f.node = parquet.Optional(f.node)
	for range depth {
		f.node = parquet.Optional(parquet.List(f.node))
	}
	f.lists = depth
	values := f.reader
	f.reader = func(a arrow.Array) (valueReader, error) { return arrayReader(a, values, 0) }
	return f, nil
}

// arrayReader reads lists, dictionaries and plain arrays; depth is the number of lists around.
func arrayReader(a arrow.Array, values func(arrow.Array) (valueReader, error), depth int) (valueReader, error) {
	switch a := a.(type) {
	case array.ListLike:
		inner, err := arrayReader(a.ListValues(), values, depth+1)
		if err != nil {
			return nil, err
		}
		return func(out []parquet.Value, i, column int) ([]parquet.Value, error) {
			if a.IsNull(i) {
				return append(out, parquet.Value{}.Level(0, 2*depth, column)), nil
			}
			from, to := a.ValueOffsets(i)
			if from == to {
				return append(out, parquet.Value{}.Level(0, 2*depth+1, column)), nil
			}
			for k := from; k < to; k++ {
				start := len(out)
				var err error
				if out, err = inner(out, int(k), column); err != nil {
					return out, err
				}
				if k > from { // further elements repeat at this depth
					v := out[start]
					out[start] = v.Level(depth+1, v.DefinitionLevel(), column)
				}
			}
			return out, nil
		}, nil
	case *array.Dictionary:
		return dictionaryReader(a, values, depth)
	case *array.Null: // it has no bitmap that would say so
		return func(out []parquet.Value, _, column int) ([]parquet.Value, error) {
			return append(out, parquet.Value{}.Level(0, 2*depth, column)), nil
		}, nil
	}
	read, err := values(a)
	if err != nil {
		return nil, err
	}
	return func(out []parquet.Value, i, column int) ([]parquet.Value, error) {
		if a.IsNull(i) {
			return append(out, parquet.Value{}.Level(0, 2*depth, column)), nil
		}
		out, err := read(out, i, column)
		if err == nil {
			v := out[len(out)-1]
			out[len(out)-1] = v.Level(0, 2*depth+1, column)
		}
		return out, err
	}, nil
}

func dictionaryReader(d *array.Dictionary, values func(arrow.Array) (valueReader, error), depth int) (valueReader, error) {
	inner, err := arrayReader(d.Dictionary(), values, depth)
	if err != nil {
		return nil, err
	}
	n := d.Dictionary().Len()
	return func(out []parquet.Value, i, column int) ([]parquet.Value, error) {
		if d.IsNull(i) {
			return append(out, parquet.Value{}.Level(0, 2*depth, column)), nil
		}
		k := d.GetValueIndex(i)
		if k < 0 || k >= n {
			return out, fmt.Errorf("dictionary index %d is beyond the dictionary of %d values", k, n)
		}
		return inner(out, k, column)
	}, nil
}

// one adapts a function that gives the value of row i of an array of type A.
func one[A arrow.Array](value func(a A, i int) (parquet.Value, error)) func(arrow.Array) (valueReader, error) {
	return func(a arrow.Array) (valueReader, error) {
		x, ok := a.(A)
		if !ok {
			return nil, fmt.Errorf("an array of type %s is not expected", a.DataType())
		}
		return func(out []parquet.Value, i, _ int) ([]parquet.Value, error) {
			v, err := value(x, i)
			return append(out, v), err
		}, nil
	}
}

func int32s[T ~int8 | ~int16 | ~int32 | ~uint8 | ~uint16 | ~uint32, A interface {
	arrow.Array
	Value(int) T
}](node parquet.Node) columnFormat {
	return columnFormat{node: coded(node), reader: one(func(a A, i int) (parquet.Value, error) {
		return parquet.Int32Value(int32(a.Value(i))), nil
	})}
}

// int64s multiplies by scale, for units that Parquet lacks.
func int64s[T ~int32 | ~int64 | ~uint64, A interface {
	arrow.Array
	Value(int) T
}](node parquet.Node, scale int64) columnFormat {
	return columnFormat{node: coded(node), reader: one(func(a A, i int) (parquet.Value, error) {
		x := int64(a.Value(i))
		if scale != 1 && (x > math.MaxInt64/scale || x < math.MinInt64/scale) {
			return parquet.Value{}, fmt.Errorf("value %d is too large for milliseconds", x)
		}
		return parquet.Int64Value(x * scale), nil
	})}
}

func texts[T string | []byte, A interface {
	arrow.Array
	Value(int) T
}](node parquet.Node) columnFormat {
	return columnFormat{node: coded(node), reader: one(func(a A, i int) (parquet.Value, error) {
		return parquet.ByteArrayValue([]byte(a.Value(i))), nil
	})}
}

func coded(node parquet.Node) parquet.Node { return parquet.Encoded(node, &parquet.RLEDictionary) }

func flatFormat(t arrow.DataType) (columnFormat, error) {
	switch t := t.(type) {
	case *arrow.NullType:
		return columnFormat{node: parquet.Leaf(parquet.Int32Type), logical: logicalNull, noBounds: true, reader: func(arrow.Array) (valueReader, error) {
			return func(out []parquet.Value, _, column int) ([]parquet.Value, error) { return out, nil }, nil
		}}, nil
	case *arrow.BooleanType:
		return columnFormat{node: parquet.Leaf(parquet.BooleanType), reader: one(func(a *array.Boolean, i int) (parquet.Value, error) {
			return parquet.BooleanValue(a.Value(i)), nil
		})}, nil
	case *arrow.Int8Type:
		return int32s[int8, *array.Int8](parquet.Int(8)), nil
	case *arrow.Int16Type:
		return int32s[int16, *array.Int16](parquet.Int(16)), nil
	case *arrow.Int32Type:
		return int32s[int32, *array.Int32](parquet.Int(32)), nil
	case *arrow.Int64Type:
		return int64s[int64, *array.Int64](parquet.Int(64), 1), nil
	case *arrow.Uint8Type:
		return int32s[uint8, *array.Uint8](parquet.Uint(8)), nil
	case *arrow.Uint16Type:
		return int32s[uint16, *array.Uint16](parquet.Uint(16)), nil
	case *arrow.Uint32Type:
		return int32s[uint32, *array.Uint32](parquet.Uint(32)), nil
	case *arrow.Uint64Type:
		return int64s[uint64, *array.Uint64](parquet.Uint(64), 1), nil
	case *arrow.Float32Type:
		return columnFormat{node: coded(parquet.Leaf(parquet.FloatType)), reader: one(func(a *array.Float32, i int) (parquet.Value, error) {
			return parquet.FloatValue(a.Value(i)), nil
		})}, nil
	case *arrow.Float64Type:
		return columnFormat{node: coded(parquet.Leaf(parquet.DoubleType)), reader: one(func(a *array.Float64, i int) (parquet.Value, error) {
			return parquet.DoubleValue(a.Value(i)), nil
		})}, nil
	case *arrow.Float16Type:
		return columnFormat{node: coded(parquet.Leaf(parquet.FixedLenByteArrayType(2))), logical: logicalFloat16, noBounds: true,
			reader: one(func(a *array.Float16, i int) (parquet.Value, error) {
				return parquet.FixedLenByteArrayValue(binary.LittleEndian.AppendUint16(nil, a.Value(i).Uint16())), nil
			})}, nil
	case *arrow.StringType:
		return texts[string, *array.String](parquet.String()), nil
	case *arrow.LargeStringType:
		return texts[string, *array.LargeString](parquet.String()), nil
	case *arrow.BinaryType:
		return texts[[]byte, *array.Binary](parquet.Leaf(parquet.ByteArrayType)), nil
	case *arrow.LargeBinaryType:
		return texts[[]byte, *array.LargeBinary](parquet.Leaf(parquet.ByteArrayType)), nil
	case *arrow.FixedSizeBinaryType:
		return columnFormat{node: coded(parquet.Leaf(parquet.FixedLenByteArrayType(t.ByteWidth))), reader: one(func(a *array.FixedSizeBinary, i int) (parquet.Value, error) {
			return parquet.FixedLenByteArrayValue(a.Value(i)), nil
		})}, nil
	}
	return temporalFormat(t)
}

func temporalFormat(t arrow.DataType) (columnFormat, error) {
	switch t := t.(type) {
	case *arrow.Date32Type:
		return int32s[arrow.Date32, *array.Date32](parquet.Date()), nil
	case *arrow.Date64Type:
		return columnFormat{node: coded(parquet.Date()), reader: one(func(a *array.Date64, i int) (parquet.Value, error) {
			const day = 86400000
			x := int64(a.Value(i))
			return parquet.Int32Value(int32((x - ((x%day)+day)%day) / day)), nil
		})}, nil
	case *arrow.Time32Type:
		scale := int32(1)
		if t.Unit == arrow.Second {
			scale = 1000
		}
		return columnFormat{node: coded(parquet.TimeAdjusted(parquet.Millisecond, false)), reader: one(func(a *array.Time32, i int) (parquet.Value, error) {
			return parquet.Int32Value(int32(a.Value(i)) * scale), nil
		})}, nil
	case *arrow.Time64Type:
		return int64s[arrow.Time64, *array.Time64](parquet.TimeAdjusted(timeUnit(t.Unit), false), 1), nil
	case *arrow.TimestampType:
		scale := int64(1)
		if t.Unit == arrow.Second {
			scale = 1000
		}
		return int64s[arrow.Timestamp, *array.Timestamp](parquet.TimestampAdjusted(timeUnit(t.Unit), t.TimeZone != ""), scale), nil
	case *arrow.Decimal128Type:
		if t.Scale >= 0 && t.Scale <= t.Precision {
			return decimal128Format(t), nil
		}
	case *arrow.Decimal256Type:
		if t.Scale < 0 || t.Scale > t.Precision {
			break
		}
		node := parquet.Decimal(int(t.Scale), int(t.Precision), parquet.FixedLenByteArrayType(32))
		return columnFormat{node: coded(node), noBounds: true, reader: one(func(a *array.Decimal256, i int) (parquet.Value, error) {
			return parquet.FixedLenByteArrayValue(bigEndian(a.Value(i).BigInt(), 32)), nil
		})}, nil
	}
	return columnFormat{}, fmt.Errorf("type %s is not written to Parquet", typeName(t))
}

func timeUnit(u arrow.TimeUnit) parquet.TimeUnit {
	switch u {
	case arrow.Microsecond:
		return parquet.Microsecond
	case arrow.Nanosecond:
		return parquet.Nanosecond
	}
	return parquet.Millisecond
}

func decimal128Format(t *arrow.Decimal128Type) columnFormat {
	scale, precision := int(t.Scale), int(t.Precision)
	switch {
	case precision <= 9:
		return columnFormat{
			node: coded(parquet.Decimal(scale, precision, parquet.Int32Type)),
			reader: one(func(a *array.Decimal128, i int) (parquet.Value, error) {
				return parquet.Int32Value(int32(a.Value(i).LowBits())), nil
			}),
		}
	case precision <= 18:
		return columnFormat{
			node: coded(parquet.Decimal(scale, precision, parquet.Int64Type)),
			reader: one(func(a *array.Decimal128, i int) (parquet.Value, error) {
				return parquet.Int64Value(int64(a.Value(i).LowBits())), nil
			}),
		}
	}
	// The library orders fixed-length decimals as unsigned bytes: no statistics.
	return columnFormat{
		node:     coded(parquet.Decimal(scale, precision, parquet.FixedLenByteArrayType(16))),
		noBounds: true,
		reader: one(func(a *array.Decimal128, i int) (parquet.Value, error) {
			return parquet.FixedLenByteArrayValue(bigEndian(a.Value(i).BigInt(), 16)), nil
		}),
	}
}

// bigEndian is x as two's complement.
func bigEndian(x *big.Int, width int) []byte {
	if x.Sign() < 0 {
		x = new(big.Int).Add(x, new(big.Int).Lsh(big.NewInt(1), uint(8*width)))
	}
	return x.FillBytes(make([]byte, width))
}
