package protect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/protection"
	"microrisk/schemas/advice"
)

// seconds are the limit of time.
var seconds = advice.Advice{Spec: "seconds", Flags: "--limit"}

// patience is after what time the limits of a search are told of.
const patience = 30 * time.Second

// A refusal says in words of its own what a method could not do, and why: a *protection.InfeasibleError, or that the time was up.
type refusal struct {
	error
	why error
}

// Unwrap has the words, with their advice, and why.
func (r *refusal) Unwrap() []error { return []error{r.error, r.why} }

// suppress hides secondary cells by the method.
func (p *Protected) suppress(ctx context.Context, t *protection.Table, with With) error {
	for _, s := range p.Settings {
		if s.Set == "hidden" && !p.Findings[s.Cell].Status.Primary() {
			p.Findings[s.Cell].Status = detection.SecondaryManual
			p.Hidden[s.Cell] = true
		}
	}
	if p.Config.Method == "none" || p.Config.Method == "hand" || len(p.Needs) == 0 {
		return nil
	}
	o := protection.Options{Cost: p.Cost, Insider: p.insider(), Solver: with.Solver, Protected: p.fixed(), Start: p.Hidden}
	if p.Config.Nodes != nil {
		o.Nodes = *p.Config.Nodes
	}
	if p.Config.Seconds != nil {
		limited, cancel := context.WithTimeout(ctx, time.Duration(*p.Config.Seconds*float64(time.Second)))
		defer cancel()
		ctx = limited
	}
	defer p.patient(with)()
	var err error
	switch p.Config.Method {
	case "optimal":
		if o.Start, err = p.quick(ctx, t, o); err == nil {
			p.Pattern, err = protection.Optimal(ctx, t, p.Needs, o)
		}
	case "modular":
		p.Pattern, err = protection.Modular(ctx, p.Table.Grid, t, p.Needs, o)
	case "network":
		p.Pattern, err = protection.Network(ctx, t, p.Needs, o)
	case "hypercube":
		p.Pattern, err = protection.Hypercube(ctx, p.Table.Grid, t, p.Needs, o)
	}
	var never *protection.InfeasibleError
	switch {
	case errors.As(err, &never):
		return p.infeasible(t, never)
	case errors.Is(err, context.DeadlineExceeded) && p.Config.Seconds != nil:
		or := "take the method hypercube"
		if p.Config.Method == "hypercube" {
			or = "merge categories"
		}
		return &refusal{advice.Errorf("no safe pattern was found within %v s: allow more (%s), or %s", *p.Config.Seconds, seconds, or), err}
	case err != nil:
		return err
	}
	for cell, hidden := range p.Pattern.Hidden { // what was hidden by hand stays so, which only helps
		p.Hidden[cell] = p.Hidden[cell] || hidden
	}
	return nil
}

// patient warns if a search without a limit takes long, until what it gives is called.
func (p *Protected) patient(with With) (done func()) {
	if p.Config.Seconds != nil || p.Config.Nodes != nil || with.Warn == nil {
		return func() {}
	}
	told := time.AfterFunc(patience, func() {
		with.Warn("what is safe is sought for %v already: a limit (seconds, nodes) ends the search with the best so far, and says how good it is", patience)
	})
	return func() { told.Stop() }
}

// quick is a pattern for the search to begin with: that of hypercubes, by values too if cells cost the same, with a fifth of the time that
// there is. What was hidden by hand is in it.
func (p *Protected) quick(ctx context.Context, t *protection.Table, o protection.Options) ([]bool, error) {
	if end, limited := ctx.Deadline(); limited {
		within, cancel := context.WithDeadline(ctx, time.Now().Add(time.Until(end)/5))
		defer cancel()
		ctx = within
	}
	costs := [][]int64{o.Cost}
	if p.Config.Cost == "unity" {
		costs = append(costs, p.sizes())
	}
	start, least := o.Start, int64(-1)
	for _, cost := range costs {
		by := o
		by.Cost = cost
		found, err := protection.Hypercube(ctx, p.Table.Grid, t, p.Needs, by)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return start, nil
		case err != nil:
			return nil, err
		}
		sum := int64(0)
		for _, cell := range found.Secondary {
			sum += o.Cost[cell]
		}
		if least < 0 || sum < least {
			start, least = found.Hidden, sum
		}
	}
	return start, nil
}

// sizes are the values of cells, as costs.
func (p *Protected) sizes() []int64 {
	list := make([]int64, len(p.Table.Values))
	for cell := range list {
		list[cell] = max(p.Table.size(cell), 1)
	}
	return list
}

// infeasible says which cell cannot be protected, in which equation, and what would help.
func (p *Protected) infeasible(t *protection.Table, e *protection.InfeasibleError) error {
	g := p.Table.Grid
	text := fmt.Sprintf("the cell %s cannot be protected: ", tabular.Words(g.Codes(int(e.Cell))))
	if e.Equation >= 0 {
		text += fmt.Sprintf("in the sum of %s the cells that may be hidden leave it", tabular.Words(g.Codes(int(t.System.Equations[e.Equation].Total))))
	} else {
		text += "all cells that may be hidden leave it"
	}
	text += fmt.Sprintf(" %s units, and it needs %s", p.Table.Text(e.Reach), p.Table.Text(e.Need))
	return &refusal{advice.Errorf("%s; let margins be hidden (%s), lower its level or set it safe (%s), or merge categories (%s)", text,
		advice.Advice{Spec: "margins: none", Flags: "--margins none"}, advice.Advice{Spec: "overrides", Flags: "--overrides"},
		advice.Advice{Spec: "recodes", Flags: "--recode"}), e}
}

// round makes all cells multiples of the base that add up, if any cell discloses.
func (p *Protected) round(ctx context.Context, t *protection.Table, with With) error {
	if p.Config.Seconds != nil {
		limited, cancel := context.WithTimeout(ctx, time.Duration(*p.Config.Seconds*float64(time.Second)))
		defer cancel()
		ctx = limited
	}
	var err error
	if p.Rounding, err = protection.Round(ctx, t, protection.Rounding{Base: p.Config.Base, Solver: with.Solver}); err == nil {
		copy(p.Published, p.Rounding.Values)
		err = p.auditRounding(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) && p.Config.Seconds != nil {
		return &refusal{advice.Errorf("the table was not rounded and audited within %v s: allow more (%s), or take another base", *p.Config.Seconds, seconds), err}
	}
	return err
}

// auditRounding asks what the published multiples leave of the unsafe cells.
func (p *Protected) auditRounding(ctx context.Context) (err error) {
	if p.Report, err = p.Way.Audit(ctx, p.Table, p.Given(), p.attack()); err != nil {
		return err
	}
	return p.passed()
}

// AuditRounded asks what published multiples of a base leave of cells, if everybody knows that each value is less than the base away from
// its multiple, and that values add up: the interval of each cell must be so wide.
func AuditRounded(ctx context.Context, t *protection.Table, published []int64, base int64, cells []protection.Need, width int64) (*protection.Report, error) {
	known := &protection.Table{System: t.System, Values: t.Values, Low: make([]int64, len(t.Values)), High: make([]int64, len(t.Values))}
	all := make([]bool, len(t.Values))
	for cell, y := range published {
		away := max(base-1, y-t.Values[cell], t.Values[cell]-y)
		known.Low[cell], known.High[cell], all[cell] = y-away, y+away, true
		if t.Low != nil {
			known.Low[cell] = max(known.Low[cell], t.Low[cell])
		}
	}
	return protection.Audit(ctx, known, all, widths(cells, width), protection.InsiderOff)
}
