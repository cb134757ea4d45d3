package bayes_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
	"microrisk/engine/contingency"
	"microrisk/engine/graph"
)

// smokers is a table of two variables, both with a missing value in one class each; code 2 is missing.
func smokers(t testing.TB) *contingency.Table {
	table, err := contingency.New(
		[]contingency.Variable{{Name: "sex", Categories: []string{"F", "M"}}, {Name: "smokes", Categories: []string{"no", "yes"}}},
		[][]uint32{{0, 0, 1, 1, 2}, {0, 1, 0, 2, 1}}, []int64{5, 2, 4, 1, 3})
	require.NoError(t, err)
	return table
}

func TestNewData(t *testing.T) {
	table := smokers(t)
	for name, c := range map[string]struct {
		drop    []bool
		levels  []int
		codes   [][]uint32
		counts  []int64
		class   []int
		records int64
	}{
		"category":  {nil, []int{3, 3}, [][]uint32{{0, 0, 1, 1, 2}, {0, 1, 0, 2, 1}}, []int64{5, 2, 4, 1, 3}, nil, 15},
		"drop none": {[]bool{false, false}, []int{3, 3}, [][]uint32{{0, 0, 1, 1, 2}, {0, 1, 0, 2, 1}}, []int64{5, 2, 4, 1, 3}, nil, 15},
		"drop sex":  {[]bool{true, false}, []int{2, 3}, [][]uint32{{0, 0, 1, 1}, {0, 1, 0, 2}}, []int64{5, 2, 4, 1}, []int{0, 1, 2, 3}, 12},
		"drop both": {[]bool{true, true}, []int{2, 2}, [][]uint32{{0, 0, 1}, {0, 1, 0}}, []int64{5, 2, 4}, []int{0, 1, 2}, 11},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := bayes.NewData(table, c.drop)
			require.NoError(t, err)
			require.Equal(t, &bayes.Data{Levels: c.levels, Codes: c.codes, Counts: c.counts, Class: c.class, Records: c.records}, d)
			require.Equal(t, 2, d.Variables())
			require.Equal(t, len(c.counts), d.Cells())
			require.InDelta(t, math.Log(float64(c.levels[0]*c.levels[1])), d.LogCells(graph.Of(0, 1)), 1e-12)
			require.Zero(t, d.LogCells(0))
		})
	}
	_, err := bayes.NewData(table, []bool{true})
	require.ErrorContains(t, err, "1 of 2 variables")
}

// A missing value of one variable does not make a level of its own where its only record is dropped for another.
func TestNewDataDropsBeforeItCounts(t *testing.T) {
	table, err := contingency.New(
		[]contingency.Variable{{Name: "sex", Categories: []string{"F", "M"}}, {Name: "smokes", Categories: []string{"no", "yes"}}},
		[][]uint32{{0, 2, 1}, {0, 2, 1}}, []int64{5, 2, 4})
	require.NoError(t, err)
	for _, drop := range [][]bool{{true, false}, {false, true}} {
		d, err := bayes.NewData(table, drop)
		require.NoError(t, err)
		require.Equal(t, []int{2, 2}, d.Levels)
		require.EqualValues(t, 9, d.Records)
	}
}

func ExampleScores() {
	d := &bayes.Data{Levels: []int{2, 2}, Codes: [][]uint32{{0, 0, 1}, {0, 1, 1}}, Counts: []int64{30, 3, 20}, Records: 53}
	s, err := bayes.NewScores(d, 1)
	if err != nil {
		panic(err)
	}
	independent, joint := s.Graph(graph.New(2)), s.Graph(graph.Complete(2))
	fmt.Printf("log Bayes factor of the edge %.2f\n", joint-independent)
	all, err := s.Subsets(context.Background(), 1)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(all), all[3] == s.Log(graph.Of(0, 1)))
	// Output:
	// log Bayes factor of the edge 24.76
	// 4 true
}
