package attribution

import (
	"context"
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
	any       []int64         // by n*: the first n at which any zero is recovered; the last for never
	more      []int64         // differences by n: orders in which an open cell is recovered, and no tight one is full
	cells     map[int][]int64 // by n* of the cell
	sharp     bool
	questions int64
}

func (a *analysis) newTally() *tally {
	t := &tally{any: make([]int64, a.most+2), more: make([]int64, a.most+2), cells: map[int][]int64{}, sharp: true}
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
	return a.estimated(total, o), nil
}

// estimated turns tallies into figures: the tight cells' part is exact, the rest is a share of orders.
func (a *analysis) estimated(t *tally, o ReleaseOptions) *releaseLaw {
	size, full := int(a.most)+1, a.full()
	law := &releaseLaw{samples: o.Samples, cells: map[int][]float64{}, sap: make([]float64, size), low: make([]float64, size), high: make([]float64, size),
		bandLow: make([]float64, size), bandHigh: make([]float64, size)}
	m := float64(o.Samples)
	width := math.Sqrt(math.Log(2/(1-o.Confidence)) / (2 * m))
	any, more := int64(0), int64(0)
	for n := range size {
		any += t.any[n]
		more += t.more[n]
		low, high := clopperPearson(more, int64(o.Samples), o.Confidence)
		law.sap[n] = min(1, full[n]+float64(more)/m)
		law.low[n], law.high[n] = min(1, full[n]+low), min(1, full[n]+high)
		law.bandLow[n], law.bandHigh[n] = max(0, float64(any)/m-width), min(1, float64(any)/m+width)
	}
	for i, list := range t.cells {
		p, sum := make([]float64, size), int64(0)
		for n := range size {
			sum += list[n]
			p[n] = float64(sum) / m
		}
		law.cells[i] = p
	}
	return law
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
	never := w.a.most + 1
	tight, open := never, never
	for _, i := range w.a.tight {
		tight = min(tight, w.filled(i))
	}
	for _, i := range w.a.open {
		n := min(never, w.first(ctx, i))
		w.tally.cells[i][n]++
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
