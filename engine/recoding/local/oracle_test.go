package local

import (
	"bufio"
	"encoding/json"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// rowsProblem counts rows; class is that of each row.
func rowsProblem(rows [][]uint32, k int64, weights []float64) (p *Problem, class []int) {
	p = &Problem{K: k, Weights: weights, Codes: make([][]uint32, len(rows[0]))}
	var keys [][]uint32
	for _, row := range rows {
		c := slices.IndexFunc(keys, func(x []uint32) bool { return slices.Equal(x, row) })
		if c < 0 {
			c = len(keys)
			keys = append(keys, row)
			p.Counts = append(p.Counts, 0)
			for v, code := range row {
				p.Codes[v] = append(p.Codes[v], code)
			}
		}
		p.Counts[c]++
		class = append(class, c)
	}
	return p, class
}

// cutOf is what a result cuts of a class whose records are all cut alike.
func cutOf(r *Result, c int) Set {
	for _, x := range r.Parts {
		if x.Class == c {
			return x.Cut
		}
	}
	return 0
}

func weightOf(p *Problem, s Set) (w float64) {
	for v := range p.Codes {
		if s.Has(v) {
			w += p.weight(v)
		}
	}
	return w
}

// ownBrute is the cheapest cut of one row by trying all.
func ownBrute(p *Problem, rows [][]uint32, r int) float64 {
	best := math.Inf(1)
	for s := range Set(1) << len(p.Codes) {
		n := int64(0)
		for _, other := range rows {
			same := true
			for v := range other {
				same = same && (s.Has(v) || other[v] == rows[r][v])
			}
			if same {
				n++
			}
		}
		if n >= p.K && s&p.fixed() == 0 {
			best = min(best, weightOf(p, s))
		}
	}
	return best
}

// classBrute is the cost of the best partition into groups of at least k rows that are alike where not cut: a dynamic program over subsets
// of at most 14 rows, in which the group of the lowest row left has k to 2k-1.
func classBrute(p *Problem, rows [][]uint32) float64 {
	n, k := len(rows), int(p.K)
	best := make([]float64, 1<<n)
	for set := 1; set < 1<<n; set++ {
		best[set] = math.Inf(1)
		low := set & -set
		rest := set &^ low
		for sub := rest; ; sub = (sub - 1) & rest {
			size := bits.OnesCount(uint(sub)) + 1
			if size >= k && size <= 2*k-1 && !math.IsInf(best[rest&^sub], 1) {
				best[set] = min(best[set], best[rest&^sub]+groupCost(p, rows, sub|low))
			}
			if sub == 0 {
				break
			}
		}
	}
	return best[1<<n-1]
}

func groupCost(p *Problem, rows [][]uint32, set int) float64 {
	var differ Set
	first := rows[bits.TrailingZeros(uint(set))]
	for r, row := range rows {
		for v := range row {
			if set>>r&1 != 0 && row[v] != first[v] {
				differ |= 1 << v
			}
		}
	}
	if differ&p.fixed() != 0 {
		return math.Inf(1)
	}
	return weightOf(p, differ) * float64(bits.OnesCount(uint(set)))
}

func randomRows(r *rand.Rand, n, variables, most int) [][]uint32 {
	rows := make([][]uint32, n)
	for i := range rows {
		rows[i] = make([]uint32, variables)
		for v := range rows[i] {
			rows[i][v] = uint32(math.Min(r.ExpFloat64(), float64(most))) + uint32(r.IntN(1+v%3))
		}
	}
	return rows
}

// A suppressionCase is one of 300 random tables with both optima.
type suppressionCase struct {
	ClassCost float64    `json:"class_cost"`
	K         int64      `json:"k"`
	OwnCost   []float64  `json:"own_cost"`
	Rows      [][]uint32 `json:"rows"`
	Weights   []float64  `json:"weights"`
}

func suppressionCases(t *testing.T) (cases []suppressionCase) {
	f, err := os.Open("testdata/suppression_cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var c suppressionCase
		require.NoError(t, json.Unmarshal(s.Bytes(), &c))
		cases = append(cases, c)
	}
	require.Len(t, cases, 300)
	return cases
}
