package link

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/budget"
	"microrisk/operators"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
)

// write writes the matches, and the candidate pairs.
func (l *linking) write(ctx context.Context, out *Outcome) error {
	var pairs *pairTable
	if l.Pairs != "" {
		if out.Pairs > float64(l.MostPairs) {
			return fmt.Errorf(
				"there are %.0f candidate pairs, more than the %d that may be written: raise the limit, or link by more variables",
				out.Pairs,
				l.MostPairs,
			)
		}
		err := budget.Budget{
			Bytes: l.options.Memory,
		}.Memory(
			fmt.Sprintf("writing %.0f candidate pairs", out.Pairs),
			int64(out.Pairs)*bytesPerPair,
			"link by more variables",
		)
		if err != nil {
			return err
		}
		if pairs, err = l.pairs(ctx, out); err != nil {
			return err
		}
	}
	if l.Out != "" {
		if err := session.WriteRecord(ctx, l.Out, linkTable{out}, l.options, l.files()); err != nil {
			return err
		}
	}
	if pairs == nil {
		return nil
	}
	return session.WriteRecord(ctx, l.Pairs, pairs, l.options, l.files())
}

// files are all that the link reads.
func (l *linking) files() []string {
	return slices.Concat(l.A, l.B, l.Population, l.Tables, l.Exact, l.Sampled, released.PathsOf(l.Perturbed))
}

// bytesPerPair is about what a candidate pair takes until it is written.
const bytesPerPair = 200

// linkColumns are the columns of the file of matches besides the overlap's variables.
var linkColumns = []string{"records_a", "records_b", "file_a", "row_a", "file_b", "row_b", "rank", "lower", "upper", "expected_frequency", "correct_match",
	"candidate_pairs", "expected_pairs", "population_frequency"}

// linkTable is an outcome as a table: a row for each class.
type linkTable struct{ out *Outcome }

// Tables is operators.Tabled's.
func (t linkTable) Tables(mem memory.Allocator) arrow.Record {
	list := t.out.Classes
	c := &operators.Columns{Mem: mem, Rows: len(list)}
	for v, name := range t.out.Overlap {
		c.TextsOrNull(name, func(i int) *string { return list[i].Values[v] })
	}
	c.WholesOrNull("records_a", func(i int) (int64, bool) { return list[i].RecordsA, true })
	c.WholesOrNull("records_b", func(i int) (int64, bool) { return list[i].RecordsB, true })
	for _, s := range []struct {
		name  string
		place func(c *LinkedClass) *Place
	}{{"a", func(c *LinkedClass) *Place { return &c.FirstA }}, {"b", func(c *LinkedClass) *Place { return &c.FirstB }}} {
		c.TextsOrNull("file_"+s.name, func(i int) *string { return &s.place(&list[i]).Input })
		c.WholesOrNull("row_"+s.name, func(i int) (int64, bool) { return s.place(&list[i]).Row, true })
	}
	c.WholesOrNull("rank", func(i int) (int64, bool) { return list[i].Rank, list[i].Unique() })
	c.WholesOrNull("lower", func(i int) (int64, bool) { return list[i].Low, true })
	c.WholesOrNull("upper", func(i int) (int64, bool) { return list[i].High, true })
	c.Numbers("expected_frequency", func(i int) float64 { return list[i].Mean })
	c.Numbers("correct_match", func(i int) float64 { return list[i].Correct })
	c.Numbers("candidate_pairs", func(i int) float64 { return list[i].Pairs() })
	c.Numbers("expected_pairs", func(i int) float64 { return list[i].Pairs() * list[i].Correct })
	if t.out.Known {
		c.WholesOrNull("population_frequency", func(i int) (int64, bool) { return list[i].F, true })
	}
	return c.Record()
}

// A pairTable has the candidate pairs.
type pairTable struct {
	rows []pair
}

type pair struct {
	a, b    Place
	class   int64
	correct float64
}

// pairs finds the records of all matched classes, and pairs them.
func (l *linking) pairs(ctx context.Context, out *Outcome) (*pairTable, error) {
	var found [2]map[int64][]session.Place
	for i, s := range []*linked{l.a, l.b} {
		wanted := map[int64]bool{}
		for _, c := range out.Classes {
			for _, class := range [][]int64{c.classA, c.classB}[i] {
				wanted[class] = true
			}
		}
		var err error
		if found[i], err = s.records(ctx, wanted); err != nil {
			return nil, err
		}
	}
	t := &pairTable{}
	for number, c := range out.Classes {
		for _, a := range together(found[0], c.classA) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for _, b := range together(found[1], c.classB) {
				t.rows = append(t.rows, pair{l.a.place(a), l.b.place(b), int64(number), c.Correct})
			}
		}
	}
	return t, nil
}

// together are the records of several classes, in order.
func together(found map[int64][]session.Place, classes []int64) []session.Place {
	var list []session.Place
	for _, c := range classes {
		list = append(list, found[c]...)
	}
	slices.SortFunc(list, session.ComparePlaces)
	return list
}

// Tables is operators.Tabled's: where the two records are, the row of their class in the file of matches, and the chance.
func (t *pairTable) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: len(t.rows)}
	c.TextsOrNull("file_a", func(i int) *string { return &t.rows[i].a.Input })
	c.WholesOrNull("row_a", func(i int) (int64, bool) { return t.rows[i].a.Row, true })
	c.TextsOrNull("file_b", func(i int) *string { return &t.rows[i].b.Input })
	c.WholesOrNull("row_b", func(i int) (int64, bool) { return t.rows[i].b.Row, true })
	c.WholesOrNull("class", func(i int) (int64, bool) { return t.rows[i].class, true })
	c.Numbers("correct_match", func(i int) float64 { return t.rows[i].correct })
	return c.Record()
}
