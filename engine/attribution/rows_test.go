package attribution

import (
	"context"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/bounds"
	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
)

// bySubsets is SAP for each n, over all subsets of the people of a row: what is left of a cell is the most that any table of the attacker's
// has there, less those that he knows. more tells the most of cell i, where he knows s.
func bySubsets(counts []int64, most func(i int, s []int64) int64) []float64 {
	var cell []int // of each person
	for i, c := range counts {
		for range c {
			cell = append(cell, i)
		}
	}
	n := len(cell)
	shown, all := make([]float64, n+1), make([]float64, n+1)
	for subset := range 1 << n {
		s := make([]int64, len(counts))
		for k, i := range cell {
			s[i] += int64(subset >> k & 1)
		}
		size := bits.OnesCount(uint(subset))
		all[size]++
		for i := range counts {
			if most(i, s)-s[i] == 0 {
				shown[size]++
				break
			}
		}
	}
	for k := range shown {
		shown[k] /= all[k]
	}
	return shown
}

// eachTable goes through the tables of a row within bounds that have at least s, cell by cell.
func eachTable(low, high, s []int64, yield func(x []int64)) {
	x := make([]int64, len(low))
	var put func(i int)
	put = func(i int) {
		if i == len(x) {
			yield(x)
			return
		}
		for x[i] = max(low[i], s[i]); x[i] <= high[i]; x[i]++ {
			put(i + 1)
		}
	}
	put(0)
}

// codes are some categories.
func codes(letters string) []tabular.Category {
	var list []tabular.Category
	for _, c := range letters {
		list = append(list, tabular.Of(string(c)))
	}
	return list
}

// fullGrid has all combinations.
func fullGrid(t require.TestingT, trees ...*tabular.Tree) *tabular.Grid {
	var leaves []int32
	nodes := make([]int32, len(trees))
	var add func(v int)
	add = func(v int) {
		if v == len(trees) {
			leaves = append(leaves, nodes...)
			return
		}
		for n := range trees[v].Nodes {
			if trees[v].Leaf(n) {
				nodes[v] = int32(n)
				add(v + 1)
			}
		}
	}
	add(0)
	g, err := tabular.NewGrid(trees, leaves)
	require.NoError(t, err)
	return g
}

// TestRowsBySubsets draws rows of hidden and rounded cells, with a total that is exact, rounded or hidden, and tries all subsets of people.
func TestRowsBySubsets(t *testing.T) {
	three, err := perturb.Random(3)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		p := &Protected{Grid: fullGrid(t, tabular.Flat("area", codes("xy")...), tabular.Flat("health", codes("abcd")...))}
		p.True = make([]int64, p.Grid.Cells())
		for cell := range p.True {
			if p.Grid.Leaf(cell) {
				p.True[cell] = rapid.Int64Range(0, 2).Draw(t, "count")
			}
		}
		require.NoError(t, p.Grid.Sum(p.True))
		if p.Kernel = []perturb.Kernel{nil, three}[rapid.IntRange(0, 1).Draw(t, "kernel")]; p.Kernel == nil {
			p.Margins = rapid.Bool().Draw(t, "margins")
		}
		for _, x := range p.True {
			f := tabular.Exact(x)
			if p.Kernel != nil {
				f = tabular.Exact(perturb.Draw(p.Kernel, x, rapid.Float64Range(0, .999).Draw(t, "u")))
			}
			if rapid.IntRange(0, 2).Draw(t, "hidden") == 0 {
				f = tabular.Interval(max(0, x-rapid.Int64Range(0, 2).Draw(t, "below")), x+rapid.Int64Range(0, 2).Draw(t, "above"))
			}
			p.Published = append(p.Published, f)
		}
		rows, err := p.Rows(context.Background(), upTo(10))
		require.NoError(t, err)
		require.Len(t, rows, 2)
		for _, row := range rows {
			low, high, counts, hidden := make([]int64, 5), make([]int64, 5), make([]int64, 5), 0
			kernel := p.Kernel
			if kernel == nil {
				kernel = perturb.None()
			}
			for k := range 5 { // the total first
				cell := p.Grid.Find([]int32{row.Node, int32(k)})
				counts[k] = p.True[cell]
				low[k], high[k], _ = p.Published[cell].Bounds(kernel)
				if k > 0 && p.Published[cell].Known != tabular.Exactly {
					hidden++
				}
			}
			require.Equal(t, counts[0], row.People)
			require.Equal(t, hidden, row.Hidden)
			after := bySubsets(counts[1:], func(i int, s []int64) int64 {
				most := int64(-1)
				eachTable(low[1:], high[1:], s, func(x []int64) {
					if sum := x[0] + x[1] + x[2] + x[3]; sum <= high[0] && sum >= low[0] {
						most = max(most, x[i])
					}
				})
				return most
			})
			before := bySubsets(counts[1:], func(i int, _ []int64) int64 { return counts[i+1] })
			for n := range row.People + 1 {
				require.InDelta(t, after[n], row.After[n], 1e-12)
				require.InDelta(t, before[n], row.Before[n], 1e-12)
				require.LessOrEqual(t, row.After[n], row.Before[n]+1e-12)
			}
		}
	})
}

// TestRowsOfSuppressedTables draws tables with hidden cells, whose intervals are the tightest, and compares with all that somebody who knows
// people of a row can find out from the whole table: as much with two rows, and no less with three.
func TestRowsOfSuppressedTables(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		areas := rapid.IntRange(2, 3).Draw(t, "areas")
		p := &Protected{Grid: fullGrid(t, tabular.Flat("area", codes("xyz"[:areas])...), tabular.Flat("health", codes("abc")...))}
		p.True = make([]int64, p.Grid.Cells())
		whole := &bounds.Release{Levels: []int{areas, 3}, Margins: make([]bounds.Margin, 3)}
		table, rows, columns := &whole.Margins[0], &whole.Margins[1], &whole.Margins[2]
		table.Variables, rows.Variables, columns.Variables = []int{0, 1}, []int{0}, []int{1}
		var leaves []int
		for cell := range p.True {
			if p.Grid.Leaf(cell) {
				leaves = append(leaves, cell)
				p.True[cell] = rapid.Int64Range(0, 2).Draw(t, "count")
				table.Low, table.High = append(table.Low, p.True[cell]), append(table.High, p.True[cell])
				if rapid.IntRange(0, 3).Draw(t, "hidden") > 0 {
					table.Low[len(leaves)-1], table.High[len(leaves)-1] = 0, bounds.NoLimit
				}
			}
		}
		require.NoError(t, p.Grid.Sum(p.True))
		for cell, x := range p.True {
			p.Published = append(p.Published, tabular.Exact(x))
			switch nodes := p.Grid.Nodes(cell); {
			case nodes[0] > 0 && nodes[1] == 0:
				rows.Low, rows.High = append(rows.Low, x), append(rows.High, x)
			case nodes[0] == 0 && nodes[1] > 0:
				columns.Low, columns.High = append(columns.Low, x), append(columns.High, x)
			}
		}
		audit, err := bounds.Sharp(ctx, whole, bounds.Options{})
		require.NoError(t, err)
		for k, cell := range leaves {
			if table.Low[k] != table.High[k] {
				p.Published[cell] = tabular.Interval(audit.Low[k], audit.High[k])
			}
		}
		found, err := p.Rows(ctx, upTo(6))
		require.NoError(t, err)
		asked := map[[3]int64][]int64{}
		more := append(whole.Margins[:3:3], bounds.Margin{Variables: []int{0, 1}, Low: make([]int64, 3*areas), High: make([]int64, 3*areas)})
		for k := range more[3].High {
			more[3].High[k] = bounds.NoLimit
		}
		after := bySubsets([]int64{p.True[leaves[0]], p.True[leaves[1]], p.True[leaves[2]]}, func(i int, s []int64) int64 {
			key := [3]int64(s)
			if asked[key] == nil {
				copy(more[3].Low, s)
				b, err := bounds.Sharp(ctx, &bounds.Release{Levels: whole.Levels, Margins: more}, bounds.Options{})
				require.NoError(t, err)
				asked[key] = b.High
			}
			return asked[key][i]
		})
		for n, x := range after {
			if areas == 2 {
				require.InDelta(t, x, found[0].After[n], 1e-12)
			}
			require.LessOrEqual(t, found[0].After[n], x+1e-12)
		}
	})
}

// TestRowMargins draws rows of two variables, one with groups, whose margins are published.
func TestRowMargins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		age := tabular.NewTree("age")
		young := age.Add(tabular.Of("young"), 0)
		age.Add(tabular.Of("1"), young)
		age.Add(tabular.Of("2"), young)
		age.Add(tabular.Of("old"), 0)
		p := &Protected{Grid: fullGrid(t, age, tabular.Flat("sex", codes("fm")...)), Area: -1, Margins: true}
		p.True = make([]int64, p.Grid.Cells())
		for cell := range p.True {
			if p.Grid.Leaf(cell) {
				p.True[cell] = rapid.Int64Range(0, 2).Draw(t, "count")
			}
		}
		require.NoError(t, p.Grid.Sum(p.True))
		var leaves, places []int
		for cell, x := range p.True {
			f := tabular.Exact(x)
			if rapid.Bool().Draw(t, "hidden") {
				f = tabular.Interval(0, x+rapid.Int64Range(0, 2).Draw(t, "above"))
			}
			p.Published = append(p.Published, f)
			if p.Grid.Leaf(cell) {
				leaves = append(leaves, cell)
			}
			places = append(places, cell)
		}
		low, high, counts := make([]int64, 6), make([]int64, 6), make([]int64, 6)
		for k, cell := range leaves {
			counts[k], low[k], high[k] = p.True[cell], p.Published[cell].Low, p.Published[cell].High
		}
		if people := counts[0] + counts[1] + counts[2] + counts[3] + counts[4] + counts[5]; people > 7 {
			return
		}
		after := bySubsets(counts, func(i int, s []int64) int64 {
			most := int64(-1)
			values := make([]int64, len(places))
			eachTable(low, high, s, func(x []int64) {
				if x[i] <= most {
					return
				}
				for k, cell := range leaves {
					values[cell] = x[k]
				}
				require.NoError(t, p.Grid.Sum(values))
				for cell, f := range p.Published {
					if values[cell] < f.Low || values[cell] > f.High {
						return
					}
				}
				most = x[i]
			})
			return most
		})
		rows, err := p.Rows(context.Background(), upTo(int64(len(after)-1)))
		require.NoError(t, err)
		require.True(t, rows[0].Exact && rows[0].Sharp)
		require.InDeltaSlice(t, after, rows[0].After, 1e-12)
		p.Margins = false
		fewer, err := p.Rows(context.Background(), upTo(int64(len(after)-1)))
		require.NoError(t, err)
		for n, x := range fewer[0].After {
			require.LessOrEqual(t, x, rows[0].After[n]+1e-12)
		}
	})
}

func TestRowsRefusals(t *testing.T) {
	ctx := context.Background()
	p := &Protected{Grid: fullGrid(t, tabular.Flat("area", codes("xy")...), tabular.Flat("health", codes("ab")...))}
	_, err := p.Rows(ctx, []int64{1})
	require.ErrorContains(t, err, "0 counts and 0 figures")
	p.True = []int64{4, 2, 2, 2, 1, 1, 2, 1, 1}
	for _, x := range p.True {
		p.Published = append(p.Published, tabular.Exact(x))
	}
	_, err = p.Rows(ctx, []int64{-1})
	require.Error(t, err)
	p.Published[7] = tabular.Interval(2, 3)
	_, err = p.Rows(ctx, []int64{1})
	require.ErrorContains(t, err, "the row of y: a cell has a count of 1, and what was published says 2 to 3")
	p.Published[7] = tabular.Hidden()
	rows, err := p.Rows(ctx, []int64{1, 2})
	require.NoError(t, err)
	require.Equal(t, []float64{1, 1}, rows[0].After)
	require.Equal(t, []float64{1, 1}, rows[1].Before)
	p.Area = 2
	_, err = p.Rows(ctx, []int64{1})
	require.ErrorContains(t, err, "variable 2, of 2")
}

// BenchmarkRows has 10,000 areas of two by six cells, a fifth of them hidden.
func BenchmarkRows(b *testing.B) {
	areas := tabular.NewTree("area")
	for i := range 10_000 {
		areas.Add(tabular.Of(string(rune(0x4e00+i))), 0)
	}
	p := &Protected{Grid: fullGrid(b, areas, tabular.Flat("sex", codes("fm")...), tabular.Flat("health", codes("abcdef")...))}
	p.True = make([]int64, p.Grid.Cells())
	for cell := range p.True {
		if p.Grid.Leaf(cell) {
			p.True[cell] = int64(cell * 7919 % 5)
		}
	}
	require.NoError(b, p.Grid.Sum(p.True))
	for cell, x := range p.True {
		f := tabular.Exact(x)
		if p.Grid.Leaf(cell) && cell%5 == 0 {
			f = tabular.Interval(0, x+2)
		}
		p.Published = append(p.Published, f)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := p.Rows(context.Background(), []int64{2, 5, 10})
		require.NoError(b, err)
	}
}
