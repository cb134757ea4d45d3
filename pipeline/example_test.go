package pipeline_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas/specfile"
)

// A spec runs, and its limits are compared with what came of it.
func ExampleRun() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	spec, err := specfile.Decode("example.yaml", []byte(`
version: 1
source: {path: ../examples/data/cps1988.parquet}
sampling: {fraction: 0.0005}
key: {variables: [education, ethnicity, region]}
operators: [suda]
sink: {path: `+filepath.Join(dir, "risk.parquet")+`}
limits: {sample_uniques: 5}
`))
	if err != nil {
		log.Fatal(err)
	}
	outcome, err := pipeline.Run(context.Background(), spec, session.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Written, "rows,", outcome.Summary.Key.Classes, "keys,", outcome.Summary.Key.SampleUniques, "sample uniques")
	for _, b := range outcome.Breaches {
		fmt.Println(b)
	}
	// Output:
	// 28155 rows, 142 keys, 6 sample uniques
	// limit breached: sample_uniques is 6, at most 5 is allowed
}
