package protect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"microrisk/engine/contingency"
	"microrisk/engine/recoding"
	"microrisk/engine/recoding/merged"
	"microrisk/engine/uniques"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Run finds the recodings at the least loss after which the file is safe, writes the spec that makes the best one and the release itself where it is
// asked to, and judges that again from the file. Errors about what was asked are those for which session.IsSpec is true.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	schemas.Complete(s.Fields())
	if err := schemas.CheckDocument(&s); err != nil {
		return nil, err
	}
	if err := s.checkOut(o); err != nil {
		return nil, err
	}
	o.Sweep(s.Out, s.Release, s.JSON)
	c, err := s.count(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := s.shape(c); err != nil {
		return nil, err
	}
	p := &protecting{Spec: &s, counted: c, options: o, loss: lossNamed(s.Loss)}
	out, err := p.search(ctx)
	if err != nil {
		return nil, err
	}
	out.Warnings = append(out.Warnings, c.warnings...)
	return out, p.finish(ctx, out)
}

// checkOut finds outputs that cannot be written.
func (s *Spec) checkOut(o session.Options) error {
	read, err := session.Readings("the input", s.Spec.Source.Path)
	if err != nil {
		return err
	}
	for _, f := range s.Hierarchies.Files() {
		read = append(read, session.Reading{What: "the hierarchy", Path: f})
	}
	var writes []string
	for _, path := range append([]string{s.Out, s.Release, s.JSON}, o.Writes...) {
		if path != "" {
			writes = append(writes, path)
		}
	}
	return session.CheckPaths(slices.Concat(read, o.Reads), writes)
}

// A protecting is a search for what makes a file safe.
type protecting struct {
	*Spec
	*counted
	options session.Options
	loss    recoding.Loss
	merged  *merged.Model
	before  merged.Figures
	cut     *cut // of the best release

	released *contingency.Table // of the key variables that stay; nil for none
}

// rule is what the target says; where a model is asked, scale tightens its limits.
func (p *protecting) rule(scale float64) (recoding.Rule, error) {
	var rules []recoding.Rule
	t := &p.Target
	l := p.lattice
	if t.K > 0 {
		rules = append(rules, recoding.K(t.K))
	}
	if t.Distinct > 0 {
		rules = append(rules, recoding.Distinct(int(t.Distinct)))
	}
	if t.Entropy > 0 {
		rules = append(rules, recoding.EntropyOf(t.Entropy))
	}
	if t.Uniques != nil {
		rules = append(rules, recoding.Uniques(int64(*t.Uniques)))
	}
	if t.MeanRisk > 0 {
		rules = append(rules, recoding.MeanRisk(t.MeanRisk))
	}
	if t.MSU > 0 {
		r, err := l.NoMSU(int(t.MSU))
		if err != nil {
			return r, err
		}
		rules = append(rules, r)
	}
	if t.DIS > 0 {
		fraction, err := p.fraction()
		if err != nil {
			return recoding.Rule{}, err
		}
		rules = append(rules, recoding.DIS(t.DIS, fraction))
	}
	if t.modelled() {
		more, err := p.modelled(scale)
		if err != nil {
			return recoding.Rule{}, err
		}
		rules = append(rules, more...)
	}
	return recoding.All(rules...), nil
}

// fraction is that of the sampling.
func (p *protecting) fraction() (float64, error) {
	if p.model != nil {
		return float64(p.lattice.Records) / p.model.People(), nil
	}
	s := p.Spec.Spec.Sampling
	switch {
	case s.Fraction > 0:
		return s.Fraction, nil
	case s.PopulationSize > 0:
		if s.PopulationSize < p.lattice.Records {
			return 0, session.Wrong(fmt.Errorf("the population has %d people, the file %d records", s.PopulationSize, p.lattice.Records))
		}
		return float64(p.lattice.Records) / float64(s.PopulationSize), nil
	}
	return 0, session.Wrong(fmt.Errorf("a target of dis takes --fraction or --population-size; weights need a target of a model"))
}

// modelled are the rules that ask the model.
func (p *protecting) modelled(scale float64) ([]recoding.Rule, error) {
	if p.merged == nil {
		var err error
		if p.merged, err = merged.New(p.model.Law, p.lattice, p.model.People()-float64(p.lattice.Records), merged.MostModels); err != nil {
			return nil, err
		}
		o, err := p.lattice.Outcome(make(recoding.Node, len(p.hierarchies)), nil)
		if err != nil {
			return nil, err
		}
		if p.before, err = p.merged.Of(p.lattice, o); err != nil {
			return nil, err
		}
	}
	var rules []recoding.Rule
	t := &p.Target
	if t.Expected != "" {
		number, share, err := t.expected()
		if err != nil {
			return nil, session.Wrong(err)
		}
		if share > 0 {
			number = share * p.before.Reidentifications
		}
		rules = append(rules, p.merged.Expected(number*scale))
	}
	if t.CorrectMatch > 0 {
		rules = append(rules, p.merged.Greatest(t.CorrectMatch*scale))
	}
	if t.PUSU > 0 {
		rules = append(rules, p.merged.PUSU(t.PUSU*scale))
	}
	return rules, nil
}

// search finds the best recodings, and what less of the target would cost.
func (p *protecting) search(ctx context.Context) (*Outcome, error) {
	rule, err := p.rule(1)
	if err != nil {
		return nil, err
	}
	out, err := p.searchBy(ctx, rule)
	if err == nil && p.Frontier() {
		out.Frontier, err = p.frontier(ctx, rule, p.searchOptions(rule))
	}
	return out, err
}

// searchOptions are those of a search by a rule.
func (p *protecting) searchOptions(rule recoding.Rule) recoding.Options {
	o := recoding.Options{Rule: rule, Loss: p.loss, Alternatives: p.Alternatives, Checks: int(p.Checks),
		Progress: func(done int, _, _ float64) { p.options.Progress("trying recodings", int64(done), 0) }}
	if p.Checks == 0 {
		o.Time = time.Duration(p.Time * float64(time.Second))
	}
	if p.Suppress == SuppressRecords {
		o.Suppressed = int64(math.Floor(p.Share * float64(p.lattice.Records)))
	}
	return o
}

// searchBy finds the best recodings by a rule.
func (p *protecting) searchBy(ctx context.Context, rule recoding.Rule) (*Outcome, error) {
	o := p.searchOptions(rule)
	if p.Suppress == SuppressCells {
		o.Judge = p.cutter(ctx, rule).judge
		o.Alternatives = max(o.Alternatives, polished-1)
	}
	found, err := p.lattice.Search(ctx, o)
	if err != nil {
		return nil, err
	}
	out := p.outcome(rule, found)
	if p.Suppress != SuppressCells {
		return out, nil
	}
	out.Fit, out.Proven = cmp.Or(p.Fit, FitClass), false
	return out, p.polish(out, p.cutter(ctx, rule))
}

// The search looks at each recoding's cells with the least effort, and with more so many of the best ones whose loss may fall below the best by it.
const (
	polished = 6
	saving   = 0.2 // of the loss, at most, as far as is known
)

// polish suppresses cells of the best recodings with more effort, and puts them into order by what they lose then.
func (p *protecting) polish(out *Outcome, c *cutter) error {
	start := time.Now()
	p.cut = nil
	var best float64
	for i := range out.Best {
		r := &out.Best[i]
		late := p.Checks == 0 && time.Since(start).Seconds() > p.Time/2
		if i > 0 && (r.Loss*(1-saving) > best || late) {
			r.Suppressed = 0
			continue
		}
		x, err := c.finish(r)
		if err != nil {
			return err
		}
		if i == 0 || r.Loss < best {
			p.cut, best = x, r.Loss
		}
	}
	slices.SortStableFunc(out.Best, func(a, b Release) int { return cmp.Compare(a.Loss, b.Loss) })
	out.Best = out.Best[:min(len(out.Best), p.Alternatives+1)]
	return nil
}

// Frontier tells whether it can be told what less of the target would cost.
func (s *Spec) Frontier() bool {
	return s.Target.K > 0 || s.Target.Uniques != nil || s.Target.Expected != ""
}

// shares are how much of the present risk is left, along the frontier.
var shares = []float64{0.5, 0.2, 0.1, 0.05, 0.01}

// frontier are the cheapest recodings that leave a share of what is unsafe now.
func (p *protecting) frontier(ctx context.Context, rule recoding.Rule, o recoding.Options) ([]Point, error) {
	now, err := p.lattice.Outcome(p.lattice.Bottom(), rule.Safe)
	if err != nil {
		return nil, err
	}
	o.Alternatives, o.Suppressed, o.Judge = 0, 0, nil
	o.Time, o.Checks = o.Time/10, o.Checks/10
	risk := func(out *recoding.Outcome) float64 { return float64(out.Suppressed) }
	what := fmt.Sprintf("records below k = %d", p.Target.K)
	limited := func(share float64) recoding.Rule {
		r := rule
		r.Of, r.Limit, r.Safe, r.Node = func(l *recoding.Lattice, x *recoding.Outcome) (float64, error) {
			y, err := l.Outcome(x.Node, rule.Safe)
			if err != nil {
				return 0, err
			}
			return float64(y.Suppressed), nil
		}, share*float64(now.Suppressed), nil, nil
		return r
	}
	switch {
	case p.Target.K > 0:
	case p.Target.Uniques != nil:
		what = "sample uniques"
		risk = func(out *recoding.Outcome) float64 { return float64(out.Uniques) }
		limited = func(share float64) recoding.Rule { return recoding.Uniques(int64(share * float64(now.Uniques))) }
	default:
		what = "expected re-identifications"
		risk = func(out *recoding.Outcome) float64 {
			f, err := p.merged.Of(p.lattice, out)
			if err != nil {
				return math.NaN()
			}
			return f.Reidentifications
		}
		limited = func(share float64) recoding.Rule { return p.merged.Expected(share * p.before.Reidentifications) }
	}
	list := []Point{{What: what, Risk: risk(now), Loss: p.loss.Bound(p.lattice, p.lattice.Bottom())[0], Levels: p.levels(p.lattice.Bottom()), Proven: true}}
	for _, share := range shares {
		o.Rule = limited(share)
		found, err := p.lattice.Search(ctx, o)
		if err != nil {
			return nil, err
		}
		if len(found.Best) == 0 {
			break
		}
		best := found.Best[0]
		there, err := p.lattice.Outcome(best.Node, rule.Safe)
		if err != nil {
			return nil, err
		}
		point := Point{What: what, Risk: risk(there), Loss: best.Loss[0], Levels: p.levels(best.Node), Proven: found.Proven}
		if last := list[len(list)-1]; point.Risk < last.Risk {
			list = append(list, point)
		}
	}
	return list, nil
}

// measures are the figures of a release by a rule.
func (p *protecting) measures(o *recoding.Outcome, safe func(recoding.Class) bool) Measures {
	m := Measures{Classes: o.Classes, SampleUniques: o.Uniques, Unsafe: o.Suppressed, Largest: o.Largest}
	if safe != nil {
		if all, err := p.lattice.Outcome(o.Node, nil); err == nil {
			m.Classes, m.SampleUniques, m.Doubles, m.Largest = all.Classes, all.Uniques, all.Doubles, all.Largest
			o = all
		}
	}
	m.Doubles = o.Doubles
	m.MeanRisk = o.Inverse / float64(max(1, o.Records))
	if p.Spec.Spec.Sampling == nil {
		return m
	}
	if fraction, err := p.fraction(); err == nil && m.SampleUniques > 0 {
		dis := uniques.DIS(fraction, m.SampleUniques, float64(m.Doubles))
		m.DIS = &dis
	}
	if p.merged != nil {
		f, err := p.merged.Of(p.lattice, o)
		if err != nil {
			return m
		}
		m.Expected, m.Greatest = &f.Reidentifications, &f.Greatest
		if f.Uniques > 0 {
			x := f.PopulationUniques / float64(f.Uniques)
			m.PUSU = &x
		}
	}
	return m
}
