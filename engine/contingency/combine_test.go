package contingency

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// part is the table of some rows, whose variables have only the categories that these have, and some others.
func (m microdata) part(t *rapid.T, rows []int, sums bool) *Table {
	some := microdata{}
	for v, variable := range m.variables {
		here := map[uint32]bool{}
		for _, r := range rows {
			here[m.rows[r][v]] = true
		}
		code := map[uint32]uint32{}
		made := Variable{Name: variable.Name, Order: variable.Order}
		for c, label := range variable.Categories {
			if here[uint32(c)] || len(variable.Categories) < 10 && rapid.Bool().Draw(t, "unobserved") {
				code[uint32(c)] = uint32(len(made.Categories))
				made.Categories = append(made.Categories, label)
			}
		}
		code[variable.Missing()] = made.Missing()
		some.variables = append(some.variables, made)
		for i, r := range rows {
			if v == 0 {
				some.rows = append(some.rows, make([]uint32, len(m.variables)))
				some.times, some.values = append(some.times, m.times[r]), append(some.values, m.values[r])
			}
			some.rows[i][v] = code[m.rows[r][v]]
		}
	}
	if len(m.variables) == 0 {
		for _, r := range rows {
			some.rows, some.times, some.values = append(some.rows, nil), append(some.times, m.times[r]), append(some.values, m.values[r])
		}
	}
	table, err := some.count(2, 2, 1, true, sums)
	require.NoError(t, err)
	return table
}

// Tables of parts of a file, each with categories of its own, add up to the table of the file, in any order and grouping.
func TestCombineAgainstOneTable(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore(context.Background(), dir)
		defer s.Close()
		m := drawSpillable(t)
		for v := range m.variables {
			m.variables[v].Order = ByNumber
		}
		sums := rapid.Bool().Draw(t, "sums")
		want, err := m.count(1, 1, 1, true, sums)
		require.NoError(t, err)
		n := rapid.IntRange(1, 5).Draw(t, "tables")
		rows := make([][]int, n)
		for r := range m.rows {
			rows[r%n] = append(rows[r%n], r)
		}
		parts := make([]*Table, n)
		for i := range parts {
			parts[i] = m.part(t, rows[i], sums)
		}
		if whole, err := New(m.variables, make([][]uint32, len(m.variables)), nil); err == nil && !sums {
			parts = append(parts, whole) // so that all categories are there
		}
		memory := rapid.SampledFrom([]int64{0, 1, 1 << 30}).Draw(t, "memory")
		combine := func(tables ...*Table) *Table {
			got, err := Combine(context.Background(), 2, memory, s, tables...)
			require.NoError(t, err)
			return got
		}
		got := combine(parts...)
		requireSame(t, want, got)
		parts = rapid.Permutation(parts).Draw(t, "order")
		at := rapid.IntRange(1, len(parts)).Draw(t, "first")
		again := combine(append([]*Table{combine(parts[:at]...)}, parts[at:]...)...)
		require.Equal(t, got.Variables, again.Variables)
		requireSame(t, got, again)
	})
}

// requireSame compares classes by the labels of their categories.
func requireSame(t require.TestingT, want, got *Table) {
	require.Equal(t, want.Classes(), got.Classes())
	require.Equal(t, want.Records(), got.Records())
	for i := range want.Classes() {
		for v := range want.Variables {
			a, okA := want.Variables[v].Category(want.Code(i, v))
			b, okB := got.Variables[v].Category(got.Code(i, v))
			require.Equal(t, okA, okB)
			require.Equal(t, a, b)
		}
		require.Equal(t, want.Count(i), got.Count(i))
		for s := range want.Sums() {
			require.Equal(t, want.Sum(i, s), got.Sum(i, s))
		}
	}
	require.NoError(t, got.Err())
}

func TestWhatCannotBeCombined(t *testing.T) {
	of := func(count int64, variables ...Variable) *Table {
		codes := make([][]uint32, len(variables))
		for v := range codes {
			codes[v] = []uint32{0}
		}
		table, err := New(variables, codes, []int64{count})
		require.NoError(t, err)
		return table
	}
	a := of(1, Variable{Name: "a", Categories: []string{"2", "10"}, Order: ByNumber})
	for want, tables := range map[string][]*Table{
		"no table to combine":            {},
		"table 2 has 0 variables":        {a, of(1)},
		`variable 1 of table 2 is "b"`:   {a, of(1, Variable{Name: "b", Categories: []string{"2"}, Order: ByNumber})},
		"ordered by bytes, in table 1":   {a, of(1, Variable{Name: "a", Categories: []string{"10", "2"}})},
		`"10" and "2" of "a" in this`:    {of(1, Variable{Name: "a", Categories: []string{"10", "2"}, Order: ByNumber})},
		"too many records":               {of(math.MaxInt64, a.Variables...), a},
		`two variables have the name "a`: {of(1, a.Variables[0], a.Variables[0])},
	} {
		_, err := Combine(context.Background(), 1, 0, nil, tables...)
		if want == "too many records" {
			require.ErrorIs(t, err, errRecords)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	_, err := Combine(context.Background(), 1, 1, nil, a, a)
	require.ErrorContains(t, err, "needs a store")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Combine(ctx, 1, 0, nil, a, a)
	require.ErrorIs(t, err, context.Canceled)
}

func TestOrder(t *testing.T) {
	numbers := []string{"-10.5", "-2", "-1.50", "0", "1.05", "1.5", "7", "0070", "100000000000000000000000"}
	for i := range numbers[1:] {
		require.Negative(t, ByNumber.Compare(numbers[i], numbers[i+1]), fmt.Sprint(numbers[i:i+2]))
	}
	require.Zero(t, CompareNumerals("1.50", "01.5"))
	require.Negative(t, CompareNumerals("-1.50", "-1.25"))
	require.NotZero(t, ByNumber.Compare("1.50", "01.5"))
	require.True(t, slices.IsSortedFunc([]string{"10", "2", "a"}, ByBytes.Compare))
}
