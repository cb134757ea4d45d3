package runpage

import (
	"math"

	"microrisk/operators/kanonymity"
	"microrisk/operators/report"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

// fewest is the least number of records that a page for publication tells.
const fewest = 10

// Masks hide what a page for publication does not tell: counts from 1 to 9, and what they follow from.
type masks struct {
	public bool
	hidden map[string]bool // figures, by the names of their limits
}

// newMasks looks at what is small.
func newMasks(s *schemas.Summary, public bool) masks {
	m := masks{public, map[string]bool{}}
	if !public {
		return m
	}
	hide := func(when bool, figures ...string) {
		for _, name := range figures {
			m.hidden[name] = m.hidden[name] || when
		}
	}
	look := func(k *schemas.KeySummary, records int64) {
		if k == nil {
			return
		}
		u, d := k.SampleUniques, int64(math.Round(k.Doubles))
		few := m.small(u) || m.small(records-u)
		hide(few, schemas.LimitSampleUniques, schemas.LimitSampleUniqueShare)
		hide(m.small(d), schemas.LimitDoubles)
		hide(m.small(records-k.Classes), schemas.LimitClasses)
		// What the number of uniques could be worked out from.
		hide(few || m.small(d), suda.LimitDIS)
		hide(few, suda.LimitSpecialUniques, suda.LimitMSUs, suda.LimitFileScore, "expected_population_uniques", "expected_correct_matches")
	}
	look(s.Key, s.Rows)
	for _, part := range s.Operators {
		p, ok := part.(schemas.Judged)
		if !ok {
			continue
		}
		key := s.Key
		if x, ok := part.(schemas.Measured); ok && x.Key() != nil {
			key = x.Key()
			look(key, p.Counted())
		}
		hide(m.small(p.Counted()), schemas.LimitSampleUniques, schemas.LimitSampleUniqueShare)
		switch x := part.(type) {
		case *suda.Summary:
			hide(m.small(x.SpecialUniques) || key != nil && m.small(key.SampleUniques-x.SpecialUniques), suda.LimitSpecialUniques)
			hide(m.small(x.MSUs), suda.LimitMSUs, suda.LimitFileScore)
		case *kanonymity.Summary:
			hide(m.small(x.Violations) || m.small(x.Records-x.Violations), kanonymity.Limit)
			if key != nil { // records of classes of 1, 2, ...: those of one are the uniques
				rest := x.Violations - key.SampleUniques
				hide(m.hidden[schemas.LimitSampleUniques] || rest > 0 && rest < 2*fewest, kanonymity.Limit)
				hide(m.small(rest-2*int64(math.Round(key.Doubles))), kanonymity.Limit) // of classes of more than two
			}
		default:
			for name, v := range p.Figures() {
				hide(whole(name) && m.small(int64(v)), name)
			}
		}
	}
	return m
}

// whole tells whether a figure is a number of records or sets.
func whole(figure string) bool {
	switch figure {
	case schemas.LimitClasses,
		schemas.LimitSampleUniques,
		schemas.LimitDoubles,
		suda.LimitSpecialUniques,
		suda.LimitMSUs,
		"kanonymity_violations",
		"ldiversity_violations":
		return true
	}
	return false
}

// small tells whether a number of records is not told.
func (m masks) small(n int64) bool { return m.public && n > 0 && n < fewest }

// value is a figure as the page tells it. Of hidden ones nothing but that they are.
func (m masks) value(figure string, v float64) (text string, told bool) {
	switch {
	case m.hidden[figure] && whole(figure) && v < fewest:
		return "fewer than 10", false
	case m.hidden[figure]:
		return "not told", false
	case m.public && single(figure):
		return "not told: of one record", false
	}
	return report.Figure(v), true
}

// single tells whether a figure is of a single record, or a single cell.
func single(figure string) bool {
	for _, f := range schemas.Figures() {
		if f.Name == figure && f.Ranked {
			return true
		}
	}
	return figure == "max_attribution" || figure == "sap"
}

// bands are counts such that none is small: neighbours are put together, and what remains goes to the one before. A group is from and to its
// last; none if all together are few.
func (m masks) bands(counts []int64) (groups [][2]int) {
	if !m.public {
		for i := range counts {
			groups = append(groups, [2]int{i, i})
		}
		return groups
	}
	begun, sum := 0, int64(0)
	for i, n := range counts {
		sum += n
		if sum == 0 || sum >= fewest {
			groups = append(groups, [2]int{begun, i})
			begun, sum = i+1, 0
		}
	}
	if sum == 0 {
		return groups
	}
	for len(groups) > 0 { // what remains is few: it goes to the last one that is none
		last := &groups[len(groups)-1]
		total := int64(0)
		for _, n := range counts[last[0] : last[1]+1] {
			total += n
		}
		if total > 0 {
			last[1] = len(counts) - 1
			return groups
		}
		groups = groups[:len(groups)-1]
	}
	return nil
}
