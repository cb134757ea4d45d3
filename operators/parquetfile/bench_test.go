package parquetfile

import (
	"context"
	"math/rand/v2"
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

// tenColumns is a file of 1 M rows and ten text columns of 2 to 100 categories, odd columns with 2 % nulls.
func tenColumns(b *testing.B) string {
	b.Helper()
	const rows = 1 << 20
	group := parquet.Group{}
	for c := range 10 {
		group[string(rune('a'+c))] = parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	}
	path := filepath.Join(b.TempDir(), "ten.parquet")
	var out strings.Builder
	w := parquet.NewWriter(&out, parquet.NewSchema("ten", group), parquet.Compression(&parquet.Zstd))
	r := rand.New(rand.NewPCG(1, 2))
	for c, column := range w.ColumnWriters() {
		values := make([]parquet.Value, 0, rows)
		for range rows {
			if c%2 == 1 && r.IntN(50) == 0 {
				values = append(values, parquet.Value{}.Level(0, 0, c))
			} else {
				values = append(values, parquet.ByteArrayValue([]byte{'c', byte('a' + r.IntN(2+c*11)%26), byte(r.IntN(1 + c/3))}).Level(0, 1, c))
			}
		}
		for from := 0; from < rows; from += 4096 {
			_, err := column.WriteRowValues(values[from : from+4096])
			require.NoError(b, err)
		}
	}
	require.NoError(b, w.Close())
	return writeFile(b, filepath.Base(path), []byte(out.String()))
}

// BenchmarkCodedRead reads ten dictionary-encoded columns as Arrow dictionary arrays.
func BenchmarkCodedRead(b *testing.B) {
	s := openSource(b, tenColumns(b))
	var want []operators.Want
	for _, f := range s.Schema().Fields() {
		want = append(want, operators.Want{Name: f.Name, Coded: true})
	}
	mem := memory.NewGoAllocator()
	for b.Loop() {
		for _, p := range s.parts {
			r, err := p.Read(context.Background(), mem, want, 0)
			require.NoError(b, err)
			for r.Next() {
			}
			require.NoError(b, r.Err())
			r.Release()
		}
	}
	b.ReportMetric(float64(s.Rows())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkSplice copies the file with no new column, and with two that repeat by class.
func BenchmarkSplice(b *testing.B) {
	path := tenColumns(b)
	mem := memory.NewGoAllocator()
	score, count := array.NewFloat64Builder(mem), array.NewInt32Builder(mem)
	r := rand.New(rand.NewPCG(1, 2))
	for range 1 << 20 {
		k := r.IntN(5000)
		score.Append(float64(k) / 7)
		count.Append(int32(k % 9))
	}
	arrays := []arrow.Array{score.NewArray(), count.NewArray()}
	fields := []arrow.Field{{Name: "score", Type: arrow.PrimitiveTypes.Float64}, {Name: "count", Type: arrow.PrimitiveTypes.Int32}}
	for n, name := range []string{"copy", "one column", "two columns"} {
		b.Run(name, func(b *testing.B) {
			s := openSource(b, path)
			ctx := context.Background()
			parts, _ := s.Parts(ctx)
			for b.Loop() {
				sink, err := Create(s, []string{filepath.Join(b.TempDir(), "out.parquet")}, SinkOptions{})
				require.NoError(b, err)
				var out []operators.Output
				for _, f := range s.Schema().Fields() {
					out = append(out, operators.Output{Field: f, Input: true})
				}
				for _, f := range fields[:n] {
					out = append(out, operators.Output{Field: f})
				}
				_, err = sink.Begin(ctx, parts, out)
				require.NoError(b, err)
				w, err := sink.Part(ctx, 0)
				require.NoError(b, err)
				if n > 0 {
					require.NoError(b, w.Write(nil, arrays[:n], nil))
				}
				require.NoError(b, w.Close())
				require.NoError(b, sink.Commit(ctx, nil))
			}
			b.SetBytes(s.Size())
		})
	}
}
