package protect

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
)

// balance adds up what is not there, as a total of which recodes made a part alone is not, and finds totals that are not the sums of their parts.
func (r *reader) balance(t *Table, there []bool, m *merging) error {
	s := t.Grid.System()
	splits := s.Splits()
	for cell := s.Cells - 1; cell >= 0; cell-- { // parts stand after their totals
		if splits[cell] == nil || there[cell] && !(m.lacks(cell, t.Grid.Nodes(cell)) && s.Equations[splits[cell][0]].Imbalance(t.Values) != 0) {
			continue
		}
		there[cell] = true
		c := &t.Cells[cell]
		t.Values[cell], *c = 0, detection.Cell{}
		for _, part := range s.Equations[splits[cell][0]].Parts {
			t.Values[cell] += t.Values[part]
			c.Records += t.Cells[part].Records
			c.Contributors += t.Cells[part].Contributors
			c.Total += t.Cells[part].Total
			c.Top = append(c.Top, t.Cells[part].Top...)
		}
		slices.SortFunc(c.Top, func(a, b int64) int { return int(max(-1, min(1, b-a))) })
		c.Top = c.Top[:min(len(c.Top), 2)]
	}
	var broken []string
	count, each := 0, 0.0
	if t.Decimals > 0 {
		each = 0.5
	}
	if r.Columns.Tolerance != nil {
		each = *r.Columns.Tolerance
	}
	for i := range s.Equations {
		e := &s.Equations[i]
		off := e.Imbalance(t.Values)
		if off = max(off, -off); float64(off) <= each*float64(1+len(e.Parts)) {
			continue
		}
		if count++; len(broken) < 5 {
			sum := t.Values[e.Total] + e.Imbalance(t.Values)
			broken = append(
				broken,
				fmt.Sprintf("%s is %s, and its parts add up to %s", tabular.Words(t.Grid.Codes(int(e.Total))), t.Text(t.Values[e.Total]), t.Text(sum)),
			)
		}
	}
	if broken == nil {
		return nil
	}
	more := ""
	if n := count - len(broken); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	if len(r.Config.Hierarchies) == 0 {
		more += ". If codes have subtotals among them, name their hierarchy (--hierarchy VARIABLE=FILE)"
	}
	return fmt.Errorf("%s does not add up: %s%s", r.Name, strings.Join(broken, "; "), more)
}
