package compare

import (
	"fmt"
	"html/template"
	"math"

	"microrisk/pipeline/figures"
)

// plots are the diagrams of a page.
func (o *Outcome) plots(all []*Group) []shownPlot {
	var groups []*Group
	for _, g := range all {
		if g.Figures() {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	const bars = " Bars of methods that hide go from the treatment of hidden cells that loses least to the one that loses most; the marker is for imputed ones."
	list := []shownPlot{
		{
			"Loss against cells that are touched",
			"What the model finds changed, against the share of cells that are hidden or changed. Down and to the left is " +
				"better." + bars,
			scatter("touched", "Loss against cells that are touched", groups, Touched, "Cells hidden or changed (%)"),
		},
	}
	if n := o.Known(); n >= 0 {
		list = append(
			list,
			shownPlot{"Loss against the attribution risk that remains", fmt.Sprintf("The same loss against SAP with %d known, after protection.", n),
				scatter("risk", "Loss against the attribution risk that remains", groups, SAPAfter, fmt.Sprintf("SAP, %d known, after", n))},
		)
	}
	if o.Count() > 1 {
		return list // the others have a row a run
	}
	return append(
		list,
		shownPlot{
			"Loss by what is done with hidden cells",
			"The model is fitted to the other cells (omitted), to a table with 0 in their place, or with what " +
				"the published totals leave for them (imputed). The axis is logarithmic.",
			treatments(groups),
		},
		shownPlot{"Time", "Seconds to protect and to audit; the axis is logarithmic.", times(groups)},
	)
}

// scatter draws a figure against the loss, a series a method.
func scatter(id, title string, groups []*Group, of func(*Row) *float64, name string) template.HTML {
	d := &figures.Dots{Title: title, X: "Loss by the model (%)", Y: name, LogX: true}
	at := make(map[string]int)
	for _, g := range groups {
		k, met := at[g.Method]
		if !met {
			k = len(d.Series)
			at[g.Method] = k
			d.Series = append(d.Series, figures.DotSeries{Name: g.Method})
		}
		p := figures.Dot{X: g.Of(func(r *Row) *float64 { return r.LossImputed }).Mean, Y: g.Of(of).Mean, Name: g.Variant}
		p.Low, p.High = p.X, p.X
		for _, treatment := range []func(*Row) *float64{func(r *Row) *float64 { return r.LossOmitted }, func(r *Row) *float64 { return r.LossZero },
			func(r *Row) *float64 { return r.LossImputed }} {
			if s := g.Of(treatment); !s.Missing() {
				p.Low, p.High = min(p.Low, s.Low), max(p.High, s.High)
			}
		}
		p.Hint = fmt.Sprintf("%s: loss %s %%, %s %s", g.Name(), Short(p.X), name, Short(p.Y))
		if p.Low == p.High {
			p.Low, p.High = 0, 0
		} else {
			p.Hint += fmt.Sprintf(", the loss from %s to %s %%", Short(p.Low), Short(p.High))
		}
		if !math.IsNaN(p.X) && !math.IsNaN(p.Y) {
			d.Description += p.Hint + ". "
		}
		d.Series[k].Dots = append(d.Series[k].Dots, p)
	}
	return template.HTML(d.SVG(id))
}

// treatments draws the loss by treatment, a row a run.
func treatments(groups []*Group) template.HTML {
	d := &figures.Dots{
		Title: "Loss by what is done with hidden cells",
		X:     "Loss by the model (%)",
		LogX:  true,
		Series: []figures.DotSeries{{Name: "hidden cells omitted"},
			{Name: "taken to be 0"}, {Name: "imputed"}, {Name: "nothing is hidden"}},
	}
	apart := []float64{-0.15, 0.15, 0, 0} // so that none covers another
	for i, g := range groups {
		d.Rows = append(d.Rows, g.Name())
		put := func(series int, of func(*Row) *float64) {
			s := g.Of(of)
			p := figures.Dot{X: s.Mean, Y: float64(i) + apart[series], Hint: fmt.Sprintf("%s, %s: %s %%", g.Name(), d.Series[series].Name, s.Text(Short))}
			if s.Low < s.High {
				p.Low, p.High = s.Low, s.High
			}
			if !s.Missing() {
				d.Description += p.Hint + ". "
			}
			d.Series[series].Dots = append(d.Series[series].Dots, p)
		}
		if !hides(g.Runs[0]) {
			put(3, func(r *Row) *float64 { return r.LossImputed })
			continue
		}
		put(0, func(r *Row) *float64 { return r.LossOmitted })
		put(1, func(r *Row) *float64 { return r.LossZero })
		put(2, func(r *Row) *float64 { return r.LossImputed })
	}
	return template.HTML(d.SVG("treatments"))
}

// times draws how long runs took.
func times(groups []*Group) template.HTML {
	d := &figures.Dots{Title: "Seconds", X: "Seconds", LogX: true, Series: make([]figures.DotSeries, 1)}
	for i, g := range groups {
		s := g.Of(func(r *Row) *float64 { return &r.Seconds })
		hint := fmt.Sprintf("%s: %s s", g.Name(), s.Text(Short))
		d.Description += hint + ". "
		d.Rows = append(d.Rows, g.Name())
		d.Series[0].Dots = append(d.Series[0].Dots, figures.Dot{X: s.Mean, Y: float64(i), Hint: hint})
	}
	return template.HTML(d.SVG("times"))
}
