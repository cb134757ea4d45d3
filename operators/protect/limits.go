package protect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"microrisk/engine/tabular/protection"
	"microrisk/operators/report"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// DefaultSeconds is how long something cheaper is sought once there is something safe, where no limit is said.
const DefaultSeconds = 60

// methodsThatImprove begin with something safe, and go on to look for something cheaper.
var methodsThatImprove = []string{"optimal", "modular", "adjustment", "partial"}

// seconds are the limit of time.
var seconds = advice.Advice{Spec: "seconds", Flags: "--limit"}

// patience is after what time the limits of a search are told of.
const patience = 30 * time.Second

// most is how long something cheaper is sought where nobody said a limit; 0 where somebody did, or the method ends by itself.
func (c *Config) most() time.Duration {
	if c.Seconds != nil || c.Nodes != nil || !slices.Contains(methodsThatImprove, c.Method) {
		return 0
	}
	return DefaultSeconds * time.Second
}

// within is a context that ends with the limit that was said.
func (c *Config) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Seconds == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, schemas.Seconds(*c.Seconds))
}

// patient warns if a search without a limit that was said takes long, until what it gives is called.
func (p *Protected) patient(with With) (done func()) {
	if p.Config.Seconds != nil || p.Config.Nodes != nil || with.Warn == nil {
		return func() {}
	}
	ends := "a limit (seconds, nodes) ends the search with the best so far, and says how good it is"
	if p.Config.most() > 0 {
		ends = fmt.Sprintf("the search for something cheaper ends after %d s, unless a limit (seconds, nodes) says otherwise", DefaultSeconds)
	}
	told := time.AfterFunc(patience, func() { with.Warn("what is safe is sought for %v already: %s", patience, ends) })
	return func() { told.Stop() }
}

// Stopped tells whether a limit ended the search for something cheaper.
func (p *Protected) Stopped() bool {
	return p.Pattern != nil && p.Pattern.Stopped || p.Changed != nil && p.Changed.Stopped
}

// Ended says that a limit ended the search, how good what it found is, and what to try next; nil if none did.
func (p *Protected) Ended() error {
	if !p.Stopped() {
		return nil
	}
	c := p.Config
	limit, more := fmt.Sprintf("%d s", DefaultSeconds), advice.Advice{Spec: "seconds: 600", Flags: "--limit 600"}
	switch {
	case c.Nodes != nil:
		limit = report.Plural(int64(*c.Nodes), "node", "nodes")
		more = advice.Advice{Spec: fmt.Sprint("nodes: ", 10**c.Nodes), Flags: fmt.Sprint("--nodes ", 10**c.Nodes)}
	case c.Seconds != nil:
		text := strconv.FormatFloat(10**c.Seconds, 'g', 6, 64)
		limit = strconv.FormatFloat(*c.Seconds, 'g', 6, 64) + " s"
		more = advice.Advice{Spec: "seconds: " + text, Flags: "--limit " + text}
	}
	what := p.Summary(p.Table.Cells[0].Records).possible()
	if p.byCubes {
		what += ", and the pattern is that of the method hypercube"
	}
	return advice.Errorf("the limit of %s was reached: %s; allow more (%s), or %s", limit, what, more, p.instead())
}

// possible says what is proven of something cheaper.
func (m *Summary) possible() string {
	switch {
	case !slices.Contains(methodsThatImprove, m.Method) || m.Method == "modular":
		return "more may be hidden than need be"
	case m.Gap >= 1:
		return "it is not known how much cheaper is possible"
	}
	return fmt.Sprintf("at most %s cheaper is possible", percent(m.Gap))
}

// instead is what to try where the method takes long.
func (p *Protected) instead() any {
	hierarchy := false
	for _, t := range p.Table.Grid.Trees {
		hierarchy = hierarchy || t.Depth() > 1
	}
	switch {
	case p.Config.Method == "adjustment" || p.Config.Method == "partial":
		return advice.Advice{Spec: "take another method (method: rounding)", Flags: "take another method (--method rounding)"}
	case p.Config.Method == "optimal" && hierarchy:
		return advice.Advice{Spec: "take another method (method: modular)", Flags: "take another method (--method modular)"}
	case p.Config.Method == "modular" && !p.byCubes:
		return advice.Advice{Spec: "take another method (method: hypercube)", Flags: "take another method (--method hypercube)"}
	}
	return advice.Advice{Spec: "merge categories (recodes)", Flags: "merge categories (table advise)"}
}

// A start is a pattern to begin with, and whether every attacker accepted it.
type start struct {
	hidden []bool
	found  *protection.Pattern // nil for none that is safe
}

// quick is a pattern for the search to begin with: that of hypercubes, by values too if cells cost the same. What was hidden by hand is in
// it. Where the time passes first there is none.
func (p *Protected) quick(ctx context.Context, t *protection.Table, o protection.Options) (start, error) {
	costs := [][]int64{o.Cost}
	if p.Config.Cost == "unity" {
		costs = append(costs, p.sizes())
	}
	best := start{hidden: o.Start}
	for _, cost := range costs {
		by := o
		by.Cost = cost
		found, err := protection.Hypercube(ctx, p.Table.Grid, t, p.Needs, by)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return best, nil
		case err != nil:
			return start{}, err
		}
		found.Cost = 0
		for _, cell := range found.Secondary {
			found.Cost += o.Cost[cell]
		}
		if best.found == nil || found.Cost < best.found.Cost {
			best = start{found.Hidden, found}
		}
	}
	return best, nil
}

// search finds a pattern by the method, which costs no more than the one to begin with.
func (p *Protected) search(ctx context.Context, t *protection.Table, o protection.Options) (*protection.Pattern, error) {
	begin, err := start{}, error(nil)
	if p.Config.Method == "optimal" || p.Config.Seconds != nil {
		if begin, err = p.quick(ctx, t, o); err != nil {
			return nil, err
		}
	}
	var found *protection.Pattern
	if p.Config.Method == "optimal" {
		o.Start, o.Safe = begin.hidden, begin.found != nil
		found, err = protection.Optimal(ctx, t, p.Needs, o)
	} else {
		found, err = protection.Modular(ctx, p.Table.Grid, t, p.Needs, o)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && begin.found != nil:
		found = begin.found
		found.Stopped, found.Solver, p.byCubes = true, "limit", true
		return found, nil
	case err != nil:
		return nil, err
	}
	if b := begin.found; b != nil && b.Cost <= found.Cost && found.Stopped {
		b.Bound, b.Cuts, b.Rounds, b.Stopped, b.Solver, p.byCubes = min(found.Bound, b.Cost), found.Cuts, found.Rounds, true, found.Solver, true
		return b, nil
	}
	return found, nil
}
