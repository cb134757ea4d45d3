package attribution

import (
	"math/rand/v2"
	"testing"

	"microrisk/engine/perturb"
)

// poisson draws a Poisson count of mean 2.
func poisson(r *rand.Rand) int64 {
	n, p := int64(0), r.Float64()
	for p > 0.1353352832366127 {
		n++
		p *= r.Float64()
	}
	return n
}

// thesisTable is one of the tables of the simulation of Smith 2011, chapter 3: 2 x 6 cells of mean 2, all rounded to base 5, and
// their total alike.
func thesisTable(r *rand.Rand) *Table {
	k := made(perturb.Conventional(5, ""))
	t := &Table{}
	total := int64(0)
	for range 12 {
		c := poisson(r)
		total += c
		low, high, _ := k.Bounds(k.Outcomes(c)[0].Count)
		t.Counts, t.Lower, t.Upper = append(t.Counts, c), append(t.Lower, low), append(t.Upper, high)
	}
	_, t.TotalUpper, _ = k.Bounds(k.Outcomes(total)[0].Count)
	return t
}

func BenchmarkSmallTables(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	tables := make([]*Table, 1000)
	for i := range tables {
		tables[i] = thesisTable(r)
	}
	n := upTo(24)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := sapOf(b.Context(), tables[i%len(tables)], n); err != nil {
			b.Fatal(err)
		}
	}
}

// A table of 200 cells and 10,000 people, for all n.
func BenchmarkLargeTable(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	t := &Table{TotalUpper: NoTotal}
	for range 200 {
		c := 45 + r.Int64N(11)
		t.Counts, t.Lower, t.Upper = append(t.Counts, c), append(t.Lower, c), append(t.Upper, c)
	}
	n := upTo(total(t))
	for b.Loop() {
		if _, err := sapOf(b.Context(), t, n); err != nil {
			b.Fatal(err)
		}
	}
}
