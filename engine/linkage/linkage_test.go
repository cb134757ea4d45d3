package linkage

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/engine/perturb"
)

// A drawn problem has its population: people by cell of all variables.
type drawn struct {
	Problem
	cells []int64
}

func draw(r *rand.Rand) *drawn {
	d := &drawn{Problem: Problem{Levels: []int{2, 1 + r.IntN(3), 1 + r.IntN(2)}}}
	size := d.Levels[0] * d.Levels[1] * d.Levels[2]
	d.cells = make([]int64, size)
	d.People = 2 + r.Int64N(6)
	for range d.People {
		d.cells[r.IntN(size)]++
	}
	d.Overlap = [][]int{{0}, {1}, {0, 1}, {1, 2}}[r.IntN(4)]
	subset := func(least []int) (list []int) {
		for v := range 3 {
			if slices.Contains(least, v) || r.IntN(2) == 0 {
				list = append(list, v)
			}
		}
		return list
	}
	first := subset(d.Overlap)
	second := slices.DeleteFunc(subset(d.Overlap), func(v int) bool { return slices.Contains(first, v) && !slices.Contains(d.Overlap, v) })
	for _, variables := range [][]int{first, second} {
		d.Samples = append(d.Samples, d.counts(variables, d.sampled(r)))
	}
	for range r.IntN(3) {
		t := Table{Name: "table", Kernel: perturb.None()}
		least := d.Overlap
		if r.IntN(2) == 0 {
			least = nil
		}
		variables := subset(least)
		if t.Sample = r.IntN(4) == 0; t.Sample {
			t.Counts = d.counts(variables, d.sampled(r))
		} else {
			t.Counts = d.counts(variables, d.cells)
			if r.IntN(3) > 0 {
				t.Kernel, _ = perturb.Random(2 + r.Int64N(2))
			}
			for i, n := range t.Count {
				t.Count[i] = perturb.Draw(t.Kernel, n, r.Float64())
			}
		}
		d.Tables = append(d.Tables, t)
	}
	return d
}

// sampled draws some of the people.
func (d *drawn) sampled(r *rand.Rand) []int64 {
	out := make([]int64, len(d.cells))
	for i, n := range d.cells {
		for range n {
			out[i] += r.Int64N(2)
		}
	}
	return out
}

// of is the category of a cell of all variables.
func (d *drawn) of(cell, v int) uint32 {
	for w := 2; w > v; w-- {
		cell /= d.Levels[w]
	}
	return uint32(cell % d.Levels[v])
}

func (d *drawn) key(cell int, over []int) string {
	b := ""
	for _, v := range over {
		b += string(rune('0' + d.of(cell, v)))
	}
	return b
}

// counts are a margin, empty cells included or not.
func (d *drawn) counts(over []int, cells []int64) Counts {
	c := Counts{Variables: over, Codes: make([][]uint32, len(over))}
	at := map[string]int{}
	for cell, n := range cells {
		k := d.key(cell, over)
		i, ok := at[k]
		if !ok {
			if n == 0 && d.People%2 == 0 {
				continue // not listed unless another cell has somebody
			}
			i = len(c.Count)
			at[k] = i
			c.Count = append(c.Count, 0)
			for j, v := range over {
				c.Codes[j] = append(c.Codes[j], d.of(cell, v))
			}
		}
		c.Count[i] += n
	}
	return c
}

// agrees tells whether a population can have given all samples and tables.
func (d *drawn) agrees(cells []int64) bool {
	check := func(c *Counts, ok func(seen, count int64) bool, all bool) bool {
		sums, seen := map[string]int64{}, map[string]int64{}
		for cell, n := range cells {
			sums[d.key(cell, c.Variables)] += n
		}
		for i, n := range c.Count {
			k := ""
			for j := range c.Variables {
				k += string(rune('0' + c.Codes[j][i]))
			}
			seen[k] += n
		}
		for k, n := range sums {
			if s, listed := seen[k]; (listed || all) && !ok(s, n) {
				return false
			}
		}
		return true
	}
	atLeast := func(seen, count int64) bool { return count >= seen }
	for i := range d.Samples {
		if !check(&d.Samples[i], atLeast, false) {
			return false
		}
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		ok := atLeast
		if !t.Sample {
			ok = func(seen, count int64) bool {
				low, high, _ := t.Kernel.Bounds(seen)
				return low <= count && count <= high
			}
		}
		if !check(&t.Counts, ok, !t.Sample) {
			return false
		}
	}
	return true
}

// compositions goes through all ways to put people into cells.
func compositions(cells []int64, people int64, from int, yield func()) {
	if from == len(cells)-1 {
		cells[from] = people
		yield()
		return
	}
	for n := range people + 1 {
		cells[from] = n
		compositions(cells, people-n, from+1, yield)
	}
}

// Tight bounds are those of all populations that agree with what is known; naive ones hold them.
func TestBoundsAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 4))
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	narrower := 0
	for range rounds {
		d := draw(r)
		naive, err := d.Link(t.Context())
		require.NoError(t, err)
		d.Tight = true
		tight, err := d.Link(t.Context())
		require.NoError(t, err)
		require.Len(t, tight, len(naive))
		low, high := make([]int64, len(naive)), make([]int64, len(naive))
		for i := range low {
			low[i] = math.MaxInt64
		}
		other := make([]int64, len(d.cells))
		compositions(other, d.People, 0, func() {
			if !d.agrees(other) {
				return
			}
			sums := map[string]int64{}
			for cell, n := range other {
				sums[d.key(cell, d.Overlap)] += n
			}
			for i, m := range naive {
				k := ""
				for _, c := range m.Codes {
					k += string(rune('0' + c))
				}
				low[i], high[i] = min(low[i], sums[k]), max(high[i], sums[k])
			}
		})
		for i, m := range tight {
			require.Equal(t, [2]int64{low[i], high[i]}, [2]int64{m.Low, m.High}, "%+v class %v", d.Problem, m.Codes)
			require.LessOrEqual(t, naive[i].Low, m.Low)
			require.GreaterOrEqual(t, naive[i].High, m.High)
			if naive[i].Low < m.Low || naive[i].High > m.High {
				narrower++
			}
			require.LessOrEqual(t, m.Correct, 1/float64(m.Low)+1e-12)
			require.GreaterOrEqual(t, m.Correct, 1/float64(m.High)-1e-12)
			require.GreaterOrEqual(t, m.Correct, 1/m.Mean-1e-12, "Jensen")
		}
	}
	require.Positive(t, narrower)
}

// The posterior against exact fractions of hypergeometric probabilities, for populations so large that it is cut off.
func TestPosteriorAgainstFractions(t *testing.T) {
	p := &Problem{People: 20_000, Overlap: []int{0}, Levels: []int{2}}
	for _, facts := range [][]fact{
		{{records: 400, count: 1}, {records: 600, count: 1}},
		{{records: 900, count: 3}, {records: 700, count: 1}},
	} {
		low, high := facts[0].count, p.People-facts[0].records
		post, err := p.posterior(low, high, facts)
		require.NoError(t, err)
		require.Less(t, len(post.p), 15_000)
		sum, mean, match := new(big.Float), new(big.Float), new(big.Float)
		for f := low; f < low+1200; f++ { // what is beyond has a probability of less than 1e-20
			x := big.NewFloat(1).SetPrec(200)
			for _, s := range facts {
				// C(F, f) C(N-F, n-f), the second as a product of ratios to C(N-low, n-f)
				x.Mul(x, new(big.Float).SetInt(new(big.Int).Binomial(f, s.count)))
				for g := low; g < f; g++ {
					rest := p.People - g
					x.Mul(x, new(big.Float).SetPrec(200).Quo(big.NewFloat(float64(rest-s.records+s.count)), big.NewFloat(float64(rest))))
				}
			}
			sum.Add(sum, x)
			mean.Add(mean, new(big.Float).Mul(x, big.NewFloat(float64(f))))
			match.Add(match, new(big.Float).Quo(x, big.NewFloat(float64(f))))
		}
		want, _ := new(big.Float).Quo(match, sum).Float64()
		assert.InEpsilon(t, want, post.correct, 1e-9)
		want, _ = new(big.Float).Quo(mean, sum).Float64()
		assert.InEpsilon(t, want, post.mean, 1e-9)
	}
}

// A convolved table weighs as if each split of a class into its published parts, or of a published sum into classes, were as likely.
func TestConvolved(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	kernel, err := perturb.Random(3)
	require.NoError(t, err)
	for range 40 {
		published := []int64{3 * r.Int64N(3), 3 * r.Int64N(3), 3 * r.Int64N(2)}
		p := &Problem{People: 40, Levels: []int{2, 3}, Overlap: []int{0}, Convolve: true,
			Samples: []Counts{
				{Variables: []int{0}, Codes: [][]uint32{{0, 1}}, Count: []int64{1, 3}},
				{Variables: []int{0}, Codes: [][]uint32{{0, 1}}, Count: []int64{1, 5}},
			},
			Tables: []Table{{Name: "parts", Kernel: kernel, Counts: Counts{Variables: []int{0, 1}, Codes: [][]uint32{{0, 0}, {0, 1}}, Count: published[:2]}}}}
		if published[0]+published[1] == 0 {
			continue
		}
		want, total := 0.0, 0.0
		for f := int64(1); f <= 40-5+1; f++ {
			like, splits := 0.0, 0.0
			for x := range f + 1 {
				for y := range f - x + 1 {
					like += perturb.Probability(kernel, published[0], x) * perturb.Probability(kernel, published[1], y) * perturb.Probability(kernel, 0, f-x-y)
					splits++
				}
			}
			for _, n := range []int64{4, 6} { // sizes of the samples
				like *= choose(f, 1) * choose(40-f, n-1)
			}
			want += like / splits / float64(f)
			total += like / splits
		}
		matches, err := p.Link(t.Context())
		require.NoError(t, err)
		require.InEpsilon(t, want/total, matches[0].Correct, 1e-9)

		// One published cell for the classes of two categories of a second variable.
		p.Overlap, p.Levels = []int{0, 1}, []int{2, 2}
		for i := range p.Samples {
			p.Samples[i].Variables, p.Samples[i].Codes = []int{0, 1}, [][]uint32{{0, 1}, {0, 1}}
		}
		p.Tables[0].Counts = Counts{Variables: []int{0}, Codes: [][]uint32{{0, 1}}, Count: []int64{published[0], 9}}
		want, total = 0, 0
		for f := int64(1); f <= 40-5+1; f++ {
			like := 0.0
			for sum := f; sum <= 40; sum++ {
				like += perturb.Probability(kernel, published[0], sum) / float64(sum+1) // the rest is in the other class
			}
			for _, n := range []int64{4, 6} {
				like *= choose(f, 1) * choose(40-f, n-1)
			}
			want += like / float64(f)
			total += like
		}
		if matches, err = p.Link(t.Context()); published[0] == 0 && err != nil {
			continue
		}
		require.NoError(t, err)
		require.InEpsilon(t, want/total, matches[0].Correct, 1e-9)
	}
}

func choose(n, k int64) float64 {
	x, _ := new(big.Float).SetInt(new(big.Int).Binomial(n, k)).Float64()
	return x
}

func TestRefuses(t *testing.T) {
	kernel, err := perturb.Random(3)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(p *Problem)
		want   string
	}{
		"population":     {func(p *Problem) { p.People = 5 }, "sample 1 has 6 records, the population 5"},
		"no overlap":     {func(p *Problem) { p.Overlap = nil }, "no variable in common"},
		"one sample":     {func(p *Problem) { p.Samples = p.Samples[:1] }, "two samples are linked or more, not 1"},
		"lacks":          {func(p *Problem) { p.Overlap = []int{0} }, "sample 2 lacks"},
		"not a multiple": {func(p *Problem) { p.Tables[0].Count[2] = 4 }, "never publishes a count of 4"},
		"code":           {func(p *Problem) { p.Tables[0].Codes[0][0] = 9 }, "code 9"},
		"twice":          {func(p *Problem) { p.Tables[0].Codes[0][4], p.Tables[0].Codes[1][4], p.Tables[0].Codes[2][4] = 0, 0, 0 }, "twice"},
		"contradict":     {func(p *Problem) { p.Tables[0].Kernel, p.Tables[0].Count = perturb.None(), make([]int64, 8) }, "contradict"},
		"tight":          {func(p *Problem) { p.Tight, p.Levels = true, []int{2, 2, 5000}; p.Tables[0].Kernel = kernel }, "take naive bounds"},
	} {
		t.Run(name, func(t *testing.T) {
			p := example(true)
			c.change(p)
			_, err := p.Link(t.Context())
			require.ErrorContains(t, err, c.want)
		})
	}
}

// What is integrated where F can be large is the sum.
func TestIntegratedIsTheSum(t *testing.T) {
	for _, c := range []struct {
		people int64
		a, b   fact
		close  float64
	}{
		{3_000_000, fact{records: 300, count: 1}, fact{records: 200, count: 1}, 1e-9},
		{3_000_000, fact{records: 900, count: 40}, fact{records: 800, count: 35}, 1e-9},
		{4_000_000, fact{records: 2000, count: 500}, fact{records: 2100, count: 510}, 1e-9},
	} {
		p := &Problem{People: c.people}
		facts := []fact{c.a, c.b}
		low, high := p.within(max(c.a.count, c.b.count), c.people-max(c.a.records-c.a.count, c.b.records-c.b.count), facts)
		require.Greater(t, high-low, int64(mostSummed))
		logs := make([]float64, high-low+1)
		most := 0.0
		for i := 1; i < len(logs); i++ {
			logs[i] = logs[i-1] + p.step(low+int64(i)-1, facts)
			most = max(most, logs[i])
		}
		total, mean, match := 0.0, 0.0, 0.0
		for i, l := range logs {
			x, f := math.Exp(l-most), float64(low+int64(i))
			total, mean, match = total+x, mean+x*f, match+x/f
		}
		got := p.integrated(low, high, facts)
		assert.InEpsilon(t, mean/total, got.mean, c.close)
		assert.InEpsilon(t, match/total, got.correct, c.close)
	}
	// A country's population, at once.
	p := &Problem{People: 330_000_000}
	post, err := p.posterior(1, 330_000_000-9_999, []fact{{records: 10_000, count: 1}, {records: 10_000, count: 1}})
	require.NoError(t, err)
	n := 330_000_000. / 20_000 // the law is close to x exp(-x/n) dx
	assert.InEpsilon(t, 3*n, post.mean, .001)
	assert.InEpsilon(t, 1/(2*n), post.correct, .001)
	_, err = (&Problem{People: MostPeople + 1, Overlap: []int{0}, Samples: make([]Counts, 2)}).Link(t.Context())
	require.ErrorContains(t, err, "more than can be computed with")
}

// Published cells of many categories weigh as they should, where probabilities themselves are too small for numbers.
func TestConvolvedManyCategories(t *testing.T) {
	count := Counts{Variables: []int{0, 1}, Codes: [][]uint32{{0, 1}, {0, 0}}, Count: []int64{350, 650}}
	p := &Problem{People: 100_000, Levels: []int{2, 4000}, Overlap: []int{0, 1}, Convolve: true, Samples: []Counts{count, count},
		Tables: []Table{
			{Name: "exact", Kernel: perturb.None(), Counts: Counts{Variables: []int{0}, Codes: [][]uint32{{0, 1}}, Count: []int64{60_000, 40_000}}},
		}}
	matches, err := p.Link(t.Context())
	require.NoError(t, err)
	total, mean := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200)
	x := big.NewFloat(1).SetPrec(200)
	ratio := func(a, b int64) {
		x.Mul(x, new(big.Float).SetPrec(200).Quo(big.NewFloat(float64(a)), big.NewFloat(float64(b))))
	}
	for f := int64(350); f <= 60_000; f++ {
		total.Add(total, x)
		mean.Add(mean, new(big.Float).SetPrec(200).Mul(x, big.NewFloat(float64(f))))
		for range 2 { // C(F, 350) C(N-F, 650)
			ratio(f+1, f+1-350)
			ratio(100_000-f-650, 100_000-f)
		}
		if rest := 60_000 - f; rest > 0 { // of the rest's splits into 3,999 classes
			ratio(rest, rest+3998)
		}
	}
	want, _ := new(big.Float).Quo(mean, total).Float64()
	assert.InEpsilon(t, want, matches[0].Mean, 1e-9)
}
