package pipeline

import (
	"maps"
	"slices"

	"microrisk/operators"
	"microrisk/schemas"
)

// breaches compares the figures of a run with their limits. A figure that several operators have is compared for each.
func breaches(limits map[string]float64, s *schemas.Summary, riskiest []operators.RiskyRow) []Breach {
	var found []Breach
	check := func(name, operator string, value float64) {
		if allowed, ok := limits[name]; ok && value > allowed {
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
		if f, ok := s.Operators[prefix].(*schemas.FrequencySummary); ok {
			if f.KeySummary == nil {
				records = f.Records
			}
			key(f.KeySummary, prefix, f.Records)
			continue
		}
		suda, ok := s.Operators[prefix].(*schemas.SudaSummary)
		if !ok {
			continue
		}
		if suda.KeySummary == nil {
			records = suda.Records
		}
		key(suda.KeySummary, prefix, suda.Records)
		check(schemas.LimitSpecialUniques, prefix, float64(suda.SpecialUniques))
		check(schemas.LimitMSUs, prefix, float64(suda.MSUs))
		check(schemas.LimitFileScore, prefix, suda.FileScore)
		if suda.DIS != nil {
			check(schemas.LimitDIS, prefix, *suda.DIS)
		}
	}
	key(s.Key, "", records)
	if len(riskiest) > 0 {
		check(schemas.LimitMaxScore, "", riskiest[0].Score)
	}
	return found
}
