package protectrecords

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/recoding"
	"microrisk/engine/recoding/merged"
	"microrisk/engine/uniques"
	"microrisk/operators/hierarchy"
	"microrisk/operators/mc3"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A Search is one for what makes a key's records safe.
type Search struct {
	*Ask
	Sampling    *schemas.Sampling      // nil: nothing is known
	Table       *contingency.Table     // of the key, with a sensitive column as the last variable if there is one
	Levels      []*hierarchy.Hierarchy // by key variable
	Lattice     *recoding.Lattice
	Expectation *mc3.Expectation // where the target asks a model
	Workers     int
	Progress    func(stage string, done, total int64)
	Enough      <-chan struct{} // closed: searches end with the best so far

	Merged *merged.Model  // made of it
	Before merged.Figures // of the file as it is
	loss   recoding.Loss
	cut    *cut      // of the best release
	left   *riskLeft // along the frontier; nil: it was not asked
}

// asked is an error about what was asked.
func asked(format string, args ...any) error {
	return schemas.AsError("", []schemas.Problem{{Message: advice.Textf(format, args...)}})
}

// New makes the levels of key variables of these types, and their lattice; texts are those of the files of hierarchies. Errors are about what was
// asked: hierarchies that lack values or do not nest.
func (a *Ask) New(t *contingency.Table, key []schemas.KeyVariable, types []arrow.DataType, texts map[string][]byte) (*Search, error) {
	p := &Search{Ask: a, Table: t, Workers: 1, Progress: func(string, int64, int64) {}, loss: lossNamed(a.Loss)}
	var variables []recoding.Variable
	codes := make([][]uint32, len(key))
	for v, x := range key {
		codes[v] = make([]uint32, t.Classes())
		t.Codes(v, 0, codes[v])
		missing := slices.Contains(codes[v], t.Variables[v].Missing())
		config := a.Hierarchies.Of(x.Name)
		var text []byte
		if config != nil {
			text = texts[config.File]
		}
		h, err := hierarchy.Of(config, x.Name, types[v], t.Variables[v].Categories, missing, text)
		if err != nil {
			return nil, asked("%v", err)
		}
		r, err := variable(h, config)
		if err != nil {
			return nil, err
		}
		p.Levels, variables = append(p.Levels, h), append(variables, r)
	}
	counts := make([]int64, t.Classes())
	for i := range counts {
		counts[i] = t.Count(i)
	}
	var err error
	if a.Target.Sensitive == "" {
		p.Lattice, err = recoding.New(variables, codes, counts)
	} else {
		last := len(codes)
		sensitive := make([]uint32, t.Classes())
		t.Codes(last, 0, sensitive)
		p.Lattice, err = recoding.NewSensitive(variables, codes, counts, sensitive, len(t.Variables[last].Categories)+1)
	}
	if err != nil {
		return nil, err
	}
	return p, t.Err()
}

// variable is what a search may do to a variable.
func variable(h *hierarchy.Hierarchy, config *hierarchy.Config) (recoding.Variable, error) {
	r := recoding.Variable{Name: h.Variable, Levels: h.Levels, Weight: 1, Most: len(h.Levels) - 1}
	if config == nil {
		return r, nil
	}
	if config.Weight != nil {
		r.Weight = *config.Weight
	}
	r.Least = int(config.Least)
	if config.Most != nil {
		r.Most = *config.Most
	}
	if r.Least > r.Most || r.Most >= len(h.Levels) {
		return r, asked("%s may be at levels %d to %d: its levels are 0 (as it is) to %d (left out)", h.Variable, r.Least, r.Most, len(h.Levels)-1)
	}
	return r, nil
}

// Rule is what the target says; where a model is asked, scale tightens its limits.
func (p *Search) Rule(scale float64) (recoding.Rule, error) {
	var rules []recoding.Rule
	t := &p.Target
	l := p.Lattice
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
	if t.Modelled() {
		more, err := p.modelled(scale)
		if err != nil {
			return recoding.Rule{}, err
		}
		rules = append(rules, more...)
	}
	return recoding.All(rules...), nil
}

// fraction is that of the sampling.
func (p *Search) fraction() (float64, error) {
	if p.Expectation != nil {
		return float64(p.Lattice.Records) / p.Expectation.People(), nil
	}
	s := p.Sampling
	switch {
	case s.Fraction > 0:
		return s.Fraction, nil
	case s.PopulationSize > 0:
		if s.PopulationSize < p.Lattice.Records {
			return 0, asked("the population has %d people, the file %d records", s.PopulationSize, p.Lattice.Records)
		}
		return float64(p.Lattice.Records) / float64(s.PopulationSize), nil
	}
	return 0, asked("a target of dis takes --fraction or --population-size; weights need a target of a model")
}

// modelled are the rules that ask the model.
func (p *Search) modelled(scale float64) ([]recoding.Rule, error) {
	if p.Merged == nil {
		var err error
		if p.Merged, err = merged.New(p.Expectation.Law, p.Lattice, p.Expectation.People()-float64(p.Lattice.Records), merged.MostModels); err != nil {
			return nil, err
		}
		o, err := p.Lattice.Outcome(make(recoding.Node, len(p.Levels)), nil)
		if err != nil {
			return nil, err
		}
		if p.Before, err = p.Merged.Of(p.Lattice, o); err != nil {
			return nil, err
		}
	}
	var rules []recoding.Rule
	t := &p.Target
	if t.Expected != "" {
		number, share, err := t.ExpectedAt()
		if err != nil {
			return nil, asked("%v", err)
		}
		if share > 0 {
			number = share * p.Before.Reidentifications
		}
		rules = append(rules, p.Merged.Expected(number*scale))
	}
	if t.CorrectMatch > 0 {
		rules = append(rules, p.Merged.Greatest(t.CorrectMatch*scale))
	}
	if t.PUSU > 0 {
		rules = append(rules, p.Merged.PUSU(t.PUSU*scale))
	}
	return rules, nil
}

// searchOptions are those of a search by a rule.
func (p *Search) searchOptions(rule recoding.Rule) recoding.Options {
	o := recoding.Options{Rule: rule, Loss: p.loss, Alternatives: *p.Alternatives, Checks: int(p.Checks),
		Progress: func(done int, _, _ float64) { p.Progress("trying recodings", int64(done), 0) }}
	if p.Checks == 0 {
		o.Time = schemas.Seconds(p.Time)
	}
	if p.left == nil && p.Frontier() {
		p.left = p.riskLeft(rule)
	}
	if p.left != nil && p.left.cheap {
		o.Figures = p.left.figures
	}
	if p.Suppress == SuppressRecords {
		o.Suppressed = int64(math.Floor(*p.Share * float64(p.Lattice.Records)))
	}
	return o
}

// until is a context that ends with another, or when it is enough.
func (p *Search) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	switch {
	case p.enough():
		cancel()
	case p.Enough != nil:
		go func() {
			select {
			case <-p.Enough:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// enough tells whether the best so far is.
func (p *Search) enough() bool {
	select {
	case <-p.Enough:
		return true
	default:
		return false
	}
}

// ErrNothing is that a search was interrupted before it found anything.
var ErrNothing = errors.New("interrupted: nothing that was tried so far meets the target, so nothing is written")

// FindBy finds the best recodings by a rule.
func (p *Search) FindBy(ctx context.Context, rule recoding.Rule) (*Outcome, error) {
	short, cancel := p.until(ctx)
	defer cancel()
	o := p.searchOptions(rule)
	if p.Suppress == SuppressCells {
		c := p.cutter(short, rule)
		o.Judge, o.Least = c.judge, c.least
		o.Alternatives = max(o.Alternatives, polished-1)
	}
	found, err := p.Lattice.Search(short, o)
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		return nil, ErrNothing
	}
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
func (p *Search) polish(out *Outcome, c *cutter) error {
	start := time.Now()
	p.cut = nil
	var best float64
	for i := range out.Best {
		r := &out.Best[i]
		late := p.enough() || p.Checks == 0 && time.Since(start).Seconds() > p.Time/2
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
	out.Best = out.Best[:min(len(out.Best), *p.Alternatives+1)]
	return nil
}

// measures are the figures of a release by a rule.
func (p *Search) measures(o *recoding.Outcome, safe func(recoding.Class) bool) Measures {
	m := Measures{Classes: o.Classes, SampleUniques: o.Uniques, Unsafe: o.Suppressed, Largest: o.Largest}
	if safe != nil {
		if all, err := p.Lattice.Outcome(o.Node, nil); err == nil {
			m.Classes, m.SampleUniques, m.Doubles, m.Largest = all.Classes, all.Uniques, all.Doubles, all.Largest
			o = all
		}
	}
	m.Doubles = o.Doubles
	m.MeanRisk = o.Inverse / float64(max(1, o.Records))
	if p.Sampling == nil {
		return m
	}
	if fraction, err := p.fraction(); err == nil && m.SampleUniques > 0 {
		dis := uniques.DIS(fraction, m.SampleUniques, float64(m.Doubles))
		m.DIS = &dis
	}
	if p.Merged != nil {
		f, err := p.Merged.Of(p.Lattice, o)
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
