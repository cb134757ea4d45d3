package keymap

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var share = regexp.MustCompile(`^(0(\.[0-9]+)?|1(\.0+)?)$`)

// FuzzPrevalence: shares are read exactly, and nothing else is one.
func FuzzPrevalence(f *testing.F) {
	for _, text := range []string{"0", "1", "0.29", "1.000", "1.0001", "00.1", "0.", ".5", "+0.1", "1e0", "0x1", "1/2", "0_1", "٠", "0.1\n", " 0", "0." + strings.Repeat("0", 98), "0." + strings.Repeat("0", 99)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePrevalence(text)
		require.Equal(t, share.MatchString(text) && len(text) <= 100, err == nil, "%q: %v", text, err)
		if err == nil {
			want, _ := new(big.Rat).SetString(text)
			require.Zero(t, want.Cmp(p))
			n, q := Required(1000, p)
			require.True(t, n >= 1 && n <= 1000 && Enough(1000, q))
		}
	})
}

// FuzzDrawing: edges such as "a b" a line, nodes by one word. No drawing panics, and what is accepted keeps the definition.
func FuzzDrawing(f *testing.F) {
	for _, text := range []string{"", "a", "a b\na c", "a b\nb a", "a a", "a b\na b", "a b\nc b\nd a\nd c", "a\na", "a b c", "x y\nx z\nw x\nw z"} {
		f.Add(text, false)
	}
	f.Add("a b", true)
	f.Fuzz(func(t *testing.T, text string, absent bool) {
		var d Drawing
		for _, line := range strings.Split(text, "\n") {
			from, to, edge := strings.Cut(line, " ")
			if !edge {
				d.Nodes = append(d.Nodes, line)
				continue
			}
			for _, v := range []string{from, to} {
				if !absent && !slices.Contains(d.Nodes, v) {
					d.Nodes = append(d.Nodes, v)
				}
			}
			d.Edges = append(d.Edges, [2]string{from, to})
		}
		if len(d.Nodes) > 40 || len(d.Edges) > 60 {
			return
		}
		g, err := NewGraph(d)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.True(t, sound(d), "%v", d)
		reach, _ := walked(d)
		require.Equal(t, sketch{d, reach}.sinks(), g.Sinks())
		require.Nil(t, g.Check(g.Sinks()))
		for _, e := range d.Edges {
			require.True(t, g.Has(e[0]) && g.Has(e[1]) && g.Inside(e[1], e[0]))
		}
		require.NoError(t, CheckEdit(d, d))
		p, err := g.Partition(g.Sinks())
		require.NoError(t, err)
		require.Equal(t, len(g.Sinks()), p.Size())
	})
}
