package risk_test

import (
	"context"
	"fmt"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/graph"
)

// Ten records of two variables, a sample of one in ten, under independence.
func Example() {
	data := &bayes.Data{
		Levels:  []int{2, 3},
		Codes:   [][]uint32{{0, 0, 1, 1}, {0, 1, 0, 2}},
		Counts:  []int64{5, 2, 2, 1},
		Records: 10,
	}
	models := []bayes.Model{{Graph: graph.New(2), Weight: 1}}
	law, err := risk.NewLaw(context.Background(), data, 1, models, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	o := risk.Options{Unsampled: 90}
	cells, err := law.Cells(context.Background(), data, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := law.File(context.Background(), data, cells, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("the unique: E[1/F] %.3f, P(F = 1) %.3f, E[F] %.1f\n", cells.CorrectMatch[3], cells.PopulationUnique[3], cells.ExpectedFrequency[3])
	fmt.Printf("PU %.4f, theta %.3f\n", file.PU, file.CMUM)
	// Output:
	// the unique: E[1/F] 0.418, P(F = 1) 0.206, E[F] 4.5
	// PU 0.0039, theta 0.418
}
