package parquetfile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

// recordsOf makes a source of another kind with parts of those sizes.
func recordsOf(t testing.TB, sizes ...int) *operators.Records {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "row", Type: arrow.PrimitiveTypes.Int32}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var records []arrow.Record
	row := 0
	for _, n := range sizes {
		for range n {
			b.Field(0).(*array.Int32Builder).Append(int32(row))
			if row%10 == 0 {
				b.Field(1).AppendNull()
			} else {
				b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("t", row%100))
			}
			row++
		}
		records = append(records, b.NewRecord())
	}
	reader, err := array.NewRecordReader(schema, records)
	require.NoError(t, err)
	defer reader.Release()
	for _, r := range records {
		r.Release()
	}
	s, err := operators.NewRecords(reader)
	require.NoError(t, err)
	t.Cleanup(s.Release)
	return s
}

func TestRowsOfAnotherSourceAreGatheredAndSplit(t *testing.T) {
	s := recordsOf(t, 1000, 0, 2500, 300_000, 10, 20)
	var first []byte
	for _, c := range []writeCase{{workers: 1}, {workers: 3, batch: 999}} {
		out := filepath.Join(t.TempDir(), "out.parquet")
		annotate(t, s, []string{out}, c)
		b, err := os.ReadFile(out)
		require.NoError(t, err)
		if first == nil {
			first = b
		}
		require.True(t, string(first) == string(b), "%+v", c)
		o := openSource(t, out)
		var rows []int64
		for _, p := range o.parts {
			rows = append(rows, p.Rows())
		}
		require.Equal(t, []int64{3500, maxGroupRows, 300_000 - maxGroupRows, 30}, rows)
		texts := columnTexts(t, o, operators.Want{Name: "row"}, 0)
		require.Len(t, texts, 303_530)
		for i, text := range texts {
			if text != fmt.Sprint(i) {
				require.Equal(t, fmt.Sprint(i), text)
			}
		}
	}
}

// A recode hands its column on as codes.
func TestCodedColumnsAreWrittenAsTheirValues(t *testing.T) {
	s := recordsOf(t, 10)
	out := filepath.Join(t.TempDir(), "out.parquet")
	sink, err := Create(s, []string{out}, SinkOptions{})
	require.NoError(t, err)
	defer sink.Abort()
	parts, err := s.Parts(t.Context())
	require.NoError(t, err)
	_, err = sink.Begin(t.Context(), parts, []operators.Output{{Field: arrow.Field{Name: "band", Type: arrow.BinaryTypes.String, Nullable: true}}})
	require.NoError(t, err)
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	b := array.NewDictionaryBuilder(mem, operators.CodedType(arrow.BinaryTypes.String)).(*array.BinaryDictionaryBuilder)
	defer b.Release()
	for i := range 10 {
		if i == 3 {
			b.AppendNull()
			continue
		}
		require.NoError(t, b.AppendString(fmt.Sprint("band ", i%3)))
	}
	bands := b.NewArray()
	defer bands.Release()
	w, err := sink.Part(t.Context(), 0)
	require.NoError(t, err)
	rows := array.NewRecord(arrow.NewSchema(nil, nil), nil, 10)
	defer rows.Release()
	require.NoError(t, w.Write(rows, []arrow.Array{bands}, nil))
	require.NoError(t, w.Close())
	require.NoError(t, sink.Commit(t.Context(), nil))
	texts := columnTexts(t, openSource(t, out), operators.Want{Name: "band"}, 0)
	require.Equal(t, []string{"band 0", "band 1", "band 2", "<null>", "band 1", "band 2", "band 0", "band 1", "band 2", "band 0"}, texts)
}
