package parquetfile

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

var codecs = map[string]compress.Codec{
	"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "brotli": &parquet.Brotli, "zstd": &parquet.Zstd, "lz4_raw": &parquet.Lz4Raw,
}

func TestEveryCodecVersionAndEncodingGivesTheSameValues(t *testing.T) {
	first := openSource(t, writeFile(t, "first.parquet", madeFile{rows: 1000, codec: &parquet.Uncompressed}.bytes(t)))
	require.NoError(t, first.Verify(context.Background(), 2, nil))
	want := map[string][]string{}
	for _, f := range first.Schema().Fields() {
		if !arrow.IsNested(f.Type.ID()) {
			want[f.Name] = columnTexts(t, first, operators.Want{Name: f.Name}, 0)
		}
	}
	require.Len(t, want, 22)
	for i := range 1000 {
		r := nastyRow(i)
		require.Equal(t, fmt.Sprint(r.Wide), want["wide"][i])
		require.Equal(t, strconv.FormatUint(uint64(r.Word), 10), want["word"][i])
		require.Equal(t, r.Deltas, want["deltas"][i])
		require.Equal(t, r.Dotted, want["dotted.name"][i])
		if r.Age == nil {
			require.Equal(t, "<null>", want["age"][i])
		} else {
			require.Equal(t, fmt.Sprint(*r.Age), want["age"][i])
		}
	}
	for name, codec := range codecs {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprintf("%s v%d", name, version), func(t *testing.T) {
				s := openSource(t, writeFile(t, "x.parquet", madeFile{rows: 1000, group: 300, codec: codec, version: version, page: 700}.bytes(t)))
				require.Len(t, s.parts, 4)
				require.NoError(t, s.Verify(context.Background(), 2, nil))
				for column, values := range want {
					f, _ := s.field(column)
					require.Equal(t, values, columnTexts(t, s, operators.Want{Name: column}, 77), column)
					if operators.HasEquality(f.Type) {
						require.Equal(t, values, columnTexts(t, s, operators.Want{Name: column, Coded: true}, 77), column)
						require.Equal(t, values, columnTexts(t, s, operators.Want{Name: column, Coded: true}, 0), column)
					}
				}
			})
		}
	}
}

func TestRowGroupsWithCodecsOfTheirOwn(t *testing.T) {
	a := openSource(t, writeFile(t, "a.parquet", madeFile{rows: 300, codec: &parquet.Snappy}.bytes(t)))
	b := openSource(t, writeFile(t, "b.parquet", madeFile{rows: 300, codec: &parquet.Zstd}.bytes(t)))
	both, err := NewSource(context.Background(), append(a.Inputs(), b.Inputs()...), Options{})
	require.NoError(t, err)
	defer both.Close()
	out := t.TempDir() + "/both.parquet"
	annotate(t, both, []string{out}, writeCase{add: riskColumns()})
	s := openSource(t, out)
	require.EqualValues(t, 600, s.Rows())
	require.NoError(t, s.Verify(context.Background(), 1, nil))
	names := columnTexts(t, s, operators.Want{Name: "name", Coded: true}, 0)
	require.Equal(t, columnTexts(t, a, operators.Want{Name: "name"}, 0), names[:300])
	require.Equal(t, names[:300], names[300:])
}

func TestDictionaryGivenUpInMidChunk(t *testing.T) {
	type row struct {
		Key *string `parquet:"key,dict"`
	}
	rows := make([]row, 60000)
	for i := range rows {
		if i%10 != 0 {
			rows[i].Key = ptr(fmt.Sprintf("key number %d", i%40000))
		}
	}
	s := openSource(t, writeRows(t, "fallback.parquet", rows, parquet.DictionaryMaxBytes(20000), parquet.PageBufferSize(10000)))
	for _, batch := range []int{0, 1000, 7777} {
		got := columnTexts(t, s, operators.Want{Name: "key", Coded: true}, batch)
		for i, r := range rows {
			if r.Key == nil {
				require.Equal(t, "<null>", got[i])
			} else {
				require.Equal(t, *r.Key, got[i])
			}
		}
	}
}

func TestBatchesOfAChunkShareItsDictionary(t *testing.T) {
	type row struct {
		Key string `parquet:"key,dict"`
	}
	rows := make([]row, 100000)
	for i := range rows {
		rows[i].Key = fmt.Sprint("category ", i%40000)
	}
	s := openSource(t, writeRows(t, "wide.parquet", rows))
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	r, err := s.parts[0].Read(context.Background(), mem, []operators.Want{{Name: "key", Coded: true}}, 1000)
	require.NoError(t, err)
	defer r.Release()
	var first arrow.ArrayData
	for r.Next() {
		d := r.Record().Column(0).Data().Dictionary()
		if first == nil {
			first = d
			require.Equal(t, 40000, d.Len())
		}
		require.Same(t, first, d)
	}
	require.NoError(t, r.Err())
}

func TestUnificationOfInputs(t *testing.T) {
	type narrow struct {
		Key  int32  `parquet:"key,dict"`
		Text string `parquet:"text,dict"`
		Only string `parquet:"only"`
	}
	type wide struct {
		Text int64 `parquet:"text"`
		Key  int64 `parquet:"key"`
	}
	a := writeRows(t, "a.parquet", []narrow{{-1, "x", "o"}, {2, "y", "p"}})
	b := writeRows(t, "b.parquet", []wide{{5, math.MaxInt64}, {6, -1}})
	s := openSource(t, a, b)
	require.Equal(t, arrow.PrimitiveTypes.Int64, s.Schema().Field(0).Type)
	require.Equal(t, 1, s.Schema().NumFields())
	for _, coded := range []bool{false, true} {
		require.Equal(t, []string{"-1", "2", strconv.Itoa(math.MaxInt64), "-1"}, columnTexts(t, s, operators.Want{Name: "key", Coded: coded}, 0))
	}
	require.EqualError(t, s.WhyNot("text"), "string in "+a+" and int64 in "+b)
	require.EqualError(t, s.WhyNot("only"), "missing in "+b)
	require.NoError(t, s.WhyNot("nothing"))
	require.EqualValues(t, 0, s.parts[1].FirstRow())
	require.Equal(t, 1, s.parts[1].Input())
	require.Equal(t, b+", row group 0", s.parts[1].String())
	_, err := NewSink(s, []string{t.TempDir() + "/x.parquet"}, SinkOptions{})
	require.ErrorContains(t, err, "one output needs files of the same schema: column")
}

func TestInt96OutsideOfNanosecondsIsAnError(t *testing.T) {
	for _, x := range []int64{math.MinInt64, math.MaxInt64, 0, -1, 1} {
		v := vector{}
		c := conversion{physical: physicalInt96, to: &arrow.TimestampType{Unit: arrow.Nanosecond}, width: 8}
		i := int96(x)
		b := make([]byte, 12)
		for k := range 3 {
			for j := range 4 {
				b[4*k+j] = byte(i[k] >> (8 * j))
			}
		}
		require.NoError(t, c.convert(&v, 1, b, nil))
		require.Equal(t, x, arrow.Int64Traits.CastFromBytes(v.data)[0])
		if x > 1 || x < -1 { // a day further
			day := int32(1)
			if x < 0 {
				day = -1
			}
			d := uint32(int32(i[2]) + day)
			b[8], b[9], b[10], b[11] = byte(d), byte(d>>8), byte(d>>16), byte(d>>24)
			require.ErrorContains(t, c.convert(&v, 1, b, nil), "1677 to 2262")
		}
	}
}
