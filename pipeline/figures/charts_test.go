//go:build !nofigures

package figures

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"

	"microrisk/engine/evaluate"
)

// Charts of nothing, of one class, of scores that are separated, are drawn.
func TestDegenerateCharts(t *testing.T) {
	match, err := Match("none", nil, nil)
	require.NoError(t, err)
	one, err := Match("one", []float64{0.5, math.NaN(), 0}, []float64{1, 1, 1})
	require.NoError(t, err)
	level, err := Match("level", []float64{0.5, 0.5, 0.5}, []float64{1, 1, 0.5})
	require.NoError(t, err)
	roc, err := evaluate.NewROC([]float64{1, 2}, []bool{true, true})
	require.NoError(t, err)
	rank, err := evaluate.NewLogitRank(context.Background(), []float64{1, 2}, []bool{false, true}, 0, 0)
	require.NoError(t, err)
	bins, err := evaluate.Calibrate([]float64{0, 0.5}, []float64{0, 1}, 0)
	require.NoError(t, err)
	charts := []*Figure{
		match,
		one,
		level,
		ROC(nil),
		ROC([]Curve{{"one class", roc}, {"none", nil}}),
		LogitRank(nil),
		LogitRank([]RankCurve{{"separated", rank}, {"none", nil}}),
		Calibration("Pr(population unique)", nil),
		Calibration("1/F", []Reliability{{"one record a bin", bins}, {Name: "none"}}),
		Strategies(nil, true),
		Strategies([]Strategy{{Name: "none"}, {Name: "one", Fraction: []float64{0.01}, Correct: []float64{0}}}, false),
	}
	for _, f := range charts {
		picture, err := f.SVG()
		require.NoError(t, err, f.Title)
		assert.NotContains(t, string(picture), "NaN", f.Title)
	}
	raster, err := level.PNG()
	require.NoError(t, err)
	checkPNG(t, raster)
	_, err = Match("lengths", []float64{1}, nil)
	assert.Error(t, err)
}

// What the charts show of the numbers.
func TestCharts(t *testing.T) {
	drawn := pictures(t)
	area := drawn["roc"].Lines[0]
	assert.Equal(t, []float64{0, 0}, []float64{area.X[0], area.Y[0]})
	assert.Regexp(t, `^MC3, model averaged  0\.8\d\d$`, area.Name)
	rank := drawn["logitrank"].Lines[0]
	assert.Len(t, rank.X, evaluate.DefaultPoints)
	assert.InDelta(t, 0.01, rank.X[0], 1e-12)
	assert.InDelta(t, 0.99, rank.X[98], 1e-12)
	assert.Regexp(t, `^MC3, model averaged  1\.\d\d$`, rank.Name)
	for i, l := range drawn["calibration"].Lines {
		assert.Len(t, l.X, evaluate.DefaultBins, "score %d", i)
		for k := range l.Y {
			assert.True(t, l.Low[k] <= l.Y[k] && l.Y[k] <= l.High[k] && l.Low[k] >= 0 && l.High[k] <= 1)
		}
	}
	assert.Equal(t, []float64{0.5, 1, 2, 5, 10, 20, 50, 100}, drawn["strategies"].Lines[0].X)
}

// Thinning keeps at most 5,000 points, and does not depend on the order of the records; neither does the smooth.
func TestMatchThins(t *testing.T) {
	match, _, scores := population(12_345)
	f, err := Match("all", scores[0], match)
	require.NoError(t, err)
	assert.Len(t, f.Lines[0].X, 5000)
	assert.True(t, slices.IsSorted(f.Lines[0].X))
	slices.Reverse(scores[0])
	slices.Reverse(match)
	turned, err := Match("all", scores[0], match)
	require.NoError(t, err)
	assert.Equal(t, f, turned)

	few, err := Match("few", scores[0][:40], match[:40])
	require.NoError(t, err)
	want := slices.Sorted(slices.Values(scores[0][:40]))
	assert.InDeltaSlice(t, want, few.Lines[0].X, 1e-12)
}

func TestTicks(t *testing.T) {
	cases := []struct {
		name     string
		kind     int
		min, max float64
		labels   string
	}{
		{"shares", linear, 0, 1, "0 0.2 0.4 0.6 0.8 1.0"},
		{"negative", linear, -3.5, 4, "−2 0 2 4"},
		{"thousands", linear, 27000, 33000, "27,000 28,000 29,000 30,000 31,000 32,000 33,000"},
		{"millions", linear, 0, 2.5e6, "0 500,000 1,000,000 1,500,000 2,000,000 2,500,000"},
		{"large", linear, -1e100, 1e100, "−1e100 −5e99 0 5e99 1e100"},
		{"small", linear, 0, 3e-9, "0 5e-10 1e-9 1.5e-9 2e-9 2.5e-9 3e-9"},
		{"close", linear, 1, 1 + 4e-8, "1 1.00000001 1.00000002 1.00000003 1.00000004"},
		{"percent", logarithmic, math.Log10(0.5), 2, "0.5 1 2 5 10 20 50 100"},
		{"decades", logarithmic, -4, 4, "0.0001 0.001 0.01 0.1 1 10 100 1,000 10,000"},
		{"many decades", logarithmic, -9, 12, "1e-9 1e-6 1e-3 1 1e3 1e6 1e9 1e12"},
		{"very many decades", logarithmic, -300, 300, "1e-300 1e-200 1e-100 1 1e100 1e200 1e300"},
		{"part of a decade", logarithmic, math.Log10(0.31), math.Log10(0.42), "0.32 0.34 0.36 0.38 0.40 0.42"},
		{"rank shares", logit, -4.6, 4.6, "0.01 0.02 0.05 0.1 0.2 0.5 0.8 0.9 0.95 0.98 0.99"},
		{"small shares", logit, -30, -2, "1e-13 1e-12 1e-11 1e-10 1e-9 1e-8 1e-7 1e-6 0.00001 0.0001 0.001 0.01 0.1"},
		{"part of the shares", logit, 0.1, 0.3, "0.53 0.54 0.55 0.56 0.57"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := &scale{kind: c.kind, min: c.min, max: c.max}
			marks := s.ticks(600, 44)
			var labels []string
			slices.SortStableFunc(marks, func(a, b plot.Tick) int { return int(math.Copysign(1, a.Value-b.Value)) })
			for _, m := range marks {
				assert.True(t, m.Value >= c.min && m.Value <= c.max)
				if m.Label != "" {
					labels = append(labels, m.Label)
				}
			}
			assert.Equal(t, c.labels, strings.Join(labels, " "))
		})
	}
}
