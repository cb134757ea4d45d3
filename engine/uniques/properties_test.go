package uniques

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawSearchable draws a file and options that keep the sets.
func drawSearchable(t *rapid.T) (file, Options) {
	f := drawFile(t, 7)
	return f, drawOptions(t, len(f.cards))
}

// TestMSUsAreMinimal checks the definition on what was found: an antichain, each set unsafe, none of its subsets.
func TestMSUsAreMinimal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, o := drawSearchable(rt)
		table := f.table(t)
		r := search(t, table, o)
		for i, c := range f.classes(t, table) {
			sets := r.MSUs(int(c), nil)
			if len(sets) != int(r.Count[c]) {
				rt.Fatalf("%d sets, count %d", len(sets), r.Count[c])
			}
			for j, s := range sets {
				if j > 0 && compareSets(sets[j-1], s) >= 0 {
					rt.Fatalf("record %d: %b is not in order", i, sets)
				}
				for _, other := range sets[:j] {
					if other&s == other {
						rt.Fatalf("record %d: %b contains %b", i, s, other)
					}
				}
				if !f.unsafe(o, i, s) {
					rt.Fatalf("record %d is not unique on %b", i, s)
				}
				for rest := s; rest != 0; rest &= rest - 1 {
					if f.unsafe(o, i, s&^(rest&-rest)) {
						rt.Fatalf("record %d is unique on a subset of %b", i, s)
					}
				}
			}
		}
	})
}

// permuted is the same file with columns, rows and category codes in another order; missing codes stay last.
func permuted(f file, columns []int, r *rand.Rand) file {
	g := file{cards: make([]int, len(f.cards)), rows: make([][]uint32, len(f.rows))}
	codes := make([][]int, len(columns))
	for j, v := range columns {
		g.cards[j] = f.cards[v]
		codes[j] = append(r.Perm(f.cards[v]), f.cards[v])
	}
	for i, row := range f.rows {
		g.rows[i] = make([]uint32, len(row))
		for j, v := range columns {
			g.rows[i][j] = uint32(codes[j][row[v]])
		}
	}
	return g
}

func TestPermutationsChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, o := drawSearchable(rt)
		seed := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "permutation"), 2))
		columns := seed.Perm(len(f.cards))
		g := permuted(f, columns, seed)
		order := seed.Perm(len(f.rows))
		shuffled := file{cards: g.cards, rows: make([][]uint32, len(g.rows))}
		for to, from := range order {
			shuffled.rows[to] = g.rows[from]
		}
		po := o
		po.Policies = nil
		for _, v := range columns {
			po.Policies = append(po.Policies, o.policy(v))
		}
		table, other := f.table(t), shuffled.table(t)
		r, q := search(t, table, o), search(t, other, po)
		class, otherClass := f.classes(t, table), shuffled.classes(t, other)
		for to, from := range order {
			a, b := class[from], otherClass[to]
			if r.Score[a] != q.Score[b] || r.IS[a] != q.IS[b] || r.Count[a] != q.Count[b] || r.MinSize[a] != q.MinSize[b] || r.Frequency[a] != q.Frequency[b] {
				rt.Fatalf("record %d: score %v, permuted %v", from, r.Score[a], q.Score[b])
			}
			for j, v := range columns {
				x, y := r.Share[v][a], q.Share[j][b]
				if x != y && (x == x || y == y) {
					rt.Fatalf("record %d: share of variable %d is %v, permuted %v", from, v, x, y)
				}
			}
		}
		if r.FileScore != q.FileScore || r.FileIS != q.FileIS {
			rt.Fatal("the file's score changed")
		}
	})
}

// TestAddingARecord checks that a new record makes no other one unique where it was not: every new MSU contains an old one.
func TestAddingARecord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, o := drawSearchable(rt)
		o.MaxSize = 0
		if len(f.rows) == 0 {
			return
		}
		fewer := file{cards: f.cards, rows: f.rows[:len(f.rows)-1]}
		before, after := fewer.table(t), f.table(t)
		r, q := search(t, before, o), search(t, after, o)
		was, is := fewer.classes(t, before), f.classes(t, after)
		for i := range fewer.rows {
			old := r.MSUs(int(was[i]), nil)
			for _, s := range q.MSUs(int(is[i]), nil) {
				if !slices.ContainsFunc(old, func(m uint64) bool { return m&s == m }) {
					rt.Fatalf("record %d became unique on %b; its MSUs were %b", i, s, old)
				}
			}
		}
	})
}

// TestEdges are the shapes that searches get wrong.
func TestEdges(t *testing.T) {
	all := func(rows ...[]uint32) [][]uint32 { return rows }
	cases := []struct {
		name  string
		cards []int
		rows  [][]uint32
	}{
		{"no records", []int{2, 2}, nil},
		{"no records, no variables", nil, nil},
		{"no variables, one record", nil, all(nil)},
		{"no variables, two records", nil, all(nil, nil)},
		{"one record", []int{2, 3}, all([]uint32{1, 2})},
		{"one record, all missing", []int{2, 3}, all([]uint32{2, 3})},
		{"one variable", []int{4}, all([]uint32{0}, []uint32{1}, []uint32{1}, []uint32{4})},
		{"all duplicates", []int{2, 2}, all([]uint32{1, 0}, []uint32{1, 0}, []uint32{1, 0})},
		{"all unique", []int{4, 4}, all([]uint32{0, 0}, []uint32{1, 1}, []uint32{2, 2}, []uint32{3, 3})},
		{"constant variable", []int{1, 3, 0}, all([]uint32{0, 0, 0}, []uint32{0, 1, 0}, []uint32{0, 1, 0})},
		{"perfectly correlated", []int{3, 3, 3}, all([]uint32{0, 0, 0}, []uint32{1, 1, 1}, []uint32{2, 2, 2}, []uint32{2, 2, 2})},
		{"two records that differ everywhere", []int{2, 2, 2}, all([]uint32{0, 0, 0}, []uint32{1, 1, 1})},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := file{cards: c.cards, rows: c.rows}
			table := f.table(t)
			for _, policy := range []Policy{Category, Wildcard, Ignore, Drop} {
				for score := Lattice; score <= ElliotLimited; score++ {
					for k := int64(1); k < 3; k++ {
						for way := chosen; way <= downwards; way++ {
							o := Options{
								Policies:      slices.Repeat([]Policy{policy}, len(c.cards)),
								Score:         score,
								Threshold:     k,
								MSUs:          true,
								Contributions: true,
								direction:     way,
							}
							checkAgainstBrute(t, f, f.classes(t, table), search(t, table, o), o)
						}
					}
				}
			}
		})
	}
}

// TestThresholdCountsRecords checks that totals count records, not classes.
func TestThresholdCountsRecords(t *testing.T) {
	f := file{cards: []int{2, 3}, rows: [][]uint32{{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 1}, {1, 1}}}
	o := Options{Threshold: 2, MSUs: true, Score: Factorial}
	table := f.table(t)
	r := search(t, table, o)
	checkAgainstBrute(t, f, f.classes(t, table), r, o)
	if r.Count[0] != 1 || r.MSUs(0, nil)[0] != 2 || r.FileScore != 2*1+1 {
		t.Errorf("MSUs of the pair %b, file score %v", r.MSUs(0, nil), r.FileScore)
	}
}

// TestWideKeys searches keys of two and more words, against the same search on compact codes.
func TestWideKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const variables = 7
	compact := file{cards: slices.Repeat([]int{6}, variables)}
	wide := file{cards: slices.Repeat([]int{70000}, variables)}
	for range 3000 {
		row := make([]uint32, variables)
		far := make([]uint32, variables)
		for v := range row {
			row[v] = uint32(min(r.IntN(7), r.IntN(7)))
			far[v] = row[v] * 11666
			if row[v] == 6 {
				far[v] = 70000
			}
		}
		compact.rows = append(compact.rows, row)
		wide.rows = append(wide.rows, far)
	}
	for _, policy := range []Policy{Category, Wildcard, Ignore, Drop} {
		for k := int64(1); k < 3; k++ {
			o := Options{MSUs: true, Contributions: true, Threshold: k, Policies: slices.Repeat([]Policy{policy}, variables), Workers: 2}
			a, b := search(t, compact.table(t), o), search(t, wide.table(t), o)
			for v := range b.Categories { // categories differ by design
				b.Categories[v] = a.Categories[v]
			}
			if !sameBits(a, b) {
				t.Errorf("policy %d, threshold %d: wide keys give another result", policy, k)
			}
		}
	}
}

// TestSixtyFourVariables goes through a lattice of 2^64 sets that closes early.
func TestSixtyFourVariables(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	f := file{cards: slices.Repeat([]int{1000}, 64)}
	for range 50 {
		row := make([]uint32, 64)
		for v := range row {
			row[v] = uint32(r.IntN(1000))
		}
		f.rows = append(f.rows, row)
	}
	o := Options{MSUs: true, Contributions: true, Score: Factorial}
	table := f.table(t)
	res := search(t, table, o)
	sets := 0
	for i, c := range f.classes(t, table) {
		for _, s := range res.MSUs(int(c), nil) {
			sets++
			if !f.unsafe(o, i, s) {
				t.Fatalf("record %d is not unique on %b", i, s)
			}
			for rest := s; rest != 0; rest &= rest - 1 {
				if f.unsafe(o, i, s&^(rest&-rest)) {
					t.Fatalf("record %d is unique on a subset of %b", i, s)
				}
			}
		}
		// Every variable is in an MSU by itself or, where another record has the same code, together with others.
		if share := res.Share[63][c]; !(share > 0 && share <= 100) {
			t.Fatalf("record %d: share %v", i, share)
		}
	}
	if sets < 50*64 {
		t.Errorf("%d MSUs", sets)
	}
	if _, err := DISIS(context.Background(), res, table.Count, 64, .5); err == nil {
		t.Error("DIS-IS of 64 variables gave no error")
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestWorkersAndDirectionsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	f := file{cards: slices.Repeat([]int{2}, 12)}
	for range 5000 {
		row := make([]uint32, 12)
		for v := range row {
			row[v] = uint32(btoi(r.Float64() < .1+.05*float64(v)))
		}
		f.rows = append(f.rows, row)
	}
	table := f.table(t)
	var first *Result
	for way := upwards; way <= downwards; way++ {
		for _, workers := range []int{1, 2, 7} {
			got, err := Search(context.Background(), table, Options{MSUs: true, Contributions: true, Workers: workers, direction: way})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
			} else if !sameBits(first, got) {
				t.Errorf("direction %d with %d workers gives another result", way, workers)
			}
		}
	}
}
