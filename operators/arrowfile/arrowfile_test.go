package arrowfile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"microrisk/operators"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var coded = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "A", Type: coded, Nullable: true},
	{Name: "B", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
}, nil)

// records are three batches that share a dictionary, as an IPC file wants it.
func records(t *testing.T) []arrow.Record {
	t.Helper()
	values, _, err := array.FromJSON(memory.DefaultAllocator, arrow.BinaryTypes.String, strings.NewReader(`["x","y","unused"]`))
	require.NoError(t, err)
	batch := func(index, rest string) arrow.Record {
		i, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, strings.NewReader(index))
		require.NoError(t, err)
		plain := arrow.NewSchema(schema.Fields()[1:], nil)
		r, _, err := array.RecordFromJSON(memory.DefaultAllocator, plain, strings.NewReader(rest))
		require.NoError(t, err)
		return array.NewRecord(schema, append([]arrow.Array{array.NewDictionaryArray(coded, i, values)}, r.Columns()...), r.NumRows())
	}
	return []arrow.Record{
		batch(`[0,1]`, `[{"B":1,"tags":["p","q"],"at":"2024-01-01 00:00:00Z"},{"B":1,"tags":[],"at":null}]`),
		batch(`[null,0,0]`, `[{"B":2,"tags":null,"at":null},{"B":null,"tags":["r"],"at":null},{"B":1,"tags":null,"at":"2024-01-01 12:00:00Z"}]`),
		batch(`[1]`, `[{"B":1,"tags":null,"at":null}]`),
	}
}

func write(t *testing.T, path string, records []arrow.Record) string {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(records[0].Schema()))
	require.NoError(t, err)
	for _, r := range records {
		require.NoError(t, w.Write(r))
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	return path
}

func stream(t *testing.T, records []arrow.Record, end bool, o ...ipc.Option) []byte {
	t.Helper()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, append(o, ipc.WithSchema(schema))...)
	for _, r := range records {
		require.NoError(t, w.Write(r))
	}
	if end {
		require.NoError(t, w.Close())
	}
	return b.Bytes()
}

var scored = suda.Operator{Key: schemas.Key{Variables: []schemas.KeyVariable{{Name: "A"}, {Name: "B"}}}}

// frequencies are what the six records have.
var frequencies = []int64{2, 2, 1, 1, 2, 2}

func check(t *testing.T, source operators.Source, path string) {
	t.Helper()
	back, err := Open(t.Context(), []string{path}, Options{})
	require.NoError(t, err)
	defer back.Close()
	for _, f := range source.Schema().Fields() {
		g, ok := back.Schema().FieldsByName(f.Name)
		require.True(t, ok)
		require.True(t, arrow.TypeEqual(f.Type, g[0].Type), f.Name)
	}
	var got []int64
	parts, err := back.Parts(t.Context())
	require.NoError(t, err)
	for _, p := range parts {
		r, err := p.Read(t.Context(), memory.DefaultAllocator, []operators.Want{{Name: "sample_frequency"}, {Name: "tags"}, {Name: "A"}}, 0)
		require.NoError(t, err)
		for r.Next() {
			got = append(got, r.Record().Column(0).(*array.Int64).Int64Values()...)
		}
		require.NoError(t, r.Err())
		r.Release()
	}
	require.Equal(t, frequencies, got)
}

func run(t *testing.T, source operators.Source, sink operators.Sink, workers int) error {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	chain, err := operators.NewChain(source.Schema(), scored)
	require.NoError(t, err)
	_, err = chain.Run(t.Context(), source, sink, operators.Options{Workers: workers, Allocator: mem, Batch: 2})
	return err
}

func TestFileToFile(t *testing.T) {
	dir := t.TempDir()
	in, out := write(t, filepath.Join(dir, "in.arrow"), records(t)), filepath.Join(dir, "out.arrow")
	var first []byte
	for workers := 1; workers <= 3; workers++ {
		source, err := Open(t.Context(), []string{in}, Options{})
		require.NoError(t, err)
		sink, err := Create(source, []string{out})
		require.NoError(t, err)
		chain, err := operators.NewChain(source.Schema(), scored)
		require.NoError(t, err)
		_, err = chain.Run(t.Context(), source, sink, operators.Options{Workers: workers, Batch: workers - 1})
		require.NoError(t, err)
		check(t, source, out)
		require.NoError(t, source.Close())
		b, err := os.ReadFile(out)
		require.NoError(t, err)
		if first == nil {
			first = b
		}
		require.Equal(t, first, b, "the same bytes for any number of workers and size of batches")
	}
}

func TestStreamToStream(t *testing.T) {
	for _, memory := range []int64{0, 1 << 20} {
		dir := t.TempDir()
		source, err := NewStreamSource(t.Context(), bytes.NewReader(stream(t, records(t), true)), StreamOptions{Memory: memory, TempDir: dir})
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, run(t, source, NewStreamSink(&b), 2))
		require.NoError(t, source.Close())
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
		r, err := ipc.NewReader(&b)
		require.NoError(t, err)
		var got []int64
		for r.Next() {
			got = append(got, r.Record().Column(4).(*array.Int64).Int64Values()...)
		}
		require.Equal(t, frequencies, got)
		r.Release()
	}
}

// breakStream cuts a stream off after, and flips bits in, every byte.
func breakStream(t *testing.T, whole []byte) {
	t.Helper()
	dir := t.TempDir()
	for n := range len(whole) {
		cut, err := NewStreamSource(t.Context(), bytes.NewReader(whole[:n]), StreamOptions{TempDir: dir})
		if err == nil {
			require.NoError(t, cut.Close())
		}
		flipped := bytes.Clone(whole)
		flipped[n] ^= 0x41
		if s, err := NewStreamSource(t.Context(), bytes.NewReader(flipped), StreamOptions{TempDir: dir}); err == nil {
			if _, ok := s.Schema().FieldsByName("A"); ok {
				if chain, err := operators.NewChain(s.Schema(), scored); err == nil {
					chain.Run(t.Context(), s, nil, operators.Options{})
				}
			}
			require.NoError(t, s.Close())
		}
	}
}

func TestBrokenInputs(t *testing.T) {
	dir := t.TempDir()
	for _, o := range [][]ipc.Option{nil, {ipc.WithZstd()}} {
		breakStream(t, stream(t, records(t), true, o...))
	}
	open, err := NewStreamSource(t.Context(), bytes.NewReader(stream(t, records(t), false)), StreamOptions{})
	require.NoError(t, err)
	require.Len(t, open.Warnings(), 1)
	require.Contains(t, open.Warnings()[0], "after 6 rows without an end marker")
	require.NoError(t, open.Close())
	_, err = NewStreamSource(t.Context(), bytes.NewReader(append(stream(t, records(t), true), 0)), StreamOptions{})
	require.ErrorContains(t, err, "bytes follow the end marker")
	_, err = NewStreamSource(t.Context(), bytes.NewReader(make([]byte, 1<<20)), StreamOptions{})
	require.Error(t, err)
	_, err = NewStreamSource(t.Context(), strings.NewReader(""), StreamOptions{})
	require.ErrorContains(t, err, "standard input is empty")
	_, err = NewStreamSource(t.Context(), strings.NewReader("PAR1xxxx"), StreamOptions{})
	require.ErrorContains(t, err, "Parquet file")
	_, err = NewStreamSource(t.Context(), strings.NewReader("a,b\n1,2\n"), StreamOptions{})
	require.Error(t, err)

	path := write(t, filepath.Join(dir, "in.arrow"), records(t))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	broken := filepath.Join(dir, "broken.arrow")
	for n := range len(file) {
		flipped := bytes.Clone(file)
		flipped[n] ^= 0x41
		for _, b := range [][]byte{file[:n], flipped} {
			require.NoError(t, os.WriteFile(broken, b, 0o600))
			s, err := Open(t.Context(), []string{broken}, Options{})
			if err != nil {
				require.Contains(t, err.Error(), "broken.arrow")
				continue
			}
			if chain, err := operators.NewChain(s.Schema(), scored); err == nil {
				chain.Run(t.Context(), s, nil, operators.Options{})
			}
			s.Close()
		}
	}
	_, err = Open(t.Context(), []string{filepath.Join(dir, "none.arrow")}, Options{})
	require.ErrorContains(t, err, "none.arrow: there is no such file")
}

func TestSeveralInputs(t *testing.T) {
	dir := t.TempDir()
	all := records(t)
	a, b := write(t, filepath.Join(dir, "a.arrow"), all[:1]), write(t, filepath.Join(dir, "b.arrow"), all[1:])
	source, err := Open(t.Context(), []string{a, b}, Options{})
	require.NoError(t, err)
	defer source.Close()
	sink, err := Create(source, []string{filepath.Join(dir, "all.arrow")})
	require.NoError(t, err)
	require.NoError(t, run(t, source, sink, 2))
	check(t, source, filepath.Join(dir, "all.arrow"))
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewStreamSource(ctx, bytes.NewReader(stream(t, records(t), true)), StreamOptions{})
	require.ErrorIs(t, err, context.Canceled)
}
