package search_test

import (
	"context"
	"fmt"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/search"
)

func ExampleRun() {
	// Three binary variables: the second goes with the first, the third with neither.
	d := &bayes.Data{
		Levels: []int{2, 2, 2},
		Codes:  [][]uint32{{0, 0, 0, 1, 1, 1}, {0, 0, 1, 0, 1, 1}, {0, 1, 0, 1, 0, 1}},
		Counts: []int64{30, 28, 4, 3, 22, 25}, Records: 112,
	}
	scores, err := bayes.NewScores(d, 1)
	if err != nil {
		panic(err)
	}
	for _, method := range []search.Method{search.Auto, search.MC3, search.Occam, search.Anneal} {
		r, err := search.Run(context.Background(), scores, search.Options{Method: method, Iterations: 10_000})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: best %v, edge 0-1 %.3f, edge 1-2 %.3f\n", r.Method, r.Models[0].Graph.Edges(), r.Edges[0][1], r.Edges[1][2])
	}
	// Output:
	// exact: best [[0 1]], edge 0-1 1.000, edge 1-2 0.323
	// mc3: best [[0 1]], edge 0-1 1.000, edge 1-2 0.323
	// occam: best [[0 1]], edge 0-1 1.000, edge 1-2 0.323
	// anneal: best [[0 1]], edge 0-1 1.000, edge 1-2 0.000
}
