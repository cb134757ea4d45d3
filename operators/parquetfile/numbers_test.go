package parquetfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/operators"
)

// What appendRuns writes is read back by a reader of its own.
func TestRunsOfPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 20).Draw(t, "width")
		var want []uint32
		for range rapid.IntRange(0, 6).Draw(t, "stretches") {
			v := rapid.Uint32Range(0, 1<<width-1).Draw(t, "value")
			for range rapid.IntRange(1, 70).Draw(t, "times") {
				want = append(want, v)
				v = (v + rapid.Uint32Range(0, 1).Draw(t, "step")) & (1<<width - 1)
			}
		}
		b := appendRuns(nil, want, width, rapid.IntRange(8, 40).Draw(t, "least"))
		var got []uint32
		for len(b) > 0 {
			h, n := binary.Uvarint(b)
			b = b[n:]
			if h&1 == 0 {
				var v uint32
				for i := range (width + 7) / 8 {
					v |= uint32(b[i]) << (8 * i)
				}
				b = b[(width+7)/8:]
				for range h >> 1 {
					got = append(got, v)
				}
				continue
			}
			for i := range int(h>>1) * 8 {
				var v uint32
				for k := range width {
					bit := i*width + k
					v |= uint32(b[bit>>3]>>(bit&7)&1) << k
				}
				got = append(got, v)
			}
			b = b[int(h>>1)*width:]
		}
		require.Less(t, len(got)-len(want), 8)
		require.Equal(t, want, append([]uint32(nil), got[:len(want)]...))
	})
}

// numbersCase is a column of each kind of number, by row.
type numbersCase struct {
	rows     int
	distinct int
	nulls    int // a row in so many, 0 for none, 1 for all
	special  bool
}

func (c numbersCase) value(r int) (float64, bool) {
	x := uint64(r)*0x9e3779b97f4a7c15 + 7
	x ^= x >> 29
	if c.nulls > 0 && int(x%uint64(c.nulls)) == 0 {
		return 0, false
	}
	x = x * 0xbf58476d1ce4e5b9 >> 20 % uint64(c.distinct)
	if c.special {
		switch x {
		case 0:
			return math.NaN(), true
		case 1:
			return math.Copysign(0, -1), true
		case 2:
			return 0, true
		case 3:
			return math.Inf(-1), true
		}
	}
	return float64(x) - 5, true
}

func (c numbersCase) source(t testing.TB) *operators.Records {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "double", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "long", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "int", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for r := range c.rows {
		v, ok := c.value(r)
		if !ok {
			for i := range 4 {
				b.Field(i).AppendNull()
			}
			continue
		}
		whole := int64(0)
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			whole = int64(v)
		}
		b.Field(0).(*array.Float64Builder).Append(v)
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprint(v))
		b.Field(2).(*array.Int64Builder).Append(whole << 20)
		b.Field(3).(*array.Int32Builder).Append(int32(-whole))
	}
	record := b.NewRecord()
	defer record.Release()
	reader, err := array.NewRecordReader(schema, []arrow.Record{record})
	require.NoError(t, err)
	defer reader.Release()
	s, err := operators.NewRecords(reader)
	require.NoError(t, err)
	t.Cleanup(s.Release)
	return s
}

// Numbers of few and of many values, with and without nulls, around the sizes at which pages, dictionaries and row groups end, are read
// back by the library, with right statistics, for any batches.
func TestNumbersAreReadBack(t *testing.T) {
	limit := dictionaryBytes / 8
	for _, c := range []numbersCase{
		{rows: 0, distinct: 1}, {rows: 1, distinct: 1}, {rows: 1, distinct: 1, nulls: 1}, {rows: 100, distinct: 1, nulls: 1}, {rows: 9, distinct: 9, special: true},
		{rows: 500, distinct: 1, special: true}, {rows: numberPageRows, distinct: 2}, {rows: numberPageRows + 1, distinct: 5, nulls: 3, special: true},
		{rows: decisionRows - 1, distinct: 1 << 30}, {rows: decisionRows + 1, distinct: 300, nulls: 100, special: true},
		{rows: 2*decisionRows + 77, distinct: 1 << 30, nulls: 2}, {rows: 2*decisionRows + 77, distinct: limit * 4 / 3}, {rows: 2*decisionRows + 77, distinct: limit, nulls: 1000},
		{rows: 2*decisionRows + 77, distinct: 2*limit + 1, nulls: 5}, {rows: maxGroupRows + 5000, distinct: 17, nulls: 7, special: true},
	} {
		if testing.Short() && c.rows > numberPageRows+1 {
			continue
		}
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			s := c.source(t)
			var first []byte
			for _, w := range []writeCase{{workers: 1}, {workers: 2, batch: 7777}} {
				out := filepath.Join(t.TempDir(), "out.parquet")
				annotate(t, s, []string{out}, w)
				b := readFileBytes(t, out)
				if first == nil {
					first = b
					c.check(t, b)
				}
				require.True(t, bytes.Equal(first, b))
			}
		})
	}
}

// check reads a file by the library.
func (c numbersCase) check(t *testing.T, b []byte) {
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	require.Equal(t, int64(c.rows), f.NumRows())
	row := 0
	for _, g := range f.RowGroups() {
		for k, chunk := range g.ColumnChunks()[:4] {
			if k == 1 {
				continue
			}
			r, nulls := row, int64(0)
			least, most, some := math.Inf(1), math.Inf(-1), false
			pages := chunk.Pages()
			for {
				p, err := pages.ReadPage()
				if err != nil {
					break
				}
				values := make([]parquet.Value, p.NumValues())
				n, _ := p.Values().ReadValues(values)
				require.Equal(t, len(values), n)
				for _, got := range values {
					want, ok := c.value(r)
					r++
					require.Equal(t, !ok, got.IsNull(), "row %d", r)
					if !ok {
						nulls++
						continue
					}
					whole := int64(0)
					if !math.IsNaN(want) && !math.IsInf(want, 0) {
						whole = int64(want)
					}
					switch k {
					case 0:
						require.Equal(t, math.Float64bits(want), math.Float64bits(got.Double()), "row %d", r)
					case 2:
						require.Equal(t, whole<<20, got.Int64())
						want = float64(whole << 20)
					case 3:
						require.Equal(t, int32(-whole), got.Int32())
						want = float64(-whole)
					}
					if want == want {
						least, most, some = min(least, want), max(most, want), true
					}
				}
				parquet.Release(p)
			}
			require.NoError(t, pages.Close())
			require.Equal(t, row+int(g.NumRows()), r)
			meta := f.Metadata().RowGroups[len(f.Metadata().RowGroups)-1]
			for i, group := range f.RowGroups() {
				if group == g {
					meta = f.Metadata().RowGroups[i]
				}
			}
			st := meta.Columns[k].MetaData.Statistics
			require.Equal(t, nulls, st.NullCount)
			require.Equal(t, some, len(st.MinValue) > 0)
			if some {
				require.Equal(t, least, numberFrom(k, st.MinValue))
				require.Equal(t, most, numberFrom(k, st.MaxValue))
			}
		}
		row += int(g.NumRows())
	}
	require.Equal(t, c.rows, row)
	src, err := Open(context.Background(), []string{writeFile(t, "again.parquet", b)}, Options{})
	require.NoError(t, err)
	require.NoError(t, src.Verify(context.Background(), 1, nil))
	require.NoError(t, src.Close())
}

func numberFrom(k int, b []byte) float64 {
	switch k {
	case 0:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case 2:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	}
	return float64(int32(binary.LittleEndian.Uint32(b)))
}
