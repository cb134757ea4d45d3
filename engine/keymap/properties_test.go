package keymap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func closureOf(t *rapid.T, ps []Partition) []Partition {
	closure, err := Closure(context.Background(), "X", ps, Limits{Nodes: MaxNodes})
	require.NoError(t, err)
	return closure
}

func drawnOf(t *rapid.T, closure []Partition) *HarmonizationGraph {
	h, err := Harmonizations(context.Background(), closure)
	require.NoError(t, err)
	return h
}

func nodesOf(t *rapid.T, q Query) []Node {
	nodes, err := q.Nodes(context.Background())
	require.NoError(t, err)
	return nodes
}

func keysOf(k int, ps []Partition) []string {
	keys := make([]string, len(ps))
	for i, p := range ps {
		keys[i] = familyOf(p, k).key()
	}
	return keys
}

func TestPartitionsAreSetsOfSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 7).Draw(t, "k")
		fs := drawFamilies(t, k, 1, 4)
		ps := partitions(t, k, fs)
		for i, p := range ps {
			require.Equal(t, fs[i].size(), p.Size())
			require.Equal(t, fs[i].key(), familyOf(p, k).key())
			if p != Any {
				require.Equal(t, [][]int(fs[i]), p.Blocks())
				require.Equal(t, k, p.Sinks())
			}
			for j, q := range ps {
				require.Equal(t, fs[i].key() == fs[j].key(), p == q)
				require.Equal(t, finer(fs[i], fs[j]), p.Refines(q))
				h := Join(p, q)
				require.Equal(t, joined(k, fs[i], fs[j]).key(), familyOf(h, k).key())
				require.Equal(t, h, Join(q, p))
				require.Equal(t, p.Refines(q), h == q)
			}
		}
		all := Harmonize(ps...)
		require.Equal(t, joined(k, fs...).key(), familyOf(all, k).key())
		require.Equal(t, all, Harmonize(rapid.Permutation(ps).Draw(t, "order")...))
		require.Equal(t, Any, Harmonize())
	})
}

func TestClosureAndGraphByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		fs := drawFamilies(t, k, 1, 5)
		ps := partitions(t, k, fs)
		closure := closureOf(t, ps)
		want := harmonizations(k, nil, fs, -1)
		require.ElementsMatch(t, slices.Collect(maps.Keys(want)), keysOf(k, closure))
		h := drawnOf(t, closure)
		require.ElementsMatch(t, closure, h.Nodes)
		var edges [][2]string
		incoming := make([]int, len(h.Nodes))
		for v, children := range h.Children {
			require.True(t, slices.IsSorted(children))
			for _, w := range children {
				incoming[w]++
				edges = append(edges, [2]string{familyOf(h.Nodes[v], k).key(), familyOf(h.Nodes[w], k).key()})
			}
		}
		require.ElementsMatch(t, edgesBetween(want), edges)
		require.Len(t, edges, h.Edges())
		sources := 0
		for v, n := range incoming {
			if n == 0 {
				sources++
				require.Equal(t, Harmonize(ps...), h.Nodes[v])
			}
		}
		require.Equal(t, 1, sources)
		// Looked up by edges, some nodes harmonize to their join.
		some := rapid.SliceOfN(rapid.IntRange(0, len(h.Nodes)-1), 1, 4).Draw(t, "some")
		var of []Partition
		for _, v := range some {
			of = append(of, h.Nodes[v])
		}
		require.Equal(t, Harmonize(of...), h.Nodes[h.Lookup(some...)])
		// No order matters.
		shuffled := closureOf(t, rapid.Permutation(append(ps, ps[0])).Draw(t, "order"))
		require.Equal(t, h, drawnOf(t, rapid.Permutation(shuffled).Draw(t, "nodes")))
		// As many as there are fit, one fewer does not.
		_, err := Closure(context.Background(), "X", ps, Limits{Nodes: len(want)})
		require.NoError(t, err)
		if len(want) > 1 {
			_, err = Closure(context.Background(), "X", ps, Limits{Nodes: len(want) - 1})
			var most *NodesError
			require.True(t, errors.As(err, &most), "%v", err)
		}
	})
}

func TestSplittingSinksChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		fs := drawFamilies(t, k, 1, 5)
		into := rapid.SliceOfN(rapid.IntRange(1, 3), k, k).Draw(t, "into")
		var from []int // of each new sink
		for s, n := range into {
			for range n {
				from = append(from, s)
			}
		}
		from = rapid.Permutation(from).Draw(t, "sinks")
		split := func(p Partition) Partition {
			if p == Any {
				return p
			}
			var labels []int
			for _, s := range from {
				labels = append(labels, p.Block(s))
			}
			q, err := NewPartition(labels)
			require.NoError(t, err)
			return q
		}
		var parts []Partition
		for _, p := range partitions(t, k, fs) {
			parts = append(parts, split(p))
		}
		before, after := drawnOf(t, closureOf(t, partitions(t, k, fs))), drawnOf(t, closureOf(t, parts))
		require.Len(t, after.Nodes, len(before.Nodes))
		var is, ought [][2]Partition
		for v := range before.Nodes {
			require.Equal(t, before.Nodes[v].Size(), split(before.Nodes[v]).Size())
			for _, w := range before.Children[v] {
				ought = append(ought, [2]Partition{split(before.Nodes[v]), split(before.Nodes[w])})
			}
			for _, w := range after.Children[v] {
				is = append(is, [2]Partition{after.Nodes[v], after.Nodes[w]})
			}
		}
		require.ElementsMatch(t, ought, is)
	})
}

func TestNodesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t)
		q := s.query(t)
		nodes := nodesOf(t, q)
		want := harmonizations(s.k, s.target, s.forms, -1)
		var keys []string
		projected := make(map[string]int)
		for _, f := range s.forms {
			projected[joined(s.k, f, s.target).key()]++
		}
		all := partitions(t, s.k, s.forms)
		for i, n := range nodes {
			f := familyOf(n.Partition, s.k)
			keys = append(keys, f.key())
			require.Equal(t, f.size(), n.Size)
			require.Equal(t, supportOf(f, s.forms), n.Support)
			require.Equal(t, projected[f.key()], n.Forms)
			require.Equal(t, s.observed[f.key()], n.Observed)
			if i > 0 {
				require.Negative(t, s.compare(familyOf(nodes[i-1].Partition, s.k), f), "order of %v", nodes)
			}
			supporting := Supporters(q.Target, n.Partition, all)
			for j, form := range s.forms {
				require.Equal(t, finer(joined(s.k, form, s.target), f), supporting[j])
			}
		}
		require.ElementsMatch(t, slices.Collect(maps.Keys(want)), keys)
		for _, least := range []int{0, 1} {
			q.Limits.Nodes = len(nodes) - least
			if q.Limits.Nodes > 0 {
				_, err := q.Nodes(context.Background())
				require.Equal(t, least > 0, err != nil)
			}
		}
	})
}

func TestAnswersByEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t)
		nodes := nodesOf(t, s.query(t))
		answer := make(map[int]int) // by threshold, from the profile
		last := 0
		for _, r := range Profile(nodes) {
			require.Equal(t, last+1, r.From)
			require.LessOrEqual(t, r.From, r.To)
			for n := r.From; n <= r.To; n++ {
				answer[n] = r.Node
			}
			last = r.To
		}
		require.Equal(t, len(s.forms), last)
		for n := 1; n <= len(s.forms)+1; n++ {
			best, candidates := Best(nodes, n), Candidates(nodes, n)
			results := harmonizations(s.k, s.target, s.forms, n)
			if len(results) == 0 {
				require.Negative(t, best)
				require.Empty(t, candidates)
				continue
			}
			require.Equal(t, best, answer[n])
			require.Equal(t, best, candidates[0])
			require.Equal(t, s.best(n), nodes[best].Size)
			minimal := finest(results)
			slices.SortFunc(minimal, s.compare)
			var want, got []string
			for _, f := range minimal {
				want = append(want, f.key())
			}
			for _, c := range candidates {
				got = append(got, familyOf(nodes[c].Partition, s.k).key())
			}
			require.Equal(t, want, got)
		}
		if len(s.forms) > 0 { // one form is enough at p = 0
			most := 0
			for _, f := range s.forms {
				most = max(most, joined(s.k, s.target, f).size())
			}
			require.Equal(t, most, nodes[Best(nodes, 1)].Size)
		}
	})
}

// Answers are the same from the graph of what more forms have, of which those of the match set are counted, and without a projection.
func TestAnswersFromTheWholeGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t)
		q := s.query(t)
		others := partitions(t, s.k, drawFamilies(t, s.k, 0, 3))
		match := partitions(t, s.k, s.forms)
		whole := closureOf(t, slices.Concat(match, others, []Partition{q.Target}))
		nodes := nodesOf(t, q)
		more := q
		for _, p := range others {
			more.Match = append(slices.Clone(more.Match), Observation{p, 0})
		}
		counted := nodesOf(t, more)
		for n := 1; n <= len(match); n++ {
			most := 0
			for _, v := range whole {
				support := 0
				for _, p := range match {
					if p.Refines(v) {
						support++
					}
				}
				if q.Target.Refines(v) && support >= n {
					most = max(most, v.Size())
				}
			}
			require.Equal(t, most, nodes[Best(nodes, n)].Size)
			require.Equal(t, nodes[Best(nodes, n)].Partition, counted[Best(counted, n)].Partition)
		}
		require.Negative(t, Best(counted, len(match)+1))
	})
}

func TestAreasBySummation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t)
		all := len(s.forms) + s.lacking
		if all == 0 {
			return
		}
		sizes := Sizes{Levels: rapid.IntRange(1, 9).Draw(t, "levels"), Cap: rapid.IntRange(0, 4).Draw(t, "cap")}
		cut := false
		f := func(n int) int64 {
			if n > len(s.forms) {
				return 0
			}
			size := s.best(n)
			if size == Unbounded {
				size, cut = sizes.Levels, true
			}
			if sizes.Cap > 0 && size > sizes.Cap {
				size, cut = sizes.Cap, true
			}
			return int64(size)
		}
		share := big.NewRat(1, int64(all))
		sum := func(from int, f func(n int) int64) *big.Rat {
			total := new(big.Rat)
			for n := from; n < from+all; n++ {
				total.Add(total, new(big.Rat).Mul(share, new(big.Rat).SetInt64(f(n))))
			}
			return total
		}
		nodes := nodesOf(t, s.query(t))
		area, capped := Area(nodes, Profile(nodes), all, sizes)
		require.Equal(t, sum(1, f).RatString(), area.RatString())
		require.Equal(t, cut, capped)
		// p from 0 to 1: between two thresholds q = all p is n and a bit.
		cut = false
		area, capped = Continuous(nodes, Profile(nodes), all, sizes)
		require.Equal(t, sum(0, func(n int) int64 {
			if len(s.forms) <= n {
				return 0
			}
			return f(max(1, n))
		}).RatString(), area.RatString())
		require.Equal(t, cut, capped)
	})
}

func TestThresholdsOfDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{0,25}`).Draw(t, "digits")
		text := "0"
		if digits != "" {
			text += "." + digits
		}
		if rapid.IntRange(0, 5).Draw(t, "one") == 0 {
			text = rapid.SampledFrom([]string{"1", "1.0", "1.000"}).Draw(t, "text")
		}
		want, _ := new(big.Rat).SetString(text)
		p, err := ParsePrevalence(text)
		require.NoError(t, err)
		require.Zero(t, want.Cmp(p))
		base := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 1_000_000)).Draw(t, "base")
		n, q := Required(base, p)
		exact := new(big.Rat).Mul(p, big.NewRat(int64(base), 1))
		require.Zero(t, exact.Cmp(q))
		floor := new(big.Int).Quo(exact.Num(), exact.Denom())
		require.Equal(t, max(1, int(floor.Int64())), n)
		for _, present := range []int{0, 1, n - 1, n, n + 1, base} {
			enough := present > 0 && new(big.Rat).SetInt64(int64(present)).Cmp(exact) >= 0
			require.Equal(t, enough, Enough(present, q), "%d of %s", present, q)
		}
	})
}

func TestSharedKeysAreTheClosedSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		variables, least := rapid.IntRange(1, 5).Draw(t, "variables"), rapid.IntRange(1, 3).Draw(t, "least")
		held := make([][]int, rapid.IntRange(0, 6).Draw(t, "forms"))
		for i := range held {
			held[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, variables-1), 0, variables, rapid.ID[int]).Draw(t, "held")
		}
		keys, err := SharedKeys(held, variables, least)
		require.NoError(t, err)
		var want []SharedKey
		for _, set := range combinations(variables, -1) {
			var forms []int
			for i := range held {
				if subset(set, held[i]) {
					forms = append(forms, i)
				}
			}
			open := false // another variable is held by all of them
			for v := range variables {
				open = open || !slices.Contains(set, v) && !slices.ContainsFunc(forms, func(i int) bool { return !slices.Contains(held[i], v) })
			}
			if len(forms) >= least && !open {
				want = append(want, SharedKey{set, forms})
			}
		}
		require.ElementsMatch(t, want, keys)
		require.True(t, slices.IsSortedFunc(keys, func(a, b SharedKey) int { return len(b.Variables) - len(a.Variables) }))
	})
}

func TestOverlapsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		fs := slices.DeleteFunc(drawFamilies(t, k, 2, 6), func(f family) bool { return f == nil })
		if len(fs) < 2 {
			return
		}
		o := Overlaps(fs[0].partition(t, k), fs[1].partition(t, k))
		require.Equal(t, len(fs[0])*len(fs[1]), o.All)
		var pairs [][2]int
		for side := range 2 {
			for i, x := range fs[side] {
				var partners []int
				for j, y := range fs[1-side] {
					if slices.ContainsFunc(x, func(s int) bool { return slices.Contains(y, s) }) {
						partners = append(partners, j)
						if side == 0 {
							pairs = append(pairs, [2]int{i, j})
						}
					}
				}
				require.ElementsMatch(t, partners, o.Partners[side][i])
				inside := slices.ContainsFunc(fs[1-side], func(y []int) bool { return subset(x, y) })
				require.Equal(t, inside, o.Inside[side][i])
			}
		}
		require.ElementsMatch(t, pairs, o.Pairs)
	})
}

func TestKeySpaceIsAProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOf(rapid.IntRange(1, 500)).Draw(t, "sizes")
		product, bits := big.NewInt(1), 0.0
		for _, n := range sizes {
			product.Mul(product, big.NewInt(int64(n)))
			bits += math.Log2(float64(n))
			require.InDelta(t, math.Log2(float64(n)), Bits(n), 1e-12)
		}
		keys, sum := KeySpace(sizes)
		require.Zero(t, product.Cmp(keys), fmt.Sprint(sizes))
		require.InDelta(t, bits, sum, 1e-9*(1+bits))
	})
}
