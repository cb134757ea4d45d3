package bayes

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/graph"
)

// bigLog is the natural logarithm of a positive number.
func bigLog(x *big.Float) float64 {
	mantissa := new(big.Float)
	e := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log(m) + float64(e)*math.Ln2
}

// bigRise is log rise(alpha/product of levels, n) by multiplication of 300-bit numbers.
func bigRise(alpha float64, levels []int, n int64) float64 {
	lambda := new(big.Float).SetPrec(300).SetFloat64(alpha)
	for _, l := range levels {
		lambda.Quo(lambda, new(big.Float).SetPrec(300).SetInt64(int64(l)))
	}
	product := new(big.Float).SetPrec(300).SetInt64(1)
	for j := range n {
		f := new(big.Float).SetPrec(300).SetInt64(j)
		product.Mul(product, f.Add(f, lambda))
	}
	return bigLog(product)
}

func levelSeq(levels []int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for _, l := range levels {
			if !yield(l) {
				return
			}
		}
	}
}

func TestRise(t *testing.T) {
	many := make([]int, 64)
	for i := range many {
		many[i] = 100_000 // 10^320 cells
	}
	for _, levels := range [][]int{nil, {2, 3}, {7, 7, 7, 7, 52, 9}, many[:40], many[:60], many} {
		for _, alpha := range []float64{1e-300, 1e-8, 0.02, 1, 3.7, 15.99, 16, 50, 1e4, 1e8, 1e15, 1e40, 1e200} {
			r := newRise(alpha, levelSeq(levels))
			f := factorials{rise: &r, next: 1, product: 1}
			for _, n := range []int64{0, 1, 2, 3, 5, 17, 63, 64, 65, 66, 100, 1000, 4761} {
				want := bigRise(alpha, levels, n)
				scale := math.Max(math.Abs(want), math.Abs(r.logLambda))
				require.InDelta(t, want, r.log(n), 1e-13*math.Max(1, scale), "%v %g %d", levels, alpha, n)
				if n > 0 && r.byProduct(n) {
					require.InDelta(t, want, f.log(n), 1e-13*math.Max(1, scale))
				}
			}
		}
	}
	for _, lambda := range []float64{1e-5, 1, 15.9, 16.1, 1e6} {
		r := newRise(lambda, nil)
		require.InEpsilon(t, bigRise(lambda, nil, 300_000), r.log(300_000), 1e-13)
	}
}

// oracle is log p(C) by the predictive probabilities of the records one after another, in exact arithmetic.
func oracle(d *Data, alpha int64, c graph.Set) float64 {
	cells := big.NewRat(1, 1)
	for v := range c.Vertices() {
		cells.Mul(cells, big.NewRat(int64(d.Levels[v]), 1))
	}
	lambda := new(big.Rat).Quo(big.NewRat(alpha, 1), cells)
	seen := map[string]int64{}
	total := int64(0)
	p := big.NewRat(1, 1)
	for i, n := range d.Counts {
		key := []byte{}
		for v := range c.Vertices() {
			key = append(key, byte(d.Codes[v][i]), byte(d.Codes[v][i]>>8))
		}
		for range n {
			top := new(big.Rat).Add(lambda, big.NewRat(seen[string(key)], 1))
			p.Mul(p, top.Quo(top, big.NewRat(alpha+total, 1)))
			seen[string(key)]++
			total++
		}
	}
	return bigLog(new(big.Float).SetPrec(200).SetRat(p))
}

// skewed makes data of k variables with some dependence, n records drawn with a few common and many rare values.
func skewed(k, n int, most int, seed uint64) *Data {
	rng := rand.New(rand.NewPCG(seed, 7))
	d := &Data{Levels: make([]int, k), Codes: make([][]uint32, k)}
	for v := range k {
		d.Levels[v] = 2 + rng.IntN(most-1)
	}
	at := map[string]int{}
	row := make([]uint32, k)
	for range n {
		key := make([]byte, 0, 4*k)
		kind := rng.Float64()
		for v := range k {
			u := math.Pow(rng.Float64(), 3)
			if v > 0 && rng.IntN(2) == 0 {
				u = float64(row[rng.IntN(v)]) / float64(most) * kind
			}
			row[v] = min(uint32(u*float64(d.Levels[v])), uint32(d.Levels[v]-1))
			key = append(key, byte(row[v]), byte(row[v]>>8))
		}
		i, ok := at[string(key)]
		if !ok {
			i = len(d.Counts)
			at[string(key)] = i
			d.Counts = append(d.Counts, 0)
			for v := range k {
				d.Codes[v] = append(d.Codes[v], row[v])
			}
		}
		d.Counts[i]++
		d.Records++
	}
	return d
}

func newTestScores(t testing.TB, d *Data, alpha float64) *Scores {
	s, err := NewScores(d, alpha)
	require.NoError(t, err)
	return s
}

func TestLogMatchesPredictiveProbabilities(t *testing.T) {
	for seed := range uint64(4) {
		d := skewed(4, 150, 6, seed)
		for _, alpha := range []int64{1, 50} {
			s := newTestScores(t, d, float64(alpha))
			for c := range graph.Set(1 << 4) {
				require.InEpsilon(t, 1+math.Abs(oracle(d, alpha, c)), 1+math.Abs(s.Log(c)), 1e-12)
			}
			require.EqualValues(t, 15, s.Margins())
		}
	}
}

// Whatever the order of queries, the memory for margins and the number of workers, scores are the same bits.
func TestSubsetsAndLogAgreeToTheBit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		k := rapid.IntRange(0, 7).Draw(r, "k")
		n := rapid.SampledFrom([]int{0, 1, 2, 30, 1000, 3000}).Draw(r, "n")
		d := skewed(k, n, rapid.SampledFrom([]int{2, 3, 9, 60}).Draw(r, "levels"), rapid.Uint64Range(0, 1000).Draw(r, "seed"))
		if k > 0 && rapid.Bool().Draw(r, "wide") {
			d.Levels[0] = 1 << 31 // keys of two wide variables pass 64 bits
			d.Levels[k-1] = 1 << 32
		}
		if len(d.Counts) > 0 && rapid.Bool().Draw(r, "large counts") {
			d.Records += 1<<40 - d.Counts[0]
			d.Counts[0] = 1 << 40
		}
		alpha := rapid.SampledFrom([]float64{1e-6, 1, 64, 1e6}).Draw(r, "alpha")
		all, err := newTestScores(t, d, alpha).Subsets(context.Background(), 1)
		require.NoError(t, err)
		two, err := newTestScores(t, d, alpha).Subsets(context.Background(), 3)
		require.NoError(t, err)
		require.Equal(t, all, two)
		a, b := newTestScores(t, d, alpha), newTestScores(t, d, alpha)
		b.cached.limit = 0
		for c := range all {
			require.Equal(t, all[c], a.Log(graph.Set(c)))
			down := len(all) - 1 - c
			require.Equal(t, all[down], b.Log(graph.Set(down)))
		}
		if k > 0 {
			require.Equal(t, all[len(all)-1], newTestScores(t, d, alpha).Log(graph.First(k)))
		}
	})
}

func TestManyVariables(t *testing.T) {
	d := skewed(64, 500, 50, 3)
	s, other := newTestScores(t, d, 1), newTestScores(t, d, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	var sets []graph.Set
	for range 200 {
		sets = append(sets, graph.Set(rng.Uint64()&rng.Uint64()))
	}
	sets = append(sets, ^graph.Set(0), 1<<63, 3<<62)
	var running sync.WaitGroup
	for w := range 4 {
		running.Go(func() {
			for i := range sets {
				s.Log(sets[(i*(w+1))%len(sets)])
			}
		})
	}
	running.Wait()
	for i := len(sets) - 1; i >= 0; i-- {
		require.Equal(t, s.Log(sets[i]), other.Log(sets[i]))
		require.False(t, math.IsNaN(s.Log(sets[i])) || math.IsInf(s.Log(sets[i]), 0))
	}
	require.Equal(t, s.Margins(), other.Margins())
	_, err := s.Subsets(context.Background(), 1)
	require.ErrorContains(t, err, "the most is 24")
}

func TestGraph(t *testing.T) {
	d := skewed(5, 300, 4, 9)
	s := newTestScores(t, d, 1)
	independent := 0.0
	for v := range 5 {
		independent += s.Log(graph.Of(v))
	}
	require.InDelta(t, independent, s.Graph(graph.New(5)), 1e-9)
	require.InDelta(t, s.Log(graph.First(5)), s.Graph(graph.Complete(5)), 1e-9)
	g := graph.FromEdges(5, [][2]int{{0, 1}, {1, 2}, {0, 2}, {2, 3}, {1, 3}})
	want := s.Log(graph.Of(0, 1, 2)) + s.Log(graph.Of(1, 2, 3)) - s.Log(graph.Of(1, 2)) + s.Log(graph.Of(4))
	require.InDelta(t, want, s.Graph(g), 1e-9)
	require.Zero(t, newTestScores(t, &Data{}, 1).Graph(graph.New(0)))
}

func TestRefusals(t *testing.T) {
	good := func() *Data {
		return &Data{Levels: []int{2, 3}, Codes: [][]uint32{{0, 1}, {2, 0}}, Counts: []int64{1, 2}, Records: 3}
	}
	for _, alpha := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := NewScores(good(), alpha)
		require.ErrorContains(t, err, "must be a number above 0")
	}
	for want, spoil := range map[string]func(d *Data){
		"code 5":           func(d *Data) { d.Codes[1][0] = 5 },
		"levels of 2":      func(d *Data) { d.Codes = d.Codes[:1] },
		"count of cell 1":  func(d *Data) { d.Counts[1] = 0 },
		"codes for 2":      func(d *Data) { d.Codes[0] = d.Codes[0][:1] },
		"add up to 3":      func(d *Data) { d.Records = 4 },
		"0 levels":         func(d *Data) { d.Levels[0] = 0 },
		"most 64 variable": func(d *Data) { d.Levels = make([]int, 65) },
	} {
		d := good()
		spoil(d)
		_, err := NewScores(d, 1)
		require.ErrorContains(t, err, want)
	}
	s := newTestScores(t, good(), 1)
	require.Panics(t, func() { s.Log(4) })
	require.Panics(t, func() { s.Graph(graph.New(3)) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Subsets(ctx, 1)
	require.ErrorIs(t, err, context.Canceled)
}

func TestSubsetsAreStopped(t *testing.T) {
	d := skewed(20, 20_000, 30, 2)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := newTestScores(t, d, 1).Subsets(ctx, 2)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestSubsetsBytes(t *testing.T) {
	s := newTestScores(t, skewed(10, 2000, 9, 2), 1)
	require.Greater(t, s.SubsetsBytes(1), int64(8<<10))
	require.Greater(t, s.SubsetsBytes(4), s.SubsetsBytes(1))
}
