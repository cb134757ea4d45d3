package attribution

import (
	"context"
	"fmt"

	"microrisk/engine/bounds"
	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
)

// A Protected table is a table of counts by area and other variables, and what was published of it. The row of an area are the combinations
// of the finest categories of the other variables, the empty ones too.
type Protected struct {
	Grid *tabular.Grid
	Area int     // the tree of the areas, whose finest ones have a row each; -1: all people are one row
	True []int64 // by cell of the grid
	// Published has what is known of each cell: a count that was published, as Kernel made it; or of a hidden cell the interval that an audit
	// finds, which takes all equations of the table into account.
	Published []tabular.Figure
	Empty     tabular.Figure // what is known of each cell that the grid does not have: Exact(0) if nothing else is said
	Hidden    []bool         // cells of the grid that are hidden; nil: those that are not published exactly
	Kernel    perturb.Kernel // nil for counts as they are
	// Margins: the margins that a row has over some of the other variables bound its cells together too, each by its figure. Without it they
	// do only by its total and by what is in the figures, which is the same where there is one other variable without groups, and takes less
	// time; else SAP can be more. Options limit the work, and Most, Samples and the like are those of each row.
	Margins bool
	Options ReleaseOptions
}

// A Row has the figures of an area for each number of known people: SAP of its true counts, all published, and of what was published.
type Row struct {
	Node          int32 // the area; 0 for all
	People        int64
	Hidden        int // cells
	Before, After []float64
	Exact, Sharp  bool // of After: not estimated; by the tightest bounds of what was taken into account
}

// Rows are those of all areas, in the order of the tree. A hidden cell is as one that was perturbed, with the ends of its
// interval for bounds: its zero is recovered by somebody who knows as many people in it as there can be. Relations among the cells of several rows count only as
// far as they are in the intervals, so that figures of tables with hidden cells can be too low where knowledge of one row tells of others.
//
// Errors: slices of other lengths than the grid has cells, a count outside its figure's bounds, a count that the kernel never publishes, a
// negative n; a context that ends.
func (p *Protected) Rows(ctx context.Context, known []int64) ([]Row, error) {
	n := p.Grid.Cells()
	if len(p.True) != n || len(p.Published) != n {
		return nil, fmt.Errorf("there are %d counts and %d figures, of a grid of %d cells", len(p.True), len(p.Published), n)
	}
	if p.Hidden != nil && len(p.Hidden) != n {
		return nil, fmt.Errorf("there are %d cells that are hidden or not, of a grid of %d", len(p.Hidden), n)
	}
	if p.Area < -1 || p.Area >= len(p.Grid.Trees) {
		return nil, fmt.Errorf("the areas are to be the variable %d, of %d", p.Area, len(p.Grid.Trees))
	}
	r := p.reader()
	var rows []Row
	for _, node := range r.areas {
		row, err := r.row(ctx, node, known)
		if err != nil {
			if p.Area >= 0 {
				err = fmt.Errorf("the row of %s: %w", p.Grid.Trees[p.Area].Nodes[node].Code, err)
			}
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// A reader takes rows out of a table.
type reader struct {
	*Protected
	kernel perturb.Kernel
	areas  []int32
	others []int     // the other trees
	parts  [][]level // of each of them, the coarsest first
	nodes  []int32   // of the present cell
}

// A level parts the finest categories of a tree.
type level struct {
	nodes  []int32
	groups [][]int // the finest categories in each
}

func (p *Protected) reader() *reader {
	r := &reader{Protected: p, kernel: p.Kernel, areas: []int32{0}, nodes: make([]int32, len(p.Grid.Trees))}
	if r.kernel == nil {
		r.kernel = perturb.None()
	}
	for v, t := range p.Grid.Trees {
		if v != p.Area {
			r.others, r.parts = append(r.others, v), append(r.parts, levels(t))
			continue
		}
		r.areas = nil
		for node := range t.Nodes {
			if t.Leaf(node) {
				r.areas = append(r.areas, int32(node))
			}
		}
	}
	return r
}

// levels are the partitions of a tree at each depth; a finest category that is less deep stands for itself.
func levels(t *tabular.Tree) []level {
	list := make([]level, t.Depth()+1)
	leaf := 0
	var put func(node int)
	put = func(node int) {
		first := leaf
		for _, c := range t.Nodes[node].Children {
			put(c)
		}
		last := t.Nodes[node].Level
		if t.Leaf(node) {
			leaf++
			last = len(list) - 1
		}
		group := make([]int, 0, leaf-first)
		for c := first; c < leaf; c++ {
			group = append(group, c)
		}
		for d := t.Nodes[node].Level; d <= last; d++ {
			list[d].nodes, list[d].groups = append(list[d].nodes, int32(node)), append(list[d].groups, group)
		}
	}
	put(0)
	return list
}

// figure is what is known of a cell of the row.
func (r *reader) figure(nodes []int32) (count, low, high int64, hidden bool, err error) {
	f := r.Empty
	if cell := r.Grid.Find(nodes); cell >= 0 {
		count, f = r.True[cell], r.Published[cell]
		if hidden = f.Known != tabular.Exactly; r.Hidden != nil {
			hidden = r.Hidden[cell]
		}
	}
	low, high, ok := f.Bounds(r.kernel)
	if !ok {
		return 0, 0, 0, false, fmt.Errorf("a count of %d is never published by %s", f.Low, r.kernel.Name())
	}
	low = max(0, low)
	if count < low || count > high {
		return 0, 0, 0, false, fmt.Errorf("a cell has a count of %d, and what was published says %d to %d", count, low, high)
	}
	return count, low, high, hidden, nil
}

// each goes through the cells of the row at a level of each of the other trees, the first slowest.
func (r *reader) each(depths []int, yield func(nodes []int32) error) error {
	var in func(k int) error
	in = func(k int) error {
		if k == len(r.others) {
			return yield(r.nodes)
		}
		for _, node := range r.parts[k][depths[k]].nodes {
			r.nodes[r.others[k]] = node
			if err := in(k + 1); err != nil {
				return err
			}
		}
		return nil
	}
	return in(0)
}

// row computes the figures of an area.
func (r *reader) row(ctx context.Context, node int32, known []int64) (Row, error) {
	row := Row{Node: node, Exact: true, Sharp: true}
	if r.Area >= 0 {
		r.nodes[r.Area] = node
	}
	t := &Table{TotalUpper: NoTotal}
	finest, coarsest := make([]int, len(r.others)), make([]int, len(r.others))
	for k := range r.others {
		finest[k] = len(r.parts[k]) - 1
	}
	err := r.each(finest, func(nodes []int32) error {
		count, low, high, hidden, err := r.figure(nodes)
		t.Counts, t.Lower, t.Upper = append(t.Counts, count), append(t.Lower, low), append(t.Upper, high)
		row.People += count
		if hidden {
			row.Hidden++
		}
		return err
	})
	if err != nil {
		return row, err
	}
	if row.Before, err = sap(ctx, &Table{Counts: t.Counts, Lower: t.Counts, Upper: t.Counts, TotalUpper: NoTotal}, known); err != nil {
		return row, err
	}
	if r.Margins {
		return row, r.released(ctx, t.Counts, known, &row)
	}
	err = r.each(coarsest, func(nodes []int32) error {
		_, _, high, _, err := r.figure(nodes)
		if high != tabular.NoLimit && len(t.Counts) > 1 {
			t.TotalUpper = high
		}
		return err
	})
	if err == nil {
		row.After, err = sap(ctx, t, known)
	}
	return row, err
}

func sap(ctx context.Context, t *Table, known []int64) ([]float64, error) {
	s, err := t.Check()
	if err != nil {
		return nil, err
	}
	return s.SAP(ctx, known)
}

// released takes all margins of the row into account.
func (r *reader) released(ctx context.Context, counts, known []int64, row *Row) error {
	release := &Release{Counts: counts}
	for _, parts := range r.parts {
		release.Published.Levels = append(release.Published.Levels, len(parts[len(parts)-1].nodes))
	}
	depths := make([]int, len(r.others))
	for more := true; more; more = r.next(depths) {
		var m bounds.Margin
		for k, d := range depths {
			if d > 0 {
				m.Variables, m.Groups = append(m.Variables, k), append(m.Groups, r.parts[k][d].groups)
			}
			if d == len(r.parts[k])-1 && d > 0 {
				m.Groups[len(m.Groups)-1] = nil // as they are
			}
		}
		err := r.each(depths, func(nodes []int32) error {
			_, low, high, _, err := r.figure(nodes)
			m.Low, m.High = append(m.Low, low), append(m.High, high)
			return err
		})
		if err != nil {
			return err
		}
		release.Published.Margins = append(release.Published.Margins, m)
	}
	result, err := release.SAP(ctx, known, r.Options)
	if err != nil {
		return err
	}
	row.After, row.Exact, row.Sharp = result.SAP, result.Exact, result.Sharp
	return nil
}

// next is the next combination of levels; false after the last.
func (r *reader) next(depths []int) bool {
	for k := range depths {
		if depths[k]++; depths[k] < len(r.parts[k]) {
			return true
		}
		depths[k] = 0
	}
	return false
}
