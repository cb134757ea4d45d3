package risk

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
)

// What is left of a cell's mean without its records is its mean by the law of the others.
func TestLeftOutAgainstOthers(t *testing.T) {
	d, models := random(5, []int{3, 4, 2, 5}, 60, 2, 4)
	l, err := NewLaw(context.Background(), d, 2, models, 1)
	require.NoError(t, err)
	means, err := l.LeftOut(context.Background(), d, true, Options{})
	require.NoError(t, err)
	for i, f := range d.Counts {
		rest := &bayes.Data{Levels: d.Levels, Codes: make([][]uint32, len(d.Codes)), Records: d.Records - f}
		only := &bayes.Data{Levels: d.Levels, Codes: make([][]uint32, len(d.Codes)), Records: f, Counts: []int64{f}}
		for j, n := range d.Counts {
			for v := range d.Codes {
				if j == i {
					only.Codes[v] = []uint32{d.Codes[v][j]}
				} else {
					rest.Codes[v] = append(rest.Codes[v], d.Codes[v][j])
				}
			}
			if j != i {
				rest.Counts = append(rest.Counts, n)
			}
		}
		others, err := NewLaw(context.Background(), rest, 2, models, 1)
		require.NoError(t, err)
		c, err := others.Cells(context.Background(), only, Options{Unsampled: 1000})
		require.NoError(t, err)
		require.InEpsilon(t, (c.ExpectedFrequency[0]-float64(f))/1000, means[i], 1e-9)
	}
}
