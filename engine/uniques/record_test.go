package uniques

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/contingency"
)

// An explained is a small file, its policies, and the record to be explained.
type explained struct {
	rows     [][]uint32 // code 3 is missing
	policies []Policy
	record   int
	o        RecordOptions
	table    *contingency.Table
	class    int // of the record
}

func drawExplained(t *rapid.T) *explained {
	variables := rapid.IntRange(1, 6).Draw(t, "variables")
	rows := rapid.IntRange(1, 14).Draw(t, "rows")
	f := &explained{rows: make([][]uint32, rows), policies: make([]Policy, variables)}
	list, codes := make([]contingency.Variable, variables), make([][]uint32, variables)
	f.o = RecordOptions{
		Policies: f.policies,
		MaxSize:  rapid.IntRange(1, variables).Draw(t, "max_size"),
		Score:    Score(rapid.IntRange(0, int(ElliotLimited)).Draw(t, "score")),
		Nearest:  10,
	}
	one := rapid.Bool().Draw(t, "one policy")
	for v := range list {
		f.policies[v] = Policy(rapid.IntRange(0, int(Drop)).Draw(t, "policy"))
		if one {
			f.policies[v] = f.policies[0]
		}
		list[v] = contingency.Variable{Name: fmt.Sprint("v", v), Categories: []string{"a", "b", "c"}}
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
		if code == 3 && f.policies[v] == Drop {
			return true
		}
	}
	return false
}

// differs has the variables in which another record's whole key differs from the record's.
func (f *explained) differs(other []uint32) (list []int) {
	for v, code := range f.rows[f.record] {
		if code != other[v] && !(f.policies[v] == Wildcard && (code == 3 || other[v] == 3)) {
			list = append(list, v)
		}
	}
	return list
}

// unique tells whether no other record is like the record on a set of variables, in the search.
func (f *explained) unique(set uint64) bool {
	own := f.rows[f.record]
	for v, p := range f.policies {
		if set>>v&1 == 1 && own[v] == 3 && (p == Ignore || p == Wildcard) {
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
				like = like && (own[v] == other[v] && !(p == Ignore && missing) || p == Wildcard && missing)
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
		e, err := Explain(t.Context(), f.table, f.class, f.o)
		require.NoError(t, err)
		if f.dropped(f.rows[f.record]) {
			require.False(t, e.Counted)
			return
		}
		require.True(t, e.Counted)
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
		require.Equal(t, frequency, e.Frequency)
		require.Equal(t, near, e.NearCount)
		if near > 0 {
			require.Equal(t, distance, e.Distance)
		}
		for _, n := range e.Near {
			require.Len(t, n.Differs, distance)
			require.Positive(t, n.Count)
			for _, v := range n.Differs {
				require.NotEqual(t, f.table.Code(f.class, v), f.table.Code(n.Class, v))
			}
		}
		var want [][]int
		for set := range uint64(1) << variables {
			if frequency != 1 || bits.OnesCount64(set) > f.o.MaxSize || !f.unique(set) {
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
		require.ElementsMatch(t, want, e.MSUs)
	})
}

// The search for one record goes another way than that for all, so each is the other's oracle.
func TestExplanationAgreesWithSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawExplained(t)
		all, err := Search(t.Context(), f.table, Options{Policies: f.policies, MaxSize: f.o.MaxSize, Score: f.o.Score, MSUs: true, Workers: 1})
		require.NoError(t, err)
		e, err := Explain(t.Context(), f.table, f.class, f.o)
		require.NoError(t, err)
		require.Equal(t, all.Frequency[f.class], e.Frequency)
		var want [][]int
		for _, set := range all.MSUs(f.class, nil) {
			want = append(want, positions(set))
		}
		require.Equal(t, want, e.MSUs)
		require.Equal(t, all.Score[f.class], e.Score)
		require.Equal(t, all.IS[f.class], e.IS)
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
