package protectrecords

import (
	"microrisk/engine/recoding"
)

// A portion is some records of a class of a release, the first ones that are left.
type portion struct {
	records int64  // -1: all that are left
	hide    uint64 // the variables that are hidden, by bits
}

// parts are what is hidden in a release, by the groups of its classes.
type parts struct {
	of      map[string][]portion
	limited bool // not all records of a class are treated alike
}

// everything hides all variables.
const everything = ^uint64(0)

func keyOf(groups []uint32) string {
	key := make([]byte, 0, 4*len(groups))
	for _, g := range groups {
		key = appendCode(key, g)
	}
	return string(key)
}

// parts are those of a release that the search found last.
func (p *Search) parts(best *Release, rule recoding.Rule) (*parts, error) {
	out := &parts{of: map[string][]portion{}}
	if p.Suppress == SuppressRecords && best.Suppressed > 0 {
		unsafe, err := p.Lattice.Unsafe(best.Node, rule.Safe)
		for _, groups := range unsafe {
			out.of[keyOf(groups)] = []portion{{-1, everything}}
		}
		return out, err
	}
	if p.cut == nil || p.cut.result == nil {
		return out, nil
	}
	for _, part := range p.cut.result.Parts {
		hide := uint64(0)
		for k, v := range p.cut.variables {
			if part.Whole || part.Cut.Has(k) {
				hide |= 1 << v
			}
		}
		key := keyOf(p.cut.groups[part.Class])
		out.of[key] = append(out.of[key], portion{part.Records, hide})
		out.limited = out.limited || part.Records < p.cut.problem.Counts[part.Class]
	}
	return out, nil
}
