package parquetfile

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/stretchr/testify/require"

	"microrisk/engine/budget"
	"microrisk/operators"
)

// leafTexts reads the first column of a file level by level: repetition, definition, and the bytes of the value.
func leafTexts(s *Source) (texts []string, err error) {
	err = guard(func() error {
		p := s.parts[0].(*part)
		pages, err := p.openChunk(&p.file.columns[0], 0, 1)
		if err != nil {
			return err
		}
		defer pages.close()
		width := pages.leaf.width()
		for {
			page, err := pages.next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			next := 0
			for i := range page.n {
				levels, has := [2]byte{}, true
				for k, l := range page.levels {
					if l != nil {
						levels[k] = l[i]
						has = has && (k == 0 || int(l[i]) == pages.leaf.definitions)
					}
				}
				text := fmt.Sprint(levels)
				if has {
					values, k := page, next
					if page.coded {
						values, k = pages.dictionary, int(page.codes[next])
					}
					text += fmt.Sprintf(" %x", values.at(k, width))
					next++
				}
				texts = append(texts, text)
			}
		}
	})
	return texts, err
}

// Every physical type in every encoding that the format has for it, in pages of both kinds, of required, optional and repeated columns:
// read, verified and rewritten. Nothing is compressed: TestEveryCodecVersionAndEncodingGivesTheSameValues has the codecs.
func TestEveryEncoding(t *testing.T) {
	for _, c := range codables(t) {
		for version := 1; version <= 2; version++ {
			for repetition := range 3 {
				t.Run(fmt.Sprintf("%s-%d-v%d-%d", c.name, c.encoding, version, repetition), func(t *testing.T) {
					rows := forgedRows(repetition)
					s := openSource(t, writeFile(t, "x.parquet", c.forge(t, version, repetition, rows).bytes()))
					require.NoError(t, s.Verify(t.Context(), 1, nil))
					var want, kept []string
					for i, row := range rows {
						text := "<null>"
						if len(row) > 0 {
							text = c.texts[row[0]]
						}
						want = append(want, text)
						if i%3 == 1 {
							kept = append(kept, text)
						}
					}
					out := filepath.Join(t.TempDir(), "out.parquet")
					annotate(t, s, []string{out}, writeCase{keep: func(row int64) bool { return row%3 == 1 }})
					o := openSource(t, out)
					require.NoError(t, o.Verify(t.Context(), 1, nil))
					if repetition == 2 {
						requireKept(t, s, o)
						return
					}
					for _, coded := range []bool{false, true} {
						if coded && !operators.HasEquality(s.Schema().Field(0).Type) {
							continue
						}
						want, kept := want, kept
						if s.Schema().Field(0).Type.Name() == "fixed_size_binary" {
							want, kept = based(want), based(kept)
						}
						require.Equal(t, want, columnTexts(t, s, operators.Want{Name: "x", Coded: coded}, 7))
						require.Equal(t, kept, columnTexts(t, o, operators.Want{Name: "x", Coded: coded}, 7))
					}
				})
			}
		}
	}
}

// requireKept compares a repeated column with what was kept of it.
func requireKept(t *testing.T, s, o *Source) {
	all, err := leafTexts(s)
	require.NoError(t, err)
	got, err := leafTexts(o)
	require.NoError(t, err)
	var want []string
	row := -1
	for _, text := range all {
		if text[1] == '0' {
			row++
		}
		if row%3 == 1 {
			want = append(want, text)
		}
	}
	require.Equal(t, want, got)
}

// A page that lacks bytes is always the same error, or has all its values without them; whatever bytes it has, it reads the same twice.
func TestShortAndChangedPages(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range codables(t) {
		for version := 1; version <= 2; version++ {
			for repetition := range 3 {
				rows := forgedRows(repetition)
				f := c.forge(t, version, repetition, rows)
				want, err := leafTexts(openSource(t, writeFile(t, "x.parquet", f.bytes())))
				require.NoError(t, err)
				for k := range f.pages {
					good := f.pages[k]
					for n := range good.body {
						if n%3 != k && !testing.Short() || testing.Short() && n%47 != k {
							continue
						}
						f.pages[k].body = good.body[:n]
						if texts, ok := readTwice(t, f); ok {
							require.Equal(t, want, texts, "%s, encoding %d, %d of %d bytes", c.name, c.encoding, n, len(good.body))
						}
						f.pages[k].body = bytes.Clone(good.body)
						f.pages[k].body[n] ^= byte(1 << r.IntN(8))
						readTwice(t, f)
					}
					f.pages[k] = good
				}
			}
		}
	}
}

// based are texts as Arrow has those of bytes.
func based(texts []string) []string {
	out := slices.Clone(texts)
	for i, text := range out {
		if text != "<null>" {
			out[i] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	return out
}

func readTwice(t *testing.T, f *forgery) ([]string, bool) {
	s := openSource(t, writeFile(t, "x.parquet", f.bytes()))
	defer s.Close()
	first, err := leafTexts(s)
	for _, dirt := range []byte{0, 0xff} {
		dirty(dirt)
		again, err2 := leafTexts(s)
		require.Equal(t, first, again)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2))
	}
	if err != nil {
		require.NotContains(t, err.Error(), "runtime error", "a panic")
	}
	return first, err == nil
}

// dirty fills the memory that chunks use with a byte.
func dirty(b byte) {
	s := pageMemories.Get().(*pageMemory)
	s.window.buffer = resized(s.window.buffer, windowBytes+pagePadding)
	s.whole, s.data, s.codes, s.wide, s.offsets = resized(
		s.whole,
		1<<12,
	), resized(
		s.data,
		1<<12,
	), resized(
		s.codes,
		1<<10,
	), resized(
		s.wide,
		1<<10,
	), resized(
		s.offsets,
		1<<10,
	)
	for _, m := range [][]byte{s.window.buffer, s.whole, s.data} {
		fill(m, b)
	}
	for k := range s.levels {
		s.levels[k], s.lengths[k] = resized(s.levels[k], 1<<10), resized(s.lengths[k], 1<<10)
		fill(s.levels[k], b)
		fill(s.lengths[k], int32(b))
	}
	fill(s.codes, int32(b))
	fill(s.wide, int64(b))
	fill(s.offsets, uint32(b))
	pageMemories.Put(s)
}

// Pages that claim more than they have, or more than there is memory for.
func TestHostilePages(t *testing.T) {
	run := func(n uint64, value ...byte) []byte { return append(appendUvarint(nil, n<<1), value...) }
	big := bytes.Repeat([]byte{0}, 1<<20)
	dictionary := forgedPage{kind: pageDictionary, values: 2, body: []byte{1, 0, 0, 0, 2, 0, 0, 0}}
	data := func(encoding, values int64, body []byte) forgedPage {
		return forgedPage{kind: pageData, encoding: encoding, values: values, body: body}
	}
	cases := map[string]struct {
		f    forgery
		says string
	}{
		"index run": {
			forgery{pages: []forgedPage{dictionary, data(encodingDictionary, 512, append([]byte{1}, run(1<<31-1, 0)...))}},
			"a run of 2147483647 values where 512 are left",
		},
		"level run": {
			forgery{repetition: 1, pages: []forgedPage{{kind: pageData, values: 8, levels: [2][]byte{nil, run(1<<40, 1)}, body: big[:32]}}},
			"a run of 1099511627776 values where 8 are left",
		},
		"level": {
			forgery{repetition: 1, pages: []forgedPage{{kind: pageData, values: 8, levels: [2][]byte{nil, run(8, 2)}, body: big[:32]}}},
			"a level of 2",
		},
		"bit width": {forgery{pages: []forgedPage{dictionary, data(encodingDictionary, 8, []byte{200, 3, 1, 1})}}, "its indexes have 200 bits"},
		"packed": {
			forgery{pages: []forgedPage{dictionary, data(encodingDictionary, 1000, []byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1})}},
			"ends too early",
		},
		"delta": {forgery{pages: []forgedPage{data(encodingDelta, 100, []byte{0x80, 1, 4, 100, 0})}}, "ends too early"},
		"delta n": {
			forgery{pages: []forgedPage{data(encodingDelta, 100, []byte{0x80, 1, 4, 0xff, 0xff, 0xff, 0x7f, 0})}},
			"it has 268435455 of its 100 values",
		},
		"values": {forgery{pages: []forgedPage{data(encodingPlain, 1<<30, big[:8])}}, "claims to have 1073741824 values"},
		"dictionary": {
			forgery{pages: []forgedPage{{kind: pageDictionary, values: 1 << 20, body: big[:8]}, data(encodingDictionary, 8, []byte{0})}},
			"fewer than the 1048576 values",
		},
		"no dictionary": {forgery{pages: []forgedPage{data(encodingDictionary, 8, []byte{0})}}, "indexes of a dictionary that its column chunk does not have"},
		"encoding":      {forgery{pages: []forgedPage{data(encodingDeltaBytes, 8, big[:64])}}, "encoding 7, which INT32 does not have"},
	}
	for name, codec := range map[string]int64{"snappy": codecSnappy, "gzip": codecGzip, "brotli": codecBrotli, "zstd": codecZstd, "lz4": codecLZ4, "lz4 " +
		"raw": codecLZ4Raw} {
		packed, err := codecLike(codec, codecLike(codecLZ4Raw, nil)).Encode(nil, big)
		require.NoError(t, err)
		for _, kind := range []int64{pageData, pageDataV2} {
			p := forgedPage{kind: kind, values: 250, body: big[:1000], packed: packed}
			says := "a page is damaged"
			cases[fmt.Sprint(name, " bomb ", kind)] = struct {
				f    forgery
				says string
			}{forgery{codec: codec, pages: []forgedPage{p}}, says}
		}
		if codec != codecZstd && codec != codecBrotli { // of these, a few bytes may hold any number
			p := forgedPage{kind: pageData, values: 1 << 26, packed: packed[:min(len(packed), 100)], whole: 1 << 28}
			cases[name+" claim"] = struct {
				f    forgery
				says string
			}{forgery{codec: codec, pages: []forgedPage{p}}, "it claims to hold 268435456 bytes in"}
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := c.f
			f.physical = physicalInt32
			for _, p := range f.pages {
				if p.kind != pageDictionary {
					f.values += p.values
				}
			}
			f.rows = f.values
			path := writeFile(t, "x.parquet", f.bytes())
			s := openSource(t, path)
			for range 2 {
				err := s.Verify(t.Context(), 1, nil)
				require.ErrorContains(t, err, c.says)
				require.ErrorContains(t, err, path+`, row group 0, column "x": `)
			}
			if f.rows > 1<<20 {
				return
			}
			out := filepath.Join(t.TempDir(), "out.parquet")
			err := tryAnnotate(t, s, []string{out}, writeCase{keep: func(row int64) bool { return row == 1 }})
			require.ErrorContains(t, err, c.says)
			require.NoFileExists(t, out)
		})
	}
}

func appendUvarint(b []byte, x uint64) []byte {
	for ; x >= 0x80; x >>= 7 {
		b = append(b, byte(x)|0x80)
	}
	return append(b, byte(x))
}

// What may be null has a byte a value for its level, and a bit in the bitmap of the Arrow array that it goes to.
func TestMemoryOfNulls(t *testing.T) {
	page := pageHeader{kind: pageData, encoding: encodingDictionary, values: 800, whole: 100, packed: 100}
	for definitions, want := range []int64{100 + 100 + 800*4, 100 + 100 + 800*(4+1) + 100} {
		r := &pageReader{leaf: leafType{physical: physicalInt32, definitions: definitions}, limit: want - 1}
		_, err := r.body(&page)
		var short *budget.MemoryError
		require.ErrorAs(t, err, &short)
		require.Equal(t, want, short.Needs)
	}
}

// A page that would be valid but takes more memory than there may be is refused, and read with more.
func TestPagesBeyondMemory(t *testing.T) {
	const n = 1 << 25
	runs := append([]byte{1}, append(appendUvarint(nil, n<<1), 1)...)
	f := forgery{physical: physicalInt32, rows: n, values: n, pages: []forgedPage{
		{kind: pageDictionary, values: 2, body: []byte{1, 0, 0, 0, 2, 0, 0, 0}}, {kind: pageData, encoding: encodingDictionary, values: n, body: runs}}}
	path := writeFile(t, "x.parquet", f.bytes())
	s, err := Open(t.Context(), []string{path}, Options{Memory: 1 << 26})
	require.NoError(t, err)
	defer s.Close()
	require.ErrorContains(
		t,
		s.Verify(t.Context(), 1, nil),
		`row group 0, column "x": a page, which may take a part of the memory allowed, needs about 128 MiB of memory, the limit is 64 MiB: allow more, or write`,
	)
	s, err = Open(t.Context(), []string{path}, Options{Memory: 1 << 30})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Verify(t.Context(), 1, nil))
}

// Values of DELTA_BYTE_ARRAY repeat each other's beginnings: a small page can stand for a large text.
func TestPrefixesBeyondMemory(t *testing.T) {
	lengths, suffixes := make([]int32, 1<<14), make([]int32, 1<<14)
	fill(lengths[1:], 1<<16)
	suffixes[0] = 1 << 16
	var body []byte
	for _, numbers := range [][]int32{lengths, suffixes} {
		b, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, numbers)
		require.NoError(t, err)
		body = append(body, b...)
	}
	body = append(body, strings.Repeat("y", 1<<16)...)
	n := int64(len(lengths))
	f := forgery{physical: physicalBytes, rows: n, values: n, pages: []forgedPage{{kind: pageData, encoding: encodingDeltaBytes, values: n, body: body}}}
	s, err := Open(t.Context(), []string{writeFile(t, "x.parquet", f.bytes())}, Options{Memory: 1 << 28})
	require.NoError(t, err)
	defer s.Close()
	_, err = readAll(s, memory.NewGoAllocator())
	require.ErrorContains(t, err, "the limit is 128 MiB")
}
