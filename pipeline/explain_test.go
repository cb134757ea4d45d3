package pipeline

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators/suda"
)

// An explained is a small file, its policies, and the record to be explained.
type explained struct {
	rows     [][]uint32 // code 3 is missing
	policies []uniques.Policy
	record   int
	e        Explanation
	table    *contingency.Table
	class    int // of the record
}

func drawExplained(t *rapid.T) *explained {
	variables := rapid.IntRange(1, 6).Draw(t, "variables")
	rows := rapid.IntRange(1, 14).Draw(t, "rows")
	f := &explained{rows: make([][]uint32, rows), policies: make([]uniques.Policy, variables)}
	list, codes := make([]contingency.Variable, variables), make([][]uint32, variables)
	f.e = Explanation{MaxSize: rapid.IntRange(1, variables).Draw(t, "max_size"), ScoreName: rapid.SampledFrom(suda.Scores).Draw(t, "score")}
	one := rapid.Bool().Draw(t, "one policy")
	for v := range list {
		f.policies[v] = uniques.Policy(rapid.IntRange(0, int(uniques.Drop)).Draw(t, "policy"))
		if one {
			f.policies[v] = f.policies[0]
		}
		list[v] = contingency.Variable{Name: fmt.Sprint("v", v), Categories: []string{"a", "b", "c"}}
		f.e.Variables = append(f.e.Variables, list[v].Name)
		codes[v] = rapid.SliceOfN(rapid.Uint32Range(0, 3), rows, rows).Draw(t, "codes")
		for r := range rows {
			f.rows[r] = append(f.rows[r], codes[v][r])
		}
	}
	var err error
	f.table, err = contingency.New(list, codes, slices.Repeat([]int64{1}, rows))
	require.NoError(t, err)
	f.record = rapid.IntRange(0, rows-1).Draw(t, "record")
	for f.class = 0; !f.is(f.class); f.class++ {
	}
	return f
}

// is tells whether a class is the record's.
func (f *explained) is(class int) bool {
	for v, code := range f.rows[f.record] {
		if f.table.Code(class, v) != code {
			return false
		}
	}
	return true
}

func (f *explained) dropped(row []uint32) bool {
	for v, code := range row {
		if code == 3 && f.policies[v] == uniques.Drop {
			return true
		}
	}
	return false
}

// differs has the variables in which another record's whole key differs from the record's.
func (f *explained) differs(other []uint32) (list []int) {
	for v, code := range f.rows[f.record] {
		if code != other[v] && !(f.policies[v] == uniques.Wildcard && (code == 3 || other[v] == 3)) {
			list = append(list, v)
		}
	}
	return list
}

// unique tells whether no other record is like the record on a set of variables, in the search.
func (f *explained) unique(set uint64) bool {
	own := f.rows[f.record]
	for v, p := range f.policies {
		if set>>v&1 == 1 && own[v] == 3 && (p == uniques.Ignore || p == uniques.Wildcard) {
			return false // a set that says nothing about the record there
		}
	}
	for i, other := range f.rows {
		if i == f.record || f.dropped(other) {
			continue
		}
		like := true
		for v, p := range f.policies {
			if set>>v&1 == 1 {
				missing := own[v] == 3 || other[v] == 3
				like = like && (own[v] == other[v] && !(p == uniques.Ignore && missing) || p == uniques.Wildcard && missing)
			}
		}
		if like {
			return false
		}
	}
	return true
}

// An explanation is what the definitions say, record by record.
func TestExplanationAgreesWithDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawExplained(t)
		require.NoError(t, f.e.compare(t.Context(), f.table, f.class, f.policies))
		if f.dropped(f.rows[f.record]) {
			require.False(t, f.e.Counted)
			return
		}
		require.True(t, f.e.Counted)
		variables := len(f.policies)
		distance, frequency, near := variables+1, int64(0), int64(0)
		for _, other := range f.rows {
			if f.dropped(other) {
				continue
			}
			switch n := len(f.differs(other)); {
			case n == 0:
				frequency++
			case n < distance:
				distance, near = n, 1
			case n == distance:
				near++
			}
		}
		require.Equal(t, frequency, f.e.Frequency)
		require.Equal(t, near, f.e.NearCount)
		if near > 0 {
			require.Equal(t, distance, f.e.Distance)
		}
		for _, n := range f.e.Near {
			require.Len(t, n.Differs, distance)
			require.Positive(t, n.Count)
			for i, v := range n.Differs {
				require.NotEqual(t, f.e.Values[v], n.Values[i])
			}
		}
		var want [][]int
		for set := range uint64(1) << variables {
			if frequency != 1 || bits.OnesCount64(set) > f.e.MaxSize || !f.unique(set) {
				continue
			}
			minimal := true
			for rest := set; rest != 0; rest &= rest - 1 {
				minimal = minimal && !f.unique(set&^(rest&-rest))
			}
			if minimal {
				want = append(want, positions(set))
			}
		}
		require.ElementsMatch(t, want, f.e.MSUs)
	})
}

// The search for one record goes another way than that for all, so each is the other's oracle.
func TestExplanationAgreesWithSearch(t *testing.T) {
	definitions := map[string]uniques.Score{suda.ScoreLattice: uniques.Lattice, suda.ScoreLatticeLimited: uniques.LatticeLimited,
		suda.ScoreFactorial: uniques.Factorial, suda.ScoreElliotLimited: uniques.ElliotLimited}
	rapid.Check(t, func(t *rapid.T) {
		f := drawExplained(t)
		all, err := uniques.Search(t.Context(), f.table, uniques.Options{Policies: f.policies, MaxSize: f.e.MaxSize, Score: definitions[f.e.ScoreName], MSUs: true, Workers: 1})
		require.NoError(t, err)
		require.NoError(t, f.e.compare(t.Context(), f.table, f.class, f.policies))
		require.Equal(t, all.Frequency[f.class], f.e.Frequency)
		var want [][]int
		for _, set := range all.MSUs(f.class, nil) {
			want = append(want, positions(set))
		}
		require.Equal(t, want, f.e.MSUs)
		require.InDelta(t, all.Score[f.class], f.e.Score, 1e-12*max(1, f.e.Score))
		require.InDelta(t, all.IS[f.class], f.e.IS, 1e-12*max(1, f.e.IS))
	})
}

func TestMinimalHittingSets(t *testing.T) {
	for name, c := range map[string]struct {
		given []uint64
		limit int
		want  []uint64
	}{
		"nothing to meet":   {nil, 3, []uint64{0}},
		"nothing meets":     {[]uint64{0}, 3, nil},
		"one set":           {[]uint64{0b101}, 3, []uint64{0b001, 0b100}},
		"disjoint":          {[]uint64{0b0011, 0b1100}, 3, []uint64{0b0101, 0b1001, 0b0110, 0b1010}},
		"triangle":          {[]uint64{0b011, 0b110, 0b101}, 3, []uint64{0b011, 0b101, 0b110}},
		"within a limit":    {[]uint64{0b001, 0b010, 0b100}, 2, nil},
		"smaller ones stay": {[]uint64{0b001, 0b111}, 2, []uint64{0b001}},
	} {
		t.Run(name, func(t *testing.T) {
			slices.SortFunc(c.given, bySize)
			got, err := minimalHittingSets(t.Context(), c.given, c.limit)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			for _, set := range got {
				require.LessOrEqual(t, bits.OnesCount64(set), c.limit)
			}
		})
	}
}
