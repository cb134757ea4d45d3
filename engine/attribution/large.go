package attribution

import (
	"context"
	"math"
	"slices"
)

// A clock looks at the context now and then, after some milliseconds of work.
type clock struct {
	ctx   context.Context
	steps int64
}

func newClock(ctx context.Context) *clock { return &clock{ctx: ctx} }

// stepsAtOnce is how much work is done before the context is looked at.
const stepsAtOnce = 1 << 20

func (c *clock) spend(steps int64) error {
	if c.steps += steps; c.steps < stepsAtOnce {
		return nil
	}
	c.steps = 0
	return c.ctx.Err()
}

// someFull is the probability that at least one of the cells, ascending counts above 0, is known in full when n of all people are
// known, for each n of held, the largest of which is most; rest is the number of people in other cells.
func someFull(clock *clock, cells []int64, rest int64, held []int64, most int64, out []float64) error {
	if len(cells) == 0 {
		return nil
	}
	total := rest
	for _, c := range cells {
		total += c
	}
	single := 0.0
	for _, n := range held {
		single += stepsOfOne(cells, total, n)
	}
	if total <= exactPeople || stepsOfAll(cells, rest, most) <= single {
		law, err := anyFull(clock, cells, rest, most)
		for k, n := range held {
			if err == nil {
				out[k] = law[n]
			}
		}
		return err
	}
	for k, n := range held {
		var err error
		if out[k], err = oneFull(clock, cells, rest, n); err != nil {
			return err
		}
	}
	return nil
}

// Work is at most about how many steps of a nanosecond it takes to find SAP of a table of so many cells, and the targets in all of
// them, for each n of known. counts has those that are not 0, in any order.
func Work(counts []int64, cells int, known []int64) float64 {
	sorted, total, kinds := slices.Sorted(slices.Values(counts)), int64(0), 1.0
	for i, c := range sorted {
		total += c
		if i == 0 || c != sorted[i-1] {
			kinds++
		}
	}
	once := float64(cells)
	if total <= exactPeople {
		once += float64(total) * float64(total)
	} else if len(sorted) > 0 {
		most, single := int64(0), 0.0
		for _, n := range known {
			most = max(most, min(n, total))
			single += stepsOfOne(sorted, total, min(n, total))
		}
		once += min(single, stepsOfAll(sorted, 0, most))
	}
	return once * kinds
}

// stepsOfAll is about how many steps anyFull takes.
func stepsOfAll(cells []int64, rest, most int64) float64 {
	steps, people := 0.0, int64(0)
	for _, c := range cells {
		people += c
		steps += float64(min(c, most)+1) * float64(min(people, most)+1)
	}
	return steps + float64(min(rest, most)+1)*float64(most+1)
}

// stepsOfOne is at most about how many steps oneFull takes.
func stepsOfOne(cells []int64, total, n int64) float64 {
	known := float64(n) / float64(total)
	wide := func(people int64) float64 { // numbers of known people among so many that can matter
		return 1 + min(float64(min(people, n, total-n)), 20*math.Sqrt(float64(people)*known*(1-known))+20)
	}
	steps, people := 0.0, int64(0)
	for i, c := range cells {
		people += c
		if i == 0 || c != cells[i-1] {
			steps += float64(stepsOfChance(c, n, total))
		}
		steps += wide(people) * (wide(c)/4 + 2) // the inner loop is short
	}
	return steps
}

// stepsOfChance is about how many steps AllKnown takes: it ends when nothing is left of the probability.
func stepsOfChance(c, n, total int64) int64 {
	less, more := min(c, total-n), max(c, total-n)
	if c > n || less <= 0 {
		return 1
	}
	return 1 + min(less, int64(750*float64(total)/float64(more)))
}

// A window has the values of a function from a number on; they are 0, or do not matter, elsewhere.
type window struct {
	from   int64
	values []float64
	room   []float64
}

// to is the last number of a window.
func (w *window) to() int64 { return w.from + int64(len(w.values)) - 1 }

// binomial fills a window with the law of the number of unknown people among c, each unknown with odds to one: the terms of at least
// cut. They are made from the most probable one outwards, each by its ratio to the one before, and divided by their sum: no
// logarithms.
func (w *window) binomial(c int64, odds, cut float64) {
	mode := min(c, int64(float64(c+1)*(odds/(1+odds))))
	up, down := append(w.room[:0], 1), w.values[:0]
	sum := 1.0
	for i, x := mode, 1.0; i < c; i++ {
		if x *= float64(c-i) / float64(i+1) * odds; x < cut {
			break
		}
		up = append(up, x)
		sum += x
	}
	for i, x := mode, 1.0; i > 0; i-- {
		if x *= float64(i) / float64(c-i+1) / odds; x < cut {
			break
		}
		down = append(down, x)
		sum += x
	}
	w.from = mode - int64(len(down))
	slices.Reverse(down)
	w.values, w.room = append(down, up...), up
	for i := range w.values {
		w.values[i] /= sum
	}
}

// at is the value at a number.
func (w *window) at(i int64) float64 {
	if i < w.from || i > w.to() {
		return 0
	}
	return w.values[i-w.from]
}

// negligible is what does not change a sum of 1.
const negligible = 1e-17

// oneFull is someFull for one n.
//
// A cell is not known in full if at least one of its people is unknown. If people were unknown independently, the numbers of unknown
// people in cells would be independent; the true law is that one, given how many are unknown in all. So let G_k(v) be the
// probability that v people of the first k cells are unknown, and one at least in each, under independence. Then the probability that
// cell k is the first that is known in full is
//
//	sum over v of G_{k-1}(v) P(nobody in cell k) P(u - v in all that follow) / P(u in all),
//
// u being the number of unknown people. All terms are positive, so that small probabilities keep their digits. What is too small to
// matter for the sum is left out: people far from what is expected, and cells that are much too large to be known in full.
func oneFull(clock *clock, cells []int64, rest, n int64) (float64, error) {
	total := rest
	for _, c := range cells {
		total += c
	}
	chance, expected := make([]float64, len(cells)), 0.0
	for k, c := range cells {
		if k > 0 && c == cells[k-1] {
			chance[k] = chance[k-1]
		} else {
			if err := clock.spend(stepsOfChance(c, n, total)); err != nil {
				return 0, err
			}
			chance[k] = AllKnown(c, n, total)
		}
		expected += chance[k]
	}
	// Two cells are both known in full less often than if they were independent, so that the sum is right to within half of itself.
	if expected <= 10*negligible || n == total {
		return min(expected, 1), nil
	}
	head := len(cells)
	for tail := 0.0; head > 1; head-- {
		if tail += chance[head-1]; tail > negligible*chance[0] {
			break
		}
	}
	return firstFull(clock, cells[:head], total, total-n, chance[0]*1e-26)
}

// firstFull adds the probabilities that a cell is the first that is known in full; what is below cut does not matter.
func firstFull(clock *clock, cells []int64, total, unknown int64, cut float64) (float64, error) {
	odds := float64(unknown) / float64(total-unknown)
	var kernel, follow, all window
	all.binomial(total, odds, cut)
	in := all.at(unknown)
	now, next := window{values: []float64{1}}, window{}
	sum, left, none := 0.0, total, 0.0
	for k, c := range cells {
		if k == 0 || c != cells[k-1] {
			kernel.binomial(c, odds, cut)
			if kernel.from > 0 {
				none = math.Exp(-float64(c) * math.Log1p(odds))
			} else {
				none = kernel.values[0]
			}
		}
		left -= c
		follow.binomial(left, odds, cut)
		for v := now.from; v <= now.to(); v++ {
			sum += now.at(v) * none * (follow.at(unknown-v) / in)
		}
		if k+1 == len(cells) || len(now.values) == 0 {
			break
		}
		next.convolve(&now, &kernel)
		next.trim(cut, func(v int64) float64 { return follow.at(unknown-v) / in })
		if err := clock.spend(int64(len(now.values)) * int64(len(kernel.values)) / 4); err != nil {
			return 0, err
		}
		now, next = next, now
	}
	return min(sum, 1), nil
}

// convolve fills a window with the sums of a number of one law and a number above 0 of another.
func (w *window) convolve(a, b *window) {
	values := b.values
	w.from = a.from + b.from
	if b.from == 0 {
		values = values[1:]
		w.from++
	}
	w.values = slices.Grow(w.values[:0], len(a.values)+len(values))[:max(0, len(a.values)+len(values)-1)]
	clear(w.values)
	for i, x := range a.values {
		to := w.values[i : i+len(values)]
		for j, y := range values {
			to[j] += x * y
		}
	}
}

// trim cuts off both ends of a window where the value, times a weight, is below cut.
func (w *window) trim(cut float64, weight func(i int64) float64) {
	for len(w.values) > 0 && !(w.values[0]*weight(w.from) >= cut) {
		w.values = w.values[1:]
		w.from++
	}
	for n := len(w.values); n > 0 && !(w.values[n-1]*weight(w.to()) >= cut); n = len(w.values) {
		w.values = w.values[:n-1]
	}
}
