package operators

import (
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestIntervalsAsText(t *testing.T) {
	const second = int64(1e9)
	b := array.NewMonthDayNanoIntervalBuilder(memory.NewGoAllocator())
	cases := []struct {
		months, days int32
		nanos        int64
		want         string
	}{
		{0, 0, 0, "PT0S"}, {14, 3, 4 * second, "P1Y2M3DT4S"}, {0, 0, 5400 * second, "PT1H30M"}, {12, 0, 0, "P1Y"}, {0, 400, 0, "P400D"},
		{0, 0, 1, "PT0.000000001S"}, {0, 0, 90*second + 5e8, "PT1M30.5S"}, {-13, -1, -second / 2, "P-1Y-1M-1DT-0.5S"},
		{0, 0, -3661 * second, "PT-1H-1M-1S"},
	}
	for _, c := range cases {
		b.Append(arrow.MonthDayNanoInterval{Months: c.months, Days: c.days, Nanoseconds: c.nanos})
	}
	a := b.NewArray()
	defer a.Release()
	for i, c := range cases {
		require.Equal(t, c.want, Text(a, i))
	}
}

func TestCategoriesInTheOrderOfValues(t *testing.T) {
	for _, c := range []struct {
		typ  arrow.DataType
		want string
	}{
		{arrow.PrimitiveTypes.Int32, "-10 -9 0 9 10 100"},
		{arrow.BinaryTypes.String, "-10 -9 0 10 100 9"},
		{&arrow.Decimal128Type{Precision: 9, Scale: 0}, "-10 -9 0 9 10 100"},
	} {
		texts := strings.Fields(c.want)
		compare := orderOf(c.typ).Compare
		rand.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		sort.Slice(texts, func(i, j int) bool { return compare(texts[i], texts[j]) < 0 })
		require.Equal(t, c.want, strings.Join(texts, " "), c.typ)
	}
}
