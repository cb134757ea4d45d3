package uniques

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestWeights(t *testing.T) {
	cases := []struct {
		name             string
		score            Score
		variables, limit int
		want             []float64
	}{
		{"lattice", Lattice, 4, 4, []float64{15, 7. / 4, 3. / 6, 1. / 4, 0}},
		{"lattice keeps its weight under a limit", Lattice, 4, 2, []float64{15, 7. / 4, 3. / 6, 1. / 4, 0}},
		{"lattice-limited", LatticeLimited, 4, 2, []float64{10, 3. / 4, 0, 0, 0}},
		{"factorial", Factorial, 4, 4, []float64{24, 6, 2, 1, 1}},
		{"elliot-limited, ATT 4 and M 3 (Elliot et al. 2005)", ElliotLimited, 4, 3, []float64{24, 6, 2, 1, 1}},
		{"elliot-limited to 2", ElliotLimited, 4, 2, []float64{24, 6, 2, 1, 1}},
		{"elliot-limited, 6 variables to 2", ElliotLimited, 6, 2, []float64{120, 20, 4, 1, 1, 1, 1}},
		{"elliot-limited, no limit", ElliotLimited, 4, 4, []float64{24, 6, 2, 1, 1}},
		{"one variable", Lattice, 1, 1, []float64{1, 0}},
		{"no variable", Factorial, 0, 0, []float64{1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := weightsBySize(c.score, c.variables, c.limit)
			for s, want := range c.want {
				if !close12(got[s], want) {
					t.Errorf("size %d: %v, want %v", s, got[s], want)
				}
			}
		})
	}
	if w := weightsBySize(Factorial, 64, 64); w[0] != 1.2688693218588417e89 || w[43] != 51090942171709440000 {
		t.Errorf("64! = %v, 21! = %v", w[0], w[43])
	}
	if w := weightsBySize(Lattice, 64, 64); w[0] != 18446744073709551615 || !close12(w[1], 9223372036854775807./64) {
		t.Errorf("64 variables: %v %v", w[0], w[1])
	}
}

func TestDIS(t *testing.T) {
	cases := []struct {
		name    string
		pi      float64
		uniques int64
		doubles float64
		want    float64
	}{
		{"no sample uniques", .1, 0, 5, 0},
		{"nothing", .1, 0, 0, 0},
		{"no pairs", .1, 7, 0, 1},
		{"prasser, Test10", .01, 5, 3, .05 / (.05 + 2*.99*3)},
		{"half a pair", .5, 1, .5, .5},
		{"all sampled", 1, 3, 4, 1},
	}
	for _, c := range cases {
		if got := DIS(c.pi, c.uniques, c.doubles); !close12(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestPublishedDISIS is the vector of prasser/suda2's Test10: 4 variables, 5 sample uniques, 6 records in pairs, fraction .01.
func TestPublishedDISIS(t *testing.T) {
	r := &Result{IS: []float64{7, 1.75, 3.25, 1.75, 2.75, 0}, Count: []int32{1, 1, 1, 1, 1, 0}}
	got, err := DISIS(context.Background(), r, func(i int) int64 { return 1 }, 4, DIS(.01, 5, 3))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{.028038903, .005435918, .011357785, .005435918, .009313862} {
		if math.Abs(got[i]-want) > 1e-8 {
			t.Errorf("record %d: %v, want %v", i, got[i], want)
		}
	}
	if !math.IsNaN(got[5]) {
		t.Errorf("a record without MSU has DIS-IS %v", got[5])
	}
}

// TestDISISIdentity checks that the expected number of false matches is kept: sum (1/DIS-IS - 1) = U/D - U.
func TestDISISIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "records")
		variables := rapid.IntRange(1, 27).Draw(t, "variables")
		dis := rapid.Float64Range(.001, 1).Draw(t, "DIS")
		r := &Result{IS: make([]float64, n), Count: make([]int32, n)}
		u := 0.0
		for i := range n {
			if i == 0 || rapid.Bool().Draw(t, "unique") {
				r.IS[i] = rapid.Float64Range(1, 1e9).Draw(t, "IS")
				r.Count[i] = 1
				u++
			}
		}
		got, err := DISIS(context.Background(), r, func(int) int64 { return 1 }, variables, dis)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, x := range got {
			if (r.Count[i] == 0) != math.IsNaN(x) {
				t.Fatalf("record %d: DIS-IS %v", i, x)
			}
			if r.Count[i] > 0 {
				sum += 1/x - 1
			}
		}
		if want := u/dis - u; math.Abs(sum-want) > 1e-9*max(1, want) {
			t.Fatalf("sum of 1/DIS-IS - 1 is %v, want %v", sum, want)
		}
	})
}

func TestDISISErrors(t *testing.T) {
	r := &Result{IS: []float64{1}, Count: []int32{1}}
	one := func(int) int64 { return 1 }
	if _, err := DISIS(context.Background(), r, one, 28, .5); err == nil {
		t.Error("28 variables gave no error")
	}
	for _, dis := range []float64{math.NaN(), -1, 1.1} {
		if _, err := DISIS(context.Background(), r, one, 4, dis); err == nil {
			t.Errorf("DIS %v gave no error", dis)
		}
	}
}

// weightsBySize are the weights themselves.
func weightsBySize(score Score, variables, limit int) []float64 {
	w, scale := weights(score, variables, limit)
	for s := range w {
		w[s] /= scale
	}
	return w
}

// Sums of weights are exact: five sets of weight 0.3 and one of 0.1 are 1.6, in whatever order they are found.
func TestEqualScoresAreEqualToTheLastBit(t *testing.T) {
	for k := 1; k <= 20; k++ {
		w, scale := weights(Lattice, k, k)
		for s := range w {
			if w[s] != math.Trunc(w[s]) {
				t.Errorf("K = %d, s = %d: weight %v of scale %v is no whole number", k, s, w[s], scale)
			}
		}
	}
}

func TestDISISStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := DISIS(ctx, &Result{IS: []float64{1}, Count: []int32{1}}, func(int) int64 { return 1 }, 3, .5); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
