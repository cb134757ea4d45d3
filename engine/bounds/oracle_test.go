package bounds

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// everyTable lists all tables of a release by plain counting: each cell up to the smallest upper bound of the rows it is in.
func everyTable(t require.TestingT, r *Release) [][]int64 {
	sys, err := newSystem(context.Background(), r)
	if err != nil {
		var none *InfeasibleError
		require.ErrorAs(t, err, &none)
		return nil
	}
	most := make([]int64, sys.size)
	for c := range most {
		most[c] = infinite
	}
	for _, w := range sys.rows {
		for _, c := range w.cells {
			most[c] = min(most[c], w.high)
		}
	}
	left := make([]int64, len(sys.rows))
	of := make([][]int, sys.size)
	for i, w := range sys.rows {
		left[i] = w.high
		for _, c := range w.cells {
			of[c] = append(of[c], i)
		}
	}
	var list [][]int64
	table := make([]int64, sys.size)
	var fill func(c int)
	fill = func(c int) {
		if c == len(table) {
			if sys.admits(table) {
				list = append(list, append([]int64(nil), table...))
			}
			return
		}
		for x := range most[c] + 1 {
			fits := true
			for _, i := range of[c] {
				fits = fits && left[i] >= x
			}
			if !fits {
				break
			}
			for _, i := range of[c] {
				left[i] -= x
			}
			table[c] = x
			fill(c + 1)
			for _, i := range of[c] {
				left[i] += x
			}
		}
		table[c] = 0
	}
	fill(0)
	return list
}

// extremes are the least and largest counts of a list of tables.
func extremes(list [][]int64) (low, high []int64) {
	for i, table := range list {
		if i == 0 {
			low, high = append(low, table...), append(high, table...)
		}
		for c, x := range table {
			low[c], high[c] = min(low[c], x), max(high[c], x)
		}
	}
	return low, high
}

func TestEveryTable(t *testing.T) {
	r := &Release{Levels: []int{2, 2}, Margins: []Margin{exactly("A", []int{0}, []int64{1, 1}), exactly("B", []int{1}, []int64{1, 1})}}
	require.Equal(t, [][]int64{{0, 1, 1, 0}, {1, 0, 0, 1}}, everyTable(t, r))
}
