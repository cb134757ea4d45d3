package mc3

import (
	"context"
	"errors"
	"math"
	"slices"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/effects"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/uniques"
	"microrisk/operators"
)

// Words of effects and anchors.
var (
	Effects = []string{EffectsNone, EffectsLognormal}
	Anchors = []string{AnchorDIS}
)

const (
	EffectsNone      = "none"
	EffectsLognormal = "lognormal"
	AnchorDIS        = "dis"
)

// errNoPairs says that DIS is 0 or 1.
var errNoPairs = errors.New("no key has one record, or none has two, so that there is no DIS to anchor on")

// adjusts tells whether the measures of cells are others than the law's own.
func (b *bound) adjusts() bool { return b.effects() == EffectsLognormal || b.Config.Anchor != "" }

// effects are what the config says, or what a saved model has, or lognormal for the estimator that they go with.
func (b *bound) effects() string {
	switch c := &b.Config; {
	case c.Effects != "":
		return c.Effects
	case c.Anchor != "" || c.Estimator != "" && c.Estimator != Estimators[0]:
		return EffectsNone
	case b.Model != nil && b.Model.Sigma == nil:
		return EffectsNone
	}
	return EffectsLognormal
}

// adjust gives cells an effect of their own, or anchors them, and is the options by which the file is measured then.
func (b *bound) adjust(ctx context.Context, l *fittedLaw, d *bayes.Data, o risk.Options, env operators.Env) (risk.Options, error) {
	n := float64(d.Records)
	if o.Unsampled == 0 || n == 0 || !slices.ContainsFunc(d.Levels, func(r int) bool { return r > 1 }) {
		return o, nil // all are known
	}
	phi := n / (n + o.Unsampled)
	people := make([]float64, d.Cells()) // that each cell should have
	cells := make([]effects.Cell, len(people))
	for i, f := range d.Counts {
		people[i] = (l.cells.ExpectedFrequency[i] - float64(f)) / (1 - phi)
		cells[i] = effects.Cell{Records: f, People: people[i]}
	}
	if b.effects() == EffectsLognormal {
		var err error
		if b.Model == nil { // what others make of a cell tells more of its effect than what it made itself
			means, err := l.law.LeftOut(ctx, d, true, o)
			if err != nil {
				return o, err
			}
			for i, m := range means {
				cells[i].People = m * o.Unsampled / (1 - phi)
			}
		}
		if l.effects, err = effects.Estimate(ctx, cells, phi); err != nil {
			return o, err
		}
		if b.Model != nil {
			l.effects.Sigma, l.effects.SE, l.effects.Unknown = *b.Model.Sigma, math.NaN(), ""
		}
		if l.effects.Unknown != "" {
			env.Warn("%s: nothing is known of effects of cells (%s): they are taken to have none", b.Prefix, l.effects.Unknown)
		}
	} else {
		l.effects = &effects.Fit{SE: math.NaN()}
	}
	m := effects.New(l.effects.Sigma, phi)
	l.factor = 1
	if b.Config.Anchor == AnchorDIS {
		if err := l.anchor(m, d, people, phi); err != nil {
			env.Warn("%s: %s", b.Prefix, err)
		}
	}
	l.cells.SD, l.people, l.measures = nil, people, m
	for i, f := range d.Counts {
		people[i] *= l.factor
		l.cells.PopulationUnique[i], l.cells.CorrectMatch[i], l.cells.ExpectedFrequency[i] = m.Of(f, people[i])
	}
	o.Adjusted = true
	return o, ctx.Err()
}

// together makes CM|UM the chance of an attack on all sample uniques at once.
func (l *fittedLaw) together(d *bayes.Data) {
	n1, mean, variance := 0.0, 0.0, 0.0
	for i, f := range d.Counts {
		if f == 1 {
			_, v := l.measures.Variances(1, l.people[i])
			n1, mean, variance = n1+1, mean+l.cells.ExpectedFrequency[i]-1, variance+v
		}
	}
	if n1 > 0 {
		l.file.CMUM = n1 * matchOf(n1, mean, variance)
	}
}

// anchor finds the factor on what all cells should have by which the sample uniques have as many people as DIS says.
func (l *fittedLaw) anchor(m *effects.Measures, d *bayes.Data, people []float64, phi float64) error {
	n1, n2 := int64(0), int64(0)
	for _, f := range d.Counts {
		switch f {
		case 1:
			n1++
		case 2:
			n2++
		}
	}
	if n1 == 0 || n2 == 0 {
		return errNoPairs
	}
	want := float64(n1) / uniques.DIS(phi, n1, float64(n2))
	size := func(log float64) float64 {
		sum := 0.0
		for i, f := range d.Counts {
			if f == 1 {
				_, _, expected := m.Of(1, people[i]*math.Exp(log))
				sum += expected
			}
		}
		return sum
	}
	lo, hi := -12.0, 12.0 // people are the more the larger the factor
	for hi-lo > 1e-7 {
		if middle := (lo + hi) / 2; size(middle) < want {
			lo = middle
		} else {
			hi = middle
		}
	}
	l.factor = math.Exp((lo + hi) / 2)
	return nil
}
