//go:build !nofigures

package figures

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/evaluate"
)

// population makes sample uniques with F and three scores, the first the best.
func population(n int) (match []float64, unique []bool, scores [3][]float64) {
	r := rand.New(rand.NewPCG(4, 4))
	match, unique = make([]float64, n), make([]bool, n)
	for k := range scores {
		scores[k] = make([]float64, n)
	}
	for i := range n {
		mean := math.Exp(1.6*r.NormFloat64() + 0.4)
		more := -math.Log(1-r.Float64()) * mean
		match[i] = 1 / (1 + math.Floor(more))
		unique[i] = more < 1
		for k, noise := range []float64{0.3, 1, 2} {
			scores[k][i] = 1 / (1 + mean*math.Exp(noise*r.NormFloat64()))
		}
		scores[2][i] = math.Round(scores[2][i] * 12)
	}
	return match, unique, scores
}

var names = [3]string{"MC3, model averaged", "DIS-IS", "SUDA"}

// crowded has more lines than a legend has room for, of many kinds.
func crowded() *Figure {
	f := &Figure{Title: "Thirty lines", X: "x (m)", Y: "Pr <&> \"y\" (logit scale)", LogitY: true}
	for k := range 30 {
		l := Line{Name: fmt.Sprintf("line %d", k+1), Points: k%5 == 4, Marked: k%2 == 1}
		for i := range 8 {
			l.X, l.Y = append(l.X, float64(i)-3), append(l.Y, share(float64(i)/2+float64(k)/2-10))
		}
		f.Lines = append(f.Lines, l)
	}
	return f
}

// pictures are one of each chart, and some by hand.
func pictures(t testing.TB) map[string]*Figure {
	match, unique, scores := population(8000)
	var curves []Curve
	var calibrations []Reliability
	var ranks []RankCurve
	for k, score := range scores {
		roc, err := evaluate.NewROC(score, unique)
		require.NoError(t, err)
		curves = append(curves, Curve{names[k], roc})
		rank, err := evaluate.NewLogitRank(context.Background(), score, unique, 0, 0)
		require.NoError(t, err)
		ranks = append(ranks, RankCurve{names[k], rank})
		if k < 2 {
			bins, err := evaluate.Calibrate(score, match, 0)
			require.NoError(t, err)
			calibrations = append(calibrations, Reliability{names[k], bins})
		}
	}
	scatter, err := Match("sample uniques", scores[1], match)
	require.NoError(t, err)
	fractions := []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}
	var strategies []Strategy
	for k, name := range []string{"1 all classes", "2 any person", "3 f at most 2", "4 sample uniques", "5 sample uniques, from a person", "6 doubles", "7 " +
		"doubles, from a person"} {
		s := Strategy{Name: name, Fraction: fractions}
		for _, fraction := range fractions {
			s.Correct = append(s.Correct, min(1, (0.15+0.07*float64(k))*math.Pow(fraction/0.01, 0.12+0.05*float64(k%3))))
		}
		if k == 3 {
			for _, c := range s.Correct {
				s.Low, s.High = append(s.Low, c-0.03), append(s.High, c+0.03)
			}
		}
		strategies = append(strategies, s)
	}
	var band Line
	band.Name = "mean of 20 samples"
	for i := range 100 {
		x := float64(i) / 10
		band.X = append(band.X, x)
		y := 2000*math.Sin(x) + 30000
		if i > 60 && i < 66 {
			y = math.NaN()
		}
		band.Y, band.Low, band.High = append(band.Y, y), append(band.Low, y-400-60*x), append(band.High, y+400+60*x)
	}
	return map[string]*Figure{
		"roc":            ROC(curves),
		"calibration":    Calibration("Pr(correct match)", calibrations),
		"logitrank":      LogitRank(ranks),
		"match":          scatter,
		"strategies":     Strategies(strategies, false),
		"strategies-log": Strategies(strategies, true),
		"band": {Title: "A band with a gap", X: "Time (s)", Y: "Rows (1/s)", Lines: []Line{band,
			{
				Name: "limit",
				X:    []float64{0, 10},
				Y:    []float64{31000, 31000},
			}, {Name: "samples", X: []float64{1, 3, 5, 7}, Y: []float64{30500, 31500, 29000, 30200}, Points: true}}},
		"crowded": crowded(),
		"narrow": {
			Title:    strings.Repeat("A very long title ", 20),
			Subtitle: strings.Repeat("and a subtitle ", 40),
			X:        strings.Repeat("long x ", 40),
			Y:        strings.Repeat("long y ", 40),
			Lines: []Line{
				{
					Name:   strings.Repeat("a very long name ", 30),
					X:      []float64{1e6 + 0.001, 1e6 + 0.002, 1e6 + 0.004},
					Y:      []float64{-1e-9, 2e-9, 3e-9},
					Marked: true,
				},
			},
		},
		"decades": {
			Title:    "Many decades",
			X:        "x",
			Y:        "y",
			LogX:     true,
			LogY:     true,
			Diagonal: true,
			Lines:    []Line{{Name: "a", X: []float64{1e-9, 1, 1e12}, Y: []float64{1e-200, 1, 1e200}}},
		},
		"empty": {Title: "Nothing", X: "x", Y: "y", Lines: []Line{{Name: "none"}}},
	}
}
