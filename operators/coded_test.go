package operators

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
)

// every type that has equality, with three values, the first of which is told apart from the second.
var every = []struct {
	typ         arrow.DataType
	json, texts string
}{
	{arrow.BinaryTypes.String, `["a","b",null,"a"]`, "a b"},
	{arrow.BinaryTypes.LargeString, `["a","b",null,"a"]`, "a b"},
	{arrow.BinaryTypes.Binary, `["YQ==","Yg==",null,"YQ=="]`, "a b"},
	{&arrow.FixedSizeBinaryType{ByteWidth: 1}, `["YQ==","Yg==",null,"YQ=="]`, "a b"},
	{arrow.FixedWidthTypes.Boolean, `[true,false,null,true]`, "true false"},
	{arrow.PrimitiveTypes.Int8, `[-1,2,null,-1]`, "-1 2"},
	{arrow.PrimitiveTypes.Int16, `[-1,2,null,-1]`, "-1 2"},
	{arrow.PrimitiveTypes.Int32, `[-1,2,null,-1]`, "-1 2"},
	{arrow.PrimitiveTypes.Int64, `["-9223372036854775808",2,null,"-9223372036854775808"]`, "-9223372036854775808 2"},
	{arrow.PrimitiveTypes.Uint8, `[1,2,null,1]`, "1 2"},
	{arrow.PrimitiveTypes.Uint16, `[1,2,null,1]`, "1 2"},
	{arrow.PrimitiveTypes.Uint32, `[1,2,null,1]`, "1 2"},
	{arrow.PrimitiveTypes.Uint64, `["18446744073709551615",2,null,"18446744073709551615"]`, "18446744073709551615 2"},
	{&arrow.Decimal128Type{Precision: 9, Scale: 2}, `["1.50","-2.00",null,"1.50"]`, "1.50 -2.00"},
	{&arrow.Decimal256Type{Precision: 50, Scale: 2}, `["1.50","-2.00",null,"1.50"]`, "1.50 -2.00"},
	{arrow.FixedWidthTypes.Date32, `["2024-02-29","1969-12-31",null,"2024-02-29"]`, "2024-02-29 1969-12-31"},
	{arrow.FixedWidthTypes.Date64, `["2024-02-29","1969-12-31",null,"2024-02-29"]`, "2024-02-29 1969-12-31"},
	{arrow.FixedWidthTypes.Time32ms, `["12:00:00.5","00:00:00",null,"12:00:00.5"]`, "12:00:00.500 00:00:00.000"},
	{arrow.FixedWidthTypes.Time64us, `["12:00:00.5","00:00:00",null,"12:00:00.5"]`, "12:00:00.500000 00:00:00.000000"},
	{
		&arrow.TimestampType{Unit: arrow.Millisecond},
		`["2024-02-29 12:00:00.5","1969-12-31",null,"2024-02-29 12:00:00.5"]`,
		"2024-02-29T12:00:00.500 1969-12-31T00:00:00.000",
	},
	{arrow.FixedWidthTypes.Timestamp_s, `["2024-02-29 12:00:00Z","1969-12-31",null,"2024-02-29 12:00:00Z"]`, "2024-02-29T12:00:00Z 1969-12-31T00:00:00Z"},
}

func TestCodeOfEveryType(t *testing.T) {
	for _, c := range every {
		t.Run(c.typ.String(), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			a, _, err := array.FromJSON(mem, c.typ, strings.NewReader(c.json))
			require.NoError(t, err)
			defer a.Release()
			require.True(t, HasEquality(c.typ))
			d, err := Code(mem, a)
			require.NoError(t, err)
			defer d.Release()
			require.Equal(t, c.texts, Text(d.Dictionary(), 0)+" "+Text(d.Dictionary(), 1))
			require.Equal(t, 2, d.Dictionary().Len())
			require.True(t, d.IsNull(2))
			require.Equal(t, 0, d.GetValueIndex(3))
			back, err := Plain(mem, d)
			require.NoError(t, err)
			defer back.Release()
			require.True(t, array.Equal(a, back))
			again, err := Code(mem, d)
			require.NoError(t, err)
			again.Release()
		})
	}
}

func TestIndexesOfAllWidths(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	values, _, err := array.FromJSON(mem, arrow.BinaryTypes.String, strings.NewReader(`["a","b"]`))
	require.NoError(t, err)
	defer values.Release()
	for _, width := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64} {
		for _, json := range []string{`[1,0,null,1]`, `[1,2,null]`} {
			index, _, err := array.FromJSON(mem, width, strings.NewReader(json))
			require.NoError(t, err)
			d := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: width, ValueType: values.DataType()}, index, values)
			coded, err := Code(mem, d)
			if json == `[1,2,null]` {
				require.ErrorContains(t, err, "dictionary index 2 is beyond the dictionary of 2 values", width)
			} else {
				require.NoError(t, err)
				require.Equal(t, arrow.INT32, coded.Indices().DataType().ID())
				require.Equal(t, 1, coded.GetValueIndex(3))
				coded.Release()
			}
			index.Release()
			d.Release()
		}
	}
}
