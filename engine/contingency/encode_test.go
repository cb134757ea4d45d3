package contingency

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func encoded(t require.TestingT, table *Table) []byte {
	var b bytes.Buffer
	require.NoError(t, Encode(context.Background(), &b, table))
	return b.Bytes()
}

func decoded(b []byte) (*Table, error) {
	return Decode(context.Background(), bytes.NewReader(b), 1, 0, nil)
}

func TestEncodeRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore(context.Background(), dir)
		defer s.Close()
		table := drawTable(t, s)
		b := encoded(t, table)
		got, err := Decode(context.Background(), bytes.NewReader(b), 2, rapid.SampledFrom([]int64{0, 1}).Draw(t, "memory"), s)
		require.NoError(t, err)
		require.Equal(t, len(table.Variables), len(got.Variables))
		for v := range table.Variables {
			require.Equal(t, table.Variables[v].Name, got.Variables[v].Name)
			require.Equal(t, table.Variables[v].Order, got.Variables[v].Order)
			require.Equal(t, append([]string{}, table.Variables[v].Categories...), append([]string{}, got.Variables[v].Categories...))
		}
		require.Equal(t, table.Sums(), got.Sums())
		requireSame(t, table, got)
		require.Equal(t, b, encoded(t, got))
	})
}

// No byte of a file can be other than it was, and no file ends early, without being found.
func TestDamageIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMicrodata(t)
		table, err := m.count(1, 1, 1, true, true)
		require.NoError(t, err)
		b := encoded(t, table)
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "short") {
			_, err = decoded(b[:at])
		} else {
			bad := bytes.Clone(b)
			bad[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
			_, err = decoded(bad)
		}
		require.Error(t, err)
		var damage *DamageError
		require.Equal(t, at >= len(tableMagic)+4, errors.As(err, &damage))
		_, err = decoded(append(b, 0))
		require.ErrorContains(t, err, "bytes follow the end mark")
	})
}

// framed is a file of a payload.
func framed(payload []byte) []byte {
	var b bytes.Buffer
	b.Write(binary.LittleEndian.AppendUint32([]byte(tableMagic), tableVersion))
	f := &frameWriter{w: &b, buffer: payload}
	f.full()
	if len(f.buffer) > 0 {
		f.frame(f.buffer)
	}
	f.frame(nil)
	return b.Bytes()
}

// FuzzDecode: no payload makes a panic or takes memory without end, and what is read is written and read again as it is.
func FuzzDecode(f *testing.F) {
	table, err := New([]Variable{{Name: "a", Categories: []string{"x", "y"}}, {Name: "b", Categories: []string{"-1", "2", "10"}, Order: ByNumber}},
		[][]uint32{{0, 0, 1, 2}, {0, 3, 1, 3}}, []int64{5, 1, 1 << 40, 2})
	require.NoError(f, err)
	b := encoded(f, table)
	f.Add(b[len(tableMagic)+4+8:len(b)-8], true)
	f.Add(b, false)
	f.Add([]byte{1, 1, 'a', 0, 0xff, 0xff, 0xff, 0xff, 0x0f}, true)
	f.Fuzz(func(t *testing.T, payload []byte, whole bool) {
		if whole {
			payload = framed(payload)
		}
		table, err := decoded(payload)
		if err != nil {
			return
		}
		again, err := decoded(encoded(t, table))
		require.NoError(t, err)
		require.Equal(t, table.Variables, again.Variables)
		requireSame(t, table, again)
		if both, err := Combine(context.Background(), 1, 0, nil, table, again); err == nil {
			require.Equal(t, table.Classes(), both.Classes())
			require.Equal(t, 2*table.Records(), both.Records())
		}
	})
}

func TestWhatIsNoTable(t *testing.T) {
	good := framed([]byte{1, 1, 'a', 0, 2, 1, 'x', 1, 'y', 0, 2, 5, 0, 0, 2, 0, 1, 3})
	table, err := decoded(good)
	require.NoError(t, err)
	require.EqualValues(t, 5, table.Records())
	version := bytes.Clone(good)
	version[len(tableMagic)] = 2
	for want, b := range map[string][]byte{
		"does not begin with its mark":                   []byte("PAR1"),
		"of version 2":                                   version,
		"before the end mark":                            good[:len(good)-4],
		"its length is 65537":                            append(bytes.Clone(good[:len(tableMagic)+4]), 1, 0, 1, 0, 0, 0, 0, 0),
		"goes on after the last frame":                   framed([]byte{1, 1, 'a'}),
		"frame 0, at byte 20: variable \"a\" has the o":  framed([]byte{1, 1, 'a', 9, 0}),
		"the number of variables is 65":                  framed([]byte{65}),
		"has the category \"x\" twice":                   framed([]byte{1, 1, 'a', 0, 2, 1, 'x', 1, 'x'}),
		"category \"x\" twic":                            framed([]byte{1, 1, 'a', 0, 3, 1, 'x', 1, 'b', 1, 'x'}),
		"3 classes have 2 records":                       framed([]byte{0, 0, 3, 2}),
		"class 1 does not follow":                        framed([]byte{1, 1, 'a', 0, 1, 1, 'x', 0, 2, 5, 0, 1, 2, 0, 0, 3}),
		"class 0 does not follow":                        framed([]byte{1, 1, 'a', 0, 1, 1, 'x', 0, 1, 5, 1, 5}),
		"code 3 of class 0 is beyond the 2 categories":   framed([]byte{1, 1, 'a', 0, 2, 1, 'x', 1, 'y', 0, 1, 5, 0, 3, 5}),
		"class 0 has no records":                         framed([]byte{0, 0, 1, 1, 0, 0}),
		"the classes have 4 records, the table says 5":   framed([]byte{0, 0, 1, 5, 0, 4}),
		"1 bytes follow the last class":                  framed([]byte{0, 0, 1, 5, 0, 5, 7}),
		"no number of 64 bits":                           framed(bytes.Repeat([]byte{0xff}, 11)),
		"the length of a name is 4294967295, more than ": framed([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f}),
	} {
		_, err := decoded(b)
		require.ErrorContains(t, err, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Decode(ctx, bytes.NewReader(good), 1, 0, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, Encode(ctx, &bytes.Buffer{}, table), context.Canceled)
}

// A short file that claims to be large takes little memory.
func TestMemoryOfClaims(t *testing.T) {
	most := []byte{0xff, 0xff, 0xff, 0xff, 0x07}
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	for _, payload := range [][]byte{
		append([]byte{1}, most...),
		append([]byte{1, 1, 'a', 0}, most...),
		append(append(append([]byte{0, 0}, huge...), huge...), 0, 1),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decoded(framed(payload))
		runtime.ReadMemStats(&after)
		require.Error(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
	}
}
