package parquetfile

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/stretchr/testify/require"
)

// Runs of any bytes are an error or have all their values, whatever memory they are decoded into.
func FuzzRuns(f *testing.F) {
	codes, err := new(rle.DictionaryEncoding).EncodeInt32(nil, []int32{5, 5, 5, 5, 5, 5, 5, 5, 5, 1, 2, 3, 4, 5, 6, 7, 0, 1})
	require.NoError(f, err)
	f.Add(codes[1:], codes[0], uint16(18))
	f.Add([]byte{0xfe, 0xff, 0xff, 0xff, 0x0f, 1}, byte(1), uint16(512))
	f.Add([]byte{3, 0xaa, 8, 1}, byte(1), uint16(12))
	f.Add([]byte{}, byte(0), uint16(3))
	f.Fuzz(func(t *testing.T, src []byte, width byte, n uint16) {
		all := [2][]int32{make([]int32, n), make([]int32, n)}
		fill(all[1], -1)
		var errs [2]error
		for k := range all {
			dirty := bytes.Repeat([]byte{byte(-k)}, len(src)+2*pagePadding)
			errs[k] = decodeCodes(all[k], dirty[:copy(dirty, src)], uint(width), math.MaxUint32)
		}
		require.Equal(t, fmt.Sprint(errs[0]), fmt.Sprint(errs[1]))
		if errs[0] == nil {
			require.Equal(t, all[0], all[1])
		}
		if width > 8 {
			return
		}
		levels := make([]byte, n)
		if err := decodeLevels(levels, src, uint(width), 0xff>>(8-width)); err == nil && errs[0] == nil {
			for i, l := range levels {
				require.EqualValues(t, all[0][i], l)
			}
		}
		booleans := [2][]byte{make([]byte, n), bytes.Repeat([]byte{7}, int(n))}
		err, err2 := decodeBooleans(booleans[0], src), decodeBooleans(booleans[1], src)
		require.Equal(t, err, err2)
		if err == nil {
			require.Equal(t, booleans[0], booleans[1])
			require.Empty(t, bytes.Trim(booleans[0], "\x00\x01"), "no byte is larger than 1")
		}
		decodeOldLevels(levels, src, uint(width), 255)
	})
}

// Deltas of any bytes are an error or have all their values; what the library encodes comes back.
func FuzzDelta(f *testing.F) {
	b, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, []int64{-2e9, 2e9, -2e9, 17})
	require.NoError(f, err)
	f.Add(b, uint16(4))
	f.Add([]byte{0x80, 1, 4, 0xff, 0xff, 3, 0}, uint16(65535))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		dirt := make([]int64, n)
		fill(dirt, -1)
		narrow, narrow2 := make([]int32, n), make([]int32, n)
		fill(narrow2, -1)
		wide := make([]int64, n)
		_, err := decodeDelta(wide, src)
		_, err2 := decodeDelta(dirt, src)
		require.Equal(t, err, err2)
		_, err3 := decodeDelta(narrow, src)
		_, err4 := decodeDelta(narrow2, src)
		require.Equal(t, err3, err4)
		require.Equal(t, err == nil, err3 == nil)
		if err == nil {
			require.Equal(t, wide, dirt)
			require.Equal(t, narrow, narrow2)
			for i, x := range wide {
				require.Equal(t, int32(x), narrow[i])
			}
		}
		offsets, lengths := make([]uint32, int(n)+1), make([]int32, n)
		if rest, err := decodeLengths(offsets, lengths, src); err == nil {
			require.LessOrEqual(t, int(offsets[n]), len(rest))
		}
		const limit = 1 << 16
		if out, err := decodePrefixed(offsets, lengths, narrow, src, nil, 0, limit); err == nil {
			require.LessOrEqual(t, len(out), limit+len(src))
		}
		wide = wide[:0]
		for i := range min(len(src), 300) {
			wide = append(wide, int64(src[i])<<(i%64))
		}
		encoded, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, wide)
		require.NoError(t, err)
		back := make([]int64, len(wide))
		_, err = decodeDelta(back, encoded)
		require.NoError(t, err)
		require.Equal(t, wide, back)
	})
}

// A page of any bytes, of any type, encoding and shape: an error or values, the same each time.
func FuzzPage(f *testing.F) {
	for _, c := range codables(f) {
		for version := 1; version <= 2; version++ {
			for repetition := range 3 {
				forged := c.forge(f, version, repetition, forgedRows(repetition))
				last := forged.pages[len(forged.pages)-1]
				f.Add(last.append(nil), c.dictionary, byte(c.physical), byte(repetition), uint16(last.values), byte(0))
			}
		}
	}
	for codec := range byte(codecLZ4Raw + 1) {
		f.Add(
			[]byte{0x15, 0, 0x15, 80, 0x15, 20, 0x2c, 0x15, 20, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
			[]byte(nil),
			byte(1),
			byte(0),
			uint16(10),
			codec,
		)
	}
	f.Fuzz(func(t *testing.T, page, dictionary []byte, physical, repetition byte, values uint16, codec byte) {
		leaf := leafType{physical: int(physical) % (physicalFixed + 1), fixed: 3}
		leaf.repetitions, leaf.definitions = int(repetition%3)/2, min(int(repetition%3), 1)
		read := func() (string, error) {
			file := page
			if len(dictionary) > 0 {
				d := forgedPage{kind: pageDictionary, values: min(int64(len(dictionary)), 61), body: dictionary}
				file = append(d.append(nil), page...)
			}
			r := newPageReader(bytes.NewReader(file), 0, int64(len(file)), int64(values), int64(codec)%(codecLZ4Raw+1), leaf, 1<<24)
			defer r.close()
			var out bytes.Buffer
			for {
				p, err := r.next()
				if err != nil {
					return out.String(), err
				}
				fmt.Fprint(&out, p.n, p.values, p.levels, p.coded, p.codes, p.offsets)
				out.Write(p.data)
			}
		}
		first, err := read()
		for _, dirt := range []byte{0, 0xff} {
			dirty(dirt)
			again, err2 := read()
			require.Equal(t, first, again)
			require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2))
		}
	})
}
