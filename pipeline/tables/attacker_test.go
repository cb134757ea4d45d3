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
)

// A puzzle is what a published table leaves to whoever knows the least value of a row that is there: finest cells, and sums that are told.
type puzzle struct {
	leaves []string
	sums   map[string][]int  // leaves in a cell, by cell
	told   map[string][2]int // the least and the largest value
	most   int
	least  int // of a leaf
}

// possible are the values that each cell can have.
func (p *puzzle) possible(fixed map[string]int) map[string]map[int]bool {
	values := make(map[string]map[int]bool)
	p.solve(fixed, func(leaves []int) {
		for cell, parts := range p.sums {
			sum := 0
			for _, part := range parts {
				sum += leaves[part]
			}
			if values[cell] == nil {
				values[cell] = make(map[int]bool)
			}
			values[cell][sum] = true
		}
	})
	return values
}

// solve calls take for every table that fits; fixed values by leaf are known besides.
func (p *puzzle) solve(fixed map[string]int, take func(values []int)) {
	last := make([][]string, len(p.leaves)) // cells that are complete with a leaf
	for cell, parts := range p.sums {
		at := parts[len(parts)-1]
		last[at] = append(last[at], cell)
	}
	values := make([]int, len(p.leaves))
	var next func(i int)
	next = func(i int) {
		if i == len(values) {
			take(values)
			return
		}
		left := p.most // of those that have a value
		for _, v := range values[:i] {
			left -= v
		}
	try:
		for v := p.least; v <= left; v++ {
			if known, ok := fixed[p.leaves[i]]; ok && v != known {
				continue
			}
			values[i] = v
			for _, cell := range last[i] {
				sum := 0
				for _, part := range p.sums[cell] {
					sum += values[part]
				}
				if want, ok := p.told[cell]; ok && (sum < want[0] || sum > want[1]) {
					continue try
				}
			}
			next(i + 1)
		}
	}
	next(0)
}

// above are the cells that a leaf is in.
func above(leaf string, parent map[string]string) []string {
	list := []string{""}
	for _, code := range strings.Split(leaf, "|") {
		var longer []string
		for ; code != ""; code = parent[code] {
			for _, l := range list {
				longer = append(longer, strings.TrimPrefix(l+"|"+code, "|"))
			}
		}
		for _, l := range list {
			longer = append(longer, strings.TrimPrefix(l+"|Total", "|"))
		}
		list = longer
	}
	return list
}

// Nobody works an unsafe cell out of a public file by trying all tables of whole numbers that fit, nor does the only one in a hidden cell.
func TestEnumeratingAttackers(t *testing.T) {
	dir := t.TempDir()
	hierarchy := filepath.Join(dir, "r.csv")
	require.NoError(t, os.WriteFile(hierarchy, []byte("code,parent\nn,\na,n\nb,n\nc,\n"), 0o666))
	parent := map[string]string{"a": "n", "b": "n"}
	methods := []string{"optimal", "hypercube", "modular", "rounding"}
	rapid.Check(t, func(t *rapid.T) {
		names, codes := []string{"r", "s"}, [][]string{{"a", "b", "c"}, {"x", "y", "z"}}
		if rapid.Bool().Draw(t, "three-way") {
			names, codes = []string{"r", "s", "u"}, [][]string{{"a", "b"}, {"x", "y"}, {"1", "2"}}
		}
		leaves := codes[0]
		for _, list := range codes[1:] {
			var longer []string
			for _, l := range leaves {
				for _, c := range list {
					longer = append(longer, l+"|"+c)
				}
			}
			leaves = longer
		}
		text := strings.Join(names, ",") + "\n"
		p := &puzzle{sums: make(map[string][]int), told: make(map[string][2]int), most: 4, least: 1}
		var truth []int
		for _, l := range leaves {
			n := rapid.SampledFrom([]int{0, 1, 1, 1, 2, 2, 3, 5}).Draw(t, l)
			if n == 0 {
				continue
			}
			text += strings.Repeat(strings.ReplaceAll(l, "|", ",")+"\n", n)
			for _, cell := range above(l, parent) {
				p.sums[cell] = append(p.sums[cell], len(p.leaves))
			}
			p.leaves, truth, p.most = append(p.leaves, l), append(truth, n), p.most+n
		}
		source := filepath.Join(dir, "in.csv")
		require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
		c := &protect.Config{
			Table: variables(names...), Hierarchies: map[string]string{"r": hierarchy}, Rules: []protect.Rule{{Rule: "min"}},
			Method: rapid.SampledFrom(methods).Draw(t, "method"), Margins: rapid.SampledFrom(protect.Margins).Draw(t, "margins"),
			Insider: rapid.SampledFrom(protect.Insider[:2]).Draw(t, "insider"), Solver: "embedded",
			Beforehand: rapid.SampledFrom(protect.Beforehand).Draw(t, "beforehand"),
			Out:        filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "internal"),
		}
		*c = c.For(c.Method) // which does not look at all of it
		if len(p.leaves) == 0 {
			return
		}
		if c.Beforehand == "nothing" || c.Method == "rounding" { // a cell that was rounded to 0 has no row, as an empty one
			p.least = 0
		}
		s, err := run(t, source, c)
		if err == nil && s.Widened > 0 {
			return // cells are further from their values than everybody thinks
		}
		if err != nil {
			for _, says := range []string{"cannot be protected", "is not safe"} {
				if strings.Contains(err.Error(), says) {
					return
				}
			}
			require.NoError(t, err)
		}
		public := read(t, c.Out, len(names))
		if c.Method == "rounding" {
			for cell := range p.sums {
				if public[cell] == nil {
					p.told[cell] = [2]int{0, 2}
				}
			}
		}
		for cell, figures := range public {
			if v, err := strconv.Atoi(figures["value"]); err == nil {
				if p.told[cell] = [2]int{v, v}; c.Method == "rounding" {
					p.told[cell] = [2]int{v - 2, v + 2} // the base is 3
				}
			}
		}
		cells := internal(t, c.Inside, len(names))
		require.Len(t, cells, len(p.sums))
		holders := []map[string]int{nil}
		for i, l := range p.leaves {
			if _, told := p.told[l]; truth[i] == 1 && !told { // hidden, and not rounded
				holders = append(holders, map[string]int{l: 1})
			}
		}
		for _, fixed := range holders {
			known := p.possible(fixed)
			for cell, figures := range cells {
				own := false // the holder's own cells
				for l := range fixed {
					own = len(p.sums[cell]) == 1 && p.leaves[p.sums[cell][0]] == l
				}
				if strings.HasPrefix(figures["status"], "unsafe") && !own {
					require.Greater(t, len(known[cell]), 1, fmt.Sprintf("%v knows %s of\n%s%v", fixed, cell, text, p.told))
				}
			}
		}
	})
}
