package uniques

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func drawFile(t *rapid.T, most int) file {
	var f file
	f.cards = rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3, 5, 40}), 0, most).Draw(t, "cardinalities")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	missing := rapid.SampledFrom([]float64{0, .05, .4}).Draw(t, "missing")
	copies := rapid.Bool().Draw(t, "correlated")
	for range rapid.IntRange(0, 40).Draw(t, "rows") {
		row := make([]uint32, len(f.cards))
		for v, c := range f.cards {
			switch {
			case c == 0 || r.Float64() < missing:
				row[v] = uint32(c)
			case copies && v > 0 && v%2 == 1:
				row[v] = min(row[v-1], uint32(c))
			default:
				row[v] = uint32(r.IntN(c))
			}
		}
		f.rows = append(f.rows, row)
	}
	return f
}

func drawOptions(t *rapid.T, variables int) Options {
	o := Options{
		MaxSize:       rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(t, "max size"),
		Threshold:     rapid.SampledFrom([]int64{0, 0, 2, 3}).Draw(t, "threshold"),
		Score:         Score(rapid.IntRange(0, 3).Draw(t, "score")),
		Contributions: true,
		MSUs:          true,
		Workers:       rapid.IntRange(1, 3).Draw(t, "workers"),
	}
	if rapid.Bool().Draw(t, "policies") {
		for range variables {
			o.Policies = append(o.Policies, Policy(rapid.IntRange(0, 3).Draw(t, "policy")))
		}
	}
	return o
}

func TestSearchAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFile(rt, 6)
		o := drawOptions(rt, len(f.cards))
		table := f.table(t)
		r, err := Search(context.Background(), table, o)
		if err != nil {
			rt.Fatal(err)
		}
		checkAgainstBrute(rt, f, f.classes(t, table), r, o)
		o.Workers = 5
		other, err := Search(context.Background(), table, o)
		if err != nil {
			rt.Fatal(err)
		}
		if !sameBits(r, other) {
			rt.Fatal("the result depends on the number of workers")
		}
		for _, way := range []direction{upwards, downwards} {
			o.direction = way
			other, err := Search(context.Background(), table, o)
			if err != nil {
				rt.Fatal(err)
			}
			if !sameBits(r, other) {
				checkAgainstBrute(rt, f, f.classes(t, table), other, o)
				rt.Fatalf("the result depends on the direction of the search (%d)", way)
			}
		}
	})
}

// sameBits compares results to the bit; NaN equals NaN.
func sameBits(a, b *Result) bool {
	if !reflect.DeepEqual(a.msus, b.msus) || len(a.Share) != len(b.Share) {
		return false
	}
	for v := range a.Share {
		for i := range a.Share[v] {
			x, y := a.Share[v][i], b.Share[v][i]
			if x != y && (x == x || y == y) {
				return false
			}
		}
	}
	return reflect.DeepEqual(a.Score, b.Score) && reflect.DeepEqual(a.IS, b.IS) && reflect.DeepEqual(a.Count, b.Count) &&
		reflect.DeepEqual(a.MinSize, b.MinSize) && reflect.DeepEqual(a.Frequency, b.Frequency) &&
		a.FileScore == b.FileScore && a.FileIS == b.FileIS && reflect.DeepEqual(a.Variables, b.Variables) &&
		reflect.DeepEqual(a.Categories, b.Categories) && a.Uniques == b.Uniques && a.Doubles == b.Doubles
}
