package attribution

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/mathext"

	"microrisk/engine/bounds"
)

// blockOfOrders is the number of random orders after which everything that was remembered is forgotten, so that what the limits of a
// question leave open is the same for any number of workers.
const blockOfOrders = 64

// A tally counts random orders.
type tally struct {
	any       []int64         // by n*: the first n at which any zero is recovered
	more      []int64         // differences by n: orders in which an open cell is recovered, and no tight one is full
	cells     map[int][]int64 // by n* of the cell, up to the largest n asked for; the last for more
	sharp     bool
	questions int64
}

func (a *analysis) newTally() *tally {
	t := &tally{any: make([]int64, a.n+2), more: make([]int64, a.n+2), cells: map[int][]int64{}, sharp: true}
	for _, i := range a.open {
		t.cells[i] = make([]int64, a.most+2)
	}
	return t
}

// merge adds another tally.
func (t *tally) merge(other *tally) {
	for n := range t.any {
		t.any[n] += other.any[n]
		t.more[n] += other.more[n]
	}
	for i, list := range t.cells {
		for n := range list {
			list[n] += other.cells[i][n]
		}
	}
	t.sharp = t.sharp && other.sharp
	t.questions += other.questions
}

// estimate draws random orders of the people.
func (a *analysis) estimate(ctx context.Context, o ReleaseOptions) (*releaseLaw, error) {
	blocks := (o.Samples + blockOfOrders - 1) / blockOfOrders
	next := make(chan int)
	total := a.newTally()
	var mutex sync.Mutex
	var group sync.WaitGroup
	for range min(o.Workers, blocks) {
		prober := a.prober.Clone()
		group.Go(func() {
			w := newOrders(a, prober)
			for b := range next {
				w.block(ctx, o, b)
			}
			mutex.Lock()
			defer mutex.Unlock()
			total.merge(w.tally)
		})
	}
	for b := range blocks {
		select {
		case next <- b:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	close(next)
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.sharp, a.questions = a.sharp && total.sharp, a.questions+total.questions
	return a.estimated(newClock(ctx), total, o)
}

// estimated turns tallies into figures: the tight cells' part is exact, the rest is a share of orders.
func (a *analysis) estimated(clock *clock, t *tally, o ReleaseOptions) (*releaseLaw, error) {
	for n := range a.n + 1 {
		t.any[n+1] += t.any[n]
		t.more[n+1] += t.more[n]
	}
	p, m := a.tightProblem(), float64(o.Samples)
	full, err := p.some(clock, a.held)
	if err != nil {
		return nil, err
	}
	law := &releaseLaw{samples: o.Samples, cells: map[int][]float64{}, smallest: NotFound}
	width := math.Sqrt(math.Log(2/(1-o.Confidence)) / (2 * m))
	for k, n := range a.held {
		low, high := clopperPearson(t.more[n], int64(o.Samples), o.Confidence)
		share := float64(t.any[n]) / m
		law.sap = append(law.sap, min(1, full[k]+float64(t.more[n])/m))
		law.low, law.high = append(law.low, min(1, full[k]+low)), append(law.high, min(1, full[k]+high))
		law.bandLow, law.bandHigh = append(law.bandLow, max(0, share-width)), append(law.bandHigh, min(1, share+width))
	}
	for i, list := range t.cells {
		for n := range a.most {
			list[n+1] += list[n]
		}
		for _, n := range a.held {
			law.cells[i] = append(law.cells[i], float64(list[n])/m)
		}
	}
	if o.Threshold > 0 {
		law.smallest, err = a.smallestEstimated(clock, t, o)
	}
	return law, err
}

// smallestEstimated is the smallest n whose estimate comes to the threshold. All people known recover a zero, as cells are open.
func (a *analysis) smallestEstimated(clock *clock, t *tally, o ReleaseOptions) (int64, error) {
	p, work := a.tightProblem(), float64(mostForSmallest)
	var err error
	n := sort.Search(int(a.n), func(n int) bool {
		if err != nil {
			return true
		}
		if work -= stepsOfOne(p.relevant, a.n, int64(n)); work < 0 {
			err = ErrTooMuch
			return true
		}
		var full []float64
		if full, err = p.some(clock, []int64{int64(n)}); err != nil {
			return true
		}
		return full[0]+float64(t.more[n])/float64(o.Samples) >= o.Threshold
	})
	if errors.Is(err, ErrTooMuch) {
		return NotFound, nil
	}
	return int64(n), err
}

// clopperPearson is the interval of a probability, of which an event happened k times in m.
func clopperPearson(k, m int64, confidence float64) (low, high float64) {
	half := (1 - confidence) / 2
	low, high = 0, 1
	if k > 0 {
		low = mathext.InvRegIncBeta(float64(k), float64(m-k+1), half)
	}
	if k < m {
		high = mathext.InvRegIncBeta(float64(k+1), float64(m-k), 1-half)
	}
	return low, high
}

// orders draws orders of the people, one after the other.
type orders struct {
	a      *analysis
	prober *bounds.Prober // as it was when new
	asked  *recoverer
	people []int32   // the cell of each person, in order
	places [][]int64 // of each cell's people, ascending
	s      []int64
	tally  *tally
}

func newOrders(a *analysis, prober *bounds.Prober) *orders {
	w := &orders{a: a, prober: prober, places: make([][]int64, len(a.everything)), s: make([]int64, len(a.everything)), tally: a.newTally()}
	for i, c := range a.everything {
		for range c {
			w.people = append(w.people, int32(i))
		}
		w.places[i] = make([]int64, 0, c)
	}
	return w
}

// block draws the orders of a block.
func (w *orders) block(ctx context.Context, o ReleaseOptions, b int) {
	random := rand.New(rand.NewPCG(o.Seed, uint64(b)))
	w.asked = &recoverer{counts: w.a.everything, prober: w.prober.Clone(), cells: make([]memory, len(w.a.everything)), sharp: true}
	slices.Sort(w.people) // where every block begins
	for range min(blockOfOrders, o.Samples-b*blockOfOrders) {
		if ctx.Err() != nil {
			return
		}
		random.Shuffle(len(w.people), func(i, j int) { w.people[i], w.people[j] = w.people[j], w.people[i] })
		w.order(ctx)
	}
	w.tally.sharp = w.tally.sharp && w.asked.sharp
	w.tally.questions += w.asked.questions
}

// order finds where zeros are recovered in the present order.
func (w *orders) order(ctx context.Context) {
	for i := range w.places {
		w.places[i] = w.places[i][:0]
	}
	for at, i := range w.people {
		w.places[i] = append(w.places[i], int64(at))
	}
	never := w.a.n + 1
	tight, open := never, never
	for _, i := range w.a.tight {
		tight = min(tight, w.filled(i))
	}
	for _, i := range w.a.open {
		n := w.first(ctx, i)
		w.tally.cells[i][min(n, w.a.most+1)]++
		open = min(open, n)
	}
	w.tally.any[min(tight, open)]++
	if open < tight {
		w.tally.more[open]++
		w.tally.more[tight]--
	}
}

// filled is the number of people after which all of a cell are known.
func (w *orders) filled(i int) int64 {
	if p := w.places[i]; len(p) > 0 {
		return p[len(p)-1] + 1
	}
	return 0
}

// first is the smallest number of people after which a zero is recovered in an open cell: it is when all are known.
func (w *orders) first(ctx context.Context, i int) int64 {
	low := w.filled(i)
	return low + int64(sort.Search(int(w.a.n-low), func(k int) bool {
		n := low + int64(k)
		for j, p := range w.places {
			w.s[j] = int64(sort.Search(len(p), func(x int) bool { return p[x] >= n }))
		}
		return w.asked.recovered(ctx, i, w.s)
	}))
}
