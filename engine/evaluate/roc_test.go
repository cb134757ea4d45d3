package evaluate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawScored makes records with many ties.
func drawScored(t *rapid.T, least, most int) ([]float64, []bool) {
	n := rapid.IntRange(least, most).Draw(t, "n")
	values := rapid.IntRange(1, 2*most).Draw(t, "values")
	score, truth := make([]float64, n), make([]bool, n)
	for i := range score {
		score[i] = float64(rapid.IntRange(-values, values).Draw(t, "score")) / 4
		truth[i] = rapid.Bool().Draw(t, "truth")
	}
	return score, truth
}

// area is the Mann-Whitney statistic: all pairs of a true and a false record.
func area(score []float64, truth []bool) float64 {
	pairs, right := 0.0, 0.0
	for i := range score {
		for j := range score {
			if truth[i] && !truth[j] {
				pairs++
				switch {
				case score[i] > score[j]:
					right++
				case score[i] == score[j]:
					right += 0.5
				}
			}
		}
	}
	return right / pairs
}

func TestROC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score, truth := drawScored(t, 0, 30)
		r, err := NewROC(score, truth)
		require.NoError(t, err)
		want := area(score, truth)
		if math.IsNaN(want) {
			assert.True(t, math.IsNaN(r.Area))
			assert.Empty(t, r.FalsePositive)
			assert.Empty(t, r.TruePositive)
			return
		}
		assert.InDelta(t, want, r.Area, 1e-12)
		last := len(r.FalsePositive) - 1
		require.Len(t, r.TruePositive, last+1)
		assert.Equal(t, [4]float64{0, 0, 1, 1}, [4]float64{r.FalsePositive[0], r.TruePositive[0], r.FalsePositive[last], r.TruePositive[last]})
		trapezoids := 0.0
		for i := range last {
			assert.GreaterOrEqual(t, r.FalsePositive[i+1], r.FalsePositive[i])
			assert.GreaterOrEqual(t, r.TruePositive[i+1], r.TruePositive[i])
			trapezoids += (r.FalsePositive[i+1] - r.FalsePositive[i]) * (r.TruePositive[i+1] + r.TruePositive[i]) / 2
		}
		assert.InDelta(t, want, trapezoids, 1e-12)

		// Each threshold's point is on the curve.
		for _, threshold := range score {
			var above, all [2]float64
			for i, s := range score {
				k := 0
				if truth[i] {
					k = 1
				}
				all[k]++
				if s >= threshold {
					above[k]++
				}
			}
			assert.True(t, onCurve(r, above[0]/all[0], above[1]/all[1]), "threshold %v", threshold)
		}

		same, err := NewROC(increase(score), truth)
		require.NoError(t, err)
		assert.Equal(t, r, same)
	})
}

func onCurve(r *ROC, x, y float64) bool {
	for i := 1; i < len(r.FalsePositive); i++ {
		x0, y0, x1, y1 := r.FalsePositive[i-1], r.TruePositive[i-1], r.FalsePositive[i], r.TruePositive[i]
		if x >= x0 && x <= x1 && y >= y0 && y <= y1 && math.Abs((x-x0)*(y1-y0)-(y-y0)*(x1-x0)) < 1e-12 {
			return true
		}
	}
	return false
}

// increase is a strictly increasing transformation.
func increase(score []float64) []float64 {
	other := make([]float64, len(score))
	for i, s := range score {
		other[i] = math.Exp(s/8) - 7
	}
	return other
}

func TestROCCases(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	cases := []struct {
		name  string
		score []float64
		truth []bool
		area  float64
		x, y  []float64
	}{
		{"perfect", []float64{1, 2, 3, 4}, []bool{false, false, true, true}, 1, []float64{0, 0, 1}, []float64{0, 1, 1}},
		{"reversed", []float64{4, 3, 2, 1}, []bool{false, false, true, true}, 0, []float64{0, 1, 1}, []float64{0, 0, 1}},
		{"all tied", []float64{2, 2, 2}, []bool{true, false, true}, 0.5, []float64{0, 1}, []float64{0, 1}},
		{"infinite", []float64{-inf, inf, 0}, []bool{false, true, false}, 1, []float64{0, 0, 1}, []float64{0, 1, 1}},
		{"zeros of both signs", []float64{0, math.Copysign(0, -1)}, []bool{true, false}, 0.5, []float64{0, 1}, []float64{0, 1}},
		{"two diagonals", []float64{1, 1, 2, 2}, []bool{true, false, true, false}, 0.5, []float64{0, 0.5, 1}, []float64{0, 0.5, 1}},
		{"only true", []float64{1, 2}, []bool{true, true}, nan, nil, nil},
		{"only false", []float64{1, 2}, []bool{false, false}, nan, nil, nil},
		{"empty", nil, nil, nan, nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, err := NewROC(c.score, c.truth)
			require.NoError(t, err)
			if math.IsNaN(c.area) {
				assert.True(t, math.IsNaN(r.Area))
			} else {
				assert.Equal(t, c.area, r.Area)
			}
			assert.Equal(t, c.x, r.FalsePositive)
			assert.Equal(t, c.y, r.TruePositive)
		})
	}
	_, err := NewROC([]float64{1, nan}, []bool{true, false})
	assert.ErrorContains(t, err, "record 1 has no score")
	_, err = NewROC([]float64{1}, nil)
	assert.ErrorContains(t, err, "1 scores, but the truth of 0 records")
}

// The expected share over all orders of tied records, by taking each record with the chance that it is among the first m.
func TestPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score, truth := drawScored(t, 1, 20)
		top := make([]int, len(score))
		for i := range top {
			top[i] = len(score) - i
		}
		got := Precision(score, truth, top)
		for k, m := range top {
			want := 0.0
			for i := range score {
				above, level := 0, 0
				for j := range score {
					if score[j] > score[i] {
						above++
					} else if score[j] == score[i] {
						level++
					}
				}
				if truth[i] {
					want += min(max(float64(m-above)/float64(level), 0), 1)
				}
			}
			assert.InDelta(t, want/float64(m), got[k], 1e-12, "top %d", m)
		}
		assert.Equal(t, got, Precision(increase(score), truth, top))
	})
}

func TestPrecisionUndefined(t *testing.T) {
	for _, share := range Precision([]float64{1, 2}, []bool{true, false}, []int{0, -1, 3}) {
		assert.True(t, math.IsNaN(share))
	}
	assert.True(t, math.IsNaN(Precision([]float64{math.NaN()}, []bool{true}, []int{1})[0]))
	assert.True(t, math.IsNaN(Precision([]float64{1, 2}, []bool{true}, []int{1})[0]))
	assert.Empty(t, Precision(nil, nil, nil))
	assert.Equal(t, []float64{0, 0.5}, Precision([]float64{1, 2}, []bool{true, false}, []int{1, 2}))
}

func TestComparison(t *testing.T) {
	nan := math.NaN()
	c := Paired([]float64{3, nan, 5, 7, 9}, []float64{1, 1, nan, 4, 5, 6})
	assert.Equal(t, 3, c.N)
	assert.InDelta(t, 3, c.Mean, 1e-15)
	assert.InDelta(t, 1/math.Sqrt(3), c.SE, 1e-15) // differences 2, 3, 4: variance 1
	c = Paired([]float64{2}, []float64{1})
	assert.Equal(t, 1.0, c.Mean)
	assert.True(t, math.IsNaN(c.SE))
	c = Mean(nil)
	assert.Equal(t, 0, c.N)
	assert.True(t, math.IsNaN(c.Mean) && math.IsNaN(c.SE))
	assert.Equal(t, Comparison{Mean: 2, SE: 0, N: 2}, Mean([]float64{2, nan, 2}))
}
