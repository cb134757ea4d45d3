package sap

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/operatortest"
	"microrisk/schemas"
)

// countedCells is a table with these counts: cells S x H, H of two categories.
func countedCells(t *testing.T, counts ...int64) *operators.Records {
	var rows []string
	for i, c := range counts {
		rows = append(rows, fmt.Sprintf(`{"S":"%d","H":"%d","n":%d}`, i/2, i%2, c))
	}
	return operatortest.Typed(
		t,
		memory.DefaultAllocator,
		[]arrow.Field{{Name: "S", Type: arrow.BinaryTypes.String}, {Name: "H", Type: arrow.BinaryTypes.String},
			{Name: "n", Type: arrow.PrimitiveTypes.Int64}},
		"["+strings.Join(rows, ",")+"]",
	)
}

func largeCounts() []int64 {
	var counts []int64
	for i := range int64(3000) {
		counts = append(counts, 1000*(400+i))
	}
	return counts
}

// A population in two cells is measured in no time.
func TestSAPOfAPopulation(t *testing.T) {
	config := Config{Cells: operatortest.Variables("S", "H"), Known: []int64{5, 343_396}}
	out, report, err := operatortest.Table(
		t,
		memory.DefaultAllocator,
		countedCells(t, 166_001, 177_397),
		operators.Options{Count: "n"},
		Operator{Config: config},
	)
	require.NoError(t, err)
	s := report.Operators[0].Summary.(*Summary)
	require.EqualValues(t, 343_396, *s.SmallestKnown[0].Known)
	require.InDelta(t, 0.5005, operatortest.Value(t, out[1], 4), 1e-3, "both unknown people are in one cell")
	require.InDelta(t, 0.2669, operatortest.Value(t, out[1], 6), 1e-3, "none of them is in the record's own")
}

// What would take days is refused before it begins; the smallest number of people known is left out before that.
func TestSAPThatTakesTooLong(t *testing.T) {
	config := Config{Cells: operatortest.Variables("S", "H"), Known: []int64{1_000_000_000}}
	source := countedCells(t, largeCounts()...)
	_, _, err := operatortest.Table(t, memory.DefaultAllocator, source, operators.Options{Count: "n"}, Operator{Config: config})
	require.ErrorContains(t, err, "hours of one processor")
	require.ErrorContains(t, err, "smaller numbers of people known")

	config.Known = []int64{5}
	old := workForSmallest
	workForSmallest = 1000
	defer func() { workForSmallest = old }()
	_, report, err := operatortest.Table(t, memory.DefaultAllocator, source, operators.Options{Count: "n"}, Operator{Config: config})
	require.NoError(t, err)
	require.Equal(t, []string{"sap: there are too many people and cells to find the smallest number of people known for 1 table: it is null"}, report.Warnings)
	r := report.Operators[0].Fitted.(operators.Tabled).Tables(memory.DefaultAllocator)
	defer r.Release()
	require.True(t, fieldOf[*array.Int64](r, "smallest_known").IsNull(0))
	s := report.Operators[0].Summary.(*Summary)
	require.EqualValues(t, 1, s.NotFound)
	require.Empty(t, s.SmallestKnown)
}

// With margins, random orders of so many people would take days.
func TestMarginsThatTakeTooLong(t *testing.T) {
	config := Config{Cells: operatortest.Variables("S", "H"), Known: []int64{5}, Release: Release{
		Perturbation: schemas.Perturbation{
			Scheme: "conventional",
			Base:   5,
		}, Total: "exact", Margins: []Margin{{Variables: []string{"S"}}, {Variables: []string{"H"}}}}}
	_, _, err := operatortest.Table(
		t,
		memory.DefaultAllocator,
		countedCells(t, 2_000_000_001, 2_000_000_002, 1_000_000_004, 3),
		operators.Options{Count: "n"},
		Operator{Config: config},
	)
	require.ErrorContains(t, err, "hours of one processor")
	require.ErrorContains(t, err, "fewer margins")
}

// Measuring ends soon after the context does, and is heard of table by table.
func TestSAPIsInterrupted(t *testing.T) {
	var rows []string
	for a := range 40 {
		for i := range 900 {
			rows = append(rows, fmt.Sprintf("%d %d %d", a, i*i%17, i%3))
		}
	}
	config := sapOf(schemas.Perturbation{Scheme: "conventional", Base: 5}, "same")
	config.Release.Margins = []Margin{{Variables: []string{"S"}}, {Variables: []string{"H"}}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tables := int64(0) // measured
	o := operators.Options{Workers: 1, Progress: func(stage string, done, _ int64) {
		if stage == "measuring tables" && done > 0 {
			tables = done
			cancel()
		}
	}}
	chain, err := operators.NewChain(operatortest.Lines(t, memory.DefaultAllocator, 100, "A S H").Schema(), Operator{Config: config})
	require.NoError(t, err)
	_, err = chain.Run(ctx, operatortest.Lines(t, memory.DefaultAllocator, 5000, "A S H", rows...), nil, o)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 1, tables, "the one that was under way is the last")
}
