package evaluate_test

import (
	"fmt"
	"log"

	"microrisk/engine/evaluate"
)

// Two scores of six sample uniques, of which two are population unique.
func Example() {
	unique := []bool{true, false, false, true, false, false}
	suda := []float64{9, 4, 9, 2, 1, 0}
	mc3 := []float64{0.9, 0.2, 0.4, 0.6, 0.1, 0.1}
	for _, score := range [][]float64{suda, mc3} {
		roc, err := evaluate.NewROC(score, unique)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(roc.Area, evaluate.Precision(score, unique, []int{1, 2}))
	}
	// Output:
	// 0.6875 [0.5 0.5]
	// 1 [1 1]
}

// A tenth of the households is drawn, whatever their sizes.
func ExampleDrawClusters() {
	drawn, err := evaluate.DrawClusters(1000, evaluate.Design{Fraction: 0.1}, 1, 0)
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	for _, take := range drawn {
		if take {
			n++
		}
	}
	fmt.Println(n)
	// Output: 100
}
