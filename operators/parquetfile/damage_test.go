package parquetfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
)

func TestWhatIsNotParquetIsSaid(t *testing.T) {
	good := madeFile{rows: 10, codec: &parquet.Snappy}.bytes(t)
	long := bytes.Clone(good)
	binary.LittleEndian.PutUint32(long[len(long)-8:], 0xfffffff0)
	cases := map[string]struct {
		bytes []byte
		says  string
	}{
		"empty":     {nil, "it is empty"},
		"csv":       {[]byte("age,sex\n12,f\n30,m\n"), "looks like CSV text"},
		"json":      {[]byte(`{"age": 12}` + "\n"), "looks like JSON"},
		"arrow":     {[]byte("ARROW1\x00\x00................"), "Arrow IPC file"},
		"zip":       {[]byte("PK\x03\x04.............\xff"), "compressed file"},
		"bytes":     {bytes.Repeat([]byte{0, 200, 3}, 20), "not a Parquet file"},
		"truncated": {good[:len(good)/2], "truncated"},
		"cut":       {good[:len(good)-1], "truncated"},
		"encrypted": {append([]byte("PARE........"), "PARE"...), "encrypted"},
		"long":      {long, "footer is damaged"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "x.parquet", c.bytes)
			_, err := Open(context.Background(), []string{path}, Options{})
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, path)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	_, err := Open(context.Background(), []string{filepath.Join(t.TempDir(), "none.parquet")}, Options{})
	require.ErrorContains(t, err, "no such file")
	_, err = Open(context.Background(), []string{t.TempDir()}, Options{})
	require.ErrorContains(t, err, "it is a folder")
}

// readAll reads every column in every way; the error is the first there is.
func readAll(s *Source, mem memory.Allocator) (string, error) {
	var b strings.Builder
	for _, p := range s.parts {
		for _, f := range s.Schema().Fields() {
			for _, coded := range []bool{false, true} {
				if arrow.IsNested(f.Type.ID()) || coded && !operators.HasEquality(f.Type) {
					continue
				}
				r, err := p.Read(context.Background(), mem, []operators.Want{{Name: f.Name, Coded: coded}}, 100)
				if err != nil {
					return "", err
				}
				for r.Next() {
					fmt.Fprintln(&b, f.Name, appendTexts(nil, r.Record().Column(0)))
				}
				err = r.Err()
				r.Release()
				if err != nil {
					return "", err
				}
			}
		}
	}
	return b.String(), nil
}

// damaged reads a file of which some bytes are wrong, within a time.
func damaged(t *testing.T, path string, b []byte) (text string, err error) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, b, 0o666))
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	s, err := Open(context.Background(), []string{path}, Options{})
	if err == nil {
		err = s.Verify(context.Background(), 1, nil)
		if text2, err2 := readAll(s, mem); err == nil {
			text, err = text2, err2
		}
		s.Close()
	}
	mem.AssertSize(t, 0)
	return text, err
}

type small struct {
	Key  *string `parquet:"key,dict"`
	Size int64   `parquet:"size,plain"`
	Text string  `parquet:"text,delta"`
}

func smallFile(t testing.TB, codecName string) []byte {
	rows := make([]small, 20)
	for i := range rows {
		rows[i] = small{Size: int64(i * i), Text: fmt.Sprint("text ", i)}
		if i%4 != 0 {
			rows[i].Key = ptr(fmt.Sprint("key ", i%5))
		}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[small](&b, parquet.Compression(codecs[codecName]))
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// Every byte of the pages is covered by a checksum: no flip may change what is read without an error. Page headers and footer
// have none: they may say something else, but nothing may panic, hang or leak.
func TestEveryFlippedByte(t *testing.T) {
	for _, codec := range []string{"none", "snappy", "lz4_raw"} {
		t.Run(codec, func(t *testing.T) {
			good := smallFile(t, codec)
			path := writeFile(t, "x.parquet", good)
			s := openSource(t, path)
			want, err := damaged(t, path, good)
			require.NoError(t, err)
			inPage := pageBodies(t, s)
			for i := range good {
				if testing.Short() && i%5 != 0 {
					continue
				}
				for _, flip := range []byte{0xff, 1, 0x80}[i%3 : i%3+1] {
					bad := bytes.Clone(good)
					bad[i] ^= flip
					got, err := damaged(t, path, bad)
					if inPage[i] {
						require.Error(t, err, "byte %d ^ %x", i, flip)
						require.Contains(t, err.Error(), "row group 0, column")
					}
					if err == nil && got != want && int64(i) < s.files[0].footer.start {
						t.Errorf("byte %d ^ %x is read as something else", i, flip)
					}
				}
			}
		})
	}
}

// A rawPage is a page of any kind, where it lies in the file.
type rawPage struct {
	pageHeader
	leaf     int
	at, body int64
}

// rawPages are the pages of the first row group.
func rawPages(t testing.TB, s *Source) []rawPage {
	var list []rawPage
	f := s.files[0]
	p := s.parts[0].(*part)
	_, err := p.chunk(0)
	require.NoError(t, err)
	for leaf, c := range p.chunks {
		w := &headerBytes{r: f.file}
		for at, left := c.from, c.values; left > 0; {
			h, n, err := readPageHeader(w, at, f.footer.start)
			require.NoError(t, err)
			if h.isData() {
				left -= h.values
			}
			list = append(list, rawPage{h, leaf, at, at + n})
			at += n + h.packed
		}
	}
	return list
}

// pageBodies tells which bytes of the file are in pages.
func pageBodies(t *testing.T, s *Source) map[int]bool {
	in := map[int]bool{}
	for _, page := range rawPages(t, s) {
		for i := range page.packed {
			in[int(page.body+i)] = true
		}
	}
	return in
}

func TestTruncatedFiles(t *testing.T) {
	good := smallFile(t, "zstd")
	path := writeFile(t, "x.parquet", good)
	for n := 0; n < len(good); n += 3 {
		_, err := damaged(t, path, good[:n])
		require.Error(t, err)
	}
}

// Damage to a file without checksums and with every kind of column: whatever happens, it is no panic, hang or leak.
func TestDamageWithoutChecksums(t *testing.T) {
	for _, codec := range []string{"none", "snappy", "lz4_raw"} {
		for _, version := range []int{1, 2} {
			good := madeFile{rows: 60, codec: codecs[codec], version: version}.bytes(t)
			path := writeFile(t, "x.parquet", good)
			s := openSource(t, path)
			bodies := pageBodies(t, s)
			var places []int
			for i := range bodies {
				places = append(places, i)
			}
			r := rand.New(rand.NewPCG(1, uint64(version)))
			for range 25 {
				bad := withoutChecksums(t, s, good)
				for range 1 + r.IntN(3) {
					bad[places[r.IntN(len(places))]] = byte(r.Uint32())
				}
				damaged(t, path, bad)
			}
		}
	}
}

// withoutChecksums clears the CRC fields of page headers, whose zigzag varints become overlong zeros of the same length.
func withoutChecksums(t *testing.T, s *Source, good []byte) []byte {
	b := bytes.Clone(good)
	for _, page := range rawPages(t, s) {
		v, n, err := parseThriftStruct(b[page.at:])
		require.NoError(t, err)
		if crc := v.field(4); crc != nil {
			x := binary.AppendVarint(nil, crc.num)
			at := int(page.at) + bytes.Index(b[page.at:page.at+int64(n)], x)
			for i := range x {
				b[at+i] = 0x80
			}
			b[at+len(x)-1] = 0
		}
	}
	return b
}

func TestIndexBeyondTheDictionary(t *testing.T) {
	type row struct {
		Key string `parquet:"key,dict"`
	}
	rows := make([]row, 64)
	for i := range rows {
		rows[i].Key = string(rune('a' + i%5))
	}
	path := writeRows(t, "x.parquet", rows, parquet.Compression(&parquet.Uncompressed), parquet.DataPageVersion(2))
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	s := openSource(t, path)
	bad := withoutChecksums(t, s, good)
	last := 0
	for i := range pageBodies(t, s) {
		last = max(last, i)
	}
	bad[last] = 0xff // three-bit indexes of 5 values
	require.NoError(t, os.WriteFile(path, bad, 0o666))
	s = openSource(t, path)
	_, err = tryColumnTexts(t, s, operators.Want{Name: "key", Coded: true}, 0)
	require.ErrorContains(t, err, "index 7 is beyond the dictionary of 5 values")
	require.ErrorContains(t, err, path+`, row group 0, column "key"`)
	require.ErrorContains(t, s.Verify(context.Background(), 1, nil), "beyond the dictionary")
}

func FuzzSource(f *testing.F) {
	f.Add(smallFile(f, "none"))
	f.Add(smallFile(f, "snappy"))
	f.Add([]byte("PAR1\x15\x00\x00\x00\x00PAR1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		damaged(t, filepath.Join(t.TempDir(), "x.parquet"), b)
	})
}

// A tree that can be parsed is written as it was read, and what is written parses to the same.
func FuzzThrift(f *testing.F) {
	good := smallFile(f, "none")
	n := int(binary.LittleEndian.Uint32(good[len(good)-8:]))
	f.Add(good[len(good)-8-n : len(good)-8])
	f.Add([]byte{0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, n, err := parseThriftStruct(b)
		if err != nil {
			return
		}
		require.LessOrEqual(t, n, len(b))
		once := v.append(nil)
		w, m, err := parseThriftStruct(once)
		require.NoError(t, err)
		require.Equal(t, len(once), m)
		require.Equal(t, once, w.append(nil))
		if top, err := parseFooter(b, maxPageBytes); err == nil {
			top.check()
		}
	})
}
