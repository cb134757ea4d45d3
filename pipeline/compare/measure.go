package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"microrisk/engine/tabular/fitting"
	"microrisk/engine/tabular/loss"
	"microrisk/engine/tabular/protection"
	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/pipeline/tables"
	"microrisk/schemas/advice"
)

// limit is that of each run.
var limit = advice.Advice{Spec: "seconds", Flags: "--limit"}

func check(c *protect.Config) error { return tables.Check(c) }

// unfit tells whether a method is for tables of other kinds.
func unfit(err error) bool { return errors.Is(err, protection.ErrNoNetwork) }

// row is what is known of a run before it is looked at.
func (c *comparison) row(v *variant, p *protect.Protected, err error) *Row {
	r := c.about
	r.Method, r.Variant, r.Weights, r.Status = v.config.Method, v.label, v.config.Cost, StatusOK
	var words []string
	for i := range v.config.Rules {
		rule := &v.config.Rules[i]
		words = append(words, rule.String())
		if rule.Rule == protect.RuleFrequency {
			r.N = whole(3)
			if rule.N != nil {
				r.N = whole(*rule.N)
			}
		}
	}
	r.Rules = strings.Join(words, "; ")
	if protect.Based(r.Method) {
		r.Base = whole(v.config.Base)
	}
	r.series(v)
	if err != nil {
		r.note(err)
	}
	var failed *protect.FailedError
	var never *protection.InfeasibleError
	switch {
	case err == nil:
		if ended := p.Ended(); ended != nil {
			r.Status = StatusLimit
			r.note(ended)
		}
	case errors.As(err, &failed):
		r.Status, r.notes, r.Note = StatusUnsafe, nil, report.Plural(int64(failed.All), "cell fails", "cells fail")+" the audit, such as: "+failed.Cells[0]
	case errors.As(err, &never):
		r.Status = StatusInfeasible
	case errors.Is(err, context.DeadlineExceeded):
		if r.Status = StatusLimit; r.Note == context.DeadlineExceeded.Error() { // of the audit, which has no words of its own
			r.notes = nil
			r.note(advice.Errorf("the table was not protected and audited within %v s: allow more (%s)", c.patience(v).Seconds(), limit))
		}
	default:
		r.Status = StatusError
	}
	return &r
}

// series is the method with its parameters, but n and base, which views have as columns.
func (r *Row) series(v *variant) {
	name := r.Method
	if p := v.config.Perturb; r.Method == "perturbation" && p != nil {
		r.Scheme, name = p.Scheme, ""
		for part := range strings.SplitSeq(p.Text(), ":") {
			if !strings.HasPrefix(part, "base=") {
				name += ":" + part
			}
		}
		name = name[1:]
		if p.Base > 0 && (p.Scheme == "conventional" || p.Scheme == "random") {
			r.Base = whole(p.Base)
		}
	}
	r.Series = strings.TrimSuffix(name+", "+v.rest, ", ")
}

// measure finds what a run came to. Figures that cannot be had are left out, with a note.
func (c *comparison) measure(ctx context.Context, r *Row, p *protect.Protected) {
	if p.Report == nil && r.Status != StatusOK {
		if p.Findings != nil { // there is no table to look at, but what was to be protected is known
			r.Unsafe = whole(unsafeOf(p))
		}
		return
	}
	r.Seconds = p.Elapsed.Seconds()
	c.count(r, p)
	c.audited(r, p)
	c.optimum(r, p)
	t := c.lossTable(p)
	c.own(r, t)
	lacks := func(what string, err error) {
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			r.note(advice.Errorf("%s was not found in time: allow more (%s)", what, limit))
		case err != nil:
			r.note(fmt.Errorf("%s was not found: %w", what, err))
		}
	}
	lacks("the loss by the model", c.modelled(ctx, r, t))
	if c.sap.Asked() {
		rows, err := p.Attribution(ctx, &c.sap)
		if lacks("the attribution risk (SAP)", err); err == nil {
			r.SAP = c.sap.Attributed(p.Table.Grid, rows)
		}
	}
}

// unsafeOf is how many cells are unsafe.
func unsafeOf(p *protect.Protected) (n int64) {
	for _, f := range p.Findings {
		if f.Status.Primary() {
			n++
		}
	}
	return n
}

// count counts cells.
func (c *comparison) count(r *Row, p *protect.Protected) {
	unsafe := unsafeOf(p)
	var primary, hidden, inside, changed, people int64
	for cell, f := range p.Findings {
		switch {
		case p.Hidden[cell]:
			hidden++
			if f.Status.Primary() {
				primary++
			}
			if p.Table.Grid.Leaf(cell) {
				inside++
				people += p.Table.Cells[cell].Contributors
			}
		case p.Published[cell] != p.Table.Values[cell]:
			changed++
		}
	}
	r.Unsafe, r.Primary, r.Secondary = &unsafe, &primary, whole(hidden-primary)
	r.Hidden, r.HiddenInside, r.Changed, r.Suppressed = &hidden, &inside, &changed, &people
	r.HiddenShare, r.ChangedShare = number(float64(hidden)/float64(r.Cells)), number(float64(changed)/float64(r.Cells))
	if r.Redesigned > 0 {
		safe := unsafe == 0
		r.SafeRedesigned = &safe
	}
}

// audited is what the audit found.
func (c *comparison) audited(r *Row, p *protect.Protected) {
	if p.Report == nil {
		return
	}
	known := p.Table.Known(p.Config.Beforehand)
	slack := math.Inf(1)
	var under, exact int64
	for _, f := range p.Report.Findings {
		switch f.Verdict {
		case protection.Exact:
			exact++
			under++
		case protection.Under:
			under++
		}
		n, value := f.Need, p.Table.Values[f.Need.Cell]
		width := math.Inf(1)
		if f.Low != protection.NoLow && f.High < math.MaxInt64 {
			width = float64(f.High - f.Low)
		}
		slack = min(slack, width-float64(max(n.Sliding, 1)))
		if n.Lower > 0 && f.Low != protection.NoLow {
			slack = min(slack, float64(max(value-n.Lower, known.Low[n.Cell])-f.Low))
		}
		if n.Upper > 0 && f.High < math.MaxInt64 {
			slack = min(slack, float64(f.High-value-n.Upper))
		}
	}
	r.Underprotected, r.Recoverable = &under, &exact
	r.Slack = number(slack / math.Pow10(p.Table.Decimals))
	if r.Audit = "pass"; under > 0 {
		r.Audit = fmt.Sprintf("%d fail", under)
	}
}

// optimum is how good the choice is.
func (c *comparison) optimum(r *Row, p *protect.Protected) {
	unit := math.Pow10(p.Table.Decimals)
	if p.Config.Cost != "value" {
		unit = 1
	}
	switch {
	case p.Pattern != nil:
		r.Cost = number(float64(p.Pattern.Cost) / unit)
		if p.Config.Method != "optimal" {
			return
		}
		proven := p.Pattern.Proven()
		r.Proven, r.LowerBound, r.Gap = &proven, number(float64(p.Pattern.Bound)/unit), number(p.Pattern.Gap())
	case p.Changed != nil && (p.Config.Method == "adjustment" || p.Config.Method == "partial"):
		x := p.Changed
		unit *= math.Pow10(p.Table.Decimals) // moves and widths are in units too
		r.Cost, r.Proven, r.LowerBound, r.Gap = number(float64(x.Cost)/unit), &x.Best, number(x.Bound/unit), number(x.Gap)
	case p.Rounding != nil:
		x := p.Rounding
		r.Cost, r.Proven, r.LowerBound = number(float64(x.Cost)/math.Pow10(p.Table.Decimals)), &x.Optimal, number(x.Bound/math.Pow10(p.Table.Decimals))
		if x.Cost > 0 {
			r.Gap = number(max(0, 1-x.Bound/float64(x.Cost)))
		}
		if x.Optimal {
			r.Gap = number(0)
		}
	}
}

// lossTable is the table as package loss has it, in units of the response.
func (c *comparison) lossTable(p *protect.Protected) *loss.Table {
	unit := math.Pow10(p.Table.Decimals)
	scaled := func(list []int64) []float64 {
		to := make([]float64, len(list))
		for cell, x := range list {
			to[cell] = float64(x) / unit
		}
		return to
	}
	return &loss.Table{Grid: p.Table.Grid, True: scaled(p.Table.Values), Published: scaled(p.Published), Hidden: p.Hidden}
}

// own are the measures of the method itself (M1).
func (c *comparison) own(r *Row, t *loss.Table) {
	sum := t.Changed
	if r.LossOf = "changed cells"; *r.Hidden > 0 {
		r.LossOf, sum = "hidden cells", t.Suppressed
	}
	put := func(of loss.Sum, all, inside **float64) { *all, *inside = number(of.All), number(of.Interior) }
	people := make([]float64, len(t.True))
	for cell := range people {
		people[cell] = float64(c.table.Cells[cell].Contributors)
	}
	put(sum(nil), &r.LossUnity, &r.InteriorUnity)
	put(sum(people), &r.LossFrequency, &r.InteriorFrequency)
	if c.table.Response != "" {
		put(sum(t.True), &r.LossValue, &r.InteriorValue)
	}
	changes, balance := t.Changes(), t.Balance()
	r.MaxChange, r.MeanChange, r.Imbalance = number(changes.Largest.All), number(changes.Mean.All), number(balance.Largest)
	additive := balance.Broken == 0
	r.Additive = &additive
}

// modelled is the measure of a model (M2).
func (c *comparison) modelled(ctx context.Context, r *Row, t *loss.Table) error {
	a, err := t.Analyse(ctx, c.model, fitting.Options{})
	if err != nil {
		return err
	}
	freedom := func(df int) *int64 {
		if df == fitting.UnknownDF {
			return nil
		}
		return whole(df)
	}
	r.DTrue, r.DFTrue = number(a.True.G2), freedom(a.True.DF)
	converged := a.True.Converged
	for _, d := range a.Protected {
		converged = converged && d.Converged
		for _, to := range []struct {
			treatment loss.Treatment
			g2, loss  **float64
			df        **int64
		}{{loss.Omitted, &r.DOmitted, &r.LossOmitted, &r.DFOmitted}, {loss.Zero, &r.DZero, &r.LossZero, &r.DFZero},
			{loss.Imputed, &r.DImputed, &r.LossImputed, &r.DFImputed}} {
			if d.Treatment == to.treatment || d.Treatment == loss.Shown {
				*to.g2, *to.loss, *to.df = number(d.G2), number(d.Loss), freedom(d.DF)
			}
		}
	}
	r.Converged = &converged
	return nil
}
