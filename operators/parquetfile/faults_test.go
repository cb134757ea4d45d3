package parquetfile

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

// The files are described in testdata/README.md.
func TestFilesThatWentWrong(t *testing.T) {
	regions, ages := "n n s s e n s n", "30 30 41 41 52 30 41 63"
	cases := []struct{ file, column, want string }{
		{"01_bool_rle_v1", "v", "true true true true true true true true false false false false"},
		{"01_bool_rle_v2", "v", "true true true true true true true true false false false false"},
		{"02_spark_metadata", "region", regions},
		{"03_kv_chunk_without_value", "age", ages},
		{"03_kv_file_without_value", "age", ages},
		{"04_v2_all_null_snappy", "x", "<null> <null> <null> <null> <null> <null> <null> <null>"},
		{"05_int96_9999", "region", regions},
		{"07_name_empty", "", ages},
		{"16_int32_delta_wide", "id", "-2000000000 2000000000 -2000000000 17"},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			s := openSource(t, filepath.Join("testdata", c.file+".parquet"))
			require.NoError(t, s.Verify(t.Context(), 1, nil))
			want := strings.Fields(c.want)
			require.Equal(t, want, columnTexts(t, s, operators.Want{Name: c.column}, 3))
			if operators.HasEquality(s.Schema().Field(s.Schema().FieldIndices(c.column)[0]).Type) {
				require.Equal(t, want, columnTexts(t, s, operators.Want{Name: c.column, Coded: true}, 3))
			}
			for _, keep := range []func(int64) bool{nil, func(row int64) bool { return row%2 == 1 }} {
				out := filepath.Join(t.TempDir(), "out.parquet")
				annotate(t, s, []string{out}, writeCase{keep: keep, add: riskColumns()})
				o := openSource(t, out)
				require.NoError(t, o.Verify(t.Context(), 1, nil))
				var kept []string
				for i, text := range want {
					if keep == nil || keep(int64(i)) {
						kept = append(kept, text)
					}
				}
				require.Equal(t, kept, columnTexts(t, o, operators.Want{Name: c.column}, 3))
			}
		})
	}
}

func TestKeyValuesWithoutValuePassThrough(t *testing.T) {
	s := openSource(t, "testdata/03_kv_file_without_value.parquet")
	out := filepath.Join(t.TempDir(), "out.parquet")
	annotate(t, s, []string{out}, writeCase{add: riskColumns()})
	values := func(s *Source) (list []thriftValue) {
		for _, kv := range s.files[0].footer.top.field(footerKeyValues).list() {
			if kv.field(2) == nil {
				list = append(list, kv)
			}
		}
		return list
	}
	require.NotEmpty(t, values(s))
	require.Equal(t, values(s), values(openSource(t, out)))
}

// The usual "no end date" of INT96 columns: a category with its text, in microseconds; ordinary columns stay in nanoseconds.
func TestInt96BeyondNanoseconds(t *testing.T) {
	s := openSource(t, "testdata/05_int96_9999.parquet")
	require.Equal(t, &arrow.TimestampType{Unit: arrow.Microsecond}, s.Schema().Field(1).Type)
	for _, p := range s.parts {
		r, err := p.Read(t.Context(), memory.NewGoAllocator(), []operators.Want{{Name: "t", Coded: true}}, 0)
		require.NoError(t, err)
		require.True(t, r.Next())
		d := r.Record().Column(0).(*array.Dictionary)
		require.Equal(t, "9999-12-31T00:00:00.000000", operators.Text(d, 4))
		require.Equal(t, "2020-01-01T00:00:00.000000", operators.Text(d, 5))
		r.Release()
	}
	value := func(days uint32, nanos uint64) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, nanos), days)
	}
	file := func(values ...[]byte) string {
		n := int64(len(values))
		f := forgery{physical: physicalInt96, rows: n, values: n, pages: []forgedPage{{kind: pageData, values: n, body: bytes.Join(values, nil)}}}
		return writeFile(t, "x.parquet", f.bytes())
	}
	fine, late, far := value(unixDay, 1), value(unixDay+2932896, 1000), value(1<<31-1, 0)
	s = openSource(t, file(fine))
	require.Equal(t, []string{"1970-01-01 00:00:00.000000001Z"}, columnTexts(t, s, operators.Want{Name: "x"}, 0))
	s = openSource(t, file(late), file(value(unixDay, 5000))) // one unit for both
	require.Equal(t, []string{"9999-12-31 00:00:00.000001Z", "1970-01-01 00:00:00.000005Z"}, columnTexts(t, s, operators.Want{Name: "x"}, 0))
	s = openSource(t, file(fine, late))
	require.ErrorContains(t, s.WhyNot("x"), "nanoseconds and years outside of 1677 to 2262")
	require.ErrorContains(t, openSource(t, file(far)).WhyNot("x"), "more than 290,000 years")
}

// An output opens whatever its input's footer said of the places of pages, as long as a reader could find them.
func TestWrongPlacesOfPages(t *testing.T) {
	type row struct {
		Key  string `parquet:"key,dict"`
		Size int64  `parquet:"size,dict"`
	}
	rows := make([]row, 500)
	for i := range rows {
		rows[i] = row{string(rune('a' + i%5)), int64(i % 7)}
	}
	good, err := os.ReadFile(writeRows(t, "x.parquet", rows, parquet.PageBufferSize(256)))
	require.NoError(t, err)
	cases := map[string]func(chunk, meta *thriftValue){
		"data before dictionary": func(_, meta *thriftValue) { meta.set(metaData, thriftInt(thriftI64, 4)) },
		"data of zero":           func(_, meta *thriftValue) { meta.set(metaData, thriftInt(thriftI64, 0)) },
		"no dictionary, data at it": func(_, meta *thriftValue) {
			meta.set(metaData, *meta.field(metaDictionary))
			meta.remove(metaDictionary)
		},
		"dictionary of zero": func(_, meta *thriftValue) {
			meta.set(metaData, *meta.field(metaDictionary))
			meta.set(metaDictionary, thriftInt(thriftI64, 0))
		},
		"short":       func(_, meta *thriftValue) { meta.set(metaCompressed, thriftInt(thriftI64, 40)) },
		"long":        func(_, meta *thriftValue) { meta.set(metaCompressed, thriftInt(thriftI64, 1<<40)) },
		"file offset": func(chunk, _ *thriftValue) { chunk.set(chunkOffset, thriftInt(thriftI64, 1<<40)) },
		"index page":  func(_, meta *thriftValue) { meta.set(metaIndex, thriftInt(thriftI64, 1<<40)) },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			s := openSource(t, writeFile(t, "x.parquet", withFooter(t, good, change)))
			out := filepath.Join(t.TempDir(), "out.parquet")
			annotate(t, s, []string{out}, writeCase{add: riskColumns()})
			requireRows(t, out, rows)
		})
	}
}

// requireRows reads a file by the library, with its page indexes.
func requireRows[T any](t *testing.T, path string, want []T) {
	t.Helper()
	b := readFileBytes(t, path)
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	got := make([]T, f.NumRows())
	r := parquet.NewGenericReader[T](f)
	defer r.Close()
	_, err = r.Read(got)
	if err != nil {
		require.ErrorContains(t, err, "EOF")
	}
	require.Equal(t, want, got)
	for _, c := range f.RowGroups()[0].ColumnChunks() {
		pages := c.Pages()
		require.NoError(t, pages.SeekToRow(int64(len(want)-1)))
		require.NoError(t, pages.Close())
	}
}

// withFooter changes what the footer of a file says of each of its chunks.
func withFooter(t *testing.T, good []byte, change func(chunk, meta *thriftValue)) []byte {
	f, err := readFooter(bytes.NewReader(good), int64(len(good)), maxPageBytes)
	require.NoError(t, err)
	for g := range f.groups {
		group, err := f.group(g)
		require.NoError(t, err)
		for i := range group.field(groupColumns).kids {
			chunk := &group.field(groupColumns).kids[i]
			change(chunk, chunk.field(chunkMeta))
		}
		f.groups[g] = group.append(nil)
	}
	b := bytes.Clone(good[:f.start])
	b = f.append(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)-int(f.start)))
	return append(b, magic...)
}

// A page index that is about other places is written anew.
func TestOffsetIndexThatLies(t *testing.T) {
	type row struct {
		Size int64 `parquet:"size,plain"`
	}
	rows := make([]row, 500)
	for i := range rows {
		rows[i].Size = int64(i)
	}
	good, err := os.ReadFile(writeRows(t, "x.parquet", rows, parquet.PageBufferSize(256)))
	require.NoError(t, err)
	bad := bytes.Clone(good)
	withFooter(t, good, func(chunk, _ *thriftValue) {
		at, n := chunk.integer(chunkOffsetIndex, 0), chunk.integer(chunkOffsetIndexLength, 0)
		v, _, err := parseThriftStruct(good[at : at+n])
		require.NoError(t, err)
		require.Greater(t, len(v.field(1).kids), 1)
		for i := range v.field(1).kids { // of the same length as a number
			v.field(1).kids[i].set(1, thriftInt(thriftI64, v.field(1).kids[i].integer(1, 0)^1))
		}
		require.Len(t, v.append(nil), int(n))
		copy(bad[at:], v.append(nil))
	})
	s := openSource(t, writeFile(t, "x.parquet", bad))
	out := filepath.Join(t.TempDir(), "out.parquet")
	annotate(t, s, []string{out}, writeCase{add: riskColumns()})
	b := readFileBytes(t, out)
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	pages := f.RowGroups()[0].ColumnChunks()[0].Pages()
	defer pages.Close()
	require.NoError(t, pages.SeekToRow(437))
	page, err := pages.ReadPage()
	require.NoError(t, err)
	data := page.Data()
	require.EqualValues(t, 437, data.Int64()[0])
}

// UUIDs and intervals are read as people write them.
func TestUUIDsAndIntervals(t *testing.T) {
	id := bytes.Repeat([]byte{0x0f, 0xa1}, 8)
	f := forgery{physical: physicalFixed, fixed: 16, rows: 1, values: 1, pages: []forgedPage{{kind: pageData, values: 1, body: id}}}
	b := f.bytes()
	s := openSource(t, writeFile(t, "x.parquet", withSchema(t, b, func(e *thriftValue) {
		e.set(10, thriftValue{kind: thriftStruct, ids: []int16{logicalUUID}, kids: []thriftValue{{kind: thriftStruct}}})
	})))
	for _, coded := range []bool{false, true} {
		require.Equal(t, []string{"0fa10fa1-0fa1-0fa1-0fa1-0fa10fa10fa1"}, columnTexts(t, s, operators.Want{Name: "x", Coded: coded}, 0))
	}
	var body []byte
	for _, x := range []uint32{14, 3, 4500, 0, 0, 0, 0, 0, 5400000} {
		body = binary.LittleEndian.AppendUint32(body, x)
	}
	f = forgery{physical: physicalFixed, fixed: 12, converted: 22, rows: 3, values: 3, pages: []forgedPage{{kind: pageData, values: 3, body: body}}}
	s = openSource(t, writeFile(t, "x.parquet", f.bytes()))
	r, err := s.parts[0].Read(t.Context(), memory.NewGoAllocator(), []operators.Want{{Name: "x", Coded: true}}, 0)
	require.NoError(t, err)
	defer r.Release()
	require.True(t, r.Next())
	for i, want := range []string{"P1Y2M3DT4.5S", "PT0S", "PT1H30M"} {
		require.Equal(t, want, operators.Text(r.Record().Column(0), i))
	}
}

// withSchema changes the schema element of a forged column.
func withSchema(t *testing.T, b []byte, change func(e *thriftValue)) []byte {
	f, err := readFooter(bytes.NewReader(b), int64(len(b)), maxPageBytes)
	require.NoError(t, err)
	change(&f.top.field(footerSchema).kids[1])
	out := f.append(bytes.Clone(b[:f.start]))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(out)-int(f.start)))
	return append(out, magic...)
}

// Copies of the schema name the new columns, or are dropped.
func TestCopiesOfTheSchema(t *testing.T) {
	s := openSource(t, "testdata/02_spark_metadata.parquet")
	out := filepath.Join(t.TempDir(), "out.parquet")
	score := addition{[]arrow.Field{{Name: "score", Type: arrow.PrimitiveTypes.Float64}}, func(b []array.Builder, row int64) {
		b[0].(*array.Float64Builder).Append(float64(row))
	}}
	annotate(t, s, []string{out}, writeCase{drops: []string{"age"}, add: score})
	top := &openSource(t, out).files[0].footer.top
	spark, avro := keyValue(top, "org.apache.spark.sql.parquet.row.metadata"), keyValue(top, "parquet.avro.schema")
	for _, text := range []string{spark, avro} {
		require.NotContains(t, text, `"age"`)
		require.Contains(t, text, `"region"`)
		require.Contains(t, text, `"score"`)
	}
	annotate(t, s, []string{out}, writeCase{keep: func(row int64) bool { return row > 2 }}) // the columns stay
	same := &openSource(t, out).files[0].footer.top
	for _, key := range []string{"org.apache.spark.sql.parquet.row.metadata", "parquet.avro.schema"} {
		require.Equal(t, keyValue(&s.files[0].footer.top, key), keyValue(same, key))
	}
	l := &layout{columns: []int{0, -1}}
	fields := []arrow.Field{{Name: "a b", Type: arrow.ListOf(arrow.BinaryTypes.String)}}
	f := &file{columns: []column{{name: "x"}}}
	for _, c := range []struct{ key, old, want string }{
		{"org.apache.spark.sql.parquet.row.metadata", `{"fields":[{"name":"x","type":"long"}],"type":"struct"}`,
			`{"fields":[{"name":"x","type":"long"},{"name":"a b","type":{"containsNull":true,"elementType":"string","type":"array"},"nullable":true,"metadata":{}}],"type":"struct"}`},
		{"org.apache.spark.sql.parquet.row.metadata", `{"fields":[{"name":"y"}]}`, ""},
		{"org.apache.spark.sql.parquet.row.metadata", `no JSON`, ""},
		{"parquet.avro.schema", `{"fields":[{"name":"x","type":"long"}],"type":"record"}`, ""},
		{"iceberg.schema", `{"fields":[{"name":"x","id":1}]}`, ""},
		{"writer.model.name", "avro", "avro"},
		{"writer.model.name", "thrift", ""},
		{"org.apache.spark.version", "3.5.1", "3.5.1"},
	} {
		text, kept := l.carryCopy(c.key, c.old, f, fields)
		require.Equal(t, c.want, text, c.key)
		require.Equal(t, c.want != "", kept, c.key)
	}
}

// What the footer says of columns and rows stays behind with them.
func TestDescriptionsOfWhatIsLeftOut(t *testing.T) {
	f := &file{columns: []column{{name: "x"}, {name: "y"}}}
	const pandas = `{"index_columns":["y",{"kind":"range","start":0,"step":1,"stop":9}],"columns":[{"name":"x","field_name":"x"},{"name":"y","field_name":"y"}],"pandas_version":"2"}`
	for _, c := range []struct {
		key, old string
		columns  []int
		want     string
	}{
		{"pandas", pandas, []int{0, 1, -1}, pandas},
		{"pandas", pandas, []int{0, -1}, `{"columns":[{"name":"x","field_name":"x"}],"index_columns":[{"kind":"range","start":0,"step":1,"stop":9}],"pandas_version":"2"}`},
		{"pandas", "{}", []int{0}, "{}"},
		{"pandas", "no JSON", []int{0}, ""},
		{"r", "A\n3", []int{0, 1, -1}, "A\n3"},
		{"r", "A\n3", []int{1, -1}, ""},
	} {
		text, kept := (&layout{columns: c.columns}).carryCopy(c.key, c.old, f, nil)
		require.Equal(t, c.want, text)
		require.Equal(t, c.want != "", kept)
	}
	require.Equal(
		t,
		`{"index_columns":[{"kind":"range","start":2,"step":2,"stop":10}]}`,
		withRows(`{"index_columns":[{"kind":"range","start":2,"stop":100,"step":2}]}`, 4),
	)
	require.Equal(t, `{}`, withRows(`{}`, 4))
}
