// Package operatortest runs operators on small tables of text in tests.
package operatortest

import (
	"context"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/schemas"
)

// Lines makes records of text columns: "name name" and one line a row, "_" for null, cut into batches of the given size. Columns
// called name:number are of numbers.
func Lines(t *testing.T, mem memory.Allocator, batch int, header string, rows ...string) *operators.Records {
	t.Helper()
	var fields []arrow.Field
	for _, name := range strings.Fields(header) {
		field := arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
		if name, number := strings.CutSuffix(name, ":number"); number {
			field.Name, field.Type = name, arrow.PrimitiveTypes.Float64
		}
		fields = append(fields, field)
	}
	schema := arrow.NewSchema(fields, nil)
	var records []arrow.Record
	for from := 0; from < len(rows); from += batch {
		b := array.NewRecordBuilder(mem, schema)
		for _, row := range rows[from:min(from+batch, len(rows))] {
			for c, text := range strings.Fields(row) {
				if text == "_" {
					b.Field(c).AppendNull()
				} else {
					require.NoError(t, b.Field(c).AppendValueFromString(text))
				}
			}
		}
		records = append(records, b.NewRecord())
		b.Release()
	}
	reader, err := array.NewRecordReader(schema, records)
	require.NoError(t, err)
	for _, r := range records {
		r.Release()
	}
	defer reader.Release()
	source, err := operators.NewRecords(reader)
	require.NoError(t, err)
	t.Cleanup(source.Release)
	return source
}

// Table runs a chain and gives its output as text: the header, then the rows in order.
func Table(t *testing.T, mem memory.Allocator, source operators.Source, o operators.Options, ops ...operators.Operator) ([]string, *operators.Report, error) {
	t.Helper()
	chain, err := operators.NewChain(source.Schema(), ops...)
	if err != nil {
		return nil, nil, err
	}
	o.Allocator = mem
	byPart := map[int][]string{}
	var header []string
	for _, out := range chain.Output() {
		header = append(header, out.Field.Name)
	}
	report, err := chain.Run(context.Background(), source, &operators.Emit{To: func(part int, r arrow.Record) error {
		for i := range int(r.NumRows()) {
			var row []string
			for _, c := range r.Columns() {
				if c.IsNull(i) {
					row = append(row, "_")
				} else {
					row = append(row, operators.Text(c, i))
				}
			}
			byPart[part] = append(byPart[part], strings.Join(row, " "))
		}
		return nil
	}}, o)
	if err != nil {
		return nil, nil, err
	}
	out := []string{strings.Join(header, " ")}
	var parts []int
	for p := range byPart {
		parts = append(parts, p)
	}
	sort.Ints(parts)
	for _, p := range parts {
		out = append(out, byPart[p]...)
	}
	return out, report, nil
}

// Key is a key of these variables.
func Key(names ...string) schemas.Key {
	var k schemas.Key
	for _, n := range names {
		k.Variables = append(k.Variables, schemas.KeyVariable{Name: n})
	}
	return k
}

// Typed makes a source of a record that is written as JSON.
func Typed(t *testing.T, mem memory.Allocator, fields []arrow.Field, json string) *operators.Records {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	r, _, err := array.RecordFromJSON(mem, schema, strings.NewReader(json))
	require.NoError(t, err)
	defer r.Release()
	reader, err := array.NewRecordReader(schema, []arrow.Record{r})
	require.NoError(t, err)
	defer reader.Release()
	s, err := operators.NewRecords(reader)
	require.NoError(t, err)
	t.Cleanup(s.Release)
	return s
}

// Value is a number of an output row.
func Value(t *testing.T, row string, column int) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.Fields(row)[column], 64)
	require.NoError(t, err, row)
	return v
}

// Variables are variables of a key or of tables.
func Variables(names ...string) []schemas.KeyVariable { return Key(names...).Variables }
