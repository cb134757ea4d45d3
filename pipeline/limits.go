package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"microrisk/operators"
	"microrisk/schemas"
)

// A Breach is a limit that a figure has passed, or that cannot be compared with all records asked about.
type Breach schemas.LimitSummary

func (b Breach) String() string {
	of := ""
	if b.Operator != "" {
		of = " of " + b.Operator
	}
	switch allowed := strconv.FormatFloat(b.Allowed, 'f', -1, 64); {
	case b.Records == 0:
		return fmt.Sprintf("limit breached: %s%s is a figure of no records, which no limit holds for", b.Limit, of)
	case b.Value <= b.Allowed:
		return fmt.Sprintf(
			"limit breached: %s%s is %s, but of %d records only: %d more have missing values and were dropped; measure them too (missing: category, --missing "+
				"category), or limit what is modelled (%s: {max: %s, of: modelled}, --limit %s=%s:modelled)",
			b.Limit,
			of,
			plainNumber(b.Value),
			b.Records,
			b.Dropped,
			b.Limit,
			allowed,
			b.Limit,
			allowed,
		)
	default:
		return fmt.Sprintf("limit breached: %s%s is %s, at most %s is allowed", b.Limit, of, plainNumber(b.Value), allowed)
	}
}

// A gate compares figures with their limits.
type gate struct {
	limits   map[string]schemas.Limit
	compared []schemas.LimitSummary
}

// check compares a figure of some records.
func (g *gate) check(name, operator string, value float64, records, dropped int64) {
	limit, ok := g.limits[name]
	if !ok {
		return
	}
	breached := value > limit.Max || records == 0 || dropped > 0 && limit.Of != schemas.LimitModelled
	g.compared = append(g.compared, schemas.LimitSummary{Limit: name, Operator: operator, Value: value, Allowed: limit.Max, Of: limit.Of,
		Records: records, Dropped: dropped, Breached: breached})
}

func (g *gate) key(k *schemas.KeySummary, operator string, records, dropped int64) {
	if k == nil {
		return
	}
	g.check(schemas.LimitClasses, operator, float64(k.Classes), records, dropped)
	g.check(schemas.LimitSampleUniques, operator, float64(k.SampleUniques), records, dropped)
	g.check(schemas.LimitDoubles, operator, k.Doubles, records, dropped)
	g.check(schemas.LimitSampleUniqueShare, operator, float64(k.SampleUniques)/float64(max(records, 1)), records, dropped)
}

// compare compares the figures of a run with their limits. A figure that several operators have is compared for each.
func compare(spec *schemas.Spec, s *schemas.Summary, rankings []operators.Ranking) []schemas.LimitSummary {
	g := &gate{limits: spec.Limits}
	records, dropped := s.Rows, int64(0)
	for _, prefix := range slices.Sorted(maps.Keys(s.Operators)) {
		m, ok := s.Operators[prefix].(schemas.Judged)
		if !ok {
			continue
		}
		if k, ok := m.(schemas.Measured); ok {
			if k.Key() == nil {
				records, dropped = m.Counted(), m.LeftOut()
			}
			g.key(k.Key(), prefix, m.Counted(), m.LeftOut())
		}
		figures := m.Figures()
		for _, name := range schemas.LimitNames() {
			value, ok := figures[name]
			if ok || m.Counted() == 0 && slices.Contains(offered(spec, prefix), name) {
				g.check(name, prefix, value, m.Counted(), m.LeftOut())
			}
		}
	}
	g.key(s.Key, "", records, dropped)
	g.scores(spec, s, rankings)
	return g.compared
}

// offered are the limits that an operator has figures for, but for those of its key and of single records.
func offered(spec *schemas.Spec, prefix string) []string {
	var names []string
	for _, o := range spec.Operators {
		if n, named := o.Config.(schemas.Named); named && n.ColumnPrefix() == prefix {
			names = o.Figures(spec)
		}
	}
	single := append(schemas.KeyFigures(), ranked()...)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(single, name) })
}

// ranked are the figures that are the greatest score of a record.
func ranked() []string {
	var names []string
	for _, f := range schemas.Figures() {
		if f.Ranked {
			names = append(names, f.Name)
		}
	}
	return names
}

// scores compares the highest score of a record.
func (g *gate) scores(spec *schemas.Spec, s *schemas.Summary, rankings []operators.Ranking) {
	for _, r := range rankings {
		for _, o := range spec.Operators {
			if n, named := o.Config.(schemas.Named); !named || n.ColumnPrefix() != r.Operator {
				continue
			}
			highest := 0.0
			if len(r.Rows) > 0 {
				highest = r.Rows[0].Score
			}
			m, judged := s.Operators[r.Operator].(schemas.Judged)
			for _, name := range ranked() {
				if judged && slices.Contains(o.Figures(spec), name) {
					g.check(name, r.Operator, highest, m.Counted(), m.LeftOut())
				}
			}
		}
	}
}
