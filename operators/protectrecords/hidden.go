package protectrecords

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/recoding"
	"microrisk/operators"
	"microrisk/operators/suppress"
)

// Hidden has the hidden cells of a release, a row for some rows of a key.
type Hidden struct {
	names   []string
	texts   [][]string // by variable; nullText for missing
	records []int64    // -1: all
	hide    [][]bool   // by variable
}

const nullText = "\x00"

// Tables is operators.Tabled's.
func (t *Hidden) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: len(t.records)}
	for v, name := range t.names {
		c.TextsOrNull(name, func(i int) *string {
			if t.texts[v][i] == nullText {
				return nil
			}
			return &t.texts[v][i]
		})
	}
	limited := slices.ContainsFunc(t.records, func(n int64) bool { return n >= 0 })
	if limited {
		c.WholesOrNull(suppress.Records, func(i int) (int64, bool) { return t.records[i], t.records[i] >= 0 })
	}
	for v, name := range t.names {
		if slices.Contains(t.hide[v], true) {
			c.Truths(suppress.Hide+name, func(i int) bool { return t.hide[v][i] })
		}
	}
	return c.Record()
}

// Hiding is the table of what is hidden in a release; nil for nothing.
func (p *Search) Hiding(ctx context.Context, best *Release) (*Hidden, error) {
	if p.Suppress == SuppressCells && p.cut != nil && p.cut.result != nil {
		return p.cutter(ctx, recoding.Rule{}).table(best, p.cut), nil
	}
	if p.Suppress != SuppressRecords || best.Suppressed == 0 {
		return nil, ctx.Err()
	}
	rule, err := p.Rule(1)
	if err != nil {
		return nil, err
	}
	t := p.newHidden(best)
	unsafe, err := p.Lattice.Unsafe(best.Node, rule.Safe)
	if err != nil {
		return nil, err
	}
	for _, groups := range unsafe {
		t.add(p, best, groups, -1, nil)
	}
	return t, nil
}

// newHidden has the variables that are not left out.
func (p *Search) newHidden(best *Release) *Hidden {
	t := &Hidden{}
	for v, level := range best.Node {
		if _, left := p.Levels[v].Recode(int(level)); !left {
			t.names = append(t.names, p.Levels[v].Variable)
		}
	}
	t.texts, t.hide = make([][]string, len(t.names)), make([][]bool, len(t.names))
	return t
}

// add hides variables of some rows of a key; nil for all variables.
func (t *Hidden) add(p *Search, best *Release, groups []uint32, records int64, hide []bool) {
	k := 0
	for v, level := range best.Node {
		h := p.Levels[v]
		if _, left := h.Recode(int(level)); left {
			continue
		}
		text := h.Levels[level].Names[groups[v]]
		if h.Missing(int(level), groups[v]) {
			text = nullText
		}
		t.texts[k], t.hide[k] = append(t.texts[k], text), append(t.hide[k], hide == nil || hide[v])
		k++
	}
	t.records = append(t.records, records)
}
