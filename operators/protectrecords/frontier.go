package protectrecords

import (
	"context"
	"fmt"

	"microrisk/engine/recoding"
)

// Frontier tells whether it can be told what less of the target would cost.
func (a *Ask) Frontier() bool {
	return a.Target.K > 0 || a.Target.Uniques != nil || a.Target.Expected != ""
}

// shares are how much of the present risk is left, along the frontier.
var shares = []float64{0.5, 0.2, 0.1, 0.05, 0.01}

// A riskLeft is the risk that recodings of the frontier leave.
type riskLeft struct {
	what    string
	figures *recoding.Figures
	rising  bool // with finer recodings
	cheap   bool // so that the search for the best release can tell it, too
}

// riskLeft is that of the target.
func (p *Search) riskLeft(rule recoding.Rule) *riskLeft {
	r := &riskLeft{figures: &recoding.Figures{}, rising: true, cheap: true}
	switch {
	case p.Target.K > 0:
		r.what, r.rising = fmt.Sprintf("records below k = %d", p.Target.K), rule.Rising && rule.Sheltered
		r.figures.Of = func(l *recoding.Lattice, x *recoding.Outcome) (float64, error) {
			y, err := l.Outcome(x.Node, rule.Safe)
			if err != nil {
				return 0, err
			}
			return float64(y.Suppressed), nil
		}
	case p.Target.Uniques != nil:
		r.what = "sample uniques"
		r.figures.Of = func(l *recoding.Lattice, x *recoding.Outcome) (float64, error) {
			y, err := l.Outcome(x.Node, nil)
			if err != nil {
				return 0, err
			}
			return float64(y.Uniques), nil
		}
	default:
		r.what, r.cheap = "expected re-identifications", false
		r.figures.Of = func(l *recoding.Lattice, x *recoding.Outcome) (float64, error) {
			f, err := p.Merged.Of(l, x)
			if err != nil {
				return 0, err
			}
			return f.Reidentifications, nil
		}
	}
	return r
}

// FrontierOf are the cheapest recodings that leave a share of what is unsafe now, and what they cost.
func (p *Search) FrontierOf(ctx context.Context, rule recoding.Rule) ([]Point, error) {
	o := p.searchOptions(rule)
	risk := func(n recoding.Node) (float64, error) {
		x, err := p.Lattice.Outcome(n, nil)
		if err != nil {
			return 0, err
		}
		return p.left.figures.Figure(p.Lattice, x)
	}
	bottom := p.Lattice.Bottom()
	now, err := risk(bottom)
	if err != nil {
		return nil, err
	}
	o.Alternatives, o.Suppressed, o.Judge, o.Figures = 0, 0, nil, nil
	o.Time, o.Checks = o.Time/10, o.Checks/10
	short, cancel := p.until(ctx)
	defer cancel()
	list := []Point{{What: p.left.what, Risk: now, Loss: p.loss.Bound(p.Lattice, bottom)[0], Levels: p.levels(bottom), Proven: true}}
	for _, share := range shares {
		o.Rule = p.left.figures.Rule(share*now, p.left.rising)
		found, err := p.Lattice.Search(short, o)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case p.enough():
			return list, nil
		case err != nil:
			return nil, err
		}
		if len(found.Best) == 0 {
			break
		}
		best := found.Best[0]
		there, err := risk(best.Node)
		if err != nil {
			return nil, err
		}
		point := Point{What: p.left.what, Risk: there, Loss: best.Loss[0], Levels: p.levels(best.Node), Proven: found.Proven}
		if last := list[len(list)-1]; point.Risk < last.Risk {
			list = append(list, point)
		}
	}
	return list, nil
}
