package parquetfile

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

// textsOf are the values of the wanted columns of a part, as texts.
func textsOf(t *testing.T, p operators.Part, want []operators.Want, batch int) (rows []string) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	r, err := p.Read(t.Context(), mem, want, batch)
	require.NoError(t, err)
	defer r.Release()
	for r.Next() {
		record := r.Record()
		for i := range int(record.NumRows()) {
			row := ""
			for _, c := range record.Columns() {
				text := "null"
				if c.IsValid(i) {
					text = operators.Text(c, i)
				}
				row += text + "|"
			}
			rows = append(rows, row)
		}
	}
	require.NoError(t, r.Err())
	require.Len(t, rows, int(p.Rows()))
	return rows
}

// The pieces of a row group are its rows, whatever the type, the encoding and the pages: with and without nulls, and where the dictionary was given up.
func TestPiecesAreThePart(t *testing.T) {
	for _, version := range []int{1, 2} {
		rows := make([]nasty, 3000)
		for i := range rows {
			rows[i] = nastyRow(i)
		}
		path := writeRows(
			t,
			fmt.Sprintf("v%d.parquet", version),
			rows,
			parquet.DataPageVersion(version),
			parquet.PageBufferSize(300),
			parquet.DictionaryMaxBytes(4000),
		)
		source := openSource(t, path)
		parts, err := source.Parts(t.Context())
		require.NoError(t, err)
		require.Len(t, parts, 1)
		var want []operators.Want
		for _, f := range source.Schema().Fields() {
			if !source.files[0].column(f.Name).nested {
				want = append(want, operators.Want{Name: f.Name, Coded: operators.HasEquality(f.Type)})
			}
		}
		whole := textsOf(t, parts[0], want, 700)
		divided := parts[0].(operators.Divisible).Divide(want, 7)
		require.Greater(t, len(divided), 3)
		var pieces []string
		first := int64(0)
		for _, p := range divided {
			require.Equal(t, first, p.FirstRow())
			first += p.Rows()
			pieces = append(pieces, textsOf(t, p, want, 100)...)
		}
		require.Equal(t, whole, pieces)
		r := rand.New(rand.NewPCG(uint64(version), 4))
		for range 60 {
			from := r.Int64N(3000)
			n := 1 + r.Int64N(3000-from)
			p := &piece{parts[0].(*part), from, n}
			require.Equal(t, whole[from:from+n], textsOf(t, p, want, 1+r.IntN(500)), "%d rows from %d", n, from)
		}
	}
}

// A row group of few large pages is not divided: each piece would decode them anew.
func TestLargePagesAreNotDivided(t *testing.T) {
	rows := make([]nasty, 3000)
	for i := range rows {
		rows[i] = nastyRow(i)
	}
	source := openSource(t, writeRows(t, "large.parquet", rows))
	parts, err := source.Parts(t.Context())
	require.NoError(t, err)
	for _, column := range []string{"age", "plain", "tags"} {
		require.Len(t, parts[0].(operators.Divisible).Divide([]operators.Want{{Name: column}}, 4), 1, column)
	}
}

// A chain that divides a row group for its many workers counts what one worker counts.
func TestManyWorkersOfOneRowGroup(t *testing.T) {
	type row struct {
		A *int32 `parquet:"a,dict"`
		B string `parquet:"b,dict"`
	}
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]row, 2*operators.PieceRows+1000)
	for i := range rows {
		if rows[i].B = fmt.Sprint("b", r.IntN(1000)); r.IntN(5) > 0 {
			rows[i].A = ptr(int32(r.ExpFloat64() * 300))
		}
	}
	source := openSource(t, writeRows(t, "one.parquet", rows, parquet.PageBufferSize(20_000)))
	key := schemas.Key{Variables: []schemas.KeyVariable{{Name: "a"}, {Name: "b"}}}
	var first any
	for _, workers := range []int{1, 2, 9} {
		chain, err := operators.NewChain(source.Schema(), suda.Operator{Key: key, Config: suda.Config{}})
		require.NoError(t, err)
		report, err := chain.Run(t.Context(), source, nil, operators.Options{Workers: workers})
		require.NoError(t, err)
		if first == nil {
			first = report.Operators[0].Summary
		}
		require.Equal(t, first, report.Operators[0].Summary)
	}
}
