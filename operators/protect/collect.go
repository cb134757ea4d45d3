package protect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"microrisk/engine/budget"
	"microrisk/engine/contingency"
	"microrisk/engine/tabular"
)

// collect makes the table of what was counted: classes of the contributor, if there is one, of the variables, and of the response in units,
// if there is one; left is the budget without these classes.
func (b *bound) collect(ctx context.Context, t *contingency.Table, left budget.Budget) (*Table, error) {
	first := 0
	if b.Config.Contributor != "" {
		first = 1
	}
	variables := t.Variables[first : first+len(b.Config.Table)]
	trees := make([]*tabular.Tree, len(variables))
	var recodes []Recoded
	nodes := make([][]int32, len(variables)) // of codes
	below := make([][]fold, len(variables))
	for v := range variables {
		var err error
		if trees[v], nodes[v], below[v], err = b.tree(t, first+v, &recodes); err != nil {
			return nil, err
		}
	}
	drops := make([]bool, len(variables))
	for v := range drops {
		drops[v] = b.Config.Missing == "drop"
	}
	leaf := make([]int32, len(variables))
	place := func(class int) bool { // false for a class that is dropped
		for v := range variables {
			code := t.Code(class, first+v)
			if drops[v] && code == variables[v].Missing() {
				return false
			}
			leaf[v] = nodes[v][code]
		}
		return true
	}
	var cells []int32
	for class := range t.Classes() {
		if class%rowsAtOnce == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// Classes of one cell often follow each other.
		if place(class) && (len(cells) == 0 || !slices.Equal(cells[len(cells)-len(leaf):], leaf)) {
			cells = append(cells, leaf...)
		}
	}
	grid, err := NewGrid(trees, cells, left)
	if err != nil {
		return nil, err
	}
	a := newAdder(grid, b.needs())
	a.table.Response, a.table.Decimals, a.table.Recodes = b.Config.Response, int(b.Config.Decimals), recodes
	if b.with.Chance != nil && b.with.Chance.ByPeople() {
		a.table.RecordKeys = make([]uint64, grid.Cells())
	}
	var units []int64 // of the categories of the response
	if b.Config.Response != "" {
		if units, err = wholesOf(t.Variables[len(t.Variables)-1]); err != nil {
			return nil, err
		}
	}
	var held []share
	who := int64(0)
	last := uint32(0)
	for class := range t.Classes() {
		if class%rowsAtOnce == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if first == 1 && (class == 0 || t.Code(class, 0) != last) {
			if err := a.flush(who, &held); err != nil {
				return nil, err
			}
			if last = t.Code(class, 0); last == t.Variables[0].Missing() {
				return nil, fmt.Errorf("%s has no value in some records, which then have no contributor: choose those that have one, or give them one",
					b.Config.Contributor)
			}
			who++
		}
		if !place(class) {
			continue
		}
		if a.table.RecordKeys != nil {
			key, exact := t.SumModulo(class, t.Sums()-1)
			if !exact {
				return nil, errors.New("the keys of the records of a cell do not add up to a whole number")
			}
			for _, cell := range a.totals(grid.Find(leaf)) {
				a.table.RecordKeys[cell] += key
			}
		}
		s := share{leaf: grid.Find(leaf), records: t.Count(class), each: 1, heavy: b.Config.Weight != "" && !b.Config.TotalOnly}
		if units != nil {
			s.each = units[t.Code(class, len(t.Variables)-1)]
		} else if b.Config.Weight != "" {
			s.each = pow10(int(b.Config.Decimals))
		}
		if b.Config.Weight != "" {
			w := t.Sum(class, 0)
			s.weight = &w
		}
		if first == 1 {
			held = append(held, s)
		} else if err := a.records(s); err != nil {
			return nil, err
		}
	}
	if err := a.flush(who, &held); err != nil {
		return nil, err
	}
	if err := a.finish(); err != nil {
		return nil, err
	}
	if err := t.Err(); err != nil {
		return nil, err
	}
	made, err := a.table.without(below)
	if err != nil {
		return nil, err
	}
	return made.only(b.Config.linked())
}

// bytesOfCell is about what a cell takes until it is protected: its figures, its place, what rules say of it, and its equations.
const bytesOfCell = 420

// NewGrid is the grid of some cells and all their totals, if it fits in memory.
func NewGrid(trees []*tabular.Tree, cells []int32, left budget.Budget) (*tabular.Grid, error) {
	if left.Bytes == 0 { // there is no limit
		return tabular.NewGrid(trees, cells)
	}
	most := int(max(left.Bytes, 0)) / bytesOfCell
	grid, err := tabular.NewGridWithin(trees, cells, most)
	if e := new(tabular.SizeError); errors.As(err, &e) {
		up := atMost(trees, len(cells)/max(len(trees), 1))
		return nil, left.Beyond(fmt.Sprintf("a table of up to %.3g cells, totals among them,", up), int64(min(up*bytesOfCell, math.MaxInt64/2)),
			"take fewer or coarser variables")
	}
	return grid, err
}

// atMost is a bound on the cells of a table with so many finest ones.
func atMost(trees []*tabular.Tree, finest int) float64 {
	all, above := 1.0, float64(finest)
	for _, t := range trees {
		all *= float64(len(t.Nodes))
		above *= float64(t.Depth() + 1)
	}
	return min(all, above)
}

// flush adds what a contributor gave.
func (a *adder) flush(who int64, held *[]share) error {
	list := *held
	*held = list[:0]
	if len(list) == 0 {
		return nil
	}
	return a.holder(who, list)
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// wholesOf are the categories of a variable of whole numbers.
func wholesOf(v contingency.Variable) ([]int64, error) {
	list := make([]int64, len(v.Categories))
	for code, text := range v.Categories {
		var err error
		if list[code], err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// needs is how many of the largest contributions are kept: those that rules look at, and the two that files show.
func (b *bound) needs() int {
	n := 2
	for i := range b.Config.Rules {
		n = max(n, b.Config.Rules[i].Needs())
	}
	return n
}

// tree is that of a counted variable, and the node of each of its codes: those of its hierarchy, or its categories, recoded if they are to be.
// Below the last nothing is told apart.
func (b *bound) tree(t *contingency.Table, at int, recodes *[]Recoded) (*tabular.Tree, []int32, []fold, error) {
	v := t.Variables[at]
	observed := t.Observed(at)
	nodes := make([]int32, len(v.Categories)+1)
	labels, order := v.Categories, v.Categories // of codes, and all of them
	tree := b.trees[v.Name]
	var below []fold
	if r, is := b.Recodes[v.Name]; is {
		made, err := r.Of(v.Categories, b.Config.Total)
		if err != nil {
			return nil, nil, nil, err
		}
		if tree != nil {
			if below, err = folds(tree, r.Name, made); err != nil {
				return nil, nil, nil, err
			}
		}
		labels, order = make([]string, len(v.Categories)), made.Order
		for code, c := range v.Categories {
			labels[code] = made.New[c]
		}
		*recodes = append(*recodes, Recoded{v.Name, made.List})
	}
	if tree == nil {
		if slices.Contains(labels, b.Config.Total) {
			return nil, nil, nil, fmt.Errorf(
				"%s has the category %q, which names totals: recode it, or call totals something else (total)",
				v.Name,
				b.Config.Total,
			)
		}
		tree = tabular.NewTree(v.Name)
		places := make(map[string]int32, len(order))
		for _, c := range order {
			places[c] = int32(tree.Add(tabular.Of(c), 0))
		}
		for code, c := range labels {
			nodes[code] = places[c]
		}
	} else {
		copied := *tree
		copied.Name, copied.Nodes = v.Name, slices.Clone(tree.Nodes)
		tree = &copied
		var unknown, several, totals []string
		places := tree.Places()
		for code, c := range labels {
			switch at := places[tabular.Of(c)]; {
			case !observed[code]:
			case len(at) == 0:
				unknown = append(unknown, c)
			case len(at) > 1:
				several = append(several, c)
			case !tree.Leaf(at[0]):
				totals = append(totals, c)
			default:
				nodes[code] = int32(at[0])
			}
		}
		if unknown != nil {
			return nil, nil, nil, fmt.Errorf("the hierarchy of %s does not have %s, which records have", v.Name, listed(unknown))
		}
		if several != nil {
			return nil, nil, nil, fmt.Errorf("the hierarchy of %s has %s several times, and records do not say which is meant: give codes that differ", v.Name,
				listed(several))
		}
		if totals != nil {
			return nil, nil, nil, fmt.Errorf("the hierarchy of %s has codes below %s, and records have that itself: give them a code below it", v.Name, listed(totals))
		}
	}
	if observed[v.Missing()] {
		root := tree.Nodes[0]
		root.Children = slices.Clone(root.Children)
		tree.Nodes[0] = root
		nodes[v.Missing()] = int32(tree.Add(tabular.Missing, 0))
	}
	return tree, nodes, below, nil
}

// listed are the first of some texts.
func listed(texts []string) string {
	const most = 5
	var quoted []string
	for _, t := range texts[:min(len(texts), most)] {
		quoted = append(quoted, fmt.Sprintf("%q", t))
	}
	text := strings.Join(quoted, ", ")
	if n := len(texts) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
