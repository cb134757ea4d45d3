package arrowfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/frequency"
	"microrisk/schemas"
)

// kinds are columns of three rows and more that the library writes: what they are, as JSON.
var kinds = map[string]struct {
	typ  arrow.DataType
	json string
	key  bool
}{
	"string":      {arrow.BinaryTypes.String, `["a",null,"b","a","long enough not to be held in a view"]`, true},
	"large":       {arrow.BinaryTypes.LargeString, `["a",null,"b","a","long enough not to be held in a view"]`, true},
	"view":        {arrow.BinaryTypes.StringView, `["a",null,"b","a","long enough not to be held in a view"]`, true},
	"bytes view":  {arrow.BinaryTypes.BinaryView, `["YQ==",null,"Yg==","YQ==","bG9uZyBlbm91Z2ggbm90IHRvIGJlIGhlbGQ="]`, true},
	"runs":        {arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), `["a","a",null,null,"b"]`, true},
	"runs of int": {arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64), `[1,1,1,null,2]`, true},
	"list":        {arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1,2],null,[],[3],[4,5,6]]`, false},
	"large list":  {arrow.LargeListOf(arrow.BinaryTypes.String), `[["x"],null,[],["y",null],["z"]]`, false},
	"list view":   {arrow.ListViewOf(arrow.PrimitiveTypes.Int32), `[[1,2],[],[3],[4,5,6],[]]`, false},
	"struct": {
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.StringView, Nullable: true}),
		`[{"a":"x"},null,{"a":null},{"a":"y"},{"a":"z"}]`,
		false,
	},
	"views":      {arrow.ListOf(arrow.BinaryTypes.StringView), `[["x","y"],null,[],[null],["long enough not to be held in a view"]]`, false},
	"fixed list": {arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), `[[1,2],[3,4],null,[5,6],[7,8]]`, false},
	"boolean":    {arrow.FixedWidthTypes.Boolean, `[true,false,null,true,true]`, true},
	"null":       {arrow.Null, `[null,null,null,null,null]`, false},
	"decimal":    {&arrow.Decimal128Type{Precision: 10, Scale: 2}, `["1.00",null,"2.50","1.00","3.00"]`, true},
	"map": {
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32),
		`[[{"key":"a","value":1}],null,[],[{"key":"b","value":2}],[{"key":"c","value":null}]]`,
		false,
	},
}

// columnOf is a record of a column.
func columnOf(t *testing.T, typ arrow.DataType, text string) arrow.Record {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(text))
	require.NoError(t, err)
	return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "c", Type: typ, Nullable: true}}, nil), []arrow.Array{a}, int64(a.Len()))
}

// values are the rows of a column as JSON, read from a source.
func values(t *testing.T, s operators.Source, batch int) string {
	t.Helper()
	parts, err := s.Parts(t.Context())
	require.NoError(t, err)
	var rows []string
	for _, p := range parts {
		r, err := p.Read(t.Context(), memory.DefaultAllocator, []operators.Want{{Name: "c"}}, batch)
		require.NoError(t, err)
		for r.Next() {
			c := r.Record().Column(0)
			require.True(t, arrow.TypeEqual(s.Schema().Field(0).Type, c.DataType()), "%s is not %s", c.DataType(), s.Schema().Field(0).Type)
			for i := range c.Len() {
				rows = append(rows, fmt.Sprint(c.IsNull(i), " ", c.ValueStr(i)))
			}
		}
		require.NoError(t, r.Err())
		r.Release()
	}
	return strings.Join(rows, "\n")
}

func TestEveryTypeIsRead(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			record := columnOf(t, k.typ, k.json)
			want := values(t, sourceOf(t, columnOf(t, plainType(k.typ), k.json)), 0)
			for _, o := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}} {
				path := filepath.Join(dir, "in.arrow")
				f, err := os.Create(path)
				require.NoError(t, err)
				w, err := ipc.NewFileWriter(f, append(o, ipc.WithSchema(record.Schema()))...)
				require.NoError(t, err)
				pieces, again := []arrow.Record{record.NewSlice(0, 5), record.NewSlice(0, 0), record.NewSlice(1, 4)}, 1
				if name == "list view" { // the library does not write slices of one
					pieces, again = []arrow.Record{record}, 4
				}
				for _, r := range pieces {
					require.NoError(t, w.Write(r))
				}
				require.NoError(t, w.Close())
				require.NoError(t, f.Close())
				s, err := Open(t.Context(), []string{path}, Options{})
				require.NoError(t, err)
				lines := strings.Split(want, "\n")
				all := strings.Join(append(append([]string{}, lines...), lines[again:4]...), "\n")
				for _, batch := range []int{0, 1, 2} {
					require.Equal(t, all, values(t, s, batch))
				}
				out := filepath.Join(dir, "out.arrow")
				sink, err := Create(s, []string{out})
				require.NoError(t, err)
				var list []operators.Operator
				if k.key {
					list = append(list, frequency.Operator{Key: schemas.Key{Variables: []schemas.KeyVariable{{Name: "c"}}}})
				}
				chain, err := operators.NewChain(s.Schema(), list...)
				require.NoError(t, err)
				_, err = chain.Run(t.Context(), s, sink, operators.Options{Batch: 2})
				require.NoError(t, err)
				require.NoError(t, s.Close())
				back, err := Open(t.Context(), []string{out}, Options{})
				require.NoError(t, err)
				require.Equal(t, all, values(t, back, 0))
				require.NoError(t, back.Close())
			}
		})
	}
}

func sourceOf(t *testing.T, r arrow.Record) operators.Source {
	t.Helper()
	reader, err := array.NewRecordReader(r.Schema(), []arrow.Record{r})
	require.NoError(t, err)
	s, err := operators.NewRecords(reader)
	require.NoError(t, err)
	return s
}

// dictionaries are a stream whose dictionary is replaced, and grows.
func dictionaries(t *testing.T, o ...ipc.Option) []byte {
	t.Helper()
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: typ, Nullable: true}}, nil)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, append(o, ipc.WithSchema(s))...)
	for _, batch := range [][2]string{{`["x","y"]`, `[0,1,null]`}, {`["x","y","z"]`, `[2,0]`}, {`["z","x"]`, `[0,1,1]`}} {
		values, _, err := array.FromJSON(memory.DefaultAllocator, arrow.BinaryTypes.String, strings.NewReader(batch[0]))
		require.NoError(t, err)
		index, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, strings.NewReader(batch[1]))
		require.NoError(t, err)
		require.NoError(t, w.Write(array.NewRecord(s, []arrow.Array{array.NewDictionaryArray(typ, index, values)}, int64(index.Len()))))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestDictionariesThatChange(t *testing.T) {
	for _, o := range [][]ipc.Option{nil, {ipc.WithDictionaryDeltas(true)}} {
		s, err := NewStreamSource(t.Context(), bytes.NewReader(dictionaries(t, o...)), StreamOptions{})
		require.NoError(t, err)
		want := "false x\nfalse y\ntrue (null)\nfalse z\nfalse x\nfalse z\nfalse x\nfalse x"
		require.Equal(t, want, values(t, s, 2))
		out := filepath.Join(t.TempDir(), "out.arrow")
		sink, err := Create(s, []string{out})
		require.NoError(t, err)
		chain, err := operators.NewChain(s.Schema())
		require.NoError(t, err)
		_, err = chain.Run(t.Context(), s, sink, operators.Options{})
		require.NoError(t, err)
		back, err := Open(t.Context(), []string{out}, Options{})
		require.NoError(t, err)
		require.Equal(t, want, values(t, back, 0))
		require.NoError(t, back.Close())
		require.NoError(t, s.Close())
	}
}

func TestFilesWithOtherDictionaries(t *testing.T) {
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	dir := t.TempDir()
	var paths []string
	for i, text := range []string{`["x","y"]`, `["y","z"]`} {
		list, _, err := array.FromJSON(memory.DefaultAllocator, arrow.BinaryTypes.String, strings.NewReader(text))
		require.NoError(t, err)
		index, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, strings.NewReader(`[0,1,null]`))
		require.NoError(t, err)
		a := array.NewDictionaryArray(typ, index, list)
		r := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "c", Type: typ, Nullable: true}}, nil), []arrow.Array{a}, 3)
		paths = append(paths, write(t, filepath.Join(dir, fmt.Sprint(i, ".arrow")), []arrow.Record{r}))
	}
	s, err := Open(t.Context(), paths, Options{})
	require.NoError(t, err)
	defer s.Close()
	out := filepath.Join(dir, "out.arrow")
	sink, err := Create(s, []string{out})
	require.NoError(t, err)
	chain, err := operators.NewChain(s.Schema())
	require.NoError(t, err)
	_, err = chain.Run(t.Context(), s, sink, operators.Options{})
	require.NoError(t, err)
	back, err := Open(t.Context(), []string{out}, Options{})
	require.NoError(t, err)
	defer back.Close()
	require.Equal(t, "false x\nfalse y\ntrue (null)\nfalse y\nfalse z\ntrue (null)", values(t, back, 0))
}

// Small files that claim much are refused, by the column, or read in pieces.
func TestSmallFilesThatClaimMuch(t *testing.T) {
	const rows = 50_000_000
	path := filepath.Join(t.TempDir(), "in.arrow")
	put := func(typ arrow.DataType, a arrow.Array, o ...ipc.Option) *Source {
		f, err := os.Create(path)
		require.NoError(t, err)
		s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: typ, Nullable: true}}, nil)
		w, err := ipc.NewFileWriter(f, append(o, ipc.WithSchema(s))...)
		require.NoError(t, err)
		require.NoError(t, w.Write(array.NewRecord(s, []arrow.Array{a}, int64(a.Len()))))
		require.NoError(t, w.Close())
		require.NoError(t, f.Close())
		source, err := Open(t.Context(), []string{path}, Options{Memory: 16 << 20})
		require.NoError(t, err)
		return source
	}
	count := func(s *Source) (int64, error) {
		defer s.Close()
		parts, err := s.Parts(t.Context())
		require.NoError(t, err)
		r, err := parts[0].Read(t.Context(), memory.DefaultAllocator, []operators.Want{{Name: "c"}}, 0)
		require.NoError(t, err)
		defer r.Release()
		n := int64(0)
		for r.Next() {
			require.LessOrEqual(t, r.Record().NumRows(), int64(mostRows))
			n += r.Record().NumRows()
		}
		return n, r.Err()
	}
	n, err := count(put(arrow.Null, array.NewNull(rows)))
	require.NoError(t, err)
	require.EqualValues(t, rows, n)

	ends, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32, strings.NewReader(fmt.Sprintf("[%d]", rows)))
	require.NoError(t, err)
	value, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, strings.NewReader("[7]"))
	require.NoError(t, err)
	n, err = count(put(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8), array.NewRunEndEncodedArray(ends, value, rows, 0)))
	require.NoError(t, err)
	require.EqualValues(t, rows, n)

	zeros := array.NewInt8Data(array.NewData(arrow.PrimitiveTypes.Int8, rows, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, rows))}, nil, 0, 0))
	for _, o := range []ipc.Option{ipc.WithZstd(), ipc.WithLZ4()} {
		_, err = count(put(arrow.PrimitiveTypes.Int8, zeros, o))
		require.ErrorContains(t, err, `column "c": a record batch, which may take a part of the memory allowed, needs about`)
	}
}

// FuzzFile reads changed files.
func FuzzFile(f *testing.F) {
	t := &testing.T{}
	for _, k := range kinds {
		for _, o := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}} {
			record := columnOf(t, k.typ, k.json)
			var b writeSeeker
			w, err := ipc.NewFileWriter(&b, append(o, ipc.WithSchema(record.Schema()))...)
			if err != nil {
				f.Fatal(err)
			}
			if err := w.Write(record); err != nil {
				f.Fatal(err)
			}
			w.Close()
			f.Add(b.Bytes())
		}
	}
	path := filepath.Join(f.TempDir(), "in.arrow")
	f.Fuzz(func(t *testing.T, content []byte) {
		require.NoError(t, os.WriteFile(path, content, 0o600))
		s, err := Open(t.Context(), []string{path}, Options{Memory: 8 << 20})
		if err == nil {
			readAll(t, s)
			require.NoError(t, s.Close())
		}
	})
}

// FuzzStream reads changed streams.
func FuzzStream(f *testing.F) {
	t := &testing.T{}
	f.Add(dictionaries(t))
	f.Add(dictionaries(t, ipc.WithDictionaryDeltas(true)))
	for _, k := range kinds {
		record := columnOf(t, k.typ, k.json)
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(record.Schema()))
		if err := w.Write(record); err != nil {
			f.Fatal(err)
		}
		w.Close()
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := NewStreamSource(t.Context(), bytes.NewReader(content), StreamOptions{Memory: 1 << 20, Most: 8 << 20})
		if err == nil {
			readAll(t, s)
			require.NoError(t, s.Close())
		}
	})
}

// readAll reads all columns, some rows of them; what is wrong is an error.
func readAll(t *testing.T, s operators.Source) {
	t.Helper()
	parts, err := s.Parts(t.Context())
	require.NoError(t, err)
	var want []operators.Want
	for _, f := range s.Schema().Fields() {
		want = append(want, operators.Want{Name: f.Name, Coded: operators.HasEquality(f.Type)})
	}
	for _, p := range parts {
		r, err := p.Read(t.Context(), memory.DefaultAllocator, want, 0)
		if err != nil {
			continue
		}
		for n := 0; n < 10 && r.Next(); n++ {
			for _, c := range r.Record().Columns() {
				for i := range min(c.Len(), 100) {
					if c.IsValid(i) {
						_ = operators.Text(c, i)
					}
				}
			}
		}
		r.Release()
	}
}

// A writeSeeker is a file in memory that is written from front to back.
type writeSeeker struct{ bytes.Buffer }

func (w *writeSeeker) Seek(int64, int) (int64, error) { return int64(w.Len()), nil }
