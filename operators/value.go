package operators

import (
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/engine/contingency"
)

// Text is value i of an array as text: integers in decimal, decimals with their scale, ISO dates and times with as many digits
// as the type has, intervals as ISO durations, strings and bytes as they are. Two values of one type that differ have texts that differ. A null has the text
// of its column's zero value: ask IsNull first.
func Text(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.String:
		return a.Value(i)
	case *array.LargeString:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	case *array.LargeBinary:
		return string(a.Value(i))
	case *array.FixedSizeBinary:
		return string(a.Value(i))
	case *array.Boolean:
		return strconv.FormatBool(a.Value(i))
	case *array.Int8:
		return strconv.FormatInt(int64(a.Value(i)), 10)
	case *array.Int16:
		return strconv.FormatInt(int64(a.Value(i)), 10)
	case *array.Int32:
		return strconv.FormatInt(int64(a.Value(i)), 10)
	case *array.Int64:
		return strconv.FormatInt(a.Value(i), 10)
	case *array.Uint8:
		return strconv.FormatUint(uint64(a.Value(i)), 10)
	case *array.Uint16:
		return strconv.FormatUint(uint64(a.Value(i)), 10)
	case *array.Uint32:
		return strconv.FormatUint(uint64(a.Value(i)), 10)
	case *array.Uint64:
		return strconv.FormatUint(a.Value(i), 10)
	case *array.Float32:
		return strconv.FormatFloat(float64(a.Value(i)), 'g', -1, 32)
	case *array.Float64:
		return strconv.FormatFloat(a.Value(i), 'g', -1, 64)
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal256Type).Scale)
	case *array.Date32:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Date64:
		if a.Value(i)%86_400_000 != 0 { // a date that is none; it must differ from the one that is
			return a.Value(i).ToTime().Format("2006-01-02T15:04:05.000")
		}
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Time32:
		t := a.DataType().(*arrow.Time32Type)
		return a.Value(i).ToTime(t.Unit).Format("15:04:05" + fraction(t.Unit))
	case *array.Time64:
		t := a.DataType().(*arrow.Time64Type)
		return a.Value(i).ToTime(t.Unit).Format("15:04:05" + fraction(t.Unit))
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		layout := "2006-01-02T15:04:05" + fraction(t.Unit)
		if t.TimeZone != "" {
			layout += "Z"
		}
		return a.Value(i).ToTime(t.Unit).Format(layout)
	case *array.MonthInterval:
		return duration(int64(a.Value(i)), 0, 0)
	case *array.DayTimeInterval:
		return duration(0, int64(a.Value(i).Days), int64(a.Value(i).Milliseconds)*1e6)
	case *array.MonthDayNanoInterval:
		return duration(int64(a.Value(i).Months), int64(a.Value(i).Days), a.Value(i).Nanoseconds)
	case *array.Dictionary:
		return Text(a.Dictionary(), a.GetValueIndex(i))
	}
	return a.ValueStr(i)
}

// duration is an interval as an ISO 8601 duration, P1Y2M3DT4H5M6.7S: twelve months are a year and 3,600 seconds an hour, days stay
// days, parts of zero are left out, and of nothing PT0S remains.
func duration(months, days, nanos int64) string {
	b := []byte{'P'}
	part := func(n int64, unit byte) {
		if n != 0 {
			b = append(strconv.AppendInt(b, n, 10), unit)
		}
	}
	part(months/12, 'Y')
	part(months%12, 'M')
	part(days, 'D')
	if nanos != 0 || len(b) == 1 {
		b = append(b, 'T')
	}
	const second = int64(1e9)
	part(nanos/(3600*second), 'H')
	part(nanos%(3600*second)/(60*second), 'M')
	switch rest := nanos % (60 * second); {
	case rest != 0:
		if rest < 0 {
			b, rest = append(b, '-'), -rest
		}
		b = strconv.AppendInt(b, rest/second, 10)
		if f := rest % second; f != 0 {
			b = append(b, '.')
			b = append(b, strings.TrimRight(strconv.FormatInt(second+f, 10)[1:], "0")...)
		}
		b = append(b, 'S')
	case len(b) == 2:
		b = append(b, "0S"...)
	}
	return string(b)
}

func fraction(u arrow.TimeUnit) string {
	return [...]string{arrow.Second: "", arrow.Millisecond: ".000", arrow.Microsecond: ".000000", arrow.Nanosecond: ".000000000"}[u]
}

// IsInteger reports whether values of the type are whole numbers.
func IsInteger(t arrow.DataType) bool { return arrow.IsInteger(t.ID()) }

// IsNumber reports whether values of the type are numbers.
func IsNumber(t arrow.DataType) bool {
	return IsInteger(t) || arrow.IsFloating(t.ID()) || arrow.IsDecimal(t.ID())
}

// IsText reports whether values of the type are text.
func IsText(t arrow.DataType) bool {
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING
}

// ValueType is the type of the values of a column, coded or not.
func ValueType(t arrow.DataType) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return d.ValueType
	}
	return t
}

// orderOf is how values of the type follow each other: numbers as numbers, everything else by the bytes of its text, which for dates
// and times is their order too.
func orderOf(t arrow.DataType) contingency.Order {
	if t = ValueType(t); !IsInteger(t) && !arrow.IsDecimal(t.ID()) {
		return contingency.ByBytes
	}
	return contingency.ByNumber
}
