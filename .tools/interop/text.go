package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

func floatText(v any) string {
	switch v := v.(type) {
	case float32:
		if v != v {
			return "NaN"
		}
		return fmt.Sprintf("%x", math.Float64bits(float64(v)))
	case float64:
		if v != v {
			return "NaN"
		}
		return fmt.Sprintf("%x", math.Float64bits(v))
	}
	return fmt.Sprint(v)
}

// valueText is the value of an array, the same for all types and units that can hold it: times in nanoseconds, decimals as fractions,
// floats by their bits, text and bytes as they are.
func valueText(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "null"
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return valueText(a.Dictionary(), a.GetValueIndex(i))
	case *array.Float16:
		return floatText(a.Value(i).Float32())
	case *array.Float32:
		return floatText(a.Value(i))
	case *array.Float64:
		return floatText(a.Value(i))
	case interface{ Value(int) string }:
		return fmt.Sprintf("%x", a.Value(i))
	case interface{ Value(int) []byte }:
		return fmt.Sprintf("%x", a.Value(i))
	case *array.Date32:
		return fmt.Sprint(int64(a.Value(i)), " days")
	case *array.Date64:
		return fmt.Sprint(int64(a.Value(i))/86400000, " days")
	case *array.Time32:
		return nanoseconds(int64(a.Value(i)), a.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		return nanoseconds(int64(a.Value(i)), a.DataType().(*arrow.Time64Type).Unit)
	case *array.Timestamp:
		return nanoseconds(int64(a.Value(i)), a.DataType().(*arrow.TimestampType).Unit)
	case *array.Decimal128:
		return fraction(a.Value(i).BigInt(), a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		return fraction(a.Value(i).BigInt(), a.DataType().(*arrow.Decimal256Type).Scale)
	}
	return a.ValueStr(i)
}

func nanoseconds(x int64, unit arrow.TimeUnit) string {
	return new(big.Int).Mul(big.NewInt(x), big.NewInt(unit.Multiplier().Nanoseconds())).String() + " ns"
}

func fraction(x *big.Int, scale int32) string {
	return new(big.Rat).SetFrac(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).String()
}

// arrowTexts reads an Arrow file column by column.
func arrowTexts(path string) (map[string][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	columns := map[string][]string{}
	for _, field := range r.Schema().Fields() {
		columns[field.Name] = nil
	}
	for k := range r.NumRecords() {
		record, err := r.Record(k)
		if err != nil {
			return nil, err
		}
		for i, field := range r.Schema().Fields() {
			for row := range int(record.NumRows()) {
				columns[field.Name] = append(columns[field.Name], valueText(record.Column(i), row))
			}
		}
	}
	return columns, nil
}

// arrows compares the columns of a table with those that our program wrote as Arrow.
func arrows(base, output string) (columns, values int, problems []string) {
	want, err := arrowTexts(base)
	if err != nil {
		return 0, 0, []string{err.Error()}
	}
	got, err := arrowTexts(output)
	if err != nil {
		return 0, 0, []string{err.Error()}
	}
	for name, list := range want {
		other, ok := got[name]
		if !ok {
			continue // this writer does not have the type
		}
		columns, values = columns+1, values+len(list)
		if len(list) != len(other) {
			problems = append(problems, fmt.Sprintf("column %s: %d rows became %d", name, len(list), len(other)))
			continue
		}
		for i := range list {
			if list[i] != other[i] {
				problems = append(problems, fmt.Sprintf("column %s, row %d: %.60s became %.60s", name, i, list[i], other[i]))
				break
			}
		}
	}
	return columns, values, problems
}

// values writes the columns of an Arrow file as JSON, a column a line.
func values(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return err
	}
	defer r.Close()
	record, err := r.Record(0)
	if err != nil {
		return err
	}
	for i, field := range r.Schema().Fields() {
		texts := make([]string, record.NumRows())
		for row := range texts {
			texts[row] = "<null>"
			if column := record.Column(i); column.IsValid(row) {
				texts[row] = column.ValueStr(row)
			}
		}
		b, err := json.Marshal(map[string]any{"column": field.Name, "values": texts})
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", b)
	}
	return nil
}
