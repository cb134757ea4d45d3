package search

import (
	"context"
	"fmt"
	"math"

	"microrisk/engine/bayes"
	"microrisk/engine/budget"
)

const (
	maxEnumerated = 7  // variables up to which all decomposable graphs are listed
	maxExact      = 18 // variables up to which the program may be tried
)

// mostWorkers is how many workers the exact search uses at most, since each takes memory.
const mostWorkers = 16

// leastWorkers is for how many workers there must be memory, for Auto to choose the exact search.
const leastWorkers = 2

// mostSteps is what Auto lets the exact search take: some 20 seconds of one processor, at two steps of package budget each.
const mostSteps = budget.Minute / 3 / 2

// dearer is how many times as long as Subsets a chain takes at least to score a set: it goes through all cells for it. Of few variables it comes to
// most of the sets.
const dearer = 8

// exactBytes is about the memory that the exact search of k variables takes, apart from the scoring of their subsets.
func exactBytes(k, workers int) int64 {
	if k <= maxEnumerated {
		return 64 << 20
	}
	states := int64(1)
	for range min(k, 38) {
		states *= 3
	}
	return 24*states + (52*int64(max(1, workers))+48)<<min(k, 38) + int64(max(1, workers))*keptChoices*12
}

// exactSteps is about how many steps, of one to some nanoseconds, the exact search of k variables takes with so many occupied cells.
func exactSteps(k, cells int) int64 {
	k = min(k, 24)
	return passes(k) + int64(cells)<<k
}

// passes is the steps of both passes of the program.
func passes(k int) int64 { return 3 << (2 * k) }

// takesLong tells whether the exact search of k variables with so many occupied cells takes longer than chains would.
func takesLong(k, cells int) bool { return passes(k)+int64(cells)<<min(k, 24)/dearer > mostSteps }

// exactAffordable tells whether Auto should search exactly, and in one phrase why or why not.
func exactAffordable(scores *bayes.Scores, o Options) (ok bool, reason string) {
	k, cells := scores.Data().Variables(), scores.Data().Cells()
	if k > maxExact {
		return false, fmt.Sprintf("%d variables are more than the %d of the exact posterior", k, maxExact)
	}
	o.Workers = leastWorkers // what is chosen must not depend on them, and fewer are taken where memory is short
	allowed := "the memory allowed"
	if o.Choice > 0 {
		o.Memory, allowed = o.Choice, budget.Size(o.Choice)+", taken where no memory is allowed expressly"
	}
	if err := exactRefusal(scores, o); err != nil {
		return false, fmt.Sprintf("%d variables in %d cells are too many for the exact posterior in %s", k, cells, allowed)
	}
	if takesLong(k, cells) {
		return false, fmt.Sprintf("the exact posterior of %d variables in %d cells would take long", k, cells)
	}
	return true, fmt.Sprintf("%d variables are few enough for the exact posterior", k)
}

// exactRefusal is why the exact search cannot be done, or nil.
func exactRefusal(scores *bayes.Scores, o Options) error {
	k := scores.Data().Variables()
	need := exactBytes(k, o.Workers)
	if k > maxExact {
		return fmt.Errorf("the search %q takes at most %d variables, there are %d (they would take about %s of memory): use the search %q or %q",
			Exact, maxExact, k, budget.Size(need), MC3, Occam)
	}
	need += scores.SubsetsBytes(o.Workers)
	return budget.Budget{
		Bytes: o.Memory,
	}.Memory(
		fmt.Sprintf("the search %q of %d variables", Exact, k),
		need,
		fmt.Sprintf("use the search %q or %q", MC3, Occam),
	)
}

// exact is the posterior distribution over all decomposable graphs: by listing them up to 7 variables, beyond by dynamic programming
// over rooted junction trees, of which it draws. See Exact.
func exact(ctx context.Context, s *bayes.Scores, o Options) (*Result, error) {
	o.Workers = min(o.Workers, mostWorkers)
	for o.Workers > 1 && exactRefusal(s, o) != nil { // each takes memory
		o.Workers--
	}
	if err := exactRefusal(s, o); err != nil {
		return nil, err
	}
	k := s.Data().Variables()
	report := newProgress(o.Progress, exactSteps(k, s.Data().Cells()))
	logs, err := s.Subsets(ctx, o.Workers)
	if err != nil {
		return nil, err
	}
	report.add(int64(s.Data().Cells()) << k)
	logPhi, singles, err := relative(k, logs, o.Penalty)
	if err != nil {
		return nil, err
	}
	p := newSpace(s, o.Penalty)
	var r *Result
	if k <= maxEnumerated {
		r, err = p.enumerated(ctx, logPhi, singles)
	} else {
		r, err = p.programmed(ctx, logPhi, singles, o, report)
	}
	if err != nil {
		return nil, err
	}
	r.Diagnostics.Margins = s.Margins()
	report.finish()
	return r, nil
}

// relative are log scores of sets, the penalty of their edges taken off, by the product of those of their single variables: the
// same for all graphs. singles is the logarithm of that product over all variables.
func relative(k int, logs []float64, penalty float64) (logPhi []float64, singles float64, err error) {
	logPhi = make([]float64, len(logs))
	for c, x := range logs {
		n := 0
		for v := range k {
			if c>>v&1 != 0 {
				x -= logs[1<<v]
				n++
			}
		}
		logPhi[c] = x - penalty*float64(n*(n-1)/2)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, 0, fmt.Errorf("the score of a set of %d variables is %v: the search %q cannot go on", n, logs[c], Exact)
		}
	}
	for v := range k {
		singles += logs[1<<v]
	}
	return logPhi, singles, nil
}

// programmed is the posterior by dynamic programming.
func (p *space) programmed(ctx context.Context, logPhi []float64, singles float64, o Options, report *progress) (*Result, error) {
	f, err := programme(ctx, p.k, logPhi, o.Draws, o.Seed, o.Workers, report)
	if err != nil {
		return nil, err
	}
	r := &Result{Method: Exact}
	edges := func(i int) []uint64 { return f.graphs[i].edges[:p.words] }
	if f.settled() {
		top := math.Inf(-1)
		for i := range f.graphs {
			top = max(top, f.graphs[i].product.log())
		}
		p.weigh(r, len(f.graphs), edges, func(i int) float64 { return math.Exp(f.graphs[i].product.log() - top) }, true, top+singles)
	} else {
		p.weigh(r, len(f.graphs), edges, f.estimate, false, 0)
		r.EdgesSE = p.matrix(f.errors(len(p.pairs)))
	}
	r.Diagnostics = noDiagnostics()
	r.Diagnostics.Graphs = int64(len(f.graphs))
	r.Diagnostics.ESS = f.effective()
	r.Diagnostics.Unseen = f.unseen
	r.Diagnostics.LogTotal = f.total.log() + singles
	r.Diagnostics.Draws = f.draws
	return r, nil
}
