package link

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
		if out.Total.Pairs > float64(l.MostPairs) {
			return fmt.Errorf(
				"there are %.0f candidate pairs, more than the %d that may be written: raise the limit, or link by more variables",
				out.Total.Pairs,
				l.MostPairs,
			)
		}
		err := budget.Budget{
			Bytes: l.options.Memory,
		}.Memory(
			fmt.Sprintf("writing %.0f candidate pairs", out.Total.Pairs),
			int64(out.Total.Pairs)*bytesPerPair,
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
		if err := session.WriteRecord(ctx, l.Out, linkTable{out, l.Posterior != nil && *l.Posterior > 0}, l.options, l.reads()); err != nil {
			return err
		}
	}
	if pairs == nil {
		return nil
	}
	return session.WriteRecord(ctx, l.Pairs, pairs, l.options, l.reads())
}

// reads are all files that the link reads.
func (l *linking) reads() []string {
	return slices.Concat(slices.Concat(l.samplePaths()...), l.Population, l.Tables, l.Exact, l.Sampled, released.PathsOf(l.Perturbed))
}

// bytesPerPair is about what a candidate pair takes until it is written.
const bytesPerPair = 200

// linkColumns are the columns of the file of matches of so many samples, besides the overlap's variables.
func linkColumns(samples int) []string {
	list := []string{"rank", "lower", "upper", "expected_frequency", "correct_match", "posterior", "candidate_pairs", "expected_pairs", "population_frequency"}
	for i := range samples {
		for _, name := range []string{"records_", "file_", "row_"} {
			list = append(list, name+strings.ToLower(Letter(i)))
		}
	}
	return list
}

// linkTable is an outcome as a table: a row for each class.
type linkTable struct {
	out       *Outcome
	posterior bool
}

// Tables is operators.Tabled's.
func (t linkTable) Tables(mem memory.Allocator) arrow.Record {
	list := t.out.Classes
	c := &operators.Columns{Mem: mem, Rows: len(list)}
	for v, name := range t.out.Overlap {
		c.TextsOrNull(name, func(i int) *string { return list[i].Values[v] })
	}
	for s := range t.out.Samples {
		c.WholesOrNull("records_"+strings.ToLower(Letter(s)), func(i int) (int64, bool) { return list[i].Records[s], true })
	}
	for s := range t.out.Samples {
		letter := strings.ToLower(Letter(s))
		c.TextsOrNull("file_"+letter, func(i int) *string {
			if list[i].Records[s] == 0 {
				return nil
			}
			return &list[i].First[s].Input
		})
		c.WholesOrNull("row_"+letter, func(i int) (int64, bool) { return list[i].First[s].Row, list[i].Records[s] > 0 })
	}
	c.WholesOrNull("rank", func(i int) (int64, bool) { return list[i].Rank, list[i].Unique() })
	c.WholesOrNull("lower", func(i int) (int64, bool) { return list[i].Low, true })
	c.WholesOrNull("upper", func(i int) (int64, bool) { return list[i].High, true })
	c.Numbers("expected_frequency", func(i int) float64 { return list[i].Mean })
	c.Numbers("correct_match", func(i int) float64 { return list[i].Correct })
	if t.posterior {
		c.NumberLists("posterior", func(i int) []float64 { return list[i].Posterior })
	}
	c.Numbers("candidate_pairs", func(i int) float64 { return list[i].Pairs() })
	c.Numbers("expected_pairs", func(i int) float64 { return list[i].Pairs() * list[i].Correct })
	if t.out.Known {
		c.WholesOrNull("population_frequency", func(i int) (int64, bool) { return list[i].F, true })
	}
	return c.Record()
}

// A pairTable has the candidate pairs.
type pairTable struct {
	rows    []pair
	several bool // samples, more than two
}

type pair struct {
	samples string
	a, b    Place
	class   int64
	correct float64
}

// pairs finds the records of all matched classes, and pairs them.
func (l *linking) pairs(ctx context.Context, out *Outcome) (*pairTable, error) {
	found := make([]map[int64][]session.Place, len(l.samples))
	for i, s := range l.samples {
		wanted := map[int64]bool{}
		for _, c := range out.Classes {
			for _, class := range c.class.cells[i] {
				wanted[class] = true
			}
		}
		var err error
		if found[i], err = s.records(ctx, wanted); err != nil {
			return nil, err
		}
	}
	t := &pairTable{several: len(l.samples) > 2}
	for number, c := range out.Classes {
		for _, link := range out.Links {
			between := Letter(link.First) + Letter(link.Second)
			for _, a := range together(found[link.First], c.class.cells[link.First]) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				for _, b := range together(found[link.Second], c.class.cells[link.Second]) {
					t.rows = append(t.rows, pair{between, l.samples[link.First].place(a), l.samples[link.Second].place(b), int64(number), c.Correct})
				}
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

// Tables is operators.Tabled's: where the two records are, the row of their class in the file of matches, and the chance. Of more than
// two samples a pair is of two of them, which it names.
func (t *pairTable) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: len(t.rows)}
	if t.several {
		c.TextsOrNull("samples", func(i int) *string { return &t.rows[i].samples })
	}
	c.TextsOrNull("file_a", func(i int) *string { return &t.rows[i].a.Input })
	c.WholesOrNull("row_a", func(i int) (int64, bool) { return t.rows[i].a.Row, true })
	c.TextsOrNull("file_b", func(i int) *string { return &t.rows[i].b.Input })
	c.WholesOrNull("row_b", func(i int) (int64, bool) { return t.rows[i].b.Row, true })
	c.WholesOrNull("class", func(i int) (int64, bool) { return t.rows[i].class, true })
	c.Numbers("correct_match", func(i int) float64 { return t.rows[i].correct })
	return c.Record()
}
