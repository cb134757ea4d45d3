package recode

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// Texts are what values of a column of the type, as the texts of its categories, become; "" for missing.
func (r *Column) Texts(t arrow.DataType, values []string) ([]string, error) {
	make, _, err := recoding(*r, operators.ValueType(t))
	if err != nil {
		return nil, fmt.Errorf("recode %s: %w", r.Name, err)
	}
	column, err := columnOf(operators.ValueType(t), values)
	if err != nil {
		return nil, fmt.Errorf("recode %s: %w", r.Name, err)
	}
	defer column.Release()
	out := append([]string(nil), values...)
	for i, text := range values {
		to, ok := make(column, i, text)
		if !ok {
			to = ""
		}
		out[i] = to
	}
	return out, nil
}

// columnOf is a column of the values, of whole numbers where the type has these.
func columnOf(t arrow.DataType, values []string) (arrow.Array, error) {
	if operators.IsInteger(t) {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		for _, text := range values {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%q is no whole number up to 2^63", text)
			}
			b.Append(n)
		}
		return b.NewArray(), nil
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewArray(), nil
}
