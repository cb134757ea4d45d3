package pipeline

import (
	"maps"
	"slices"

	"microrisk/operators"
	"microrisk/schemas"
)

// breaches compares the figures of a run with their limits. A figure that several operators have is compared for each.
func breaches(spec *schemas.Spec, s *schemas.Summary, rankings []operators.Ranking) []Breach {
	var found []Breach
	check := func(name, operator string, value float64) {
		if allowed, ok := spec.Limits[name]; ok && value > allowed {
			found = append(found, Breach{Limit: name, Operator: operator, Value: value, Allowed: allowed})
		}
	}
	key := func(k *schemas.KeySummary, operator string, records int64) {
		if k == nil {
			return
		}
		check(schemas.LimitClasses, operator, float64(k.Classes))
		check(schemas.LimitSampleUniques, operator, float64(k.SampleUniques))
		check(schemas.LimitDoubles, operator, k.Doubles)
		if records > 0 {
			check(schemas.LimitSampleUniqueShare, operator, float64(k.SampleUniques)/float64(records))
		}
	}
	records := s.Rows
	for _, prefix := range slices.Sorted(maps.Keys(s.Operators)) {
		if m, ok := s.Operators[prefix].(*schemas.SAPSummary); ok {
			check(schemas.LimitSAP, prefix, m.Greatest())
		}
		m, ok := s.Operators[prefix].(schemas.Measured)
		if !ok {
			continue
		}
		if m.Key() == nil {
			records = m.Counted()
		}
		key(m.Key(), prefix, m.Counted())
		figures := m.Figures()
		for _, name := range schemas.LimitNames {
			if value, ok := figures[name]; ok {
				check(name, prefix, value)
			}
		}
	}
	key(s.Key, "", records)
	for _, r := range rankings {
		for _, o := range spec.Operators {
			if o.Suda != nil && o.Suda.ColumnPrefix() == r.Operator && len(r.Rows) > 0 {
				check(schemas.LimitMaxScore, r.Operator, r.Rows[0].Score)
			}
		}
	}
	return found
}
