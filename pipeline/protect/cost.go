package protect

import (
	"cmp"
	"context"
	"math"
	"slices"

	"microrisk/engine/contingency"
	"microrisk/operators/selection"
	"microrisk/pipeline/session"
	"microrisk/schemas"

	"microrisk/operators/protectrecords"
)

// A Cost is what a release lost, counted from its file beside the file as it was. Missing values are no categories here.
type Cost struct {
	Variables []VariableCost     `json:"variables"`
	Pairs     []PairCost         `json:"pairs"` // of variables that stay, those of which most is lost first
	Means     []MeanCost         `json:"means,omitempty"`
	Losses    map[string]float64 `json:"losses"` // by name: the same release by several measures
}

// A VariableCost is that of a key variable.
type VariableCost struct {
	Variable  string   `json:"variable"`
	Before    int      `json:"categories_before"`
	After     int      `json:"categories"`
	Coarser   int64    `json:"coarser_cells"` // shown, in a category that stands for several values of the file
	Hidden    int64    `json:"hidden_cells"`  // shown before and no more
	Variation *float64 `json:"total_variation"`
}

// A PairCost is that of two key variables that stay: how related they are, and how far their table moved.
type PairCost struct {
	Variables [2]string `json:"variables"`
	Before    *float64  `json:"cramers_v_before"`
	After     *float64  `json:"cramers_v"`
	Variation *float64  `json:"total_variation"` // of the table of the release's categories, of records that show both
}

// Lost is how much less related two variables are.
func (c *PairCost) Lost() float64 {
	switch {
	case c.Before == nil:
		return 0
	case c.After == nil:
		return *c.Before
	}
	return *c.Before - *c.After
}

// A MeanCost is that of a mean by the groups of a key variable as it is released.
type MeanCost struct {
	Column   string      `json:"column"`
	By       string      `json:"by"`
	Greatest *float64    `json:"greatest_change"` // relatively; nil where no group has records before and after
	Of       string      `json:"of,omitempty"`    // the group
	Groups   []GroupMean `json:"groups"`
}

// A GroupMean is a mean of the records that have a value, before and after.
type GroupMean struct {
	Group  string   `json:"group"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
	Were   int64    `json:"records_before"`
	Are    int64    `json:"records"`
}

// records before (0) or after (1).
func (g *GroupMean) records(when int) *int64 {
	if when == 0 {
		return &g.Were
	}
	return &g.Are
}

// A coster counts what a release lost.
type coster struct {
	*protecting
	best      *protectrecords.Release
	stay      []int // variables of the key
	before    [][]int32
	merged    [][]int32 // before, by group
	after     [][]int32
	counts    []int64
	remaining []int64 // of the release's classes
}

// cost is what the release lost.
func (p *protecting) cost(ctx context.Context, best *protectrecords.Release) (*Cost, error) {
	c := &coster{protecting: p, best: best, counts: countsOf(p.table)}
	out := &Cost{Variables: []VariableCost{}, Pairs: []PairCost{}}
	if p.released != nil {
		c.remaining = countsOf(p.released)
	}
	for v := range p.Levels {
		out.Variables = append(out.Variables, c.variable(v))
	}
	for i := range c.stay {
		for j := range i {
			out.Pairs = append(out.Pairs, c.pair(j, i))
		}
	}
	slices.SortStableFunc(out.Pairs, func(a, b PairCost) int { return cmp.Compare(b.Lost(), a.Lost()) })
	var err error
	if out.Losses, err = c.LossesOf(c.best); err != nil {
		return nil, err
	}
	for _, column := range p.Spec.Means {
		means, err := c.means(ctx, column)
		if err != nil {
			return nil, err
		}
		out.Means = append(out.Means, means...)
	}
	return out, nil
}

// groupOf is the group of each code of a variable, absent for missing values.
func (c *coster) groupOf(v int, level int) []int32 {
	h := c.Levels[v]
	out := make([]int32, len(c.table.Variables[v].Categories)+1)
	for code := range out {
		out[code] = absent
		if code < len(h.Levels[level].Group) && !h.Missing(level, h.Levels[level].Group[code]) {
			out[code] = int32(h.Levels[level].Group[code])
		}
	}
	return out
}

// labels are the groups of a variable by their names in the release, of those that occur.
func (c *coster) labels(v int) map[string]int32 {
	out := map[string]int32{}
	level := c.best.Node[v]
	for _, g := range c.groupOf(v, int(level)) {
		if g != absent {
			out[c.Levels[v].Levels[level].Names[g]] = g
		}
	}
	return out
}

// variable is the cost of one; it gathers the codes of those that stay.
func (c *coster) variable(v int) VariableCost {
	h, level := c.Levels[v], int(c.best.Node[v])
	before := codesOf(c.table, v, c.groupOf(v, 0))
	merged := before
	_, left := h.Recode(level)
	if !left {
		merged = codesOf(c.table, v, c.groupOf(v, level)) // missing values may be in a group
	}
	out := VariableCost{Variable: h.Variable, Before: len(oneWay(before, c.counts))}
	groups := oneWay(merged, c.counts)
	for _, n := range groups {
		out.Hidden += n
	}
	if left {
		return out
	}
	name := h.Variable
	at := slices.IndexFunc(c.released.Variables, func(x contingency.Variable) bool { return x.Name == name })
	labels := c.labels(v)
	categories := c.released.Variables[at].Categories
	becomes := slices.Repeat([]int32{absent}, len(categories)+1)
	for code, label := range categories {
		if g, there := labels[label]; there {
			becomes[code] = g
		}
	}
	after := codesOf(c.released, at, becomes)
	c.stay, c.before, c.merged, c.after = append(c.stay, v), append(c.before, before), append(c.merged, merged), append(c.after, after)
	shown := oneWay(after, c.remaining)
	parts := map[int32]map[int32]bool{}
	for i, g := range merged {
		if parts[g] == nil {
			parts[g] = map[int32]bool{}
		}
		parts[g][before[i]] = true
	}
	out.After = len(shown)
	for g, n := range shown {
		out.Hidden -= n
		if len(parts[g[0]]) > 1 {
			out.Coarser += n
		}
	}
	out.Variation = variation(groups, shown)
	return out
}

// pair is the cost of two that stay.
func (c *coster) pair(i, j int) PairCost {
	after := cross(c.after[i], c.after[j], c.remaining)
	return PairCost{
		Variables: [2]string{c.Levels[c.stay[i]].Variable, c.Levels[c.stay[j]].Variable},
		Before:    cross(c.before[i], c.before[j], c.counts).cramer(),
		After:     after.cramer(),
		Variation: variation(cross(c.merged[i], c.merged[j], c.counts).n, after.n),
	}
}

// means are those of a column by each variable that stays.
func (c *coster) means(ctx context.Context, column string) ([]MeanCost, error) {
	var list []MeanCost
	var before, after []contingency.Request
	for _, v := range c.stay {
		request, err := c.variableRequest(v)
		if err != nil {
			return nil, err
		}
		sum := []contingency.Sum{{Name: column}}
		before = append(before, contingency.Request{Keys: request.Keys, Sums: sum})
		after = append(after, contingency.Request{Keys: []contingency.Key{{Name: c.Levels[v].Variable}}, Sums: sum})
		m := MeanCost{Column: column, By: c.Levels[v].Variable}
		names := c.labels(v)
		level := &c.Levels[v].Levels[c.best.Node[v]]
		for _, g := range sortedGroups(names) {
			m.Groups = append(m.Groups, GroupMean{Group: level.Names[g]})
		}
		list = append(list, m)
	}
	spec := *c.Spec.Spec
	spec.Operators = append(slices.Clone(spec.Operators), having(column))
	if err := c.addUp(ctx, "means of "+column, &spec, before, list, 0); err != nil {
		return nil, err
	}
	released := &schemas.Spec{Source: schemas.Source{Path: []string{c.Spec.Out}}, AllowEmpty: true, Operators: []schemas.Operator{having(column)}}
	if err := c.addUp(ctx, "means of "+column+" released", released, after, list, 1); err != nil {
		return nil, err
	}
	for i := range list {
		list[i].close()
	}
	return list, nil
}

// having chooses the records that have a value of a column that can be added up.
func having(column string) schemas.Operator {
	least, most := "-1000000000000000000", "1000000000000000000"
	return schemas.Operator{Config: &selection.Config{Rows: []selection.Condition{{Column: column, Min: &least, Max: &most}}}}
}

func sortedGroups(names map[string]int32) []int32 {
	var list []int32
	for _, g := range names {
		list = append(list, g)
	}
	slices.Sort(list)
	return list
}

// variableRequest is the table of one key variable, with its missing codes.
func (p *protecting) variableRequest(v int) (contingency.Request, error) {
	key := *p.Spec.Spec.Key
	key.Variables = key.Variables[v : v+1]
	list, err := session.KeyRequest(key)(p.schema)
	if err != nil {
		return contingency.Request{}, err
	}
	return list[0], nil
}

// addUp finds sums by group, before (0) or after (1).
func (c *coster) addUp(ctx context.Context, role string, spec *schemas.Spec, requests []contingency.Request, list []MeanCost, when int) error {
	if len(requests) == 0 {
		return nil
	}
	return c.pass(ctx, role, spec, requests, func(tables []*contingency.Table) error {
		for i, t := range tables {
			v := c.stay[i]
			becomes, groups := c.labels(v), c.groupOf(v, int(c.best.Node[v]))
			order := sortedGroups(becomes)
			codes := make([]uint32, t.Classes())
			t.Codes(0, 0, codes)
			sums := make([]float64, len(order))
			for k, code := range codes {
				label, shown := t.Variables[0].Category(code)
				if !shown {
					continue
				}
				g, there := becomes[label]
				if when == 0 {
					was := slices.Index(c.table.Variables[v].Categories, label)
					there = was >= 0 && groups[was] != absent
					if there {
						g = groups[was]
					}
				}
				if there {
					at, _ := slices.BinarySearch(order, g)
					sums[at] += t.Sum(k, 0)
					*list[i].Groups[at].records(when) += t.Count(k)
				}
			}
			for at, sum := range sums {
				group := &list[i].Groups[at]
				if n := *group.records(when); n > 0 {
					mean := sum / float64(n)
					if when == 0 {
						group.Before = &mean
					} else {
						group.After = &mean
					}
				}
			}
		}
		return nil
	})
}

// close finds the greatest change.
func (m *MeanCost) close() {
	for _, g := range m.Groups {
		if g.Before == nil || g.After == nil || *g.Before == 0 {
			continue
		}
		change := math.Abs(*g.After / *g.Before - 1)
		if m.Greatest == nil || change > *m.Greatest {
			m.Greatest, m.Of = &change, g.Group
		}
	}
}
