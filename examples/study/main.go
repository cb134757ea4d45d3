// Study judges risk scores on a population that is known: 14,827 people of a synthetic survey of incomes and living conditions. Samples
// are drawn, scored by SUDA, DIS-IS and models of the population, and compared with the truth. README.md beside it says what comes of it.
//
//	go run ./examples/study --out study
//
// The folder gets evaluation.json, plots.parquet and the figures, for samples of 10 percent, and in strategies for samples of 1 to
// 99 percent.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"microrisk/operators/mc3"
	"microrisk/operators/suda"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

func main() {
	data := flag.String("data", filepath.Join("examples", "data", "eusilc_synth.parquet"), "the population")
	out := flag.String("out", "study", "folder for the results")
	repetitions := flag.Int("repetitions", 20, "samples of each sampling fraction")
	flag.Parse()
	if err := run(context.Background(), *data, *out, *repetitions); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, data, out string, repetitions int) error {
	// What could be known of a neighbour: region, size of household, age, sex, citizenship, economic status.
	key := &schemas.Key{}
	for _, name := range []string{"db040", "hsize", "age", "rb090", "pb220a", "pl030"} {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: name})
	}
	study := evaluate.Spec{
		Spec: &schemas.Spec{Source: schemas.Source{Path: []string{data}}, Key: key,
			Operators: []schemas.Operator{{Config: &suda.Config{}}, {Config: &mc3.Config{}}}},
		Fractions: []float64{0.1}, Repetitions: repetitions, Out: out, Pictures: []string{"svg"},
	}
	e, err := evaluate.Run(ctx, study, session.Options{})
	if err != nil {
		return err
	}
	fmt.Printf("%d people, %d of them unique by %d key variables\n\n", e.Rows, e.PopulationUniques, len(e.Key))
	fmt.Printf("%-22s %6s %6s %22s\n", "score", "AUC", "slope", "precision of the top 50")
	for _, s := range e.Fractions[0].Scores {
		fmt.Printf("%-22s %6.3f %6.3f %22.3f\n", s.Name, value(s.AUC), value(s.Slope), value(s.Precision[1].MeanFigure))
	}

	// Ten classes, and whether a match in one of them is right, from small samples to almost everybody.
	study.Spec.Operators = []schemas.Operator{{Config: &mc3.Config{}}}
	study.Fractions = []float64{0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}
	study.Out = filepath.Join(out, "strategies")
	if e, err = evaluate.Run(ctx, study, session.Options{}); err != nil {
		return err
	}
	fmt.Printf("\n%-10s", "fraction")
	for _, s := range e.Fractions[0].Strategies {
		fmt.Printf(" %20s", s.Name)
	}
	for _, f := range e.Fractions {
		fmt.Printf("\n%-10g", f.Fraction)
		for _, s := range f.Strategies {
			fmt.Printf(" %20.3f", value(s.Correct))
		}
	}
	fmt.Printf("\n\nwritten to %s\n", out)
	return nil
}

// value is a mean, 0 where it is not defined.
func value(f evaluate.MeanFigure) float64 {
	if f.Mean == nil {
		return 0
	}
	return *f.Mean
}
