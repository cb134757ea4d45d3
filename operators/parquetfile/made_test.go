package parquetfile

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/stretchr/testify/require"
)

// A nasty row has a column of every kind that the library can write.
type nasty struct {
	Flag     *bool                 `parquet:"flag"`
	Tiny     int8                  `parquet:"tiny"`
	Small    *int16                `parquet:"small"`
	Age      *int32                `parquet:"age,dict"`
	Wide     int64                 `parquet:"wide,delta"`
	Byte     uint8                 `parquet:"byte"`
	Word     uint32                `parquet:"word,dict"`
	Huge     *uint64               `parquet:"huge"`
	Single   float32               `parquet:"single,split"`
	Double   float64               `parquet:"double,split"`
	Name     *string               `parquet:"name,dict"`
	Plain    string                `parquet:"plain,plain"`
	Deltas   string                `parquet:"deltas,delta"`
	Raw      []byte                `parquet:"raw"`
	Day      int32                 `parquet:"day,date"`
	Moment   time.Time             `parquet:"moment,timestamp(microsecond)"`
	Old      deprecated.Int96      `parquet:"old"`
	ID       [16]byte              `parquet:"id,uuid"`
	Money    int64                 `parquet:"money,decimal(2:12)"`
	Dotted   string                `parquet:"dotted.name,dict"`
	Kind     string                `parquet:"kind,enum"`
	Document string                `parquet:"document,json"`
	Tags     []string              `parquet:"tags,list"`
	Points   map[string]int64      `parquet:"points"`
	Inner    struct{ A, B *int64 } `parquet:"inner"`
}

func ptr[T any](x T) *T { return &x }

func nastyRow(i int) nasty {
	r := nasty{
		Tiny: int8(i), Wide: int64(i) * 1e12, Byte: uint8(i), Word: uint32(math.MaxUint32 - i%5), Single: float32(i) / 3, Double: -float64(i) / 7,
		Plain: fmt.Sprintf("plain %d", i%50), Deltas: fmt.Sprintf("delta %05d", i), Raw: []byte{byte(i), 0, 255}, Day: int32(i - 500),
		Moment: time.Unix(int64(i)*1e5, 1000), Old: int96(int64(i)*1e12 - 5e14), ID: [16]byte{byte(i >> 8), byte(i)}, Money: int64(i)*100 - 5000,
		Dotted: fmt.Sprint("dot", i%3), Kind: fmt.Sprint("kind", i%2), Document: fmt.Sprintf(`{"i":%d}`, i),
	}
	if i%3 != 0 {
		r.Flag, r.Small, r.Age, r.Huge, r.Name = ptr(
			i%2 == 0,
		), ptr(
			int16(-i),
		), ptr(
			int32(i%90),
		), ptr(
			uint64(math.MaxUint64)-uint64(i),
		), ptr(
			fmt.Sprint("name ", i%17),
		)
		r.Tags, r.Points, r.Inner.A = []string{"a", fmt.Sprint(i)}[:i%3], map[string]int64{fmt.Sprint("k", i%4): int64(i)}, ptr(int64(i))
	}
	return r
}

func int96(nanoseconds int64) deprecated.Int96 {
	const day = 86400 * 1e9
	days, rest := nanoseconds/day, nanoseconds%day
	if rest < 0 {
		rest, days = rest+day, days-1
	}
	return deprecated.Int96{uint32(rest), uint32(rest >> 32), uint32(days + 2440588)}
}

type madeFile struct {
	rows, group int
	codec       compress.Codec
	version     int
	page        int
	options     []parquet.WriterOption
}

func (m madeFile) bytes(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	options := append(
		[]parquet.WriterOption{parquet.Compression(m.codec), parquet.DataPageVersion(max(m.version, 1)), parquet.KeyValueMetadata("pandas", "{}")},
		m.options...)
	if m.page > 0 {
		options = append(options, parquet.PageBufferSize(m.page))
	}
	w := parquet.NewGenericWriter[nasty](&b, options...)
	rows := make([]nasty, m.rows)
	for i := range rows {
		rows[i] = nastyRow(i)
	}
	for from := 0; from < len(rows); {
		to := len(rows)
		if m.group > 0 {
			to = min(to, from+m.group)
		}
		_, err := w.Write(rows[from:to])
		require.NoError(t, err)
		require.NoError(t, w.Flush())
		from = to
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func writeFile(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, b, 0o666))
	return path
}

// writeRows writes rows of a struct with the library.
func writeRows[T any](t testing.TB, name string, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return writeFile(t, name, b.Bytes())
}
