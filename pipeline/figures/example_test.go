//go:build !nofigures

package figures_test

import (
	"fmt"
	"log"

	"microrisk/engine/evaluate"
	"microrisk/pipeline/figures"
)

// The ROC curves of two scores, as a picture to write to a file.
func ExampleROC() {
	unique := []bool{true, false, false, true, false, false}
	var curves []figures.Curve
	for _, s := range []struct {
		name  string
		score []float64
	}{{"SUDA", []float64{9, 4, 9, 2, 1, 0}}, {"MC3", []float64{0.9, 0.2, 0.4, 0.6, 0.1, 0.1}}} {
		roc, err := evaluate.NewROC(s.score, unique)
		if err != nil {
			log.Fatal(err)
		}
		curves = append(curves, figures.Curve{Name: s.name, ROC: roc})
	}
	figure := figures.ROC(curves)
	figure.Title = "Who is found"
	picture, err := figure.SVG()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.19s\n%s\n", picture, figure.Lines[1].Name)
	// Output:
	// <?xml version="1.0"
	// MC3  1.000
}
