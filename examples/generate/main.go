// Generate writes made-up microdata of any size, to try and to measure microrisk on. Row i is the same for any number of rows and
// any start, so parts can be made on their own.
//
//	go run ./examples/generate --rows 1000000 --out census.parquet
//	go run ./examples/generate --shape binary --rows 100000 --out binary.parquet
//
// Shapes: census (12 key variables that hang together, and a weight), census8 (8 independent ones, nearly all rows unique), codes
// (one of 50,000 codes and 3 small ones), binary (20 items of yes and no).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/operators/parquetfile"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int64("rows", 1_000_000, "number of rows")
	from := flag.Int64("from", 0, "number of the first row")
	shape := flag.String("shape", "census", "kind of file: "+strings.Join(slices.Sorted(maps.Keys(shapes)), ", "))
	seed := flag.Uint64("seed", 1, "seed")
	out := flag.String("out", "census.parquet", "output file")
	flag.Parse()
	variables, ok := shapes[*shape]
	if !ok || *rows < 0 || *from < 0 || flag.NArg() > 0 {
		flag.Usage()
		log.Fatal("a shape, rows and from of 0 or more, and nothing else, can be given")
	}
	if err := generate(context.Background(), newSource(newGenerator(variables, *seed), *from, *rows), *out); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows written to %s\n", *rows, *out)
}

// generate writes a source to a Parquet file, through a chain without operators.
func generate(ctx context.Context, s *source, out string) error {
	sink, err := parquetfile.Create(s, []string{out}, parquetfile.SinkOptions{})
	if err != nil {
		return err
	}
	chain, err := operators.NewChain(s.Schema())
	if err != nil {
		return err
	}
	_, err = chain.Run(ctx, s, sink, operators.Options{})
	return err
}

// partRows is the number of rows made at a time.
const partRows = 1 << 17

// A source makes its rows when they are read.
type source struct {
	g          *generator
	schema     *arrow.Schema
	from, rows int64
	categories []arrow.Array // of each variable
}

func newSource(g *generator, from, rows int64) *source {
	s := &source{g: g, from: from, rows: rows}
	var fields []arrow.Field
	for _, v := range g.variables {
		fields = append(fields, arrow.Field{Name: v.name, Type: arrow.BinaryTypes.String, Nullable: true})
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for code := range v.size {
			b.Append(v.text(code))
		}
		s.categories = append(s.categories, b.NewArray())
	}
	s.schema = arrow.NewSchema(append(fields, arrow.Field{Name: "weight", Type: arrow.PrimitiveTypes.Float64, Nullable: true}), nil)
	return s
}

func (s *source) Schema() *arrow.Schema { return s.schema }

func (s *source) Parts(context.Context) ([]operators.Part, error) {
	var parts []operators.Part
	for first := int64(0); first < s.rows; first += partRows {
		parts = append(parts, &part{s, first, min(partRows, s.rows-first)})
	}
	return parts, nil
}

type part struct {
	*source
	first, count int64
}

func (p *part) String() string  { return fmt.Sprintf("rows from %d", p.from+p.first) }
func (p *part) Input() int      { return 0 }
func (p *part) FirstRow() int64 { return p.first }
func (p *part) Rows() int64     { return p.count }

func (p *part) Read(_ context.Context, mem memory.Allocator, want []operators.Want, batch int) (array.RecordReader, error) {
	n := len(p.g.variables)
	columns, codes := make([]*array.Int32Builder, n), make([]int32, n)
	for v := range columns {
		columns[v] = array.NewInt32Builder(mem)
		defer columns[v].Release()
		columns[v].Reserve(int(p.count))
	}
	weights := array.NewFloat64Builder(mem)
	defer weights.Release()
	for r := p.from + p.first; r < p.from+p.first+p.count; r++ {
		p.g.row(uint64(r), codes)
		for v, c := range codes {
			columns[v].UnsafeAppend(c)
		}
		weights.Append(p.g.weight(uint64(r)))
	}
	arrays, fields := make([]arrow.Array, n+1), slices.Clone(p.schema.Fields())
	for v := range columns {
		index := columns[v].NewArray()
		fields[v].Type = operators.CodedType(fields[v].Type)
		arrays[v] = array.NewDictionaryArray(fields[v].Type, index, p.categories[v])
		index.Release()
	}
	arrays[n] = weights.NewArray()
	r := array.NewRecord(arrow.NewSchema(fields, nil), arrays, p.count)
	defer r.Release()
	for _, a := range arrays {
		a.Release()
	}
	return operators.ReadRecord(mem, r, want, batch)
}
