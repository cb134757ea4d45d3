package local

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// OwnSize is Own with a weaker aim: no set of at most size variables that are shown tells a record from all but k-1 originals. The cut of a
// class is the cheapest that meets all its minimal sets of at most size variables whose values fewer than k records have: at k = 2 its
// minimal sample uniques (package uniques). With size K it is Own. Caps are not for it, and an error.
func OwnSize(ctx context.Context, p *Problem, size int, o Options) (*Result, error) {
	in, err := newInstance(p)
	switch {
	case err != nil:
		return nil, err
	case in.capped():
		return nil, fmt.Errorf("caps go with sets of all sizes alone, not of at most %d", size)
	case size < 1 || size > len(p.Codes):
		return nil, fmt.Errorf("sets of at most %d variables: from 1 to %d", size, len(p.Codes))
	}
	minimal, err := in.infrequent(ctx, size, o)
	cuts, costs := make([]Set, in.n), newCosting(in.weights())
	known := make(map[string]Set)
	atRisk := int64(0)
	for _, c := range in.atRisk() {
		if err != nil { // not all its sets are known
			cuts[c] = none
			continue
		}
		if len(minimal[c]) > 0 {
			atRisk += in.counts[c]
			cuts[c] = in.cheapest(costs, minimal[c], known)
		}
	}
	r := in.ownResult(cuts, err != nil)
	if err == nil {
		r.AtRisk = atRisk
	}
	return r, nil
}

// infrequent has the minimal sets of shown variables of each class at risk, by size, that fewer than k records share with it.
func (in *instance) infrequent(ctx context.Context, size int, o Options) ([][]Set, error) {
	all := Set(1)<<len(in.Codes) - 1
	var sets []Set // what is cut
	for s := range all {
		if n := (all &^ s).size(); n <= size {
			sets = append(sets, s)
		}
	}
	slices.SortStableFunc(sets, func(a, b Set) int { return bits.OnesCount32(uint32(b)) - bits.OnesCount32(uint32(a)) })
	found, open := make([][]Set, in.n), in.atRisk()
	var total []int64
	err := in.sweep(ctx, sets, o, func(g *grouping) bool {
		total = in.totals(g, total)
		shown := all &^ g.cut
		for _, c := range open {
			id := g.of[c]
			if id >= 0 && total[id] < in.K && !slices.ContainsFunc(found[c], func(s Set) bool { return s&^shown == 0 }) {
				found[c] = append(found[c], shown)
			}
		}
		return true
	})
	return found, err
}

// cheapest is the first set in the order of weights, without fixed variables, that meets all sets.
func (in *instance) cheapest(costs *costing, sets []Set, known map[string]Set) Set {
	slices.Sort(sets)
	name := make([]byte, 0, 4*len(sets))
	for _, s := range sets {
		name = binary.LittleEndian.AppendUint32(name, uint32(s))
	}
	if cut, ok := known[string(name)]; ok {
		return cut
	}
	cut := none
	for _, s := range costs.order {
		if s&in.never == 0 && !slices.ContainsFunc(sets, func(m Set) bool { return m&s == 0 }) {
			cut = s
			break
		}
	}
	known[string(name)] = cut
	return cut
}
