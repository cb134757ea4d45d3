package local

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two cells of one record, and a person whom one row fits.
func TestWildcardWorkedExample(t *testing.T) {
	rows := [][]uint32{{1, 1, 1}, {1, 1, 2}, {1, 2, 1}, {2, 2, 2}, {2, 2, 2}}
	p, _ := rowsProblem(rows, 2, nil)
	r, err := Wildcard(background, p, 2, Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, r.Cells)
	again, err := Recount(background, p, r.Parts)
	require.NoError(t, err)
	assert.Equal(t, Recounted{Released: 5, Class: 3, Own: 1, Persons: 1, Alone: 1}, again)
}

// With all cells of a record, few are needed, and k rows are compatible with all; with one, no record has more.
func TestWildcard(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		rows := randomRows(r, 10+r.IntN(200), 2+r.IntN(4), 5)
		p, _ := rowsProblem(rows, 2+r.Int64N(3), nil)
		all := len(p.Codes)
		got, err := Wildcard(background, p, all, Options{})
		require.NoError(t, err)
		again, err := Recount(background, p, got.Parts)
		require.NoError(t, err)
		require.Zero(t, again.Wildcard)
		one, err := Wildcard(background, p, 1, Options{Workers: 5})
		require.NoError(t, err)
		for _, x := range one.Parts {
			require.Equal(t, 1, x.Cut.size())
		}
		own, err := Own(background, p, Options{})
		require.NoError(t, err)
		require.LessOrEqual(t, got.Cells, own.Cells+(p.K-1)*int64(all))
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	p, _ := rowsProblem(randomRows(r, 100, 4, 5), 2, nil)
	got, err := Wildcard(ctx, p, 1, Options{})
	require.NoError(t, err)
	require.True(t, got.Interrupted)
	_, err = Wildcard(background, p, 5, Options{})
	require.ErrorContains(t, err, "from 1 to 4")
	p.Missing = []int64{0, NoCode, NoCode, NoCode}
	_, err = Wildcard(background, p, 1, Options{})
	require.ErrorContains(t, err, "a category")
	p.Caps = []int64{1, 1, 1, 1}
	_, err = Wildcard(background, p, 1, Options{})
	require.ErrorContains(t, err, "caps do not go")
}
