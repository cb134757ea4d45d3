package operators_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/frequency"
	"microrisk/schemas"
)

// How many records have the same age and sex, next to each.
func ExampleChain() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "age", Type: arrow.PrimitiveTypes.Int64}, {Name: "sex", Type: arrow.BinaryTypes.String}}, nil)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema,
		strings.NewReader(`[{"age": 34, "sex": "f"}, {"age": 34, "sex": "f"}, {"age": 51, "sex": "m"}]`))
	if err != nil {
		log.Fatal(err)
	}
	reader, err := array.NewRecordReader(schema, []arrow.Record{record})
	if err != nil {
		log.Fatal(err)
	}
	source, err := operators.NewRecords(reader)
	if err != nil {
		log.Fatal(err)
	}
	defer source.Release()
	key := schemas.Key{Variables: []schemas.KeyVariable{{Name: "age"}, {Name: "sex"}}}
	chain, err := operators.NewChain(source.Schema(), frequency.Operator{Key: key})
	if err != nil {
		log.Fatal(err)
	}
	_, err = chain.Run(context.Background(), source, &operators.Emit{To: func(_ int, r arrow.Record) error {
		fmt.Println(r.Schema().Field(2).Name, r.Column(2))
		return nil
	}}, operators.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// Output: sample_frequency [2 2 1]
}
