package objects

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
)

const (
	keyColumns = 5
	allColumns = 42
	fileRows   = 80_000
	groupRows  = 20_000
)

// wide is a Parquet file of 42 columns: 5 with few categories among 37 of random numbers.
var wide = sync.OnceValue(func() []byte {
	group := parquet.Group{}
	name := func(i int) string {
		if i%9 == 4 && i/9 < keyColumns {
			return fmt.Sprintf("c%02d_key%d", i, i/9)
		}
		return fmt.Sprintf("c%02d_number", i)
	}
	isKey := func(i int) bool { return i%9 == 4 && i/9 < keyColumns }
	for i := range allColumns {
		if isKey(i) {
			group[name(i)] = parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.RLEDictionary)
		} else {
			group[name(i)] = parquet.Leaf(parquet.DoubleType)
		}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("wide", group))
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]parquet.Row, 0, 1000)
	for r := range fileRows {
		row := make(parquet.Row, allColumns)
		for i := range allColumns {
			if isKey(i) {
				row[i] = parquet.Int64Value(random.Int64N(int64(3+i%7))).Level(0, 0, i)
			} else {
				row[i] = parquet.DoubleValue(random.Float64()).Level(0, 0, i)
			}
		}
		rows = append(rows, row)
		if len(rows) == cap(rows) {
			if _, err := w.WriteRows(rows); err != nil {
				panic(err)
			}
			rows = rows[:0]
		}
		if (r+1)%groupRows == 0 {
			if err := w.Flush(); err != nil {
				panic(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
})

// keys are the flags of the key of wide.
const keys = "c04_key0,c13_key1,c22_key2,c31_key3,c40_key4"

// keyBytes are the bytes of the column chunks of the key, and of what follows all chunks: indexes and footer.
func keyBytes(t *testing.T, file []byte) (chunks, rest int64) {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	end := int64(0)
	for _, g := range f.Metadata().RowGroups {
		for i, c := range g.Columns {
			if i%9 == 4 && i/9 < keyColumns {
				chunks += c.MetaData.TotalCompressedSize
			}
			from := c.MetaData.DataPageOffset
			if d := c.MetaData.DictionaryPageOffset; d > 0 {
				from = min(from, d)
			}
			end = max(end, from+c.MetaData.TotalCompressedSize)
		}
	}
	return chunks, int64(len(file)) - end
}

// sameRows compares two files by their values.
func sameRows(t *testing.T, a, b []byte) {
	t.Helper()
	x, err := parquet.OpenFile(bytes.NewReader(a), int64(len(a)))
	require.NoError(t, err)
	y, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	require.Equal(t, x.Schema().String(), y.Schema().String())
	require.Equal(t, x.NumRows(), y.NumRows())
	require.Len(t, y.RowGroups(), len(x.RowGroups()))
	for g := range x.RowGroups() {
		for c := range x.RowGroups()[g].ColumnChunks() {
			p, q := x.RowGroups()[g].ColumnChunks()[c].Pages(), y.RowGroups()[g].ColumnChunks()[c].Pages()
			for {
				u, errU := p.ReadPage()
				v, errV := q.ReadPage()
				require.Equal(t, errU, errV)
				if errU != nil {
					break
				}
				n := u.NumValues()
				require.Equal(t, n, v.NumValues())
				k, l := make([]parquet.Value, n), make([]parquet.Value, n)
				_, _ = u.Values().ReadValues(k)
				_, _ = v.Values().ReadValues(l)
				require.True(t, slices.EqualFunc(k, l, parquet.Equal), "row group %d, column %d", g, c)
			}
			require.NoError(t, p.Close())
			require.NoError(t, q.Close())
		}
	}
}

// annotated is what a run makes of a file on this machine.
func annotated(t *testing.T, file []byte, flags ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet")
	require.NoError(t, os.WriteFile(in, file, 0o644))
	status, said := run(t, slices.Concat([]string{"assess", in, "--key", keys, "--fraction", "0.1", "--quiet", "--out", out}, flags)...)
	require.Zero(t, status, said)
	made, err := os.ReadFile(out)
	require.NoError(t, err)
	return made
}

func bodies(list []*request) (got, sent int64) {
	for _, r := range list {
		got, sent = got+r.got, sent+r.sent
	}
	return got, sent
}

// An assessment of 5 of 42 columns reads these, footer and indexes; the rest is copied where it is.
func TestOnlyWhatIsNeededIsRead(t *testing.T) {
	f, b := s3Server(t)
	file := wide()
	in := b.put("in.parquet", file)
	chunks, rest := keyBytes(t, file)
	const begin = 256 << 10

	f.take()
	status, said := run(t, "inspect", in, "--key", keys, "--quiet")
	require.Zero(t, status, said)
	list := f.take()
	got, sent := bodies(list)
	t.Logf("count: file %d, key chunks %d, indexes and footer %d: got %d, sent %d in %d requests", len(file), chunks, rest, got, sent, len(list))
	require.LessOrEqual(t, got, chunks+begin+2000, told(list))
	require.LessOrEqual(t, len(list), 1+4*keyColumns+5, told(list))

	status, said = run(t, "assess", in, "--key", keys, "--fraction", "0.1", "--quiet", "--out", b.path("out.parquet"))
	require.Zero(t, status, said)
	list = f.take()
	got, sent = bodies(list)
	t.Logf("annotate: got %d, sent %d in %d requests", got, sent, len(list))
	want := annotated(t, file)
	sameRows(t, want, b.get("out.parquet"))
	require.LessOrEqual(t, got, chunks+begin+4000, told(list))
	require.LessOrEqual(t, sent, int64(len(want)-len(file))+rest+4000, "what is new, and a footer")
	require.Equal(t, []string{"in.parquet", "out.parquet"}, b.keys())
	require.Empty(t, b.uploads())

	f.spoiling(func(w http.ResponseWriter, r *http.Request, _ int) bool { // a store without copies
		if r.Header.Get("X-Amz-Copy-Source") == "" {
			return false
		}
		w.WriteHeader(http.StatusNotImplemented)
		fmt.Fprint(w, "<Error><Code>NotImplemented</Code></Error>")
		return true
	})
	other := copied(t, b, "other", file)
	f.take()
	status, said = run(t, "assess", other.path("in.parquet"), "--key", keys, "--fraction", "0.1", "--quiet", "--out", other.path("out.parquet"))
	require.Zero(t, status, said)
	list = f.take()
	got, sent = bodies(list)
	t.Logf("annotate without copies: got %d, sent %d in %d requests", got, sent, len(list))
	sameRows(t, want, other.get("out.parquet"))
	require.LessOrEqual(t, got, int64(len(file))+begin+4000, "nothing is read twice")
}

// copied is another bucket with a file.
func copied(t *testing.T, b *testBucket, name string, file []byte) *testBucket {
	t.Helper()
	other := &testBucket{t, b.c, b.name + "-" + name}
	_, err := b.c.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &other.name})
	require.NoError(t, err)
	other.put("in.parquet", file)
	return other
}

// Rows and columns that leave the output leave it too where the rest is copied.
func TestLessIsWritten(t *testing.T) {
	_, b := s3Server(t)
	in := b.put("in.parquet", wide())
	local := t.TempDir()
	near := filepath.Join(local, "in.parquet")
	require.NoError(t, os.WriteFile(near, wide(), 0o644))
	for name, choice := range map[string]string{
		"rows":    "rows: {c04_key0: {max: 1}}",
		"columns": "columns: [c00_number, c01_number, c02_number, c04_key0, c13_key1, c22_key2, c31_key3, c40_key4, c41_number]",
		"both":    "rows: {c04_key0: {max: 1}}, columns: [c00_number, c04_key0, c13_key1, c22_key2, c31_key3, c40_key4]",
	} {
		t.Run(name, func(t *testing.T) {
			write := func(in, out string) {
				spec := filepath.Join(local, "spec.yaml")
				require.NoError(t, os.WriteFile(spec, []byte("version: 1\nsource: {path: \""+in+"\"}\nkey: {variables: ["+keys+
					"]}\noperators: [{select: {"+choice+"}}, {frequency: {}}]\nsink: {path: \""+out+"\"}\n"), 0o644))
				status, said := run(t, "run", spec, "--quiet")
				require.Zero(t, status, said)
			}
			out := filepath.Join(local, "out.parquet")
			write(near, out)
			want, err := os.ReadFile(out)
			require.NoError(t, err)
			write(in, b.path(name+".parquet"))
			sameRows(t, want, b.get(name+".parquet"))
		})
	}
}

// Sources, sinks, side files and globs of all kinds.
func TestEveryPathMayBeElsewhere(t *testing.T) {
	f, b := s3Server(t)
	text := "id,age,sex,area\n"
	for i := range 3000 {
		text += fmt.Sprintf("%d,%d,%s,a%d\n", i, i*7%90, []string{"f", "m"}[i%2], i%5)
	}
	odd := "odd names/100% a#b?c &+d.csv"
	b.put(odd, []byte(text))
	b.put("parts/year=2020/a.csv", []byte(text))
	b.put("parts/year=2021/b.csv", []byte(text))
	b.put("parts/_SUCCESS", nil)
	b.put("some/1.csv", []byte(text))
	b.put("some/2.csv", []byte(text))
	b.put("some/deep/3.csv", []byte(text))
	b.put("empty.parquet", nil)
	b.put("folder.parquet/part-0.csv", []byte(text))
	spec := "version: 1\nsource: {path: " + b.path("some/*.csv") + "}\nkey: {variables: [age, sex, area]}\noperators: [{frequency: {}}]\n" +
		"sink: {path: " + b.path("made/") + ", format: parquet}\nsummary: " + b.path("made/summary.json") + "\n"
	local := filepath.Join(t.TempDir(), "a b.csv")
	require.NoError(t, os.WriteFile(local, []byte(text), 0o644))
	key := []string{"--key", "age,sex,area", "--quiet", "--measures", "frequency"}
	for _, c := range []struct {
		name   string
		args   []string
		status int
		said   string
		made   []string
	}{
		{"odd names", []string{"assess", b.path(odd), "--out", b.path("odd out/100% a#b?c.arrow")}, 0, "", []string{"odd out/100% a#b?c.arrow"}},
		{"from arrow", []string{"assess", b.path("odd out/100% a#b?c.arrow"), "--out", b.path("back.csv.gz")}, 0, "", []string{"back.csv.gz"}},
		{"a glob", []string{"assess", b.path("some/*.csv"), "--out", b.path("all.parquet")}, 0, "", []string{"all.parquet"}},
		{"a folder", []string{"assess", b.path("parts/"), "--out", b.path("to/")}, 0, "", []string{"to/year=2020/a.csv", "to/year=2021/b.csv"}},
		{"to this machine", []string{"assess", b.path("all.parquet"), "--out", "file://" + filepath.ToSlash(t.TempDir()) + "/x%20y.parquet"}, 0, "", nil},
		{"from this machine", []string{"assess", local, "--out", b.path("local.parquet")}, 0, "", []string{"local.parquet"}},
		{"nothing fits", []string{"assess", b.path("some/*.parquet"), "--out", b.path("x.parquet")}, 1, "no object fits the pattern", nil},
		{"empty", []string{"assess", b.path("empty.parquet"), "--out", b.path("x.parquet")}, 1, "it is empty", nil},
		{"gone", []string{"assess", b.path("gone.parquet"), "--out", b.path("x.parquet")}, 1, "there is no such object", nil},
		{"a folder by its name", []string{"assess", b.path("folder.parquet"), "--out", b.path("x.parquet")}, 1, "end it with /", nil},
		{"no bucket", []string{"assess", "s3://no-such-bucket-here/a.parquet", "--out", b.path("x.parquet")}, 1, "there is no bucket no-such-bucket-here", nil},
		{"no bucket to write to", []string{"assess", b.path("all.parquet"), "--out", "s3://no-such-bucket-here/a.parquet"}, 1,
			"there is no bucket no-such-bucket-here", nil},
		{"no bucket to list", []string{"assess", "s3://no-such-bucket-there/", "--out", b.path("x.parquet")}, 1, "there is no bucket no-such-bucket-there", nil},
		{"no name", []string{"assess", "s3:///a.parquet", "--out", b.path("x.parquet")}, 1, "it names no bucket", nil},
		{"output is input", []string{"assess", b.path("all.parquet"), "--out", b.path("all.parquet")}, 2, "is the input", nil},
		{"an empty prefix", []string{"assess", b.path("nothing/"), "--out", b.path("x.parquet")}, 1, "has no data files", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.keys()
			status, said := run(t, append(c.args, key...)...)
			require.Equal(t, c.status, status, said)
			require.Contains(t, said, c.said)
			if c.status != 0 {
				require.Equal(t, 1, strings.Count(strings.TrimSpace(said), "\n")+1, said)
			}
			require.ElementsMatch(t, append(before, c.made...), b.keys())
			require.Empty(t, b.uploads())
		})
	}
	b.put("spec.yaml", []byte(spec))
	status, said := run(t, "run", b.path("spec.yaml"), "--quiet")
	require.Zero(t, status, said)
	require.Subset(t, b.keys(), []string{"made/1.parquet", "made/2.parquet", "made/summary.json"})
	require.NotContains(t, string(b.get("made/summary.json")), accessKey)
	require.NotContains(t, string(b.get("made/summary.json")), secretKey)
	f.take()
	status, said = run(t, "inspect", b.path("all.parquet"), "--key", "age,sex")
	require.Zero(t, status, said)
}
