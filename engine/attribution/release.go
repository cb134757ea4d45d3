package attribution

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"microrisk/engine/bounds"
)

// A Release is one base table of which any margins were published, the table itself or merged categories among them, each exact or
// perturbed in its own way.
type Release struct {
	Counts     []int64        // true counts, row-major, the first variable slowest
	Published  bounds.Release // what the published counts imply
	Impossible []bool         // cells that everybody knows to be empty: their zeros tell nothing; nil for none
}

// Defaults of ReleaseOptions.
const (
	DefaultSamples    = 10000
	DefaultConfidence = 0.95
	DefaultMost       = 200000
)

// ReleaseOptions limit the work.
type ReleaseOptions struct {
	Most       int64   // vectors of known people that may be looked at for exact figures, at least 1; 0 for DefaultMost
	Estimate   bool    // whatever the vectors: none is looked at
	Steps      int64   // work for each question whether a cell can hold more, at least 1; 0 for the default of package bounds
	Samples    int     // random orders of the people for estimates, at least 1; 0 for DefaultSamples
	Confidence float64 // of intervals, between 0 and 1; 0 for DefaultConfidence
	Seed       uint64  // of estimates
	Workers    int     // goroutines; 0 for one per processor; results do not depend on it
	Threshold  float64 // the smallest n whose SAP comes to it is found too; 0 for none
}

// What Smallest of a ReleaseResult is if it is no number of people.
const (
	Never    = -1 // SAP does not come to the threshold
	NotFound = -2 // it would take too much work, or was not asked for
)

// mostForSmallest is the work, in steps of a nanosecond, that is put into finding the smallest n of a table.
const mostForSmallest = 2e10

// A ReleaseResult has the figures for each number of known people, in the order asked.
type ReleaseResult struct {
	SAP       []float64 // probability that at least one zero is recovered
	Low, High []float64 // confidence interval of each SAP for itself (Clopper-Pearson); SAP itself if exact
	// BandLow and BandHigh hold for all n at once (Dvoretzky-Kiefer-Wolfowitz, with Massart's constant).
	BandLow, BandHigh []float64
	Expected          []float64   // expected number of recovered zeros
	Cells             [][]float64 // Cells[k][i]: probability that a zero is recovered in cell i
	Exact             bool        // computed, not estimated
	Sharp             bool        // the tightest bounds were used throughout; if not, all figures are lower bounds
	Samples           int         // random orders used; 0 if exact
	Questions         int64       // times the release was asked whether a cell can hold more
	Smallest          int64       // the smallest n whose SAP comes to the threshold, or Never or NotFound; of the estimate if not exact
}

func (o ReleaseOptions) withDefaults() (ReleaseOptions, error) {
	switch {
	case o.Most < 0 || o.Steps < 0:
		return o, fmt.Errorf("%d vectors in %d steps: both must be at least 1", o.Most, o.Steps)
	case o.Estimate:
		o.Most = 0
	case o.Most == 0:
		o.Most = DefaultMost
	}
	if o.Samples == 0 {
		o.Samples = DefaultSamples
	}
	if o.Confidence == 0 {
		o.Confidence = DefaultConfidence
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	switch {
	case o.Samples < 0:
		return o, fmt.Errorf("%d samples: there must be at least 1", o.Samples)
	case !(o.Confidence > 0 && o.Confidence < 1):
		return o, fmt.Errorf("the confidence is %v: it must be between 0 and 1", o.Confidence)
	case !(o.Threshold >= 0 && o.Threshold <= 1):
		return o, fmt.Errorf("the threshold is %v: it must be from 0, for none, to 1", o.Threshold)
	}
	return o, nil
}

// mostPeople is the largest number of people for which sums of binomial coefficients are within the range of floating point.
const mostPeople = 1000

// mostEstimated is the largest number of people whose random orders are drawn.
const mostEstimated = 1 << 26

// SAP is the probability that at least one zero is recovered when n people are known, for each n of known; n beyond N gives SAP(N). A
// zero is recovered in cell i by somebody who knows s_i = c_i people in it if no table with the released margins and at least s has more
// than c_i there.
//
// Cells whose tightest upper bound is their count without anybody known have closed formulas. If others can be recovered too, vectors of
// known people are enumerated, a vector that recovers a zero standing for all above it, and one that does not for all below; where these
// are too many, random orders of the people are drawn, and n* found from which on a zero is recovered: that is all n at once.
//
// Errors: counts that are negative, too few or without the released margins; a release that its Check refuses; a negative n; a context
// that ends.
func (r *Release) SAP(ctx context.Context, known []int64, o ReleaseOptions) (*ReleaseResult, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	for _, n := range known {
		if n < 0 {
			return nil, fmt.Errorf("%d people cannot be known: n is at least 0", n)
		}
	}
	a, err := r.analyse(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, n := range known {
		a.held = append(a.held, min(n, a.n))
		a.most = max(a.most, min(n, a.n))
	}
	law, err := a.law(ctx, o)
	if err != nil {
		return nil, err
	}
	return a.result(law), nil
}

// Work is about how many steps of a nanosecond SAP takes, once the cells are sorted, which it does to tell. Errors are those of SAP.
func (r *Release) Work(ctx context.Context, o ReleaseOptions) (float64, error) {
	o, err := o.withDefaults()
	if err != nil {
		return 0, err
	}
	a, err := r.analyse(ctx, o)
	if err != nil {
		return 0, err
	}
	if len(a.open) == 0 {
		return 0, nil
	}
	question, vectors := stepsOfQuestion*float64(len(r.Counts)), 1.0
	for _, c := range r.Counts {
		vectors *= float64(c + 1)
	}
	if a.n <= mostPeople && vectors <= float64(o.Most) {
		return vectors * question * float64(len(a.open)+1), nil
	}
	work := float64(o.Samples) * (stepsOfShuffle*float64(a.n) + question*float64(len(a.open))*math.Log2(float64(a.n)+1))
	if a.n <= mostPeople && o.Most > 0 {
		work += float64(o.Most) * question
	}
	return work, nil
}

// Steps of a nanosecond for a question whether a cell can hold more, by the cells of the table, and to put a person in a random order.
const (
	stepsOfQuestion = 15
	stepsOfShuffle  = 5
)

// law computes the figures by the cheapest way.
func (a *analysis) law(ctx context.Context, o ReleaseOptions) (*releaseLaw, error) {
	if len(a.open) == 0 {
		return a.closedForms(ctx, o)
	}
	if o.Most > 0 && a.n <= mostPeople {
		if law, err := a.enumerate(ctx, o); law != nil || err != nil {
			return law, err
		}
	}
	if a.n > mostEstimated {
		return nil, fmt.Errorf("the table has %d people: random orders are drawn of %d at most", a.n, int64(mostEstimated))
	}
	return a.estimate(ctx, o)
}

// An analysis is a release with what its cells can become.
type analysis struct {
	r          *Release
	n          int64   // people
	held       []int64 // numbers of people asked for, at most n
	most       int64   // largest of them
	recoverer          // of the whole run
	tight      []int   // cells whose upper bound is their count
	open       []int   // other cells in which a zero can be recovered
	relevant   []int64 // counts of tight cells
	everything []int64 // counts
}

// analyse checks a release and sorts its cells.
func (r *Release) analyse(ctx context.Context, o ReleaseOptions) (*analysis, error) {
	a := &analysis{r: r, everything: r.Counts}
	for i, c := range r.Counts {
		switch {
		case c < 0:
			return nil, fmt.Errorf("cell %d has a count of %d: counts are at least 0", i, c)
		case c > math.MaxInt64-a.n:
			return nil, fmt.Errorf("the counts add up to more than %d", int64(math.MaxInt64))
		}
		a.n += c
	}
	if r.Impossible != nil && len(r.Impossible) != len(r.Counts) {
		return nil, fmt.Errorf("the table has %d counts and %d marks of impossible cells", len(r.Counts), len(r.Impossible))
	}
	published, err := r.withImpossible(ctx)
	if err != nil {
		return nil, err
	}
	p, err := bounds.NewProber(ctx, published, r.Counts, o.Steps)
	if err != nil {
		return nil, err
	}
	a.recoverer = recoverer{counts: r.Counts, prober: p, cells: make([]memory, len(r.Counts)), sharp: true}
	least := make([]int64, len(r.Counts))
	for i, c := range r.Counts {
		if r.Impossible != nil && r.Impossible[i] || !a.recovered(ctx, i, r.Counts) {
			continue
		}
		least[i] = c
		if a.recovered(ctx, i, least) {
			a.tight, a.relevant = append(a.tight, i), append(a.relevant, c)
		} else {
			a.open = append(a.open, i)
		}
		least[i] = 0
	}
	return a, ctx.Err()
}

// withImpossible adds what everybody knows about impossible cells.
func (r *Release) withImpossible(ctx context.Context) (*bounds.Release, error) {
	if r.Impossible == nil {
		return &r.Published, nil
	}
	p := r.Published
	if err := p.Check(ctx); err != nil {
		return nil, err
	}
	if p.Cells() != len(r.Counts) {
		return nil, errors.New("the table does not have the released margins")
	}
	m := bounds.Margin{Name: "impossible cells", Low: make([]int64, len(r.Counts)), High: make([]int64, len(r.Counts))}
	for v := range p.Levels {
		m.Variables = append(m.Variables, v)
	}
	for i, no := range r.Impossible {
		switch {
		case !no:
			m.High[i] = bounds.NoLimit
		case r.Counts[i] > 0:
			return nil, fmt.Errorf("cell %d is impossible, and its count is %d", i, r.Counts[i])
		}
	}
	p.Margins = append(p.Margins[:len(p.Margins):len(p.Margins)], m)
	return &p, nil
}

// A memory has what is known about a cell: tables that have more in it, cut down to the true counts, and known people who rule that out.
type memory struct {
	room, shut [][]int64
}

// remembered is the number of vectors kept of each kind.
const remembered = 128

// A recoverer tells whether zeros are recovered.
type recoverer struct {
	counts    []int64
	prober    *bounds.Prober
	cells     []memory
	sharp     bool
	questions int64
}

// recovered tells whether somebody who knows s recovers a zero in cell i.
func (r *recoverer) recovered(ctx context.Context, i int, s []int64) bool {
	if s[i] != r.counts[i] {
		return false
	}
	m := &r.cells[i]
	for k, t := range m.room {
		if within(s, t) {
			m.room[0], m.room[k] = m.room[k], m.room[0]
			return false
		}
	}
	for k, t := range m.shut {
		if within(t, s) {
			m.shut[0], m.shut[k] = m.shut[k], m.shut[0]
			return true
		}
	}
	r.questions++
	answer, table := r.prober.Exceeds(ctx, i, s)
	switch answer {
	case bounds.Yes:
		m.room = keep(m.room, table, r.counts)
	case bounds.No:
		m.shut = keep(m.shut, s, s)
	default:
		r.sharp = false
	}
	return answer == bounds.No
}

// keep remembers a vector, cut down to another, in the place of the last if there is no more.
func keep(list [][]int64, x, most []int64) [][]int64 {
	if len(list) < remembered {
		list = append(list, make([]int64, len(x)))
	}
	last := list[len(list)-1]
	for i := range x {
		last[i] = min(x[i], most[i])
	}
	return list
}

// within tells whether each of s is at most that of t.
func within(s, t []int64) bool {
	for i, x := range s {
		if x > t[i] {
			return false
		}
	}
	return true
}
