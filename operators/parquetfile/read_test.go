package parquetfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
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
	both, err := Open(context.Background(), append(a.Inputs(), b.Inputs()...), Options{})
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
	want := make([]string, len(rows))
	for i := range rows {
		want[i] = "<null>"
		if i%10 != 0 {
			want[i] = fmt.Sprintf("key number %d", i%40000)
			rows[i].Key = &want[i]
		}
	}
	s := openSource(t, writeRows(t, "fallback.parquet", rows, parquet.DictionaryMaxBytes(20000), parquet.PageBufferSize(10000)))
	for _, batch := range []int{0, 1000, 7777} {
		require.Equal(t, want, columnTexts(t, s, operators.Want{Name: "key", Coded: true}, batch))
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
	_, err := Create(s, []string{t.TempDir() + "/x.parquet"}, SinkOptions{})
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

func TestManySmallRowGroups(t *testing.T) {
	type row struct {
		Key *int32 `parquet:"key,dict"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	var want []string
	for g := range 300 {
		for i := range 1 + g*7%11 {
			want = append(want, fmt.Sprint(g*i))
			_, err := w.Write([]row{{ptr(int32(g * i))}})
			require.NoError(t, err)
		}
		require.NoError(t, w.Flush())
	}
	require.NoError(t, w.Close())
	s := openSource(t, writeFile(t, "many.parquet", b.Bytes()))
	require.Len(t, s.parts, 300)
	require.Equal(t, want, columnTexts(t, s, operators.Want{Name: "key", Coded: true}, 4))
	out := filepath.Join(t.TempDir(), "out.parquet")
	annotate(t, s, []string{out}, writeCase{workers: 4, add: riskColumns()})
	o := openSource(t, out)
	require.Len(t, o.parts, 300)
	require.Equal(t, want, columnTexts(t, o, operators.Want{Name: "key", Coded: true}, 0))
	frequency := columnTexts(t, o, operators.Want{Name: "new_frequency"}, 0)
	for i, f := range frequency {
		if f != strconv.Itoa(i) && o.parts[1].FirstRow() > int64(i) {
			t.Fatalf("row %d has number %s", i, f)
		}
	}
}

// renamed gives column k of a file another name in its schema.
func renamed(t *testing.T, path string, k int, name string) string {
	t.Helper()
	b := readFileBytes(t, path)
	s := openSource(t, path)
	f := s.files[0].footer
	f.top.field(footerSchema).kids[s.files[0].columns[k].elements].set(elementName, thriftText(name))
	n := int64(len(b))
	end := f.append(nil)
	out := append(b[:f.start:n], end...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(end)))
	return writeFile(t, "renamed.parquet", append(out, magic...))
}

func TestColumnsOfTheSameName(t *testing.T) {
	path := renamed(t, writeFile(t, "in.parquet", madeFile{rows: 50, codec: &parquet.Zstd}.bytes(t)), 5, "age")
	s := openSource(t, path)
	require.False(t, s.Schema().HasField("age"))
	require.ErrorContains(t, s.WhyNot("age"), "more than one column of that name")
	_, err := tryColumnTexts(t, s, operators.Want{Name: "age"}, 0)
	require.ErrorContains(t, err, "more than one column of that name")
	require.Len(t, columnTexts(t, s, operators.Want{Name: "name", Coded: true}, 0), 50)
	require.NoError(t, s.Verify(context.Background(), 1, nil))
	out := filepath.Join(t.TempDir(), "out.parquet")
	annotate(t, s, []string{out}, writeCase{add: riskColumns()})
	require.Len(t, openSource(t, out).files[0].columns, len(s.files[0].columns)+5, "both pass through")
	annotate(t, s, []string{out}, writeCase{add: riskColumns(), options: SinkOptions{OnlyListed: true}})
	require.Len(t, openSource(t, out).files[0].columns, len(s.files[0].columns)+3)
}

func TestWantsThatCannotBe(t *testing.T) {
	s := openSource(t, writeFile(t, "in.parquet", madeFile{rows: 5, codec: &parquet.Zstd}.bytes(t)))
	for want, says := range map[operators.Want]string{
		{Name: "tags"}:                "it is nested",
		{Name: "none"}:                "there is no such column",
		{Name: "double", Coded: true}: "cannot be compared",
	} {
		_, err := tryColumnTexts(t, s, want, 0)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, fmt.Sprintf("row group 0, column %q", want.Name))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := s.parts[0].Read(ctx, memory.NewGoAllocator(), nil, 0)
	require.NoError(t, err)
	require.False(t, r.Next())
	require.ErrorIs(t, r.Err(), context.Canceled)
	r.Release()
	require.ErrorIs(t, s.Verify(ctx, 1, nil), context.Canceled)
}
