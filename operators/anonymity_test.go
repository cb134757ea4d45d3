package operators_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes/risk"
	"microrisk/operators"
	"microrisk/operators/individual"
	"microrisk/operators/kanonymity"
	"microrisk/operators/ldiversity"
	"microrisk/operators/operatortest"
	"microrisk/schemas"
)

// drawRows makes rows of few values, some missing.
func drawRows(r *rand.Rand, rows, columns int) [][]string {
	list := make([][]string, rows)
	for i := range list {
		for range columns {
			v := fmt.Sprint(r.IntN(3))
			if r.IntN(8) == 0 {
				v = "_"
			}
			list[i] = append(list[i], v)
		}
	}
	return list
}

func joined(rows [][]string) (list []string) {
	for _, r := range rows {
		list = append(list, strings.Join(r, " "))
	}
	return list
}

// agreeing counts the records that agree with one on a set of columns, by the policy for missing values.
func agreeing(rows [][]string, i int, set uint, policy string) (n int64) {
	for j := range rows {
		all := true
		for v := range rows[i] {
			if set&(1<<v) == 0 {
				continue
			}
			a, b := rows[i][v], rows[j][v]
			switch {
			case policy == "wildcard" && (a == "_" || b == "_"):
			case a != b:
				all = false
			}
		}
		if all {
			n++
		}
	}
	return n
}

// Classes, violations and combinations against counting record by record.
func TestKAnonymityAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for round := range 60 {
		rows := drawRows(r, 4+r.IntN(12), 3)
		policy := []string{"category", "drop", "wildcard"}[round%3]
		k, combinations := 2+r.Int64N(3), r.IntN(4)
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		out, report, err := operatortest.Table(
			t,
			mem,
			operatortest.Lines(t, mem, 5, "A B C", joined(rows)...),
			operators.Options{Workers: 1 + round%2},
			kanonymity.Operator{Key: operatortest.Key("A", "B", "C"),
				Config: kanonymity.Config{MeasureOptions: schemas.MeasureOptions{Missing: policy}, K: k, Combinations: combinations}},
		)
		require.NoError(t, err)
		kept := rows
		if policy == "drop" {
			kept = nil
			for _, row := range rows {
				if !strings.Contains(strings.Join(row, ""), "_") {
					kept = append(kept, row)
				}
			}
		}
		var violations int64
		at := 0
		for i, row := range rows {
			got := strings.Fields(out[1+i])[3:]
			if policy == "drop" && strings.Contains(strings.Join(row, ""), "_") {
				assert.Equal(t, "_ _", strings.Join(got[:2], " "))
				continue
			}
			f := agreeing(kept, at, 7, policy)
			want := []string{fmt.Sprint(f), "0"}
			if f < k {
				want[1] = "1"
				violations++
			}
			if combinations > 0 {
				n, least := 0, 99
				for set := uint(1); set < 8; set++ {
					if size := bits.OnesCount(set); size <= combinations && agreeing(kept, at, set, policy) < k {
						n++
						least = min(least, size)
					}
				}
				if want = append(want, fmt.Sprint(n), fmt.Sprint(least)); n == 0 {
					want[3] = "_"
				}
			}
			require.Equal(t, want, got, "%s k = %d: %v\n%s", policy, k, row, strings.Join(joined(rows), "\n"))
			at++
		}
		s := report.Operators[0].Summary.(*kanonymity.Summary)
		assert.Equal(t, violations, s.Violations)
		assert.EqualValues(t, len(kept), s.Records)
		if combinations > 0 {
			assert.EqualValues(t, []int64{3, 6, 7}[combinations-1], s.Combinations)
			assert.Len(t, s.CombinationsSizes, combinations)
		}
	}
}

// Diversity against counting record by record.
func TestLDiversityAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 4))
	for round := range 60 {
		rows := drawRows(r, 4+r.IntN(14), 4)
		policy, missing := []string{"category", "drop"}[round%2], []string{"ignore", "category"}[round/2%2]
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		out, report, err := operatortest.Table(
			t,
			mem,
			operatortest.Lines(t, mem, 5, "A B S Z", joined(rows)...),
			operators.Options{Workers: 1 + round%2},
			ldiversity.Operator{Key: operatortest.Key("A", "B"),
				Config: ldiversity.Config{
					MeasureOptions: schemas.MeasureOptions{Missing: policy}, Sensitive: []schemas.KeyVariable{{Name: "S", Missing: missing}, {Name: "Z"}},
				}},
		)
		require.NoError(t, err)
		require.Equal(
			t,
			"A B S Z sample_frequency ldiversity_distinct_S ldiversity_entropy_S ldiversity_recursive_S ldiversity_distinct_Z ldiversity_entropy_Z "+
				"ldiversity_recursive_Z",
			out[0],
		)
		s := report.Operators[0].Summary.(*ldiversity.Summary)
		var below, gone int64
		for i, row := range rows {
			got := strings.Fields(out[1+i])[4:]
			if policy == "drop" && strings.Contains(row[0]+row[1], "_") {
				require.Equal(t, "_", got[1])
				continue
			}
			counts, total := map[string]float64{}, 0.0
			for _, other := range rows {
				if other[0] == row[0] && other[1] == row[1] && (other[2] != "_" || missing == "category") {
					counts[other[2]]++
					total++
				}
			}
			entropy := 0.0
			for _, n := range counts {
				entropy -= n / total * math.Log(n/total)
			}
			require.Equal(t, fmt.Sprint(len(counts)), got[1])
			if total > 0 {
				require.InDelta(t, math.Exp(entropy), operatortest.Value(t, out[1+i], 6), 1e-12)
			} else {
				require.Equal(t, "0", got[2])
			}
			if len(counts) < 2 {
				below++
			}
			if row[2] == "_" {
				gone++
			}
		}
		assert.Equal(t, below, s.Sensitive[0].BelowDistinct)
		assert.Equal(t, gone, s.Sensitive[0].Missing)
		assert.Equal(t, missing, s.Sensitive[0].Policy)
	}
}

// Individual risk by a fraction, and of households: the negative binomial's E[1/F], and one minus the chance that nobody is recognised.
func TestIndividualAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 5))
	for round := range 40 {
		rows := drawRows(r, 4+r.IntN(14), 3)
		policy := []string{"category", "drop"}[round%2]
		p := .1 + .8*r.Float64()
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		out, report, err := operatortest.Table(
			t,
			mem,
			operatortest.Lines(t, mem, 5, "A B H", joined(rows)...),
			operators.Options{Workers: 1 + round%2},
			individual.Operator{Key: operatortest.Key("A", "B"),
				Sampling: &schemas.Sampling{Fraction: p}, Config: individual.Config{MeasureOptions: schemas.MeasureOptions{Missing: policy}, Household: "H"}},
		)
		require.NoError(t, err)
		risks := make([]float64, len(rows))
		in := make([]bool, len(rows))
		for i, row := range rows {
			if in[i] = policy == "category" || !strings.Contains(row[0]+row[1], "_"); in[i] {
				f := float64(agreeing([][]string{row, {"", ""}}, 0, 3, policy)) // itself
				for j, other := range rows {
					if j != i && other[0] == row[0] && other[1] == row[1] {
						f++
					}
				}
				risks[i] = risk.NegativeBinomialMatch(f, f, (1-p)/p)
			}
		}
		sum, together := 0.0, 0.0
		for i, row := range rows {
			if !in[i] {
				require.Equal(t, "_ _ _", strings.Join(strings.Fields(out[1+i])[3:], " "))
				continue
			}
			require.InDelta(t, risks[i], operatortest.Value(t, out[1+i], 4), 1e-12)
			none := 1.0
			for j, other := range rows {
				if in[j] && other[2] == row[2] && (row[2] != "_" || j == i) {
					none *= 1 - risks[j]
				}
			}
			require.InDelta(t, 1-none, operatortest.Value(t, out[1+i], 5), 1e-12)
			sum += risks[i]
			together += 1 - none
		}
		s := report.Operators[0].Summary.(*individual.Summary)
		assert.InDelta(t, sum, s.Reidentified, 1e-9)
		assert.InDelta(t, together, s.Household.Reidentified, 1e-9)
	}
}

func TestAnonymityRefuses(t *testing.T) {
	mem := memory.DefaultAllocator
	source := operatortest.Lines(t, mem, 5, "A B S", "x 1 2", "x 2 2")
	for want, op := range map[string]operators.Operator{
		"k is 1":                kanonymity.Operator{Key: operatortest.Key("A"), Config: kanonymity.Config{K: 1}},
		`no column "Z"`:         ldiversity.Operator{Key: operatortest.Key("A"), Config: ldiversity.Config{Sensitive: []schemas.KeyVariable{{Name: "Z"}}}},
		`names "A" twice`:       ldiversity.Operator{Key: operatortest.Key("A"), Config: ldiversity.Config{Sensitive: []schemas.KeyVariable{{Name: "A"}}}},
		"nothing is said to be": ldiversity.Operator{Key: operatortest.Key("A")},
		"the missing-value policy": ldiversity.Operator{Key: operatortest.Key("A"), Config: ldiversity.Config{
			MeasureOptions: schemas.MeasureOptions{Missing: "wildcard"}, Sensitive: []schemas.KeyVariable{{Name: "S"}},
		}},
		"nothing is said of the":     individual.Operator{Key: operatortest.Key("A")},
		`there is no column "house"`: individual.Operator{Key: operatortest.Key("A"), Sampling: &schemas.Sampling{Fraction: .5}, Config: individual.Config{Household: "house"}},
		"a number":                   individual.Operator{Key: operatortest.Key("A"), Sampling: &schemas.Sampling{Weight: "B"}},
	} {
		_, err := operators.NewChain(source.Schema(), op)
		assert.ErrorContains(t, err, want)
	}
}
