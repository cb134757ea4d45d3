package arrowfile_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"microrisk/operators"
	"microrisk/operators/arrowfile"
	"microrisk/operators/parquetfile"
)

// From a Parquet file to an Arrow IPC stream, and from the stream again.
func ExampleNewStreamSink() {
	ctx := context.Background()
	source, err := parquetfile.Open(ctx, []string{"../../examples/data/cps1988.parquet"}, parquetfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	chain, err := operators.NewChain(source.Schema())
	if err != nil {
		log.Fatal(err)
	}
	var stream bytes.Buffer
	if _, err := chain.Run(ctx, source, arrowfile.NewStreamSink(&stream), operators.Options{}); err != nil {
		log.Fatal(err)
	}
	again, err := arrowfile.NewStreamSource(ctx, &stream, arrowfile.StreamOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	fmt.Println(again.Schema().NumFields(), "columns, the first is", again.Schema().Field(0).Name)
	// Output: 7 columns, the first is wage
}
