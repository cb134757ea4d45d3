package protection

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/program"
	"microrisk/engine/tabular"
)

// inner protects all margins, and units costs the same for every cell.
func inner(g *tabular.Grid) []bool {
	list := make([]bool, g.Cells())
	for i := range list {
		list[i] = g.Margin(i)
	}
	return list
}

func units(n int) []int64 { return slices.Repeat([]int64{1}, n) }

// percent are needs of r percent of the value on both sides, in whole units.
func percent(table *Table, r int64, cells ...int32) []Need {
	var list []Need
	for _, c := range cells {
		up := max(1, (table.Values[c]*r+99)/100)
		list = append(list, Need{c, up, up, 0})
	}
	return list
}

func TestTVN2(t *testing.T) {
	g, table := t0(t)
	n := table.System.Cells
	hide := func(cells ...string) []int32 { return named(t, g, cells...) }
	exact := func(cells ...string) []Need {
		var list []Need
		for _, c := range hide(cells...) {
			list = append(list, Need{Cell: c})
		}
		return list
	}
	double := func(cells ...string) []Need { // down to 0, and up to twice the value
		var list []Need
		for _, c := range hide(cells...) {
			list = append(list, Need{Cell: c, Lower: table.Values[c], Upper: table.Values[c]})
		}
		return list
	}
	some := []string{"AE", "AF", "BE", "BF"}
	for name, v := range map[string]struct {
		needs []Need
		cost  []int64
		total int64 // with the primary cells
		only  []string
	}{
		"AF BE not exact, count":    {exact("AF", "BE"), table.Values, 42, some},
		"AF BE 30 %, count":         {percent(table, 30, hide("AF", "BE")...), table.Values, 42, some},
		"AF BE not exact, unity":    {exact("AF", "BE"), units(n), 4, some},
		"AF BE 30 %, unity":         {percent(table, 30, hide("AF", "BE")...), units(n), 4, some},
		"AF BE double, count":       {double("AF", "BE"), table.Values, 77, []string{"AE", "AF", "BE", "BF", "DE", "DF"}},
		"BE not exact, count":       {exact("BE"), table.Values, 42, some},
		"BE 30 %, count":            {percent(table, 30, hide("BE")...), table.Values, 42, some},
		"BE not exact, unity":       {exact("BE"), units(n), 4, nil},
		"BE 30 %, unity":            {percent(table, 30, hide("BE")...), units(n), 4, nil},
		"AF BE CH not exact, count": {exact("AF", "BE", "CH"), table.Values, 77, []string{"AE", "AF", "BE", "BG", "CG", "CH", "DF", "DH"}},
		"AF BE CH 30 %, count": {percent(table, 30, hide("AF", "BE", "CH")...), table.Values, 84,
			[]string{"AE", "AF", "AH", "BE", "BF", "BG", "CG", "CH"}},
		"AF BE CH not exact, unity": {exact("AF", "BE", "CH"), units(n), 6, nil},
		"AF BE CH 30 %, unity":      {percent(table, 30, hide("AF", "BE", "CH")...), units(n), 7, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Optimal(ctx, table, v.needs, Options{Cost: v.cost, Protected: inner(g)})
			require.NoError(t, err)
			require.True(t, p.Proven())
			require.Zero(t, p.Gap())
			total := int64(0)
			var cells []int32
			for c, hidden := range p.Hidden {
				if hidden {
					total += v.cost[c]
					cells = append(cells, int32(c))
				}
			}
			require.Equal(t, v.total, total)
			require.Equal(t, v.total-p.Cost, func() (sum int64) {
				for _, need := range v.needs {
					sum += v.cost[need.Cell]
				}
				return sum
			}())
			if v.only != nil {
				require.Equal(t, v.only, names(g, cells))
			}
			for _, need := range v.needs {
				require.True(t, safe(table, p.Hidden, need, 0))
			}
		})
	}
	g, table = t0(t) // the intervals of the 77 and the 84 pattern
	intervals(t, g, table, []string{"AE", "AF", "BE", "BG", "CG", "CH", "DF", "DH"}, map[string]Interval{"AF": {2, 7}, "BE": {0, 5}, "CH": {0, 5},
		"AE": {19, 24}, "BG": {8, 13}, "CG": {7, 12}, "DF": {12, 17}, "DH": {9, 14}})
	intervals(t, g, table, []string{"AE", "AF", "AH", "BE", "BF", "BG", "CG", "CH"}, map[string]Interval{"AF": {0, 18}, "BE": {0, 20},
		"CH": {0, 12}, "AE": {4, 24}, "AH": {10, 22}, "BF": {0, 18}, "BG": {8, 20}, "CG": {0, 12}})
}

// brute finds the least cost by trying patterns in the order of their costs with the oracle; -1 if none is safe.
func brute(table *Table, needs []Need, o Options) int64 {
	base := make([]bool, table.System.Cells)
	for _, n := range needs {
		base[n.Cell] = true
	}
	var cells []int
	for c, x := range table.Values {
		if x != 0 && !base[c] && !o.Protected[c] {
			cells = append(cells, c)
		}
	}
	all := slices.Clone(base)
	for _, c := range cells {
		all[c] = true
	}
	if !accepted(table, all, needs, o.Insider) {
		return -1 // nor is any pattern with fewer hidden cells, which leaves the attacker fewer tables
	}
	type set struct {
		mask uint32
		cost int64
	}
	sets := make([]set, 1<<len(cells))
	for m := range sets {
		sets[m].mask = uint32(m)
		if m > 0 {
			low := bits.TrailingZeros(uint(m))
			sets[m].cost = sets[m&(m-1)].cost + o.Cost[cells[low]]
		}
	}
	slices.SortFunc(sets, func(x, y set) int { return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.mask, y.mask)) })
	hidden := make([]bool, len(base))
	for _, s := range sets {
		copy(hidden, base)
		for i, c := range cells {
			if s.mask>>i&1 == 1 {
				hidden[c] = true
			}
		}
		if possible(table, hidden, needs) && accepted(table, hidden, needs, o.Insider) {
			return s.cost
		}
	}
	return -1
}

// possible tells whether no equation has a cell with a need alone hidden.
func possible(table *Table, hidden []bool, needs []Need) bool {
	for i := range table.System.Equations {
		count, last := 0, int32(-1)
		table.System.Equations[i].Each(func(c int32, _ int64) {
			if hidden[c] {
				count++
				last = c
			}
		})
		if count == 1 && slices.ContainsFunc(needs, func(n Need) bool { return n.Cell == last }) {
			return false
		}
	}
	return true
}

func accepted(table *Table, hidden []bool, needs []Need, insider Insider) bool {
	for _, n := range needs {
		if !safe(table, hidden, n, 0) {
			return false
		}
	}
	if insider == InsiderOff || table.Sole == nil {
		return true
	}
	for _, n := range needs {
		asked := n
		if insider == InsiderExact {
			asked = Need{Cell: n.Cell}
		}
		var tried []int64
		for c, h := range table.Sole {
			if h == 0 || !hidden[c] || h == table.Sole[n.Cell] || slices.Contains(tried, h) {
				continue
			}
			tried = append(tried, h)
			if !safe(table, hidden, asked, h) {
				return false
			}
		}
	}
	return true
}

// task draws a small table with needs, costs and protected cells.
func task(t *testing.T, r *rand.Rand, k int) (*Table, []Need, Options) {
	var trees []*tabular.Tree
	switch k % 3 {
	case 0:
		trees = []*tabular.Tree{flat("r", 3+r.IntN(2), 'A'), flat("c", 3+r.IntN(2), 'A')}
	case 1:
		trees = []*tabular.Tree{flat("r", 2, 'A'), flat("c", 2+r.IntN(2), 'A'), flat("l", 3, 'A')}
	case 2:
		tree := tabular.NewTree("r")
		one, two := tree.Add(tabular.Of("a"), 0), tree.Add(tabular.Of("b"), 0)
		for i, group := range []int{one, one, two, two, 0}[:4+r.IntN(2)] {
			tree.Add(tabular.Of(string(rune('A'+i))), group)
		}
		trees = []*tabular.Tree{tree, flat("c", 3, 'A')}
	}
	g, table := random(t, r, trees, 15, 20)
	o := Options{Cost: table.Values, Protected: inner(g), Insider: Insider(r.IntN(3))}
	if r.IntN(2) == 0 {
		o.Cost = units(g.Cells())
	}
	hideable := 0
	for c, x := range table.Values {
		if x > 0 && !o.Protected[c] {
			hideable++
		}
	}
	for c := range o.Protected {
		if o.Protected[c] && k%2 == 0 && c > 0 && hideable < 15 && r.IntN(3) > 0 && table.Values[c] > 0 {
			o.Protected[c] = false
			hideable++
		}
	}
	table.Sole = make([]int64, g.Cells())
	var needs []Need
	for c, x := range table.Values {
		if o.Protected[c] || x == 0 {
			continue
		}
		if len(needs) < 1+k%4 && r.IntN(3) == 0 {
			need := Need{Cell: int32(c), Lower: r.Int64N(1 + x/3), Upper: r.Int64N(1 + x/3), Sliding: r.Int64N(3)}
			needs = append(needs, need)
		}
		if r.IntN(8) == 0 {
			table.Sole[c] = 1 + r.Int64N(3)
		}
	}
	return table, needs, o
}

func TestOptimalAgainstBruteForce(t *testing.T) {
	tables := draw(t, 500)
	r := rand.New(rand.NewPCG(11, 12))
	feasible, cuts, larger := 0, 0, 0
	for k := range tables {
		table, needs, o := task(t, r, k)
		want := brute(table, needs, o)
		p, err := Optimal(ctx, table, needs, o)
		if want < 0 {
			var none *InfeasibleError
			require.ErrorAs(t, err, &none, "table %d", k)
			continue
		}
		require.NoError(t, err, "table %d", k)
		require.Equal(t, want, p.Cost, "table %d: %v", k, needs)
		require.True(t, p.Proven())
		require.True(t, accepted(table, p.Hidden, needs, o.Insider))
		again, err := Optimal(ctx, table, needs, o)
		require.NoError(t, err)
		require.Equal(t, p, again)
		feasible++
		if p.Solver == "integer" {
			cuts++
		}
		if len(p.Secondary) > 3 {
			larger++
		}
	}
	require.Greater(t, feasible, 2*tables/5)
	require.Greater(t, cuts, tables/25)
	require.Greater(t, larger, tables/10)
}

// Costs are as good in any unit.
func TestLargeCosts(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for k := range 100 {
		table, needs, o := task(t, r, k)
		want, err := Optimal(ctx, table, needs, o)
		if err != nil {
			continue
		}
		for _, factor := range []int64{1000, 1e9, 1e13} {
			large := o
			large.Cost = slices.Clone(o.Cost)
			for c := range large.Cost {
				large.Cost[c] *= factor
			}
			for _, solver := range []program.Solver{nil, program.Embedded{}} { // by a solver that is not told what is known already too
				large.Solver = solver
				got, err := Optimal(ctx, table, needs, large)
				require.NoError(t, err)
				require.True(t, got.Proven())
				require.Equal(t, want.Cost*factor, got.Cost)
			}
		}
	}
}
