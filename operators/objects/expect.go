package objects

import (
	"slices"

	"microrisk/operators/files"
)

// Expect is a files.Distant's.
func (in *Input) Expect(list ...files.Stretch) {
	begun := files.Stretch{From: in.begun.From, To: in.begun.From + int64(len(in.begun.Data))}
	held.mu.Lock()
	defer held.mu.Unlock()
	var fresh []*block
	for _, s := range joined(list, in.Size()) {
		for _, free := range in.free(without(s, begun)) {
			fresh = append(fresh, blocksOf(in, free)...)
		}
		for _, b := range in.blocks { // those that are there are read once more
			if b.from < s.To && s.From < b.to {
				held.again(b)
			}
		}
	}
	in.add(fresh)
	// Stretches are read side by side: their first blocks come first.
	slices.SortStableFunc(fresh, func(a, b *block) int { return a.turn - b.turn })
	in.planned = append(in.planned, fresh...)
	in.pump()
}

// joined are stretches in order, those with little between them as one.
func joined(list []files.Stretch, size int64) []files.Stretch {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b files.Stretch) int { return int(max(-1, min(1, a.From-b.From))) })
	var all []files.Stretch
	for _, s := range list {
		s.From, s.To = max(s.From, 0), min(s.To, size)
		if s.To <= s.From {
			continue
		}
		if n := len(all); n > 0 && s.From <= all[n-1].To+gapBytes {
			all[n-1].To = max(all[n-1].To, s.To)
			continue
		}
		all = append(all, s)
	}
	return all
}

// without is what a stretch has before and after another.
func without(s, other files.Stretch) []files.Stretch {
	if other.To <= s.From || s.To <= other.From {
		return []files.Stretch{s}
	}
	var rest []files.Stretch
	if s.From < other.From {
		rest = append(rest, files.Stretch{From: s.From, To: other.From})
	}
	if other.To < s.To {
		rest = append(rest, files.Stretch{From: other.To, To: s.To})
	}
	return rest
}

// free are the parts of stretches that no block has.
func (in *Input) free(list []files.Stretch) []files.Stretch {
	for _, b := range in.blocks {
		var rest []files.Stretch
		for _, s := range list {
			rest = append(rest, without(s, files.Stretch{From: b.from, To: b.to})...)
		}
		list = rest
	}
	return list
}
