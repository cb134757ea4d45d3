package bounds

import (
	"context"
	"errors"
	"fmt"

	"microrisk/engine/tabular"
)

// Check finds what is wrong with a release before any bound is computed: variables that are not there or are named twice, wrong
// lengths, negative counts, bounds that cross, counts that are too large, categories in two groups, and margins whose sums over
// what they have in common disagree. The last is an *InfeasibleError. A context that ends is an error too.
func (r *Release) Check(ctx context.Context) error {
	if r.Names != nil && len(r.Names) != len(r.Levels) {
		return fmt.Errorf("there are %d names for %d variables", len(r.Names), len(r.Levels))
	}
	cells := 1
	for v, l := range r.Levels {
		if l < 1 {
			return fmt.Errorf("%s has %d categories: it must have at least 1", r.variable(v), l)
		}
		if l > MaxCells/cells {
			return fmt.Errorf("the base table has more than %d cells", MaxCells)
		}
		cells *= l
	}
	if len(r.Margins) == 0 {
		return errors.New("no margin was released: at least one is needed")
	}
	for i := range r.Margins {
		if err := r.checkMargin(i); err != nil {
			return fmt.Errorf("margin %s: %w", r.title(i), err)
		}
	}
	return r.agree(ctx)
}

func (r *Release) checkMargin(index int) error {
	m := &r.Margins[index]
	seen := make([]bool, len(r.Levels))
	for _, v := range m.Variables {
		switch {
		case v < 0 || v >= len(r.Levels):
			return fmt.Errorf("there is no variable %d: they are numbered from 0 to %d", v, len(r.Levels)-1)
		case seen[v]:
			return fmt.Errorf("%s is named twice", r.variable(v))
		}
		seen[v] = true
	}
	if m.Groups != nil && len(m.Groups) != len(m.Variables) {
		return fmt.Errorf("it has groups for %d variables, and %d variables", len(m.Groups), len(m.Variables))
	}
	cells := 1
	for k, l := range r.shape(m) {
		if err := r.checkGroups(m, k); err != nil {
			return err
		}
		cells *= l
	}
	if len(m.Low) != cells || len(m.High) != cells {
		return fmt.Errorf("it has %d lower and %d upper bounds: it must be one of each for its %d cells", len(m.Low), len(m.High), cells)
	}
	return r.checkCounts(index)
}

func (r *Release) checkGroups(m *Margin, k int) error {
	groups := m.groups(k)
	if groups == nil {
		return nil
	}
	v := m.Variables[k]
	if len(groups) == 0 {
		return fmt.Errorf("%s has no groups: leave them out for categories as they are", r.variable(v))
	}
	seen := make([]bool, r.Levels[v])
	for g, group := range groups {
		if len(group) == 0 {
			return fmt.Errorf("group %d of %s is empty", g, r.variable(v))
		}
		for _, c := range group {
			switch {
			case c < 0 || c >= len(seen):
				return fmt.Errorf("group %d of %s has a category %d: they are numbered from 0 to %d", g, r.variable(v), c, len(seen)-1)
			case seen[c]:
				return fmt.Errorf("category %d of %s is in two groups, or twice in one", c, r.variable(v))
			}
			seen[c] = true
		}
	}
	return nil
}

func (r *Release) checkCounts(index int) error {
	m := &r.Margins[index]
	low, high := int64(0), int64(0)
	for i := range m.Low {
		switch l, h := m.Low[i], m.High[i]; {
		case l < 0 || h < 0:
			return fmt.Errorf("%s: a bound of %d: counts are at least 0", r.place(index, i), min(l, h))
		case l > h:
			return fmt.Errorf("%s: the lower bound %d is above the upper one, %d", r.place(index, i), l, h)
		case l > MaxCount-low:
			return fmt.Errorf("the counts add up to more than %d", int64(MaxCount))
		default:
			low += l
			if h == NoLimit {
				continue
			}
			if h > MaxCount-high {
				return fmt.Errorf("the counts add up to more than %d", int64(MaxCount))
			}
			high += h
		}
	}
	return nil
}

// agree compares the sums of any two margins over the finest cells that both can be added up to.
func (r *Release) agree(ctx context.Context) error {
	for i := range r.Margins {
		if !r.covers(&r.Margins[i]) {
			continue
		}
		for j := range i {
			if !r.covers(&r.Margins[j]) {
				continue
			}
			if err := r.agreeing(ctx, i, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// covers tells whether each category is in some group.
func (r *Release) covers(m *Margin) bool {
	for k, v := range m.Variables {
		if g := m.groups(k); g != nil {
			n := 0
			for _, group := range g {
				n += len(group)
			}
			if n < r.Levels[v] {
				return false
			}
		}
	}
	return true
}

func (r *Release) agreeing(ctx context.Context, i, j int) error {
	common := r.joined(i, j)
	lowI, highI, first, err := r.added(ctx, i, common)
	if err != nil {
		return err
	}
	lowJ, highJ, _, err := r.added(ctx, j, common)
	if err != nil {
		return err
	}
	for at, low := range lowI {
		l, h := max(low, lowJ[at]), min(highI[at], highJ[at])
		if l <= h {
			continue
		}
		e := r.infeasible(i, first[at], l, h)
		whole := e.Variables
		e.Variables, e.Cell = nil, nil
		for k, c := range coordinates(first[at], r.shape(&r.Margins[i])) {
			if common[whole[k]] != nil {
				e.Variables, e.Cell = append(e.Variables, whole[k]), append(e.Cell, c)
			}
		}
		e.text = fmt.Sprintf("margins %s and %s disagree: of %s, which both have, the first has %s, the second %s",
			r.title(i), r.title(j), r.named(e), span(low, highI[at]), span(lowJ[at], highJ[at]))
		return e
	}
	return nil
}

func span(low, high int64) string {
	switch {
	case low == high:
		return fmt.Sprint(low)
	case high >= infinite:
		return fmt.Sprintf("at least %d", low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// joined gives each category of each variable the number of the smallest union of published categories, of both margins, that it
// is in; nil for a variable that one of them does not have.
func (r *Release) joined(i, j int) [][]int {
	common := make([][]int, len(r.Levels))
	position := map[int]int{}
	for k, v := range r.Margins[j].Variables {
		position[v] = k
	}
	for k, v := range r.Margins[i].Variables {
		other, ok := position[v]
		if !ok {
			continue
		}
		label := make([]int, r.Levels[v])
		for c := range label {
			label[c] = c
		}
		for _, groups := range [][][]int{r.Margins[i].groups(k), r.Margins[j].groups(other)} {
			for _, g := range groups {
				for _, c := range g[1:] {
					from, to := label[c], label[g[0]]
					for x := range label {
						if label[x] == from {
							label[x] = to
						}
					}
				}
			}
		}
		common[v] = label
	}
	return common
}

// added sums a margin over common cells, named by a number of mixed radix; first has a cell of the margin in each.
func (r *Release) added(ctx context.Context, index int, common [][]int) (low, high []int64, first []int, err error) {
	m := &r.Margins[index]
	shape := r.shape(m)
	var sum tabular.Shape
	for v, label := range common {
		if label != nil {
			sum = append(sum, r.Levels[v])
		}
	}
	size := sum.Cells()
	low, high, first = make([]int64, size), make([]int64, size), make([]int, size)
	for cell := range m.Low {
		if cell%(1<<14) == 0 && ctx.Err() != nil {
			return nil, nil, nil, ctx.Err()
		}
		at := coordinates(cell, shape)
		where := make(map[int]int, len(at))
		for k, v := range m.Variables {
			where[v] = at[k]
			if g := m.groups(k); g != nil {
				where[v] = g[at[k]][0]
			}
		}
		codes := make([]int, 0, len(sum))
		for v, label := range common {
			if label != nil {
				codes = append(codes, label[where[v]])
			}
		}
		key := tabular.Cell(sum, codes)
		low[key] += m.Low[cell]
		high[key] = min(infinite, high[key]+m.upper(cell))
		first[key] = cell
	}
	return low, high, first, nil
}
