package operators

import (
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Number is value i as a number; false if it is null or no number.
func Number(a arrow.Array, i int) (float64, bool) {
	if a.IsNull(i) {
		return 0, false
	}
	switch a := a.(type) {
	case *array.Float64:
		return a.Value(i), true
	case *array.Float32:
		return float64(a.Value(i)), true
	case *array.Float16:
		return float64(a.Value(i).Float32()), true
	case *array.Decimal128:
		return a.Value(i).ToFloat64(a.DataType().(*arrow.Decimal128Type).Scale), true
	case *array.Decimal256:
		return a.Value(i).ToFloat64(a.DataType().(*arrow.Decimal256Type).Scale), true
	case *array.Uint64:
		return float64(a.Value(i)), true
	case *array.Dictionary:
		if k := a.GetValueIndex(i); !a.Dictionary().IsNull(k) {
			return Number(a.Dictionary(), k)
		}
		return 0, false
	case *array.String, *array.LargeString:
		x, err := strconv.ParseFloat(Text(a, i), 64)
		return x, err == nil
	}
	n, ok := Integer(a, i)
	return float64(n), ok
}

// Integer is value i as a whole number; false if it is null, no whole number, or beyond int64.
func Integer(a arrow.Array, i int) (int64, bool) {
	if a.IsNull(i) {
		return 0, false
	}
	switch a := a.(type) {
	case *array.Int8:
		return int64(a.Value(i)), true
	case *array.Int16:
		return int64(a.Value(i)), true
	case *array.Int32:
		return int64(a.Value(i)), true
	case *array.Int64:
		return a.Value(i), true
	case *array.Uint8:
		return int64(a.Value(i)), true
	case *array.Uint16:
		return int64(a.Value(i)), true
	case *array.Uint32:
		return int64(a.Value(i)), true
	case *array.Uint64:
		return int64(a.Value(i)), a.Value(i) <= 1<<63-1
	case *array.Float32, *array.Float64, *array.Decimal128, *array.Decimal256:
		x, _ := Number(a, i)
		return int64(x), x == float64(int64(x)) && x >= -(1<<53) && x <= 1<<53
	case *array.String, *array.LargeString:
		n, err := strconv.ParseInt(Text(a, i), 10, 64)
		return n, err == nil
	case *array.Dictionary:
		if k := a.GetValueIndex(i); !a.Dictionary().IsNull(k) {
			return Integer(a.Dictionary(), k)
		}
	}
	return 0, false
}

// Shown is value i for a message.
func Shown(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "null"
	}
	if text := Text(a, i); !IsText(ValueType(a.DataType())) {
		return text
	} else {
		return strconv.Quote(text)
	}
}

// DecimalNumber is value i as a number, where a floating-point one is the decimal that it is written as: 0.7 in 32 bits is 0.7 and not
// 0.699999988. False if it is null or no number.
func DecimalNumber(a arrow.Array, i int) (float64, bool) {
	switch a := a.(type) {
	case *array.Float32:
		if a.IsNull(i) {
			return 0, false
		}
		x, err := strconv.ParseFloat(strconv.FormatFloat(float64(a.Value(i)), 'g', -1, 32), 64)
		return x, err == nil
	case *array.Dictionary:
		if k := a.GetValueIndex(i); a.IsValid(i) && a.Dictionary().IsValid(k) {
			return DecimalNumber(a.Dictionary(), k)
		}
		return 0, false
	}
	return Number(a, i)
}

// PlainDecimal tells whether a number is written without an exponent.
func PlainDecimal(s string) bool {
	return strings.Trim(s, "0123456789.+-") == ""
}
