package protect

import (
	"fmt"
	"slices"
	"strconv"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/schemas/pattern"
)

// lines asks the rules of lines: the categories below one parent of a variable, where the others are fixed. All cells of a line that fails
// are unsafe (Miller 2005, 2.3).
func (p *Protected) lines() error {
	g := p.Table.Grid
	for i := range p.Config.Rules {
		r := &p.Config.Rules[i]
		if r.cells() != nil {
			continue
		}
		for v, tree := range g.Trees {
			if r.Rule == RuleConcentration && tree.Name != r.Unknown {
				continue
			}
			fails, err := r.judge(tree)
			if err != nil {
				return err
			}
			p.along(v, func(parent int, cells []int, line detection.Line) {
				why := fails(parent, line)
				if why == "" {
					return
				}
				p.Lines = append(p.Lines, fmt.Sprintf("%s along %s in %s: %s", r.name(), tree.Name, tabular.Words(g.Codes(cells[0])), why))
				for _, cell := range cells[1:] {
					p.unsafe(cell, i)
				}
			})
		}
		if r.Rule == RuleConcentration && !slices.ContainsFunc(g.Trees, func(t *tabular.Tree) bool { return t.Name == r.Unknown }) {
			return fmt.Errorf("the rule concentration names %s as unknown, which is no variable of the table", r.Unknown)
		}
	}
	return nil
}

// unsafe marks a cell of a line that fails.
func (p *Protected) unsafe(cell, rule int) {
	f := &p.Findings[cell]
	if f.Status == detection.Empty || f.Status == detection.Zero {
		return
	}
	if !f.Status.Primary() {
		f.Status = detection.UnsafeLine
	}
	f.Rules = append(f.Rules, rule)
	level := p.Table.Level(cell)
	f.Upper = max(f.Upper, level)
	f.Lower = max(f.Lower, level)
}

// along calls take for all lines of a variable: the cell of the parent and those of its children that are not empty, and the records of all
// children, empty ones too.
func (p *Protected) along(v int, take func(parent int, cells []int, line detection.Line)) {
	g := p.Table.Grid
	for cell := range g.Cells() {
		nodes := slices.Clone(g.Nodes(cell))
		parent := int(nodes[v])
		if !g.Split(nodes, v) {
			continue
		}
		cells, line := []int{cell}, detection.Line(nil)
		for _, child := range g.Trees[v].Nodes[parent].Children {
			nodes[v] = int32(child)
			part := g.Find(nodes)
			if part < 0 {
				line = append(line, 0)
				continue
			}
			cells, line = append(cells, part), append(line, p.Table.Cells[part].Records)
		}
		take(parent, cells, line)
	}
}

// judge is a test of lines along a tree, which says why one fails, "" if it passes.
func (r *Rule) judge(tree *tabular.Tree) (func(parent int, line detection.Line) string, error) {
	code := func(parent, child int) string { return tree.Nodes[tree.Nodes[parent].Children[child]].Code.String() }
	switch r.Rule {
	case RuleContiguous:
		return func(_ int, line detection.Line) string {
			if detection.Contiguous(line) {
				return ""
			}
			return "no three neighbours, nor two of more than one each, have somebody"
		}, nil
	case RuleConcentration:
		for _, s := range r.Sensitive {
			if tree.Find(tabular.Of(s)) < 0 {
				return nil, fmt.Errorf("the rule concentration names the category %q as sensitive, which %s does not have", s, tree.Name)
			}
		}
		return func(parent int, line detection.Line) string {
			var sensitive []bool
			if r.Sensitive != nil {
				for i := range line {
					sensitive = append(sensitive, slices.Contains(r.Sensitive, code(parent, i)))
				}
			}
			if at := r.concentration().Category(line, sensitive); at >= 0 {
				return fmt.Sprintf("%d are in %s", line[at], code(parent, at))
			}
			return ""
		}, nil
	}
	across := r.across()
	say := func(parent int, b *detection.Break) string {
		if b == nil {
			return ""
		}
		return fmt.Sprintf("who knows of %d knows that all others are in %s to %s", b.Removed, code(parent, b.First), code(parent, b.Last))
	}
	if !slices.Contains(r.Ordered, tree.Name) {
		return func(parent int, line detection.Line) string { return say(parent, across.Unordered(line)) }, nil
	}
	bands := make(map[int][]detection.Band)
	for parent, n := range tree.Nodes {
		for _, child := range n.Children {
			b, err := BandOf(tree.Nodes[child].Code.String())
			if err != nil {
				return nil, fmt.Errorf("the variable %s is said to be ordered: %w", tree.Name, err)
			}
			bands[parent] = append(bands[parent], b)
		}
		if err := detection.CheckBands(bands[parent]); err != nil {
			return nil, fmt.Errorf("the variable %s is said to be ordered: %w", tree.Name, err)
		}
	}
	return func(parent int, line detection.Line) string { return say(parent, across.Ordered(line, bands[parent])) }, nil
}

var (
	bandText = pattern.New(`^(\d+(?:\.\d+)?)\s*(?:-|–|to)\s*(\d+(?:\.\d+)?)$`)
	openText = pattern.New(`^(?:>=\s*)?(\d+(?:\.\d+)?)\s*(?:\+|and more|and over)?$`)
	lessText = pattern.New(`^<\s*(\d+(?:\.\d+)?)$`)
	halfText = pattern.New(`^\[(\d+(?:\.\d+)?),\s*(\d+(?:\.\d+)?|inf)\)$`)
)

// BandOf reads a category that is a number or a band of numbers.
func BandOf(text string) (detection.Band, error) {
	number := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	if m := bandText().FindStringSubmatch(text); m != nil {
		return detection.Band{Low: number(m[1]), High: number(m[2])}, nil
	}
	if m := halfText().FindStringSubmatch(text); m != nil {
		return detection.Band{Low: number(m[1]), High: number(m[2])}, nil
	}
	if m := lessText().FindStringSubmatch(text); m != nil {
		return detection.Band{High: number(m[1])}, nil
	}
	if m := openText().FindStringSubmatch(text); m != nil {
		b := detection.Band{Low: number(m[1]), High: number(m[1])}
		if m[0] != m[1] {
			b.High = number("inf")
		}
		return b, nil
	}
	return detection.Band{}, fmt.Errorf("the category %q is no number and no band of numbers, such as 17-24, 85+ or [17,25)", text)
}
