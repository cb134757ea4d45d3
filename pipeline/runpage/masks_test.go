package runpage

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/operators/kanonymity"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

// Whatever the counts, no group is small, all that is there is in a group, and there is none where all together are few.
func TestBands(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		counts := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 12), rapid.Just(int64(0)), rapid.Int64Range(0, 1000)), 1, 12).Draw(r, "counts")
		total, told := int64(0), int64(0)
		for _, n := range counts {
			total += n
		}
		next := 0
		for _, g := range (masks{public: true}).bands(counts) {
			require.Equal(r, next, g[0], "groups follow each other")
			next = g[1] + 1
			sum := int64(0)
			for _, n := range counts[g[0]:next] {
				sum += n
			}
			require.True(r, sum == 0 || sum >= fewest, "a group of %d", sum)
			told += sum
		}
		if total >= fewest || total == 0 {
			require.Equal(r, total, told)
		} else {
			require.Zero(r, told)
		}
	})
	require.Len(t, masks{}.bands([]int64{1, 2, 3}), 3, "the office has all of them")
}

// What a page for publication tells of counts has no small one in it, and none by subtraction.
func TestNothingSmallFollows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		number := func(name string, most int64) int64 {
			return rapid.OneOf(rapid.Int64Range(0, min(25, most)), rapid.Int64Range(0, most)).Draw(r, name)
		}
		u, d, triples, more := number("uniques", 500), number("doubles", 500), number("triples", 300), number("more", 300)
		rows := u + 2*d + 3*triples + 7*more
		special := number("special", u)
		k := rapid.Int64Range(2, 4).Draw(r, "k")
		violations := u
		if k > 2 {
			violations += 2 * d
		}
		if k > 3 {
			violations += 3 * triples
		}
		records := schemas.MeasuredRecords{Records: rows}
		s := &schemas.Summary{Rows: rows, Key: &schemas.KeySummary{SampleUniques: u, Doubles: float64(d), Classes: u + d + triples + more}, Operators: map[string]any{
			"suda": &suda.Summary{MeasuredRecords: records, SpecialUniques: special, MSUs: special + u}, "kanonymity": &kanonymity.Summary{MeasuredRecords: records, K: k, Violations: violations}}}
		m := newMasks(s, true)
		told := map[string]int64{"rows": rows}
		for name, v := range map[string]int64{schemas.LimitSampleUniques: u, schemas.LimitDoubles: d, schemas.LimitClasses: s.Key.Classes,
			suda.LimitSpecialUniques: special, kanonymity.Limit: violations} {
			if _, ok := m.value(name, float64(v)); ok {
				told[name] = v
				require.False(r, name != schemas.LimitClasses && v > 0 && v < fewest, "%s is %d", name, v) // classes are no records
			}
		}
		few := func(what string, n int64) { require.False(r, n > 0 && n < fewest, "%s follows: %d", what, n) }
		uniques, shown := told[schemas.LimitSampleUniques]
		if shown {
			few("records that are not unique", rows-uniques)
			if x, ok := told[suda.LimitSpecialUniques]; ok {
				few("random uniques", uniques-x)
			}
		}
		x, violated := told[kanonymity.Limit]
		if violated {
			few("records in large groups", rows-x)
			require.True(r, shown, "the uniques are part of the records in small groups")
			if k == 3 {
				few("doubles", (x-uniques)/2)
			}
			if pairs, ok := told[schemas.LimitDoubles]; ok && k == 4 {
				few("records in triples", x-uniques-2*pairs)
			}
		}
		if classes, ok := told[schemas.LimitClasses]; ok {
			few("records that are not the first of their combination", rows-classes)
		}
		if few := u > 0 && u < fewest || d > 0 && d < fewest; few {
			_, ok := m.value(suda.LimitDIS, 0.01)
			require.False(r, ok, "uniques and doubles follow from each other by DIS")
		}
	})
}
