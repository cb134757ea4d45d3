package local

import (
	"cmp"
	"slices"
)

// result sums parts by classes of the instance, and names those of the problem.
func (in *instance) result(parts []Part) *Result {
	r := &Result{CellsOf: make([]int64, len(in.Codes)), Parts: make([]Part, 0, len(parts))}
	for _, n := range in.counts {
		if n < in.K {
			r.AtRisk += n
		}
	}
	for _, p := range parts {
		p.Class = int(in.from[p.Class])
		r.Parts = append(r.Parts, p)
		if p.Whole {
			r.Suppressed += p.Records
			continue
		}
		r.Changed += p.Records
		for v := range r.CellsOf {
			if p.Cut.Has(v) {
				r.CellsOf[v] += p.Records
			}
		}
	}
	for v, n := range r.CellsOf {
		r.Cells += n
		r.Cost += float64(n) * in.weight(v)
	}
	slices.SortFunc(r.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Cut, b.Cut), whole(a)-whole(b))
	})
	r.Parts = slices.Clip(joined(r.Parts))
	return r
}

func whole(p Part) int {
	if p.Whole {
		return 1
	}
	return 0
}

// joined adds up neighbours that are alike.
func joined(parts []Part) []Part {
	kept := parts[:0]
	for _, p := range parts {
		if n := len(kept); n > 0 && kept[n-1].Class == p.Class && kept[n-1].Cut == p.Cut && kept[n-1].Whole == p.Whole {
			kept[n-1].Records += p.Records
		} else {
			kept = append(kept, p)
		}
	}
	return kept
}

// Released is the whole table as it is released: the parts of a result, and of each class the records that are left as they were.
func Released(p *Problem, parts []Part) []Part {
	left := slices.Clone(p.Counts)
	all := slices.Clone(parts)
	for _, x := range parts {
		left[x.Class] -= x.Records
	}
	for c, n := range left {
		if n != 0 {
			all = append(all, Part{Class: c, Records: n})
		}
	}
	slices.SortFunc(all, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Cut, b.Cut), whole(a)-whole(b))
	})
	return all
}
