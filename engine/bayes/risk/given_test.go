package risk

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
)

// where is the part of a sample whose cells are as said.
func where(d *bayes.Data, in func(i int) bool) *bayes.Data {
	part := &bayes.Data{Levels: d.Levels, Codes: make([][]uint32, len(d.Codes))}
	for i, n := range d.Counts {
		if in(i) {
			for v := range d.Codes {
				part.Codes[v] = append(part.Codes[v], d.Codes[v][i])
			}
			part.Counts, part.Records = append(part.Counts, n), part.Records+n
		}
	}
	return part
}

// What is told of the last variable is the share of the cell among all that differ in it alone, by the law of the records with other values of
// the others.
func TestGivenAgainstOthers(t *testing.T) {
	for seed := range uint64(12) {
		levels := [][]int{{3, 4, 2, 5}, {2, 3}, {4}, {2, 2, 3, 2, 1}}[seed%4]
		d, models := random(seed, levels, 60, 3, 4)
		l, err := NewLaw(context.Background(), d, 2, models, 1)
		require.NoError(t, err)
		given, err := l.Given(context.Background(), d, Options{Workers: 1 + int(seed)%2})
		require.NoError(t, err)
		last := len(levels) - 1
		for i := range d.Counts {
			others := where(d, func(j int) bool {
				return slices.ContainsFunc(d.Codes[:last], func(codes []uint32) bool { return codes[i] != codes[j] })
			})
			law, err := NewLaw(context.Background(), others, 2, models, 1)
			require.NoError(t, err)
			every := &bayes.Data{Levels: d.Levels, Codes: make([][]uint32, len(d.Codes))}
			for s := range levels[last] {
				for v := range last {
					every.Codes[v] = append(every.Codes[v], d.Codes[v][i])
				}
				every.Codes[last] = append(every.Codes[last], uint32(s))
				every.Counts, every.Records = append(every.Counts, 1), every.Records+1
			}
			c, err := law.Cells(context.Background(), every, Options{Unsampled: 1e6})
			require.NoError(t, err)
			sum := 0.0
			for _, expected := range c.ExpectedFrequency {
				sum += expected - 1
			}
			require.InEpsilon(t, (c.ExpectedFrequency[d.Codes[last][i]]-1)/sum, given[i], 1e-8)
		}
	}
}

// A prior that is too thin to be seen beside a count is still what is left where there are no others.
func TestLeftOutOfThinPrior(t *testing.T) {
	d := &bayes.Data{Levels: []int{1e6, 1e6, 1e6, 3}, Codes: [][]uint32{{0, 1, 1}, {0, 1, 1}, {0, 1, 1}, {0, 1, 2}}, Counts: []int64{1, 1, 1}, Records: 3}
	_, models := random(1, []int{2, 2, 2, 2}, 60, 1, 6)
	l, err := NewLaw(context.Background(), d, 1, models, 1)
	require.NoError(t, err)
	given, err := l.Given(context.Background(), d, Options{})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{1. / 3, 1. / 3, 1. / 3}, given, 1e-12)
	for _, all := range []bool{false, true} {
		means, err := l.LeftOut(context.Background(), d, all, Options{})
		require.NoError(t, err)
		for _, m := range means {
			require.InEpsilon(t, 1./3e18/3, m, 1e-9)
		}
	}
}
