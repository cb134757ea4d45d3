package protect

import (
	"context"
	"errors"
	"fmt"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/protection"
	"microrisk/schemas/advice"
)

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
	o := protection.Options{Cost: p.Cost, Insider: p.insider(), Solver: with.Solver, Protected: p.fixed(), Start: p.Hidden, Most: p.Config.most()}
	if p.Config.Nodes != nil {
		o.Nodes = *p.Config.Nodes
	}
	ctx, cancel := p.Config.within(ctx)
	defer cancel()
	defer p.patient(with)()
	var err error
	switch p.Config.Method {
	case "optimal", "modular":
		p.Pattern, err = p.search(ctx, t, o)
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
	ctx, cancel := p.Config.within(ctx)
	defer cancel()
	var err error
	if p.Rounding, err = protection.Round(ctx, t, protection.Rounding{Base: p.Config.Base, Solver: with.Solver}); err == nil {
		copy(p.Published, p.Rounding.Values)
		err = p.audit(ctx, with)
	}
	if errors.Is(err, context.DeadlineExceeded) && p.Config.Seconds != nil {
		return &refusal{advice.Errorf("the table was not rounded and audited within %v s: allow more (%s), or take another base", *p.Config.Seconds, seconds), err}
	}
	return err
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
