// Embed chains microrisk's operators inside another program: it takes a reader of Arrow records, scores the records, and gets Arrow
// records back. It links neither the command line nor Parquet.
//
//	go run ./examples/embed
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/recode"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

func main() {
	if err := run(context.Background(), survey()); err != nil {
		log.Fatal(err)
	}
}

// run scores the records of a reader and prints those that are unique in the sample.
func run(ctx context.Context, reader array.RecordReader) error {
	source, err := operators.NewRecords(reader) // kept, since the rows are read twice
	if err != nil {
		return err
	}
	defer source.Release()

	// Ages in bands of ten years feed the key; the column itself stays as it is.
	hidden := false
	chain, err := operators.NewChain(source.Schema(),
		recode.Operator{Config: recode.Column{Name: "age10", From: "age", Width: 10, Keep: &hidden}},
		suda.Operator{
			Key:      schemas.Key{Variables: []schemas.KeyVariable{{Name: "age10"}, {Name: "sex"}, {Name: "town"}}},
			Sampling: &schemas.Sampling{Fraction: 0.1},
			Config:   suda.Config{MSUs: true},
		})
	if err != nil {
		return err
	}

	sink := &operators.Emit{To: func(_ int, r arrow.Record) error {
		f, score := column[*array.Int64](r, "sample_frequency"), column[*array.Float64](r, "suda_score")
		sets := column[*array.List](r, "suda_msus")
		for i := range int(r.NumRows()) {
			if f.Value(i) == 1 {
				fmt.Printf("%-10s score %.3f, unique on %s\n", operators.Text(column[*array.String](r, "name"), i), score.Value(i), sets.ValueStr(i))
			}
		}
		return nil
	}}
	report, err := chain.Run(ctx, source, sink, operators.Options{})
	if err != nil {
		return err
	}
	summary := report.Operators[0].Summary.(*suda.Summary)
	fmt.Printf("%d of %d records are sample uniques; a unique match is correct with probability %.2f\n",
		summary.KeySummary.SampleUniques, report.Rows, *summary.DIS)
	return nil
}

// column is a column of a record by its name.
func column[T arrow.Array](r arrow.Record, name string) T {
	return r.Column(r.Schema().FieldIndices(name)[0]).(T)
}

// survey stands for the records that a program has already.
func survey() array.RecordReader {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "name", Type: arrow.BinaryTypes.String},
		{Name: "age", Type: arrow.PrimitiveTypes.Int32},
		{Name: "sex", Type: arrow.BinaryTypes.String},
		{Name: "town", Type: arrow.BinaryTypes.String},
	}, nil)
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[
		{"name": "Ada",   "age": 36, "sex": "f", "town": "Ash"},
		{"name": "Blaise","age": 39, "sex": "m", "town": "Ash"},
		{"name": "Carl",  "age": 31, "sex": "m", "town": "Ash"},
		{"name": "Dana",  "age": 34, "sex": "f", "town": "Elm"},
		{"name": "Emmy",  "age": 53, "sex": "f", "town": "Elm"},
		{"name": "Felix", "age": 58, "sex": "f", "town": "Elm"},
		{"name": "Grace", "age": 85, "sex": "f", "town": "Ash"}]`))
	if err != nil {
		log.Fatal(err)
	}
	defer r.Release()
	reader, err := array.NewRecordReader(schema, []arrow.Record{r})
	if err != nil {
		log.Fatal(err)
	}
	return reader
}
