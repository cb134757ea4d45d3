package link

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/bayes/effects"
	"microrisk/engine/budget"
	"microrisk/engine/contingency"
	"microrisk/engine/linkage"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas/advice"
)

// fewRecords is how many records the samples have together, at least, for a model to be fitted where nothing is said: one of fewer says little
// more than its prior.
const fewRecords = 100

// A fittedModel is the model of the population as link uses it.
type fittedModel struct {
	rates   *mc3.Rates
	samples *effects.Samples
	effects *effects.Fit
	joint   *effects.Joint
	cells   []effects.Shared // of rates.Data
	at      map[string]int   // cell of each class, by the text of its codes
	kept    []float64        // records of each sample that are not dropped
	people  float64          // of the population that would not be
	agree   float64          // probability that the key of a person is the same in both samples
	agreeSE float64          // its relative standard error
}

// common is how many people are expected to be in two samples with the same key, by their sizes alone.
func (m *fittedModel) common(link *Linked) float64 {
	return m.agree * m.kept[link.First] * m.kept[link.Second] / m.people
}

// fit fits a model to all samples together, and has the problem take it; nil where the prior is flat. It finds the classes that are dropped.
func (l *linking) fit(ctx context.Context, p *linkage.Problem, words *released.Codebook, classes map[string]*class, out *Outcome) (*fittedModel, error) {
	policies := session.PoliciesOf(l.overlap)
	var records, kept int64
	sizes, ofKept := make([]int64, len(out.Samples)), make([]float64, len(out.Samples))
	for _, c := range classes {
		for v, code := range c.codes {
			c.dropped = c.dropped || policies[v] == uniques.Drop && words.Label(v, code) == nil
		}
		for s, n := range c.records {
			records += n
			sizes[s] += n
			if n > 0 {
				out.Samples[s].Classes++
			}
			if !c.dropped {
				kept += n
				ofKept[s] += float64(n)
			}
		}
	}
	out.Prior = PriorFlat
	asked := l.Prior == PriorModel
	switch {
	case l.Prior == PriorFlat:
		return nil, nil
	case !asked && kept < fewRecords && l.diverges():
		return nil, advice.Errorf("errors of values need a model of the population, and the samples have fewer than %d records together, of which a model says "+
			"little: take it all the same (%s), or leave the errors out", fewRecords, l.Fields().Saying("prior", PriorModel))
	case !asked && kept < fewRecords:
		out.Flat = fmt.Sprintf("the samples have fewer than %d records together, of which a model says little", fewRecords)
		return nil, nil
	}
	var fractions []float64
	for s, n := range sizes {
		if n == 0 {
			out.Flat = fmt.Sprintf("sample %s has no record", Letter(s))
			if asked || l.diverges() {
				return nil, errors.New(out.Flat + ": no model can be fitted; take the flat prior")
			}
			return nil, nil
		}
		fractions = append(fractions, float64(n)/float64(out.People))
	}
	samples, err := effects.NewSamples(fractions...)
	if err != nil {
		return nil, err
	}
	m := &fittedModel{samples: samples, at: map[string]int{}, agree: 1, kept: ofKept, people: float64(out.People) * float64(kept) / float64(records)}
	if l.diverges() {
		asked = true
		if out.Errors, err = l.learn(ctx, classes, m.common(&Linked{Second: 1}), fractions); err != nil {
			return nil, err
		}
		m.agree, m.agreeSE = out.Errors.Agree(), out.Errors.AgreeSE()
		if m.samples, err = samples.WithErrors(m.agree); err != nil {
			return nil, err
		}
	}
	err = l.estimate(ctx, m, words, classes, out)
	switch {
	case err == nil:
	case asked || ctx.Err() != nil:
		return nil, err
	default:
		out.Flat = "no model can be fitted: " + err.Error()
		l.warn(out, "the prior is flat, since no model can be fitted: %v", err)
		return nil, nil
	}
	out.Prior = PriorModel
	out.Model = &Fit{Graphs: m.rates.Models, Sigma: m.effects.Sigma, SE: m.effects.SE, Unknown: m.effects.Unknown}
	p.Prior = &linkage.Prior{Joint: m.joint, People: func(codes []uint32) float64 {
		if i, ok := m.at[released.CodesText(codes)]; ok {
			return m.cells[i].People
		}
		return 1 // of a class that is dropped
	}}
	return m, nil
}

func (l *linking) warn(out *Outcome, format string, args ...any) {
	text := advice.Textf(format, args...).String()
	out.Warnings = append(out.Warnings, text)
	l.options.Logger.Warn(text)
}

// estimate fits the models, and the effects of cells.
func (l *linking) estimate(ctx context.Context, m *fittedModel, words *released.Codebook, classes map[string]*class, out *Outcome) error {
	variables := words.Variables()[:len(l.overlap.Variables)]
	codes := make([][]uint32, len(variables))
	var counts []int64
	for _, c := range classes {
		n := int64(0)
		for _, r := range c.records {
			n += r
		}
		counts = append(counts, n)
		for v, code := range c.codes {
			codes[v] = append(codes[v], code)
		}
	}
	t, err := contingency.New(variables, codes, counts)
	if err != nil {
		return err
	}
	env := operators.Env{Allocator: memory.DefaultAllocator, Workers: l.options.Workers, Budget: budget.Budget{Bytes: l.options.Memory},
		MemoryGiven: l.options.MemoryGiven, Seed: l.options.Seed, Logger: l.options.Logger, Progress: l.options.Progress,
		Warn: func(format string, args ...any) { l.warn(out, format, args...) }}
	if m.rates, err = l.Model.Rates(ctx, t, l.overlap, env); err != nil {
		return err
	}
	key := make([]uint32, len(variables))
	for i, mean := range m.rates.Means {
		for v := range key {
			key[v] = t.Code(m.rates.Data.ClassOf(i), v)
		}
		id := released.CodesText(key)
		m.at[id] = i
		m.cells = append(m.cells, effects.Shared{Records: classes[id].records, People: math.Max(m.people*mean, math.SmallestNonzeroFloat64)})
	}
	if l.Model.Effects == mc3.EffectsNone {
		m.effects = &effects.Fit{SE: math.NaN(), Unknown: "effects: none", Shape: math.Inf(1)}
	} else if m.effects, err = m.samples.EstimateShared(ctx, m.cells); err != nil {
		return err
	} else if m.effects.Unknown != "" && m.samples.Union < 1 {
		l.warn(out, "nothing is known of effects of cells (%s): they are taken to have none", m.effects.Unknown)
	}
	// Where nobody else is like them, what records say of their own cell is all that there is: without them the chance would be far too sure.
	for i, mean := range m.rates.Kept {
		m.cells[i].People = math.Max(m.people*mean, math.SmallestNonzeroFloat64)
	}
	m.joint = m.samples.Joint(m.effects.Sigma)
	return nil
}
