package tables_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
)

// Nobody works an unsafe cell of linked tables out, who tries all tables of people by all variables that fit both.
func TestLinkedTablesAgainstEnumeration(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "in.csv")
	rapid.Check(t, func(t *rapid.T) {
		p := &puzzle{sums: make(map[string][]int), told: make(map[string][2]int)}
		text, all := "r,s,u\n", 0
		for _, r := range []string{"a", "b"} {
			for _, s := range []string{"x", "y"} {
				for _, u := range []string{"1", "2"} {
					l := r + "|" + s + "|" + u
					n := rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3}).Draw(t, l)
					text, all = text+strings.Repeat(strings.ReplaceAll(l, "|", ",")+"\n", n), all+n
					for _, cell := range above(l, nil) {
						if codes := strings.Split(cell, "|"); codes[1] == "Total" || codes[2] == "Total" {
							p.sums[cell] = append(p.sums[cell], len(p.leaves))
						}
					}
					p.leaves = append(p.leaves, l)
				}
			}
		}
		if all == 0 {
			return
		}
		p.most = all + 3
		require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
		c := &protect.Config{
			Table: variables("r", "s", "u"), Linked: [][]string{{"r", "s"}, {"u", "r"}}, Rules: []protect.Rule{{Rule: "min"}}, Insider: "off",
			Method:     rapid.SampledFrom([]string{"optimal", "hypercube", "modular"}).Draw(t, "method"),
			Beforehand: rapid.SampledFrom(protect.Beforehand).Draw(t, "beforehand"), Solver: "embedded",
			Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "internal"),
		}
		*c = c.For(c.Method) // which does not look at all of it
		if _, err := run(t, source, c); err != nil {
			require.ErrorContains(t, err, "cannot be protected")
			return
		}
		public := read(t, c.Out, 3)
		for cell := range p.sums {
			figures, there := public[cell]
			switch v, err := strconv.Atoi(figures["value"]); {
			case !there:
				p.told[cell] = [2]int{}
			case err == nil:
				p.told[cell] = [2]int{v, v}
			case c.Beforehand == "occupied":
				p.told[cell] = [2]int{1, p.most}
			}
		}
		cells := internal(t, c.Inside, 3)
		require.Len(t, cells, len(public))
		for cell := range public {
			require.Contains(t, p.sums, cell, "a cell of no table")
		}
		known := p.possible(nil)
		for cell, figures := range cells {
			if strings.HasPrefix(figures["status"], "unsafe") {
				require.Greater(t, len(known[cell]), 1, fmt.Sprintf("%s of\n%s%v", cell, text, p.told))
			}
		}
		a, err := tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
		require.NoError(t, err)
		require.Empty(t, a.Report.Failed())
	})
}

func TestLinkedTablesRefuse(t *testing.T) {
	for _, c := range []struct {
		linked string
		says   string
	}{
		{"r,s", "one table is linked with none"},
		{"r,s;r", "has all cells of the other"},
		{"r,s;r,v", "the variable \"v\" is unknown"},
		{"r,s;s,r", "has all cells of the other"},
		{"r,s;r,r", "r stands there twice"},
		{"r,s;s,u;u,r", "hang together in a circle"},
		{"r;s", "no linked table has u"},
	} {
		config := &protect.Config{Table: variables("r", "s", "u"), Rules: []protect.Rule{{Rule: "min"}}, Out: "p.csv", Inside: "i"}
		for list := range strings.SplitSeq(c.linked, ";") {
			config.Linked = append(config.Linked, strings.Split(list, ","))
		}
		_, err := tables.Protect(background, "in.csv", config, &protect.Columns{Count: "n"}, session.Options{})
		require.ErrorContains(t, err, c.says, c.linked)
	}
}
