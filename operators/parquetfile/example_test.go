package parquetfile_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"microrisk/operators"
	"microrisk/operators/parquetfile"
)

const sample = "../../examples/data/cps1988.parquet"

// Columns and rows of a file, without reading its data.
func ExampleOpen() {
	source, err := parquetfile.Open(context.Background(), []string{sample}, parquetfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	for _, f := range source.Schema().Fields() {
		fmt.Println(f.Name, f.Type)
	}
	fmt.Println(source.Rows(), "rows")
	// Output:
	// wage float64
	// education utf8
	// experience utf8
	// ethnicity utf8
	// smsa utf8
	// region utf8
	// parttime utf8
	// 28155 rows
}

// A chain of no operators copies: every column chunk passes byte for byte.
func ExampleCreate() {
	ctx := context.Background()
	source, err := parquetfile.Open(ctx, []string{sample}, parquetfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	sink, err := parquetfile.Create(source, []string{filepath.Join(dir, "copy.parquet")}, parquetfile.SinkOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer sink.Abort() // after a run that succeeded it does nothing
	chain, err := operators.NewChain(source.Schema())
	if err != nil {
		log.Fatal(err)
	}
	report, err := chain.Run(ctx, source, sink, operators.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Written, "rows written")
	// Output: 28155 rows written
}
