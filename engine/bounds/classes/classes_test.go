package classes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A world is a small population, all of whose cells are known, and a sample of it.
type world struct {
	levels []int
	people []int64 // by cell, row-major
	sample []int64
}

func newWorld(r *rand.Rand, levels []int, people int, fraction float64) *world {
	w := &world{levels: levels}
	size := 1
	for _, l := range levels {
		size *= l
	}
	w.people, w.sample = make([]int64, size), make([]int64, size)
	for range people {
		c := min(r.IntN(size), r.IntN(size)) // some cells are rare
		w.people[c]++
		if r.Float64() < fraction {
			w.sample[c]++
		}
	}
	return w
}

func (w *world) codes(cell int) []uint32 {
	codes := make([]uint32, len(w.levels))
	for v := len(codes) - 1; v >= 0; v-- {
		codes[v] = uint32(cell % w.levels[v])
		cell /= w.levels[v]
	}
	return codes
}

// margin is that of the population over some variables: blur is how far from the truth bounds may be, and hide how often there are none.
func (w *world) margin(r *rand.Rand, variables []int, blur int64, hide float64) Margin {
	m := Margin{Name: fmt.Sprint(variables), Variables: variables, Codes: make([][]uint32, len(variables)), Whole: blur > 0, Unlisted: blur}
	at := map[string]int{}
	for c, n := range w.people {
		codes := w.codes(c)
		var on []uint32
		for _, v := range variables {
			on = append(on, codes[v])
		}
		i, ok := at[fmt.Sprint(on)]
		if !ok {
			i = len(m.Low)
			at[fmt.Sprint(on)] = i
			m.Low, m.High = append(m.Low, 0), append(m.High, 0)
			for j, code := range on {
				m.Codes[j] = append(m.Codes[j], code)
			}
		}
		m.Low[i] += n
	}
	for i, n := range m.Low {
		down, up := r.Int64N(blur+1), r.Int64N(blur+1)
		m.Low[i], m.High[i] = max(0, n-down), n+up
		if r.Float64() < hide {
			m.Low[i], m.High[i] = 0, NoLimit
		}
	}
	if blur == 0 { // empty cells need not be listed
		for i := len(m.Low) - 1; i >= 0; i-- {
			if m.High[i] == 0 && r.IntN(2) == 0 {
				m.Low, m.High = slices.Delete(m.Low, i, i+1), slices.Delete(m.High, i, i+1)
				for j := range m.Codes {
					m.Codes[j] = slices.Delete(m.Codes[j], i, i+1)
				}
			}
		}
	}
	return m
}

// problem is what is known of the world by some margins; cells are the classes.
func (w *world) problem(margins ...Margin) (p *Problem, cells []int) {
	p = &Problem{Variables: len(w.levels), Codes: make([][]uint32, len(w.levels)), Margins: margins}
	for c, n := range w.sample {
		if n == 0 {
			continue
		}
		cells = append(cells, c)
		p.Counts = append(p.Counts, n)
		for v, code := range w.codes(c) {
			p.Codes[v] = append(p.Codes[v], code)
		}
	}
	return p, cells
}

// possible are the least and the largest count of each cell in all tables of whole numbers that have the margins and the sample in them.
func (w *world) possible(p *Problem, most int64) (low, high []int64, tables int) {
	size := len(w.people)
	low, high = slices.Repeat([]int64{NoLimit}, size), make([]int64, size)
	cell := make([][]int, len(p.Margins)) // of each margin, -1 for one that is not listed
	last := make([]map[int]int, len(p.Margins))
	for i, m := range p.Margins {
		last[i] = map[int]int{}
		for c := range size {
			codes, at := w.codes(c), -1
			for k := range m.Low {
				same := true
				for j, v := range m.Variables {
					same = same && m.Codes[j][k] == codes[v]
				}
				if same {
					at = k
				}
			}
			cell[i] = append(cell[i], at)
			last[i][at] = c
		}
	}
	table := make([]int64, size)
	sums := make([][]int64, len(p.Margins))
	for i, m := range p.Margins {
		sums[i] = make([]int64, len(m.Low))
	}
	var next func(c int, left int64)
	next = func(c int, left int64) {
		if c == size {
			if p.Population > 0 && left > 0 {
				return
			}
			tables++
			for i, n := range table {
				low[i], high[i] = min(low[i], n), max(high[i], n)
			}
			return
		}
		for n := w.sample[c]; n <= left; n++ {
			fits, over := true, false
			for i, m := range p.Margins {
				k := cell[i][c]
				switch {
				case k < 0:
					over = over || n > m.Unlisted // cells with blur are all listed
				default:
					sums[i][k] += n
					over = over || sums[i][k] > m.High[k]
					fits = fits && (last[i][k] != c || sums[i][k] >= m.Low[k])
				}
			}
			if fits && !over {
				table[c] = n
				next(c+1, left-n)
			}
			for i := range p.Margins {
				if k := cell[i][c]; k >= 0 {
					sums[i][k] -= n
				}
			}
			if over {
				return
			}
		}
	}
	next(0, most)
	return low, high, tables
}

// No bound leaves out what some table of whole numbers has.
func TestBoundsAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	sharp, all := 0, 0
	for try := range 400 {
		people := 3 + r.IntN(5)
		w := newWorld(r, []int{2, 2, 2}, people, .5)
		var margins []Margin
		for _, variables := range [][]int{{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}} {
			if r.IntN(2) == 0 {
				margins = append(margins, w.margin(r, variables, int64(r.IntN(3)/2), float64(r.IntN(2))*.2))
			}
		}
		p, cells := w.problem(margins...)
		if p.Population = int64(people); r.IntN(3) == 0 {
			p.Population = 0
		}
		low, high, err := Of(context.Background(), p)
		require.NoError(t, err)
		most := int64(people)
		if p.Population == 0 {
			most = int64(people) + 3
		}
		least, largest, tables := w.possible(p, most)
		require.Positive(t, tables)
		for i, c := range cells {
			what := fmt.Sprint("try ", try, " cell ", c, margins)
			require.LessOrEqual(t, low[i], least[c], what)
			require.GreaterOrEqual(t, high[i], largest[c], what)
			require.GreaterOrEqual(t, low[i], p.Counts[i], what)
			if p.Population > 0 {
				if all++; low[i] == least[c] && high[i] == largest[c] {
					sharp++
				}
			}
		}
	}
	require.Greater(t, sharp, all*9/10)
}

// In larger tables the truth is always within the bounds, which are not those of package bounds.
func TestTruthIsWithinBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alone, more := 0, 0
	for try := range 12 {
		w := newWorld(r, []int{3, 12, 5, 4, 6, 7}, 400+r.IntN(4000), .1)
		w.people[7] += 300 // a cell that most are in
		w.sample[7]++
		if try%2 == 0 {
			w.people[7] += 20000
		}
		blur, hide := int64(0), 0.0
		if try%3 == 1 {
			blur = 2
		}
		if try%3 == 2 {
			hide = .1
		}
		var margins []Margin
		for i := range 6 {
			for j := range i {
				if try%4 == 0 {
					margins = append(margins, w.margin(r, []int{j, i}, blur, hide))
				}
				for k := range j {
					if r.IntN(3) > 0 {
						margins = append(margins, w.margin(r, []int{k, j, i}, blur, hide))
					}
				}
			}
		}
		margins = append(margins, w.margin(r, []int{}, 0, 0))
		p, cells := w.problem(margins...)
		low, high, err := Of(context.Background(), p)
		require.NoError(t, err)
		for i, c := range cells {
			require.LessOrEqual(t, low[i], w.people[c], "try %d", try)
			require.GreaterOrEqual(t, high[i], w.people[c], "try %d", try)
			if high[i] == 1 {
				alone++
			}
			if low[i] > p.Counts[i] {
				more++
			}
		}
	}
	require.Positive(t, alone)
	require.Positive(t, more)
}

// Bounds that can be worked out by hand.
func TestByHand(t *testing.T) {
	p := &Problem{Variables: 2, Codes: [][]uint32{{0, 1, 1}, {0, 0, 1}}, Counts: []int64{1, 2, 1}, Margins: []Margin{
		{Variables: []int{0}, Codes: [][]uint32{{0, 1}}, Low: []int64{1, 9}, High: []int64{1, 9}},
		{Variables: []int{1}, Codes: [][]uint32{{0, 1}}, Low: []int64{8, 2}, High: []int64{8, 2}},
	}}
	low, high, err := Of(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 7, 2}, low, "1,0: of 8 and 9 of 10 people at least 7 are in both; the rest follow")
	require.Equal(t, []int64{1, 7, 2}, high)
}

// Tables that contradict the sample, each other or the population are errors that name the cell.
func TestContradictions(t *testing.T) {
	one := func(v int, counts ...int64) Margin {
		m := Margin{Variables: []int{v}, Codes: [][]uint32{nil}, Low: counts, High: counts}
		for i := range counts {
			m.Codes[0] = append(m.Codes[0], uint32(i))
		}
		return m
	}
	problem := func(population int64, margins ...Margin) *Problem {
		return &Problem{Variables: 2, Codes: [][]uint32{{0, 1, 1}, {0, 0, 1}}, Counts: []int64{1, 2, 1}, Margins: margins, Population: population}
	}
	both := Margin{Variables: []int{0, 1}, Codes: [][]uint32{{0, 0, 1, 1}, {0, 1, 0, 1}}, Low: []int64{3, 1, 5, 3}, High: []int64{3, 1, 5, 3}}
	for _, c := range []struct {
		p    *Problem
		want ContradictionError
	}{
		{problem(0, one(0, 5, 2)), ContradictionError{Margin: 0, Other: Sample, Variables: []int{0}, Codes: []uint32{1}, Low: 2, High: 2, OtherLow: 3, OtherHigh: NoLimit}},
		{problem(0, one(0, 5)), ContradictionError{Margin: 0, Other: Sample, Variables: []int{0}, Codes: []uint32{1}, OtherLow: 3, OtherHigh: NoLimit}},
		{problem(0, one(0, 5, 7), one(1, 5, 6)), ContradictionError{Margin: 1, Other: 0, Low: 11, High: 11, OtherLow: 12, OtherHigh: 12}},
		{problem(13, one(0, 5, 7)), ContradictionError{Margin: Population, Other: 0, Low: 13, High: 13, OtherLow: 12, OtherHigh: 12}},
		{problem(0, both, one(0, 5, 7)), ContradictionError{Margin: 1, Other: 0, Variables: []int{0}, Codes: []uint32{0}, Low: 5, High: 5, OtherLow: 4, OtherHigh: 4}},
	} {
		_, _, err := Of(context.Background(), c.p)
		var got *ContradictionError
		require.ErrorAs(t, err, &got)
		require.Equal(t, c.want, *got)
	}
	_, _, err := Of(context.Background(), &Problem{Variables: 1, Codes: [][]uint32{{0}}, Counts: []int64{0}})
	require.Error(t, err)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = Of(ended, problem(12, one(0, 5, 7)))
	require.True(t, errors.Is(err, context.Canceled))
}
